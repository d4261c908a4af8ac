//===- Weights.cpp - Values for parameters, buffers and constants ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drawn values come from a counter, not from a sequence: element i of a
// parameter is a function of (seed, name, i) alone, so every mesh draws the
// same whole tensor.
//
// Tested by test/unit/runtime/WeightsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Weights.h"
#include "runtime/Box.h"
#include "runtime/Number.h"
#include "runtime/PlanNames.h"
#include "runtime/RandomSeed.h"
#include "runtime/Reduce.h"
#include "runtime/TensorBytes.h"

#include <cmath>
#include <cstring>
#include <numbers>

using namespace sfsdp::runtime;

namespace {

/// FNV-1a.
uint64_t hashOf(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char each : text) {
    hash = (hash ^ each) * 0x100000001b3;
  }
  return hash;
}

/// In (0, 1].
double unit(uint64_t bits) {
  return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
}

/// A parameter's value in its element type.
void store(double value, DType type, std::byte *target) {
  auto put = [&](auto number) { std::memcpy(target, &number, sizeof number); };
  switch (type) {
  case DType::Float64:
    return put(value);
  case DType::Float32:
    return put(static_cast<float>(value));
  case DType::Float16:
    return put(floatToFloat16(static_cast<float>(value)));
  case DType::BFloat16:
    return put(floatToBFloat16(static_cast<float>(value)));
  default:
    std::memset(target, 0, byteSize(type));
  }
}

class Loader {
public:
  Loader(const Plan &plan, const MeshPosition &position,
         const std::vector<std::unique_ptr<WeightFile>> &files,
         const Initialization &how, Executor &executor)
      : plan(plan), position(position), files(files), how(how),
        executor(executor) {}

  Status load(size_t index);

private:
  Status read(const Argument &argument, const StoredTensor &stored,
              const WeightFile &file, const TensorView &view);
  void draw(const Argument &argument, const TensorView &view);
  Box boxOf(const Argument &argument) const {
    return ownedBox(argument.globalShape, argument.placement, plan.header.mesh,
                    position);
  }

  const Plan &plan;
  const MeshPosition &position;
  const std::vector<std::unique_ptr<WeightFile>> &files;
  const Initialization &how;
  Executor &executor;
};

std::string nameOf(const Argument &argument) {
  return std::string(spell(argument.role)) + " '" + argument.name + "'";
}

Status Loader::load(size_t index) {
  const Argument &argument = plan.arguments[index];
  TensorView view = executor.argument(index);
  std::vector<std::string> names = {argument.name};
  names.insert(names.end(), argument.aliases.begin(), argument.aliases.end());
  const WeightFile *fakeIn = nullptr;
  for (const auto &file : files) {
    for (const std::string &name : names) {
      std::optional<StoredTensor> stored = file->find(name);
      if (stored && !stored->isFake) {
        return read(argument, *stored, *file, view)
            .within(nameOf(argument) + " in " + file->path());
      }
      fakeIn = stored ? file.get() : fakeIn;
    }
  }
  bool mayBeDrawn = argument.role == Role::Parameter &&
                    how.kind != Initialization::Kind::None;
  if (mayBeDrawn) {
    draw(argument, view);
    return Status();
  }
  std::string problem =
      fakeIn ? " was captured without a value (in " + fakeIn->path() + ")"
             : " is in no file of --weights";
  return Status::error(nameOf(argument) + problem +
                       (argument.role == Role::Parameter
                            ? "; give a file that has it, or --init"
                            : "; give a file that has it"));
}

Status Loader::read(const Argument &argument, const StoredTensor &stored,
                    const WeightFile &file, const TensorView &view) {
  if (stored.shape != argument.globalShape) {
    return Status::error("has shape " + describeShape(stored.shape) +
                         ", the plan expects " +
                         describeShape(argument.globalShape));
  }
  if (stored.dtype != view.dtype) {
    return Status::error(
        "has elements of " + std::string(nameOf(stored.dtype)) +
        ", the plan expects " + std::string(nameOf(view.dtype)));
  }
  Box box = boxOf(argument);
  if (elementsOf(box) == 0) {
    return Status();
  }
  RowRange rows = box.empty() ? RowRange{0, 1} : box[0];
  std::vector<int64_t> stretch = argument.globalShape;
  if (!stretch.empty()) {
    stretch[0] = rows.size();
    box[0] = {0, rows.size()};
  }
  int64_t width = byteSize(view.dtype);
  std::vector<std::byte> bytes(
      static_cast<size_t>(*contiguousBytes(stretch, view.dtype)));
  if (Status status = stored.readRows(rows.begin, rows.end, bytes);
      !status.ok()) {
    return status;
  }
  copyBox(sizesOf(box), width,
          startOf(box, {bytes.data(), rowMajorStrides(stretch)}, width),
          {static_cast<std::byte *>(view.data), view.strides});
  return Status();
}

/// Draws row by row of the last dimension.
void Loader::draw(const Argument &argument, const TensorView &view) {
  Box box = boxOf(argument);
  std::vector<int64_t> whole = rowMajorStrides(argument.globalShape);
  int64_t width = byteSize(view.dtype);
  std::vector<int64_t> sizes = sizesOf(box);
  std::vector<int64_t> index(box.size(), 0);
  for (int64_t left = elementsOf(box); left > 0; --left) {
    uint64_t global = 0;
    int64_t local = 0;
    for (size_t dim = 0; dim < box.size(); ++dim) {
      global += (box[dim].begin + index[dim]) * whole[dim];
      local += index[dim] * view.strides[dim];
    }
    store(initialValue(how, argument.name, global), view.dtype,
          static_cast<std::byte *>(view.data) + local * width);
    for (size_t dim = box.size(); dim-- > 0;) {
      if (++index[dim] < sizes[dim]) {
        break;
      }
      index[dim] = 0;
    }
  }
}

bool hasValue(Role role) {
  return role == Role::Parameter || role == Role::Buffer ||
         role == Role::Constant;
}

} // namespace

Expected<Initialization>
sfsdp::runtime::parseInitialization(const std::string &text) {
  Initialization how;
  if (text == "zeros") {
    how.kind = Initialization::Kind::Zeros;
    return how;
  }
  constexpr std::string_view kNormal = "normal:";
  if (text.starts_with(kNormal)) {
    if (parseNumber(std::string_view(text).substr(kNormal.size()),
                    how.standardDeviation) &&
        how.standardDeviation >= 0 && std::isfinite(how.standardDeviation)) {
      how.kind = Initialization::Kind::Normal;
      return how;
    }
  }
  return Status::error("expected 'zeros' or 'normal:STD', got '" + text + "'");
}

double sfsdp::runtime::initialValue(const Initialization &how,
                                    const std::string &name, uint64_t index) {
  if (how.kind != Initialization::Kind::Normal) {
    return 0;
  }
  uint64_t key = scatterBits(how.seed) ^ hashOf(name);
  uint64_t first = scatterBits(key + 2 * index);
  uint64_t second = scatterBits(key + 2 * index + 1);
  // Box-Muller.
  return how.standardDeviation * std::sqrt(-2 * std::log(unit(first))) *
         std::cos(2 * std::numbers::pi * unit(second));
}

Status sfsdp::runtime::loadWeights(
    const Plan &plan, const MeshPosition &position,
    const std::vector<std::unique_ptr<WeightFile>> &files,
    const Initialization &how, Executor &executor) {
  Loader loader(plan, position, files, how, executor);
  for (size_t index = 0; index < plan.arguments.size(); ++index) {
    if (!hasValue(plan.arguments[index].role)) {
      continue;
    }
    if (Status status = loader.load(index); !status.ok()) {
      return status;
    }
  }
  return Status();
}
