#include "api/group/transport_set.hpp"

#include <algorithm>
#include <map>

#include <tutti/error.hpp>

namespace tutti {
namespace {

[[noreturn]] void refuse_memory(const std::string& why) {
  throw Error(ErrorCode::unsupported, "the ranks cannot all share memory: " + why +
                                          "; unset TUTTI_TRANSPORT to use TCP between them");
}

}  // namespace

TransportSet::TransportSet(const Roster& roster, const Opening& opening) : roster_(roster) {
  std::vector<const TransportRow*> rows;
  for (const TransportRow& row : transports()) {
    if (opening.choice.empty() || opening.choice == row.choice) rows.push_back(&row);
  }
  std::string trouble;
  while (!try_to_open(opening, rows, trouble)) {
    if (rows.empty()) refuse_memory(trouble);
  }
  by_member_.resize(roster_.size());
  for (std::uint32_t member = 0; member < roster_.size(); ++member) {
    const auto row = row_between(rows, roster_.self(), member);
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [&](const Open& each) { return each.row == rows[*row]; });
    by_member_[member] = static_cast<std::size_t>(found - open_.begin());
  }
}

/// False if one of them failed, which is then removed from the rows.
bool TransportSet::try_to_open(const Opening& opening, std::vector<const TransportRow*>& rows,
                               std::string& trouble) {
  const std::vector<bool> is_used = used_rows(rows, trouble);
  const auto many = std::count(is_used.begin(), is_used.end(), true);
  const std::shared_ptr<Doorbells> doorbells = many > 1 ? std::make_shared<Doorbells>() : nullptr;
  open_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_used[i]) continue;
    TransportRequest request{.exchange = opening.exchange,
                             .self = roster_.self(),
                             .members = roster_.members(),
                             .group = {},
                             .patience = roster_.is_roomy() ? rows[i]->roomy : rows[i]->crowded,
                             .doorbells = doorbells,
                             .has_ended = opening.has_ended,
                             .open_door = opening.listen,
                             .closing_timeout = opening.closing_timeout};
    for (std::uint32_t member = 0; member < roster_.size(); ++member) {
      const bool is_self = member == roster_.self();
      if (is_self || row_between(rows, roster_.self(), member) == i) {
        request.group.push_back(member);
      }
    }
    trouble.clear();
    std::unique_ptr<Transport> transport = rows[i]->open(request, trouble);
    if (!trouble.empty()) {
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
      return false;
    }
    open_.push_back({.row = rows[i], .transport = std::move(transport)});
  }
  return true;
}

std::vector<bool> TransportSet::used_rows(Rows rows, const std::string& trouble) const {
  std::vector<bool> is_used(rows.size());
  for (const auto& [a, b] : kinds_of_pairs(roster_.everyone().members)) {
    const auto row = row_between(rows, a, b);
    if (!row) refuse_memory(trouble.empty() ? "they are on several hosts" : trouble);
    is_used[*row] = true;
  }
  return is_used;
}

std::optional<std::size_t> TransportSet::row_between(Rows rows, std::uint32_t a,
                                                     std::uint32_t b) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]->reaches(roster_.members()[a], roster_.members()[b])) return i;
  }
  return std::nullopt;
}

/// One pair for each kind of pair: all pairs of one host are alike, and all pairs of two hosts are.
std::vector<std::pair<std::uint32_t, std::uint32_t>> TransportSet::kinds_of_pairs(
    std::span<const std::uint32_t> members) const {
  std::map<std::pair<std::string, bool>, std::vector<std::uint32_t>> sites;
  for (const std::uint32_t member : members) {
    const Whereabouts& where = roster_.members()[member];
    std::vector<std::uint32_t>& site = sites[{where.host, where.heap_fd >= 0}];
    if (site.size() < 2) site.push_back(member);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (auto a = sites.begin(); a != sites.end(); ++a) {
    if (a->second.size() > 1) pairs.emplace_back(a->second[0], a->second[1]);
    for (auto b = std::next(a); b != sites.end(); ++b) {
      pairs.emplace_back(a->second[0], b->second[0]);
    }
  }
  return pairs;
}

bool TransportSet::serves(std::size_t index, const Membership& membership) const {
  return std::any_of(
      membership.members.begin(), membership.members.end(),
      [&](std::uint32_t member) { return member != roster_.self() && index_for(member) == index; });
}

bool TransportSet::maps_heaps(const Membership& membership) const {
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (open_[i].row->maps_heaps && serves(i, membership)) return true;
  }
  return false;
}

std::optional<std::string> TransportSet::medium_in(const Membership& membership,
                                                   bool shares_memory) const {
  std::vector<const TransportRow*> rows;
  for (const Open& each : open_) rows.push_back(each.row);
  for (const auto& [a, b] : kinds_of_pairs(membership.members)) {
    const auto row = row_between(rows, a, b);
    if (row && rows[*row]->shares_memory == shares_memory) return std::string(rows[*row]->medium);
  }
  return std::nullopt;
}

}  // namespace tutti
