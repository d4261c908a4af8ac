// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp" 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not simplefsdp-opt %s --sfsdp-shard 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not simplefsdp-opt %s --sfsdp-shard="ranks=1,0" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 mode=hybrid_shard" 2>&1 | FileCheck %s --check-prefix=HYBRID
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reduce-dtype=i8" 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 keep-replicated=[" 2>&1 | FileCheck %s --check-prefix=PATTERN

// MESH: error: option mesh: expected axis:size,… as in dp:2,tp:2, got 'dp'
// SIZE: error: option mesh:
// NONE: error: expected a mesh, got none; give the option mesh=dp:2
// RANKS: error: option ranks: expected mesh with it
// HYBRID: error: option mode: hybrid_shard is not built yet, expected replicate or fully_shard
// REDUCE: error: option reduce-dtype: expected f16, bf16, f32 or f64, got 'i8'
// PATTERN: error: option keep-replicated: {{.*}}, got '['
module {
  func.func @train_step(
      %w: tensor<6xf32> {sfsdp.role = #sfsdp.role<parameter "w" frozen>}) {
    return
  }
}
