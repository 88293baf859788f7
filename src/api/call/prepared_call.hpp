#pragma once

#include <memory>

#include <tutti/communicator.hpp>

#include "api/call/compiled_call.hpp"
#include "api/call/kept_call.hpp"

namespace tutti {

/// What a prepared call keeps from one time that it is made to the next.
class PreparedCall::State {
 public:
  /// Null once the communicator is gone.
  using Owner = std::shared_ptr<Communicator::Impl* const>;

  State(Owner owner, const Call& call, std::shared_ptr<const CompiledCall> compiled)
      : owner_(std::move(owner)), kept_(call), compiled_(std::move(compiled)) {}

  /// Throws invalid_argument if it is gone, and aborted in a forked child.
  [[nodiscard]] Communicator::Impl& communicator() const;
  [[nodiscard]] const Call& call() const { return kept_.call; }
  /// Null for a call with shards.
  [[nodiscard]] const CompiledCall* compiled() const { return compiled_.get(); }

 private:
  Owner owner_;
  KeptCall kept_;
  std::shared_ptr<const CompiledCall> compiled_;
};

}  // namespace tutti
