//===- StepBuilder.cpp - IR of a captured step --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StepBuilder.h. Nothing is decided here: one operation per call, one
// argument and result per argument and result.
//
// Tested by test/tools/import-roles.test and import-operators.test.
//
//===----------------------------------------------------------------------===//

#include "passes/import/StepBuilder.h"

#include "dialect/Layout.h"
#include "dialect/Sfsdp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/OperatorBridge.h"

using namespace mlir;
using namespace mlir::sfsdp;

namespace exported = ::sfsdp::exported;

using exported::AttentionPart;
using exported::CapturedArgument;
using exported::CapturedCall;
using exported::CapturedResult;
using exported::CapturedStep;

static constexpr StringLiteral kTrainFunction = "train_step";
static constexpr StringLiteral kEvalFunction = "eval_step";

static RoleKind roleKindOf(runtime::Role role) {
  switch (role) {
  case runtime::Role::Parameter:
    return RoleKind::Parameter;
  case runtime::Role::Buffer:
    return RoleKind::Buffer;
  case runtime::Role::Constant:
    return RoleKind::Constant;
  case runtime::Role::Input:
    return RoleKind::Input;
  case runtime::Role::State:
    return RoleKind::State;
  case runtime::Role::Accumulator:
    return RoleKind::Accumulator;
  case runtime::Role::Loss:
    return RoleKind::Loss;
  case runtime::Role::Gradient:
    return RoleKind::Gradient;
  case runtime::Role::Output:
    return RoleKind::Output;
  case runtime::Role::GradientNorm:
  case runtime::Role::ChunkNorms:
  case runtime::Role::Applied:
    break;
  }
  llvm_unreachable("all roles of captured graphs are listed");
}

static OperatorEffect effectOf(const rules::Rule *rule) {
  if (!rule) {
    return OperatorEffect::Unknown;
  }
  switch (rule->effect) {
  case rules::Effect::None:
    return OperatorEffect::Pure;
  case rules::Effect::Random:
    return OperatorEffect::Random;
  case rules::Effect::Unknown:
    return OperatorEffect::Unknown;
  }
  llvm_unreachable("all effects are listed");
}

namespace {

class StepBuilder {
public:
  StepBuilder(const CapturedStep &step, MLIRContext &context)
      : step(step), context(context), builder(&context),
        values(step.values.size()) {
    for (const exported::CapturedValue &value : step.values) {
      types.push_back(toTensorType(&context, value.layout));
    }
  }

  void buildFunction(ModuleOp module) {
    builder.setInsertionPointToEnd(module.getBody());
    auto function = func::FuncOp::create(
        builder, module.getLoc(),
        step.isTraining ? kTrainFunction : kEvalFunction, functionType());
    setRoles(function);
    Block *body = function.addEntryBlock();
    for (auto [argument, value] :
         llvm::zip(step.arguments, body->getArguments())) {
      values[argument.value] = value;
    }
    builder.setInsertionPointToEnd(body);
    for (const CapturedCall &call : step.calls) {
      buildCall(call);
    }
    SmallVector<Value> results;
    for (const CapturedResult &result : step.results) {
      results.push_back(values[result.value]);
    }
    func::ReturnOp::create(builder, function.getLoc(), results);
  }

private:
  FunctionType functionType() {
    auto typeOf = [&](const auto &item) -> Type { return types[item.value]; };
    return builder.getFunctionType(llvm::map_to_vector(step.arguments, typeOf),
                                   llvm::map_to_vector(step.results, typeOf));
  }

  void setRoles(func::FuncOp function) {
    for (auto [index, argument] : llvm::enumerate(step.arguments)) {
      SmallVector<StringAttr> aliases;
      for (const std::string &alias : argument.aliases) {
        aliases.push_back(builder.getStringAttr(alias));
      }
      auto role =
          RoleAttr::get(&context, roleKindOf(argument.role),
                        builder.getStringAttr(argument.name),
                        /*slot=*/StringAttr(), aliases, argument.frozen);
      function.setArgAttr(index, kRoleAttrName, role);
    }
    for (auto [index, result] : llvm::enumerate(step.results)) {
      auto role = RoleAttr::get(&context, roleKindOf(result.role), result.name);
      function.setResultAttr(index, kRoleAttrName, role);
    }
  }

  void buildCall(const CapturedCall &call) {
    Operation *op = nullptr;
    switch (call.attention) {
    case AttentionPart::None:
      op = buildOperator(call);
      break;
    case AttentionPart::Forward:
      op = buildAttention(call);
      break;
    case AttentionPart::Backward:
      op = buildAttentionBackward(call);
      break;
    }
    unsigned position = 0;
    for (const std::optional<exported::ValueId> &result : call.results) {
      if (result) {
        values[*result] = op->getResult(position++);
      }
    }
  }

  Operation *buildOperator(const CapturedCall &call) {
    SmallVector<Attribute> arguments;
    for (const rules::Argument &argument :
         ArrayRef(call.call.arguments).take_front(call.writtenArguments)) {
      arguments.push_back(toAttribute(&context, argument));
    }
    SmallVector<int64_t> absent;
    for (auto [position, result] : llvm::enumerate(call.results)) {
      if (!result) {
        absent.push_back(position);
      }
    }
    IntegerAttr randomId;
    if (call.randomId) {
      randomId = builder.getI64IntegerAttr(*call.randomId);
    }
    return AtenOp::create(
        builder, locationOf(call), resultTypes(call),
        builder.getStringAttr(call.call.schema->name), operandsOf(call),
        builder.getArrayAttr(arguments),
        absent.empty() ? DenseI64ArrayAttr()
                       : builder.getDenseI64ArrayAttr(absent),
        OperatorEffectAttr::get(&context, effectOf(call.rule)), randomId,
        scopeOf(call));
  }

  Operation *buildAttention(const CapturedCall &call) {
    SmallVector<Value> operands = operandsOf(call);
    SmallVector<Type> results = resultTypes(call);
    AttentionArguments arguments = attentionArguments(call, operands, 3);
    return AttentionOp::create(builder, locationOf(call), results[0],
                               results[1], operands[0], operands[1],
                               operands[2], arguments.mask, arguments.causal,
                               arguments.scale, scopeOf(call));
  }

  Operation *buildAttentionBackward(const CapturedCall &call) {
    SmallVector<Value> operands = operandsOf(call);
    SmallVector<Type> results = resultTypes(call);
    AttentionArguments arguments = attentionArguments(call, operands, 6);
    return AttentionBackwardOp::create(
        builder, locationOf(call), results[0], results[1], results[2],
        operands[0], operands[1], operands[2], operands[3], operands[4],
        operands[5], arguments.mask, arguments.causal, arguments.scale,
        scopeOf(call));
  }

  struct AttentionArguments {
    Value mask;
    UnitAttr causal;
    FloatAttr scale;
  };

  /// What follows the `tensors` fixed operands of an attention kernel:
  /// dropout_p, is_causal, attn_mask, scale.
  AttentionArguments attentionArguments(const CapturedCall &call,
                                        ArrayRef<Value> operands,
                                        size_t tensors) {
    AttentionArguments arguments;
    if (operands.size() > tensors) {
      arguments.mask = operands[tensors];
    }
    if (call.call.boolean(tensors + 1)) {
      arguments.causal = builder.getUnitAttr();
    }
    if (std::optional<double> scale = call.call.number(tensors + 3)) {
      arguments.scale = builder.getF64FloatAttr(*scale);
    }
    return arguments;
  }

  SmallVector<Value> operandsOf(const CapturedCall &call) {
    return llvm::map_to_vector(
        call.operands, [&](exported::ValueId id) { return values[id]; });
  }

  SmallVector<Type> resultTypes(const CapturedCall &call) {
    SmallVector<Type> result;
    for (const std::optional<exported::ValueId> &id : call.results) {
      if (id) {
        result.push_back(types[*id]);
      }
    }
    return result;
  }

  ScopeAttr scopeOf(const CapturedCall &call) {
    const exported::Scope &scope = call.scope;
    return ScopeAttr::get(
        &context, scope.isBackward ? Phase::Backward : Phase::Forward,
        builder.getStringAttr(scope.module),
        scope.source.empty() ? StringAttr()
                             : builder.getStringAttr(scope.source),
        /*pass=*/StringAttr());
  }

  /// The node's name at its source line.
  Location locationOf(const CapturedCall &call) {
    auto [file, digits] = StringRef(call.scope.source).rsplit(':');
    Location source = builder.getUnknownLoc();
    unsigned line = 0;
    if (!digits.getAsInteger(10, line)) {
      source = FileLineColLoc::get(builder.getStringAttr(file), line,
                                   /*column=*/0);
    }
    return NameLoc::get(builder.getStringAttr(call.node), source);
  }

  const CapturedStep &step;
  MLIRContext &context;
  OpBuilder builder;
  std::vector<RankedTensorType> types; ///< by value id
  std::vector<Value> values;           ///< by value id
};

} // namespace

OwningOpRef<ModuleOp> mlir::sfsdp::buildStep(const exported::GraphFile &file,
                                             const CapturedStep &step,
                                             MLIRContext &context) {
  Builder builder(&context);
  Location location = FileLineColLoc::get(builder.getStringAttr(file.name),
                                          /*line=*/0, /*column=*/0);
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  Attribute input =
      InputFileAttr::get(&context, builder.getStringAttr(file.name),
                         builder.getStringAttr(file.sha256));
  (*module)->setAttr(kInputsAttrName, builder.getArrayAttr(input));
  StepBuilder(step, context).buildFunction(*module);
  return module;
}
