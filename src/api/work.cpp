#include <tutti/work.hpp>

#include "api/work_state.hpp"

namespace tutti {

Work::Work() = default;
Work::Work(std::shared_ptr<State> state) : state_(std::move(state)) {}

bool Work::test() const { return state_ == nullptr || state_->over(); }

void Work::wait() const {
  if (state_ != nullptr) state_->wait();
}

bool Work::wait_for(std::chrono::nanoseconds time) const {
  return state_ == nullptr || state_->wait_for(time);
}

}  // namespace tutti
