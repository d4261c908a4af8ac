# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The Python that captures models and runs tests: the given one, that of an
# active virtual environment, the one that tools/build made, or the system's.
if(DEFINED ENV{VIRTUAL_ENV})
  find_program(SFSDP_PYTHON NAMES python3 HINTS $ENV{VIRTUAL_ENV}/bin NO_DEFAULT_PATH)
endif()
find_program(SFSDP_PYTHON NAMES python3 HINTS ${CMAKE_SOURCE_DIR}/build/venv/bin NO_DEFAULT_PATH)
find_program(SFSDP_PYTHON NAMES python3 REQUIRED)
