#include <algorithm>
#include <set>
#include <thread>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "backend.hpp"
#include "failure.hpp"
#include "interpreter.hpp"

// Groups made from a group, and failure.

namespace tutti_torch {
namespace {

c10::intrusive_ptr<Backend::Options> own_options(
    const c10::intrusive_ptr<c10d::Backend::Options>& given, const Backend& parent,
    const char* call) {
  if (!given) return parent.options();
  if (auto own = c10::dynamic_intrusive_pointer_cast<Backend::Options>(given)) return own;
  refuse(call, "the options belong to the backend " + given->backend +
                   ": pass tutti.torch.Options, or none");
}

std::string listed(const std::vector<int>& ranks) {
  std::string text;
  for (const int each : ranks) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return text;
}

/// How long the calls under way may take to end after an abort.
constexpr std::chrono::seconds grace{5};
constexpr std::chrono::seconds time_to_arrive{1};

}  // namespace

c10::intrusive_ptr<c10d::Backend> Backend::split(
    const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
    const c10::intrusive_ptr<c10d::Backend::Options>& opts) {
  const auto own = std::find(ranks.begin(), ranks.end(), rank_);
  if (own == ranks.end()) return nullptr;
  return c10::make_intrusive<Backend>(store, static_cast<int>(own - ranks.begin()),
                                      static_cast<int>(ranks.size()),
                                      own_options(opts, *this, "split_group"));
}

c10::intrusive_ptr<c10d::Backend> Backend::merge(
    const c10::intrusive_ptr<c10d::Store>& store,
    const c10::intrusive_ptr<c10d::Backend::Options>& opts, const int& rank, const int& size) {
  return c10::make_intrusive<Backend>(store, rank, size,
                                      own_options(opts, *this, "merge_remote_group"));
}

c10::intrusive_ptr<c10d::Backend> Backend::shrink(
    const std::vector<int64_t>& ranks_to_exclude, int flags,
    const c10::intrusive_ptr<c10d::Backend::Options>& opts) {
  const auto options = own_options(opts, *this, "shrink_group");
  const std::set<int> excluded(ranks_to_exclude.begin(), ranks_to_exclude.end());
  if (flags != 0) abort();
  const Failure why = communicator()->failure();
  const std::set<int> lost(why.ranks.begin(), why.ranks.end());
  const bool all_lost = why.result != tuttiSuccess &&
                        std::includes(lost.begin(), lost.end(), excluded.begin(), excluded.end());
  if (!all_lost) {
    // Ranks that live are left out. They do not call, so the others meet again at the store.
    std::vector<int> members;
    for (int each = 0; each < size_; ++each) {
      if (!excluded.contains(each)) members.push_back(each);
    }
    std::string name = "without";
    for (const int each : excluded) name += "_" + std::to_string(each);
    return split(c10::make_intrusive<c10d::PrefixStore>("tutti/shrunk/" + name, store_), members,
                 options);
  }
  const Communicator::Survivors survivors = communicator()->shrink();
  const std::set<int> gone(survivors.gone.begin(), survivors.gone.end());
  if (gone != excluded) {
    fail("shrink_group", "ranks " + listed({excluded.begin(), excluded.end()}) +
                             " were to be excluded, but the ranks that are gone are " +
                             listed(survivors.gone) + ": exclude these");
  }
  return c10::make_intrusive<Backend>(survivors.communicator, store_, options);
}

void Backend::abort() {
  const auto group = communicator_or_none();
  if (!group) return;
  group->abort("rank " + std::to_string(rank_) + " called abort()");
  (void)lane_->wait_until_idle(grace);
}

void Backend::shutdown() {
  if (!lane_->is_own_process() || !communicator_or_none()) return;
  const WithoutInterpreter unlocked;  // Callbacks may need it.
  (void)lane_->wait_until_quiet(timeout_of(c10d::kUnsetTimeout));
  release();
}

/// Messages under way hold the communicator, too: they get some time to arrive.
void Backend::release() {
  const std::weak_ptr<Communicator> left = take_communicator();
  const auto end = std::chrono::steady_clock::now() + time_to_arrive;
  while (!left.expired() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Backend::end_calls() {
  const auto group = communicator_or_none();
  if (!group || lane_->is_idle()) return;
  group->abort("the interpreter of rank " + std::to_string(rank_) + " exits");
}

void Backend::leave() {
  (void)lane_->wait_until_quiet(grace);
  release();
}

Failure Backend::failure() const { return communicator()->failure(); }

c10d::ErrorType Backend::getError() {
  // By number, since older versions of torch have no names for them.
  constexpr auto success = static_cast<c10d::ErrorType>(0);
  constexpr auto timeout = static_cast<c10d::ErrorType>(1);
  constexpr auto communication_error = static_cast<c10d::ErrorType>(2);
  constexpr auto remote_error = static_cast<c10d::ErrorType>(3);
  switch (communicator()->failure().result) {
    case tuttiSuccess:
      return success;
    case tuttiTimedOut:
      return timeout;
    case tuttiPeerLost:
      return remote_error;
    default:
      return communication_error;
  }
}

#ifdef C10D_BACKEND_HAS_RECONFIGURE

c10d::ReconfigureHandle Backend::get_reconfigure_handle() const {
  if (handle_.empty()) handle_ = Communicator::make_id();
  return handle_;
}

Backend::WorkPointer Backend::reconfigure(const c10d::ReconfigureOptions& opts) {
  std::vector<std::string> handles;
  if (const auto* const ordered = std::get_if<std::vector<std::string>>(&opts.handles)) {
    handles = *ordered;
  } else {
    const auto& any = std::get<std::unordered_set<std::string>>(opts.handles);
    handles.assign(any.begin(), any.end());
    std::sort(handles.begin(), handles.end());
  }
  const auto own = std::find(handles.begin(), handles.end(), get_reconfigure_handle());
  if (own == handles.end()) {
    refuse("reconfigure",
           "the handles do not contain this rank's: call get_reconfigure_handle() "
           "before every reconfigure(), since a handle is used once");
  }
  abort();
  (void)take_communicator();
  lane_ = std::make_unique<Lane>();
  rank_ = static_cast<int>(own - handles.begin());
  size_ = static_cast<int>(handles.size());
  handle_.clear();
  auto group = Communicator::from_id(handles.front(), rank_, size_,
                                     timeout_of(opts.timeout.value_or(c10d::kUnsetTimeout)),
                                     options_->choice);
  group->set_reproducible(options_->choice.reproducible);
  {
    const std::lock_guard lock(communicator_mutex_);
    communicator_ = std::move(group);
  }
  return start({.type = c10d::OpType::UNKNOWN,
                .title = "tutti:reconfigure",
                .timeout = timeout_of(c10d::kUnsetTimeout),
                .is_async = false},
               [](tuttiComm_t /*comm*/) {});
}

#endif

}  // namespace tutti_torch
