//===- Ordering.h - Where collectives start and where they are awaited ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem: a program whose collectives ("transfers") are one operation
// each. A solution splits each into a start and a wait and orders everything.
// What a transfer needs stands before its start; what needs it stands behind
// its wait; between the two it runs beside computation.
//
// Tested by test/unit/passes/analysis/OrderingTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_ANALYSIS_ORDERING_H
#define SFSDP_PASSES_ANALYSIS_ORDERING_H

#include "passes/analysis/Node.h"

namespace sfsdp::analysis {

/// A collective that is split.
struct Transfer {
  NodeId node = 0;
  bool isReduction = false;
  /// A gather may start early. What needs a reduction may move down: nothing
  /// but updates and results, as with that of a gradient.
  bool mayMove = false;
};

enum class Part : uint8_t {
  Whole, ///< a node that is no transfer
  Start,
  Wait,
};

struct Step {
  NodeId node = 0;
  Part part = Part::Whole;

  bool operator==(const Step &) const = default;
};

struct OrderingSolution {
  std::vector<Step> steps;
};

struct OrderingProblem {
  std::vector<Node> nodes;
  /// Ascending by node.
  std::vector<Transfer> transfers;

  /// Fails on a malformed problem.
  runtime::Status check() const;

  /// Fails unless every node stands once (a transfer as start and then wait),
  /// every dependence is kept, and no barrier is crossed.
  runtime::Status verify(const OrderingSolution &solution) const;
};

/// Each wait right after its start, in the given order.
OrderingSolution waitAtOnce(const OrderingProblem &problem);

/// One transfer ahead, one behind: a gather starts before the first use of the
/// gather needed before it; a reduction is awaited when the next one has
/// started, the last one at the end. What only a later wait can release moves
/// down with it. Other transfers are awaited before their first use. O(n log
/// n).
OrderingSolution prefetchByOne(const OrderingProblem &problem);

} // namespace sfsdp::analysis

#endif // SFSDP_PASSES_ANALYSIS_ORDERING_H
