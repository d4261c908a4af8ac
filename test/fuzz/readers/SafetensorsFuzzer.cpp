//===- SafetensorsFuzzer.cpp - Safetensors files of any bytes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes, opening gives an error with a text, or tensors that fill
// the rest of the file without holes and that can be found and read.
//
//===----------------------------------------------------------------------===//

#include "runtime/Safetensors.h"
#include "test/fuzz/readers/FuzzInput.h"

using namespace sfsdp;
using namespace sfsdp::runtime;
using test::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  test::FuzzFile input(test::asText(data, size));
  Expected<Safetensors> file = Safetensors::open(input.path());
  if (!file) {
    require(!file.message().empty(), "an error has a text");
    return 0;
  }
  uint64_t end = size;
  for (size_t i = file->tensors().size(); i-- > 0;) {
    const SafetensorsTensor &tensor = file->tensors()[i];
    require(tensor.bytes <= end && tensor.offset == end - tensor.bytes,
            "tensors fill the end of the file");
    end = tensor.offset;
    require(file->find(tensor.name) == &tensor, "a tensor is found by name");
    std::vector<std::byte> content(tensor.bytes);
    require(file->read(tensor, 0, content).ok(), "a tensor can be read");
    std::byte beyond{};
    require(!file->read(tensor, tensor.bytes, {&beyond, 1}).ok(),
            "nothing beyond a tensor is read");
    if (!tensor.shape.empty()) {
      require(file->readRows(tensor, 0, tensor.shape[0], content).ok(),
              "all rows are the tensor");
    }
  }
  require(end >= 8, "the header comes before the tensors");
  return 0;
}
