//===- Profile.cpp - What each kernel took --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/e2e/views.py.
//
//===----------------------------------------------------------------------===//

#include "runtime/Profile.h"
#include "runtime/Json.h"

#include <algorithm>

using namespace sfsdp::runtime;

/// "f32[4, 8]".
static std::string textOf(const Value &value) {
  std::string text(nameOf(value.dtype));
  text += "[";
  for (size_t dim = 0; dim < value.sizes.size(); ++dim) {
    text += (dim == 0 ? "" : ", ") + std::to_string(value.sizes[dim]);
  }
  return text + "]";
}

void KernelProfile::add(const std::vector<InstructionTime> &times) {
  bool isFirst = rows.empty();
  rows.resize(std::max(rows.size(), times.size()));
  for (size_t index = 0; index < times.size(); ++index) {
    int64_t ns = times[index].endNs - times[index].beginNs;
    rows[index].ns = isFirst ? ns : std::min(rows[index].ns, ns);
    rows[index].workspaceBytes =
        std::max(rows[index].workspaceBytes, times[index].workspaceBytes);
  }
}

std::string KernelProfile::write(const Plan &plan) const {
  Json::Array table;
  const std::vector<Instruction> &instructions =
      plan.programs.back().instructions;
  for (size_t index = 0; index < rows.size(); ++index) {
    const auto *kernel = std::get_if<KernelCall>(&instructions[index].action);
    if (!kernel) {
      continue;
    }
    std::vector<std::string> tensors;
    for (const KernelArgument &argument : kernel->arguments) {
      if (const auto *value = std::get_if<ValueRef>(&argument)) {
        tensors.push_back(textOf(plan.values[value->id]));
      }
    }
    Json row = Json::object();
    row.add("call", kernel->name);
    row.add("overload", kernel->overload);
    row.add("tensors", Json::listOf(tensors));
    row.add("ns", rows[index].ns);
    row.add("workspace_bytes", rows[index].workspaceBytes);
    row.add("predicted_workspace_bytes", kernel->cost.workspaceBytes);
    table.push_back(std::move(row));
  }
  Json profile = Json::object();
  profile.add("kernels", std::move(table));
  return writeJson(profile, {2}) + "\n";
}
