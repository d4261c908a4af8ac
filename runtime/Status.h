//===- Status.h - Result of an operation that can fail -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one way in which runtime code reports failure. No exception leaves a
// public function: what a library throws is caught beside the call and turned
// into a Status. A message is one lower-case clause without a full stop that
// says what is wrong, where, what was expected and found, and what to do.
//
// Tested by test/unit/runtime/StatusTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_STATUS_H
#define SFSDP_RUNTIME_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace sfsdp::runtime {

/// Success, or one error message.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;

  /// Failure with `message`, which must not be empty.
  static Status error(std::string message) {
    assert(!message.empty() && "an error says what is wrong");
    Status status;
    status.text = std::move(message);
    return status;
  }

  bool ok() const { return !text; }

  /// The error message; empty on success.
  const std::string &message() const {
    static const std::string none;
    return text ? *text : none;
  }

  /// The same failure with `where` and ": " put before its message; success
  /// stays success.
  Status within(const std::string &where) const {
    return ok() ? *this : error(where + ": " + *text);
  }

private:
  std::optional<std::string> text;
};

/// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : stored(std::move(value)) {}
  Expected(Status failure) : failure(std::move(failure)) {
    assert(!this->failure.ok() && "a success needs a value");
  }

  bool ok() const { return stored.has_value(); }
  explicit operator bool() const { return ok(); }

  /// The failure; success when there is a value.
  const Status &status() const { return failure; }
  const std::string &message() const { return failure.message(); }

  /// The value. Requires ok().
  T &operator*() & {
    assert(ok() && "no value: check ok() first");
    return *stored;
  }
  const T &operator*() const & {
    assert(ok() && "no value: check ok() first");
    return *stored;
  }
  T &&operator*() && {
    assert(ok() && "no value: check ok() first");
    return std::move(*stored);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

private:
  std::optional<T> stored;
  Status failure;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_STATUS_H
