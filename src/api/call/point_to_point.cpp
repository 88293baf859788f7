#include "api/call/point_to_point.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "api/call/overlap.hpp"
#include "api/call/work_state.hpp"
#include "core/buffer_limit.hpp"
#include "core/quantity.hpp"
#include "core/worker_pool.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// The longest timeout. Much longer ones would overflow the clock.
constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 365);
/// How long a message waits before this rank asks its peer whether it has left, and before a send
/// to a rank that has left fails: its answer may still be in flight.
constexpr auto after_leaving = 1s;
/// How long the destructor waits for pending receives.
constexpr auto receives_patience = 500ms;
/// How long to wait for a hanging receiver that still reads from this rank's memory.
constexpr auto in_place_patience = 1000ms;

/// The sender of a message from any rank is known only if the message came and did not match.
std::vector<std::uint32_t> suspects_of(const Message& message, ErrorCode code) {
  if (message.peer != any_rank) return {message.peer};
  if (code == ErrorCode::mismatch) return {message.envelope.rank};
  return {};
}

}  // namespace

/// The threads that wait for messages of a communicator, which another thread may be destroying.
class PointToPoint::Visitors {
 public:
  /// False if the communicator is gone. Otherwise it stays until leave().
  [[nodiscard]] bool enter() {
    const std::lock_guard lock(mutex_);
    if (!is_closed_) ++inside_;
    return !is_closed_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0) empty_.notify_all();
  }
  /// Waits until all have left.
  void close() {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    empty_.wait(lock, [this] { return inside_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t inside_ = 0;
  bool is_closed_ = false;
};

/// The messages of a call while they run, and their flight records. At most one send and one
/// receive share one record; otherwise each message has its own.
class PointToPoint::Flight {
 public:
  /// The messages and `waiters` must outlive it.
  Flight(PointToPoint& owner, std::span<const Outgoing> out, std::span<const Incoming> in,
         std::string_view site, const RunningMessages::Call& call);
  ~Flight() { end(false); }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  /// Ends the records, and counts the messages if all have arrived. Only the first time counts: the
  /// owner may be gone afterwards.
  void end(bool is_well);

 private:
  Flight(PointToPoint& owner, RunningMessages::Messages messages)
      : owner_(owner), messages_(messages) {}

  PointToPoint& owner_;
  RunningMessages::Messages messages_;
  std::optional<RunningMessages::Place> running_{};  // None: not begun, or ended.
  FlightRecorder::Handle first_{};
  std::vector<FlightRecorder::Handle> more_{};
};

/// Several messages that form one Work.
class PointToPoint::Batch final : public Work::State, private Message::Completion {
 public:
  Batch(PointToPoint& owner, std::span<const Outgoing> out, std::span<const Incoming> in,
        const MessageOptions& options)
      : owner_(owner),
        visitors_(owner.visitors_),
        messages_(owner.make(out, in, options)),
        flight_(owner, out, in, options.site, {.messages = messages_, .waiters = waiters_}),
        left_(messages_.size() + 1) {
    for (const auto& message : messages_) message->completion = this;
  }

  /// Keeps itself alive until all messages are done.
  void start(const std::shared_ptr<Batch>& self) {
    keep_ = self;
    try {
      owner_.messenger_.start(owner_.inbox_, messages_, false);
    } catch (...) {
      keep_.reset();
      flight_.end(false);
      throw;
    }
    complete();
  }

  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point until) override {
    ++waiters_;  // Until the verdict: other ranks may ask for which rank this one waits.
    if (!done() && visitors_->enter()) {
      progress_until(until);
      visitors_->leave();
    }
    const bool is_done = State::wait_until(until);
    --waiters_;
    return is_done;
  }

  [[nodiscard]] std::vector<Envelope> envelopes() const override {
    std::vector<Envelope> received;
    for (const auto& message : messages_) {
      if (message->kind != Message::Kind::receive) continue;
      received.push_back(message->is_done() ? message->envelope : Envelope{});
    }
    return received;
  }

 private:
  /// Waiting for one message makes progress on the others, too. Failures are settled elsewhere.
  void progress_until(std::chrono::steady_clock::time_point until) {
    for (const auto& message : messages_) {
      if (done()) return;
      if (message->is_done()) continue;
      if (!owner_.messenger_.wait_until(*owner_.inbox_, *message, until)) return;
    }
  }

  void complete() override {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    const std::shared_ptr<Batch> self = std::move(keep_);
    std::exception_ptr failure;
    for (const auto& message : messages_) {
      if (!failure) failure = message->failure;
    }
    flight_.end(failure == nullptr);
    finish(failure);
  }

  PointToPoint& owner_;
  std::shared_ptr<Visitors> visitors_;
  std::vector<std::shared_ptr<Message>> messages_;
  RunningMessages::Waiters waiters_{0};
  Flight flight_;
  std::atomic<std::size_t> left_;  // Messages not yet done, and one for start().
  std::shared_ptr<Batch> keep_;
};

PointToPoint::PointToPoint(Messenger& messenger, const Membership& membership, MessageHost& host,
                           RunningMessages& running, FlightRecorder& recorder)
    : messenger_(messenger),
      self_(membership.self),
      ranks_(membership.size()),
      host_(host),
      inbox_(messenger.open(membership, *this)),
      visitors_(std::make_shared<Visitors>()),
      running_(running),
      recorder_(recorder) {}

PointToPoint::~PointToPoint() {
  (void)finish();
  end([this](const Message& message) {
    const bool sends = message.kind == Message::Kind::send;
    return Error(ErrorCode::aborted, words(message) + ": the communicator was destroyed before " +
                                         (sends ? "it was received" : "a message arrived"));
  });
  wait_for_verdicts();  // Of failures that were noted until end().
  visitors_->close();
}

std::map<std::uint32_t, std::uint64_t> PointToPoint::finish() {
  if (!std::exchange(is_finished_, true)) messenger_.finish(*inbox_, receives_patience);
  wait_for_verdicts();
  return messenger_.sent(*inbox_);
}

void PointToPoint::wait_for_verdicts() {
  std::unique_lock lock(ending_);
  settled_.wait(lock, [this] { return settling_ == 0; });
}

std::vector<Envelope> PointToPoint::run(std::span<const Outgoing> out, std::span<const Incoming> in,
                                        const MessageOptions& options) {
  host_.require_usable();
  check_arguments(out, in);
  if (out.empty() && in.empty()) return {};
  const std::vector<std::shared_ptr<Message>> messages = make(out, in, options);
  const RunningMessages::Waiters waiters{1};
  Flight flight(*this, out, in, options.site, {.messages = messages, .waiters = waiters});
  std::vector<Envelope> received;
  received.reserve(in.size());
  const Message* current = messages.front().get();
  try {
    messenger_.start(inbox_, messages, true);
    for (const auto& message : messages) {
      current = message.get();
      messenger_.wait(*inbox_, *message);
      if (message->failure) std::rethrow_exception(message->failure);
      if (message->kind == Message::Kind::receive) received.push_back(message->envelope);
    }
  } catch (...) {  // No memory, say: the messages run, and must end before this returns.
    // Until the verdict, the record stays open: other ranks may ask for which rank this one waits.
    const Error error = settled(*current, std::current_exception());
    flight.end(false);
    end(error);
    throw Error(error);
  }
  flight.end(true);
  return received;
}

Work PointToPoint::start(std::span<const Outgoing> out, std::span<const Incoming> in,
                         const MessageOptions& options) {
  host_.require_usable();
  check_arguments(out, in);
  const auto batch = std::make_shared<Batch>(*this, out, in, options);
  batch->start(batch);
  return Work(batch);
}

std::optional<Envelope> PointToPoint::probe(std::uint32_t rank, std::uint32_t tag) {
  host_.require_usable();
  const Incoming like{.from = rank, .tag = tag};
  check_arguments({}, {&like, 1});
  return messenger_.probe(*inbox_, rank, tag);
}

Envelope PointToPoint::wait_for_message(std::uint32_t rank, std::uint32_t tag,
                                        const MessageOptions& options) {
  host_.require_usable();
  const Incoming like{.from = rank, .tag = tag};
  check_arguments({}, {&like, 1});
  try {
    return messenger_.wait_for_message(*inbox_, rank, tag, deadline_of(options));
  } catch (const Error&) {
    const Error error = settled(*Message::receiving(like), std::current_exception());
    end(error);
    throw Error(error);
  }
}

Clock::time_point PointToPoint::deadline_of(const MessageOptions& options) const {
  const Clock::duration timeout = options.timeout.count() > 0
                                      ? Clock::duration(std::min(options.timeout, for_ever))
                                      : host_.usual_timeout();
  return Clock::now() + timeout;
}

std::vector<std::shared_ptr<Message>> PointToPoint::make(std::span<const Outgoing> out,
                                                         std::span<const Incoming> in,
                                                         const MessageOptions& options) const {
  std::vector<std::shared_ptr<Message>> messages;
  messages.reserve(out.size() + in.size());
  // Receives first, so that messages to this rank itself find them.
  for (const Incoming& each : in) messages.push_back(Message::receiving(each));
  for (const Outgoing& each : out) messages.push_back(Message::sending(each));
  const Clock::time_point deadline = deadline_of(options);
  for (const auto& message : messages) message->deadline = deadline;
  return messages;
}

void PointToPoint::check_arguments(std::span<const Outgoing> out,
                                   std::span<const Incoming> in) const {
  const auto refuse = [this](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(self_) + ": " + why);
  };
  const auto check_one = [&](const std::string& what, std::uint32_t rank, std::size_t bytes,
                             const void* data) {
    if (rank >= ranks_) {
      refuse(what + ": rank " + std::to_string(rank) + " is not one of the ranks 0 to " +
             std::to_string(ranks_ - 1));
    }
    if (bytes > most_buffer_bytes) {
      refuse(what + " of " + in_plural(bytes, "byte") + ": no memory is that large");
    }
    if (bytes > 0 && data == nullptr) {
      refuse(what + " of " + in_plural(bytes, "byte") + ": the data is null");
    }
  };
  for (const Outgoing& each : out) {
    check_one("send", each.to, each.bytes, each.data);
    if (each.tag == any_tag) refuse("send: any_tag is for receives; give the message a tag");
  }
  for (const Incoming& each : in) {
    check_one("receive", each.from == any_rank ? 0 : each.from, each.bytes, each.data);
  }
  if (overlap(out, in)) refuse("the send and receive buffers overlap; separate them");
}

// Failures --------------------------------------------------------------------------------------

void PointToPoint::check(const Message& message, Clock::duration waited) {
  if (host_.is_closed())
    throw Error(ErrorCode::aborted, "the communicator has failed on another rank");
  // From any rank: this rank itself may still send it.
  if (message.peer == any_rank || message.peer == self_) return;
  if (!needs_leaver(message, message.peer, waited)) return;
  throw Error(ErrorCode::peer_lost,
              "rank " + std::to_string(message.peer) + " has left the communicator");
}

/// True if the rank has left, and the message needs more than it has given.
bool PointToPoint::needs_leaver(const Message& message, std::uint32_t rank,
                                Clock::duration waited) {
  if (waited >= after_leaving) host_.inquire(rank);
  const std::optional<std::uint64_t> sent = host_.messages_of_leaver(rank);
  if (!sent) return false;
  if (message.kind == Message::Kind::send) {
    return std::min(waited, since_leave_of(rank)) >= after_leaving;
  }
  return messenger_.arrived(*inbox_, rank) >= *sent;
}

/// The rank may have taken a message before it left, and this rank may find out about the leave
/// first.
Clock::duration PointToPoint::since_leave_of(std::uint32_t rank) {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(ending_);
  return now - leaves_seen_.emplace(rank, now).first->second;
}

std::string PointToPoint::words(const Message& message) const {
  const std::string peer =
      message.peer == any_rank ? std::string("any rank") : "rank " + std::to_string(message.peer);
  const std::string tag = message.tag == any_tag ? " with any tag"
                          : message.tag == 0     ? std::string()
                                                 : " with tag " + std::to_string(message.tag);
  const bool sends = message.kind == Message::Kind::send;
  return "rank " + std::to_string(self_) + ": " + (sends ? "send of " : "receive of ") +
         in_plural(message.bytes, "byte") + tag + (sends ? " to " : " from ") + peer;
}

/// Reports the failure and returns the error that the ranks agreed on.
Error PointToPoint::settled(const Message& message, const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const Error& error) {
    return host_.settle_message(error, words(message), suspects_of(message, error.code()));
  } catch (const std::exception& error) {
    return host_.settle_message(Error(ErrorCode::internal, error.what()), words(message),
                                suspects_of(message, ErrorCode::internal));
  }
}

/// Waits for the verdict about a failed asynchronous message, then fails all pending messages.
class PointToPoint::Settling final : public PoolTask {
 public:
  Settling(PointToPoint& owner, std::shared_ptr<Message> message, std::exception_ptr cause)
      : owner_(owner), message_(std::move(message)), cause_(std::move(cause)) {}

  void run() override {
    const Error error = owner_.settled(*message_, cause_);
    owner_.end(error);
    owner_.messenger_.fail(*message_, std::make_exception_ptr(error));
    owner_.note_settled();
  }

 private:
  PointToPoint& owner_;
  std::shared_ptr<Message> message_;
  std::exception_ptr cause_;
};

void PointToPoint::note_failure(std::shared_ptr<Message> message, std::exception_ptr cause) {
  {
    const std::lock_guard lock(ending_);
    ++settling_;
  }
  try {
    WorkerPool::own().run(std::make_shared<Settling>(*this, message, cause));
  } catch (const Error&) {
    // No thread to be had that could wait for the verdict.
    messenger_.fail(*message, cause);
    note_settled();
  }
}

void PointToPoint::note_settled() {
  const std::lock_guard lock(ending_);
  --settling_;
  settled_.notify_all();
}

// The flight recorder ---------------------------------------------------------------------------

PointToPoint::Flight::Flight(PointToPoint& owner, std::span<const Outgoing> out,
                             std::span<const Incoming> in, std::string_view site,
                             const RunningMessages::Call& call)
    : Flight(owner, call.messages) {  // So the destructor runs if this throws.
  const auto described = [](std::span<const Outgoing> sent, std::span<const Incoming> received) {
    FlightCall call{.kind = received.empty() ? FlightKind::send
                            : sent.empty()   ? FlightKind::receive
                                             : FlightKind::send_receive,
                    .count = 0,
                    .bytes = 0};
    if (!sent.empty()) {
      call.root = sent.front().to;
      call.bytes = sent.front().bytes;
    }
    if (!received.empty()) {
      call.from = received.front().from;
      call.count = received.front().bytes;
    }
    return call;
  };
  const auto begin = [&](const FlightCall& what) {
    return owner_.recorder_.begin_one(++owner_.messages_, what, site);
  };
  running_ = owner_.running_.add(call);
  const bool is_one = out.size() <= 1 && in.size() <= 1;
  if (!is_one) more_.reserve(messages_.size());
  const std::lock_guard lock(owner_.recording_);
  if (is_one) {
    first_ = begin(described(out, in));
    return;
  }
  for (const Outgoing& each : out) more_.push_back(begin(described({&each, 1}, {})));
  for (const Incoming& each : in) more_.push_back(begin(described({}, {&each, 1})));
}

void PointToPoint::Flight::end(bool is_well) {
  if (!running_) return;
  owner_.running_.remove(*std::exchange(running_, std::nullopt));
  const std::lock_guard lock(owner_.recording_);
  if (first_.slot != nullptr) owner_.recorder_.end_one(first_, is_well);
  for (const FlightRecorder::Handle& each : more_) owner_.recorder_.end_one(each, is_well);
  if (is_well) owner_.count(messages_);
}

/// Requires: recording_ is held, and all of them have arrived.
void PointToPoint::count(RunningMessages::Messages messages) {
  if (counters_.peers.empty()) counters_.peers.resize(ranks_);
  counters_.calls += messages.size();
  for (const auto& message : messages) {
    if (message->kind == Message::Kind::send) {
      PeerCounters& peer = counters_.peers[message->peer];
      peer.bytes_sent += message->bytes;
      ++peer.messages_sent;
    } else {
      PeerCounters& peer = counters_.peers[message->envelope.rank];
      peer.bytes_received += message->envelope.bytes;
      ++peer.messages_received;
    }
  }
}

Counters PointToPoint::counters() {
  const std::lock_guard lock(recording_);
  Counters counters = counters_;
  counters.peers.resize(ranks_);
  return counters;
}

void PointToPoint::end(const Error& cause) {
  end([&](const Message&) { return cause; });
}

void PointToPoint::end(const std::function<Error(const Message&)>& cause_for) {
  {
    std::unique_lock lock(ending_);
    if (std::exchange(has_ended_, true)) {
      // Until the other thread's end() is complete, data may still arrive in the caller's memory.
      settled_.wait(lock, [this] { return is_closed_; });
      return;
    }
  }
  for (const auto& message : messenger_.close(*inbox_, in_place_patience)) {
    messenger_.fail(*message, std::make_exception_ptr(cause_for(*message)));
  }
  const std::lock_guard lock(ending_);
  is_closed_ = true;
  settled_.notify_all();
}

}  // namespace tutti
