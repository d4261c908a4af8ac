//===- LaunchEnvironmentTest.cpp - The place that a launcher gave us ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Launch.h"

#include <gtest/gtest.h>
#include <map>

using namespace sfsdp::runtime;

namespace {

Expected<LaunchContext>
contextFrom(const std::map<std::string, std::string> &variables) {
  return contextFromEnvironment(
      [&](const std::string &name) -> std::optional<std::string> {
        auto found = variables.find(name);
        return found == variables.end() ? std::nullopt
                                        : std::optional(found->second);
      });
}

using Names = std::vector<std::string>;

} // namespace

TEST(LaunchEnvironment, NothingMeansOneProcess) {
  Expected<LaunchContext> context = contextFrom({});
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(context->worldSize, 1);
  EXPECT_EQ(context->launcher, "one process");
}

TEST(LaunchEnvironment, ReadsTorchrunWithAgentStore) {
  Expected<LaunchContext> context =
      contextFrom({{"RANK", "5"},
                   {"WORLD_SIZE", "8"},
                   {"LOCAL_RANK", "1"},
                   {"LOCAL_WORLD_SIZE", "4"},
                   {"MASTER_ADDR", "node1"},
                   {"MASTER_PORT", "29501"},
                   {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                   {"TORCHELASTIC_RESTART_COUNT", "2"},
                   {"SLURM_PROCID", "0"},
                   {"SLURM_NTASKS", "2"}});
  ASSERT_TRUE(context.ok()) << context.message();
  EXPECT_EQ(context->launcher, "torchrun");
  EXPECT_EQ(context->rank, 5);
  EXPECT_EQ(context->worldSize, 8);
  EXPECT_EQ(context->localRank, 1);
  EXPECT_EQ(context->masterAddress, "node1");
  EXPECT_EQ(context->masterPort, 29501);
  EXPECT_TRUE(context->useAgentStore);
  EXPECT_EQ(context->storePrefix, "/worker/attempt_2/");
  EXPECT_FALSE(context->oneHost());
}

TEST(LaunchEnvironment, NamesABadVariable) {
  EXPECT_EQ(contextFrom(
                {{"RANK", "8"}, {"WORLD_SIZE", "8"}, {"MASTER_PORT", "29501"}})
                .message(),
            "started by torchrun: expected RANK between 0 and 7, got '8'");
  EXPECT_EQ(contextFrom({{"RANK", "0"}, {"WORLD_SIZE", "2"}}).message(),
            "started by torchrun: MASTER_PORT is not set, expected a number");
  EXPECT_EQ(contextFrom({{"RANK", "0x"}, {"WORLD_SIZE", "2"}}).message(),
            "started by torchrun: expected RANK between 0 and 1, got '0x'");
}

TEST(LaunchEnvironment, ReadsSlurm) {
  Expected<LaunchContext> context =
      contextFrom({{"SLURM_PROCID", "3"},
                   {"SLURM_NTASKS", "4"},
                   {"SLURM_LOCALID", "1"},
                   {"SLURM_JOB_ID", "41234"},
                   {"SLURM_JOB_NODELIST", "gpu[07-08]"}});
  ASSERT_TRUE(context.ok()) << context.message();
  EXPECT_EQ(context->launcher, "slurm");
  EXPECT_EQ(context->rank, 3);
  EXPECT_EQ(context->localRank, 1);
  EXPECT_EQ(context->masterAddress, "gpu07");
  EXPECT_EQ(context->masterPort, 21234); // 20000 + 41234 mod 20000
  EXPECT_FALSE(context->oneHost());
}

TEST(LaunchEnvironment, RanksOfOneHostMeetOnLoopback) {
  Expected<LaunchContext> slurm = contextFrom({{"SLURM_PROCID", "1"},
                                               {"SLURM_NTASKS", "2"},
                                               {"SLURM_JOB_NODELIST", "n7"},
                                               {"MASTER_PORT", "1234"}});
  ASSERT_TRUE(slurm.ok()) << slurm.message();
  EXPECT_EQ(slurm->masterAddress, "127.0.0.1");
  EXPECT_EQ(slurm->masterPort, 1234);
  EXPECT_EQ(*dataAddress(*slurm, ""), "127.0.0.1");
  EXPECT_EQ(*dataAddress(*slurm, "lo"), "127.0.0.1");

  Expected<LaunchContext> openMpi = contextFrom(
      {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  Expected<LaunchContext> hydra =
      contextFrom({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  ASSERT_TRUE(openMpi.ok() && hydra.ok());
  EXPECT_EQ(openMpi->launcher, "open mpi");
  EXPECT_EQ(hydra->launcher, "hydra");
  EXPECT_EQ(hydra->localRank, 1);
  EXPECT_EQ(openMpi->masterPort, hydra->masterPort)
      << "both come from the parent process";
}

TEST(LaunchEnvironment, SeveralHostsUnderMpiNeedAMaster) {
  EXPECT_EQ(contextFrom({{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})
                .message(),
            "started by open mpi: mpirun over several hosts needs MASTER_ADDR "
            "and MASTER_PORT; export a host of rank 0 and a free port to all "
            "ranks");
}

TEST(LaunchEnvironment, ExpandsNodeLists) {
  EXPECT_EQ(*expandNodeList("n1"), Names{"n1"});
  EXPECT_EQ(*expandNodeList("n[01-03,7],gpu1"),
            (Names{"n01", "n02", "n03", "n7", "gpu1"}));
  EXPECT_EQ(*expandNodeList("n[9-11]"), (Names{"n9", "n10", "n11"}));
  EXPECT_EQ(*expandNodeList("r[1-2]n[3-4]-ib"),
            (Names{"r1n3-ib", "r1n4-ib", "r2n3-ib", "r2n4-ib"}));
}

TEST(LaunchEnvironment, RefusesBadNodeLists) {
  for (const char *list : {"", "n[1-", "n]1[", "n[[1]]", "n[3-1]", "n[a-b]",
                           "n[]", "a,,b", "n[1-99999999999]"}) {
    EXPECT_FALSE(expandNodeList(list).ok()) << list;
  }
}
