//===- TokenStream.cpp - Token ids one after the other --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ids are read once at the start: an id outside the vocabulary far into the
// file would otherwise end the run hours later.
//
// Tested by test/unit/runtime/BatchesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/TokenStream.h"
#include "runtime/File.h"
#include "runtime/TensorBytes.h"

#include <algorithm>
#include <cstring>

using namespace sfsdp::runtime;

namespace {

// llm.c, train_gpt2.py and train_llama3.py.
constexpr uint64_t kHeaderBytes = 1024;
constexpr int32_t kMagicU16 = 20240520;
constexpr int32_t kMagicU32 = 20240801;
constexpr int32_t kVersionU16 = 1;
constexpr int32_t kVersionU32 = 7;

/// Where the tokens stand in the file.
struct Layout {
  uint64_t begin = 0;
  int64_t tokens = 0;
  int64_t width = 2; ///< bytes of one
};

class TokenStream final : public Batches {
public:
  TokenStream(InputFile file, std::vector<InputSpec> inputs,
              std::string fingerprint)
      : file(std::move(file)), inputs(std::move(inputs)),
        digest(std::move(fingerprint)) {}

  Status prepare(TokenType headerless);

  int64_t count() const override {
    return (layout.tokens - shift()) / perBatch;
  }

  Status read(int64_t index,
              const std::vector<std::span<std::byte>> &out) const override;

  const std::string &fingerprint() const override { return digest; }

private:
  /// Tokens that the last input is ahead of the first one.
  int64_t shift() const { return inputs.size() == 2 ? 1 : 0; }

  Status checkInputs() const;
  Status findTokens(TokenType headerless);
  Status checkIds() const;
  Expected<std::vector<uint32_t>> tokensAt(int64_t begin, int64_t end) const;

  InputFile file;
  std::vector<InputSpec> inputs;
  std::string digest;
  Layout layout;
  int64_t perBatch = 0;
};

Status TokenStream::checkInputs() const {
  bool fits = (inputs.size() == 1 || inputs.size() == 2) &&
              inputs.front().shape == inputs.back().shape;
  for (const InputSpec &input : inputs) {
    fits = fits && (input.dtype == DType::Int64 || input.dtype == DType::Int32);
  }
  if (fits) {
    return Status();
  }
  std::string found;
  for (const InputSpec &input : inputs) {
    found += (found.empty() ? "'" : ", '") + input.name + "' " +
             std::string(nameOf(input.dtype)) + describeShape(input.shape);
  }
  return Status::error("a token stream feeds one or two integer inputs of the "
                       "same shape, the plan has " +
                       (found.empty() ? "none" : found) +
                       "; give a safetensors file instead");
}

Status TokenStream::findTokens(TokenType headerless) {
  int32_t header[2] = {};
  if (file.size() >= kHeaderBytes) {
    Status status = file.read(0, std::as_writable_bytes(std::span(header)));
    if (!status.ok()) {
      return status;
    }
  }
  bool isU16 = header[0] == kMagicU16 && header[1] == kVersionU16;
  bool isU32 = header[0] == kMagicU32 && header[1] == kVersionU32;
  bool hasMagic = header[0] == kMagicU16 || header[0] == kMagicU32;
  if (hasMagic && !isU16 && !isU32) {
    return Status::error(
        "llm.c token file of version " + std::to_string(header[1]) +
        ", expected " +
        std::to_string(header[0] == kMagicU16 ? kVersionU16 : kVersionU32));
  }
  bool wide = isU32 || (!hasMagic && headerless == TokenType::U32);
  layout.begin = hasMagic ? kHeaderBytes : 0;
  layout.width = wide ? 4 : 2;
  uint64_t bytes = file.size() - layout.begin;
  if (bytes % layout.width != 0) {
    return Status::error(std::to_string(bytes) +
                         " bytes are no whole number "
                         "of tokens of " +
                         std::to_string(layout.width) +
                         " bytes; is the file cut, or of another --data-dtype");
  }
  layout.tokens = static_cast<int64_t>(bytes / layout.width);
  return Status();
}

Expected<std::vector<uint32_t>> TokenStream::tokensAt(int64_t begin,
                                                      int64_t end) const {
  std::vector<std::byte> bytes(
      static_cast<size_t>((end - begin) * layout.width));
  Status status = file.read(layout.begin + begin * layout.width, bytes);
  if (!status.ok()) {
    return status;
  }
  std::vector<uint32_t> tokens(static_cast<size_t>(end - begin), 0);
  for (size_t index = 0; index < tokens.size(); ++index) {
    std::memcpy(&tokens[index], &bytes[index * layout.width], layout.width);
  }
  return tokens;
}

Status TokenStream::checkIds() const {
  std::optional<int64_t> vocabulary = inputs.front().vocabulary;
  if (!vocabulary) {
    return Status();
  }
  constexpr int64_t kPiece = 1 << 20;
  for (int64_t begin = 0; begin < layout.tokens; begin += kPiece) {
    auto tokens = tokensAt(begin, std::min(begin + kPiece, layout.tokens));
    if (!tokens) {
      return tokens.status();
    }
    for (size_t index = 0; index < tokens->size(); ++index) {
      if ((*tokens)[index] >= *vocabulary) {
        return outsideVocabulary(
            (*tokens)[index], *vocabulary,
            "token " + std::to_string(begin + static_cast<int64_t>(index)));
      }
    }
  }
  return Status();
}

Status TokenStream::prepare(TokenType headerless) {
  if (Status status = checkInputs(); !status.ok()) {
    return status;
  }
  if (Status status = findTokens(headerless); !status.ok()) {
    return status;
  }
  perBatch = *contiguousBytes(inputs.front().shape, DType::UInt8);
  if (perBatch == 0 || layout.tokens < perBatch + shift()) {
    return Status::error("holds " + std::to_string(layout.tokens) +
                         " tokens, one batch needs " +
                         std::to_string(perBatch + shift()));
  }
  return checkIds();
}

Status TokenStream::read(int64_t index,
                         const std::vector<std::span<std::byte>> &out) const {
  int64_t begin = index * perBatch;
  auto tokens = tokensAt(begin, begin + perBatch + shift());
  if (!tokens) {
    return tokens.status();
  }
  for (size_t input = 0; input < inputs.size(); ++input) {
    int64_t width = byteSize(inputs[input].dtype);
    for (int64_t at = 0; at < perBatch; ++at) {
      int64_t id = (*tokens)[at + static_cast<int64_t>(input)];
      std::memcpy(&out[input][at * width], &id, width);
    }
  }
  return Status();
}

} // namespace

Expected<std::unique_ptr<Batches>>
sfsdp::runtime::openTokenStream(const std::string &path,
                                const std::vector<InputSpec> &inputs,
                                TokenType headerless, std::string fingerprint) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file) {
    return file.status();
  }
  auto stream = std::make_unique<TokenStream>(std::move(*file), inputs,
                                              std::move(fingerprint));
  if (Status status = stream->prepare(headerless); !status.ok()) {
    return status.within(path);
  }
  return std::unique_ptr<Batches>(std::move(stream));
}
