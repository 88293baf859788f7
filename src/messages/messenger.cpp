#include "messages/messenger.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tutti/error.hpp>

#include "core/worker_pool.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// How long the background task stays when it has nothing to do: it is soon needed again.
constexpr auto background_stays = 20ms;
constexpr auto background_naps = 1ms;
/// How often the background task looks for messages whose peer is gone.
constexpr auto background_checks = 10ms;
/// How often the owner of a message that does not come is asked whether to wait on, besides when it
/// is alarmed: only then does it find out whether the peer has left.
constexpr auto between_checks = 1s;

std::string timeout_text(Message::Kind kind, std::uint32_t peer) {
  const std::string rank = peer == any_rank ? "any rank" : "rank " + std::to_string(peer);
  return kind == Message::Kind::send ? "sent data is not received by " + rank
                                     : "no data arrives from " + rank;
}

}  // namespace

Messenger::Messenger(std::unique_ptr<Port> port, Setting setting)
    : port_(std::move(port)), protocol_(*port_, setting) {}

Messenger::~Messenger() {
  Lock lock(mutex_);
  is_closing_ = true;
  port_->interrupt();
  changed_.notify_all();
  changed_.wait(lock, [this] { return !has_background_; });
}

// Communicators ---------------------------------------------------------------------------------

std::shared_ptr<Inbox> Messenger::open(const Membership& membership, MessageOwner& owner) {
  const Lock lock(mutex_);
  return protocol_.open(membership, owner);
}

void Messenger::finish(Inbox& inbox, std::chrono::milliseconds patience) {
  const auto all_of = [&](Message::Kind kind) {
    const Lock lock(mutex_);
    std::vector<std::shared_ptr<Message>> all;
    std::copy_if(protocol_.running().begin(), protocol_.running().end(), std::back_inserter(all),
                 [&](const auto& each) {
                   return each->inbox_.get() == &inbox && each->kind == kind && !each->is_failing_;
                 });
    return all;
  };
  for (const std::shared_ptr<Message>& send : all_of(Message::Kind::send)) {
    if (!wait_until(inbox, *send, send->deadline)) return;
  }
  const Clock::time_point end = Clock::now() + patience;
  for (const std::shared_ptr<Message>& receive : all_of(Message::Kind::receive)) {
    if (!wait_until(inbox, *receive, end)) return;
  }
}

std::vector<std::shared_ptr<Message>> Messenger::close(Inbox& inbox,
                                                       std::chrono::milliseconds patience) {
  Lock lock(mutex_);
  std::vector<std::shared_ptr<Message>> unfinished = protocol_.close(inbox);
  const Clock::time_point end = Clock::now() + patience;
  if (!unfinished.empty()) {
    drains_until_ = std::max(drains_until_, end);
    start_background();
  }
  while (protocol_.is_exposed(inbox) && Clock::now() < end) {
    lock.unlock();
    std::this_thread::sleep_for(100us);
    lock.lock();
    if (!has_leader_) (void)protocol_.pass();
  }
  protocol_.stop_zero_copy(inbox);
  changed_.wait(lock, [&] { return inbox.asking_ == 0; });
  return unfinished;
}

// Messages --------------------------------------------------------------------------------------

void Messenger::start(const std::shared_ptr<Inbox>& inbox,
                      std::span<const std::shared_ptr<Message>> messages, bool is_waited_for) {
  Lock lock(mutex_);
  protocol_.start(inbox, messages);
  if (has_leader_) {
    port_->interrupt();
  } else {
    (void)protocol_.pass();
  }
  if (!is_waited_for && !protocol_.running().empty()) start_background();
  report_failures(lock);
}

void Messenger::fail(Message& message, std::exception_ptr cause) {
  const Lock lock(mutex_);
  protocol_.fail(message, std::move(cause));
  if (has_leader_) port_->interrupt();  // It may be waiting for this message.
  changed_.notify_all();
}

void Messenger::report_failures(Lock& lock) {
  while (const auto failure = protocol_.take_failure()) {
    ask_owner(lock, *failure->message->inbox_,
              [&](MessageOwner& owner) { owner.note_failure(failure->message, failure->cause); });
  }
}

template <class F>
void Messenger::ask_owner(Lock& lock, Inbox& inbox, F&& f) {
  ++inbox.asking_;
  lock.unlock();
  const auto resume = [&] {
    lock.lock();
    if (--inbox.asking_ == 0 && inbox.is_closed()) changed_.notify_all();
  };
  try {
    f(inbox.owner());
  } catch (...) {
    resume();
    throw;
  }
  resume();
}

// Waiting ---------------------------------------------------------------------------------------

template <class F>
bool Messenger::progress(Lock& lock, Inbox& inbox, Clock::time_point until, const Message& about,
                         F&& is_over) {
  bool leads = false;
  ++waiting_;
  const auto leave = [&] {
    --waiting_;
    if (leads) has_leader_ = false;
    if (waiting_ > 0 || has_background_) changed_.notify_all();
  };
  const Clock::time_point begun = about.begun_;
  Clock::time_point next_check = begun + between_checks;
  try {
    bool has_slept = false;
    bool is_last_pass = false;
    for (std::uint32_t idle = 0; !is_over();) {
      if (!leads && !has_leader_) {
        has_leader_ = leads = true;
        idle = 0;
      }
      if (leads) {
        if (protocol_.pass()) {
          idle = 0;
          is_last_pass = false;
          report_failures(lock);
          if (waiting_ > 1) changed_.notify_all();
          continue;
        }
        ++idle;
        ++fruitless_;
      } else {
        if (background_leads_) port_->interrupt();
        changed_.wait_for(lock, background_naps);
        ++idle;
        if (is_over()) break;
      }
      constexpr std::uint32_t looks_between = 64;
      constexpr std::uint32_t a_while = 256;
      if (!leads || has_slept || is_last_pass || idle > a_while || idle % looks_between == 0) {
        const Clock::time_point now = Clock::now();
        if (now >= until) {
          leave();
          return false;
        }
        if (!inbox.is_closed() && (now >= next_check || inbox.owner().is_alarmed())) {
          // What came before the alarm still counts.
          if (leads && !std::exchange(is_last_pass, true)) {
            port_->notice_arrivals();
            continue;
          }
          is_last_pass = false;
          next_check = now + between_checks;
          try {
            ask_owner(lock, inbox, [&](MessageOwner& owner) { owner.check(about, now - begun); });
          } catch (const Error&) {
            if (!is_over()) throw;  // Else another thread has completed it meanwhile.
          }
        }
      }
      if (!leads) continue;
      has_slept = wait_for_change(lock, idle, until);
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
  return true;
}

bool Messenger::wait_for_change(Lock& lock, std::uint32_t idle, Clock::time_point until) {
  lock.unlock();
  bool has_slept = true;
  bool has_failed = false;
  try {
    // A thread stops waiting long before the deadlines of the messages that need a connection.
    has_slept = port_->wait_until(idle, until, Clock::time_point::max());
  } catch (const Error&) {
    has_failed = true;
  }
  lock.lock();
  // The next pass finds the connection that has failed, and the messages that it concerns.
  if (has_failed) changed_.wait_for(lock, background_naps);
  return has_slept;
}

void Messenger::wait(Inbox& inbox, Message& message) {
  Lock lock(mutex_);
  if (message.is_done()) return;
  ++message.watchers_;
  try {
    const bool is_done =
        progress(lock, inbox, message.deadline, message, [&] { return message.is_done(); });
    --message.watchers_;
    if (is_done) return;
  } catch (...) {
    --message.watchers_;
    throw;
  }
  throw Error(ErrorCode::timed_out, timeout_text(message.kind, message.peer));
}

bool Messenger::wait_until(Inbox& inbox, Message& message, Clock::time_point until) {
  Lock lock(mutex_);
  try {
    (void)progress(lock, inbox, until, message,
                   [&] { return message.is_done() || message.is_failing_; });
  } catch (const Error&) {
    protocol_.refuse(message, std::current_exception());
    report_failures(lock);
  }
  return message.is_done();
}

std::map<std::uint32_t, std::uint64_t> Messenger::sent(const Inbox& inbox) {
  const Lock lock(mutex_);
  return inbox.all_sent();
}

std::uint64_t Messenger::arrived(Inbox& inbox, std::uint32_t rank) {
  const Lock lock(mutex_);
  return inbox.arrived(rank);
}

std::optional<Envelope> Messenger::probe(Inbox& inbox, std::uint32_t rank, std::uint32_t tag) {
  Lock lock(mutex_);
  protocol_.expect(inbox, rank);
  const auto search = [&] {
    if (!has_leader_) {
      (void)protocol_.pass();
      (void)port_->progress(0, Clock::time_point::max());
      report_failures(lock);
    }
    return inbox.unexpected().find(rank, tag);
  };
  Arrival found = search();
  if (!found && !has_leader_) {
    // The sender may have just connected. Without a wait nobody else accepts it.
    port_->notice_arrivals();
    found = search();
  }
  if (!found) return std::nullopt;
  return found->envelope();
}

Envelope Messenger::wait_for_message(Inbox& inbox, std::uint32_t rank, std::uint32_t tag,
                                     Clock::time_point deadline) {
  Lock lock(mutex_);
  protocol_.expect(inbox, rank);
  Message about;
  about.kind = Message::Kind::receive;
  about.peer = rank;
  about.tag = tag;
  about.begun_ = Clock::now();
  Arrival found;
  const bool is_here = progress(lock, inbox, deadline, about, [&] {
    if (inbox.is_closed()) throw Error(ErrorCode::aborted, "the communicator was given up");
    found = inbox.unexpected().find(rank, tag);
    return found != nullptr;
  });
  if (is_here) return found->envelope();
  throw Error(ErrorCode::timed_out, timeout_text(Message::Kind::receive, rank));
}

// In the background -----------------------------------------------------------------------------

/// Progresses messages that no thread waits for.
class Messenger::Background final : public PoolTask {
 public:
  explicit Background(Messenger& messenger) : messenger_(messenger) {}
  void run() override { messenger_.run_background(); }

 private:
  Messenger& messenger_;
};

void Messenger::start_background() {
  if (has_background_) return;
  has_background_ = true;
  try {
    WorkerPool::own().run(std::make_shared<Background>(*this));
  } catch (const Error&) {
    has_background_ = false;  // No thread to be had: messages progress whenever a thread waits.
  }
}

bool Messenger::needs_background() const {
  return !protocol_.running().empty() || Clock::now() < drains_until_;
}

void Messenger::run_background() {
  Lock lock(mutex_);
  Clock::time_point last_needed = Clock::now();
  Clock::time_point checked{};
  while (!is_closing_) {
    const Clock::time_point now = Clock::now();
    if (needs_background()) last_needed = now;
    if (now > last_needed + background_stays) break;
    report_failures(lock);
    if (!needs_background() || has_leader_ || waiting_ > 0) {
      changed_.wait_for(lock, background_naps);
    } else {
      lead_in_background(lock);
    }
    if (Clock::now() < checked + background_checks) continue;
    fail_hopeless(lock);
    checked = Clock::now();
  }
  has_background_ = false;
  changed_.notify_all();
}

/// Progresses messages for a while, or until a thread waits for one.
void Messenger::lead_in_background(Lock& lock) {
  constexpr std::uint32_t sleep_at_once = 1U << 20;  // No thread waits: do not spin.
  has_leader_ = background_leads_ = true;
  for (int rounds = 0; rounds < 8 && waiting_ == 0 && needs_background() && !is_closing_;
       ++rounds) {
    if (protocol_.pass()) continue;
    ++fruitless_;
    (void)wait_for_change(lock, sleep_at_once, Clock::now() + 10ms);
  }
  has_leader_ = background_leads_ = false;
  changed_.notify_all();
}

/// Looks for what has come, or lets the leader do so: the port is its own. False if that took too
/// long: then ask again later.
bool Messenger::has_found_all(Lock& lock) {
  const std::uint64_t before = fruitless_;
  for (int naps = 0; has_leader_ && naps < 10; ++naps) {
    // Between two passes it has looked at the port.
    if (fruitless_ >= before + 2) return true;
    port_->interrupt();
    changed_.wait_for(lock, background_naps);
  }
  if (has_leader_) return false;
  port_->notice_arrivals();
  (void)protocol_.pass();
  return true;
}

/// Fails messages that no thread waits for and that are late, or that their owner gives up.
void Messenger::fail_hopeless(Lock& lock) {
  const Clock::time_point now = Clock::now();
  std::vector<std::shared_ptr<Message>> late;
  std::vector<std::shared_ptr<Message>> doubtful;
  for (const std::shared_ptr<Message>& message : protocol_.running()) {
    if (message->watchers_ > 0 || message->is_failing_) continue;
    if (message->deadline <= now) {
      late.push_back(message);
    } else if (now >= message->checked_ + between_checks || message->inbox_->owner().is_alarmed()) {
      message->checked_ = now;
      doubtful.push_back(message);
    }
  }
  for (const std::shared_ptr<Message>& message : late) {
    protocol_.refuse(*message,
                     std::make_exception_ptr(
                         Error(ErrorCode::timed_out, timeout_text(message->kind, message->peer))));
  }
  // What came before the alarm still counts.
  if (!doubtful.empty() && !has_found_all(lock)) doubtful.clear();
  for (const std::shared_ptr<Message>& message : doubtful) {
    Inbox& inbox = *message->inbox_;
    // It may have been completed or closed while another owner was asked.
    if (message->is_done() || inbox.is_closed()) continue;
    try {
      ask_owner(lock, inbox,
                [&](MessageOwner& owner) { owner.check(*message, now - message->begun_); });
    } catch (...) {
      protocol_.refuse(*message, std::current_exception());
    }
  }
  report_failures(lock);
}

}  // namespace tutti
