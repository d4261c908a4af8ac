//===- BucketPolicy.cpp - Which collectives should travel together --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/bucket*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/BucketPolicy.h"

#include "dialect/Sfsdp.h"
#include "passes/analysis/Blocks.h"
#include "runtime/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sfsdp;
namespace runtime = ::sfsdp::runtime;

FailureOr<BucketPolicy> mlir::sfsdp::parseBucketPolicy(ModuleOp module,
                                                       StringRef text) {
  BucketPolicy policy;
  if (text == "none") {
    return policy;
  }
  StringRef rest = text;
  if (rest.consume_front("block")) {
    policy.kind =
        rest.empty() ? BucketPolicy::Kind::Block : BucketPolicy::Kind::File;
    policy.path = rest.drop_front(std::min<size_t>(1, rest.size())).str();
    if (rest.empty() || (rest.starts_with(":") && !policy.path.empty())) {
      return policy;
    }
  }
  double size = 0;
  rest = text;
  // No storage has 2^40 MiB.
  if (rest.consume_front("size:") && !rest.getAsDouble(size) && size > 0 &&
      size <= 0x1p40) {
    policy.kind = BucketPolicy::Kind::Size;
    policy.bucketBytes = static_cast<int64_t>(std::ceil(size * 1024 * 1024));
    return policy;
  }
  bool isKnown = llvm::StringSwitch<bool>(text)
                     .Cases({"per-parameter", "saturate", "simplefsdp-greedy",
                             "deepcompile", "lhs", "auto"},
                            true)
                     .Default(false);
  return module.emitError()
         << "bucket policy: expected none, block, block:FILE or size:N with N "
            "in MiB, got '"
         << text << "'" << (isKnown ? ", which is not built yet" : "");
}

//===----------------------------------------------------------------------===//
// The user's buckets
//===----------------------------------------------------------------------===//

/// Adds the file to the inputs of `module`.
static void recordInput(ModuleOp module, StringRef path, StringRef text) {
  Builder builder(module.getContext());
  SmallVector<Attribute> files;
  if (auto known = module->getAttrOfType<ArrayAttr>(kInputsAttrName)) {
    files.append(known.begin(), known.end());
  }
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  files.push_back(InputFileAttr::get(
      module.getContext(),
      builder.getStringAttr(llvm::sys::path::filename(path)),
      builder.getStringAttr(llvm::toHex(digest, /*LowerCase=*/true))));
  module->setAttr(kInputsAttrName, builder.getArrayAttr(files));
}

namespace {

using PatternLists = std::vector<std::vector<std::string>>;

/// Patterns of one bucket each.
class Buckets {
public:
  Buckets(ModuleOp module, StringRef path) : module(module), path(path) {}

  LogicalResult read() {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!buffer) {
      return fail() << "cannot read it: " << buffer.getError().message();
    }
    StringRef text = (*buffer)->getBuffer();
    runtime::Expected<runtime::JsonDocument> document =
        runtime::parseJson(text.str(), path.str());
    PatternLists lists;
    runtime::Status status = document
                                 ? runtime::readJson(document->root(), lists)
                                 : document.status();
    if (!status.ok()) {
      return module.emitError() << "bucket policy: " << status.message();
    }
    recordInput(module, path, text);
    return compile(lists);
  }

  FailureOr<uint32_t> bucketOf(StringRef name) {
    std::optional<size_t> found;
    for (size_t bucket = 0; bucket < patterns.size(); ++bucket) {
      bool matches =
          llvm::any_of(patterns[bucket], [&](const llvm::GlobPattern &pattern) {
            return pattern.match(name);
          });
      if (matches && found) {
        return fail() << "parameter '" << name << "' is in buckets " << *found
                      << " and " << bucket << ", expected one";
      }
      found = matches ? bucket : found;
    }
    if (!found) {
      return fail() << "parameter '" << name
                    << "' is in no bucket, expected one";
    }
    return static_cast<uint32_t>(*found);
  }

private:
  InFlightDiagnostic fail() {
    return module.emitError() << "bucket policy: " << path << ": ";
  }

  LogicalResult compile(const PatternLists &lists) {
    for (const std::vector<std::string> &list : lists) {
      patterns.emplace_back();
      for (const std::string &text : list) {
        auto pattern = llvm::GlobPattern::create(text);
        if (!pattern) {
          return fail() << llvm::toString(pattern.takeError()) << ", got '"
                        << text << "'";
        }
        patterns.back().push_back(std::move(*pattern));
      }
    }
    return success();
  }

  ModuleOp module;
  StringRef path;
  std::vector<std::vector<llvm::GlobPattern>> patterns;
};

} // namespace

FailureOr<std::vector<uint32_t>>
mlir::sfsdp::bucketsByName(ModuleOp module, const BucketPolicy &policy,
                           ArrayRef<std::string> names) {
  if (policy.kind != BucketPolicy::Kind::File) {
    return ::sfsdp::analysis::numberBlocks(names);
  }
  Buckets buckets(module, policy.path);
  if (failed(buckets.read())) {
    return failure();
  }
  std::vector<uint32_t> numbers;
  for (const std::string &name : names) {
    FailureOr<uint32_t> bucket = buckets.bucketOf(name);
    if (failed(bucket)) {
      return failure();
    }
    numbers.push_back(*bucket);
  }
  return numbers;
}
