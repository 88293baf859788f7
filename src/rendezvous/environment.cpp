#include "rendezvous/environment.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <system_error>

#include <tutti/error.hpp>

#include "core/decimal.hpp"
#include "core/hash.hpp"
#include "core/reject.hpp"

namespace tutti {
namespace {

/// Reads variables as text or as whole numbers. An empty variable counts as not set.
class Variables {
 public:
  explicit Variables(const Lookup& lookup) : lookup_(lookup) {}

  [[nodiscard]] std::optional<std::string> text(const char* variable) const {
    std::optional<std::string> value = lookup_(variable);
    return value && value->empty() ? std::nullopt : value;
  }

  [[nodiscard]] bool has(const char* variable) const { return text(variable).has_value(); }

  [[nodiscard]] std::string text_or(const char* variable, const std::string& fallback) const {
    return text(variable).value_or(fallback);
  }

  [[nodiscard]] std::optional<std::uint32_t> number(const char* variable,
                                                    std::uint32_t most) const {
    const std::optional<std::string> value = text(variable);
    if (!value) return std::nullopt;
    std::uint32_t number = 0;
    const char* const end = value->data() + value->size();
    const auto [read, error] = std::from_chars(value->data(), end, number);
    if (error != std::errc{} || read != end || number > most) {
      reject(std::string(variable) + "=" + *value + " is not a whole number from 0 to " +
             std::to_string(most));
    }
    return number;
  }

 private:
  const Lookup& lookup_;
};

constexpr std::uint32_t most_ranks = 1U << 24;
constexpr std::uint32_t most_port = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint32_t most_fd = std::numeric_limits<int>::max();

/// The names of a launcher's variables. Null if it has no such variable.
struct Names {
  Launch::How how;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

constexpr Names tutti_names{Launch::How::tutti, "TUTTI_RANK", "TUTTI_SIZE", "TUTTI_LOCAL_RANK",
                            "TUTTI_LOCAL_SIZE"};
constexpr Names torchrun_names{Launch::How::torchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK",
                               "LOCAL_WORLD_SIZE"};
constexpr Names open_mpi_names{Launch::How::open_mpi, "OMPI_COMM_WORLD_RANK",
                               "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                               "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names slurm_names{Launch::How::slurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
                            "SLURM_LOCALID", nullptr};
constexpr Names slurm_old_names{Launch::How::slurm, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
                                nullptr};
constexpr Names pmi_names{Launch::How::pmi, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
                          "MPI_LOCALNRANKS"};

/// The convention of the environment. One of its two variables is enough: read_place() reports the
/// missing one.
std::optional<Names> names_in(const Variables& variables) {
  const auto either = [&](const Names& names) {
    return variables.has(names.rank) || variables.has(names.size);
  };
  if (either(tutti_names)) return tutti_names;
  if (either(torchrun_names)) return torchrun_names;
  if (either(open_mpi_names)) return open_mpi_names;
  // In a batch script, outside of any step, SLURM_PROCID is 0 and names no task. Under Hydra it
  // counts Hydra's own proxies.
  if (variables.has("SLURM_STEP_ID") && !variables.has("HYDI_CONTROL_FD") &&
      variables.has("SLURM_PROCID")) {
    return variables.has("SLURM_STEP_NUM_TASKS") ? slurm_names : slurm_old_names;
  }
  if (either(pmi_names)) return pmi_names;
  return std::nullopt;
}

void check_place(const char* rank_name, std::uint32_t rank, const char* size_name,
                 std::uint32_t size) {
  if (size == 0) reject(std::string(size_name) + "=0 is too small: this process is a rank itself");
  if (rank >= size) {
    reject(std::string(rank_name) + "=" + std::to_string(rank) + " is not below " + size_name +
           "=" + std::to_string(size) + ": ranks count from 0");
  }
}

void read_place(const Variables& variables, const Names& names, Launch& launch) {
  const auto rank = variables.number(names.rank, most_ranks);
  const auto size = variables.number(names.size, most_ranks);
  if (!rank || !size) {
    const char* const given = rank ? names.rank : names.size;
    const char* const missing = rank ? names.size : names.rank;
    reject(std::string(given) + "=" + *variables.text(given) + " is set, but " + missing +
           " is not: set both or none");
  }
  check_place(names.rank, *rank, names.size, *size);
  launch.how = names.how;
  launch.rank = Rank(*rank);
  launch.size = *size;
  launch.local_rank = variables.number(names.local_rank, most_ranks);
  if (names.local_size == nullptr) return;
  launch.local_size = variables.number(names.local_size, most_ranks);
  if (launch.local_size && *launch.local_size > *size) {
    reject(std::string(names.local_size) + "=" + std::to_string(*launch.local_size) +
           " is more than " + names.size + "=" + std::to_string(*size));
  }
  if (launch.local_size && launch.local_rank) {
    check_place(names.local_rank, *launch.local_rank, names.local_size, *launch.local_size);
  }
}

/// Replaces spaces and non-ASCII characters: a job name is one word in the greeting.
std::string one_word(std::string text) {
  constexpr std::size_t longest = 96;
  if (text.size() > longest) text.resize(longest);
  for (char& character : text) {
    if (character <= ' ' || character > '~') character = '_';
  }
  return text;
}

/// A socket name on this host, unique to the job. Long details are hashed.
std::string place(const std::string& convention, const std::string& details) {
  constexpr std::size_t longest = 48;
  const bool fits = details.size() <= longest;
  return convention + "/" + (fits ? details : std::to_string(hash_of(details)));
}

void read_root(const std::string& value, Launch& launch) {
  const std::size_t colon = value.rfind(':');
  std::string host = value.substr(0, colon);
  std::uint32_t port = 0;
  const char* const end = value.data() + value.size();
  const auto [read, error] = colon == std::string::npos
                                 ? std::from_chars_result{end, std::errc::invalid_argument}
                                 : std::from_chars(value.data() + colon + 1, end, port);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool is_bare_ipv6 = !bracketed && host.find(':') != std::string::npos;
  if (error != std::errc{} || read != end || port == 0 || port > most_port || host.empty() ||
      is_bare_ipv6) {
    reject("TUTTI_ROOT=" + value + " is not host:port: write it as node1:29500 or [fd00::1]:29500");
  }
  if (bracketed) host = host.substr(1, host.size() - 2);
  launch.root_host = host;
  launch.root_port = static_cast<std::uint16_t>(port);
}

bool all_on_one_host(const Launch& launch) { return launch.local_size == launch.size; }

// The address of rank 0, by convention
// --------------------------------------------------------------

void find_torchrun_root(const Variables& variables, Launch& launch) {
  const auto host = variables.text("MASTER_ADDR");
  const auto port = variables.number("MASTER_PORT", most_port);
  if (!host || !port || *port == 0) {
    reject(std::string("RANK and WORLD_SIZE are set, but ") +
           (host ? "MASTER_PORT" : "MASTER_ADDR") +
           " is not: set it, or TUTTI_ROOT, to the address of rank 0");
  }
  const std::string run = variables.text_or("TORCHELASTIC_RUN_ID", "none");
  launch.job = one_word(run);
  if (all_on_one_host(launch)) {
    launch.root_name = place("torchrun", *host + ":" + std::to_string(*port) + "/" + run + "/" +
                                             variables.text_or("TORCHELASTIC_RESTART_COUNT", "0"));
    return;
  }
  // Torchrun's agent listens at that port for its own store, as long as the job runs.
  const bool is_taken = variables.text_or("TORCHELASTIC_USE_AGENT_STORE", "") == "True";
  if (is_taken && *port == most_port) {
    reject(
        "MASTER_PORT=65535 leaves no port above it for tutti: choose a lower one, or set "
        "TUTTI_ROOT");
  }
  launch.root_host = *host;
  launch.root_port = static_cast<std::uint16_t>(*port + (is_taken ? 1 : 0));
}

void find_open_mpi_root(const Variables& variables, Launch& launch) {
  const std::string job =
      variables.text_or("PMIX_NAMESPACE", variables.text_or("OMPI_MCA_ess_base_jobid", ""));
  if (!all_on_one_host(launch)) {
    reject(
        "Open MPI's mpirun does not give the address of rank 0: set TUTTI_ROOT=host:port, with "
        "the host of rank 0, and TUTTI_SECRET (mpirun -x TUTTI_ROOT -x TUTTI_SECRET)");
  }
  if (job.empty()) {
    reject(
        "OMPI_COMM_WORLD_RANK is set, but neither PMIX_NAMESPACE nor OMPI_MCA_ess_base_jobid, "
        "which name the job: set TUTTI_ROOT=127.0.0.1:port");
  }
  launch.job = one_word(job);
  // A job number may be reused; the address of its launcher is unique among running jobs.
  const std::string launcher =
      variables.text_or("PMIX_SERVER_URI2", variables.text_or("OMPI_MCA_orte_hnp_uri", ""));
  launch.root_name = place("open-mpi", job + "/" + std::to_string(hash_of(launcher)));
}

void find_slurm_root(const Variables& variables, Launch& launch) {
  const auto job = variables.text("SLURM_JOB_ID");
  if (!job) reject("SLURM_PROCID is set, but SLURM_JOB_ID is not: set TUTTI_ROOT=host:port");
  const std::string step = *job + "." + variables.text_or("SLURM_STEP_ID", "0");
  launch.job = one_word(step);
  const auto nodes = variables.number("SLURM_STEP_NUM_NODES", most_ranks);
  if (nodes == 1U) {
    launch.local_size = launch.size;
    launch.root_name = place("slurm", step);
    return;
  }
  const auto list = variables.text("SLURM_STEP_NODELIST");
  if (!list) {
    reject("SLURM_PROCID is set, but SLURM_STEP_NODELIST is not: set TUTTI_ROOT=host:port");
  }
  launch.root_host = first_host(*list);
  // Below the ephemeral ports of Linux.
  constexpr std::uint64_t first_port = 20000;
  constexpr std::uint64_t ports = 12000;
  launch.root_port = static_cast<std::uint16_t>(first_port + hash_of(step) % ports);
}

void find_pmi(const Variables& variables, Launch& launch) {
  const auto fd = variables.number("PMI_FD", most_fd);
  if (!fd) {
    reject(
        "PMI_RANK and PMI_SIZE are set, but PMI_FD is not: tutti cannot reach this launcher; set "
        "TUTTI_ROOT=host:port");
  }
  launch.pmi_fd = static_cast<int>(*fd);
}

void find_root(const Variables& variables, Launch& launch) {
  if (launch.rank == Rank(0)) {
    if (const auto fd = variables.number("TUTTI_ROOT_FD", most_fd)) {
      launch.root_fd = static_cast<int>(*fd);
    }
  }
  if (const auto root = variables.text("TUTTI_ROOT")) {
    read_root(*root, launch);
    return;
  }
  switch (launch.how) {
    case Launch::How::alone:
      return;
    case Launch::How::tutti:
      if (launch.root_fd) return;
      reject(
          "TUTTI_RANK and TUTTI_SIZE are set, but TUTTI_ROOT is not: set it to the host:port where "
          "rank 0 listens");
    case Launch::How::torchrun:
      return find_torchrun_root(variables, launch);
    case Launch::How::open_mpi:
      return find_open_mpi_root(variables, launch);
    case Launch::How::slurm:
      return find_slurm_root(variables, launch);
    case Launch::How::pmi:
      return find_pmi(variables, launch);
  }
}

std::chrono::nanoseconds read_timeout(const std::string& value) {
  double seconds = 0;
  const char* const end = value.data() + value.size();
  const auto [read, error] = read_decimal(value.data(), end, seconds);
  constexpr double most = 1e7;
  if (error != std::errc{} || read != end || !std::isfinite(seconds) || seconds <= 0 ||
      seconds > most) {
    reject("TUTTI_TIMEOUT=" + value + " is not a number of seconds above 0, up to 10000000");
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

std::string_view name(Launch::How how) {
  switch (how) {
    case Launch::How::alone:
      return "alone";
    case Launch::How::tutti:
      return "tutti";
    case Launch::How::torchrun:
      return "torchrun";
    case Launch::How::open_mpi:
      return "Open MPI";
    case Launch::How::slurm:
      return "Slurm";
    case Launch::How::pmi:
      return "PMI";
  }
  return "unknown";
}

std::optional<std::string> environment_variable(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Launch read_environment(const Lookup& lookup) {
  const Variables variables(lookup);
  Launch launch;
  if (const auto names = names_in(variables)) read_place(variables, *names, launch);
  // A single rank needs no TLS, and may be about to start ranks with a secret of their own.
  launch.secret = Secret::from_variables(variables.text_or("TUTTI_SECRET", ""),
                                         launch.size > 1 ? variables.text_or("TUTTI_TLS", "") : "");
  if (const auto timeout = variables.text("TUTTI_TIMEOUT")) launch.timeout = read_timeout(*timeout);
  if (launch.size > 1) find_root(variables, launch);
  if (const auto job = variables.text("TUTTI_JOB")) launch.job = one_word(*job);
  return launch;
}

std::string first_host(std::string_view nodelist) {
  std::string host;
  std::string_view rest = nodelist;
  while (!rest.empty() && rest.front() != ',') {
    const std::size_t end = std::min(rest.find_first_of("[,"), rest.size());
    host += rest.substr(0, end);
    rest.remove_prefix(end);
    if (rest.empty() || rest.front() == ',') break;
    const std::size_t close = std::min(rest.find(']'), rest.size());
    const std::string_view numbers = close < rest.size() ? rest.substr(1, close - 1) : "";
    const std::string_view first = numbers.substr(0, numbers.find_first_of(",-"));
    if (first.empty()) {
      host.clear();
      break;
    }
    host += first;
    rest.remove_prefix(close + 1);
  }
  const auto is_invalid = [](char character) { return character <= ' ' || character > '~'; };
  if (host.empty() || std::any_of(host.begin(), host.end(), is_invalid)) {
    reject("SLURM_STEP_NODELIST=" + std::string(nodelist) + " has no first host");
  }
  return host;
}

}  // namespace tutti
