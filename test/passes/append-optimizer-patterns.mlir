// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="weight-decay=0.5 no-decay=*.bias,norm* lr-scale=last.*:0.25,*.bias:2" 2>/dev/null | FileCheck %s --check-prefix=ADAMW
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=adam weight-decay=0.5 no-decay=*.bias" 2>/dev/null | FileCheck %s --check-prefix=ADAM
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=sgd weight-decay=0.5 no-decay=*.bias lr-scale=*.bias:2" 2>/dev/null | FileCheck %s --check-prefix=SGD
// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=sgd no-decay=*.bias,none lr-scale=last.*:0.25,last.bias:2,frozen:3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN

// Three groups: lr and decay; lr / 4 and none; 2 * lr and none. What does not
// depend on the group is computed once.
// ADAMW-DAG: %[[LR:[a-z0-9]+]]: !sfsdp.scalar {{[^,]*}}"lr">
// ADAMW: %[[ONE:.+]] = sfsdp.scalar_constant 1.0
// ADAMW: %[[D:.+]] = sfsdp.scalar_compute sub %[[ONE]], %
// ADAMW: %[[C1:.+]] = sfsdp.scalar_compute sub %[[ONE]], %
// ADAMW: %[[Q:.+]] = sfsdp.scalar_compute div %[[LR]], %[[C1]]
// ADAMW: %[[S:.+]] = sfsdp.scalar_compute neg %[[Q]]
// ADAMW: %[[HALF:.+]] = sfsdp.scalar_constant 5.000000e-01
// ADAMW: %[[R:.+]] = sfsdp.scalar_compute pow %{{.+}}, %[[HALF]]
// ADAMW: %[[TWO:.+]] = sfsdp.scalar_constant 2.0
// ADAMW: %[[LR2:.+]] = sfsdp.scalar_compute mul %[[LR]], %[[TWO]]
// ADAMW: %[[ZERO:.+]] = sfsdp.scalar_constant 0.0
// ADAMW: %[[P2:.+]] = sfsdp.scalar_compute mul %[[LR2]], %[[ZERO]]
// ADAMW: %[[D2:.+]] = sfsdp.scalar_compute sub %[[ONE]], %[[P2]]
// ADAMW: %[[Q2:.+]] = sfsdp.scalar_compute div %[[LR2]], %[[C1]]
// ADAMW: %[[S2:.+]] = sfsdp.scalar_compute neg %[[Q2]]
// ADAMW: %[[QUARTER:.+]] = sfsdp.scalar_constant 2.500000e-01
// ADAMW: %[[LR3:.+]] = sfsdp.scalar_compute mul %[[LR]], %[[QUARTER]]
// ADAMW: %[[D3:.+]] = sfsdp.scalar_compute sub %[[ONE]]
// ADAMW: %[[Q3:.+]] = sfsdp.scalar_compute div %[[LR3]], %[[C1]]
// ADAMW: %[[S3:.+]] = sfsdp.scalar_compute neg %[[Q3]]
// ADAMW: sfsdp.adamw {{.*}} decay %[[D]] step_size %[[S]] correction %[[R]] {{.*}} scope <optimizer "first"
// ADAMW: sfsdp.adamw {{.*}} decay %[[D2]] step_size %[[S2]] correction %[[R]] {{.*}} scope <optimizer "first"
// The first of two patterns counts; any name of a tied parameter does.
// ADAMW: sfsdp.adamw {{.*}} decay %[[D3]] step_size %[[S3]] correction %[[R]] {{.*}} scope <optimizer "last"

// ADAM: sfsdp.adam {{.*}} weight_decay 5.000000e-01
// ADAM: sfsdp.adam {{.*}} weight_decay 0.000000e+00
// ADAM: sfsdp.adam {{.*}} weight_decay 0.000000e+00

// SGD: %[[N:.+]] = sfsdp.scalar_compute neg
// SGD: %[[N2:.+]] = sfsdp.scalar_compute neg
// SGD: sfsdp.sgd {{.*}} step_size %[[N]] {{.*}} weight_decay 5.000000e-01
// SGD: sfsdp.sgd {{.*}} step_size %[[N2]] {{.*}} weight_decay 0.000000e+00

// WARN-DAG: warning: option no-decay: changes nothing, as weight-decay is 0
// WARN-DAG: warning: option no-decay: 'none' names no parameter with a gradient
// WARN-DAG: warning: option lr-scale: 'frozen' names no parameter with a gradient
// WARN-DAG: warning: option lr-scale: 'last.bias' changes nothing, as earlier patterns name the same parameters
func.func @train_step(
    %a: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "first.weight">},
    %b: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "first.bias">},
    %c: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "last.bias" also ["norm.bias"]>},
    %f: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "frozen" frozen>},
    %g: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">})
    -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "first.weight">},
        tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "first.bias">},
        tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "last.bias">}) {
  return %g, %g, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
