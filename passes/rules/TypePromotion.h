//===- TypePromotion.h - Element type of mixed operands -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch promotes in two steps: the kind (bool, integer, floating, complex) is
// the highest among all operands, the width comes from the operands that carry
// weight. Tensors with dimensions weigh more than tensors of rank 0, and those
// more than numbers: bf16[2] + f32[] is bf16, i64[2] + 0.5 is f32.
//
// Tested by test/unit/passes/rules/TypePromotionTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_RULES_TYPEPROMOTION_H
#define SFSDP_PASSES_RULES_TYPEPROMOTION_H

#include "passes/rules/OperatorCall.h"

#include <vector>

namespace sfsdp::rules {

/// `torch.promote_types`.
DType promoteTypes(DType left, DType right);

/// torch.get_default_dtype(), which is never changed here.
inline constexpr DType kDefaultFloat = DType::Float32;

/// `dtype`, or the default float for integers: the type in which `sqrt` or a
/// true division computes.
DType floatingTypeFor(DType dtype);

/// `torch.result_type` of the arguments of `call` at `indices`: tensors and
/// numbers. None arguments do not count.
DType resultType(const OperatorCall &call, const std::vector<size_t> &indices);

/// The type of a number in place of a tensor: Float64, Int64 or Bool.
DType numberType(const Argument &number);

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_RULES_TYPEPROMOTION_H
