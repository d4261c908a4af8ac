// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for <gloo/algorithm.h>: see runtime/gloo/Declarations.h.
#include "runtime/gloo/Declarations.h"
