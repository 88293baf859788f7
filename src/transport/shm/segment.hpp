#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace tutti {

/// Memory that processes of a host share. Its file has no name (memfd), so that nothing is left
/// behind whoever is killed when; others find it through /proc while its maker keeps it open.
class Segment {
 public:
  /// What another process needs to open it.
  struct Address {
    int pid = 0;
    int fd = -1;
    std::size_t bytes = 0;
    std::string token;  ///< Random; stands in the segment too, for pids are used again.
  };

  /// Zeros, which take no memory until they are touched; see Arena::allocate(). Throws unsupported
  /// that says what the system refused.
  [[nodiscard]] static Segment create(std::size_t bytes);
  /// Throws unsupported if it cannot be seen from here.
  [[nodiscard]] static Segment open(const Address& address);

  Segment(Segment&& other) noexcept
      : address_(std::move(other.address_)), mapping_(std::exchange(other.mapping_, nullptr)) {
    other.address_.fd = -1;
  }
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] const Address& address() const { return address_; }
  /// Nobody else can open it from now on.
  void close_door();

 private:
  Segment(Address address, void* mapping) : address_(std::move(address)), mapping_(mapping) {}

  Address address_;
  void* mapping_;
};

}  // namespace tutti
