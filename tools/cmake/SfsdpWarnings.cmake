# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Warnings, sanitizers, and the linker for our own targets.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
# False alarm of GCC 12 on "text" + std::string (GCC bug 105651).
add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)

find_program(SFSDP_MOLD mold)
if(SFSDP_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

find_program(SFSDP_CCACHE ccache)
if(SFSDP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SFSDP_CCACHE})
endif()

# `address` looks for undefined behaviour too. The first finding ends the
# process, so that a test fails.
set(SFSDP_SANITIZER "" CACHE STRING "Sanitizer of the parts without LibTorch: address or thread")
set_property(CACHE SFSDP_SANITIZER PROPERTY STRINGS "" address thread)
set(sanitizers_of_address address,undefined)
set(sanitizers_of_thread thread)
if(SFSDP_SANITIZER)
  if(NOT DEFINED sanitizers_of_${SFSDP_SANITIZER})
    message(FATAL_ERROR "SFSDP_SANITIZER is '${SFSDP_SANITIZER}', expected address or thread")
  endif()
  if(SFSDP_ENABLE_TORCH)
    message(FATAL_ERROR "LibTorch is not built for sanitizers; pass -DSFSDP_ENABLE_TORCH=OFF")
  endif()
  add_compile_options(-fsanitize=${sanitizers_of_${SFSDP_SANITIZER}}
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers_of_${SFSDP_SANITIZER}})
endif()

# Everything is instrumented for libFuzzer; only the targets link it.
if(SFSDP_ENABLE_FUZZERS)
  if(NOT SFSDP_SANITIZER STREQUAL address OR NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "SFSDP_ENABLE_FUZZERS needs Clang and SFSDP_SANITIZER=address; "
                        "found ${CMAKE_CXX_COMPILER_ID} and '${SFSDP_SANITIZER}'")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
