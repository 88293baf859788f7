#include "versus/contender.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string_view>

#include <tutti/error.hpp>

#include "core/cores.hpp"
#include "core/nearest.hpp"
#include "core/reject.hpp"
#include "versus/command.hpp"

namespace tutti::cli {
namespace {

constexpr std::array peers{Library::openmpi, Library::mpich,  Library::intelmpi,
                           Library::gloo,    Library::oneccl, Library::direct};
constexpr std::string_view in_place_word = "in_place";

// Settings, separated by spaces; "-" is the library with its defaults. A collective that is not
// listed has no settings.
using Settings = std::map<Collective, std::string_view>;

// The settings that were the fastest of their library for some size and number of ranks, and always
// Open MPI with and without yielding, its ring, and Gloo's ring and bcube. In place if tutti is.
const Settings& fastest_settings(Library library, bool tcp) {
  using enum Collective;
  static const Settings openmpi_shm{
      {allreduce, "- yield0 yield1 nocma ucx coll_sm recursive_doubling ring rabenseifner"},
      {broadcast, "- yield0 yield1 nocma ucx coll_sm"},
      {reduce, "- yield0 yield1 ucx coll_sm"},
      {allgather, "- yield0 yield1 ucx"},
      {reduce_scatter, "- yield0 yield1 ucx"},
      {alltoall, "- yield0 yield1 ucx nocma"},
      {gather, "- yield0 yield1 ucx"},
      {scatter, "- yield0 yield1 ucx"},
      {barrier, "- yield0 yield1 ucx"}};
  static const Settings openmpi_tcp{
      {allreduce, "- yield0 yield1 ucx recursive_doubling ring segmented_ring rabenseifner"},
      {broadcast, "- yield0 yield1 ucx"},
      {reduce, "- yield0 yield1 ucx"},
      {allgather, "- yield0 yield1 ucx"},
      {reduce_scatter, "- yield0 yield1 ucx"},
      {alltoall, "- yield0 yield1 ucx"},
      {gather, "- yield0 yield1 ucx"},
      {scatter, "- yield0 yield1 ucx"},
      {barrier, "- yield0 yield1 ucx"}};
  static const Settings mpich{{allreduce, "- recursive_doubling"},
                              {broadcast, "-"},
                              {reduce, "-"},
                              {allgather, "-"},
                              {reduce_scatter, "-"},
                              {alltoall, "-"},
                              {gather, "-"},
                              {scatter, "-"},
                              {barrier, "-"}};
  static const Settings gloo_tcp{
      {allreduce, "ring bcube ring_chunked halving_doubling halving_doubling+sync_busy"},
      {broadcast, "ring"},
      {reduce, "ring"},
      {allgather, "ring"},
      {reduce_scatter, "halving_doubling"},
      {alltoall, "ring"},
      {gather, "ring"},
      {scatter, "ring"},
      {barrier, "ring"}};
  static const Settings direct_shm{{allreduce, "-"}, {broadcast, "-"},      {reduce, "-"},
                                   {allgather, "-"}, {reduce_scatter, "-"}, {alltoall, "-"},
                                   {gather, "-"},    {scatter, "-"},        {barrier, "-"}};
  static const Settings none;
  if (library == Library::openmpi) return tcp ? openmpi_tcp : openmpi_shm;
  if (library == Library::mpich) return mpich;
  if (library == Library::direct) return tcp ? none : direct_shm;
  return gloo_tcp;
}

/// Intel MPI's ranks, and oneCCL's, spin unless told otherwise.
std::string intel_settings(Library library, const VersusField& field, bool crowded) {
  const bool allreduce = field.collective == Collective::allreduce;
  if (library == Library::oneccl && crowded) return "worker ofi+worker";
  if (library == Library::oneccl) return allreduce ? "- ofi recursive_doubling ring" : "- ofi";
  if (crowded) return allreduce ? "yield wait yield+ring" : "yield wait";
  if (!allreduce) return "- wait";
  return field.tcp ? "- wait recursive_doubling rabenseifner ring"
                   : "- wait recursive_doubling ring";
}

/// The settings that a library stands for; empty if it does not support this field.
std::string shortlist(Library library, const VersusField& field) {
  const bool crowded = field.ranks > allowed_cores().size();
  if (library == Library::intelmpi || library == Library::oneccl) {
    return intel_settings(library, field, crowded);
  }
  // MPICH ranks spin while they wait for each other's cores, so even one setting takes long.
  if (library == Library::mpich && crowded) return "-";
  const Settings& known = fastest_settings(library, field.tcp);
  const auto at = known.find(field.collective);
  return at == known.end() ? "" : std::string(at->second);
}

/// All settings, each out of place and in place.
std::string all_settings(Library library, const VersusField& field) {
  const bool allreduce = field.collective == Collective::allreduce;
  std::string text = "- yield0 yield1 ucx";
  if (library == Library::openmpi && !field.tcp) text += " nocma coll_sm";
  if (library == Library::openmpi && allreduce) {
    text += " recursive_doubling ring segmented_ring rabenseifner";
  }
  if (library == Library::mpich)
    text = allreduce ? "- recursive_doubling reduce_scatter_allgather" : "-";
  if (library == Library::intelmpi) {
    text = "- yield wait";
    if (allreduce) text += " recursive_doubling rabenseifner ring";
  }
  if (library == Library::oneccl) {
    text = "- ofi worker ofi+worker";
    if (allreduce) text += " recursive_doubling rabenseifner ring nreduce";
  }
  if (library == Library::direct) text = field.tcp ? "" : "-";
  if (library == Library::gloo) {
    text = "ring halving_doubling";
    if (allreduce) text += " bcube ring_chunked ring_chunked+sync_busy halving_doubling+sync_busy";
  }
  if (field.collective == Collective::broadcast || field.collective == Collective::barrier) {
    return text;  // A broadcast is always in place, a barrier never.
  }
  std::istringstream each(text);
  for (std::string one; each >> one;) text += " " + (one == "-" ? "" : one + "+") + "in_place";
  return text;
}

/// `setting` is "ring+in_place", or "-" for the defaults.
Contender contender(Library library, const std::string& setting) {
  Contender made{.library = library};
  std::istringstream words(setting == "-" ? "" : setting);
  for (std::string word; std::getline(words, word, '+');) {
    if (word == in_place_word) {
      made.in_place = true;
    } else {
      made.words.push_back(word);
    }
  }
  return made;
}

}  // namespace

std::string Contender::setting() const {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "+") + word;
  if (in_place) text += (text.empty() ? "" : "+") + std::string(in_place_word);
  return text.empty() ? "default" : text;
}

std::string Contender::name() const {
  const std::string own(cli::name(library));
  return words.empty() && !in_place ? own : own + ":" + setting();
}

std::string Contender::process() const {
  return Contender{.library = library, .words = words}.name();
}

std::string PeerWish::text() const {
  const std::string own(name(library));
  return settings.empty() ? own : own + ":" + settings;
}

PeerWish parse_peer_wish(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string library = text.substr(0, colon);
  std::vector<std::string_view> known;
  for (const Library each : peers) {
    if (name(each) == library) {
      return {.library = each, .settings = text.substr(std::min(colon + 1, text.size()))};
    }
    known.push_back(name(each));
  }
  reject("--vs " + text + ": there is no '" + library + "' to compare with." +
         did_you_mean(library, known) + " There are: openmpi mpich intelmpi gloo oneccl direct.");
}

std::vector<Contender> contenders(const PeerWish& wish, const VersusField& field) {
  const Library library = wish.library;
  std::string settings = wish.settings;
  if (settings == "all") settings = all_settings(library, field);
  if (settings.empty()) settings = shortlist(library, field);
  std::vector<Contender> found;
  std::istringstream each(settings);
  for (std::string one; each >> one;) {
    found.push_back(contender(library, one));
    (void)command_of(found.back(), field, "");  // Throws for an unknown setting.
  }
  return found;
}

}  // namespace tutti::cli
