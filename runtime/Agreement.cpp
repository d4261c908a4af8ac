//===- Agreement.cpp - All ranks were started alike -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank sets its record in the store; rank 0 compares them and sets the
// verdict, which every rank reads. Records travel as lengths and bytes, so that
// a value may hold anything.
//
// Tested by test/unit/runtime/AgreementTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Agreement.h"

#include "runtime/RankList.h"

#include <algorithm>
#include <charconv>

using namespace sfsdp::runtime;

namespace {

//===----------------------------------------------------------------------===//
// Records as text
//===----------------------------------------------------------------------===//

void append(std::string &text, const std::string &part) {
  text += std::to_string(part.size()) + ':' + part;
}

/// Takes one part off the front of `text`.
Expected<std::string> takePart(std::string_view &text) {
  size_t size = 0;
  auto [end, failed] =
      std::from_chars(text.data(), text.data() + text.size(), size);
  size_t start = end - text.data() + 1;
  if (failed != std::errc() || start > text.size() || *end != ':' ||
      size > text.size() - start) {
    return Status::error("a record in the store is damaged");
  }
  std::string part(text.substr(start, size));
  text.remove_prefix(start + size);
  return part;
}

std::string encode(const AgreementRecord &record) {
  std::string text;
  for (const auto &[field, value] : record) {
    append(text, field);
    append(text, value);
  }
  return text;
}

Expected<AgreementRecord> decode(std::string_view text) {
  AgreementRecord record;
  while (!text.empty()) {
    Expected<std::string> field = takePart(text);
    if (!field.ok()) {
      return field.status();
    }
    Expected<std::string> value = takePart(text);
    if (!value.ok()) {
      return value.status();
    }
    record.emplace_back(*std::move(field), *std::move(value));
  }
  return record;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Ranks that gave the same value, in order of their first rank.
struct Camp {
  std::string value;
  std::vector<int> ranks;
};

constexpr size_t kMaxShown = 200; ///< characters of a value in a message

std::string shortened(const std::string &value) {
  return value.size() <= kMaxShown ? value : value.substr(0, kMaxShown) + "…";
}

/// "lr (rank 0 has '0.1', rank 1 has '0.2')", or empty when all agree.
std::string describeField(const std::vector<AgreementRecord> &records,
                          size_t i) {
  std::vector<Camp> camps;
  for (size_t rank = 0; rank < records.size(); ++rank) {
    const std::string &value = records[rank][i].second;
    auto camp = std::find_if(camps.begin(), camps.end(),
                             [&](const Camp &c) { return c.value == value; });
    if (camp == camps.end()) {
      camp = camps.insert(camps.end(), {value, {}});
    }
    camp->ranks.push_back(static_cast<int>(rank));
  }
  if (camps.size() == 1) {
    return "";
  }
  std::string text = records[0][i].first + " (";
  for (size_t c = 0; c < camps.size(); ++c) {
    text += (c > 0 ? ", " : "") + nameRanks(camps[c].ranks) +
            (camps[c].ranks.size() == 1 ? " has '" : " have '") +
            shortened(camps[c].value) + "'";
  }
  return text + ")";
}

bool sameFields(const AgreementRecord &a, const AgreementRecord &b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const auto &x, const auto &y) { return x.first == y.first; });
}

//===----------------------------------------------------------------------===//
// Through the store
//===----------------------------------------------------------------------===//

std::string keyOf(int rank) { return "agree/rank/" + std::to_string(rank); }

std::string heardKeyOf(int rank) {
  return "agree/heard/" + std::to_string(rank);
}

constexpr const char *kVerdict = "agree/verdict";

/// How long rank 0 serves the store for ranks that have yet to read a bad
/// verdict, and how long these wait for it beyond rank 0's own timeout.
constexpr auto kMargin = std::chrono::seconds(5);

/// Rank 0 ends after a bad verdict, and its store with it: those that joined
/// must have read why.
void awaitReaders(Store &store, const std::vector<int> &joined) {
  std::vector<std::string> heard;
  for (int rank : joined) {
    heard.push_back(heardKeyOf(rank));
  }
  (void)store.wait(heard, kMargin);
}

/// Rank 0's part: reads and compares all records. `joined` receives the other
/// ranks that gave one.
Status judge(Store &store, int worldSize, const AgreementRecord &own,
             std::chrono::milliseconds timeout, std::vector<int> &joined) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<AgreementRecord> records = {own};
  std::vector<int> missing;
  for (int rank = 1; rank < worldSize; ++rank) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    Expected<std::string> text =
        store.get(keyOf(rank), std::max(left, std::chrono::milliseconds(1)));
    if (!text.ok()) {
      missing.push_back(rank);
      continue;
    }
    Expected<AgreementRecord> record = decode(*text);
    if (!record.ok()) {
      return record.status().within("rank " + std::to_string(rank));
    }
    records.push_back(*std::move(record));
    joined.push_back(rank);
  }
  if (!missing.empty()) {
    return Status::error(nameRanks(missing) + " did not join within " +
                         std::to_string(timeout.count()) + " ms");
  }
  return compareRecords(records);
}

} // namespace

Status
sfsdp::runtime::compareRecords(const std::vector<AgreementRecord> &records) {
  for (size_t rank = 1; rank < records.size(); ++rank) {
    if (!sameFields(records[0], records[rank])) {
      return Status::error("rank 0 and rank " + std::to_string(rank) +
                           " compare different fields, expected the same "
                           "program on all ranks");
    }
  }
  std::string differences;
  for (size_t i = 0; !records.empty() && i < records[0].size(); ++i) {
    std::string field = describeField(records, i);
    if (!field.empty()) {
      differences += (differences.empty() ? "" : "; ") + field;
    }
  }
  return differences.empty()
             ? Status()
             : Status::error("ranks disagree on " + differences +
                             "; start all ranks with the same options");
}

Status sfsdp::runtime::agree(Store &store, int rank, int worldSize,
                             const AgreementRecord &record,
                             std::chrono::milliseconds timeout) {
  if (rank == 0) {
    std::vector<int> joined;
    Status verdict = judge(store, worldSize, record, timeout, joined);
    Status published = store.set(kVerdict, verdict.message());
    if (verdict.ok()) {
      return published;
    }
    awaitReaders(store, joined);
    return verdict;
  }
  if (Status status = store.set(keyOf(rank), encode(record)); !status.ok()) {
    return status;
  }
  Expected<std::string> verdict = store.get(kVerdict, timeout + kMargin);
  if (!verdict.ok()) {
    return verdict.status().within("rank 0 did not compare the ranks' options");
  }
  if (verdict->empty()) {
    return Status();
  }
  (void)store.set(heardKeyOf(rank), "");
  return Status::error(*verdict);
}
