// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=sgd" | FileCheck %s --check-prefix=SGD
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=sgd momentum=0.9 nesterov weight-decay=0.5" | FileCheck %s --check-prefix=NESTEROV
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="betas=0.8,0.95 eps=1e-6 results=gradients" | FileCheck %s --check-prefix=ADAMW
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=adam weight-decay=0.5 betas=0.5,0.25 eps=1" | FileCheck %s --check-prefix=ADAM
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=none" | FileCheck %s --check-prefix=NONE
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=sgd eps=1 betas=0.1,0.2" 2>&1 | FileCheck %s --check-prefix=UNUSED-SGD
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="momentum=0.5 nesterov" 2>&1 | FileCheck %s --check-prefix=UNUSED-ADAMW

// SGD: func.func @train_step(%[[A:[a-z0-9]+]]: tensor<4xf32>
// SGD-SAME: %[[LR:[a-z0-9]+]]: !sfsdp.scalar {{[^,]*}}"lr">}, %[[STEP:[a-z0-9]+]]: !sfsdp.scalar
// SGD-SAME: -> (tensor<f32> {{[^,]*}}, tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a.w">}) {
// SGD: %[[SIZE:.*]] = sfsdp.scalar_compute neg %[[LR]]
// The frozen parameter and the one without gradient stay as they are.
// SGD: sfsdp.sgd %[[A]], %{{.*}} step_size %[[SIZE]] step %[[STEP]] weight_decay 0.000000e+00 momentum 0.000000e+00 scope <optimizer "a" by "sfsdp-append-optimizer"> : tensor<4xf32>
// SGD-NOT: sfsdp.sgd

// NESTEROV: %[[M:[a-z0-9]+]]: tensor<4xf32> {sfsdp.role = #sfsdp.role<state "a.w" slot "momentum_buffer">}
// NESTEROV: sfsdp.sgd %{{.*}} buffer %[[M]] step_size %{{.*}} weight_decay 5.000000e-01 momentum 9.000000e-01 nesterov

// ADAMW: -> (tensor<f32> {{[^,]*}}, tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "a.w">}, tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a.w">}
// ADAMW: sfsdp.scalar_constant 1.000000e-02
// ADAMW: sfsdp.adamw {{.*}} betas 8.000000e-01, {{0.94.*|0.95.*|9.5.*}} eps {{1.000000e-06|9.99.*E-7}}

// Adam's weight decay is part of the update, not a scalar of the step.
// ADAM: %[[M:[a-z0-9]+]]: tensor<4xf32> {sfsdp.role = #sfsdp.role<state "a.w" slot "exp_avg">}
// ADAM-SAME: %[[V:[a-z0-9]+]]: tensor<4xf32> {sfsdp.role = #sfsdp.role<state "a.w" slot "exp_avg_sq">}
// ADAM-NOT: sfsdp.scalar_compute mul
// ADAM: %[[SIZE:.+]] = sfsdp.scalar_compute neg
// ADAM: %[[ROOT:.+]] = sfsdp.scalar_compute pow %{{.+}}, %{{.+}}
// ADAM: sfsdp.adam %{{.+}}, %{{.+}}, %[[M]], %[[V]] step_size %[[SIZE]] correction %{{.+}} weight_decay 5.000000e-01 betas 5.000000e-01, 2.500000e-01 eps 1.000000e+00 scope <optimizer "a" by "sfsdp-append-optimizer">

// NONE: -> (tensor<f32> {{[^,]*}}, tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "a.w">}) {
// NONE-NOT: sfsdp.scalar

// UNUSED-SGD-DAG: warning: option betas: only adam and adamw have it, so it changes nothing
// UNUSED-SGD-DAG: warning: option eps: only adam and adamw have it, so it changes nothing
// UNUSED-ADAMW-DAG: warning: option momentum: only sgd has it, so it changes nothing
// UNUSED-ADAMW-DAG: warning: option nesterov: only sgd has it, so it changes nothing
func.func @train_step(
    %a: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a.w">},
    %f: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "f" frozen>},
    %u: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "u">})
    -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">},
        tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "a.w">}) {
  %y = sfsdp.aten "mul.Tensor"(%a, %f) scope <forward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = sfsdp.aten "sum.default"(%y) scope <forward ""> : (tensor<4xf32>) -> tensor<f32>
  %g = sfsdp.aten "neg.default"(%f) scope <backward "a"> : (tensor<4xf32>) -> tensor<4xf32>
  return %loss, %g : tensor<f32>, tensor<4xf32>
}
