# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds MLIR 22 and makes its static archives usable without the LLVM dylib:
# Debian's CMake targets name `LLVM`, so the component archives take its place.
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "found LLVM ${LLVM_PACKAGE_VERSION}, expected 22; pass -DMLIR_DIR=…/lib/cmake/mlir")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(ZLIB REQUIRED)
find_library(SFSDP_ZSTD NAMES zstd libzstd.so.1 REQUIRED)
set_property(TARGET LLVMSupport PROPERTY INTERFACE_LINK_LIBRARIES
             rt dl m ZLIB::ZLIB ${SFSDP_ZSTD} LLVMDemangle)
foreach(target ${MLIR_EXPORTED_TARGETS})
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  if(libraries)
    list(TRANSFORM libraries REPLACE "^LLVM$" "LLVMSupport")
    list(TRANSFORM libraries REPLACE "^\\$<LINK_ONLY:LLVM>$" "$<LINK_ONLY:LLVMSupport>")
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES ${libraries})
  endif()
endforeach()

# LLVM's own flags (no RTTI, no exceptions) for every target that includes MLIR.
function(sfsdp_use_mlir target)
  target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_definitions(${target} PRIVATE ${definitions})
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
endfunction()
