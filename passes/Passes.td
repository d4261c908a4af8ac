//===- Passes.td - Passes on the sfsdp dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/; the examples of descriptions by
// test/dialect/description-examples.test.

#ifndef SFSDP_PASSES_TD
#define SFSDP_PASSES_TD

include "mlir/Pass/PassBase.td"

def CanonicalizePass : Pass<"sfsdp-canonicalize", "::mlir::ModuleOp"> {
  let summary = "Remove what changes no bits";
  let description = [{
    Removes operations without effects whose results nobody reads, operators
    that only rename their operand (`detach`, `alias`), and views and casts that
    an earlier operation of the same phase computes too. Nothing is computed in
    another way, so every bit of every result stays.

    **Requires** one function.

    **Ensures** no dead operation without effects. Arguments and results stay.

    **Example** test/passes/canonicalize-doc.mlir

    **Cost** linear in operations.

    **Source** the rules of the operators, passes/rules.
  }];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

def ShardPass : Pass<"sfsdp-shard", "::mlir::ModuleOp"> {
  let summary = "Shard parameters and reduce gradients over the data axes";
  let description = [{
    The data axes are all axes of the mesh but `tp`; N is the product of their
    sizes. With N = 1 only placements change.

    `fully_shard`: a parameter argument becomes this rank's chunk of dimension
    0. One all-gather per phase stands before the parameter's first use in that
    phase; a parameter that is not resharded has a single one, that backward uses
    too: all of them with `reshard=never`, none with `always`, and with `auto`
    those of the block that forward gathers last. A cast that
    all uses in a phase share is done on the shard when it makes the bytes
    fewer. What forward derives from parameters alone and backward reads is
    computed again from backward's gather, unless it is a copy no larger than
    the shard. A gathered parameter has the strides of the captured one.

    `replicate`: parameters stay whole. `hybrid_shard`: parameters are sharded
    over the axis `dp_shard` and repeated over `dp_replicate`.

    Right after its producer a gradient is cast to `reduce-dtype`, made
    contiguous, reduced (reduce-scatter, or all-reduce for a whole parameter;
    `hybrid_shard` all-reduces the chunk over the replicas after that) and cast
    back. The last reduction divides by what `gradient-scale` says: by default
    the number of ranks times micro-batches. `global:NAME` divides by the sum of
    the step's output NAME over all ranks and micro-batches; the loss must be no
    mean.

    `reduction` fixes the order of the additions. `ordered` (and `auto`) is the
    order of ranks; `hybrid_shard` sums within each replica and then over the
    replicas. `grouped:K` sums blocks of K ranks first. `flat` makes
    `hybrid_shard` sum in the order of all data ranks, as `fully_shard` does:
    each rank then receives the whole gradient, and keeps its chunk.
    `allreduce_first` sums over the replicas first, with S times the bytes on
    that axis, as SimpleFSDP does.

    `micro-batches=M` above 1 makes two functions of the step: `micro_step` runs
    M - 1 times and adds its gradients to `accumulator` arguments of the reduce
    type (`sfsdp.accumulate`); `last_micro_step` adds its own and gives the
    gradients, divided once. `sync` says what is reduced every time.

    `buffers=broadcast` sends the buffers of the first data rank to all at the
    start of each forward.

    Parameters of 0 dimensions and those that `keep-replicated` names stay
    whole, with a remark. Parameters without elements stay whole and move
    nothing. A parameter that is returned as an output is returned whole.

    **Requires** parameters without placement; dense strides of parameters that
    are sharded.

    **Ensures** every gradient result is the scaled sum over the data ranks,
    with the placement of its parameter.

    **Example** test/passes/shard-doc.mlir

    **Cost** linear in operations and uses.

    **Source** FSDP in PyTorch (Zhao et al., 2023); SimpleFSDP (Zhang et al.,
    2024).
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", /*default=*/"",
      "Axes with sizes, outermost first: dp:2,tp:2. Default: the module's">,
    ListOption<"ranks", "ranks", "int64_t",
      "Rank at each mesh position. Default: row-major">,
    Option<"mode", "mode", "::mlir::sfsdp::ShardMode",
      /*default=*/"::mlir::sfsdp::ShardMode::FullyShard",
      "What the data axes do to parameters", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::ShardMode::Replicate, "replicate",
                   "whole parameters, all-reduced gradients"),
        clEnumValN(::mlir::sfsdp::ShardMode::FullyShard, "fully_shard",
                   "sharded parameters, reduce-scattered gradients"),
        clEnumValN(::mlir::sfsdp::ShardMode::HybridShard, "hybrid_shard",
                   "sharded over dp_shard, repeated over dp_replicate"))}]>,
    Option<"reshard", "reshard", "::mlir::sfsdp::Reshard",
      /*default=*/"::mlir::sfsdp::Reshard::Auto",
      "What happens to gathered parameters after forward", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::Reshard::Auto, "auto",
                   "always, but for the block whose backward comes first"),
        clEnumValN(::mlir::sfsdp::Reshard::Always, "always",
                   "freed, and gathered again for backward"),
        clEnumValN(::mlir::sfsdp::Reshard::Never, "never",
                   "kept for backward"))}]>,
    Option<"reduceDtype", "reduce-dtype", "std::string", /*default=*/"",
      "Element type of reductions: f32, bf16, f16 or f64. Default: the "
      "parameter's">,
    Option<"reduction", "reduction", "std::string", /*default=*/"\"auto\"",
      "Order of the additions: auto, ordered, flat, grouped:K or "
      "allreduce_first">,
    Option<"gradientScale", "gradient-scale", "std::string",
      /*default=*/"\"mean\"",
      "What multiplies the sum of gradients: mean, sum, 1/F or global:NAME">,
    Option<"buffers", "buffers", "::mlir::sfsdp::BufferSync",
      /*default=*/"::mlir::sfsdp::BufferSync::Local",
      "Whose buffers a step starts with", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::BufferSync::Local, "local",
                   "each rank its own"),
        clEnumValN(::mlir::sfsdp::BufferSync::Broadcast, "broadcast",
                   "those of the first data rank"))}]>,
    Option<"microBatches", "micro-batches", "int64_t", /*default=*/"1",
      "Forward and backward passes per step">,
    Option<"sync", "sync", "::mlir::sfsdp::Sync",
      /*default=*/"::mlir::sfsdp::Sync::Auto",
      "What is reduced before the last micro-batch", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::Sync::Auto, "auto",
                   "last for replicate, else each"),
        clEnumValN(::mlir::sfsdp::Sync::Each, "each",
                   "everything, every time"),
        clEnumValN(::mlir::sfsdp::Sync::Last, "last",
                   "nothing; whole gradients are accumulated"),
        clEnumValN(::mlir::sfsdp::Sync::ShardEachReplicaLast,
                   "shard-each-replica-last",
                   "within replicas every time, over them at the last"))}]>,
    ListOption<"keepReplicated", "keep-replicated", "std::string",
      "Patterns (* ? [...]) of names of parameters that stay whole">,
  ];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

def AppendOptimizerPass : Pass<"sfsdp-append-optimizer", "::mlir::ModuleOp"> {
  let summary = "Update parameters in the training step";
  let description = [{
    Each parameter with a gradient is updated in place by `sfsdp.adamw`,
    `sfsdp.adam` or `sfsdp.sgd`, with the arithmetic and defaults of
    torch.optim: after its
    gradient is there, and after the last read of the parameter or of a view of
    it. Results that share memory with an updated parameter become copies, with
    a remark.

    Optimizer state becomes arguments with the parameter's placement (`exp_avg`
    and `exp_avg_sq`, or `momentum_buffer`), zeros before the first step.
    Learning rate and step become the hyper-parameters `lr` and `step`, 64-bit
    scalars on the host; steps count from 1. What depends on them is computed
    once, in the order of PyTorch's Python code.

    `no-decay` and `lr-scale` do what parameter groups do in PyTorch: the
    weight decay of the parameters that they name is 0, their learning rate is
    the factor times lr. Of several patterns for one parameter the first
    counts.

    `optimizer=none` keeps the gradients as results and changes nothing.

    **Requires** gradients with the shape of their parameters, float parameters.

    **Ensures** a result of role `parameter` for every parameter with a
    gradient, and one of role `state` for each state; no gradient results,
    unless `results=gradients`.

    **Example** test/passes/append-optimizer-doc.mlir

    **Cost** linear in operations and uses.

    **Source** torch/optim/adam.py and sgd.py with foreach=False.
  }];
  let options = [
    Option<"optimizer", "optimizer", "::mlir::sfsdp::Optimizer",
      /*default=*/"::mlir::sfsdp::Optimizer::AdamW",
      "Update rule", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::Optimizer::None, "none", "no update"),
        clEnumValN(::mlir::sfsdp::Optimizer::Sgd, "sgd", "torch.optim.SGD"),
        clEnumValN(::mlir::sfsdp::Optimizer::Adam, "adam", "torch.optim.Adam"),
        clEnumValN(::mlir::sfsdp::Optimizer::AdamW, "adamw",
                   "torch.optim.AdamW"))}]>,
    ListOption<"weightDecay", "weight-decay", "double",
      "One number. Default: PyTorch's, 0.01 for adamw, 0 for adam and sgd">,
    ListOption<"betas", "betas", "double",
      "adam, adamw: decay of first and second moment. Default: 0.9,0.999">,
    Option<"eps", "eps", "double", /*default=*/"1e-8",
      "adam, adamw: added to the root of the second moment">,
    Option<"momentum", "momentum", "double", /*default=*/"0",
      "sgd: factor of the momentum buffer; 0: no buffer">,
    Option<"nesterov", "nesterov", "bool", /*default=*/"false",
      "sgd: Nesterov's momentum">,
    ListOption<"noDecay", "no-decay", "std::string",
      "Patterns (* ? [...]) of names of parameters without weight decay">,
    ListOption<"lrScale", "lr-scale", "std::string",
      "Pattern and factor of the learning rate: *.bias:0.5">,
    Option<"results", "results", "::mlir::sfsdp::StepResults",
      /*default=*/"::mlir::sfsdp::StepResults::None",
      "What to return besides loss, outputs and new values", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::StepResults::None, "none", "nothing"),
        clEnumValN(::mlir::sfsdp::StepResults::Gradients, "gradients",
                   "reduced gradients"))}]>,
  ];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

def ClipGradientsPass : Pass<"sfsdp-clip-gradients", "::mlir::ModuleOp"> {
  let summary = "Clip gradients by their norm before they update parameters";
  let description = [{
    `clip-norm=X`: every update reads its gradient times min(1, X / (norm +
    1e-6)), where norm is that of all gradients that update a parameter, as
    torch.nn.utils.clip_grad_norm_ forms it. `skip-nonfinite`: the updates have
    a guard that is false where the norm is infinite or NaN.

    The norm of a parameter comes from the norms of its chunks, one for each
    rank of the axes that shard parameters, or of the data axes if none is
    sharded. A rank has the norms of its own chunks only, over their true rows;
    one all-gather, with a member per sharded parameter, brings those of the
    others. Of a parameter that every rank holds whole each rank forms them all.

    Norms stand right after their gradients, the all-gather after all of them,
    and the updates move behind it. Norm, chunk norms and guard become results.
    Gradient results stay what they are, before clipping.

    **Requires** updates without guard; parameters that are whole or split along
    dimension 0, all over the same axes.

    **Ensures** the same factor on all ranks and with every placement.

    **Example** test/passes/clip-gradients-doc.mlir

    **Cost** linear in operations.

    **Source** torch/nn/utils/clip_grad.py with foreach=False.
  }];
  let options = [
    ListOption<"clipNorm", "clip-norm", "double",
      "Largest norm of all gradients together, one number. Default: no limit">,
    Option<"skipNonfinite", "skip-nonfinite", "bool", /*default=*/"false",
      "Leave parameters and state alone where the norm is not finite">,
  ];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

def BucketPass : Pass<"sfsdp-bucket", "::mlir::ModuleOp"> {
  let summary = "Merge collectives that travel together";
  let description = [{
    `block`: gathers, and reductions, that serve parameters of one block of the
    model in one phase become one operation with as many operands, if their
    attributes are equal (element types may differ). A block is the name up to
    its first numeric segment, `layers.3`; parameters before the first block
    form a bucket, those after the last one another; without numeric segments
    all are one. A tied parameter counts by its first name.

    `block:FILE`: as `block`, with the buckets of a JSON file, a list of lists of
    patterns of names; every parameter must be in exactly one.

    `size:N`: collectives with equal attributes and one element type fill buckets
    of N MiB in the order of the text, which is that of readiness; the first
    bucket is at most 1 MiB. This is the rule of DistributedDataParallel.

    A bucket of gathers stands at its first member, a bucket of reductions at
    its last; what it needs, or what needs it, moves along. Members stand in the
    order of the arguments. Members that need each other stay apart, and nothing
    crosses an operation with unknown effects.

    `none`: nothing changes.

    **Requires** collectives with `names`; others stay as they are.

    **Ensures** the same values in every result, bit for bit.

    **Example** test/passes/bucket-doc.mlir

    **Cost** O(n log n) in operations.

    **Source** passes/analysis/Bucketing.h; SimpleFSDP (Zhang et al., 2024),
    manual wrapping; passes/analysis/BucketSizes.h.
  }];
  let options = [
    Option<"policy", "policy", "std::string", /*default=*/"\"block\"",
      "none, block, block:FILE or size:N (MiB)">,
  ];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

def ReorderPass : Pass<"sfsdp-reorder", "::mlir::ModuleOp"> {
  let summary = "Start collectives early and await them late";
  let description = [{
    Splits each collective into a start and a `sfsdp.wait`.

    `none`: the wait follows its start.

    `prefetch`: a gather starts before the first use of the gather needed before
    it, and takes along the casts that it reads. The reduction of a gradient is
    awaited when the next one has started, the last one at the end; updates move
    down with it. Collectives without names stay in their place and are awaited
    before their first use, whatever their kind.

    Nothing crosses an operation with unknown effects. The order of starts in
    the text is the order in which all ranks issue them.

    **Requires** synchronous collectives; starts and waits that are there
    already keep their order.

    **Ensures** no synchronous collective; the same values in every result, bit
    for bit.

    **Example** test/passes/reorder-doc.mlir

    **Cost** O(n log n) in operations.

    **Source** passes/analysis/Ordering.h; the prefetching of FSDP2.
  }];
  let options = [
    Option<"policy", "policy", "::mlir::sfsdp::ReorderPolicy",
      /*default=*/"::mlir::sfsdp::ReorderPolicy::Prefetch",
      "Where starts and waits go", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::ReorderPolicy::None, "none",
                   "wait right after start"),
        clEnumValN(::mlir::sfsdp::ReorderPolicy::Prefetch, "prefetch",
                   "one gather ahead, one reduction behind"),
        clEnumValN(::mlir::sfsdp::ReorderPolicy::Auto, "auto",
                   "not built yet"))}]>,
  ];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

def VerifyPass : Pass<"sfsdp-verify", "::mlir::ModuleOp"> {
  let summary = "Prove order and lifetimes before anything runs";
  let description = [{
    Order: each start has one wait, both in the function's own block, so that
    every rank issues the same collectives in the order of the text; nothing
    with unknown effects stands between a start and its wait.

    Lifetimes: nothing is read after it was overwritten, and nothing that a
    collective in flight reads is overwritten. Each result that belongs to an
    argument (gradient, new parameter, buffer or state) has its shape and
    placement; new parameters and states are in the argument's memory, and no
    state is left without new value.

    Trusts no pass: it reads the IR alone. The IR does not change.

    **Requires** functions of one block.

    **Ensures** nothing but what it checks.

    **Example** test/passes/verify-doc.mlir

    **Cost** linear in operations, times the collectives in flight at an update.

    **Source** passes/Proofs.h
  }];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

def EmitPlanPass : Pass<"sfsdp-emit-plan", "::mlir::ModuleOp"> {
  let summary = "Write the plan that simplefsdp-run executes";
  let description = [{
    Operations become instructions in text order, values become windows of
    storages, each storage is freed after its last use. The IR does not change.

    **Requires** one function whose arguments and results have roles, and a
    module with a mesh.

    **Ensures** a file that holds the digests of the proofs `order` and
    `memory`, with the same bytes from every compile; no file on failure.

    **Example** test/passes/emit-plan-doc.mlir

    **Cost** linear in operands.

    **Source** docs/plan-format.md
  }];
  let options = [
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
      "File to write; - is standard output">,
  ];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

#endif // SFSDP_PASSES_TD
