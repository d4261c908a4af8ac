//===- Passes.td - Passes on the sfsdp dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SFSDP_PASSES_TD
#define SFSDP_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardPass : Pass<"sfsdp-shard", "::mlir::ModuleOp"> {
  let summary = "Shard parameters and reduce gradients over the data axes";
  let description = [{
    The data axes are all axes of the mesh but `tp`; N is the product of their
    sizes. With N = 1 only placements change.

    `fully_shard`: a parameter argument becomes this rank's chunk of dimension
    0. One all-gather per phase stands before the parameter's first use in that
    phase; `reshard=never` has a single one, that backward uses too. A cast that
    all uses in a phase share is done on the shard when it makes the bytes
    fewer. What forward derives from parameters alone and backward reads is
    computed again from backward's gather, unless it is a copy no larger than
    the shard. A gathered parameter has the strides of the captured one.

    `replicate`: parameters stay whole.

    Right after its producer a gradient is cast to `reduce-dtype`, made
    contiguous, reduced with the number of ranks as divisor (reduce-scatter, or
    all-reduce for a whole parameter), and cast back. In f16 the largest power
    of two not above the root of N is divided out before the sum.

    Parameters of 0 dimensions and those that `keep-replicated` names stay
    whole, with a remark. Parameters without elements stay whole and move
    nothing. A parameter that is returned as an output is returned whole.

    **Requires** parameters without placement; dense strides of parameters that
    are sharded.

    **Ensures** every gradient result is the mean over the data ranks, with the
    placement of its parameter.

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
                   "not built yet"))}]>,
    Option<"reshard", "reshard", "::mlir::sfsdp::Reshard",
      /*default=*/"::mlir::sfsdp::Reshard::Always",
      "What happens to gathered parameters after forward", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::Reshard::Always, "always",
                   "freed, and gathered again for backward"),
        clEnumValN(::mlir::sfsdp::Reshard::Never, "never",
                   "kept for backward"))}]>,
    Option<"reduceDtype", "reduce-dtype", "std::string", /*default=*/"",
      "Element type of reductions: f32, bf16, f16 or f64. Default: the "
      "parameter's">,
    ListOption<"keepReplicated", "keep-replicated", "std::string",
      "Patterns (* ? [...]) of names of parameters that stay whole">,
  ];
  let dependentDialects = ["::mlir::sfsdp::SfsdpDialect"];
}

def AppendOptimizerPass : Pass<"sfsdp-append-optimizer", "::mlir::ModuleOp"> {
  let summary = "Update parameters in the training step";
  let description = [{
    Each parameter with a gradient is updated in place by `sfsdp.adamw` or
    `sfsdp.sgd`, with the arithmetic and defaults of torch.optim: after its
    gradient is there, and after the last read of the parameter or of a view of
    it. Results that share memory with an updated parameter become copies, with
    a remark.

    Optimizer state becomes arguments with the parameter's placement (`exp_avg`
    and `exp_avg_sq`, or `momentum_buffer`), zeros before the first step.
    Learning rate and step become the hyper-parameters `lr` and `step`, 64-bit
    scalars on the host; steps count from 1. What depends on them is computed
    once, in the order of PyTorch's Python code.

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
        clEnumValN(::mlir::sfsdp::Optimizer::Adam, "adam", "not built yet"),
        clEnumValN(::mlir::sfsdp::Optimizer::AdamW, "adamw",
                   "torch.optim.AdamW"))}]>,
    Option<"weightDecay", "weight-decay", "double", /*default=*/"-1",
      "Default: -1, PyTorch's: 0.01 for adamw, 0 for sgd">,
    ListOption<"betas", "betas", "double",
      "adamw: decay of first and second moment. Default: 0.9,0.999">,
    Option<"eps", "eps", "double", /*default=*/"1e-8",
      "adamw: added to the root of the second moment">,
    Option<"momentum", "momentum", "double", /*default=*/"0",
      "sgd: factor of the momentum buffer; 0: no buffer">,
    Option<"nesterov", "nesterov", "bool", /*default=*/"false",
      "sgd: Nesterov's momentum">,
    Option<"results", "results", "::mlir::sfsdp::StepResults",
      /*default=*/"::mlir::sfsdp::StepResults::None",
      "What to return besides loss, outputs and new values", [{::llvm::cl::values(
        clEnumValN(::mlir::sfsdp::StepResults::None, "none", "nothing"),
        clEnumValN(::mlir::sfsdp::StepResults::Gradients, "gradients",
                   "reduced gradients"))}]>,
  ];
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
