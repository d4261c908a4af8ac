//===- store.h - Stands in for <gloo/rendezvous/store.h> ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Declarations.h.
//
// Tested by test/unit/runtime/GlooProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_GLOO_RENDEZVOUS_STORE_H
#define SFSDP_RUNTIME_GLOO_RENDEZVOUS_STORE_H

#include "runtime/gloo/Declarations.h"

#endif // SFSDP_RUNTIME_GLOO_RENDEZVOUS_STORE_H
