#include "rendezvous/environment.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

using Variables = std::map<std::string, std::string>;

Launch read(const Variables& variables) {
  return read_environment([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

Variables with(Variables variables, const Variables& others) {
  for (const auto& [name, value] : others) variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

const Variables ours{{"TUTTI_RANK", "1"}, {"TUTTI_SIZE", "4"}, {"TUTTI_ROOT", "node1:29500"}};
const Variables torchrun{{"RANK", "5"},
                         {"WORLD_SIZE", "8"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "4"},
                         {"MASTER_ADDR", "node1"},
                         {"MASTER_PORT", "29500"}};
const Variables open_mpi{{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"PMIX_NAMESPACE", "1394278401"},
                         {"PMIX_SERVER_URI2", "1394278400.0;tcp4://127.0.0.1:52539"}};
const Variables slurm{{"SLURM_JOB_ID", "4711"},      {"SLURM_STEP_ID", "2"},
                      {"SLURM_PROCID", "3"},         {"SLURM_STEP_NUM_TASKS", "16"},
                      {"SLURM_NTASKS", "16"},        {"SLURM_LOCALID", "1"},
                      {"SLURM_STEP_NUM_NODES", "4"}, {"SLURM_STEP_NODELIST", "node[03-05,9]"}};
const Variables pmi{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_FD", "6"}};

TEST(Environment, OneRankWithoutALauncher) {
  const Launch launch = read({{"HOME", "/root"}, {"MASTER_ADDR", "x"}});
  EXPECT_EQ(launch.how, Launch::How::alone);
  EXPECT_EQ(launch.size, 1U);
  EXPECT_EQ(launch.rank, Rank(0));
  EXPECT_EQ(launch.timeout, 120s);
}

TEST(Environment, ReadsTuttiVariables) {
  const Launch launch = read(with(ours, {{"TUTTI_LOCAL_RANK", "0"},
                                         {"TUTTI_LOCAL_SIZE", "2"},
                                         {"TUTTI_SECRET", "s"},
                                         {"TUTTI_JOB", "my job"},
                                         {"TUTTI_ROOT_FD", "9"},
                                         {"TUTTI_TIMEOUT", "1.5"}}));
  EXPECT_EQ(launch.how, Launch::How::tutti);
  EXPECT_EQ(launch.rank, Rank(1));
  EXPECT_EQ(launch.size, 4U);
  EXPECT_EQ(launch.local_rank, 0U);
  EXPECT_EQ(launch.local_size, 2U);
  EXPECT_EQ(launch.root_host, "node1");
  EXPECT_EQ(launch.root_port, 29500);
  EXPECT_EQ(launch.secret.bytes, "s");
  EXPECT_EQ(launch.job, "my_job");
  EXPECT_EQ(launch.timeout, 1500ms);
  // The socket is only for rank 0.
  EXPECT_EQ(launch.root_fd, std::nullopt);
  const Launch root = read({{"TUTTI_RANK", "0"}, {"TUTTI_SIZE", "2"}, {"TUTTI_ROOT_FD", "9"}});
  EXPECT_EQ(root.root_fd, 9);
}

TEST(Environment, ReadsRootAddresses) {
  EXPECT_EQ(read(with(ours, {{"TUTTI_ROOT", "[fd00::1]:1"}})).root_host, "fd00::1");
  EXPECT_EQ(read(with(ours, {{"TUTTI_ROOT", "127.0.0.1:65535"}})).root_port, 65535);
  for (const std::string root :
       {"node1", "node1:", ":80", "node1:0", "node1:65536", "node1:x", "fd00::1:80", "node1:80x"}) {
    test::expect_error(
        [&] {
          (void)read(with(ours, {{"TUTTI_ROOT", root}}));
        },
        ErrorCode::invalid_argument, "TUTTI_ROOT=" + root);
  }
}

TEST(Environment, ReadsTorchrun) {
  const Launch launch = read(torchrun);
  EXPECT_EQ(launch.how, Launch::How::torchrun);
  EXPECT_EQ(launch.rank, Rank(5));
  EXPECT_EQ(launch.size, 8U);
  EXPECT_EQ(launch.local_rank, 1U);
  EXPECT_EQ(launch.root_host, "node1");
  EXPECT_EQ(launch.root_port, 29500);
  EXPECT_EQ(launch.root_name, "");
  EXPECT_EQ(read(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}})).root_port, 29501);
  EXPECT_EQ(read(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).root_port, 29500);
  test::expect_error(
      [] {
        (void)read(
            with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"MASTER_PORT", "65535"}}));
      },
      ErrorCode::invalid_argument, "MASTER_PORT=65535");
  // Set by hand, without the local variables.
  EXPECT_EQ(read(without(without(torchrun, "LOCAL_RANK"), "LOCAL_WORLD_SIZE")).local_rank,
            std::nullopt);
}

TEST(Environment, UsesASocketNameOnOneHost) {
  const Variables here = with(torchrun, {{"LOCAL_WORLD_SIZE", "8"}});
  const Launch launch = read(with(here, {{"TORCHELASTIC_RUN_ID", "abc"}}));
  EXPECT_EQ(launch.root_name, "torchrun/node1:29500/abc/0");
  EXPECT_EQ(launch.root_host, "");
  EXPECT_EQ(launch.job, "abc");
  const Launch restarted =
      read(with(here, {{"TORCHELASTIC_RUN_ID", "abc"}, {"TORCHELASTIC_RESTART_COUNT", "1"}}));
  EXPECT_NE(restarted.root_name, launch.root_name);
  const Launch lengthy = read(with(here, {{"TORCHELASTIC_RUN_ID", std::string(500, 'x')}}));
  EXPECT_LT(lengthy.root_name.size(), 64U);
  EXPECT_LT(lengthy.job.size(), 100U);
}

TEST(Environment, ReadsOpenMpi) {
  const Launch launch = read(open_mpi);
  EXPECT_EQ(launch.how, Launch::How::open_mpi);
  EXPECT_EQ(launch.rank, Rank(1));
  EXPECT_EQ(launch.local_size, 2U);
  EXPECT_EQ(launch.job, "1394278401");
  EXPECT_TRUE(launch.root_name.starts_with("open-mpi/1394278401/"));
  EXPECT_NE(read(with(open_mpi, {{"PMIX_SERVER_URI2", "other"}})).root_name, launch.root_name);
  const Variables two_hosts =
      with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}});
  test::expect_error([&] { (void)read(two_hosts); }, ErrorCode::invalid_argument,
                     "set TUTTI_ROOT=host:port");
  EXPECT_EQ(read(with(two_hosts, {{"TUTTI_ROOT", "node1:80"}})).root_host, "node1");
  test::expect_error([&] { (void)read(without(open_mpi, "PMIX_NAMESPACE")); },
                     ErrorCode::invalid_argument, "PMIX_NAMESPACE");
}

TEST(Environment, ReadsSlurm) {
  const Launch launch = read(slurm);
  EXPECT_EQ(launch.how, Launch::How::slurm);
  EXPECT_EQ(launch.rank, Rank(3));
  EXPECT_EQ(launch.size, 16U);
  EXPECT_EQ(launch.local_rank, 1U);
  EXPECT_EQ(launch.root_host, "node03");
  EXPECT_GE(launch.root_port, 20000);
  EXPECT_LT(launch.root_port, 32000);
  EXPECT_EQ(launch.job, "4711.2");
  EXPECT_NE(read(with(slurm, {{"SLURM_STEP_ID", "3"}})).root_port, launch.root_port);
  EXPECT_EQ(read(without(slurm, "SLURM_STEP_NUM_TASKS")).size, 16U);
  EXPECT_EQ(read(with(slurm, {{"SLURM_STEP_NUM_NODES", "1"}})).root_name, "slurm/4711.2");
  for (const std::string name : {"SLURM_JOB_ID", "SLURM_STEP_NODELIST"}) {
    test::expect_error([&] { (void)read(without(slurm, name)); }, ErrorCode::invalid_argument,
                       name);
  }
}

TEST(Environment, OneRankInABatchScript) {
  EXPECT_EQ(read(without(slurm, "SLURM_STEP_ID")).how, Launch::How::alone);
}

TEST(Environment, ReadsPmi) {
  const Launch launch = read(with(pmi, {{"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}}));
  EXPECT_EQ(launch.how, Launch::How::pmi);
  EXPECT_EQ(launch.pmi_fd, 6);
  EXPECT_EQ(launch.local_size, 2U);
  test::expect_error([] { (void)read(without(pmi, "PMI_FD")); }, ErrorCode::invalid_argument,
                     "PMI_FD");
  EXPECT_EQ(read(with(pmi, {{"TUTTI_ROOT", "a:1"}})).pmi_fd, std::nullopt);
}

TEST(Environment, UsesTheFirstConvention) {
  Variables all = pmi;
  EXPECT_EQ(read(all).how, Launch::How::pmi);
  all = with(all, slurm);
  EXPECT_EQ(read(all).how, Launch::How::slurm);
  EXPECT_EQ(read(with(all, {{"HYDI_CONTROL_FD", "7"}})).how, Launch::How::pmi);
  all = with(all, open_mpi);
  EXPECT_EQ(read(all).how, Launch::How::open_mpi);
  all = with(all, torchrun);
  EXPECT_EQ(read(all).how, Launch::How::torchrun);
  all = with(all, ours);
  EXPECT_EQ(read(all).how, Launch::How::tutti);
}

TEST(Environment, TlsNeedsASecret) {
  EXPECT_EQ(read(with(ours, {{"TUTTI_SECRET", "s"}})).secret.tls, nullptr);
  EXPECT_EQ(read(with(ours, {{"TUTTI_SECRET", "s"}, {"TUTTI_TLS", "0"}})).secret.tls, nullptr);
  EXPECT_NE(read(with(ours, {{"TUTTI_SECRET", "s"}, {"TUTTI_TLS", "1"}})).secret.tls, nullptr);
  test::expect_error(
      [] {
        (void)read(with(ours, {{"TUTTI_TLS", "1"}}));
      },
      ErrorCode::invalid_argument, "TUTTI_SECRET, which is not set");
  // A single rank may start ranks, and make a secret for them.
  EXPECT_EQ(read({{"TUTTI_TLS", "1"}}).secret.tls, nullptr);
}

TEST(Environment, TuttiVariablesOverrideEveryConvention) {
  const Variables ours_too{{"TUTTI_ROOT", "[::1]:77"},
                           {"TUTTI_SECRET", "s"},
                           {"TUTTI_JOB", "j"},
                           {"TUTTI_TIMEOUT", "7"}};
  for (const Variables& each : {torchrun, open_mpi, slurm, pmi}) {
    const Launch launch = read(with(each, ours_too));
    EXPECT_EQ(launch.root_host, "::1");
    EXPECT_EQ(launch.root_port, 77);
    EXPECT_EQ(launch.root_name, "");
    EXPECT_EQ(launch.secret.bytes, "s");
    EXPECT_EQ(launch.job, "j");
    EXPECT_EQ(launch.timeout, 7s);
  }
}

TEST(Environment, RejectsIncompleteConventions) {
  const std::vector<std::pair<Variables, std::string>> halves{
      {without(ours, "TUTTI_SIZE"), "TUTTI_SIZE"},
      {without(ours, "TUTTI_RANK"), "TUTTI_RANK"},
      {without(ours, "TUTTI_ROOT"), "TUTTI_ROOT"},
      {without(torchrun, "WORLD_SIZE"), "WORLD_SIZE"},
      {without(torchrun, "RANK"), "RANK"},
      {without(torchrun, "MASTER_ADDR"), "MASTER_ADDR"},
      {without(torchrun, "MASTER_PORT"), "MASTER_PORT"},
      {without(open_mpi, "OMPI_COMM_WORLD_SIZE"), "OMPI_COMM_WORLD_SIZE"},
      {without(pmi, "PMI_SIZE"), "PMI_SIZE"},
      // Variables of tutti are not completed by those of torchrun.
      {with(torchrun, {{"TUTTI_RANK", "0"}}), "TUTTI_SIZE"},
  };
  for (const auto& [variables, name] : halves) {
    test::expect_error([&, half = variables] { (void)read(half); }, ErrorCode::invalid_argument,
                       name);
  }
}

TEST(Environment, NamesTheInvalidVariable) {
  const std::vector<std::pair<Variables, std::string>> wrong{
      {with(ours, {{"TUTTI_RANK", "4"}}), "TUTTI_RANK=4 is not below TUTTI_SIZE=4"},
      {with(ours, {{"TUTTI_RANK", "one"}}), "TUTTI_RANK=one"},
      {with(ours, {{"TUTTI_RANK", "-1"}}), "TUTTI_RANK=-1"},
      {with(ours, {{"TUTTI_RANK", "1 "}}), "TUTTI_RANK=1 "},
      {with(ours, {{"TUTTI_SIZE", "99999999999"}}), "TUTTI_SIZE=99999999999"},
      {with(ours, {{"TUTTI_SIZE", "0"}}), "TUTTI_SIZE=0"},
      {with(ours, {{"TUTTI_LOCAL_SIZE", "5"}}), "TUTTI_LOCAL_SIZE=5"},
      {with(ours, {{"TUTTI_LOCAL_SIZE", "2"}, {"TUTTI_LOCAL_RANK", "2"}}), "TUTTI_LOCAL_RANK=2"},
      {with(ours, {{"TUTTI_TIMEOUT", "0"}}), "TUTTI_TIMEOUT=0"},
      {with(ours, {{"TUTTI_TIMEOUT", "soon"}}), "TUTTI_TIMEOUT=soon"},
      {with(ours, {{"TUTTI_TIMEOUT", "nan"}}), "TUTTI_TIMEOUT=nan"},
      {with(ours, {{"TUTTI_RANK", "0"}, {"TUTTI_ROOT_FD", "x"}}), "TUTTI_ROOT_FD=x"},
      {with(torchrun, {{"MASTER_PORT", "http"}}), "MASTER_PORT=http"},
      {with(torchrun, {{"RANK", "8"}}), "RANK=8"},
      {with(slurm, {{"SLURM_PROCID", "x"}}), "SLURM_PROCID=x"},
      {with(pmi, {{"PMI_FD", "-3"}}), "PMI_FD=-3"},
  };
  for (const auto& [variables, part] : wrong) {
    test::expect_error([&, bad = variables] { (void)read(bad); }, ErrorCode::invalid_argument,
                       part);
  }
}

TEST(FirstHost, IsFoundInEveryList) {
  const std::vector<std::pair<std::string, std::string>> lists{
      {"node1", "node1"},
      {"node1,node2", "node1"},
      {"node[03-05,9]", "node03"},
      {"node[7,9-11],other", "node7"},
      {"a[1-2]-ib,b", "a1-ib"},
      {"rack[0-3]node[08-15]", "rack0node08"},
      {"rack[0,3]node[08,15]x,other", "rack0node08x"},
      {"n-1.example.org,n-2", "n-1.example.org"},
  };
  for (const auto& [list, host] : lists) EXPECT_EQ(first_host(list), host) << list;
  for (const std::string list : {"", ",a", "[", "a[", "a[]", "a[-3]", "a b", "a[1-2"}) {
    test::expect_error([&] { (void)first_host(list); }, ErrorCode::invalid_argument,
                       "SLURM_STEP_NODELIST=" + list);
  }
}

TEST(FirstHost, MayHaveManyRanges) {
  std::string list;
  std::string host;
  for (int i = 0; i < 200000; ++i) {
    list += "[7,8]";
    host += "7";
  }
  EXPECT_EQ(first_host(list), host);
}

}  // namespace
}  // namespace tutti
