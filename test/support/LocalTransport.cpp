//===- LocalTransport.cpp - The local transport for the tests
//--------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/LocalProcessGroup.h"
#include "test/support/Transports.h"

std::vector<sfsdp::test::Transport> sfsdp::test::transports() {
  return {{"local", runtime::makeLocalGroups}};
}
