//===- ProgramText.h - Small exported programs for tests ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the JSON of an exported program from its parts, so that a test says
// only what it is about. The parts are public: a test damages them at will.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_PROGRAMTEXT_H
#define SFSDP_TEST_SUPPORT_PROGRAMTEXT_H

#include "runtime/Json.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sfsdp::test {

using runtime::Json;

/// `{"TAG": content}`
inline Json tagged(std::string tag, Json content) {
  Json object = Json::object();
  object.add(std::move(tag), std::move(content));
  return object;
}

/// `{"as_tensor": {"name": NAME}}`
inline Json tensorArgument(const std::string &name) {
  return tagged("as_tensor", tagged("name", name));
}

inline Json noneArgument() { return tagged("as_none", true); }

struct NodeText {
  std::string name;
  std::string target; ///< "mm.default" of ATen, or "torch.ops.…"
  std::vector<std::pair<std::string, Json>> arguments;
  Json::Array outputs;
  std::string custom = {}; ///< JSON that the capturer noted
};

struct ProgramText {
  int64_t major = 8;
  int64_t minor = 20;
  bool hasVersion = true;
  std::vector<std::pair<std::string, Json>> tensors;
  std::vector<NodeText> nodes;
  Json::Array inputs, outputs, inputSpecs, outputSpecs;
  Json ranges = Json::object();

  /// Adds metadata of tensor `name`; without strides it is contiguous.
  void addTensor(const std::string &name, const std::vector<int64_t> &sizes,
                 std::vector<int64_t> strides = {}, int64_t dtype = 7,
                 int64_t offset = 0) {
    if (strides.empty()) {
      strides.resize(sizes.size());
      int64_t stride = 1;
      for (size_t i = sizes.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= sizes[i];
      }
    }
    Json metadata = Json::object();
    metadata.add("dtype", dtype);
    metadata.add("sizes", numbers(sizes));
    metadata.add("strides", numbers(strides));
    metadata.add("storage_offset", tagged("as_int", offset));
    metadata.add("layout", 7);
    tensors.emplace_back(name, std::move(metadata));
  }

  /// Adds a graph input of kind `tag` ("parameter", "buffer",
  /// "tensor_constant", "user_input") for the FQN `target`.
  void addInput(const std::string &tag, const std::string &name,
                const std::string &target, const std::vector<int64_t> &sizes,
                int64_t dtype = 7) {
    addTensor(name, sizes, {}, dtype);
    inputs.push_back(tensorArgument(name));
    inputSpecs.push_back(specification(tag, name, target));
  }

  /// Adds a graph output of kind `tag` ("loss_output",
  /// "gradient_to_parameter", "user_output", …).
  void addOutput(const std::string &tag, const std::string &name,
                 const std::string &target = "") {
    outputs.push_back(tensorArgument(name));
    outputSpecs.push_back(specification(tag, name, target));
  }

  /// Adds a call of an ATen operator with one result of these sizes.
  void addNode(const std::string &name, const std::string &target,
               std::vector<std::pair<std::string, Json>> arguments,
               const std::vector<int64_t> &sizes,
               const std::vector<int64_t> &strides = {}) {
    addTensor(name, sizes, strides);
    nodes.push_back(
        {name, target, std::move(arguments), {tensorArgument(name)}});
  }

  std::string text() const {
    Json values = Json::object();
    for (const auto &[name, metadata] : tensors) {
      values.add(name, metadata);
    }
    Json graph = Json::object();
    graph.add("inputs", inputs);
    graph.add("outputs", outputs);
    graph.add("nodes", nodeList());
    graph.add("tensor_values", values);
    Json signature = Json::object();
    signature.add("input_specs", inputSpecs);
    signature.add("output_specs", outputSpecs);
    Json module = Json::object();
    module.add("graph", graph);
    module.add("signature", signature);
    Json program = Json::object();
    program.add("graph_module", module);
    program.add("range_constraints", ranges);
    if (hasVersion) {
      Json version = Json::object();
      version.add("major", major);
      version.add("minor", minor);
      program.add("schema_version", version);
    }
    return writeJson(program);
  }

private:
  static Json numbers(const std::vector<int64_t> &values) {
    Json list = Json::array();
    for (int64_t value : values) {
      list.push(tagged("as_int", value));
    }
    return list;
  }

  static Json specification(const std::string &tag, const std::string &name,
                            const std::string &target) {
    bool isUser = tag == "user_input" || tag == "user_output";
    Json content = Json::object();
    content.add("arg", isUser ? tensorArgument(name) : tagged("name", name));
    if (!target.empty()) {
      content.add(targetMember(tag), target);
    }
    if (tag == "buffer") {
      content.add("persistent", true);
    }
    return tagged(tag, content);
  }

  static std::string targetMember(std::string_view tag) {
    if (tag.find("input") != std::string_view::npos) {
      return "user_input_name";
    }
    if (tag.find("buffer") != std::string_view::npos) {
      return "buffer_name";
    }
    return tag == "tensor_constant" ? "tensor_constant_name" : "parameter_name";
  }

  Json nodeList() const {
    Json list = Json::array();
    for (const NodeText &node : nodes) {
      Json arguments = Json::array();
      for (const auto &[name, argument] : node.arguments) {
        Json item = Json::object();
        item.add("name", name);
        item.add("arg", argument);
        item.add("kind", 1);
        arguments.push(item);
      }
      Json metadata = Json::object();
      if (!node.custom.empty()) {
        metadata.add("custom", node.custom);
      }
      bool isWhole = node.target.find(".ops.") != std::string::npos;
      Json item = Json::object();
      item.add("target",
               isWhole ? node.target : "torch.ops.aten." + node.target);
      item.add("inputs", arguments);
      item.add("outputs", node.outputs);
      item.add("metadata", metadata);
      item.add("name", node.name);
      list.push(item);
    }
    return list;
  }
};

/// loss = sum(w * x) with w, x of 4 elements, and the gradient of w.
inline ProgramText smallStep() {
  ProgramText program;
  program.addInput("parameter", "p_w", "w", {4});
  program.addInput("user_input", "x", "", {4});
  program.addNode(
      "mul", "mul.Tensor",
      {{"self", tensorArgument("p_w")}, {"other", tensorArgument("x")}}, {4});
  program.addNode("loss", "sum.default", {{"self", tensorArgument("mul")}}, {});
  program.addNode("seed", "ones_like.default",
                  {{"self", tensorArgument("loss")}}, {});
  program.addNode("grad", "expand.default",
                  {{"self", tensorArgument("seed")},
                   {"size", tagged("as_ints", Json::listOf<int>({4}))}},
                  {4}, {0});
  program.addNode(
      "mul_1", "mul.Tensor",
      {{"self", tensorArgument("grad")}, {"other", tensorArgument("x")}}, {4});
  program.addOutput("loss_output", "loss");
  program.addOutput("gradient_to_parameter", "mul_1", "w");
  return program;
}

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_PROGRAMTEXT_H
