// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for <gloo/transport/device.h>: see runtime/gloo/Declarations.h.
#include "runtime/gloo/Declarations.h"
