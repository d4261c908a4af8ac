// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=size:0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=size:1e300" 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=saturate" 2>&1 | FileCheck %s --check-prefix=SATURATE
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=blocks" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: rm -rf %t && mkdir %t
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=block:%t/none.json" 2>&1 | FileCheck %s --check-prefix=NO-FILE
// RUN: echo '[["w"], ["b"], ["*"]]' > %t/twice.json
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=block:%t/twice.json" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: echo '[["w"]]' > %t/missing.json
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=block:%t/missing.json" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: echo '[["["]]' > %t/pattern.json
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=block:%t/pattern.json" 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: echo '{"w": 1}' > %t/object.json
// RUN: not simplefsdp-opt %s --sfsdp-bucket="policy=block:%t/object.json" 2>&1 | FileCheck %s --check-prefix=OBJECT

// SIZE: error: bucket policy: expected none, block, block:FILE or size:N with N in MiB, got 'size:0'{{$}}
// HUGE: error: bucket policy: expected none, block, block:FILE or size:N with N in MiB, got 'size:1e300'{{$}}
// SATURATE: error: bucket policy: expected none, block, block:FILE or size:N with N in MiB, got 'saturate', which is not built yet
// UNKNOWN: error: bucket policy: expected none, block, block:FILE or size:N with N in MiB, got 'blocks'{{$}}
// NO-FILE: error: bucket policy: {{.*}}none.json: cannot read it: No such file or directory
// TWICE: error: bucket policy: {{.*}}twice.json: parameter 'w' is in buckets 0 and 2, expected one
// MISSING: error: bucket policy: {{.*}}missing.json: parameter 'b' is in no bucket, expected one
// PATTERN: error: bucket policy: {{.*}}pattern.json: {{.*}}, got '['
// OBJECT: error: bucket policy: {{.*}}object.json: expected an array, got an object
func.func @train_step(
    %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
    %b: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "b">}) {
  return
}
