#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <tutti/error.hpp>

#include "core/file_size_guard.hpp"
#include "core/random_bytes.hpp"
#include "core/system_reason.hpp"

namespace tutti {
namespace {

/// The first page holds the token.
constexpr std::size_t token_page = 4096;
constexpr std::size_t token_bytes = 32;

[[noreturn]] void refuse(const std::string& what, int cause) {
  throw Error(ErrorCode::unsupported, what + ": " + system_reason(cause));
}

void* map(int fd, std::size_t bytes) {
  return mmap(nullptr, token_page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

}  // namespace

Segment Segment::create(std::size_t bytes) {
  const int fd = memfd_create("tutti", MFD_CLOEXEC);
  if (fd < 0) refuse("cannot create shared memory", errno);
  Segment segment({.pid = getpid(), .fd = fd, .bytes = bytes, .token = random_hex(token_bytes / 2)},
                  nullptr);
  fchmod(fd, S_IRUSR | S_IWUSR);
  const auto size = static_cast<off_t>(token_page + bytes);
  const FileSizeGuard guard;
  if (ftruncate(fd, size) != 0) {
    refuse("no room for " + std::to_string(bytes) + " bytes of shared memory", errno);
  }
  void* const mapping = map(fd, bytes);
  if (mapping == MAP_FAILED) refuse("cannot map shared memory", errno);
  segment.mapping_ = mapping;
  std::memcpy(mapping, segment.address_.token.data(), token_bytes);
  return segment;
}

Segment Segment::open(const Address& address) {
  const std::string path =
      "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.fd);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) refuse("cannot open " + path, errno);
  Segment segment(address, nullptr);
  segment.address_.fd = fd;
  struct stat facts {};
  if (address.token.size() != token_bytes || fstat(fd, &facts) != 0 ||
      static_cast<std::size_t>(facts.st_size) != token_page + address.bytes) {
    refuse(path + " is not the expected segment", EINVAL);
  }
  void* const mapping = map(fd, address.bytes);
  if (mapping == MAP_FAILED) refuse("cannot map " + path, errno);
  segment.mapping_ = mapping;
  if (std::memcmp(mapping, address.token.data(), token_bytes) != 0) {
    refuse(path + " is not the expected segment", EINVAL);
  }
  segment.close_door();
  return segment;
}

Segment::~Segment() {
  close_door();
  if (mapping_ != nullptr) munmap(mapping_, token_page + address_.bytes);
}

std::byte* Segment::data() const { return static_cast<std::byte*>(mapping_) + token_page; }

void Segment::close_door() {
  if (address_.fd >= 0) close(address_.fd);
  address_.fd = -1;
}

}  // namespace tutti
