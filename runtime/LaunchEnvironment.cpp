//===- LaunchEnvironment.cpp - The place that a launcher gave us ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torchrun names everything. Slurm and mpirun give a rank; where the ranks meet
// follows from the node list, or is this host when all ranks are on it, and the
// port from a number that all ranks of the job share.
//
// Tested by test/unit/runtime/LaunchEnvironmentTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Launch.h"

#include "runtime/Number.h"
#include "runtime/Socket.h"

#include <cstdlib>
#include <unistd.h>

using namespace sfsdp::runtime;

Environment sfsdp::runtime::processEnvironment() {
  return [](const std::string &name) -> std::optional<std::string> {
    const char *value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

namespace {

/// Reads variables; the first bad one is the error.
class Reader {
public:
  explicit Reader(const Environment &environment) : environment(environment) {}

  bool has(const char *name) const { return environment(name).has_value(); }

  std::string text(const char *name, const std::string &fallback) const {
    return environment(name).value_or(fallback);
  }

  /// A whole number of [low, high].
  int number(const char *name, int low, int high) {
    std::optional<std::string> value = environment(name);
    if (!value) {
      fail(std::string(name) + " is not set, expected a number");
      return low;
    }
    int result = low;
    if (!parseNumber(*value, result) || result < low || result > high) {
      fail("expected " + std::string(name) + " between " + std::to_string(low) +
           " and " + std::to_string(high) + ", got '" + *value + "'");
      return low;
    }
    return result;
  }

  int number(const char *name, int low, int high, int fallback) {
    return has(name) ? number(name, low, high) : fallback;
  }

  void fail(const std::string &message) {
    if (failure.ok()) {
      failure = Status::error(message);
    }
  }

  const Status &status() const { return failure; }

private:
  const Environment &environment;
  Status failure;
};

constexpr int kMaxRanks = 1 << 20;
constexpr int kMaxPort = 65535;

/// A port of [20000, 40000) for a job whose ranks share `number`.
int portOfJob(long number) { return 20000 + static_cast<int>(number % 20000); }

bool isTrue(const std::string &value) {
  return value == "True" || value == "true" || value == "1";
}

void readTorchrun(Reader &reader, LaunchContext &context) {
  context.launcher = "torchrun";
  context.worldSize = reader.number("WORLD_SIZE", 1, kMaxRanks);
  context.rank = reader.number("RANK", 0, context.worldSize - 1);
  context.localWorldSize =
      reader.number("LOCAL_WORLD_SIZE", 1, context.worldSize, /*fallback=*/1);
  context.localRank = reader.number("LOCAL_RANK", 0, context.localWorldSize - 1,
                                    /*fallback=*/0);
  context.masterAddress = reader.text("MASTER_ADDR", "127.0.0.1");
  context.masterPort = reader.number("MASTER_PORT", 1, kMaxPort);
  context.useAgentStore =
      isTrue(reader.text("TORCHELASTIC_USE_AGENT_STORE", ""));
  if (context.useAgentStore) {
    context.storePrefix = "/worker/attempt_" +
                          reader.text("TORCHELASTIC_RESTART_COUNT", "0") + "/";
  }
}

/// MASTER_ADDR and MASTER_PORT win over what was derived.
void readMaster(Reader &reader, LaunchContext &context,
                const std::string &address, int port) {
  context.masterAddress = reader.text("MASTER_ADDR", address);
  context.masterPort = reader.number("MASTER_PORT", 1, kMaxPort, port);
}

void readSlurm(Reader &reader, LaunchContext &context) {
  context.launcher = "slurm";
  context.worldSize = reader.number("SLURM_NTASKS", 1, kMaxRanks);
  context.rank = reader.number("SLURM_PROCID", 0, context.worldSize - 1);
  context.localRank =
      reader.number("SLURM_LOCALID", 0, context.worldSize - 1, /*fallback=*/0);
  std::string list = reader.text("SLURM_JOB_NODELIST", "127.0.0.1");
  Expected<std::vector<std::string>> nodes = expandNodeList(list);
  if (!nodes.ok()) {
    reader.fail(nodes.status().within("SLURM_JOB_NODELIST").message());
    return;
  }
  bool oneHost = nodes->size() == 1;
  context.localWorldSize =
      oneHost ? context.worldSize
              : reader.number("SLURM_NTASKS_PER_NODE", 1, context.worldSize,
                              /*fallback=*/1);
  int job = reader.number("SLURM_JOB_ID", 0, 1 << 30, /*fallback=*/0);
  readMaster(reader, context, oneHost ? "127.0.0.1" : nodes->front(),
             portOfJob(job));
}

/// mpirun starts all ranks of a host from one process, whose id is then the
/// number that they share.
void readMpi(Reader &reader, LaunchContext &context) {
  if (context.oneHost()) {
    readMaster(reader, context, "127.0.0.1", portOfJob(::getppid()));
    return;
  }
  if (!reader.has("MASTER_ADDR") || !reader.has("MASTER_PORT")) {
    reader.fail("mpirun over several hosts needs MASTER_ADDR and MASTER_PORT; "
                "export a host of rank 0 and a free port to all ranks");
    return;
  }
  readMaster(reader, context, "", 0);
}

void readOpenMpi(Reader &reader, LaunchContext &context) {
  context.launcher = "open mpi";
  context.worldSize = reader.number("OMPI_COMM_WORLD_SIZE", 1, kMaxRanks);
  context.rank =
      reader.number("OMPI_COMM_WORLD_RANK", 0, context.worldSize - 1);
  context.localRank = reader.number("OMPI_COMM_WORLD_LOCAL_RANK", 0,
                                    context.worldSize - 1, context.rank);
  context.localWorldSize =
      reader.number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, context.worldSize,
                    /*fallback=*/context.worldSize);
  readMpi(reader, context);
}

void readHydra(Reader &reader, LaunchContext &context) {
  context.launcher = "hydra";
  context.worldSize = reader.number("PMI_SIZE", 1, kMaxRanks);
  context.rank = reader.number("PMI_RANK", 0, context.worldSize - 1);
  context.localRank =
      reader.number("MPI_LOCALRANKID", 0, context.worldSize - 1, context.rank);
  context.localWorldSize =
      reader.number("MPI_LOCALNRANKS", 1, context.worldSize,
                    /*fallback=*/context.worldSize);
  readMpi(reader, context);
}

} // namespace

Expected<LaunchContext>
sfsdp::runtime::contextFromEnvironment(const Environment &environment) {
  Reader reader(environment);
  LaunchContext context;
  if (reader.has("RANK") && reader.has("WORLD_SIZE")) {
    readTorchrun(reader, context);
  } else if (reader.has("SLURM_PROCID") && reader.has("SLURM_NTASKS")) {
    readSlurm(reader, context);
  } else if (reader.has("OMPI_COMM_WORLD_RANK")) {
    readOpenMpi(reader, context);
  } else if (reader.has("PMI_RANK")) {
    readHydra(reader, context);
  }
  if (!reader.status().ok()) {
    return reader.status().within("started by " + context.launcher);
  }
  return context;
}

Expected<std::string>
sfsdp::runtime::dataAddress(const LaunchContext &context,
                            const std::string &requested) {
  if (!requested.empty()) {
    Expected<std::string> address = addressOfInterface(requested);
    return address.ok() ? address : Expected<std::string>(requested);
  }
  if (context.oneHost()) {
    return std::string("127.0.0.1");
  }
  return localAddressTowards(context.masterAddress);
}

//===----------------------------------------------------------------------===//
// Node lists
//===----------------------------------------------------------------------===//

namespace {

/// Splits at commas outside brackets.
Expected<std::vector<std::string>> splitNodes(const std::string &list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : list) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth < 0 || depth > 1) {
      break;
    }
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (depth != 0) {
    return Status::error("unbalanced brackets in node list '" + list + "'");
  }
  return parts;
}

bool isNumber(const std::string &text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

/// Appends the numbers of "01-03" or "7", as wide as the first.
Status expandRange(const std::string &range, std::vector<std::string> &out) {
  size_t dash = range.find('-');
  std::string first = range.substr(0, dash);
  std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
  if (!isNumber(first) || !isNumber(last) ||
      std::stoi(last) < std::stoi(first) ||
      std::stoi(last) - std::stoi(first) > kMaxRanks) {
    return Status::error("expected a range of numbers, got '" + range + "'");
  }
  for (int i = std::stoi(first); i <= std::stoi(last); ++i) {
    std::string number = std::to_string(i);
    size_t width = std::max(first.size(), number.size());
    out.push_back(std::string(width - number.size(), '0') + number);
  }
  return {};
}

/// Expands one entry, which may hold several bracketed sets: "r[1-2]n[1-2]".
Status expandNode(const std::string &node, std::vector<std::string> &out) {
  size_t open = node.find('[');
  if (open == std::string::npos) {
    out.push_back(node);
    return {};
  }
  size_t close = node.find(']', open);
  std::vector<std::string> numbers;
  size_t start = open + 1;
  while (start <= close) {
    size_t end = std::min(node.find(',', start), close);
    Status status = expandRange(node.substr(start, end - start), numbers);
    if (!status.ok()) {
      return status;
    }
    start = end + 1;
  }
  for (const std::string &number : numbers) {
    Status status =
        expandNode(node.substr(0, open) + number + node.substr(close + 1), out);
    if (!status.ok()) {
      return status;
    }
  }
  return {};
}

} // namespace

Expected<std::vector<std::string>>
sfsdp::runtime::expandNodeList(const std::string &list) {
  Expected<std::vector<std::string>> parts = splitNodes(list);
  if (!parts.ok()) {
    return parts;
  }
  std::vector<std::string> nodes;
  for (const std::string &part : *parts) {
    if (part.empty()) {
      return Status::error("empty entry in node list '" + list + "'");
    }
    if (Status status = expandNode(part, nodes); !status.ok()) {
      return status.within("node list '" + list + "'");
    }
  }
  return nodes;
}
