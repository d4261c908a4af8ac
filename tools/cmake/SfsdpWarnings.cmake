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

foreach(sanitizer IN LISTS SFSDP_SANITIZER)
  add_compile_options(-fsanitize=${sanitizer} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizer})
endforeach()
