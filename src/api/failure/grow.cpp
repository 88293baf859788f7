#include "api/failure/grow.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "api/communicator_impl.hpp"
#include "api/communicator_options.hpp"
#include "api/failure/ballot.hpp"
#include "api/group/unique_id.hpp"
#include "api/settings.hpp"
#include "core/json_value.hpp"
#include "rendezvous/invitation.hpp"

namespace tutti {
namespace {

/// What rank 0 sends to an admitted process.
struct Ticket {
  std::string
      meeting{};  ///< The unique id by which all ranks, old and new, create the larger group.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t completed = 0;

  [[nodiscard]] std::string text() const {
    return json_text(
        {{"meeting", meeting}, {"rank", rank}, {"ranks", ranks}, {"completed", completed}});
  }
  [[nodiscard]] static Ticket read(const std::string& text) {
    try {
      const JsonReader json = JsonReader::parse(text);
      return {.meeting = json.at("meeting").get<std::string>(),
              .rank = json.at("rank").get<std::uint32_t>(),
              .ranks = json.at("ranks").get<std::uint32_t>(),
              .completed = json.at("completed").get<std::uint64_t>()};
    } catch (const JsonError&) {
      throw Error(
          ErrorCode::mismatch,
          "the answer to the request for admission makes no sense: is tutti listening there?");
    }
  }
};

/// What rank 0 broadcasts to the group.
struct Admission {
  std::uint32_t newcomers = 0;
  std::string meeting{};  // As in Ticket.
  std::string trouble{};  // Why no process can be admitted; empty if there is no reason.

  [[nodiscard]] std::string text() const {
    return json_text({{"newcomers", newcomers}, {"meeting", meeting}, {"trouble", trouble}});
  }
  [[nodiscard]] static Admission read(const std::string& text) {
    const JsonReader json = JsonReader::parse(text);
    return {.newcomers = json.at("newcomers").get<std::uint32_t>(),
            .meeting = json.at("meeting").get<std::string>(),
            .trouble = json.at("trouble").get<std::string>()};
  }
};

/// Networks and shapes do not include the new ranks.
void forget_network(CommunicatorSettings& settings) {
  settings.network = nullptr;
  settings.places.clear();
  settings.shape = {};
  note_choices(settings);
}

/// The outcome is the same on all ranks, also if a rank is lost meanwhile: either all have the
/// larger group, or none has, or all throw. That takes an agreement: a collective can succeed on
/// one rank and fail on another.
bool have_all_grown(Communicator::Impl& parent, bool has_grown) {
  Consensus* const consensus = parent.health().consensus();
  if (consensus == nullptr) return has_grown;
  const Ballot own{.subject = Ballot::Subject::has_grown, .yes = has_grown};
  // All members shrink before they grow again, so the communicator must have failed on all.
  const auto give_up = [&](const Error& error, std::vector<std::uint32_t> missing) {
    return parent.health().give_up(error, "rank " + std::to_string(parent.rank()) + ": grow",
                                   std::move(missing));
  };
  Ballots ballots;
  try {
    ballots = consensus->agree(own.text());
  } catch (const Error& error) {
    throw give_up(error, {});
  }
  const bool are_all_here =
      ballots.size() == parent.size() &&
      std::all_of(ballots.begin(), ballots.end(), [](const auto& each) {
        return Ballot::read(each.second).subject == Ballot::Subject::has_grown;
      });
  if (are_all_here) return all_say(ballots, Ballot::Subject::has_grown);
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < parent.size(); ++rank) {
    if (!ballots.contains(rank)) missing.push_back(rank);
  }
  throw give_up({ErrorCode::peer_lost, "another rank was lost while the group was to grow"},
                std::move(missing));
}

/// How many processes request admission and are there. None is admitted if the group fails
/// meanwhile.
std::uint32_t wait_for_requests(Communicator::Impl& parent, const Growth& growth) {
  constexpr std::chrono::milliseconds between_looks{100};
  AdmissionListener& listener = *parent.settings().admission;
  const Clock::time_point until = Clock::now() + growth.wait;
  while (!parent.health().is_closed()) {
    std::size_t newcomers =
        listener.wait_for(growth.most, std::min(until, Clock::now() + between_looks));
    const bool is_late = Clock::now() >= until;
    if (newcomers >= growth.most || is_late) newcomers = listener.confirm(newcomers);
    if (newcomers >= growth.most || is_late) return static_cast<std::uint32_t>(newcomers);
  }
  return 0;
}

Admission admit(Communicator::Impl& parent, const Growth& growth) {
  Admission admission;
  try {
    const Endpoint at = Endpoint::parse(growth.at);
    std::shared_ptr<AdmissionListener>& listener = parent.settings().admission;
    if (!listener || listener->endpoint().text() != at.text()) {
      listener = nullptr;  // Closes the old one first: both might use the same address.
      listener = std::make_shared<AdmissionListener>(at, parent.settings().users_secret);
    }
    admission.newcomers = wait_for_requests(parent, growth);
    if (admission.newcomers == 0) return admission;
    admission.meeting = UniqueId::make().text();
    std::vector<std::string> tickets;
    for (std::uint32_t i = 0; i < admission.newcomers; ++i) {
      tickets.push_back(Ticket{.meeting = admission.meeting,
                               .rank = parent.size() + i,
                               .ranks = parent.size() + admission.newcomers,
                               .completed = parent.health().completed()}
                            .text());
    }
    listener->admit(tickets);
  } catch (const Error& error) {
    admission.trouble = error.what();
  }
  return admission;
}

/// Why this rank need not wait any longer for the ranks of the larger group, if it need not.
std::string trouble_of_growth(Communicator::Impl& parent, std::span<const std::uint32_t> missing) {
  if (parent.health().is_closed()) return "the group that was to grow has failed";
  // It votes on the outcome, which cannot be success without this rank.
  const Consensus* const consensus = parent.health().consensus();
  if (consensus != nullptr && consensus->is_next_asked()) return "another member has given up";
  if (parent.rank() > 0) return "";
  // Only when all that is missing is newcomers: then all members listen and learn the reason.
  if (missing.front() < parent.size()) return "";
  return parent.settings().admission->trouble_of_admitted();
}

/// Returns rank 0's text on all ranks. Rank 0 may be later than usual by `more`.
std::string broadcast(Communicator::Impl& parent, const std::string& text,
                      std::chrono::milliseconds more) {
  if (parent.size() == 1) return text;
  const auto tell = [&](void* data, std::size_t bytes) {
    parent.run({.collective = Collective::broadcast,
                .input = data,
                .output = data,
                .count = bytes,
                .options = {.timeout = std::chrono::ceil<std::chrono::milliseconds>(
                                           parent.settings().timeout) +
                                       more}});
  };
  std::uint64_t length = text.size();
  tell(&length, sizeof length);
  std::string told = text;
  told.resize(length);
  tell(told.data(), length);
  return told;
}

}  // namespace

Regrouped grow(Communicator::Impl& parent, const Growth& growth) {
  parent.health().require_usable();
  Admission admission;
  if (parent.rank() == 0) admission = admit(parent, growth);
  admission = Admission::read(broadcast(parent, admission.text(), growth.wait));
  if (!admission.trouble.empty()) throw Error(ErrorCode::invalid_argument, admission.trouble);
  if (admission.newcomers == 0) {
    (void)have_all_grown(parent, false);
    return {};
  }

  const std::uint32_t larger = parent.size() + admission.newcomers;
  std::optional<Communicator> grown;
  try {
    CommunicatorSettings settings = parent.settings();
    settings.completed = parent.health().completed();
    settings.identity = 1;
    forget_network(settings);
    settings.fabric.secret = settings.users_secret;
    grown = tutti::join(UniqueId(admission.meeting), parent.rank(), larger, settings,
                        {.timeout = growth.timeout,
                         .span = DeadlineSpan::all_rounds,
                         .inquiry = [&](std::span<const std::uint32_t> missing) {
                           return trouble_of_growth(parent, missing);
                         }});
  } catch (const Error&) {
    grown.reset();  // A new process has gone, or was too late. The group is unchanged.
  }
  if (!have_all_grown(parent, grown.has_value() && !parent.health().is_closed())) grown.reset();
  if (!grown) return {};
  const std::uint64_t completed = grown->completed();
  return {.communicator = std::move(grown), .joined = admission.newcomers, .completed = completed};
}

Communicator Communicator::join(const std::string& at, std::chrono::milliseconds timeout,
                                const CommunicatorOptions& options) {
  const std::unique_ptr<Invitation> invitation = request_admission(
      Endpoint::parse(at), secret_of_user(options.secret), Clock::now() + timeout);
  const Ticket ticket = Ticket::read(invitation->ticket());
  CommunicatorSettings settings = settings_of(options, ticket.ranks);
  forget_network(settings);
  settings.completed = ticket.completed;
  return tutti::join(UniqueId(ticket.meeting), ticket.rank, ticket.ranks, settings,
                     {.timeout = timeout});
}

}  // namespace tutti
