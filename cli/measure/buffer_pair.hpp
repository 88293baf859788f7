#pragma once

#include <cstddef>
#include <memory>

namespace tutti::measure {

/// Two buffers of one rank for the data of its calls.
class BufferPair {
 public:
  enum class Kind {
    shared,              ///< From tutti::allocate: ranks of the host read it in place.
    private_to_process,  ///< From malloc.
  };

  /// Each buffer has at least `bytes`.
  BufferPair(std::size_t bytes, Kind kind);

  [[nodiscard]] std::byte* first() const { return first_.get(); }
  [[nodiscard]] std::byte* second() const { return second_.get(); }

  /// Fills the first `bytes` of both buffers with zeros. Zeros stay zeros however often they are
  /// summed in place, and no page is touched for the first time while the clock runs.
  void clear(std::size_t bytes) const;

 private:
  std::shared_ptr<std::byte> first_;
  std::shared_ptr<std::byte> second_;
};

}  // namespace tutti::measure
