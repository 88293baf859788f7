#include "faults/scenarios/message_strand.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "faults/board.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Longer than anything that must end takes.
constexpr auto long_enough = is_sanitized ? 60s : 15s;

[[noreturn]] void wrong(const std::string& what) { throw std::runtime_error(what); }

std::string words(const PlannedMessage& message) {
  return "message " + std::to_string(message.ordinal) + " of " + std::to_string(message.bytes) +
         " bytes from rank " + std::to_string(message.from) + " to rank " +
         std::to_string(message.to) + " with tag " + std::to_string(message.tag);
}

}  // namespace

MessageStrand::MessageStrand(Communicator& communicator, MessagePlan plan, Setting setting)
    : communicator_(communicator),
      plan_(std::move(plan)),
      setting_(setting),
      self_(communicator.rank()),
      called_back_(std::make_shared<std::atomic<std::uint32_t>>(0)) {}

MessageStrand::~MessageStrand() {
  for (std::thread& each : threads_) each.join();
  try {
    for (const Begun& each : begun_) {
      while (!each.work.test()) std::this_thread::sleep_for(1ms);
    }
    closing_.wait();
  } catch (const Error&) {
    // It has failed.
  }
}

MessageStrand::Messages MessageStrand::sends(std::uint32_t round) const {
  Messages own;
  for (const PlannedMessage& each : plan_.rounds[round].messages) {
    if (each.from == self_) own.push_back(&each);
  }
  return own;
}

MessageStrand::Messages MessageStrand::receives(std::uint32_t round) const {
  Messages own;
  for (const PlannedMessage& each : plan_.rounds[round].messages) {
    if (each.to == self_) own.push_back(&each);
  }
  return own;
}

MessageStrand::Slot MessageStrand::sending(const PlannedMessage& message, std::uint32_t round) {
  const bool is_too_long = setting_.too_long_from && round >= *setting_.too_long_from;
  if (is_too_long) setting_.too_long_from.reset();
  const std::size_t surplus = message.ordinal % 2 == 0 ? 1 : 30000;
  const std::size_t bytes = is_too_long ? plan_.rounds[round].longest() + surplus : message.bytes;
  Slot slot{.memory = {bytes, ++made_ % 3 == 0}, .message = &message, .receives = false};
  plan_.fill(message, slot.memory.bytes());
  return slot;
}

MessageStrand::Slot MessageStrand::receiving(const PlannedMessage& message,
                                             std::size_t bytes) const {
  return {.memory = {bytes, message.tag % 2 == 1}, .message = &message, .receives = true};
}

MessageOptions MessageStrand::options(std::uint32_t tag) const {
  return {.tag = tag, .timeout = setting_.timeout};
}

Incoming MessageStrand::wild(Slot& slot, std::uint32_t round, Taking taking) const {
  const bool is_fenced = plan_.rounds[round].is_fenced;
  const bool takes_any_tag = taking == Taking::any_tag || taking == Taking::anything ||
                             (taking == Taking::blocking && is_fenced);
  return {.data = slot.memory.bytes().data(),
          .bytes = slot.memory.bytes().size(),
          .from = taking == Taking::any_tag ? slot.message->from : tutti::any_rank,
          .tag = takes_any_tag ? tutti::any_tag : slot.message->tag,
          .may_be_shorter = true};
}

void MessageStrand::add(Begun begun) {
  constexpr std::uint32_t one_in = 4;
  if (begun_.size() % one_in == 0) {
    ++to_be_called_back_;
    begun.work.then([counter = called_back_](const std::exception_ptr&) { ++*counter; });
  }
  begun_.push_back(std::move(begun));
}

// A round -----------------------------------------------------------------------------------------

void MessageStrand::begin(std::uint32_t round) {
  const PlannedRound& planned = plan_.rounds[round];
  if (planned.closing == PlannedRound::Closing::asynchronous) {
    sums_.assign(1000, self_ + 1);
    closing_ = communicator_.all_reduce_async(sums_, Op::sum, {.timeout = setting_.timeout});
  }
  const bool sends_group = planned.sending[self_] == Sending::group;
  const bool takes_group = planned.taking[self_] == Taking::group;
  if (planned.taking[self_] == Taking::blocking) return;
  if (takes_group) {
    begin_group(round, sends_group, true);
  } else {
    begin_receives(round);
  }
  if (sends_group) {
    if (!takes_group) begin_group(round, true, false);
  } else {
    begin_sends(round);
  }
}

void MessageStrand::begin_group(std::uint32_t round, bool has_sends, bool has_receives) {
  Begun group{.round = round};
  if (has_sends) {
    for (const PlannedMessage* each : sends(round)) group.slots.push_back(sending(*each, round));
  }
  if (has_receives) {
    for (const PlannedMessage* each : receives(round)) {
      group.slots.push_back(receiving(*each, each->bytes));
    }
  }
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (Slot& slot : group.slots) {
    const std::span<std::byte> memory = slot.memory.bytes();
    if (slot.receives) {
      in.push_back({.data = memory.data(),
                    .bytes = memory.size(),
                    .from = slot.message->from,
                    .tag = slot.message->tag});
    } else {
      out.push_back({.data = memory.data(),
                     .bytes = memory.size(),
                     .to = slot.message->to,
                     .tag = slot.message->tag});
    }
  }
  group.work = communicator_.start(out, in, {.timeout = setting_.timeout});
  add(std::move(group));
}

void MessageStrand::begin_receives(std::uint32_t round) {
  const Taking taking = plan_.rounds[round].taking[self_];
  if (taking == Taking::probing) return;
  if (taking == Taking::in_threads) return begin_threads(receives(round), round, true);
  for (const PlannedMessage* each : receives(round)) {
    const bool is_wild = taking != Taking::exact;
    Begun begun{.round = round, .is_wild = is_wild};
    begun.slots.push_back(receiving(*each, is_wild ? plan_.rounds[round].longest() : each->bytes));
    Slot& slot = begun.slots.front();
    if (is_wild) {
      const Incoming in = wild(slot, round, taking);
      begun.work = communicator_.start({}, {&in, 1}, {.timeout = setting_.timeout});
    } else {
      begun.work = communicator_.receive_async(slot.memory.bytes(), each->from, options(each->tag));
    }
    add(std::move(begun));
  }
}

void MessageStrand::begin_sends(std::uint32_t round) {
  if (plan_.rounds[round].sending[self_] == Sending::in_threads) {
    return begin_threads(sends(round), round, false);
  }
  for (const PlannedMessage* each : sends(round)) {
    Begun begun{.round = round};
    begun.slots.push_back(sending(*each, round));
    begun.work =
        communicator_.send_async(begun.slots.front().memory.bytes(), each->to, options(each->tag));
    add(std::move(begun));
  }
}

/// A thread for each stream, since messages of one stream must stay in order.
void MessageStrand::begin_threads(const Messages& messages, std::uint32_t round, bool receives) {
  Messages left = messages;
  while (!left.empty()) {
    auto slots = std::make_shared<std::vector<Slot>>();
    const PlannedMessage& first = *left.front();
    for (const PlannedMessage* each : left) {
      if (!each->is_of_stream(first)) continue;
      slots->push_back(receives ? receiving(*each, each->bytes) : sending(*each, round));
    }
    std::erase_if(left, [&](const PlannedMessage* each) { return each->is_of_stream(first); });
    threads_.emplace_back([this, slots] {
      try {
        for (Slot& slot : *slots) {
          const PlannedMessage& message = *slot.message;
          if (slot.receives) {
            (void)communicator_.receive(slot.memory.bytes(), message.from, options(message.tag));
            check_exact(slot);
          } else {
            communicator_.send(slot.memory.bytes(), message.to, options(message.tag));
            slot.memory.spoil();
          }
        }
      } catch (const std::exception&) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
    });
  }
}

void MessageStrand::mark_call() { called_at_ = now_ns(); }

void MessageStrand::end(std::uint32_t round) {
  const PlannedRound& planned = plan_.rounds[round];
  mark_call();
  if (planned.taking[self_] == Taking::blocking) run_all(round);
  if (planned.taking[self_] == Taking::probing) probe_all(round);
  join();
  if (!planned.carries[self_]) wait_for_begun();
  close(planned);
}

void MessageStrand::run_all(std::uint32_t round) {
  std::vector<Slot> sent;
  std::vector<Slot> received;
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (const PlannedMessage* each : sends(round)) sent.push_back(sending(*each, round));
  for (const PlannedMessage* each : receives(round)) {
    received.push_back(receiving(*each, plan_.rounds[round].longest()));
  }
  for (Slot& slot : sent) {
    out.push_back({.data = slot.memory.bytes().data(),
                   .bytes = slot.memory.bytes().size(),
                   .to = slot.message->to,
                   .tag = slot.message->tag});
  }
  for (Slot& slot : received) in.push_back(wild(slot, round, Taking::blocking));
  const std::vector<Envelope> envelopes = communicator_.run(out, in, {.timeout = setting_.timeout});
  for (Slot& slot : sent) slot.memory.spoil();
  for (std::size_t i = 0; i < received.size(); ++i) check_wild(envelopes[i], received[i], round);
}

void MessageStrand::probe_all(std::uint32_t round) {
  for (const PlannedMessage* each : receives(round)) {
    const std::uint32_t tag = plan_.rounds[round].is_fenced ? tutti::any_tag : each->tag;
    mark_call();
    std::optional<Envelope> envelope;
    if (each->ordinal % 2 == 0) {
      envelope = communicator_.probe(tutti::any_rank, options(tag));
    } else {
      const bool may_fail = setting_.timeout > 0ms;
      const auto give_up = std::chrono::steady_clock::now() + (may_fail ? 50ms : long_enough);
      while (!(envelope = communicator_.try_probe(tutti::any_rank, tag))) {
        std::this_thread::yield();
        if (std::chrono::steady_clock::now() < give_up) continue;
        if (!may_fail) wrong("try_probe() finds nothing");
        // It has no deadline: a rank that is stopped is noticed by a call that has one.
        envelope = communicator_.probe(tutti::any_rank, options(tag));
        break;
      }
    }
    const PlannedMessage& expected = next_of(*envelope, round);
    Slot slot = receiving(expected, expected.bytes);
    const Envelope got =
        communicator_.receive(slot.memory.bytes(), envelope->rank, options(envelope->tag));
    if (got != *envelope) wrong("probe() and receive() have different envelopes");
    check_exact(slot);
  }
}

void MessageStrand::close(const PlannedRound& round) {
  const CallOptions options{.timeout = setting_.timeout};
  const std::uint32_t ranks = communicator_.size();
  mark_call();
  switch (round.closing) {
    case PlannedRound::Closing::none:
      return;
    case PlannedRound::Closing::barrier:
      return communicator_.barrier(options);
    case PlannedRound::Closing::all_reduce:
      sums_.assign(1000, self_ + 1);
      communicator_.all_reduce(sums_, Op::sum, options);
      break;
    case PlannedRound::Closing::asynchronous:
      closing_.wait();
      break;
    case PlannedRound::Closing::all_to_all: {
      const std::vector<std::uint32_t> out(ranks, self_);
      std::vector<std::uint32_t> in(ranks, ~0U);
      communicator_.all_to_all(out, in, options);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (in[rank] != rank) wrong("a wrong block of an all_to_all");
      }
      return;
    }
  }
  const std::uint32_t sum = ranks * (ranks + 1) / 2;
  if (std::ranges::any_of(sums_, [&](std::uint32_t each) { return each != sum; })) {
    wrong("a wrong sum");
  }
}

void MessageStrand::join() {
  for (std::thread& each : threads_) each.join();
  threads_.clear();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void MessageStrand::wait_for_begun() {
  for (Begun& each : begun_) {
    each.work.wait();
    check(each);
  }
  begun_.clear();
}

void MessageStrand::finish() {
  mark_call();
  wait_for_begun();
  wait_for_callbacks();
  mark_call();
  communicator_.barrier({.timeout = setting_.timeout});
}

void MessageStrand::wait_for_callbacks() {
  const auto end = std::chrono::steady_clock::now() + long_enough;
  while (*called_back_ < to_be_called_back_) {
    if (std::chrono::steady_clock::now() > end) wrong("a callback of Work::then() is not called");
    std::this_thread::sleep_for(1ms);
  }
}

// What came of it ---------------------------------------------------------------------------------

void MessageStrand::collapse() {
  has_failed_ = true;
  const auto ended = [](const Work& work) {
    try {
      if (!work.wait_for(long_enough)) wrong("a Work does not end after its communicator failed");
      return true;
    } catch (const Error&) {
      return false;  // Its memory is undefined.
    }
  };
  try {
    join();
  } catch (const Error&) {
    // The same verdict as on the other ranks.
  }
  for (Begun& each : begun_) {
    if (ended(each.work)) check(each);
  }
  begun_.clear();
  (void)ended(std::exchange(closing_, Work()));
  wait_for_callbacks();
}

void MessageStrand::check(Begun& begun) {
  for (Slot& slot : begun.slots) {
    if (!slot.receives) {
      slot.memory.spoil();
    } else if (begun.is_wild) {
      check_wild(begun.work.envelope(), slot, begun.round);
    } else {
      check_exact(slot);
    }
  }
}

void MessageStrand::check_exact(const Slot& slot) const {
  if (plan_.has_contents(*slot.message, slot.memory.bytes())) return;
  wrong("wrong contents of " + words(*slot.message));
}

/// After a failure some receives of a stream may be done although earlier ones are not.
void MessageStrand::check_wild(const Envelope& envelope, const Slot& slot, std::uint32_t round) {
  if (has_failed_) {
    for (const PlannedMessage* each : receives(round)) {
      const bool is_of_stream = each->from == envelope.rank && each->tag == envelope.tag;
      if (is_of_stream && plan_.has_contents(*each, slot.memory.bytes())) return;
    }
    wrong("contents match no message from rank " + std::to_string(envelope.rank));
  }
  const PlannedMessage& expected = next_of(envelope, round);
  if (envelope.bytes != expected.bytes) wrong("wrong length of " + words(expected));
  if (!plan_.has_contents(expected, slot.memory.bytes())) {
    wrong("wrong contents of " + words(expected));
  }
}

const PlannedMessage& MessageStrand::next_of(const Envelope& envelope, std::uint32_t round) {
  const std::uint32_t ordinal = taken_[{envelope.rank, envelope.tag}]++;
  for (const PlannedMessage* each : receives(round)) {
    if (each->from == envelope.rank && each->tag == envelope.tag && each->ordinal == ordinal) {
      return *each;
    }
  }
  wrong("a message that was never sent: from rank " + std::to_string(envelope.rank) + " with tag " +
        std::to_string(envelope.tag));
}

}  // namespace tutti::test
