#include "transport/inproc/thread_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <tutti/error.hpp>

namespace tutti {

ThreadMemory::ThreadMemory(std::size_t bytes) : bytes_(bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    throw Error(ErrorCode::unsupported, "no room for " + std::to_string(bytes) +
                                            " bytes shared by threads: " + std::strerror(errno));
  }
  data_ = static_cast<std::byte*>(data);
}

ThreadMemory::~ThreadMemory() { munmap(data_, bytes_); }

}  // namespace tutti
