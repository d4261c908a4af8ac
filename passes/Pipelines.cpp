//===- Pipelines.cpp - The whole compiler as one option -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table says which pass takes which option and what its default is; the
// pipeline is text made from it. Options of parts that are not built yet are in
// the table too, so that the refusal can name them.
//
// Tested by test/tools/pipeline.test and pipeline-invalid.test.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines.h"

#include "dialect/Sfsdp.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/Names.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <array>

using namespace mlir;
using namespace mlir::sfsdp;

namespace {

struct OptionRow {
  StringLiteral name;
  /// The pass that takes it; empty for an option whose part is not built.
  StringLiteral pass;
  StringLiteral passOption;
  /// Empty: not given to the pass unless the user does.
  StringLiteral defaultValue;
};

constexpr StringLiteral kNotBuilt = "";

/// In the order of architecture's list, which is the order of the plan's text.
constexpr OptionRow kOptions[] = {
    {"mesh", "sfsdp-shard", "mesh", "dp:1"},
    {"ranks", "sfsdp-shard", "ranks", ""},
    {"mode", "sfsdp-shard", "mode", "fully_shard"},
    {"tp-plan", kNotBuilt, "", ""},
    {"device", kNotBuilt, "", "cpu"},
    {"shard-dim", kNotBuilt, "", ""},
    {"keep-replicated", "sfsdp-shard", "keep-replicated", ""},
    {"buffers", "sfsdp-shard", "buffers", "local"},
    {"reshard", "sfsdp-shard", "reshard", "auto"},
    {"recompute", kNotBuilt, "", "none"},
    {"reduce-dtype", "sfsdp-shard", "reduce-dtype", ""},
    {"reduction", "sfsdp-shard", "reduction", "auto"},
    {"payload-order", kNotBuilt, "", "registration"},
    {"gradient-scale", "sfsdp-shard", "gradient-scale", "mean"},
    {"micro-batches", "sfsdp-shard", "micro-batches", "1"},
    {"sync", "sfsdp-shard", "sync", "auto"},
    {"optimizer", "sfsdp-append-optimizer", "optimizer", "adamw"},
    {"weight-decay", "sfsdp-append-optimizer", "weight-decay", ""},
    {"betas", "sfsdp-append-optimizer", "betas", ""},
    {"eps", "sfsdp-append-optimizer", "eps", ""},
    {"momentum", "sfsdp-append-optimizer", "momentum", ""},
    {"nesterov", "sfsdp-append-optimizer", "nesterov", ""},
    {"no-decay", "sfsdp-append-optimizer", "no-decay", ""},
    {"lr-scale", "sfsdp-append-optimizer", "lr-scale", ""},
    {"clip-norm", "sfsdp-clip-gradients", "clip-norm", ""},
    {"skip-nonfinite", "sfsdp-clip-gradients", "skip-nonfinite", "false"},
    {"results", "sfsdp-append-optimizer", "results", ""},
    {"tp-overlap", kNotBuilt, "", ""},
    {"bucket", "sfsdp-bucket", "policy", "block"},
    {"reorder", "sfsdp-reorder", "policy", "prefetch"},
    {"memory-budget", kNotBuilt, "", ""},
    {"cluster", kNotBuilt, "", ""},
};

/// Values of options that exist, for parts that do not yet.
constexpr std::pair<StringRef, StringRef> kNotBuiltValues[] = {
    {"mode", "auto"},
    {"bucket", "auto"},
    {"reorder", "auto"},
};

/// Options with few values, for an error that names them all. Passes refuse
/// those of them that are not built.
constexpr std::pair<StringRef, StringRef> kChoices[] = {
    {"mode", "replicate, fully_shard, hybrid_shard"},
    {"reshard", "auto, always, never"},
    {"buffers", "local, broadcast"},
    {"sync", "auto, each, last, shard-each-replica-last"},
    {"optimizer", "sgd, adam, adamw, none"},
    {"nesterov", "true, false"},
    {"skip-nonfinite", "true, false"},
    {"results", "none, gradients"},
    {"reorder", "none, prefetch"},
};

bool isInteger(StringRef text) {
  int64_t number = 0;
  return llvm::to_integer(text, number, /*Base=*/10);
}

bool isNumber(StringRef text) {
  double number = 0;
  return llvm::to_float(text, number);
}

/// Options of numbers: of one, or of as many as commas separate.
struct NumberRow {
  StringLiteral option;
  StringLiteral expected;
  bool (*fits)(StringRef item);
  bool isList;
};

constexpr NumberRow kNumbers[] = {
    {"ranks", "numbers of ranks, as in 1,0", isInteger, /*isList=*/true},
    {"micro-batches", "a whole number", isInteger, /*isList=*/false},
    {"weight-decay", "a number", isNumber, /*isList=*/false},
    {"betas", "two numbers, as in 0.9,0.999", isNumber, /*isList=*/true},
    {"eps", "a number", isNumber, /*isList=*/false},
    {"momentum", "a number", isNumber, /*isList=*/false},
    {"clip-norm", "a number", isNumber, /*isList=*/false},
};

constexpr size_t kOptionCount = std::size(kOptions);

/// Every pass of the pipeline in its order. Canonicalize runs first, so that no
/// pass works on dead code; verify runs last, on what the plan is made from.
constexpr StringLiteral kPasses[] = {
    "sfsdp-canonicalize",   "sfsdp-shard",  "sfsdp-append-optimizer",
    "sfsdp-clip-gradients", "sfsdp-bucket", "sfsdp-reorder",
    "sfsdp-verify",
};

/// The value of each row of kOptions; empty where it has none.
using Values = std::array<StringRef, kOptionCount>;

/// `, did you mean 'NAME'?` if an option has nearly this name. Else the options
/// that work.
std::string suggestOption(StringRef name) {
  const OptionRow *nearest = llvm::min_element(
      kOptions, [&](const OptionRow &left, const OptionRow &right) {
        return name.edit_distance(left.name) < name.edit_distance(right.name);
      });
  if (isNearName(name, nearest->name)) {
    return (", did you mean '" + nearest->name + "'?").str();
  }
  auto built = llvm::make_filter_range(
      kOptions, [](const OptionRow &row) { return row.pass != kNotBuilt; });
  return ": expected one of " +
         llvm::join(llvm::map_range(
                        built, [](const OptionRow &row) { return row.name; }),
                    ", ");
}

/// Whether a mesh such as dp:2,tp:2 asks for tensor parallelism: without it the
/// ranks of that axis would only repeat each other.
bool namesTensorAxis(StringRef mesh) {
  return llvm::any_of(llvm::split(mesh, ','), [](StringRef axis) {
    auto [name, size] = axis.split(':');
    return name == "tp" && size != "1";
  });
}

bool isOneOf(StringRef value, StringRef choices) {
  SmallVector<StringRef> words;
  choices.split(words, ", ");
  return llvm::is_contained(words, value);
}

/// What the option takes, if `value` does not have that form; else empty.
std::string expectedForm(StringRef option, StringRef value) {
  for (auto [name, choices] : kChoices) {
    if (name == option && !isOneOf(value, choices)) {
      return ("one of " + choices).str();
    }
  }
  for (const NumberRow &row : kNumbers) {
    if (row.option != option) {
      continue;
    }
    SmallVector<StringRef> items = {value};
    if (row.isList) {
      items.clear();
      value.split(items, ',');
    }
    if (!llvm::all_of(items, row.fits)) {
      return row.expected.str();
    }
  }
  return "";
}

LogicalResult setOption(Values &values, StringRef text,
                        function_ref<void(const Twine &)> errors) {
  auto [name, value] = text.split('=');
  if (!text.contains('=')) {
    value = "true";
  }
  auto *row = llvm::find_if(
      kOptions, [&](const OptionRow &row) { return row.name == name; });
  if (row == std::end(kOptions)) {
    errors("unknown option '" + name + "'" + suggestOption(name));
    return failure();
  }
  if (value.empty()) {
    errors("option '" + name + "' has no value; give one, or leave it out");
    return failure();
  }
  if (row->name == "mesh" && namesTensorAxis(value)) {
    errors("option 'mesh=" + value +
           "': tensor parallelism is not built yet; leave out axis 'tp'");
    return failure();
  }
  bool isBuilt = row->pass != kNotBuilt
                     ? !llvm::is_contained(
                           kNotBuiltValues,
                           std::pair<StringRef, StringRef>(row->name, value))
                     : value == row->defaultValue;
  if (!isBuilt) {
    errors("option '" + name + "=" + value + "' is not built yet" +
           (row->defaultValue.empty() ? Twine("; leave it out")
                                      : "; '" + row->defaultValue + "' is"));
    return failure();
  }
  if (std::string expected = expectedForm(name, value); !expected.empty()) {
    errors("option '" + name + "=" + value + "': expected " + expected);
    return failure();
  }
  values[row - std::begin(kOptions)] = value;
  return success();
}

/// `pass{option=value …}` with the values of its rows.
std::string passText(StringRef pass, const Values &values) {
  std::string options;
  for (size_t i = 0; i < kOptionCount; ++i) {
    if (kOptions[i].pass == pass && !values[i].empty()) {
      options += (Twine(options.empty() ? "" : " ") + kOptions[i].passOption +
                  "=" + values[i])
                     .str();
    }
  }
  return (pass + "{" + options + "}").str();
}

/// Keeps the effective options with the module, for plan and reader.
struct RecordOptionsPass final
    : PassWrapper<RecordOptionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecordOptionsPass)

  explicit RecordOptionsPass(std::string options)
      : options(std::move(options)) {}

  StringRef getArgument() const override { return "sfsdp-record-options"; }

  void runOnOperation() override {
    getOperation()->setAttr(kOptionsAttrName,
                            StringAttr::get(&getContext(), options));
  }

  std::string options;
};

/// `value` without the folders of a file that it names.
std::string withoutFolders(StringRef value) {
  auto [policy, path] = value.split(':');
  return policy == "block" && !path.empty()
             ? (policy + ":" + llvm::sys::path::filename(path)).str()
             : value.str();
}

std::string effectiveOptions(const Values &values) {
  std::string text;
  for (size_t i = 0; i < kOptionCount; ++i) {
    if (!values[i].empty()) {
      text += (Twine(text.empty() ? "" : " ") + kOptions[i].name + "=" +
               withoutFolders(values[i]))
                  .str();
    }
  }
  return text;
}

} // namespace

LogicalResult
mlir::sfsdp::buildPipeline(OpPassManager &manager, StringRef options,
                           function_ref<void(const Twine &)> errors) {
  Values values;
  for (size_t i = 0; i < kOptionCount; ++i) {
    values[i] = kOptions[i].defaultValue;
  }
  SmallVector<StringRef> words;
  options.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    if (failed(setOption(values, word, errors))) {
      return failure();
    }
  }
  std::string text = llvm::join(
      llvm::map_range(kPasses,
                      [&](StringRef pass) { return passText(pass, values); }),
      ",");
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  if (failed(parsePassPipeline(text, manager, stream))) {
    errors(StringRef(messages).trim());
    return failure();
  }
  manager.addPass(
      std::make_unique<RecordOptionsPass>(effectiveOptions(values)));
  return success();
}

void mlir::sfsdp::registerPipelines() {
  registerPassPipeline(
      "simplefsdp", "Shard, bucket, reorder and verify a training step",
      [](OpPassManager &manager, StringRef options,
         function_ref<LogicalResult(const Twine &)> errorHandler) {
        return buildPipeline(manager, options, [&](const Twine &message) {
          (void)errorHandler(message);
        });
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}
