#include "faults/trainee.hpp"

#include <algorithm>

#include <tutti/retry.hpp>

#include "faults/board.hpp"
#include "faults/regression.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t steps_between_growths = 5;

/// One process of the training. Throws if something is wrong.
class Trainee {
 public:
  Trainee(Communicator communicator, const TrainingPlace& place, TraineeLine& line)
      : communicator_(std::move(communicator)), place_(place), line_(line) {}

  void work(bool is_new) {
    knows_ = !is_new;
    if (is_new) take_over();
    line_.is_in = true;
    std::int64_t last = now_ns();
    while (true) {
      const bool is_over = step();
      const std::int64_t now = now_ns();
      line_.longest_pause_ns = std::max(line_.longest_pause_ns.load(), now - last);
      last = now;
      if (is_over) break;
      if (step_ % steps_between_growths == 0) let_others_in();
    }
    line_.error = model_.error();
    line_.has_finished = true;
  }

 private:
  /// Makes one step; returns whether it was the last.
  bool step() {
    // The gradient, its number of samples, the number of ranks, and whether a rank ends the
    // training.
    std::vector<double> gradient(Regression::weights + 3);
    const Retried retried = with_retry(
        communicator_,
        [&](Communicator& group) {
          const std::span<double> whole(gradient);
          model_.add_gradient(step_, group.rank(), group.size(), whole.first(gradient.size() - 2));
          gradient[Regression::weights + 1] = 1;
          gradient.back() = place_.is_over ? 1 : 0;
          group.all_reduce(gradient);
        },
        gradient);
    count_call();
    if (gradient[Regression::weights] != Regression::batch) {
      fail("a step over " + std::to_string(gradient[Regression::weights]) + " samples");
    }
    if (gradient[Regression::weights + 1] != retried.ranks) {
      fail("a step of " + std::to_string(gradient[Regression::weights + 1]) + " ranks, not " +
           std::to_string(retried.ranks));
    }
    model_.learn(std::span(gradient).first(Regression::weights + 1));
    ++step_;
    line_.step = step_;
    compare();
    return gradient.back() > 0;
  }

  /// Model, step and number of calls must be the same on all ranks.
  void compare() {
    struct View {
      std::uint64_t hash;
      std::uint64_t step;
      std::uint64_t calls;
    };
    const View own{.hash = model_.hash(), .step = step_, .calls = calls_};
    std::vector<View> all;
    (void)with_retry(
        communicator_,
        [&](Communicator& group) {
          all.resize(group.size());
          group.all_gather(std::span(&own, 1), all);
        },
        std::span<const std::span<std::byte>>{});
    count_call();
    for (const View& each : all) {
      if (each.hash == own.hash && each.step == own.step && each.calls == own.calls) continue;
      fail("another rank is at step " + std::to_string(each.step) + " after " +
           std::to_string(each.calls) + " calls, with " +
           (each.hash == own.hash ? "the same" : "another") + " model");
    }
  }

  void count_call() {
    ++calls_;
    if (communicator_.completed() != calls_) {
      fail("tutti counts " + std::to_string(communicator_.completed()) + " calls");
    }
  }

  /// If it fails, it fails on all ranks, and no rank is ahead of the others.
  void let_others_in() {
    std::optional<Communicator> grown;
    while (!grown) {
      try {
        grown = communicator_.grow({.at = place_.door, .timeout = 3s}).communicator;
        if (!grown) return;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::peer_lost && error.code() != ErrorCode::timed_out) throw;
        Regrouped shrunk = communicator_.shrink(calls_);
        communicator_ = std::move(*shrunk.communicator);
        communicator_.set_completed(shrunk.completed);
      }
    }
    communicator_ = std::move(*grown);
    take_over();
  }

  /// New ranks are the last ones, so rank 0 knows the step.
  void take_over() {
    std::vector<double> state = model_.state();
    state.push_back(knows_ ? 1 : 0);
    state.push_back(static_cast<double>(step_));
    state.push_back(static_cast<double>(calls_));
    (void)with_retry(
        communicator_, [&](Communicator& group) { group.broadcast(state, 0); }, state);
    calls_ = static_cast<std::uint64_t>(state.back());
    state.pop_back();
    step_ = static_cast<std::uint64_t>(state.back());
    state.pop_back();
    // The ranks that admitted this one may have gone on without it.
    if (state.back() == 0) throw Error(ErrorCode::peer_lost, "no rank of this group has the model");
    state.pop_back();
    model_.state() = state;
    knows_ = true;
    count_call();
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("rank " + std::to_string(communicator_.rank()) + " of " +
                             std::to_string(communicator_.size()) + " at step " +
                             std::to_string(step_) + " after " + std::to_string(calls_) +
                             " calls: " + what);
  }

  Communicator communicator_;
  const TrainingPlace& place_;
  TraineeLine& line_;
  Regression model_;
  bool knows_ = false;  // Whether it has the current model.
  std::uint64_t step_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace

void train(Communicator communicator, bool is_new, const TrainingPlace& place, TraineeLine& line) {
  Trainee(std::move(communicator), place, line).work(is_new);
}

}  // namespace tutti::test
