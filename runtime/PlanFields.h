//===- PlanFields.h - Readers of a plan's smallest parts --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerators, counts and references ("%3" names a value, "$3" a scalar) as
// JsonFields reads them. Internal to the reader of plans.
//
// Tested by test/unit/runtime/PlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PLANFIELDS_H
#define SFSDP_RUNTIME_PLANFIELDS_H

#include "runtime/Json.h"
#include "runtime/Number.h"
#include "runtime/Plan.h"
#include "runtime/PlanNames.h"

#include <limits>

namespace sfsdp::runtime {

template <Spelled E>
Status readJson(JsonPlace place, E &out) {
  Expected<std::string_view> name = place.string();
  if (!name) {
    return name.status();
  }
  std::optional<E> found = fromSpelling<E>(*name);
  if (!found) {
    return place.error("expected one of " + spellings<E>() + ", got '" +
                       std::string(*name) + "'");
  }
  out = *found;
  return Status();
}

inline Status readJson(JsonPlace place, DType &out) {
  Expected<std::string_view> name = place.string();
  if (!name) {
    return name.status();
  }
  std::optional<DType> found = dtypeFromName(*name);
  if (!found) {
    return place.error("unknown element type '" + std::string(*name) + "'");
  }
  out = *found;
  return Status();
}

/// An integer that is at least 0.
struct Count {
  int64_t &out;
};
/// Counts.
struct Counts {
  std::vector<int64_t> &out;
};
/// "%3" or "$3", by `sigil`.
struct Reference {
  int64_t &out;
  char sigil;
};

inline Status readJson(JsonPlace place, const Count &count) {
  Expected<int64_t> value =
      place.integerWithin(0, std::numeric_limits<int64_t>::max());
  if (!value) {
    return value.status();
  }
  count.out = *value;
  return Status();
}

inline Status readJson(JsonPlace place, const Counts &counts) {
  if (Status status = readJson(place, counts.out); !status.ok()) {
    return status;
  }
  for (int64_t count : counts.out) {
    if (count < 0) {
      return place.error("expected numbers of at least 0, got " +
                         std::to_string(count));
    }
  }
  return Status();
}

inline std::optional<int64_t> parseReference(std::string_view text,
                                             char sigil) {
  if (text.size() < 2 || text[0] != sigil) {
    return std::nullopt;
  }
  int64_t id = 0;
  bool isId = parseNumber(text.substr(1), id) && text[1] != '-';
  return isId ? std::optional(id) : std::nullopt;
}

inline Status readJson(JsonPlace place, const Reference &reference) {
  Expected<std::string_view> text = place.string();
  if (!text) {
    return text.status();
  }
  std::optional<int64_t> id = parseReference(*text, reference.sigil);
  if (!id) {
    return place.error("expected a reference like \"" +
                       std::string(1, reference.sigil) + "0\", got '" +
                       std::string(*text) + "'");
  }
  reference.out = *id;
  return Status();
}

/// Reads a program; PlanProgramReader.cpp.
Status readJson(JsonPlace place, Program &program);

/// Checks that every id of `plan` is in range and that no shape overflows 64
/// bits; PlanRanges.cpp. The message begins with the path of the bad member.
Status checkRanges(const Plan &plan);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PLANFIELDS_H
