#include "lifeline/lifeline.hpp"

#include "lifeline/council.hpp"

namespace tutti {

Lifeline::Lifeline(std::uint32_t self, std::vector<std::string> whereabouts)
    : self_(self), whereabouts_(std::move(whereabouts)) {}

Lifeline::~Lifeline() { post_.reset(); }

void Lifeline::attach(std::unique_ptr<ControlTransport> post) { post_ = std::move(post); }

void Lifeline::hear(std::uint32_t from, const std::string& text) {
  std::optional<ControlMessage> letter = decode_control_message(text);
  if (!letter) return;
  const std::lock_guard lock(mutex_);
  const auto found = councils_.find(letter->council);
  if (found == councils_.end()) {
    if (early_.size() == most_early) early_.pop_front();
    early_.push_back({.from = from, .letter = std::move(*letter)});
    return;
  }
  found->second->hear(from, *letter);
  changed_.notify_all();
}

void Lifeline::lose(std::uint32_t member, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!lost_.emplace(member, why).second) return;
  for (const auto& [id, council] : councils_) council->lose(member, why);
  changed_.notify_all();
}

bool Lifeline::is_lost(std::uint32_t member) {
  const std::lock_guard lock(mutex_);
  return lost_.contains(member);
}

bool Lifeline::tick() {
  const std::lock_guard lock(mutex_);
  bool soon = false;
  for (const auto& [id, council] : councils_) soon = council->tick() || soon;
  changed_.notify_all();
  return soon;
}

/// Requires: the mutex is held.
void Lifeline::enter(Council& council) {
  councils_.emplace(council.id(), &council);
  for (const auto& [member, why] : lost_) council.lose(member, why);
  for (auto each = early_.begin(); each != early_.end();) {
    if (each->letter.council != council.id()) {
      ++each;
      continue;
    }
    council.hear(each->from, each->letter);
    each = early_.erase(each);
  }
}

void Lifeline::leave(Council& council) { councils_.erase(council.id()); }

}  // namespace tutti
