//===- OperatorBridgeTest.cpp - Operations are put to the rules ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls, views and costs of operations are those of the operators behind them.
//
//===----------------------------------------------------------------------===//

#include "passes/OperatorBridge.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace mlir::sfsdp {
namespace {

class OperatorBridgeTest : public testing::Test {
protected:
  OperatorBridgeTest() {
    context.loadDialect<func::FuncDialect, SfsdpDialect>();
  }

  /// The operations of a function that has `arguments` and this body.
  SmallVector<Operation *> parse(StringRef arguments, StringRef body) {
    std::string text =
        ("func.func @f(" + arguments + ") {\n" + body + "\n  return\n}").str();
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    SmallVector<Operation *> operations;
    if (module) {
      auto function = *module->getOps<func::FuncOp>().begin();
      for (Operation &op : function.front().without_terminator()) {
        operations.push_back(&op);
      }
    }
    return operations;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  rules::SchemaTable schemas;
};

TEST_F(OperatorBridgeTest, ElementTypesRoundTrip) {
  for (int i = 0; i < runtime::kDTypeCount; ++i) {
    auto dtype = static_cast<runtime::DType>(i);
    EXPECT_EQ(toDType(toType(&context, dtype)), dtype);
  }
  EXPECT_FALSE(toDType(IndexType::get(&context)));
}

TEST_F(OperatorBridgeTest, LayoutsRoundTrip) {
  rules::TensorLayout layout{runtime::DType::BFloat16, {4, 3}, {1, 4}};
  RankedTensorType type = toTensorType(&context, layout);
  EXPECT_EQ(layoutOf(type), layout);
  layout.strides = {3, 1};
  EXPECT_FALSE(toTensorType(&context, layout).getEncoding());
}

TEST_F(OperatorBridgeTest, CallHasItsDefaults) {
  auto ops =
      parse("%x: tensor<4xf32>", "%0 = sfsdp.aten \"add.Tensor\"(%x, 2.0) "
                                 ": (tensor<4xf32>) -> tensor<4xf32>");
  FailureOr<rules::OperatorCall> call = callOf(ops[0], schemas);
  ASSERT_TRUE(succeeded(call));
  ASSERT_EQ(call->arguments.size(), 3u);
  EXPECT_TRUE(call->isTensor(0));
  EXPECT_EQ(std::get<double>(call->arguments[1]), 2.0);
  EXPECT_EQ(call->integer(2), 1);
}

TEST_F(OperatorBridgeTest, ListsAndNoneAreKept) {
  auto ops = parse("%x: tensor<4x2xf32>, %i: tensor<3xi64>",
                   "%0 = sfsdp.aten \"index.Tensor\"(%x, [none, %i]) "
                   ": (tensor<4x2xf32>, tensor<3xi64>) -> tensor<4x3xf32>");
  FailureOr<rules::OperatorCall> call = callOf(ops[0], schemas);
  ASSERT_TRUE(succeeded(call));
  ASSERT_EQ(call->tensors(1).size(), 2u);
  EXPECT_FALSE(call->tensors(1)[0]);
  EXPECT_EQ(call->tensors(1)[1]->dtype, runtime::DType::Int64);
}

TEST_F(OperatorBridgeTest, ArgumentsRoundTrip) {
  auto ops =
      parse("%x: tensor<4x3xf32>",
            "%0 = sfsdp.aten \"_to_copy.default\"(%x, bf16, #sfsdp.strided, "
            "#sfsdp.device, false, false, #sfsdp.memory_format<contiguous>) "
            ": (tensor<4x3xf32>) -> tensor<4x3xbf16>");
  auto op = cast<AtenOp>(ops[0]);
  FailureOr<rules::OperatorCall> call = callOf(op, schemas);
  ASSERT_TRUE(succeeded(call));
  for (auto [attribute, argument] :
       llvm::zip(op.getArguments(), call->arguments)) {
    EXPECT_EQ(toAttribute(&context, argument), attribute);
  }
}

TEST_F(OperatorBridgeTest, EmptyListHasOneForm) {
  Attribute empty = DenseI64ArrayAttr::get(&context, {});
  EXPECT_EQ(toAttribute(&context, rules::TensorList()), empty);
  EXPECT_EQ(toAttribute(&context, std::vector<bool>()), empty);
  EXPECT_EQ(toAttribute(&context, std::vector<double>()), empty);
}

TEST_F(OperatorBridgeTest, OperatorWithoutSchemaIsAnError) {
  auto ops = parse("%x: tensor<4xf32>",
                   "%0 = sfsdp.aten \"mylib::scale.default\"(%x) "
                   "effect unknown : (tensor<4xf32>) -> tensor<4xf32>");
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(callOf(ops[0], schemas)));
  EXPECT_EQ(message, "'sfsdp.aten' op calls mylib::scale.default, which is in "
                     "no schema table; give its schema by --allow-op");
  EXPECT_EQ(ruleOf(ops[0]), nullptr);
}

TEST_F(OperatorBridgeTest, ViewsNameOperandAndOffset) {
  auto ops = parse("%x: tensor<4x3xf32>",
                   "%0 = sfsdp.aten \"slice.Tensor\"(%x, 0, 1, 3) "
                   ": (tensor<4x3xf32>) -> tensor<2x3xf32>\n"
                   "%1 = sfsdp.aten \"neg.default\"(%0) "
                   ": (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                   "%2:2 = sfsdp.aten \"split.Tensor\"(%1, 1) "
                   ": (tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>)");
  std::optional<ViewSource> slice = viewSource(ops[0]->getResult(0), schemas);
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->operand, &ops[0]->getOpOperand(0));
  EXPECT_EQ(slice->offset, 3);
  EXPECT_FALSE(viewSource(ops[1]->getResult(0), schemas));
  auto parts = viewsOf(ops[2], schemas);
  ASSERT_TRUE(parts[0] && parts[1]);
  EXPECT_EQ(parts[0]->offset, 0);
  EXPECT_EQ(parts[1]->offset, 3);
}

TEST_F(OperatorBridgeTest, AttentionIsItsKernel) {
  auto ops = parse("%x: tensor<2x4x8x16xf32>, %m: tensor<8x8xf32>",
                   "%o, %s = sfsdp.attention %x, %x, %x mask %m scale 0.5 "
                   ": (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, "
                   "tensor<2x4x8x16xf32>, tensor<8x8xf32>) "
                   "-> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)");
  FailureOr<rules::OperatorCall> call = callOf(ops[0], schemas);
  ASSERT_TRUE(succeeded(call));
  EXPECT_EQ(call->schema->name,
            "_scaled_dot_product_flash_attention_for_cpu.default");
  EXPECT_FALSE(call->boolean(4));
  EXPECT_EQ(call->tensor(5).sizes, (std::vector<int64_t>{8, 8}));
  EXPECT_EQ(call->number(6), 0.5);
  EXPECT_NE(ruleOf(ops[0]), nullptr);
  EXPECT_FALSE(viewSource(ops[0]->getResult(0), schemas));
  EXPECT_EQ(costOf(ops[0], schemas).costClass, runtime::CostClass::Attention);
}

TEST_F(OperatorBridgeTest, CostsAreTheRules) {
  auto ops = parse("%x: tensor<4x8xf32>, %y: tensor<8x2xf32>, "
                   "%g: tensor<4xf32>, %s: !sfsdp.scalar",
                   "%0 = sfsdp.aten \"mm.default\"(%x, %y) "
                   ": (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>\n"
                   "%1 = sfsdp.sgd %g, %g step_size %s step %s weight_decay "
                   "0.0 momentum 0.0 : tensor<4xf32>");
  runtime::CostFacts mm = costOf(ops[0], schemas);
  EXPECT_EQ(mm.costClass, runtime::CostClass::Gemm);
  EXPECT_EQ(mm.flops, 2 * 4 * 8 * 2);
  runtime::CostFacts update = costOf(ops[1], schemas);
  EXPECT_EQ(update.costClass, runtime::CostClass::Optimizer);
  // Parameter and gradient are read, the parameter is written.
  EXPECT_EQ(update.bytesRead, 2 * 4 * 4);
  EXPECT_EQ(update.bytesWritten, 4 * 4);
}

} // namespace
} // namespace mlir::sfsdp
