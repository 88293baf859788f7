// malloc for LD_PRELOAD: longer blocks are shared memory, so that a program that knows nothing of
// it has its data where the other ranks of the host reach it in place. The C library serves all
// others, and what the program allocates before this library is ready.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <tutti/export.hpp>
#include <tutti/memory.hpp>

#include "core/quantity.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of the C library.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {

constexpr std::size_t page = 4096;
/// A block takes whole pages, so that shorter ones would waste memory.
constexpr std::size_t usual_shortest = page;
/// From this size on, calloc gives fresh pages, which take no memory until they are used.
constexpr std::size_t fresh_from = std::size_t{1} << 20;

/// The shortest block that is shared memory.
std::atomic<std::size_t> shortest{std::numeric_limits<std::size_t>::max()};

/// True while this thread is in the library, which allocates, too. In the thread's own block of the
/// loader, since other storage would be allocated when it is first used.
[[gnu::tls_model("initial-exec")]] thread_local bool is_inside = false;

class Inside {
 public:
  Inside() { is_inside = true; }
  ~Inside() { is_inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// Other threads wait while the library prepares a fork; this one must not wait for itself.
void enter_fork() { is_inside = true; }
void leave_fork() { is_inside = false; }

/// Handlers that prepare a fork run in the reverse order, so that this one comes before the
/// library's, which its first block registers.
void register_handlers() {
  tutti::deallocate(tutti::allocate(1));
  // Blocks of a program are its ordinary memory: a child must see all of them as they were.
  tutti::set_fork_copy(std::numeric_limits<std::uint64_t>::max());
  pthread_atfork(enter_fork, leave_fork, leave_fork);
}

/// Null if the C library is to serve the request.
void* shared(std::size_t bytes) noexcept {
  if (bytes < shortest.load(std::memory_order_relaxed) || is_inside) return nullptr;
  const Inside inside;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  try {
    pthread_once(&once, register_handlers);
    return tutti::allocate_uninitialized(bytes);
  } catch (...) {
    return nullptr;
  }
}

/// 0 unless the block is shared memory.
std::size_t shared_bytes(const void* memory) noexcept {
  // Blocks of shared memory begin on pages.
  if (reinterpret_cast<std::uintptr_t>(memory) % page != 0) return 0;
  return tutti::allocated_bytes(memory);
}

void release_shared(void* memory) noexcept {
  const int error = errno;
  const bool was_inside = is_inside;
  is_inside = true;
  try {
    tutti::deallocate(memory);
  } catch (...) {
    std::abort();  // It was freed before: the program's memory is damaged.
  }
  is_inside = was_inside;
  errno = error;
}

std::size_t usable_bytes(void* memory) {
  using Function = std::size_t (*)(void*);
  static const auto of_c_library =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  const std::size_t bytes = shared_bytes(memory);
  return bytes > 0 ? bytes : of_c_library(memory);
}

void* aligned(std::size_t alignment, std::size_t bytes) {
  void* const memory = alignment <= page ? shared(bytes) : nullptr;
  return memory != nullptr ? memory : __libc_memalign(alignment, bytes);
}

/// Runs when the libraries that this one needs are ready.
[[gnu::constructor]] void begin() {
  const char* const text = std::getenv("TUTTI_MALLOC");
  std::size_t from = usual_shortest;
  if (text != nullptr && *text != '\0') {
    try {
      from = std::strcmp(text, "off") == 0 ? std::numeric_limits<std::size_t>::max()
                                           : tutti::parse_bytes(text);
    } catch (...) {
      constexpr char error[] = "tutti: TUTTI_MALLOC is neither off nor a size, such as 64KiB\n";
      (void)!write(STDERR_FILENO, error, sizeof error - 1);
      _exit(2);
    }
  }
  shortest = std::max(from, usual_shortest);
}

}  // namespace

extern "C" {

TUTTI_API void* malloc(std::size_t bytes) {
  void* const memory = shared(bytes);
  return memory != nullptr ? memory : __libc_malloc(bytes);
}

TUTTI_API void free(void* memory) {
  if (memory == nullptr) return;
  if (shared_bytes(memory) > 0) {
    release_shared(memory);
  } else {
    __libc_free(memory);
  }
}

TUTTI_API void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (bytes >= fresh_from && bytes >= shortest.load(std::memory_order_relaxed) && !is_inside) {
    if (void* const first = shared(page)) free(first);  // So that all is ready.
    const Inside inside;
    try {
      return tutti::allocate(bytes);
    } catch (...) {
      return __libc_calloc(count, size);
    }
  }
  void* const memory = shared(bytes);
  return memory != nullptr ? std::memset(memory, 0, bytes) : __libc_calloc(count, size);
}

TUTTI_API void* realloc(void* memory, std::size_t bytes) {
  if (memory == nullptr) return malloc(bytes);
  const std::size_t held = shared_bytes(memory);
  const bool is_to_be_shared = bytes >= shortest.load(std::memory_order_relaxed) && !is_inside;
  if (held == 0 && !is_to_be_shared) return __libc_realloc(memory, bytes);
  if (bytes == 0) {
    free(memory);
    return nullptr;
  }
  // Shrinks in place if not much is wasted.
  if (held >= bytes && bytes >= held / 2) return memory;
  void* const moved = malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, std::min(bytes, held > 0 ? held : usable_bytes(memory)));
  free(memory);
  return moved;
}

TUTTI_API void* memalign(std::size_t alignment, std::size_t bytes) {
  return aligned(alignment, bytes);
}

TUTTI_API void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return aligned(alignment, bytes);
}

TUTTI_API int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  const int error = errno;
  void* const made = aligned(alignment, bytes);
  errno = error;
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

TUTTI_API std::size_t malloc_usable_size(void* memory) {
  return memory == nullptr ? 0 : usable_bytes(memory);
}

}  // extern "C"
