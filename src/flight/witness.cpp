#include "flight/witness.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tutti {
namespace {

/// In seconds. A call that has run this long at the time of the dump is considered to hang.
constexpr double long_wait = 1;

double seconds(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) * 1e-9 : 0;
}

}  // namespace

Witness::Witness(const FlightDump& dump) : dump_(&dump) {
  for (const FlightRecord& record : dump.records) {
    if (collective_of(record.call.kind)) collectives_[record.number] = &record;
  }
}

const FlightRecord* Witness::last() const {
  return dump_->records.empty() ? nullptr : &dump_->records.back();
}

const FlightRecord* Witness::find(std::uint64_t number) const {
  const auto found = collectives_.find(number);
  return found == collectives_.end() ? nullptr : found->second;
}

bool Witness::is_waiting() const {
  if (last() == nullptr || last()->state == FlightRecord::State::done) return false;
  return last()->state == FlightRecord::State::failed || seconds_in(*last()) >= long_wait;
}

bool Witness::was_hit() const {
  constexpr std::array<std::string_view, 4> defects = {"SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE"};
  return std::find(defects.begin(), defects.end(), dump_->reason) != defects.end();
}

double Witness::begun(const FlightRecord& record) const { return wall(record.begun_ns); }

double Witness::ended(const FlightRecord& record) const {
  return wall(record.ended_ns == 0 ? dump_->steady_ns : record.ended_ns);
}

double Witness::seconds_in(const FlightRecord& record) const {
  return seconds(record.begun_ns, record.ended_ns == 0 ? dump_->steady_ns : record.ended_ns);
}

double Witness::seconds_since(const FlightRecord& record) const {
  return seconds(record.ended_ns == 0 ? record.begun_ns : record.ended_ns, dump_->steady_ns);
}

double Witness::wall(std::uint64_t steady_ns) const {
  return (static_cast<double>(dump_->wall_ns) -
          (static_cast<double>(dump_->steady_ns) - static_cast<double>(steady_ns))) *
         1e-9;
}

std::string rank_list(std::span<const std::uint32_t> ranks) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    // List two consecutive ranks one by one: "0 and 1", not "0 to 1".
    if (last < i + 2) last = i;
    words.push_back(std::to_string(ranks[i]) +
                    (last > i ? " to " + std::to_string(ranks[last]) : ""));
    i = last + 1;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace tutti
