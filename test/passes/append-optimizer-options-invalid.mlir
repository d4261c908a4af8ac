// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="betas=0.9" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="betas=0.9,1" 2>&1 | FileCheck %s --check-prefix=BETAS
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="eps=-1" 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="weight-decay=-0.5" 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="weight-decay=-1" 2>&1 | FileCheck %s --check-prefix=MINUS-ONE
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="weight-decay=0,1" 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=sgd momentum=-1" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=sgd nesterov" 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="no-decay=[a" 2>&1 | FileCheck %s --check-prefix=NO-DECAY
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="lr-scale=*.bias" 2>&1 | FileCheck %s --check-prefix=NO-FACTOR
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="lr-scale=*:1,a:-1" 2>&1 | FileCheck %s --check-prefix=FACTOR
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="lr-scale=:2" 2>&1 | FileCheck %s --check-prefix=NO-PATTERN
// RUN: not simplefsdp-opt %s --sfsdp-append-optimizer="lr-scale=[a:2" 2>&1 | FileCheck %s --check-prefix=PATTERN

// NO-DECAY: error: option no-decay: {{.*}}, got '[a'
// NO-FACTOR: error: option lr-scale: expected a pattern and a finite factor that is not negative, as in *.bias:0.5, got '*.bias'
// FACTOR: error: option lr-scale: expected a pattern and a finite factor that is not negative, as in *.bias:0.5, got 'a:-1'
// NO-PATTERN: error: option lr-scale: expected a pattern {{.*}} got ':2'
// PATTERN: error: option lr-scale: {{.*}}, got '[a'
// COUNT: error: option betas: expected two numbers, got 1
// BETAS: error: option betas: expected numbers from 0 to below 1, got 1
// EPS: error: option eps: expected a finite number that is not negative, got -1
// DECAY: error: option weight-decay: expected a finite number that is not negative, got -5
// MINUS-ONE: error: option weight-decay: expected a finite number that is not negative, got -1
// TWO: error: option weight-decay: expected one number, got 2
// MOMENTUM: error: option momentum: expected a finite number that is not negative, got -1
// NESTEROV: error: option nesterov: expected momentum with it, got 0
func.func @train_step() {
  return
}
