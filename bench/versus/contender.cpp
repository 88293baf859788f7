#include "versus/contender.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string_view>

#include <tutti/error.hpp>

#include "cli/console/own_program.hpp"
#include "core/cores.hpp"
#include "core/nearest.hpp"
#include "core/reject.hpp"

namespace tutti::cli {
namespace {

using Words = std::vector<std::string>;

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

void set_mca(Words& command, const std::string& name, const std::string& value) {
  command.insert(command.end(), {"--mca", name, value});
}

bool has(const Contender& contender, std::string_view word) {
  return std::find(contender.words.begin(), contender.words.end(), word) != contender.words.end();
}

[[noreturn]] void refuse_word(const std::string& word, Library library,
                              const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view each : known) list += " " + std::string(each);
  reject("'" + word + "' is no setting of " + std::string(name(library)) + "." +
         did_you_mean(word, known) + " There are:" + list + ", in_place, and all.");
}

/// The algorithm can be set only for allreduce.
void set_openmpi_word(Words& command, const std::string& word) {
  static const std::map<std::string, std::string, std::less<>> algorithms{
      {"recursive_doubling", "3"}, {"ring", "4"}, {"segmented_ring", "5"}, {"rabenseifner", "6"}};
  if (word == "yield0" || word == "yield1") {
    set_mca(command, "mpi_yield_when_idle", word.substr(5));
  } else if (word == "nocma") {
    set_mca(command, "btl_vader_single_copy_mechanism", "none");
  } else if (word == "coll_sm") {
    set_mca(command, "coll_sm_priority", "100");
  } else if (const auto at = algorithms.find(word); at != algorithms.end()) {
    set_mca(command, "coll_tuned_use_dynamic_rules", "1");
    set_mca(command, "coll_tuned_allreduce_algorithm", at->second);
  } else if (word != "ucx") {
    refuse_word(word, Library::openmpi,
                {"yield0", "yield1", "ucx", "nocma", "coll_sm", "recursive_doubling", "ring",
                 "segmented_ring", "rabenseifner"});
  }
}

/// Binds each rank to a core if there are enough cores.
std::string binding(const VersusField& field) {
  return field.ranks <= allowed_cores().size() ? "core" : "none";
}

VersusCommand openmpi_command(const Contender& contender, const VersusField& field) {
  Words command{"mpirun.openmpi",
                "--allow-run-as-root",
                "--oversubscribe",
                "--bind-to",
                binding(field),
                "-np",
                std::to_string(field.ranks)};
  if (has(contender, "ucx")) {
    // Without an RDMA device, Open MPI uses UCX only if any device is allowed.
    set_mca(command, "pml", "ucx");
    set_mca(command, "opal_common_ucx_tls", "any");
    set_mca(command, "opal_common_ucx_devices", "any");
    command.insert(command.end(), {"-x", field.tcp ? "UCX_TLS=self,tcp" : "UCX_TLS=self,sm"});
    if (field.tcp) command.insert(command.end(), {"-x", "UCX_NET_DEVICES=lo"});
  } else {
    set_mca(command, "pml", "ob1");
    set_mca(command, "btl", field.tcp ? "tcp,self" : "vader,self");
    if (field.tcp) set_mca(command, "btl_tcp_if_include", "lo");
  }
  for (const std::string& word : contender.words) set_openmpi_word(command, word);
  return {.words = std::move(command)};
}

VersusCommand mpich_command(const Contender& contender, const VersusField& field) {
  VersusCommand command{
      .words = {"mpiexec.hydra", "-bind-to", binding(field), "-n", std::to_string(field.ranks)}};
  if (field.tcp) {
    command.variables = {
        {"MPIR_CVAR_NOLOCAL", "1"}, {"UCX_TLS", "self,tcp"}, {"UCX_NET_DEVICES", "lo"}};
  }
  for (const std::string& word : contender.words) {
    if (word != "recursive_doubling" && word != "reduce_scatter_allgather") {
      refuse_word(word, Library::mpich, {"recursive_doubling", "reduce_scatter_allgather"});
    }
    command.variables.emplace_back("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", word);
  }
  return command;
}

/// The arguments of the program itself.
Words gloo_words(const Contender& contender, const VersusField& field) {
  const std::vector<std::string_view> algorithms{"ring", "bcube", "ring_chunked",
                                                 "halving_doubling"};
  Words words{"--ranks", std::to_string(field.ranks)};
  for (const std::string& word : contender.words) {
    if (word == "sync_busy") {
      words.emplace_back("--sync-busy");
    } else if (std::find(algorithms.begin(), algorithms.end(), word) != algorithms.end()) {
      words.insert(words.end(), {"--algorithm", word});
    } else {
      refuse_word(word, Library::gloo,
                  {"ring", "bcube", "ring_chunked", "halving_doubling", "sync_busy"});
    }
  }
  return words;
}

/// tutti is started by `tutti run`. Its setting "private" is a kind of memory, "prepared" a kind of
/// call, others are algorithms.
VersusCommand tutti_command(const Contender& contender, const VersusField& field) {
  VersusCommand command{
      .words = {(build_folder() / "tutti").string(), "run", "-n", std::to_string(field.ranks),
                "--bind", binding(field), "--no-prefix", "--"},
      .variables = {{"TUTTI_TRANSPORT", field.tcp ? "tcp" : "shm"}}};
  for (const std::string& word : contender.words) {
    if (word == "private") {
      command.variables.emplace_back("TUTTI_BENCH_MEMORY", word);
    } else if (word == "prepared") {
      command.variables.emplace_back("TUTTI_BENCH_CALLS", word);
    } else {
      command.variables.emplace_back("TUTTI_BENCH_ALGORITHM", word);
    }
  }
  return command;
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

std::filesystem::path build_folder() {
  return std::filesystem::path(own_program()).parent_path().parent_path();
}

VersusCommand command_of(const Contender& contender, const VersusField& field,
                         const std::string& folder) {
  VersusCommand command;
  if (contender.is_tutti()) command = tutti_command(contender, field);
  if (contender.library == Library::openmpi) command = openmpi_command(contender, field);
  if (contender.library == Library::mpich) command = mpich_command(contender, field);
  command.words.push_back(folder + "/" + std::string(name(contender.library)));
  if (contender.library == Library::direct)
    command.words.insert(command.words.end(), {"--ranks", std::to_string(field.ranks)});
  if (contender.library == Library::gloo) {
    const Words words = gloo_words(contender, field);
    command.words.insert(command.words.end(), words.begin(), words.end());
  }
  command.words.insert(command.words.end(),
                       {"measure", "--follow", "--settings", contender.setting()});
  return command;
}

}  // namespace tutti::cli
