#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/memory.hpp>

#include "support/forked_child.hpp"
#include "support/random.hpp"

namespace tutti::test {

/// Memory that other ranks can read.
using SharedNumbers = std::vector<std::uint32_t, Allocator<std::uint32_t>>;

/// What a rank has, and its children inherit. `kept` is not written while it has children.
struct Inheritance {
  static constexpr std::uint32_t kept_value = 7;

  Communicator* group = nullptr;
  std::optional<Communicator> twin{};
  std::unique_ptr<SharedNumbers> kept{};
  std::vector<Work> works{};  ///< Under way, or done. Written by the rank's own thread only.

  /// Empty if all is as it was.
  [[nodiscard]] std::string fault_of_kept() const;
};

/// The children that a rank has forked and that have not been seen to end well.
class ForkChildren {
 public:
  ForkChildren(Inheritance& inherited, std::uint64_t seed) : inherited_(inherited), random_(seed) {}

  /// Forks one, which does one thing or another.
  void add();
  /// One that lives until its parent is gone, and then a little longer.
  void add_survivor();
  /// Waits for them all. What was wrong in any of them.
  [[nodiscard]] std::string wait();
  [[nodiscard]] std::size_t size() const { return children_.size(); }

 private:
  struct Child {
    std::unique_ptr<ForkedChild> process;
    std::string expected{};  ///< What wait() is to say.
    bool is_to_be_killed = false;
  };

  void add(Child child) { children_.push_back(std::move(child)); }

  Inheritance& inherited_;
  Random random_;
  std::vector<Child> children_;
};

}  // namespace tutti::test
