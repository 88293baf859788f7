#include "api/call/prepared_call.hpp"

#include <utility>

#include <tutti/error.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {

Communicator::Impl& PreparedCall::State::communicator() const {
  Communicator::Impl* const found = *owner_;
  if (found == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                std::string(name(call().collective)) +
                    ": the communicator of this prepared call is gone; "
                    "prepare the call on another one");
  }
  found->require_here();
  return *found;
}

PreparedCall::PreparedCall(std::shared_ptr<State> state) : state_(std::move(state)) {}
PreparedCall::PreparedCall(PreparedCall&&) noexcept = default;
PreparedCall& PreparedCall::operator=(PreparedCall&&) noexcept = default;
PreparedCall::~PreparedCall() = default;

namespace {

template <class State>
State& existing(const std::shared_ptr<State>& state) {
  if (state) return *state;
  throw Error(ErrorCode::invalid_argument,
              "this prepared call was moved from: use the one that it was moved to");
}

}  // namespace

void PreparedCall::run() { existing(state_).communicator().run(*state_); }
Work PreparedCall::start() { return existing(state_).communicator().start(state_); }

}  // namespace tutti
