//===- error.h - Stands in for <gloo/common/error.h> ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Declarations.h.
//
// Tested by test/unit/runtime/GlooProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_GLOO_COMMON_ERROR_H
#define SFSDP_RUNTIME_GLOO_COMMON_ERROR_H

#include "runtime/gloo/Declarations.h"

#endif // SFSDP_RUNTIME_GLOO_COMMON_ERROR_H
