//===- PlanFuzzer.cpp - Plans of any text ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the text, reading gives an error with a text, or a plan that is
// written and read again without a change, and on which the verifier ends.
//
//===----------------------------------------------------------------------===//

#include "runtime/Plan.h"
#include "runtime/PlanVerifier.h"
#include "test/fuzz/readers/FuzzInput.h"
#include "test/fuzz/readers/JsonMutator.h"

using namespace sfsdp;
using namespace sfsdp::runtime;
using test::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<Plan> plan = readPlan(test::asText(data, size), "fuzz");
  if (!plan) {
    require(!plan.message().empty(), "an error has a text");
    return 0;
  }
  std::string text = writePlan(*plan);
  Expected<Plan> again = readPlan(text, "again");
  require(again.ok(), "a plan that was written can be read");
  require(writePlan(*again) == text, "a plan is read as it was written");
  if (Status status = checkPlan(*plan); !status.ok()) {
    require(!status.message().empty(), "an error has a text");
  }
  (void)checkProofs(*plan);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  return test::mutateJson(data, size, maxSize, seed);
}
