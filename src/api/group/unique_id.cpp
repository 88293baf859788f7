#include "api/group/unique_id.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "api/communicator_impl.hpp"
#include "api/settings.hpp"
#include "net/interface.hpp"
#include "rendezvous/tcp_member.hpp"
#include "rendezvous/tcp_root.hpp"

namespace tutti {
namespace {

constexpr const char* opening = "tutti1";
/// 128 random bits, as hexadecimal digits.
constexpr std::size_t key_length = 32;

/// The content of an id.
struct MeetingPlace {
  std::string key;
  std::vector<Endpoint> endpoints;
};

/// The listening sockets of ids that this process made and has not used yet. An id is a plain value
/// that the caller copies, so it cannot own its socket; the process does.
class Listeners {
 public:
  static Listeners& own() {
    static Listeners listeners;
    return listeners;
  }

  void add(const std::string& id, Socket socket) {
    const std::lock_guard lock(mutex_);
    sockets_.emplace(id, std::move(socket));
  }

  /// Returns an empty Socket if there is none, or if it was taken already.
  [[nodiscard]] Socket take(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = sockets_.find(id);
    if (found == sockets_.end()) return {};
    Socket socket = std::move(found->second);
    sockets_.erase(found);
    return socket;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Socket> sockets_;
};

std::vector<Endpoint> meeting_addresses(const std::string& interfaces) {
  std::vector<Endpoint> addresses = own_addresses(interfaces);
  const auto near = [](const Endpoint& each) { return each.is_loopback(); };
  if (!std::all_of(addresses.begin(), addresses.end(), near)) std::erase_if(addresses, near);
  return addresses;
}

Endpoint endpoint_from(const std::string& host, const std::string& port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return Endpoint::parse((is_ipv6 ? "[" + host + "]" : host) + ":" + port);
}

[[noreturn]] void reject_id() {
  throw Error(ErrorCode::invalid_argument,
              "this is not a unique id: pass all bytes of the id that the process of rank 0 made "
              "to every rank");
}

MeetingPlace parse(const std::string& id) {
  std::istringstream words(id);
  std::string word;
  std::string port;
  MeetingPlace place;
  words >> word >> place.key >> port;
  if (word != opening || place.key.size() != key_length) reject_id();
  try {
    while (words >> word) place.endpoints.push_back(endpoint_from(word, port));
  } catch (const Error&) {
    reject_id();
  }
  if (place.endpoints.empty()) reject_id();
  return place;
}

/// The secret is the key. A secret of the user's is added to it, so that a process that knows only
/// the id cannot join.
Secret common_secret(const Secret& of_user, const std::string& key) {
  const Secret common{.bytes = of_user.bytes.empty() ? key : of_user.bytes + " " + key};
  return of_user.tls ? common.encrypting() : common;
}

Communicator make(Exchange& exchange, const Group& group, const CommunicatorSettings& settings) {
  return Communicator(
      std::make_unique<Communicator::Impl>(exchange, group.rank, group.size, settings));
}

}  // namespace

UniqueId UniqueId::make(const CommunicatorOptions& options) {
  const FabricSettings settings = settings_from_environment().fabric;
  const std::vector<Endpoint> addresses =
      meeting_addresses(options.interfaces.empty() ? settings.interfaces : options.interfaces);
  const bool near = addresses.front().is_loopback();
  Socket listener = near ? listen_on(addresses.front(), settings.ports)
                         : listen_on_all(addresses, settings.ports);
  std::string text = std::string(opening) + " " + Secret::random().bytes.substr(0, key_length) +
                     " " + std::to_string(bound_to(listener).port());
  for (const Endpoint& each : addresses) {
    const std::string word = " " + each.host();
    if (text.size() + word.size() <= longest) text += word;
    if (near) break;
  }
  Listeners::own().add(text, std::move(listener));
  return UniqueId(text);
}

Communicator join(const UniqueId& id, std::uint32_t rank, std::uint32_t ranks,
                  CommunicatorSettings settings, const MeetingTime& time) {
  const MeetingPlace place = parse(id.text());
  if (rank >= ranks) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) + " of " +
                                                 std::to_string(ranks) +
                                                 ": a rank must be below the number of ranks");
  }
  settings.fabric.secret = common_secret(settings.fabric.secret, place.key);
  const Group group{.rank = rank, .size = ranks, .secret = settings.fabric.secret};
  const Clock::time_point deadline = Clock::now() + time.timeout;
  if (time.span == DeadlineSpan::all_rounds) settings.fabric.start_by = deadline;
  if (rank > 0) {
    TcpMember member(
        group, [&] { return place.endpoints; }, deadline, time.span, time.inquiry);
    return make(member, group, settings);
  }
  Socket listener = Listeners::own().take(id.text());
  if (!listener) {
    throw Error(ErrorCode::invalid_argument,
                "rank 0 must be in the process that made the unique id, and an id makes one "
                "communicator: make it where rank 0 is, and a new one for each communicator");
  }
  TcpRoot root(group, std::move(listener), deadline, time.span, time.inquiry);
  return make(root, group, settings);
}

}  // namespace tutti
