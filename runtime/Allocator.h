//===- Allocator.h - Tensors live in counted memory -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts RankMemory in the place of LibTorch's CPU allocator.
//
// Tested by test/unit/runtime/AllocatorTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_ALLOCATOR_H
#define SFSDP_RUNTIME_ALLOCATOR_H

namespace sfsdp::runtime {

/// From now on CPU tensors of each thread come from currentMemory(). Call it
/// once, before other threads exist; further calls do nothing.
void useCountedMemory();

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_ALLOCATOR_H
