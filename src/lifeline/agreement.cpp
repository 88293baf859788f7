#include "lifeline/agreement.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace tutti {
namespace {

using Json = nlohmann::json;

std::optional<std::string> text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace

Agreement::Agreement(std::uint32_t self, std::uint32_t members, Desk desk, Patience patience)
    : self_(self),
      members_(members),
      desk_(std::move(desk)),
      patience_(patience),
      voices_(members) {}

void Agreement::put(std::string input, std::string subject, Clock::time_point now) {
  voices_[self_].input = std::move(input);
  subject_ = std::move(subject);
  if (decision_) return;
  turn_to_chair(now);
}

void Agreement::hear(std::uint32_t from, Letter::Kind kind, std::uint32_t ballot,
                     const std::string& body, Clock::time_point now) {
  switch (kind) {
    case Letter::Kind::input:
      take(from, body);
      if (decision_) {
        desk_.send(from, Letter::Kind::decide, promised_, *decision_);
      } else if (presides_) {
        conclude(now);
      } else if (another_presides()) {
        desk_.send(from, Letter::Kind::answer, promised_, knowledge());
      } else {
        // Whoever sends this believes that all below are gone. Should that be wrong, no harm is
        // done: who presides asks all the others first.
        preside(now);
      }
      return;
    case Letter::Kind::query:
      if (ballot % members_ != from) return;
      if (ballot < promised_) {
        // It would take no answer for silence: let it know of the later chair.
        desk_.send(from, decision_ ? Letter::Kind::decide : Letter::Kind::answer, promised_,
                   decision_ ? *decision_ : knowledge());
        return;
      }
      step_down(ballot, now);
      if (subject_.empty()) subject_ = body;
      answer(ballot, body);
      return;
    case Letter::Kind::answer:
      if (ballot > promised_ && !decision_) step_down(ballot, now);
      if (!presides_ || ballot != promised_) return;
      take(from, body);
      answered_.insert(from);
      conclude(now);
      return;
    case Letter::Kind::decide:
      if (decision_) return;
      if (ballot < promised_) {
        // Somebody may have acted on it: then a later chair must decide the same.
        note_heard(body, ballot);
        if (presides_) conclude(now);
        return;
      }
      promised_ = ballot;
      decision_ = body;
      decided_in_ = ballot;
      return;
    default:
      return;
  }
}

void Agreement::lose(std::uint32_t member, Clock::time_point now) {
  const std::uint32_t before = awaited();
  if (!silent_.insert(member).second || decision_) return;
  if (presides_ || member == before) turn_to_chair(now);
}

void Agreement::tick(Clock::time_point now) {
  if (decision_) return;
  if (presides_) {
    for (std::uint32_t member = 0; member < members_; ++member) {
      if (is_overdue(member, now)) silent_.insert(member);
    }
    conclude(now);
  } else if (patient_until_ && now >= *patient_until_) {
    if (awaited() != self_) silent_.insert(awaited());
    turn_to_chair(now);
  }
}

/// Whether the chair need not wait any longer for this member's answer.
bool Agreement::is_overdue(std::uint32_t member, Clock::time_point now) const {
  if (member == self_ || answered_.contains(member)) return false;
  return now >= (suspects_.contains(member) ? suspects_due_ : answers_due_);
}

/// Whose input the chair need not wait for any longer.
std::set<std::uint32_t> Agreement::late(Clock::time_point now) const {
  std::set<std::uint32_t> members;
  for (std::uint32_t member = 0; member < members_; ++member) {
    const bool is_suspect = suspects_.contains(member);
    if (now >= (is_suspect ? std::min(suspects_due_, inputs_due_) : inputs_due_)) {
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
  patient_until_ = now + patience_.for_inputs + 2 * patience_.for_answers;
}

/// As it travels. Texts may hold any bytes.
std::string Agreement::knowledge() const {
  const Voice& own = voices_[self_];
  Json json{{"standing", own.standing}, {"subject", subject_}};
  if (own.input) json["input"] = *own.input;
  if (decision_) {
    json["decision"] = *decision_;
    json["ballot"] = decided_in_;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Whoever has something to say tells the chair, or takes it.
void Agreement::turn_to_chair(Clock::time_point now) {
  if (presides_) return conclude(now);
  const std::uint32_t to = awaited();
  if (to == self_) return preside(now);
  // Who has taken the chair may still wait for others; who has not is to do so at once.
  const bool has_asked = promised_ > 0 && promised_ % members_ == to;
  patient_until_ = now + (has_asked ? patience_.for_inputs + 2 * patience_.for_answers
                          : suspects_.contains(to) ? patience_.for_suspects
                                                   : patience_.for_answers);
  desk_.send(to, Letter::Kind::input, 0, knowledge());
}

void Agreement::preside(Clock::time_point now) {
  if (another_presides()) return;  // And will tell.
  presides_ = true;
  promised_ = (promised_ / members_ + 1) * members_ + self_;
  answers_due_ = now + patience_.for_answers;
  suspects_due_ = now + patience_.for_suspects;
  inputs_due_ = now + patience_.for_inputs;
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
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return;
  Voice& voice = voices_[from];
  if (auto input = text_of(json, "input")) voice.input = std::move(input);
  if (auto standing = text_of(json, "standing"); standing && !standing->empty()) {
    voice.standing = std::move(*standing);
  }
  if (subject_.empty()) subject_ = text_of(json, "subject").value_or("");
  auto decision = text_of(json, "decision");
  const auto ballot = json.find("ballot");
  if (!decision || ballot == json.end() || !ballot->is_number_unsigned()) return;
  note_heard(*decision, ballot->get<std::uint32_t>());
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
  announce();
}

/// Also to those who are silent: they may only be slow, and shall know.
void Agreement::announce() {
  presides_ = false;
  for (std::uint32_t member = 0; member < members_; ++member) {
    if (member != self_) desk_.send(member, Letter::Kind::decide, promised_, *decision_);
  }
}

}  // namespace tutti
