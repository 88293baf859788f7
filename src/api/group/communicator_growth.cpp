#include <algorithm>

#include "api/communicator_impl.hpp"
#include "api/communicator_options.hpp"
#include "api/group/ballot.hpp"
#include "api/group/unique_id.hpp"
#include "api/settings.hpp"
#include "core/json.hpp"

/// How others come into a group that is at work: they wait at its door, and when the group is ready
/// all meet anew, old and new.
namespace tutti {
namespace {

/// What one who is let in needs to know.
struct Ticket {
  std::string meeting{};  ///< A unique id.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t completed = 0;

  [[nodiscard]] std::string text() const {
    return Json{{"meeting", meeting}, {"rank", rank}, {"ranks", ranks}, {"completed", completed}}
        .dump();
  }
  [[nodiscard]] static Ticket read(const std::string& text) {
    try {
      const Json json = Json::parse(text);
      return {.meeting = json.at("meeting").get<std::string>(),
              .rank = json.at("rank").get<std::uint32_t>(),
              .ranks = json.at("ranks").get<std::uint32_t>(),
              .completed = json.at("completed").get<std::uint64_t>()};
    } catch (const JsonError&) {
      throw Error(ErrorCode::mismatch, "what came from the door is no ticket: is that tutti?");
    }
  }
};

/// What newcomers know too; the group itself may have met by one of its own.
Secret users_secret() { return settings_from_environment().fabric.secret; }

/// Networks and shapes know nothing of newcomers.
void forget_network(CommunicatorSettings& settings) {
  settings.network = nullptr;
  settings.places.clear();
  settings.shape = {};
  note_choices(settings);
}

}  // namespace

struct Communicator::Impl::Admission {
  std::uint32_t newcomers = 0;
  std::string meeting{};  // Where all meet.
  std::string trouble{};  // Why nobody can be let in.

  [[nodiscard]] std::string text() const {
    return Json{{"newcomers", newcomers}, {"meeting", meeting}, {"trouble", trouble}}.dump();
  }
  [[nodiscard]] static Admission read(const std::string& text) {
    const Json json = Json::parse(text);
    return {.newcomers = json.at("newcomers").get<std::uint32_t>(),
            .meeting = json.at("meeting").get<std::string>(),
            .trouble = json.at("trouble").get<std::string>()};
  }
};

std::optional<Communicator> Communicator::Impl::grow(const Growth& growth) {
  require_usable();
  Admission admission;
  if (rank() == 0) admission = open_door(growth);
  admission = Admission::read(tell_all(admission.text(), growth.wait));
  if (!admission.trouble.empty()) throw Error(ErrorCode::invalid_argument, admission.trouble);
  if (admission.newcomers == 0) {
    (void)have_all_grown(false);
    return std::nullopt;
  }

  const std::uint32_t larger = ranks_ + admission.newcomers;
  std::optional<Communicator> grown;
  try {
    CommunicatorSettings settings = settings_;
    settings.identity = 1;
    forget_network(settings);
    settings.fabric.secret = users_secret();
    grown = tutti::join(UniqueId(admission.meeting), rank(), larger, settings, growth.timeout);
  } catch (const Error&) {
    grown.reset();  // A newcomer has gone again, or was too late. The group is as it was.
  }
  if (!have_all_grown(grown.has_value() && !gate_.is_closed())) grown.reset();
  return grown;
}

/// It ends alike on all ranks, also if somebody is lost meanwhile: either all have the larger
/// group, or all know that nobody has, or all throw. That takes more than a call, which can succeed
/// on one rank and fail on another.
bool Communicator::Impl::have_all_grown(bool has_grown) {
  if (!council_) return has_grown;
  const Ballot own{.subject = Ballot::Subject::has_grown, .yes = has_grown};
  const Ballots ballots = council_->agree(own.text());
  const bool are_all_here =
      ballots.size() == ranks_ && std::all_of(ballots.begin(), ballots.end(), [](const auto& each) {
        return Ballot::read(each.second).subject == Ballot::Subject::has_grown;
      });
  if (are_all_here) return all_say(ballots, Ballot::Subject::has_grown);
  require_usable();
  throw Error(ErrorCode::peer_lost, "rank " + std::to_string(rank()) +
                                        ": another rank was lost while the group was to grow");
}

Communicator::Impl::Admission Communicator::Impl::open_door(const Growth& growth) {
  Admission admission;
  try {
    const Endpoint at = Endpoint::parse(growth.at);
    if (!settings_.door || settings_.door->endpoint().text() != at.text()) {
      settings_.door = nullptr;  // Two cannot listen at one place.
      settings_.door = std::make_shared<Door>(at, users_secret());
    }
    admission.newcomers = wait_at_door(growth);
    if (admission.newcomers == 0) return admission;
    admission.meeting = UniqueId::make().text();
    std::vector<std::string> tickets;
    for (std::uint32_t i = 0; i < admission.newcomers; ++i) {
      tickets.push_back(Ticket{.meeting = admission.meeting,
                               .rank = ranks_ + i,
                               .ranks = ranks_ + admission.newcomers,
                               .completed = settings_.completed}
                            .text());
    }
    settings_.door->hand_out(tickets);
  } catch (const Error& error) {
    admission.trouble = error.what();
  }
  return admission;
}

/// How many newcomers there are. If the group comes to its end meanwhile, nobody is let in.
std::uint32_t Communicator::Impl::wait_at_door(const Growth& growth) const {
  constexpr std::chrono::milliseconds between_looks{100};
  const Clock::time_point until = Clock::now() + growth.wait;
  std::size_t newcomers = 0;
  do {
    newcomers =
        settings_.door->wait_for(growth.most, std::min(until, Clock::now() + between_looks));
  } while (newcomers < growth.most && Clock::now() < until && !gate_.is_closed());
  return gate_.is_closed() ? 0 : static_cast<std::uint32_t>(newcomers);
}

/// What rank 0 says, which may take it so much longer than usual.
std::string Communicator::Impl::tell_all(const std::string& text, std::chrono::milliseconds more) {
  if (ranks_ == 1) return text;
  const auto tell = [&](void* data, std::size_t bytes) {
    run({.collective = Collective::broadcast,
         .input = data,
         .output = data,
         .count = bytes,
         .options = {.timeout =
                         std::chrono::ceil<std::chrono::milliseconds>(settings_.timeout) + more}});
  };
  std::uint64_t length = text.size();
  tell(&length, sizeof length);
  std::string told = text;
  told.resize(length);
  tell(told.data(), length);
  return told;
}

Communicator Communicator::join(const std::string& at, std::chrono::milliseconds timeout,
                                const CommunicatorOptions& options) {
  const Secret secret = users_secret();
  const Ticket ticket = Ticket::read(knock(Endpoint::parse(at), secret, Clock::now() + timeout));
  CommunicatorSettings settings = settings_of(options, ticket.ranks);
  settings.fabric.secret = secret;
  forget_network(settings);
  settings.completed = ticket.completed;
  return tutti::join(UniqueId(ticket.meeting), ticket.rank, ticket.ranks, settings, timeout);
}

}  // namespace tutti
