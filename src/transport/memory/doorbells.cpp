#include "transport/memory/doorbells.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <tutti/error.hpp>

namespace tutti {
namespace {

constexpr int not_opened = -1;
constexpr int unreachable = -2;

}  // namespace

Doorbells::Doorbells() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Error(ErrorCode::unsupported, std::string("cannot create a wake-up pipe: ") +
                                            std::strerror(errno) +
                                            "; raise the limit of open files (ulimit -n)");
  }
  read_end_ = ends[0];
  write_end_ = ends[1];
}

Doorbells::~Doorbells() {
  close(read_end_);
  close(write_end_);
  for (const int fd : opened_) {
    if (fd >= 0) close(fd);
  }
}

Doorbells::Address Doorbells::address() const { return {.pid = getpid(), .fd = write_end_}; }

void Doorbells::set_addresses(std::vector<Address> addresses) {
  addresses_ = std::move(addresses);
  opened_.assign(addresses_.size(), not_opened);
}

void Doorbells::ring(std::uint32_t place) {
  const std::lock_guard lock(mutex_);
  int& fd = opened_[place];
  if (fd == not_opened) {
    const Address& address = addresses_[place];
    const std::string path =
        "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.fd);
    // O_RDWR, so that writing raises no SIGPIPE after the other process has ended.
    fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) fd = unreachable;  // The rank has ended, or wakes up after its nap.
  }
  constexpr char byte = 1;
  // If the pipe is full, its reader is awake or about to wake.
  if (fd >= 0) (void)!write(fd, &byte, 1);
}

void Doorbells::clear() const {
  std::array<char, 64> bytes{};
  while (read(read_end_, bytes.data(), bytes.size()) > 0) {
  }
}

}  // namespace tutti
