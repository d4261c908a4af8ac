//===- Plan.h - The file between compiler and runtime --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan is one training step, the same for all ranks: what memory there is,
// which kernels run, which collectives start and end, and in which order. The
// compiler writes it, the runtime executes it, the simulator replays it; these
// structs are the one definition that all three share. docs/plan-format.md says
// what each JSON key means; Plan.cpp writes and reads it.
//
// Ids are indices: a ValueId into Plan::values, a StorageId into
// Plan::storages, and so on. Sizes are in elements unless the name says Bytes.
//
// Tested by test/unit/runtime/PlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PLAN_H
#define SFSDP_RUNTIME_PLAN_H

#include "runtime/DType.h"
#include "runtime/ProcessGroup.h"
#include "runtime/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sfsdp::runtime {

/// Raised by every change that an older reader would misread.
inline constexpr int64_t kPlanFormatVersion = 1;

using ValueId = int64_t;
using StorageId = int64_t;
using ScalarId = int64_t;
using ProvenanceId = int64_t;

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

struct MeshAxis {
  std::string name;
  int64_t size = 1;
};

/// Named axes, outermost first. The rank at a mesh position is its row-major
/// index, or the entry of `ranks` there when that is not empty.
struct Mesh {
  std::vector<MeshAxis> axes;
  std::vector<int64_t> ranks;

  int64_t size() const;
  /// Size of the named axis; 1 for an axis that the mesh does not have.
  int64_t axisSize(std::string_view name) const;
};

/// A file that the compiler read: base name and SHA-256, never a path.
struct PlanInput {
  std::string name;
  std::string sha256;
};

struct PlanHeader {
  int64_t formatVersion = kPlanFormatVersion;
  std::string compiler;              ///< "simplefsdp-opt 0.1.0"
  std::vector<PlanInput> inputs;     ///< the graph first
  std::string options;               ///< effective pipeline options
  std::string device = "cpu";        ///< "cpu" or "cuda"
  std::vector<std::string> dataAxes; ///< axes that split the batch
  Mesh mesh;
  /// Forward and backward passes per step: the first program runs
  /// `microBatches` - 1 times, the last one once. With 1 there is one program.
  int64_t microBatches = 1;
  /// Proof name ("order", "memory", "meaning") → digestOf the plan that the
  /// proof was made for.
  std::map<std::string, std::string> proved;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

enum class Region : uint8_t {
  Private,  ///< allocated and freed as the program runs
  Arena,    ///< the same, but born where peers can read it
  Argument, ///< lives from step to step (parameters, state) or for one step
};

/// A block of memory. A private or arena storage begins at the instruction that
/// defines its first value, `first`, and ends at its Free, `last`; a result's
/// storage is never freed and has the program's last instruction as `last`. An
/// argument's storage lives over the whole program. Indices are into the only
/// program that uses it. The first value of a kernel's result storage starts at
/// offset 0.
struct Storage {
  int64_t bytes = 0;
  std::string use; ///< "parameter", "activation", "gathered", … for reports
  Region region = Region::Private;
  int64_t first = 0;
  int64_t last = 0;
};

/// A tensor: a strided window of a storage. Several values on one storage are
/// views of each other.
struct Value {
  StorageId storage = 0;
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0; ///< elements from the start of the storage
};

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

enum class Role : uint8_t {
  Parameter,
  Buffer,
  Constant,
  Input,
  State, ///< optimizer state of parameter `name`, slot `slot`
  /// Sum of the gradients of parameter `name` over micro-batches so far.
  Accumulator,
  Loss,     ///< results only, from here on
  Gradient, ///< of parameter `name`
  Output,
  GradientNorm, ///< of all gradients, before clipping
  ChunkNorms,   ///< of the chunks of the gradient of parameter `name`
  Applied,      ///< whether updates were carried out: a 0-dim bool
};

/// Dimension `dim` of the global tensor is split over mesh axis `axis` by the
/// chunk rule. Axes not listed replicate.
struct AxisShard {
  std::string axis;
  int64_t dim = 0;
};

/// A tensor that outlives the program: given before the step, and updated in
/// place where a result says so.
struct Argument {
  Role role = Role::Input;
  std::string name;                 ///< FQN, or input name
  std::string slot;                 ///< optimizer state only: "exp_avg", …
  std::vector<std::string> aliases; ///< further names of a tied parameter
  bool frozen = false;              ///< parameter without gradient
  ValueId value = 0;                ///< its shape is the padded local shape
  std::vector<int64_t> globalShape;
  std::vector<AxisShard> placement;
};

struct Result {
  Role role = Role::Output;
  std::string name;
  std::string slot;
  ValueId value = 0;
  /// Index into Plan::arguments whose memory this result is written to.
  std::optional<int64_t> updates;
  std::vector<int64_t> globalShape;
  std::vector<AxisShard> placement;
  /// Index into Plan::programs of the one that gives it.
  int64_t program = 0;
};

//===----------------------------------------------------------------------===//
// Host scalars
//===----------------------------------------------------------------------===//

enum class ScalarOp : uint8_t {
  Constant,   ///< `constant`
  Lr,         ///< the learning rate of this step
  Step,       ///< the number of this step, from 1
  MicroBatch, ///< the number of this micro-batch within the step, from 0
  Add,
  Sub,
  Mul,
  Div,
  Pow,
  Neg,
  MeshCoordinate, ///< of this rank on `axis`
  ValidRows,      ///< true rows of this rank's chunk of `rows` on `axis`
};
inline constexpr int kScalarOpCount = 12;

std::string_view nameOf(ScalarOp op);

/// A 64-bit host value, computed before each program in table order. Lr and
/// what is derived from it are doubles, as Python computes them.
struct Scalar {
  ScalarOp op = ScalarOp::Constant;
  std::vector<ScalarId> operands; ///< earlier scalars
  double constant = 0;
  std::string axis;
  int64_t rows = 0;
};

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

struct ValueRef {
  ValueId id = 0;
  bool operator==(const ValueRef &) const = default;
};
struct ScalarRef {
  ScalarId id = 0;
  bool operator==(const ScalarRef &) const = default;
};
/// A list of tensors, some possibly absent (`Tensor[]`, `Tensor?[]`).
struct ValueRefs {
  std::vector<std::optional<ValueId>> ids;
  bool operator==(const ValueRefs &) const = default;
};
enum class MemoryFormat : uint8_t {
  Contiguous,
  Preserve,
  ChannelsLast,
  ChannelsLast3d
};
enum class TensorLayoutKind : uint8_t { Strided };
/// The device of the plan's header; kernels never name another.
struct DeviceArgument {
  bool operator==(const DeviceArgument &) const = default;
};

/// One argument of a kernel, in schema order. monostate is None.
using KernelArgument =
    std::variant<std::monostate, ValueRef, ValueRefs, ScalarRef, bool, int64_t,
                 double, std::string, std::vector<bool>, std::vector<int64_t>,
                 std::vector<double>, DType, MemoryFormat, TensorLayoutKind,
                 DeviceArgument>;

enum class CostClass : uint8_t {
  View, ///< moves nothing
  Pointwise,
  Reduction,
  Gemm,
  Attention,
  Normalization,
  Gather, ///< embedding, index
  Copy,
  Creation,
  Optimizer,
  Other,
};
inline constexpr int kCostClassCount = 11;

std::string_view nameOf(CostClass costClass);

/// What the cost model needs to know of a kernel.
struct CostFacts {
  CostClass costClass = CostClass::Other;
  int64_t flops = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  int64_t batch = 0, m = 0, n = 0, k = 0; ///< Gemm only
  /// Most bytes that the kernel holds at a time beside arguments and results.
  int64_t workspaceBytes = 0;
};

/// Calls an operator. `name` is "aten::mm" or, for the runtime's own kernels,
/// "sfsdp::adamw"; arguments at the end that have their default are absent.
struct KernelCall {
  std::string name;
  std::string overload; ///< "Tensor", "dim_IntList"; "" for the default one
  std::vector<KernelArgument> arguments;
  /// One per returned tensor; absent for a None result and for an argument
  /// that the kernel updates in place without returning it.
  std::vector<std::optional<ValueId>> results;
  /// Seeds the generator of a random operator.
  std::optional<int64_t> randomId;
  CostFacts cost;
};

/// One tensor of a collective; the values are contiguous. A gather's output
/// storage holds group size × chunk rows, its output value is the prefix of
/// true rows.
struct CollectiveMemberRef {
  ValueId input = 0;
  ValueId output = 0;
  std::string name; ///< FQN of the parameter it serves; empty if none
};

struct CollectiveStart {
  CollectiveKind kind = CollectiveKind::AllReduce;
  /// The group: all ranks that differ on these axes only, outermost first; its
  /// ranks are ordered row-major over them.
  std::vector<std::string> axes;
  /// In payload order: the order in which a packing transport lays them out.
  std::vector<CollectiveMemberRef> members;
  ReductionOrder order = ReductionOrder::Ordered;
  double divisor = 1;
  /// Ranks per block of an ordered sum, 0: one block (ProcessGroup.h).
  int64_t grouped = 0;
  int64_t bytesReceived = 0; ///< per rank, as ProcessGroup::traffic counts it
  /// The schedule problem: the instruction that defines the last input (-1 when
  /// all are arguments), the first instruction other than wait and free that
  /// uses an output's storage (the program's length when none does), and
  /// whether a gathered tensor may be kept instead of gathered again.
  int64_t ready = 0;
  int64_t needed = 0;
  bool keepable = false;
};

/// Blocks until the collective started by instruction `start` is complete.
struct CollectiveWait {
  int64_t start = 0;
};

/// Ends a storage of region Private or Arena.
struct Free {
  StorageId storage = 0;
};

struct Instruction {
  std::variant<KernelCall, CollectiveStart, CollectiveWait, Free> action;
  ProvenanceId provenance = 0;
};

enum class Phase : uint8_t { None, Forward, Backward, Optimizer };

/// Where an instruction comes from.
struct Provenance {
  std::string module; ///< FQN, "layers.0.attention"
  Phase phase = Phase::None;
  std::string source; ///< "model.py:42"
  std::string pass;   ///< the pass that made it; empty for captured operators
  auto operator<=>(const Provenance &) const = default;
};

/// Programs of a plan run in their order.
struct Program {
  std::string name; ///< "train_step", or "micro_step" and "last_micro_step"
  std::vector<Instruction> instructions;
};

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

struct Plan {
  PlanHeader header;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  std::vector<Storage> storages;
  std::vector<Value> values;
  std::vector<Scalar> scalars;
  std::vector<Program> programs;
  std::vector<Provenance> provenance;
  /// The largest number, over all instructions, of bytes of the storages that
  /// live there (those that begin there included, those freed there too) plus
  /// the kernel's workspace. Arguments live always.
  int64_t predictedPeakBytes = 0;
};

/// The plan as JSON text. The same plan gives the same bytes everywhere.
std::string writePlan(const Plan &plan);

/// Reads what writePlan wrote. Checks structure, types and that every id is in
/// range; `name` is what errors call the file. checkPlan proves the rest.
Expected<Plan> readPlan(std::string_view text, const std::string &name);
Expected<Plan> readPlanFile(const std::string &path);

/// SHA-256 of the plan without `header.proved`: what a proof is made for.
std::string digestOf(const Plan &plan);

/// Bytes of the smallest storage that holds `value`, its offset included.
int64_t spanBytes(const Value &value);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PLAN_H
