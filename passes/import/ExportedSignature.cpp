//===- ExportedSignature.cpp - What inputs and outputs are --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One specification per graph input and output: a union whose tag is the kind.
//
// Tested by test/unit/passes/import/ExportedProgramTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/ExportedProgram.h"

namespace sfsdp::exported {

using runtime::JsonFields;
using runtime::JsonMember;

namespace {

/// `arg` is a bare name (`{"name": "x"}`) for most kinds, a union for some.
struct SpecKind {
  std::string_view tag;
  int kind;
  std::string_view target; ///< member that names the target; empty for none
  bool hasUnionArgument;
};

template <typename Kind>
constexpr SpecKind bare(std::string_view tag, Kind kind,
                        std::string_view target) {
  return {tag, static_cast<int>(kind), target, /*hasUnionArgument=*/false};
}

template <typename Kind>
constexpr SpecKind withUnion(std::string_view tag, Kind kind) {
  return {tag, static_cast<int>(kind), "", /*hasUnionArgument=*/true};
}

constexpr SpecKind kInputKinds[] = {
    bare("parameter", InputKind::Parameter, "parameter_name"),
    bare("buffer", InputKind::Buffer, "buffer_name"),
    bare("tensor_constant", InputKind::Constant, "tensor_constant_name"),
    withUnion("user_input", InputKind::User),
    bare("custom_obj", InputKind::Object, "custom_obj_name"),
    bare("token", InputKind::Token, ""),
};

constexpr SpecKind kOutputKinds[] = {
    bare("loss_output", OutputKind::Loss, ""),
    bare("gradient_to_parameter", OutputKind::ParameterGradient,
         "parameter_name"),
    bare("gradient_to_user_input", OutputKind::InputGradient,
         "user_input_name"),
    withUnion("user_output", OutputKind::User),
    bare("buffer_mutation", OutputKind::BufferMutation, "buffer_name"),
    bare("parameter_mutation", OutputKind::ParameterMutation, "parameter_name"),
    bare("user_input_mutation", OutputKind::InputMutation, "user_input_name"),
    bare("token", OutputKind::Token, ""),
};

template <typename Spec>
Status readSpec(JsonPlace place, const SpecKind &kind, Spec &spec) {
  spec.kind = static_cast<decltype(spec.kind)>(kind.kind);
  JsonFields fields(place);
  if (kind.hasUnionArgument) {
    fields.required("arg", spec.argument);
  } else {
    fields.required("arg", spec.argument.template emplace<TensorName>());
  }
  if (!kind.target.empty()) {
    fields.required(kind.target, spec.target);
  }
  return fields.finish();
}

template <typename Spec, size_t count>
Status readSpecUnion(JsonPlace place, const SpecKind (&kinds)[count],
                     Spec &spec) {
  Expected<JsonMember> member = readUnion(place);
  if (!member) {
    return member.status();
  }
  for (const SpecKind &kind : kinds) {
    if (kind.tag == member->name) {
      return readSpec(member->value, kind, spec);
    }
  }
  return place.error("unknown kind of specification \"" +
                     std::string(member->name) +
                     "\"; capture with a supported torch");
}

} // namespace

Status readJson(JsonPlace place, InputSpec &spec) {
  // An argument of forward that is no tensor has a name and a value instead.
  if (std::optional<JsonPlace> constant = place.find("constant_input")) {
    spec.kind = InputKind::Value;
    JsonFields fields(*constant);
    fields.required("name", spec.target);
    return fields.finish();
  }
  if (std::optional<JsonPlace> buffer = place.find("buffer")) {
    JsonFields fields(*buffer);
    fields.optional("persistent", spec.isPersistent);
    if (Status status = fields.finish(); !status.ok()) {
      return status;
    }
  }
  return readSpecUnion(place, kInputKinds, spec);
}

Status readJson(JsonPlace place, OutputSpec &spec) {
  return readSpecUnion(place, kOutputKinds, spec);
}

} // namespace sfsdp::exported
