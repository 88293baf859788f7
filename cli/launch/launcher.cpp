#include "cli/launch/launcher.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include <tutti/error.hpp>

#include "cli/launch/watch.hpp"
#include "core/cores.hpp"
#include "core/random_bytes.hpp"

namespace tutti::cli {
namespace {

constexpr int cannot_execute = 126;
constexpr int not_found = 127;

[[noreturn]] void reject(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what + ": " + std::generic_category().message(errno));
}

/// If a standard file is closed, a new pipe could get its number and be mistaken for it.
void open_standard_files() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

}  // namespace

Launcher::Launcher(const Job& job) : job_(job) {
  open_standard_files();
  // Those that are ignored on entry stay ignored, here and in the ranks, as nohup expects.
  signals_.emplace(std::initializer_list<int>{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                                              SIGCONT, SIGTSTP, SIGCHLD});
  ::signal(SIGPIPE, SIG_IGN);
  crew_.emplace(*signals_);
  input_.prepare();
  raise_file_limit();
  null_ = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_) reject("cannot open /dev/null");
  if (job.binding == Binding::core) cores_ = allowed_cores();
  if (job.binding == Binding::share) cores_ = core_shares(job.ranks);
  open_root();
  prepare_environment();
}

void Launcher::raise_file_limit() {
  const rlim_t needed = 64 + rlim_t{job_.ranks} * (job_.output.empty() ? 2 : 4);
  rlimit raised = signals_->inheritance().files;
  if (raised.rlim_cur >= needed) return;
  raised.rlim_cur = std::min(needed, raised.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &raised);
  if (raised.rlim_cur >= needed) return;
  throw Error(ErrorCode::invalid_argument,
              std::to_string(job_.ranks) + " ranks need " + std::to_string(needed) +
                  " open files, and only " + std::to_string(raised.rlim_max) +
                  " are allowed; raise the limit (ulimit -Hn) or start fewer ranks");
}

/// Opens the socket at which the ranks find each other. It listens before any rank starts, so that
/// no other process can take the port and no rank connects too early.
void Launcher::open_root() {
  root_socket_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!root_socket_ || ::bind(root_socket_.number(), generic, length) != 0 ||
      ::listen(root_socket_.number(), SOMAXCONN) != 0 ||
      ::getsockname(root_socket_.number(), generic, &length) != 0) {
    reject("cannot listen on 127.0.0.1");
  }
  root_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

void Launcher::prepare_environment() {
  environment_ = Environment::own();
  for (const auto& [name, value] : job_.variables) environment_.set(name, value);
  if (environment_.value("TUTTI_SECRET").empty()) environment_.set("TUTTI_SECRET", random_hex(32));
  environment_.set("TUTTI_JOB", random_hex(8));
  environment_.set("TUTTI_ROOT", root_);
  environment_.set("TUTTI_SIZE", std::to_string(job_.ranks));
  environment_.set("TUTTI_LOCAL_SIZE", std::to_string(job_.ranks));
  environment_.remove("TUTTI_ROOT_FD");
}

Environment Launcher::environment(std::uint32_t rank) const {
  Environment environment = environment_;
  environment.set("TUTTI_RANK", std::to_string(rank));
  environment.set("TUTTI_LOCAL_RANK", std::to_string(rank));
  if (rank == 0) environment.set("TUTTI_ROOT_FD", std::to_string(root_socket_.number()));
  return environment;
}

int Launcher::run() {
  RankOutput output(job_);
  const int refused = start_all(output);
  if (refused != 0) return refused;
  input_.start();
  output.start();
  return Watch(job_, *crew_, output, *signals_).run();
}

int Launcher::start_all(RankOutput& output) {
  const ProgramFile program = find_program(job_.command.front());
  if (program.error != 0) return refuse(program.path, program.error);
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    const int refused = start(rank, program.path, output);
    if (refused != 0) return refused;
    // Closed here, so that connections are refused once rank 0 is gone.
    if (rank == 0) root_socket_.close();
  }
  return 0;
}

int Launcher::start(std::uint32_t rank, const std::string& path, RankOutput& output) {
  const RankOutput::Ends ends = output.add(rank);
  const int error =
      crew_->start({.path = path,
                    .words = job_.command,
                    .environment = environment(rank),
                    .in = rank == 0 ? input_.end() : null_.number(),
                    .out = ends.out.number(),
                    .err = ends.err.number(),
                    .kept = rank == 0 ? root_socket_.number() : -1,
                    .cpus = cores_.empty() ? nullptr : &cores_[rank % cores_.size()]});
  return error == 0 ? 0 : refuse(path, error);
}

int Launcher::refuse(const std::string& path, int error) {
  // The ranks that did start are ended without a message: their peers are missing.
  crew_->signal(SIGKILL);
  while (crew_->alive() > 0) {
    ::poll(nullptr, 0, 1);
    (void)crew_->reap();
  }
  std::string why = std::generic_category().message(error);
  int code = cannot_execute;
  if (error == ENOENT && ::access(path.c_str(), F_OK) == 0) {
    why = "its interpreter (#!) does not exist";
  } else if (error == ENOENT || error == ENOTDIR) {
    code = not_found;
  } else if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE) {
    code = Watch::launcher_failed;
    why += "; start fewer ranks, or raise the limit (ulimit -u)";
  }
  std::fprintf(stderr, "%s: cannot start '%s': %s\n", job_.speaker.c_str(),
               job_.command.front().c_str(), why.c_str());
  return code;
}

}  // namespace tutti::cli
