//===- OptimizerUpdates.cpp - The operations of an optimizer --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/append-optimizer*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/OptimizerUpdates.h"

#include "passes/Operators.h"
#include "passes/TrainStep.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Warns of options that change nothing under the chosen optimizer.
static void warnOfUnused(ModuleOp module, const UpdateRule &rule) {
  auto warn = [&](bool isGiven, StringRef option, StringRef owner) {
    if (isGiven) {
      module.emitWarning() << "option " << option << ": only " << owner
                           << " has it, so it changes nothing";
    }
  };
  if (rule.optimizer != Optimizer::Sgd) {
    warn(rule.momentum != 0, "momentum", "sgd");
    warn(rule.nesterov, "nesterov", "sgd");
  }
  if (rule.optimizer != Optimizer::AdamW) {
    warn(rule.hasOwnBetas, "betas", "adamw");
    warn(rule.eps != UpdateRule().eps, "eps", "adamw");
  }
}

FailureOr<UpdateRule> mlir::sfsdp::checkRule(ModuleOp module,
                                             const UpdateRule &rule) {
  auto refuse = [&](StringRef option, StringRef expected, double got) {
    return module.emitError() << "option " << option << ": expected "
                              << expected << ", got " << got;
  };
  if (rule.optimizer == Optimizer::Adam) {
    return module.emitError() << "option optimizer: adam is not built yet, "
                                 "expected none, sgd or adamw";
  }
  auto isRate = [](double number) {
    return number >= 0 && std::isfinite(number);
  };
  if (!isRate(rule.weightDecay)) {
    return refuse("weight-decay", "a finite number that is not negative",
                  rule.weightDecay);
  }
  for (double beta : {rule.beta1, rule.beta2}) {
    bool isDecay = beta >= 0 && beta < 1; // false for NaN
    if (!isDecay) {
      return refuse("betas", "numbers from 0 to below 1", beta);
    }
  }
  if (!isRate(rule.eps)) {
    return refuse("eps", "a finite number that is not negative", rule.eps);
  }
  if (!isRate(rule.momentum)) {
    return refuse("momentum", "a finite number that is not negative",
                  rule.momentum);
  }
  if (rule.optimizer == Optimizer::Sgd && rule.nesterov && rule.momentum == 0) {
    return refuse("nesterov", "momentum with it", rule.momentum);
  }
  warnOfUnused(module, rule);
  return rule;
}

//===----------------------------------------------------------------------===//
// Arguments and scalars
//===----------------------------------------------------------------------===//

static SmallVector<StringRef> slotsOf(const UpdateRule &rule) {
  if (rule.optimizer == Optimizer::AdamW) {
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
  computeScalars();
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
      auto role = RoleAttr::get(context, RoleKind::State, parameter.name, slot);
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

// The comments are the expressions of torch/optim/adam.py and sgd.py.
void UpdateWriter::computeScalars() {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.getBody().front());
  Location loc = function.getLoc();
  auto constant = [&](double value) -> Value {
    return ScalarConstantOp::create(builder, loc, APFloat(value));
  };
  auto compute = [&](ScalarFunction function, ValueRange operands) -> Value {
    return ScalarComputeOp::create(builder, loc, function, operands);
  };
  if (rule.optimizer == Optimizer::Sgd) {
    scalars = {compute(ScalarFunction::Neg, lr)}; // alpha=-lr
    lastScalar = scalars.back().getDefiningOp();
    return;
  }
  Value one = constant(1);
  // 1 - lr * weight_decay
  Value product =
      compute(ScalarFunction::Mul, {lr, constant(rule.weightDecay)});
  Value decay = compute(ScalarFunction::Sub, {one, product});
  // bias_correction1 = 1 - beta1**step
  Value power1 = compute(ScalarFunction::Pow, {constant(rule.beta1), step});
  Value correction1 = compute(ScalarFunction::Sub, {one, power1});
  // value=-step_size with step_size = lr / bias_correction1
  Value quotient = compute(ScalarFunction::Div, {lr, correction1});
  Value stepSize = compute(ScalarFunction::Neg, quotient);
  // bias_correction2_sqrt = (1 - beta2**step) ** 0.5
  Value power2 = compute(ScalarFunction::Pow, {constant(rule.beta2), step});
  Value correction2 = compute(ScalarFunction::Sub, {one, power2});
  Value root = compute(ScalarFunction::Pow, {correction2, constant(0.5)});
  scalars = {decay, stepSize, root};
  lastScalar = root.getDefiningOp();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

Operation *UpdateWriter::updateByAdamW(OpBuilder &builder, Location loc,
                                       Value parameter, Value gradient,
                                       ValueRange states, ScopeAttr scope) {
  Type type = parameter.getType();
  return AdamWOp::create(builder, loc, TypeRange{type, type, type}, parameter,
                         gradient, states[0], states[1], scalars[0], scalars[1],
                         scalars[2], APFloat(rule.beta1), APFloat(rule.beta2),
                         APFloat(rule.eps), scope);
}

Operation *UpdateWriter::updateBySgd(OpBuilder &builder, Location loc,
                                     Value parameter, Value gradient,
                                     ValueRange states, ScopeAttr scope) {
  Type type = parameter.getType();
  Value buffer = states.empty() ? Value() : states[0];
  return SgdOp::create(builder, loc, type, buffer ? type : Type(), parameter,
                       gradient, buffer, scalars[0], step,
                       APFloat(rule.weightDecay), APFloat(rule.momentum),
                       rule.nesterov, scope);
}

void UpdateWriter::update(const TrainedParameter &parameter, Value gradient,
                          Operation *anchor) {
  MLIRContext *context = function.getContext();
  OpBuilder builder(context);
  anchor = anchor ? anchor : lastScalar;
  Operation *previous = lastAfter.lookup(anchor);
  builder.setInsertionPointAfter(previous ? previous : anchor);
  ScopeAttr scope = scopeForParameter(context, Phase::Optimizer, parameter.name,
                                      kAppendOptimizerPassName);
  Location loc = parameter.argument.getLoc();
  auto type = cast<RankedTensorType>(parameter.argument.getType());
  Value alike = castTo(builder, loc, gradient, type.getElementType(), scope);
  alike = copyTo(builder, loc, alike, type, scope);
  ArrayRef<Value> own = states[parameter.argument.getArgNumber()];
  Operation *op =
      rule.optimizer == Optimizer::AdamW
          ? updateByAdamW(builder, loc, parameter.argument, alike, own, scope)
          : updateBySgd(builder, loc, parameter.argument, alike, own, scope);
  lastAfter[anchor] = op;

  auto record = [&](Value value, RoleAttr role) {
    newValues.push_back(
        {value, attributesLike(function, parameter.argument, role)});
  };
  record(op->getResult(0),
         RoleAttr::get(context, RoleKind::Parameter, parameter.name));
  for (auto [index, slot] : llvm::enumerate(slots)) {
    record(op->getResult(index + 1),
           RoleAttr::get(context, RoleKind::State, parameter.name, slot));
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
