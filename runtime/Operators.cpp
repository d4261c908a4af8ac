//===- Operators.cpp - Operators that a plan may call ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names are grouped by family and searched once per call site at load. Random
// operators are absent: they draw from the generator of the process, and come
// as kernels of the runtime instead.
//
// Tested by test/unit/runtime/OperatorsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Operators.h"

#include <algorithm>
#include <string_view>

using namespace sfsdp::runtime;

namespace {

constexpr std::string_view kPrefix = "aten::";

constexpr std::string_view kPointwise[] = {"abs",
                                           "acos",
                                           "acosh",
                                           "add",
                                           "addcdiv",
                                           "addcmul",
                                           "asin",
                                           "asinh",
                                           "atan",
                                           "atan2",
                                           "atanh",
                                           "bitwise_and",
                                           "bitwise_not",
                                           "bitwise_or",
                                           "bitwise_xor",
                                           "ceil",
                                           "clamp",
                                           "clamp_max",
                                           "clamp_min",
                                           "copysign",
                                           "cos",
                                           "cosh",
                                           "div",
                                           "elu",
                                           "elu_backward",
                                           "eq",
                                           "erf",
                                           "erfc",
                                           "exp",
                                           "exp2",
                                           "expm1",
                                           "floor",
                                           "floor_divide",
                                           "fmod",
                                           "ge",
                                           "gelu",
                                           "gelu_backward",
                                           "gt",
                                           "hardsigmoid",
                                           "hardsigmoid_backward",
                                           "hardswish",
                                           "hardswish_backward",
                                           "hardtanh",
                                           "hardtanh_backward",
                                           "isfinite",
                                           "isinf",
                                           "isnan",
                                           "le",
                                           "leaky_relu",
                                           "leaky_relu_backward",
                                           "lerp",
                                           "log",
                                           "log10",
                                           "log1p",
                                           "log2",
                                           "log_sigmoid_backward",
                                           "log_sigmoid_forward",
                                           "logical_and",
                                           "logical_not",
                                           "logical_or",
                                           "logical_xor",
                                           "lt",
                                           "masked_fill",
                                           "maximum",
                                           "minimum",
                                           "mish",
                                           "mish_backward",
                                           "mul",
                                           "ne",
                                           "neg",
                                           "pow",
                                           "reciprocal",
                                           "relu",
                                           "remainder",
                                           "round",
                                           "rsqrt",
                                           "rsub",
                                           "sgn",
                                           "sigmoid",
                                           "sigmoid_backward",
                                           "sign",
                                           "silu",
                                           "silu_backward",
                                           "sin",
                                           "sinh",
                                           "softplus",
                                           "softplus_backward",
                                           "sqrt",
                                           "square",
                                           "sub",
                                           "tan",
                                           "tanh",
                                           "tanh_backward",
                                           "threshold",
                                           "threshold_backward",
                                           "trunc",
                                           "where",
                                           "xlogy"};

constexpr std::string_view kReductions[] = {"_log_softmax",
                                            "_log_softmax_backward_data",
                                            "_safe_softmax",
                                            "_softmax",
                                            "_softmax_backward_data",
                                            "all",
                                            "amax",
                                            "amin",
                                            "any",
                                            "argmax",
                                            "argmin",
                                            "argsort",
                                            "cummax",
                                            "cumprod",
                                            "cumsum",
                                            "linalg_vector_norm",
                                            "logsumexp",
                                            "max",
                                            "mean",
                                            "min",
                                            "norm",
                                            "prod",
                                            "sort",
                                            "std",
                                            "sum",
                                            "topk",
                                            "var",
                                            "var_mean"};

constexpr std::string_view kViews[] = {"_unsafe_view",
                                       "alias",
                                       "as_strided",
                                       "detach",
                                       "diagonal",
                                       "expand",
                                       "lift_fresh",
                                       "narrow",
                                       "permute",
                                       "real",
                                       "imag",
                                       "select",
                                       "slice",
                                       "split",
                                       "split_with_sizes",
                                       "squeeze",
                                       "t",
                                       "transpose",
                                       "unbind",
                                       "unfold",
                                       "unsafe_split",
                                       "unsafe_split_with_sizes",
                                       "unsqueeze",
                                       "view",
                                       "view_as_complex",
                                       "view_as_real"};

constexpr std::string_view kCopies[] = {"_to_copy",
                                        "arange",
                                        "as_strided_scatter",
                                        "cat",
                                        "clone",
                                        "constant_pad_nd",
                                        "contiguous",
                                        "copy",
                                        "copy_",
                                        "diag_embed",
                                        "empty",
                                        "empty_like",
                                        "empty_strided",
                                        "expand_copy",
                                        "eye",
                                        "fill",
                                        "flip",
                                        "full",
                                        "full_like",
                                        "linspace",
                                        "new_empty",
                                        "new_empty_strided",
                                        "new_full",
                                        "new_ones",
                                        "new_zeros",
                                        "ones",
                                        "ones_like",
                                        "repeat",
                                        "reshape",
                                        "roll",
                                        "scalar_tensor",
                                        "slice_scatter",
                                        "select_scatter",
                                        "stack",
                                        "tril",
                                        "triu",
                                        "zeros",
                                        "zeros_like"};

constexpr std::string_view kIndexing[] = {
    "embedding",       "embedding_dense_backward",
    "gather",          "index",
    "index_add",       "index_copy",
    "index_fill",      "index_put",
    "index_select",    "masked_scatter",
    "masked_select",   "scatter",
    "scatter_add",     "scatter_reduce",
    "select_backward", "slice_backward",
    "take_along_dim",  "one_hot"};

constexpr std::string_view kLinearAlgebra[] = {
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "convolution",
    "convolution_backward",
    "dot",
    "linear",
    "linear_backward",
    "matmul",
    "mm",
    "mv",
    "outer"};

constexpr std::string_view kLayers[] = {"_adaptive_avg_pool2d",
                                        "_adaptive_avg_pool2d_backward",
                                        "_fused_rms_norm",
                                        "_native_batch_norm_legit",
                                        "_native_batch_norm_legit_functional",
                                        "_native_batch_norm_legit_no_training",
                                        "avg_pool1d",
                                        "avg_pool2d",
                                        "avg_pool2d_backward",
                                        "binary_cross_entropy",
                                        "binary_cross_entropy_backward",
                                        "binary_cross_entropy_with_logits",
                                        "glu",
                                        "glu_backward",
                                        "huber_loss",
                                        "huber_loss_backward",
                                        "l1_loss",
                                        "max_pool2d_with_indices",
                                        "max_pool2d_with_indices_backward",
                                        "mse_loss",
                                        "mse_loss_backward",
                                        "native_batch_norm",
                                        "native_batch_norm_backward",
                                        "native_dropout_backward",
                                        "native_group_norm",
                                        "native_group_norm_backward",
                                        "native_layer_norm",
                                        "native_layer_norm_backward",
                                        "nll_loss2d_backward",
                                        "nll_loss2d_forward",
                                        "nll_loss_backward",
                                        "nll_loss_forward",
                                        "rms_norm",
                                        "smooth_l1_loss",
                                        "smooth_l1_loss_backward",
                                        "upsample_bilinear2d",
                                        "upsample_nearest2d"};

template <size_t N>
bool holds(const std::string_view (&family)[N], std::string_view name) {
  return std::find(std::begin(family), std::end(family), name) !=
         std::end(family);
}

bool isListed(std::string_view name) {
  return holds(kPointwise, name) || holds(kReductions, name) ||
         holds(kViews, name) || holds(kCopies, name) ||
         holds(kIndexing, name) || holds(kLinearAlgebra, name) ||
         holds(kLayers, name);
}

} // namespace

Status OperatorList::allow(const std::string &schema) {
  size_t end = schema.find_first_of(".(");
  std::string name = schema.substr(0, end);
  size_t colons = name.find("::");
  if (end == std::string::npos || colons == std::string::npos || colons == 0) {
    return Status::error("'" + schema +
                         "' is no operator schema, expected "
                         "\"namespace::name(Tensor x) -> "
                         "Tensor\"");
  }
  users.insert(name);
  return Status();
}

bool OperatorList::allows(const std::string &name) const {
  if (users.contains(name)) {
    return true;
  }
  if (!name.starts_with(kPrefix)) {
    return false;
  }
  std::string_view base = std::string_view(name).substr(kPrefix.size());
  if (isListed(base)) {
    return true;
  }
  bool inPlace = base.ends_with('_') && !base.ends_with("__");
  return inPlace && isListed(base.substr(0, base.size() - 1));
}
