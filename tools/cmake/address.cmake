# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A build that looks for addresses and undefined behaviour:
# `cmake -C tools/cmake/address.cmake -S . -B BUILD -G Ninja`.
set(SFSDP_SANITIZER address CACHE STRING "")
set(SFSDP_ENABLE_TORCH OFF CACHE BOOL "")
set(SFSDP_ENABLE_BENCHMARKS OFF CACHE BOOL "")
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1" CACHE STRING "")
