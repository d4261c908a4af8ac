// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for <gloo/common/error.h>: see runtime/gloo/Declarations.h.
#include "runtime/gloo/Declarations.h"
