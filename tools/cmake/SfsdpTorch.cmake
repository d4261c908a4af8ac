# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Imported targets for the LibTorch inside a torch wheel. `find_package(Torch)`
# is not used: with a CUDA wheel it probes for nvcc and links torch_cuda.
if(NOT SFSDP_TORCH_DIR)
  execute_process(
    COMMAND ${SFSDP_PYTHON} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(SFSDP_TORCH_DIR "${found}" CACHE PATH "Folder of the installed torch package" FORCE)
endif()
if(NOT EXISTS "${SFSDP_TORCH_DIR}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "no LibTorch in '${SFSDP_TORCH_DIR}'; pass -DSFSDP_TORCH_DIR=…/site-packages/torch, "
                      "or -DSFSDP_ENABLE_TORCH=OFF to build the compiler alone")
endif()

file(STRINGS "${SFSDP_TORCH_DIR}/version.py" torch_version REGEX "^__version__")
string(REGEX MATCH "[0-9]+\\.[0-9]+" torch_version "${torch_version}")
if(torch_version VERSION_LESS 2.11)
  message(FATAL_ERROR "found torch ${torch_version} in '${SFSDP_TORCH_DIR}', expected 2.11 or newer")
endif()
message(STATUS "LibTorch ${torch_version} in ${SFSDP_TORCH_DIR}")

foreach(library c10 torch_cpu)
  add_library(sfsdp::${library} SHARED IMPORTED)
  set_target_properties(sfsdp::${library} PROPERTIES
    IMPORTED_LOCATION "${SFSDP_TORCH_DIR}/lib/lib${library}.so"
    INTERFACE_INCLUDE_DIRECTORIES
      "${SFSDP_TORCH_DIR}/include;${SFSDP_TORCH_DIR}/include/torch/csrc/api/include")
endforeach()
# libtorch_cpu finds its own dependencies at run time; the linker need not.
set_target_properties(sfsdp::torch_cpu PROPERTIES
  INTERFACE_LINK_LIBRARIES sfsdp::c10
  INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined;LINKER:-rpath,${SFSDP_TORCH_DIR}/lib")
