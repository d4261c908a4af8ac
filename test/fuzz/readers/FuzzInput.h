//===- FuzzInput.h - What every fuzz target needs ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes that libFuzzer gives, as a file, and a check that stays on in every
// build: a broken promise of a reader is a finding like a crash.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_FUZZ_READERS_FUZZINPUT_H
#define SFSDP_TEST_FUZZ_READERS_FUZZINPUT_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace sfsdp::test {

/// Ends the process when `holds` is false; `promise` is what was broken.
inline void require(bool holds, const char *promise) {
  if (!holds) {
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
  }
}

inline std::string_view asText(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

/// A file in memory that has a path while this lives.
class FuzzFile {
public:
  explicit FuzzFile(std::string_view content)
      : descriptor(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(::write(descriptor, content.data(), content.size()) ==
                static_cast<ssize_t>(content.size()),
            "the input can be written to memory");
  }
  FuzzFile(const FuzzFile &) = delete;
  FuzzFile &operator=(const FuzzFile &) = delete;
  ~FuzzFile() { ::close(descriptor); }

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor;
};

} // namespace sfsdp::test

#endif // SFSDP_TEST_FUZZ_READERS_FUZZINPUT_H
