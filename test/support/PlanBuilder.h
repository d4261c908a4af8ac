//===- PlanBuilder.h - Plans made by hand -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds valid plans for tests: the caller names arguments, kernels and
// collectives; `finish` places the frees and fills in lifetimes, schedule
// positions and peak.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_PLANBUILDER_H
#define SFSDP_TEST_SUPPORT_PLANBUILDER_H

#include "runtime/Plan.h"

namespace sfsdp::test {

/// A tensor that a kernel returns in a storage of its own.
struct NewTensor {
  std::vector<int64_t> sizes;
  runtime::DType dtype = runtime::DType::Float32;
};

class PlanBuilder {
public:
  /// A plan for a mesh of one axis, "dp", that splits the batch.
  explicit PlanBuilder(int64_t ranks = 1);

  /// Adds an argument, whose local shape follows from `placement`.
  runtime::ValueId argument(runtime::Role role, const std::string &name,
                            std::vector<int64_t> globalShape,
                            std::vector<runtime::AxisShard> placement = {},
                            runtime::DType dtype = runtime::DType::Float32,
                            const std::string &slot = "");

  runtime::ScalarId scalar(runtime::ScalarOp op,
                           std::vector<runtime::ScalarId> operands = {},
                           double constant = 0);

  /// Calls a kernel that returns new contiguous tensors.
  std::vector<runtime::ValueId>
  call(const std::string &name, const std::string &overload,
       std::vector<runtime::KernelArgument> arguments,
       const std::vector<NewTensor> &results, int64_t workspaceBytes = 0);

  /// Calls a kernel that returns a view of `base`.
  runtime::ValueId view(const std::string &name, const std::string &overload,
                        std::vector<runtime::KernelArgument> arguments,
                        runtime::ValueId base, std::vector<int64_t> sizes,
                        std::vector<int64_t> strides, int64_t offset = 0);

  /// Calls a kernel that updates `updated` in place and returns them.
  std::vector<runtime::ValueId> update(
      const std::string &name, std::vector<runtime::KernelArgument> arguments,
      const std::vector<runtime::ValueId> &updated, int64_t workspaceBytes = 0);

  /// Starts a collective over "dp" on one tensor per member; the output of
  /// member i has the rows `outputRows[i]`. Returns the instruction to wait
  /// for; `outputs` receives the values.
  int64_t start(runtime::CollectiveKind kind,
                const std::vector<runtime::ValueId> &inputs,
                const std::vector<int64_t> &outputRows,
                std::vector<runtime::ValueId> &outputs, double divisor = 1);
  void wait(int64_t start);

  /// start, then wait at once; one member.
  runtime::ValueId collective(runtime::CollectiveKind kind,
                              runtime::ValueId input, int64_t outputRows,
                              double divisor = 1);

  void result(runtime::Role role, const std::string &name,
              runtime::ValueId value, std::vector<int64_t> globalShape,
              std::vector<runtime::AxisShard> placement = {});

  /// The result that updates the argument called `name` (and `slot`).
  void updatedArgument(runtime::ValueId value, const std::string &name,
                       const std::string &slot = "");

  runtime::Plan finish();

private:
  runtime::ValueId newValue(const std::vector<int64_t> &sizes,
                            runtime::DType dtype, runtime::Region region,
                            int64_t bytes);
  void append(decltype(runtime::Instruction::action) action);

  runtime::Plan plan;
};

/// Recomputes the lifetimes, schedule positions and peak of a plan whose frees
/// are placed; for tests that edit a plan and mean to keep it valid.
void fillDerived(runtime::Plan &plan);

/// What the training step below looks like.
struct LinearStep {
  int64_t ranks = 1;
  bool shard = true; ///< fully_shard, else replicate
  int64_t rows = 7;  ///< outputs of the linear layer
  int64_t columns = 3;
  int64_t batch = 4;
  std::string optimizer = "adamw"; ///< or "sgd", "none"
  bool gradients = false;          ///< results hold the gradient
};

/// One step of y = x w^T, loss = mean((y - target)^2) on inputs "x" and
/// "target", parameter "linear.weight".
runtime::Plan linearStep(const LinearStep &options = {});

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_PLANBUILDER_H
