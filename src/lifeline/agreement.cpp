#include "lifeline/agreement.hpp"

#include <algorithm>

#include "core/json.hpp"
#include "core/whole.hpp"

namespace tutti {
namespace {

std::optional<std::string> text_of(const Json& json, const char* key) {
  const Json* const found = json.find(key);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return found->string();
}

}  // namespace

Agreement::Agreement(std::uint32_t self, std::uint32_t members, Desk desk, Patience patience)
    : self_(self),
      members_(members),
      desk_(std::move(desk)),
      patience_(patience),
      asked_at_(members),
      voices_(members) {}

void Agreement::put(std::string input, std::string subject, Clock::time_point now,
                    Urgency urgency) {
  look_at_clock(now);
  voices_[self_].input = std::move(input);
  subject_ = std::move(subject);
  if (urgency == Urgency::urgent) urgency_ = urgency;
  if (decision_) return;
  turn_to_chair(now);
}

void Agreement::hear(std::uint32_t from, Letter::Kind kind, std::uint32_t ballot,
                     const std::string& body, Clock::time_point now) {
  look_at_clock(now);
  asked_at_[from].reset();
  switch (kind) {
    case Letter::Kind::input:
      return hear_input(from, body, now);
    case Letter::Kind::query:
      return hear_query(from, ballot, body, now);
    case Letter::Kind::here:
      if (ballot > promised_ && !decision_) step_down(ballot, now);
      return;
    case Letter::Kind::answer:
      if (!presides_ || ballot != promised_) return;
      take(from, body);
      answered_.insert(from);
      return conclude(now);
    case Letter::Kind::decide:
      return hear_decision(from, ballot, body, now);
    case Letter::Kind::heard:
      unconfirmed_.erase(from);
      return;
    default:
      return;
  }
}

void Agreement::hear_input(std::uint32_t from, const std::string& body, Clock::time_point now) {
  take(from, body);
  if (!decision_ && presides_) conclude(now);
  if (decision_) return desk_.send(from, Letter::Kind::decide, promised_, *decision_);
  if (!presides_ && !another_presides()) {
    if (chair() == self_) return preside(now);
    // The sender gets no reply from the members below. Find out whether this one does.
    if (!patient_until_) {
      turn_to_chair(now);
      ask_around(now);
    }
  }
  desk_.send(from, Letter::Kind::here, promised_, "");
}

void Agreement::hear_query(std::uint32_t from, std::uint32_t ballot, const std::string& body,
                           Clock::time_point now) {
  if (ballot % members_ != from) return;
  if (ballot < promised_) {
    // It would take no answer for silence: let it know of the later chair.
    desk_.send(from, decision_ ? Letter::Kind::decide : Letter::Kind::here, promised_,
               decision_.value_or(""));
    return;
  }
  step_down(ballot, now);
  if (subject_.empty()) subject_ = body;
  answer(ballot, body);
}

void Agreement::hear_decision(std::uint32_t from, std::uint32_t ballot, const std::string& body,
                              Clock::time_point now) {
  if (!decision_ && ballot < promised_) {
    // Somebody may have acted on it: then a later chair must decide the same.
    note_heard(body, ballot);
    if (presides_) conclude(now);
    return;
  }
  if (!decision_) {
    promised_ = ballot;
    presides_ = false;
    decision_ = body;
    decided_in_ = ballot;
  }
  desk_.send(from, Letter::Kind::heard, ballot, "");
}

void Agreement::lose(std::uint32_t member, Clock::time_point now) {
  look_at_clock(now);
  const std::uint32_t before = awaited();
  unconfirmed_.erase(member);
  if (!silent_.insert(member).second || decision_) return;
  if (presides_ || (involved_since_ && member == before)) turn_to_chair(now);
}

void Agreement::tick(Clock::time_point now) {
  look_at_clock(now);
  if (decision_ || !involved_since_) return;
  const std::uint32_t before = awaited();
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (is_overdue(member, now)) silent_.insert(member);
  }
  if (presides_) return conclude(now);
  if (patient_until_ && now >= *patient_until_ && before != self_) silent_.insert(before);
  if (before == self_ || silent_.contains(before)) return turn_to_chair(now);
  if (asked_at_[before]) {
    if (now < std::max(next_ask_, *asked_at_[before] + between_asks)) return;
    next_ask_ = now + between_asks;
    ask_around(now);
  } else if (now >= next_look_) {
    // It was there; is it still?
    next_look_ = now + between_looks;
    ask(before, now);
  }
}

/// What is due is put off by the time in which this member did not run: it was stopped, or its
/// machine is busy.
void Agreement::look_at_clock(Clock::time_point now) {
  constexpr auto usual = std::chrono::milliseconds(20);
  constexpr auto long_gap = std::chrono::milliseconds(150);
  const Clock::time_point before = std::exchange(last_look_, now).value_or(now);
  if (!involved_since_ || now - before < long_gap) return;
  const Clock::duration gap = now - before - usual;
  *involved_since_ += gap;
  presides_since_ += gap;
  confirmations_due_ += gap;
  if (patient_until_) *patient_until_ += gap;
  for (auto& asked : asked_at_) {
    if (asked) *asked += gap;
  }
}

/// Sends what this member knows to another one, which will reply.
void Agreement::ask(std::uint32_t member, Clock::time_point now) {
  if (asked_at_[member]) return;  // What is on its way already need not be sent twice.
  asked_at_[member] = now;
  desk_.send(member, Letter::Kind::input, 0, knowledge());
}

/// Asks the members that may take the chair before this one; and all others, if this one may take
/// it next.
void Agreement::ask_around(Clock::time_point now) {
  std::vector<std::uint32_t> there;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (!silent_.contains(member)) there.push_back(member);
  }
  const bool may_preside = there.size() <= candidates || self_ <= there[candidates - 1];
  if (!may_preside) there.resize(candidates);
  for (const std::uint32_t member : there) {
    if (member != self_) ask(member, now);
  }
}

/// Whether this member need not be waited for any longer.
bool Agreement::is_overdue(std::uint32_t member, Clock::time_point now) const {
  if (member == self_ || silent_.contains(member)) return false;
  const bool owes_answer = presides_ && !answered_.contains(member);
  if (!owes_answer && (presides_ || !asked_at_[member])) return false;
  const Clock::time_point since = !owes_answer ? *asked_at_[member]
                                  : asked_at_[member]
                                      ? std::min(*asked_at_[member], presides_since_)
                                      : presides_since_;
  const Clock::duration patience =
      urgency_ == Urgency::urgent ? patience_.when_urgent : patience_.for_answers;
  return now >= since + (suspects_.contains(member) ? std::min(patience, patience_.for_suspects)
                                                    : patience);
}

/// Whose input the chair need not wait for any longer.
std::set<std::uint32_t> Agreement::late(Clock::time_point now) const {
  const Clock::time_point inputs_due = presides_since_ + patience_.for_inputs;
  const Clock::time_point suspects_due =
      involved_since_.value_or(presides_since_) + patience_.for_suspects;
  std::set<std::uint32_t> members;
  for (std::uint32_t member = 0; member < members_; ++member) {
    const bool is_suspect = suspects_.contains(member);
    if (now >= (is_suspect ? std::min(suspects_due, inputs_due) : inputs_due)) {
      members.insert(member);
    }
  }
  return members;
}

std::uint32_t Agreement::chair() const {
  for (std::uint32_t member = 0; member < self_; ++member) {
    if (!silent_.contains(member)) return member;
  }
  return self_;
}

/// By whom this member expects to be told: who was the last to take the chair, if anybody has.
std::uint32_t Agreement::awaited() const {
  const std::uint32_t last = promised_ % members_;
  return promised_ > 0 && !silent_.contains(last) ? last : chair();
}

bool Agreement::another_presides() const {
  const std::uint32_t last = promised_ % members_;
  return promised_ > 0 && last != self_ && !silent_.contains(last);
}

void Agreement::step_down(std::uint32_t ballot, Clock::time_point now) {
  promised_ = ballot;
  presides_ = false;
  wait_for_chair(now);
}

void Agreement::wait_for_chair(Clock::time_point now) {
  if (!involved_since_) involved_since_ = now;
  patient_until_ = now + patience_.for_inputs + 2 * patience_.for_answers;
  next_look_ = now + between_looks;
}

/// As it travels. Texts may hold any bytes.
std::string Agreement::knowledge() const {
  const Voice& own = voices_[self_];
  Json json{
      {"standing", own.standing}, {"subject", subject_}, {"urgent", urgency_ == Urgency::urgent}};
  if (own.input) json["input"] = *own.input;
  if (decision_) {
    json["decision"] = *decision_;
    json["ballot"] = decided_in_;
  }
  return json.dump(-1, Json::NotUtf8::replace);
}

/// Whoever has something to say tells the chair, or takes it.
void Agreement::turn_to_chair(Clock::time_point now) {
  if (presides_) return conclude(now);
  const std::uint32_t to = awaited();
  if (to == self_) return preside(now);
  wait_for_chair(now);
  // It may have heard from this member before, but not all that it has to say now.
  if (!asked_at_[to]) asked_at_[to] = now;
  desk_.send(to, Letter::Kind::input, 0, knowledge());
}

void Agreement::preside(Clock::time_point now) {
  if (another_presides()) return;  // And will tell.
  if (!involved_since_) involved_since_ = now;
  presides_ = true;
  promised_ = (promised_ / members_ + 1) * members_ + self_;
  presides_since_ = now;
  answered_.clear();
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member == self_ || silent_.contains(member)) continue;
    desk_.send(member, Letter::Kind::query, promised_, subject_);
  }
  voices_[self_].standing = desk_.stand(subject_);
  conclude(now);
}

void Agreement::answer(std::uint32_t ballot, const std::string& subject) {
  voices_[self_].standing = desk_.stand(subject);
  desk_.send(ballot % members_, Letter::Kind::answer, ballot, knowledge());
}

void Agreement::take(std::uint32_t from, const std::string& body) {
  const Json json = Json::try_parse(body).value_or(nullptr);
  if (!json.is_object()) return;
  Voice& voice = voices_[from];
  if (auto input = text_of(json, "input")) voice.input = std::move(input);
  if (auto standing = text_of(json, "standing"); standing && !standing->empty()) {
    voice.standing = std::move(*standing);
  }
  if (subject_.empty()) subject_ = text_of(json, "subject").value_or("");
  if (const Json* const urgent = json.find("urgent"); urgent != nullptr && *urgent == true)
    urgency_ = Urgency::urgent;
  auto decision = text_of(json, "decision");
  const Json* const ballot = json.find("ballot");
  if (!decision || ballot == nullptr) return;
  if (const auto number = whole<std::uint32_t>(*ballot)) note_heard(*decision, *number);
}

void Agreement::note_heard(const std::string& decision, std::uint32_t ballot) {
  if (heard_ && ballot < heard_of_) return;
  heard_ = decision;
  heard_of_ = ballot;
}

void Agreement::hand_on() const {
  if (!decision_) return;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member != self_) desk_.send(member, Letter::Kind::decide, decided_in_, *decision_);
  }
}

void Agreement::conclude(Clock::time_point now) {
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member == self_ || silent_.contains(member) || answered_.contains(member)) continue;
    return;
  }
  decision_ = heard_ ? heard_ : desk_.judge({voices_, silent_, late(now)});
  if (!decision_) return;
  decided_in_ = promised_;
  announce(now);
}

/// Also to those who are silent: they may only be slow, and shall know.
void Agreement::announce(Clock::time_point now) {
  presides_ = false;
  confirmations_due_ = now + patience_.for_confirmations;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member == self_) continue;
    if (!silent_.contains(member)) unconfirmed_.insert(member);
    desk_.send(member, Letter::Kind::decide, promised_, *decision_);
  }
}

bool Agreement::is_confirmed(Clock::time_point now) const {
  return decision_ && (unconfirmed_.empty() || now >= confirmations_due_);
}

}  // namespace tutti
