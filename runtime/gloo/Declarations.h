//===- Declarations.h - The few names that c10d needs of Gloo ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch wheels contain Gloo but not its headers, which
// torch/csrc/distributed/c10d/ProcessGroupGloo.hpp includes. These declarations
// let it parse. Nothing here may be instantiated or called: layouts are not
// Gloo's. GlooExchange.cpp alone includes them, and refers to no gloo symbol.
//
// Tested by test/unit/runtime/GlooProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_GLOO_DECLARATIONS_H
#define SFSDP_RUNTIME_GLOO_DECLARATIONS_H

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

class Context {
public:
  void setTimeout(std::chrono::milliseconds timeout);
};

namespace transport {
class Device;
class UnboundBuffer {
public:
  virtual ~UnboundBuffer();
};
} // namespace transport

namespace rendezvous {
class Store {
public:
  virtual ~Store();
  virtual void set(const std::string &key, const std::vector<char> &value) = 0;
  virtual std::vector<char> get(const std::string &key) = 0;
  virtual void wait(const std::vector<std::string> &keys) = 0;
  virtual void wait(const std::vector<std::string> &keys,
                    const std::chrono::milliseconds &timeout) = 0;
};
} // namespace rendezvous

} // namespace gloo

#endif // SFSDP_RUNTIME_GLOO_DECLARATIONS_H
