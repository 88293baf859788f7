#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace tutti {

/// Memory shared by processes of a host. It is a file without a name (memfd), so nothing is left
/// behind even if processes are killed. Other processes open it through /proc while its creator
/// keeps it open.
class Segment {
 public:
  /// The data that another process needs to open it.
  struct Address {
    int pid = 0;
    int fd = -1;
    std::size_t bytes = 0;
    std::string token;  ///< Random. Also stored in the segment, since pids are reused.
  };

  /// Creates a zeroed segment. It takes no memory until it is touched: see Arena::allocate().
  /// Throws unsupported that names the step that the system refused.
  [[nodiscard]] static Segment create(std::size_t bytes);
  /// Throws unsupported if this process cannot open it.
  [[nodiscard]] static Segment open(const Address& address);

  Segment(Segment&& other) noexcept
      : address_(std::move(other.address_)), mapping_(std::exchange(other.mapping_, nullptr)) {
    other.address_.fd = -1;
  }
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] const Address& address() const { return address_; }
  /// Closes the descriptor, so that no other process can open the segment any more.
  void close_door();

 private:
  Segment(Address address, void* mapping) : address_(std::move(address)), mapping_(mapping) {}

  Address address_;
  void* mapping_;
};

}  // namespace tutti
