//===- TemporaryFolder.h - A folder for one test -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fresh folder that is removed, with what is in it, at the end of the test.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_TEMPORARYFOLDER_H
#define SFSDP_TEST_SUPPORT_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <string_view>

namespace sfsdp::test {

class TemporaryFolder {
public:
  TemporaryFolder() : folder(testing::TempDir() + "sfsdp-XXXXXX") {
    if (!::mkdtemp(folder.data())) {
      ADD_FAILURE() << "cannot create " << folder;
    }
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(folder); }

  std::string path(std::string_view name) const {
    return folder + "/" + std::string(name);
  }

  /// Writes `content` to file `name` and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  std::string read(std::string_view name) const {
    std::ifstream file(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  /// Entries in the folder.
  size_t count() const {
    using Iterator = std::filesystem::directory_iterator;
    return static_cast<size_t>(std::distance(Iterator(folder), Iterator()));
  }

private:
  std::string folder;
};

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_TEMPORARYFOLDER_H
