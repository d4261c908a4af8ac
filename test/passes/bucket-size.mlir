// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 mode=replicate" | simplefsdp-opt --sfsdp-bucket="policy=size:25" | FileCheck %s
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 mode=replicate" | simplefsdp-opt --sfsdp-bucket="policy=size:0.5" | FileCheck %s --check-prefix=SMALL
// RUN: rm -rf %t && mkdir %t && echo '[["[ac]"], ["b", "d"]]' > %t/mine.json
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 mode=replicate" | simplefsdp-opt --sfsdp-bucket="policy=block:%t/mine.json" | FileCheck %s --check-prefix=FILE
// RUN: simplefsdp-opt %s --simplefsdp="mesh=dp:2 mode=replicate bucket=block:%t/mine.json optimizer=none" | FileCheck %s --check-prefix=RECORDED

// F40: 1 MiB fills the first bucket; d has a bucket of its own type. Members stand in
// the order of registration, buckets fill in the order of the text.
// CHECK: sfsdp.all_reduce %{{.*}} on ["dp"] divisor 2.000000e+00 for ["c"]
// CHECK: sfsdp.all_reduce %{{.*}}, %{{.*}} on ["dp"] divisor 2.000000e+00 for ["a", "b"]
// CHECK: sfsdp.all_reduce %{{.*}} on ["dp"] divisor 2.000000e+00 for ["d"]

// SMALL: for ["c"]
// SMALL: for ["b"]
// SMALL: for ["a"]
// SMALL: for ["d"]

// FILE-DAG: for ["a", "c"]
// FILE-DAG: for ["b", "d"]

// The plan names the file without folders, with its digest.
// RECORDED: sfsdp.inputs = [#sfsdp.input_file<"mine.json" sha256 "{{[0-9a-f]+}}">]
// RECORDED-SAME: bucket=block:mine.json
func.func @train_step(
    %a: tensor<1024x128xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
    %b: tensor<1024x128xf32> {sfsdp.role = #sfsdp.role<parameter "b">},
    %c: tensor<1024x256xf32> {sfsdp.role = #sfsdp.role<parameter "c">},
    %d: tensor<4xbf16> {sfsdp.role = #sfsdp.role<parameter "d">})
    -> (tensor<1024x128xf32> {sfsdp.role = #sfsdp.role<gradient "a">},
        tensor<1024x128xf32> {sfsdp.role = #sfsdp.role<gradient "b">},
        tensor<1024x256xf32> {sfsdp.role = #sfsdp.role<gradient "c">},
        tensor<4xbf16> {sfsdp.role = #sfsdp.role<gradient "d">}) {
  %gc = sfsdp.aten "neg.default"(%c) scope <backward ""> : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %gb = sfsdp.aten "neg.default"(%b) scope <backward ""> : (tensor<1024x128xf32>) -> tensor<1024x128xf32>
  %ga = sfsdp.aten "neg.default"(%a) scope <backward ""> : (tensor<1024x128xf32>) -> tensor<1024x128xf32>
  %gd = sfsdp.aten "neg.default"(%d) scope <backward ""> : (tensor<4xbf16>) -> tensor<4xbf16>
  return %ga, %gb, %gc, %gd : tensor<1024x128xf32>, tensor<1024x128xf32>, tensor<1024x256xf32>, tensor<4xbf16>
}
