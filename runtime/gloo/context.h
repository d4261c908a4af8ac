// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for <gloo/context.h>: see runtime/gloo/Declarations.h.
#include "runtime/gloo/Declarations.h"
