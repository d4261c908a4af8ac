// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=size:25" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=saturate" 2>&1 | FileCheck %s --check-prefix=SATURATE
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=blocks" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// SIZE: error: option policy: expected none or block, got 'size:25', which is not built yet
// SATURATE: error: option policy: expected none or block, got 'saturate', which is not built yet
// UNKNOWN: error: option policy: expected none or block, got 'blocks'{{$}}
func.func @train_step() {
  return
}
