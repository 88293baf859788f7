#include <atomic>

#include <tutti/communicator.hpp>

#include "api/communicator_impl.hpp"
#include "api/failure/grow.hpp"
#include "api/failure/shrink.hpp"
#include "api/group/split.hpp"

namespace tutti {

namespace {

/// A communicator that a forked child did not destroy: only the parent may leave the group, and the
/// child has no threads to join.
struct Abandoned {
  std::unique_ptr<Communicator::Impl> communicator;
  Abandoned* before;
};
constinit std::atomic<Abandoned*> abandoned{nullptr};

void abandon(std::unique_ptr<Communicator::Impl> communicator) {
  auto* const last = new Abandoned{.communicator = std::move(communicator), .before = nullptr};
  last->before = abandoned.exchange(last);
}

Communicator::Impl& existing(const std::unique_ptr<Communicator::Impl>& impl) {
  if (impl) return *impl;
  throw Error(ErrorCode::invalid_argument,
              "this communicator was moved from: use the one that it was moved to");
}

/// The communicator, for a call. Throws in a forked child.
Communicator::Impl& usable(const std::unique_ptr<Communicator::Impl>& impl) {
  Communicator::Impl& found = existing(impl);
  found.require_here();
  return found;
}

}  // namespace

Communicator::Impl& internals(const Communicator& communicator) {
  return usable(communicator.impl_);
}

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this == &other) return *this;
  const Communicator before(std::move(*this));
  impl_ = std::move(other.impl_);
  return *this;
}
Communicator::~Communicator() {
  if (impl_ && !impl_->origin().is_here()) abandon(std::move(impl_));
}

std::uint32_t Communicator::rank() const { return existing(impl_).rank(); }
std::uint32_t Communicator::size() const { return existing(impl_).size(); }

void Communicator::run(const Call& call) { usable(impl_).run(call); }
Work Communicator::start(const Call& call) { return usable(impl_).start(call); }
PreparedCall Communicator::prepare(const Call& call) { return usable(impl_).prepare(call); }

std::vector<Envelope> Communicator::run(std::span<const Outgoing> out, std::span<const Incoming> in,
                                        const MessageOptions& options) {
  return usable(impl_).point_to_point().run(out, in, options);
}
Work Communicator::start(std::span<const Outgoing> out, std::span<const Incoming> in,
                         const MessageOptions& options) {
  return usable(impl_).point_to_point().start(out, in, options);
}
Envelope Communicator::probe(std::uint32_t from, const MessageOptions& options) {
  return usable(impl_).point_to_point().wait_for_message(from, options.tag, options);
}
std::optional<Envelope> Communicator::try_probe(std::uint32_t from, std::uint32_t tag) {
  return usable(impl_).point_to_point().probe(from, tag);
}

std::optional<Communicator> Communicator::split(std::optional<std::uint32_t> color,
                                                std::uint32_t key,
                                                const CommunicatorOptions& options) {
  return tutti::split(usable(impl_), color, key, options);
}
Communicator Communicator::duplicate(const CommunicatorOptions& options) {
  return std::move(*tutti::split(usable(impl_), 0, 0, options));
}

void Communicator::abort(const std::string& reason) { usable(impl_).health().abort(reason); }
std::optional<Verdict> Communicator::verdict() const { return usable(impl_).health().verdict(); }
Regrouped Communicator::shrink(std::uint64_t completed) {
  return tutti::shrink(usable(impl_), completed);
}
Regrouped Communicator::grow(const Growth& growth) { return tutti::grow(usable(impl_), growth); }
std::uint64_t Communicator::completed() const { return usable(impl_).health().completed(); }
void Communicator::set_completed(std::uint64_t calls) {
  usable(impl_).health().set_completed(calls);
}

Counters Communicator::counters(Collective collective) const {
  return usable(impl_).runner().counters(collective);
}
Counters Communicator::message_counters() const {
  return usable(impl_).point_to_point().counters();
}
std::string Communicator::algorithm_for(const Call& call) const {
  return std::string(usable(impl_).runner().method_for(call).name());
}
std::string Communicator::description() const { return usable(impl_).description(); }

}  // namespace tutti
