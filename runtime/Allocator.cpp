//===- Allocator.cpp - Tensors live in counted memory ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some kernels use the raw interface of allocators, which wants the deleter's
// context to be the data pointer itself.
//
// Tested by test/unit/runtime/AllocatorTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Allocator.h"
#include "runtime/RankMemory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

using namespace sfsdp::runtime;

namespace {

class CountedAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    void *data = allocateHere(bytes);
    TORCH_CHECK_WITH(OutOfMemoryError, data, "out of memory: ", bytes,
                     " bytes");
    return {data, data, &RankMemory::free, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &RankMemory::free; }

  void copy_data(void *to, const void *from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

} // namespace

void sfsdp::runtime::useCountedMemory() {
  static CountedAllocator allocator;
  constexpr uint8_t kOverDefault = 1;
  c10::SetCPUAllocator(&allocator, kOverDefault);
}
