// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp" 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not simplefsdp-opt %s --sfsdp-shard 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not simplefsdp-opt %s --sfsdp-shard="ranks=1,0" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 mode=hybrid_shard" 2>&1 | FileCheck %s --check-prefix=HYBRID
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp_shard:2,dp_replicate:2 mode=hybrid_shard" 2>&1 | FileCheck %s --check-prefix=HYBRID
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp_replicate:2,dp_shard:2 mode=hybrid_shard reduction=grouped:2" 2>&1 | FileCheck %s --check-prefix=HYBRID-GROUPED
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reduction=grouped:0" 2>&1 | FileCheck %s --check-prefix=GROUPED
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reduction=tree" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reduction=backend" 2>&1 | FileCheck %s --check-prefix=BACKEND
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 gradient-scale=1/0" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 gradient-scale=half" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reduce-dtype=i8" 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 keep-replicated=[" 2>&1 | FileCheck %s --check-prefix=PATTERN

// MESH: error: option mesh: expected axis:size,… as in dp:2,tp:2, got 'dp'
// SIZE: error: option mesh:
// NONE: error: expected a mesh, got none; give the option mesh=dp:2
// RANKS: error: option ranks: expected mesh with it
// HYBRID: error: option mesh: hybrid_shard expects the data axes dp_replicate and dp_shard, in this order, as in mesh=dp_replicate:2,dp_shard:4, got #sfsdp.mesh<
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 micro-batches=0" 2>&1 | FileCheck %s --check-prefix=MICRO
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 micro-batches=9223372036854775807" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 micro-batches=2 sync=shard-each-replica-last" 2>&1 | FileCheck %s --check-prefix=SYNC
// MICRO: error: option micro-batches: expected 1 to 1000000, got 0
// MANY: error: option micro-batches: expected 1 to 1000000, got 9223372036854775807
// SYNC: error: option sync: expected mode=hybrid_shard and reduction=ordered with shard-each-replica-last
// HYBRID-GROUPED: error: option reduction: hybrid_shard sums replica by replica, expected auto, ordered, flat or allreduce_first, got 'grouped:2'
// GROUPED: error: option reduction: expected grouped:K with K ranks per block, got 'grouped:0'
// ORDER: error: option reduction: expected auto, ordered, flat, grouped:K or allreduce_first, got 'tree'
// BACKEND: error: option reduction: backend is not built yet
// SCALE: error: option gradient-scale: expected mean, sum, 1/F with a positive F, or global:NAME of an output, got '{{1/0|half}}'
// REDUCE: error: option reduce-dtype: expected f16, bf16, f32 or f64, got 'i8'
// PATTERN: error: option keep-replicated: {{.*}}, got '['
module {
  func.func @train_step(
      %w: tensor<6xf32> {sfsdp.role = #sfsdp.role<parameter "w" frozen>}) {
    return
  }
}
