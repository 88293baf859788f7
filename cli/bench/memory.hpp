#pragma once

#include <cstddef>
#include <memory>

namespace tutti::cli {

/// Memory for the data of a rank: such as other ranks of the host can read, or private.
class BenchMemory {
 public:
  enum class Kind { shared, private_to_process };

  BenchMemory(std::size_t bytes, Kind kind);

  [[nodiscard]] std::byte* data() const { return memory_.get(); }

 private:
  std::shared_ptr<std::byte> memory_;
};

}  // namespace tutti::cli
