//===- OptimizerUpdates.cpp - The operations of an optimizer --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/append-optimizer*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/OptimizerUpdates.h"

#include "passes/Operators.h"
#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static SmallVector<StringRef> slotsOf(const UpdateRule &rule) {
  if (rule.hasMoments()) {
    return {"exp_avg", "exp_avg_sq"};
  }
  if (rule.momentum != 0) {
    return {"momentum_buffer"};
  }
  return {};
}

/// `role` with placement and global type of `parameter`.
static DictionaryAttr attributesLike(func::FuncOp function,
                                     BlockArgument parameter, RoleAttr role) {
  NamedAttrList attributes;
  attributes.set(kRoleAttrName, role);
  for (StringRef name :
       {StringRef(kPlacementAttrName), StringRef(kGlobalAttrName)}) {
    if (Attribute value = function.getArgAttr(parameter.getArgNumber(), name)) {
      attributes.set(name, value);
    }
  }
  return attributes.getDictionary(function.getContext());
}

UpdateWriter::UpdateWriter(func::FuncOp function, const UpdateRule &rule,
                           ArrayRef<TrainedParameter> trained)
    : function(function), rule(rule), slots(slotsOf(rule)) {
  appendArguments(trained);
  scalars.emplace(function, rule, lr, step);
  // All at once, so that they stand before every update.
  for (const TrainedParameter &parameter : trained) {
    (void)scalars->scalarsFor(parameter);
  }
}

void UpdateWriter::appendArguments(ArrayRef<TrainedParameter> trained) {
  MLIRContext *context = function.getContext();
  unsigned first = function.getNumArguments();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  auto append = [&](Type type, DictionaryAttr dictionary, Location location) {
    types.push_back(type);
    attributes.push_back(dictionary);
    locations.push_back(location);
  };
  for (const TrainedParameter &parameter : trained) {
    for (StringRef slot : slots) {
      auto role =
          RoleAttr::get(context, RoleKind::State, parameter.name(), slot);
      append(parameter.argument.getType(),
             attributesLike(function, parameter.argument, role),
             parameter.argument.getLoc());
    }
  }
  for (StringRef name : {"lr", "step"}) {
    NamedAttribute role(StringAttr::get(context, kRoleAttrName),
                        RoleAttr::get(context, RoleKind::HyperParameter, name));
    append(ScalarType::get(context), DictionaryAttr::get(context, {role}),
           function.getLoc());
  }
  SmallVector<unsigned> positions(types.size(), first);
  (void)function.insertArguments(positions, types, attributes, locations);

  ArrayRef<BlockArgument> added = function.getArguments().drop_front(first);
  for (const TrainedParameter &parameter : trained) {
    llvm::append_range(states[parameter.argument.getArgNumber()],
                       added.take_front(slots.size()));
    added = added.drop_front(slots.size());
  }
  lr = added[0];
  step = added[1];
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

Operation *UpdateWriter::createUpdate(OpBuilder &builder,
                                      const TrainedParameter &parameter,
                                      Value gradient, ScopeAttr scope) {
  const StepScalars &numbers = scalars->scalarsFor(parameter);
  ArrayRef<Value> own = states[parameter.argument.getArgNumber()];
  Value old = parameter.argument;
  Location loc = old.getLoc();
  Type type = old.getType();
  Value guard; // sfsdp-clip-gradients adds it
  APFloat weightDecay(parameter.decays ? rule.weightDecay : 0.0);
  APFloat beta1(rule.beta1), beta2(rule.beta2), eps(rule.eps);
  if (rule.optimizer == Optimizer::AdamW) {
    return AdamWOp::create(builder, loc, TypeRange{type, type, type}, old,
                           gradient, own[0], own[1], numbers.decay,
                           numbers.stepSize, numbers.correction, guard, beta1,
                           beta2, eps, scope);
  }
  if (rule.optimizer == Optimizer::Adam) {
    return AdamOp::create(builder, loc, TypeRange{type, type, type}, old,
                          gradient, own[0], own[1], numbers.stepSize,
                          numbers.correction, guard, weightDecay, beta1, beta2,
                          eps, scope);
  }
  Value buffer = own.empty() ? Value() : own[0];
  return SgdOp::create(builder, loc, type, buffer ? type : Type(), old,
                       gradient, buffer, numbers.stepSize, step, guard,
                       weightDecay, APFloat(rule.momentum), rule.nesterov,
                       scope);
}

void UpdateWriter::update(const TrainedParameter &parameter, Value gradient,
                          Operation *anchor) {
  MLIRContext *context = function.getContext();
  OpBuilder builder(context);
  anchor = anchor ? anchor : scalars->lastScalar();
  Operation *previous = lastAfter.lookup(anchor);
  builder.setInsertionPointAfter(previous ? previous : anchor);
  ScopeAttr scope = scopeForParameter(
      context, Phase::Optimizer, parameter.name(), kAppendOptimizerPassName);
  Location loc = parameter.argument.getLoc();
  auto type = cast<RankedTensorType>(parameter.argument.getType());
  Value alike = castTo(builder, loc, gradient, type.getElementType(), scope);
  alike = copyTo(builder, loc, alike, type, scope);
  Operation *op = createUpdate(builder, parameter, alike, scope);
  lastAfter[anchor] = op;

  auto record = [&](Value value, RoleAttr role) {
    newValues.push_back(
        {value, attributesLike(function, parameter.argument, role)});
  };
  record(op->getResult(0),
         RoleAttr::get(context, RoleKind::Parameter, parameter.name()));
  for (auto [index, slot] : llvm::enumerate(slots)) {
    record(op->getResult(index + 1),
           RoleAttr::get(context, RoleKind::State, parameter.name(), slot));
  }
}

void UpdateWriter::finish() {
  func::ReturnOp returned = returnOf(function);
  SmallVector<Value> values(returned.getOperands());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (const NewValue &added : newValues) {
    values.push_back(added.value);
    types.push_back(added.value.getType());
    attributes.push_back(added.attributes);
  }
  // Copies of results may have changed their types.
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     returned.getOperandTypes()));
  SmallVector<unsigned> positions(types.size(), function.getNumResults());
  (void)function.insertResults(positions, types, attributes);
  returned->setOperands(values);
}
