#include "faults/board.hpp"

#include <sys/mman.h>

#include <new>

namespace tutti::test {

std::string_view name(Stage stage) {
  switch (stage) {
    case Stage::meeting:
      return "meeting";
    case Stage::calling:
      return "calling";
    case Stage::failed:
      return "failed";
    case Stage::shrinking:
      return "shrinking";
    case Stage::repeating:
      return "repeating";
    case Stage::done:
      return "done";
  }
  return "";
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Board::Board() {
  void* const memory = mmap(nullptr, most_ranks * sizeof(BoardLine), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  lines_ = static_cast<BoardLine*>(memory);
  for (std::uint32_t rank = 0; rank < most_ranks; ++rank) ::new (lines_ + rank) BoardLine();
}

Board::~Board() { munmap(lines_, most_ranks * sizeof(BoardLine)); }

}  // namespace tutti::test
