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

constexpr std::array peers{Library::openmpi, Library::mpich, Library::gloo, Library::direct};
constexpr std::string_view in_place_word = "in_place";

// Settings, separated by spaces; "-" is the library with its defaults. A collective that is not
// listed has no settings.
using Settings = std::map<Collective, std::string_view>;

// The settings that were the fastest of their library for some size and number of ranks, and always
// Open MPI with and without yielding, its ring, and Gloo's ring and bcube. In place if tutti is.
const Settings& shortlist(Library library, bool tcp) {
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
         did_you_mean(library, known) + " There are: openmpi mpich gloo direct.");
}

std::vector<Contender> contenders(const PeerWish& wish, const VersusField& field) {
  const Library library = wish.library;
  std::string settings = wish.settings;
  if (settings == "all") {
    settings = all_settings(library, field);
  } else if (settings.empty() && library == Library::mpich &&
             field.ranks > allowed_cores().size()) {
    // MPICH ranks spin while they wait for each other's cores, so even one setting takes long.
    settings = "-";
  } else if (settings.empty()) {
    const Settings& known = shortlist(library, field.tcp);
    const auto at = known.find(field.collective);
    settings = at == known.end() ? "" : at->second;
  }
  std::vector<Contender> found;
  std::istringstream each(settings);
  for (std::string one; each >> one;) {
    found.push_back(contender(library, one));
    (void)command_of(found.back(), field, "");  // Throws for an unknown setting.
  }
  return found;
}

}  // namespace tutti::cli
