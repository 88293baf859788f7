#include "versus/command.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "cli/console/own_program.hpp"
#include "core/cores.hpp"
#include "core/nearest.hpp"
#include "core/reject.hpp"

namespace tutti::cli {
namespace {

using Words = std::vector<std::string>;

void set_mca(Words& command, const std::string& name, const std::string& value) {
  command.insert(command.end(), {"--mca", name, value});
}

bool has(const Contender& contender, std::string_view word) {
  return std::find(contender.words.begin(), contender.words.end(), word) != contender.words.end();
}

[[noreturn]] void refuse_word(const std::string& word, Library library,
                              const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view each : known) list += " " + std::string(each);
  reject("'" + word + "' is no setting of " + std::string(name(library)) + "." +
         did_you_mean(word, known) + " There are:" + list + ", in_place, and all.");
}

/// The algorithm can be set only for allreduce.
void set_openmpi_word(Words& command, const std::string& word) {
  static const std::map<std::string, std::string, std::less<>> algorithms{
      {"recursive_doubling", "3"}, {"ring", "4"}, {"segmented_ring", "5"}, {"rabenseifner", "6"}};
  if (word == "yield0" || word == "yield1") {
    set_mca(command, "mpi_yield_when_idle", word.substr(5));
  } else if (word == "nocma") {
    set_mca(command, "btl_vader_single_copy_mechanism", "none");
  } else if (word == "coll_sm") {
    set_mca(command, "coll_sm_priority", "100");
  } else if (const auto at = algorithms.find(word); at != algorithms.end()) {
    set_mca(command, "coll_tuned_use_dynamic_rules", "1");
    set_mca(command, "coll_tuned_allreduce_algorithm", at->second);
  } else if (word != "ucx") {
    refuse_word(word, Library::openmpi,
                {"yield0", "yield1", "ucx", "nocma", "coll_sm", "recursive_doubling", "ring",
                 "segmented_ring", "rabenseifner"});
  }
}

/// Binds each rank to a core if there are enough cores.
std::string binding(const VersusField& field) {
  return field.ranks <= allowed_cores().size() ? "core" : "none";
}

VersusCommand openmpi_command(const Contender& contender, const VersusField& field) {
  Words command{"mpirun.openmpi",
                "--allow-run-as-root",
                "--oversubscribe",
                "--bind-to",
                binding(field),
                "-np",
                std::to_string(field.ranks)};
  if (has(contender, "ucx")) {
    // Without an RDMA device, Open MPI uses UCX only if any device is allowed.
    set_mca(command, "pml", "ucx");
    set_mca(command, "opal_common_ucx_tls", "any");
    set_mca(command, "opal_common_ucx_devices", "any");
    command.insert(command.end(), {"-x", field.tcp ? "UCX_TLS=self,tcp" : "UCX_TLS=self,sm"});
    if (field.tcp) command.insert(command.end(), {"-x", "UCX_NET_DEVICES=lo"});
  } else {
    set_mca(command, "pml", "ob1");
    set_mca(command, "btl", field.tcp ? "tcp,self" : "vader,self");
    if (field.tcp) set_mca(command, "btl_tcp_if_include", "lo");
  }
  for (const std::string& word : contender.words) set_openmpi_word(command, word);
  return {.words = std::move(command)};
}

VersusCommand mpich_command(const Contender& contender, const VersusField& field) {
  VersusCommand command{
      .words = {"mpiexec.hydra", "-bind-to", binding(field), "-n", std::to_string(field.ranks)}};
  if (field.tcp) {
    command.variables = {
        {"MPIR_CVAR_NOLOCAL", "1"}, {"UCX_TLS", "self,tcp"}, {"UCX_NET_DEVICES", "lo"}};
  }
  for (const std::string& word : contender.words) {
    if (word != "recursive_doubling" && word != "reduce_scatter_allgather") {
      refuse_word(word, Library::mpich, {"recursive_doubling", "reduce_scatter_allgather"});
    }
    command.variables.emplace_back("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", word);
  }
  return command;
}

/// Intel MPI's launcher and its variables, which programs with oneCCL use too. `folder` is the one
/// of the programs, into which ./dev peers installs Intel's libraries.
VersusCommand intel_command(const VersusField& field, const std::string& folder) {
  const std::string home = folder + "/intel";
  VersusCommand command{.words = {home + "/bin/mpiexec.hydra", "-n", std::to_string(field.ranks)},
                        .variables = {{"I_MPI_ROOT", home},
                                      // libfabric and its providers, before those of the system.
                                      {"LD_LIBRARY_PATH", home + "/lib"},
                                      {"FI_PROVIDER_PATH", home + "/lib"}}};
  const auto set = [&](const char* variable, const char* value) {
    command.variables.emplace_back(variable, value);
  };
  if (binding(field) == "core") {
    set("I_MPI_PIN_DOMAIN", "core");
  } else {
    set("I_MPI_PIN", "0");
  }
  set("I_MPI_FABRICS", field.tcp ? "ofi" : "shm");
  if (field.tcp) {
    set("FI_PROVIDER", "tcp");
    set("FI_TCP_IFACE", "lo");
    // Within a host, short collectives would use shared memory in spite of the fabric.
    set("I_MPI_COLL_INTRANODE", "pt2pt");
  }
  return command;
}

VersusCommand intelmpi_command(const Contender& contender, const VersusField& field,
                               const std::string& folder) {
  static const std::map<std::string, std::string, std::less<>> algorithms{
      {"recursive_doubling", "1"}, {"rabenseifner", "2"}, {"ring", "8"}};
  VersusCommand command = intel_command(field, folder);
  for (const std::string& word : contender.words) {
    if (word == "yield") {
      command.variables.emplace_back("I_MPI_THREAD_YIELD", "2");  // sched_yield
    } else if (word == "wait") {
      command.variables.emplace_back("I_MPI_WAIT_MODE", "1");
    } else if (const auto at = algorithms.find(word); at != algorithms.end()) {
      command.variables.emplace_back("I_MPI_ADJUST_ALLREDUCE", at->second);
    } else {
      refuse_word(word, Library::intelmpi,
                  {"yield", "wait", "recursive_doubling", "rabenseifner", "ring"});
    }
  }
  return command;
}

/// oneCCL's default here is MPI as its transport.
VersusCommand oneccl_command(const Contender& contender, const VersusField& field,
                             const std::string& folder) {
  const std::vector<std::string_view> known{"ofi",          "worker", "recursive_doubling",
                                            "rabenseifner", "ring",   "nreduce"};
  VersusCommand command = intel_command(field, folder);
  const auto set = [&](const char* variable, const std::string& value) {
    command.variables.emplace_back(variable, value);
  };
  set("CCL_LOG_LEVEL", "error");
  set("CCL_ATL_TRANSPORT", has(contender, "ofi") ? "ofi" : "mpi");
  if (has(contender, "ofi") && !field.tcp) {
    set("CCL_ATL_SHM", "1");
    set("FI_PROVIDER", "tcp");  // To meet; data goes through shared memory.
  }
  // By default every rank has a thread that makes progress, and spins, beside the one that waits.
  set("CCL_WORKER_OFFLOAD", has(contender, "worker") ? "1" : "0");
  if (has(contender, "worker")) {
    set("CCL_SPIN_COUNT", "1");
    set("CCL_YIELD", "sched_yield");
  }
  for (const std::string& word : contender.words) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      refuse_word(word, Library::oneccl, known);
    if (word != "ofi" && word != "worker") set("CCL_ALLREDUCE", word);
  }
  return command;
}

/// The arguments of the program itself.
Words gloo_words(const Contender& contender, const VersusField& field) {
  const std::vector<std::string_view> algorithms{"ring", "bcube", "ring_chunked",
                                                 "halving_doubling"};
  Words words{"--ranks", std::to_string(field.ranks)};
  for (const std::string& word : contender.words) {
    if (word == "sync_busy") {
      words.emplace_back("--sync-busy");
    } else if (std::find(algorithms.begin(), algorithms.end(), word) != algorithms.end()) {
      words.insert(words.end(), {"--algorithm", word});
    } else {
      refuse_word(word, Library::gloo,
                  {"ring", "bcube", "ring_chunked", "halving_doubling", "sync_busy"});
    }
  }
  return words;
}

/// tutti is started by `tutti run`. Its setting "private" is a kind of memory, "prepared" a kind of
/// call, others are algorithms.
VersusCommand tutti_command(const Contender& contender, const VersusField& field) {
  VersusCommand command{
      .words = {(build_folder() / "tutti").string(), "run", "-n", std::to_string(field.ranks),
                "--bind", binding(field), "--no-prefix", "--"},
      .variables = {{"TUTTI_TRANSPORT", field.tcp ? "tcp" : "shm"}}};
  for (const std::string& word : contender.words) {
    if (word == "private") {
      command.variables.emplace_back("TUTTI_BENCH_MEMORY", word);
    } else if (word == "prepared") {
      command.variables.emplace_back("TUTTI_BENCH_CALLS", word);
    } else {
      command.variables.emplace_back("TUTTI_BENCH_ALGORITHM", word);
    }
  }
  return command;
}

}  // namespace

std::filesystem::path build_folder() {
  return std::filesystem::path(own_program()).parent_path().parent_path();
}

VersusCommand command_of(const Contender& contender, const VersusField& field,
                         const std::string& folder) {
  VersusCommand command;
  if (contender.is_tutti()) command = tutti_command(contender, field);
  if (contender.library == Library::openmpi) command = openmpi_command(contender, field);
  if (contender.library == Library::mpich) command = mpich_command(contender, field);
  if (contender.library == Library::intelmpi) command = intelmpi_command(contender, field, folder);
  if (contender.library == Library::oneccl) command = oneccl_command(contender, field, folder);
  command.words.push_back(folder + "/" + std::string(name(contender.library)));
  if (contender.library == Library::direct)
    command.words.insert(command.words.end(), {"--ranks", std::to_string(field.ranks)});
  if (contender.library == Library::gloo) {
    const Words words = gloo_words(contender, field);
    command.words.insert(command.words.end(), words.begin(), words.end());
  }
  command.words.insert(command.words.end(),
                       {"measure", "--follow", "--settings", contender.setting()});
  return command;
}

}  // namespace tutti::cli
