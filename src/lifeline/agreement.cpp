#include "lifeline/agreement.hpp"

#include <algorithm>

#include "core/json_value.hpp"

namespace tutti {
namespace {

std::optional<std::string> text_of(const JsonReader& json, const char* key) {
  const std::optional<JsonReader> found = json.find(key);
  return found ? std::optional(found->string()) : std::nullopt;
}

}  // namespace

Agreement::Agreement(std::uint32_t self, std::uint32_t members, Environment environment,
                     Patience patience)
    : self_(self),
      members_(members),
      environment_(std::move(environment)),
      patience_(patience),
      probed_at_(members),
      answers_(members) {}

void Agreement::submit(std::string input, std::string subject, Clock::time_point now,
                       Urgency urgency) {
  discount_pause(now);
  answers_[self_].input = std::move(input);
  subject_ = std::move(subject);
  if (urgency == Urgency::urgent) urgency_ = urgency;
  if (decision_) return;
  turn_to_proposer(now);
}

void Agreement::receive(std::uint32_t from, ControlMessage::Kind kind, std::uint32_t ballot,
                        const std::string& body, Clock::time_point now) {
  discount_pause(now);
  probed_at_[from].reset();
  switch (kind) {
    case ControlMessage::Kind::input:
      return receive_input(from, body, now);
    case ControlMessage::Kind::prepare:
      return receive_prepare(from, ballot, body, now);
    case ControlMessage::Kind::alive:
      if (ballot > promised_ && !decision_) follow(ballot, now);
      return;
    case ControlMessage::Kind::promise:
      if (!proposes_ || ballot != promised_) return;
      note_knowledge(from, body);
      promisers_.insert(from);
      return try_to_decide(now);
    case ControlMessage::Kind::decide:
      return receive_decision(from, ballot, body, now);
    case ControlMessage::Kind::acknowledge:
      unconfirmed_.erase(from);
      return;
    default:
      return;
  }
}

void Agreement::receive_input(std::uint32_t from, const std::string& body, Clock::time_point now) {
  note_knowledge(from, body);
  if (!decision_ && proposes_) try_to_decide(now);
  if (decision_) {
    return send(from, ControlMessage::Kind::decide, decided_in_, *decision_);
  }
  if (!proposes_ && !another_proposes()) {
    if (lowest_candidate() == self_) return open_ballot(now);
    // The sender gets no reply from lower members. Find out whether this member does.
    if (!proposer_due_) {
      turn_to_proposer(now);
      probe_candidates(now);
    }
  }
  send(from, ControlMessage::Kind::alive, promised_, "");
}

void Agreement::receive_prepare(std::uint32_t from, std::uint32_t ballot, const std::string& body,
                                Clock::time_point now) {
  if (ballot % members_ != from) return;
  if (ballot < promised_) {
    // Without a reply it would take this member for silent: tell it of the higher ballot.
    if (decision_) send(from, ControlMessage::Kind::decide, decided_in_, *decision_);
    return send(from, ControlMessage::Kind::alive, promised_, "");
  }
  follow(ballot, now);
  if (subject_.empty()) subject_ = body;
  promise(ballot, body);
}

void Agreement::receive_decision(std::uint32_t from, std::uint32_t ballot, const std::string& body,
                                 Clock::time_point now) {
  if (!decision_ && ballot < promised_) {
    // A member may have acted on it: a later proposer must decide the same. If the proposer of the
    // later ballot is silent, its members wait for none: this one proposes.
    note_decision(body, ballot);
    return proposes_ ? try_to_decide(now) : open_ballot(now);
  }
  if (!decision_) {
    promised_ = ballot;
    proposes_ = false;
    decision_ = body;
    decided_in_ = ballot;
  }
  send(from, ControlMessage::Kind::acknowledge, ballot, "");
}

void Agreement::lose(std::uint32_t member, Clock::time_point now) {
  discount_pause(now);
  const std::uint32_t before = proposer();
  unconfirmed_.erase(member);
  if (!silent_.insert(member).second || decision_) return;
  if (proposes_ || (involved_since_ && member == before)) turn_to_proposer(now);
}

void Agreement::tick(Clock::time_point now) {
  discount_pause(now);
  if (decision_ || !involved_since_) return;
  const std::uint32_t before = proposer();
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (is_overdue(member, now)) silent_.insert(member);
  }
  if (proposes_) return try_to_decide(now);
  if (proposer_due_ && now >= *proposer_due_ && before != self_) silent_.insert(before);
  if (before == self_ || silent_.contains(before)) return turn_to_proposer(now);
  if (probed_at_[before]) {
    if (now < std::max(next_probe_, *probed_at_[before] + between_probes)) return;
    next_probe_ = now + between_probes;
    probe_candidates(now);
  } else if (now >= next_check_) {
    // It has replied before: check that it still does.
    next_check_ = now + between_checks;
    probe(before, now);
  }
}

/// Moves all deadlines by the time in which this member did not run because it was stopped, or its
/// machine was busy.
void Agreement::discount_pause(Clock::time_point now) {
  constexpr auto usual = std::chrono::milliseconds(20);
  constexpr auto long_gap = std::chrono::milliseconds(150);
  const Clock::time_point before = std::exchange(last_event_, now).value_or(now);
  if (!involved_since_ || now - before < long_gap) return;
  const Clock::duration gap = now - before - usual;
  *involved_since_ += gap;
  proposes_since_ += gap;
  confirmations_due_ += gap;
  if (proposer_due_) *proposer_due_ += gap;
  for (auto& probed : probed_at_) {
    if (probed) *probed += gap;
  }
}

/// Sends an input to another member, which will reply.
void Agreement::probe(std::uint32_t member, Clock::time_point now) {
  if (probed_at_[member]) return;  // A probe is already on its way.
  probed_at_[member] = now;
  send(member, ControlMessage::Kind::input, 0, knowledge());
}

/// Probes the members that may become the proposer before this one; and all others, if this member
/// may be the next proposer.
void Agreement::probe_candidates(Clock::time_point now) {
  std::vector<std::uint32_t> present;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (!silent_.contains(member)) present.push_back(member);
  }
  const bool may_propose = present.size() <= candidates || self_ <= present[candidates - 1];
  if (!may_propose) present.resize(candidates);
  for (const std::uint32_t member : present) {
    if (member != self_) probe(member, now);
  }
}

/// True if this member need not be waited for any longer.
bool Agreement::is_overdue(std::uint32_t member, Clock::time_point now) const {
  if (member == self_ || silent_.contains(member)) return false;
  const bool owes_promise = proposes_ && !promisers_.contains(member);
  if (!owes_promise && (proposes_ || !probed_at_[member])) return false;
  const Clock::time_point since = !owes_promise ? *probed_at_[member]
                                  : probed_at_[member]
                                      ? std::min(*probed_at_[member], proposes_since_)
                                      : proposes_since_;
  const Clock::duration patience =
      urgency_ == Urgency::urgent ? patience_.when_urgent : patience_.for_answers;
  return now >= since + (suspects_.contains(member) ? std::min(patience, patience_.for_suspects)
                                                    : patience);
}

/// The members whose input the proposer need not wait for any longer.
std::set<std::uint32_t> Agreement::late(Clock::time_point now) const {
  const Clock::time_point inputs_due = proposes_since_ + patience_.for_inputs;
  const Clock::time_point suspects_due =
      involved_since_.value_or(proposes_since_) + patience_.for_suspects;
  std::set<std::uint32_t> members;
  for (std::uint32_t member = 0; member < members_; ++member) {
    const bool is_suspect = suspects_.contains(member);
    if (now >= (is_suspect ? std::min(suspects_due, inputs_due) : inputs_due)) {
      members.insert(member);
    }
  }
  return members;
}

std::uint32_t Agreement::lowest_candidate() const {
  for (std::uint32_t member = 0; member < self_; ++member) {
    if (!silent_.contains(member)) return member;
  }
  return self_;
}

/// The member that this one expects a decision from: the proposer of the last ballot, if there was
/// one and it is not silent.
std::uint32_t Agreement::proposer() const {
  const std::uint32_t last = promised_ % members_;
  return promised_ > 0 && !silent_.contains(last) ? last : lowest_candidate();
}

bool Agreement::another_proposes() const {
  const std::uint32_t last = promised_ % members_;
  return promised_ > 0 && last != self_ && !silent_.contains(last);
}

void Agreement::follow(std::uint32_t ballot, Clock::time_point now) {
  promised_ = ballot;
  proposes_ = false;
  wait_for_proposer(now);
}

void Agreement::wait_for_proposer(Clock::time_point now) {
  if (!involved_since_) involved_since_ = now;
  proposer_due_ = now + patience_.for_inputs + 2 * patience_.for_answers;
  next_check_ = now + between_checks;
}

/// The body of an input or a promise. Bytes that are not UTF-8 are replaced. The keys are on the
/// wire.
std::string Agreement::knowledge() const {
  const Answer& own = answers_[self_];
  Json json{
      {"standing", own.status}, {"subject", subject_}, {"urgent", urgency_ == Urgency::urgent}};
  if (own.input) json["input"] = *own.input;
  if (decision_) {
    json["decision"] = *decision_;
    json["ballot"] = decided_in_;
  }
  return json_text(json, -1, NotUtf8::replace);
}

/// Sends this member's input to the proposer, or becomes the proposer.
void Agreement::turn_to_proposer(Clock::time_point now) {
  if (proposes_) return try_to_decide(now);
  const std::uint32_t to = proposer();
  if (to == self_) return open_ballot(now);
  wait_for_proposer(now);
  // Sent even if a probe is on its way: that probe may lack the input.
  if (!probed_at_[to]) probed_at_[to] = now;
  send(to, ControlMessage::Kind::input, 0, knowledge());
}

void Agreement::open_ballot(Clock::time_point now) {
  if (another_proposes()) return;  // And will send the decision.
  if (!involved_since_) involved_since_ = now;
  proposes_ = true;
  promised_ = (promised_ / members_ + 1) * members_ + self_;
  proposes_since_ = now;
  promisers_.clear();
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member == self_ || silent_.contains(member)) continue;
    send(member, ControlMessage::Kind::prepare, promised_, subject_);
  }
  answers_[self_].status = environment_.describe(subject_);
  try_to_decide(now);
}

void Agreement::promise(std::uint32_t ballot, const std::string& subject) {
  answers_[self_].status = environment_.describe(subject);
  send(ballot % members_, ControlMessage::Kind::promise, ballot, knowledge());
}

void Agreement::note_knowledge(std::uint32_t from, const std::string& body) {
  try {
    const JsonReader json = JsonReader::parse(body);
    const auto input = text_of(json, "input");
    const std::string status = json.value("standing", "");
    const std::string subject = json.value("subject", "");
    const bool is_urgent = json.value("urgent", false);
    const auto decision = text_of(json, "decision");
    const std::uint32_t ballot = decision ? json.at("ballot").get<std::uint32_t>() : 0;
    Answer& answer = answers_[from];
    if (input) answer.input = input;
    if (!status.empty()) answer.status = status;
    if (subject_.empty()) subject_ = subject;
    if (is_urgent) urgency_ = Urgency::urgent;
    if (decision) note_decision(*decision, ballot);
  } catch (const JsonError&) {
    // A body that makes no sense says nothing.
  }
}

void Agreement::note_decision(const std::string& decision, std::uint32_t ballot) {
  if (past_decision_ && ballot < past_ballot_) return;
  past_decision_ = decision;
  past_ballot_ = ballot;
}

void Agreement::rebroadcast() const {
  if (!decision_) return;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member == self_) continue;
    send(member, ControlMessage::Kind::decide, decided_in_, *decision_, Delivery::if_connected);
  }
}

void Agreement::send(std::uint32_t to, ControlMessage::Kind kind, std::uint32_t ballot,
                     std::string body, Delivery delivery) const {
  environment_.send(to, kind, ballot, std::move(body), delivery);
}

void Agreement::try_to_decide(Clock::time_point now) {
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member == self_ || silent_.contains(member) || promisers_.contains(member)) continue;
    return;
  }
  decision_ = past_decision_ ? past_decision_ : environment_.decide({answers_, silent_, late(now)});
  if (!decision_) return;
  decided_in_ = promised_;
  announce(now);
}

/// Sends the decision to silent members too: they may only be slow.
void Agreement::announce(Clock::time_point now) {
  proposes_ = false;
  confirmations_due_ = now + patience_.for_confirmations;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member == self_) continue;
    if (!silent_.contains(member)) unconfirmed_.insert(member);
    send(member, ControlMessage::Kind::decide, promised_, *decision_);
  }
}

bool Agreement::is_confirmed(Clock::time_point now) const {
  return decision_ && (unconfirmed_.empty() || now >= confirmations_due_);
}

}  // namespace tutti
