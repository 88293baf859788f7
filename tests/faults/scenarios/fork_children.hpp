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

/// Objects of a rank that its children inherit. `kept` is not written while it has children.
struct Inheritance {
  static constexpr std::uint32_t kept_value = 7;

  Communicator* group = nullptr;
  std::optional<Communicator> twin{};
  std::unique_ptr<SharedNumbers> kept{};
  std::vector<Work> works{};  ///< In progress, or done. Written by the rank's own thread only.

  /// Empty if nothing has changed.
  [[nodiscard]] std::string fault_of_kept() const;
};

/// The children of a rank that have not ended yet, or have ended with an error.
class ForkChildren {
 public:
  ForkChildren(Inheritance& inherited, std::uint64_t seed) : inherited_(inherited), random_(seed) {}

  /// Forks a child that does one of several things.
  void add();
  /// Forks a child that outlives its parent by a short time.
  void add_survivor();
  /// Waits for all children. Returns their errors.
  [[nodiscard]] std::string wait();
  [[nodiscard]] std::size_t size() const { return children_.size(); }

 private:
  struct Child {
    std::unique_ptr<ForkedChild> process;
    std::string expected{};  ///< The expected result of wait().
    bool is_to_be_killed = false;
  };

  void add(Child child) { children_.push_back(std::move(child)); }

  Inheritance& inherited_;
  Random random_;
  std::vector<Child> children_;
};

}  // namespace tutti::test
