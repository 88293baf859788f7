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
    throw Error(ErrorCode::unsupported, std::string("no pipe to be woken by: ") +
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
    // For reading too, so that writing raises no SIGPIPE once the other process has ended.
    fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) fd = unreachable;  // It has ended, or wakes up by itself after its nap.
  }
  constexpr char ding = 1;
  // A full pipe wakes its reader just as well.
  if (fd >= 0) (void)!write(fd, &ding, 1);
}

void Doorbells::clear() const {
  std::array<char, 64> rung{};
  while (read(read_end_, rung.data(), rung.size()) > 0) {
  }
}

}  // namespace tutti
