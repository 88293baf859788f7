#include "peers/relay.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace peers {
namespace {

std::runtime_error failure(const std::string& what) {
  return std::runtime_error("relay: cannot " + what + ": " + std::strerror(errno));
}

std::string pipe_of(const std::string& folder, int rank) {
  return folder + "/" + std::to_string(rank);
}

std::string make_pipes(int ranks) {
  std::string folder = "/tmp/peers.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw failure("make a folder in /tmp");
  for (int rank = 1; rank < ranks; ++rank) {
    if (mkfifo(pipe_of(folder, rank).c_str(), 0600) != 0) throw failure("make a pipe");
  }
  return folder;
}

/// Blocks until the other end is open, too.
std::FILE* open_pipe(const std::string& path, const char* mode) {
  std::FILE* const file = std::fopen(path.c_str(), mode);
  if (file == nullptr) throw failure("open " + path);
  return file;
}

}  // namespace

Relay::Relay(Peer& peer) {
  std::string folder;
  if (peer.rank() == 0) folder = make_pipes(peer.ranks());
  folder.resize(std::strlen("/tmp/peers.XXXXXX"));
  peer.share(folder);
  if (peer.rank() != 0) {
    source_ = open_pipe(pipe_of(folder, peer.rank()), "r");
    return;
  }
  // The next barrier detects a dead rank; SIGPIPE must not end this one.
  std::signal(SIGPIPE, SIG_IGN);
  source_ = stdin;
  for (int rank = 1; rank < peer.ranks(); ++rank) {
    copies_.push_back(open_pipe(pipe_of(folder, rank), "w"));
    unlink(pipe_of(folder, rank).c_str());
  }
  rmdir(folder.c_str());
}

Relay::~Relay() {
  for (std::FILE* const copy : copies_) std::fclose(copy);
  if (source_ != stdin) std::fclose(source_);
}

bool Relay::next(std::string& line) {
  line.clear();
  int c = 0;
  while ((c = std::fgetc(source_)) != EOF && c != '\n') line.push_back(static_cast<char>(c));
  if (c == EOF) return false;
  for (std::FILE* const copy : copies_) {
    std::fprintf(copy, "%s\n", line.c_str());
    std::fflush(copy);
  }
  return true;
}

}  // namespace peers
