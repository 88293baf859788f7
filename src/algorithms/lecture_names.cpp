#include "algorithms/lecture_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/schedule/algorithm.hpp>

namespace tutti {
namespace {

struct LectureName {
  std::string_view word;
  std::string_view table;  ///< The first of these names that the collective has is meant.
  std::string_view otherwise{};
};

// A tree without more words is the binomial one, the lectures' minimum spanning tree, whose cost
// they give. The tree of NCCL is double_tree.
constexpr std::array lecture_names{
    LectureName{"tree", "binomial"},
    LectureName{"mst", "binomial"},
    LectureName{"minimum_spanning_tree", "binomial"},
    LectureName{"minimal_spanning_tree", "binomial"},
    LectureName{"spanning_tree", "binomial"},
    LectureName{"binomial_tree", "binomial"},
    LectureName{"binary", "binary_tree"},
    LectureName{"double_binary_tree", "double_tree"},
    LectureName{"two_tree", "double_tree"},
    LectureName{"nccl_tree", "double_tree"},
    LectureName{"k_nomial", "knomial"},
    LectureName{"knomial_tree", "knomial"},
    LectureName{"rabenseifner", "halving_doubling", "reduce_scatter_gather"},
    LectureName{"rabenseifners", "halving_doubling", "reduce_scatter_gather"},
    LectureName{"recursive_halving_doubling", "halving_doubling"},
    LectureName{"recursive_halving_and_doubling", "halving_doubling"},
    LectureName{"halving_and_doubling", "halving_doubling"},
    LectureName{"rhd", "halving_doubling"},
    LectureName{"butterfly", "recursive_doubling", "recursive_halving"},
    LectureName{"hypercube", "recursive_doubling", "recursive_halving"},
    LectureName{"doubling", "recursive_doubling"},
    LectureName{"halving", "recursive_halving"},
    LectureName{"ring_optimised", "ring"},
    LectureName{"ring_optimized", "ring"},
    LectureName{"optimised_ring", "ring"},
    LectureName{"optimized_ring", "ring"},
    LectureName{"staggered_ring", "ring"},
    LectureName{"bucket", "ring"},
    LectureName{"bucket_ring", "ring"},
    LectureName{"naive_ring", "ring_naive"},
    LectureName{"bidirectional", "bidirectional_ring"},
    LectureName{"ring_bidirectional", "bidirectional_ring"},
    LectureName{"2d_ring", "ring_ring"},
    LectureName{"ring_2d", "ring_ring"},
    LectureName{"hierarchical_ring", "ring_ring"},
    LectureName{"hierarchical", "ring_ring", "mesh_ring"},
    LectureName{"hierarchical_ring_tree", "ring_tree"},
    LectureName{"full_mesh", "mesh"},
    LectureName{"mesh_one_shot", "mesh"},
    LectureName{"one_shot", "mesh"},
    LectureName{"oneshot", "mesh"},
    LectureName{"direct", "mesh"},
    LectureName{"spread_out", "mesh"},
    LectureName{"two_shot", "mesh_two_shot"},
    LectureName{"twoshot", "mesh_two_shot"},
    LectureName{"single_root", "root", "flat"},
    LectureName{"parameter_server", "root"},
    LectureName{"linear", "flat"},
    LectureName{"pipeline", "chain"},
    LectureName{"van_de_geijn", "scatter_allgather"},
    LectureName{"pairwise_exchange", "pairwise"},
    LectureName{"neighbor_exchange", "neighbour_exchange"},
};

/// Lower case, with underscores between words.
std::string normal(std::string_view text) {
  std::string found;
  for (const char each : text) {
    if (each == '\'') continue;
    const bool between = each == '-' || each == ' ' || each == '_';
    if (between && (found.empty() || found.back() == '_')) continue;
    found += between ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  }
  return found;
}

std::string_view short_name(const Algorithm& each) {
  return each.name.substr(each.name.find('/') + 1);
}

/// The name as the table stores it, which lives as long as the program; empty if it has none.
std::string_view row_of(Collective collective, std::string_view name) {
  for (const Algorithm& each : algorithms(collective)) {
    if (!name.empty() && short_name(each) == name) return short_name(each);
  }
  return {};
}

std::optional<Collective> collective_of(std::string_view text) {
  try {
    return parse_collective(text);
  } catch (const Error&) {
    return {};
  }
}

std::string joined(Collective collective, std::string_view row) {
  return std::string(name(collective)) + "/" + std::string(row);
}

/// "ring_allreduce" or "allreduce_ring" → "allreduce/ring".
std::optional<std::string> split_at_collective(const std::string& words) {
  for (std::size_t at = words.find('_'); at != std::string::npos; at = words.find('_', at + 1)) {
    const std::string left = words.substr(0, at);
    const std::string right = words.substr(at + 1);
    if (const auto last = collective_of(right)) {
      const std::string_view row = table_name(*last, left);
      if (!row.empty()) return joined(*last, row);
    }
    if (const auto first = collective_of(left)) {
      const std::string_view row = table_name(*first, right);
      if (!row.empty()) return joined(*first, row);
    }
  }
  return {};
}

std::optional<std::string> of_any_collective(std::string_view word) {
  std::vector<std::string> found;
  for (const Collective each : collectives()) {
    const std::string_view row = table_name(each, word);
    if (!row.empty()) found.push_back(joined(each, row));
  }
  if (found.empty()) return split_at_collective(normal(word));
  const std::string usual = "allreduce/halving_doubling";
  const bool has_usual = std::find(found.begin(), found.end(), usual) != found.end();
  if (found.size() == 1 || has_usual) return has_usual ? usual : found.front();
  std::string list;
  for (const std::string& each : found) list += (list.empty() ? "" : ", ") + each;
  throw Error(ErrorCode::invalid_argument,
              "'" + std::string(word) + "' of which collective? There are " + list + ".");
}

}  // namespace

std::string_view table_name(Collective collective, std::string_view word) {
  const std::string wanted = normal(word);
  if (const std::string_view row = row_of(collective, wanted); !row.empty()) return row;
  for (const LectureName& each : lecture_names) {
    if (each.word != wanted) continue;
    const std::string_view row = row_of(collective, each.table);
    return row.empty() ? row_of(collective, each.otherwise) : row;
  }
  return {};
}

std::optional<std::string> full_name(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const std::string values(text.substr(colon));
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    const auto found = of_any_collective(name);
    if (!found) return {};
    return *found + values;
  }
  const auto collective = collective_of(name.substr(0, slash));
  if (!collective) return {};
  const std::string_view row = table_name(*collective, name.substr(slash + 1));
  if (row.empty()) return {};
  return joined(*collective, row) + values;
}

}  // namespace tutti
