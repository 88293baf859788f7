#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// The commands as data, from which help, manual pages and completions are made.
namespace tutti::cli {

struct DescribedOption {
  std::vector<std::string> names;  ///< "-p", "--ranks"; for a positional one word: "network".
  bool positional = false;
  bool required = false;
  std::string value;  ///< "N", or "TIME (1us)" with the default; empty: it takes none.
  std::string help;
  std::vector<std::string> choices;  ///< The possible values, if there are few.
};

struct Description {
  std::string path;  ///< "tutti topo show"
  std::string summary;
  std::vector<DescribedOption> options;  ///< Without those that help does not show.
  std::vector<Description> commands;
  std::string footer;

  /// "show" of "tutti topo show".
  [[nodiscard]] std::string name() const;
  /// The subcommand of this name; null if there is none.
  [[nodiscard]] const Description* find(const std::string& name) const;
  /// "tutti cost [OPTIONS] NAME..."
  [[nodiscard]] std::string usage() const;
};

/// The help, in lines of at most `columns`.
[[nodiscard]] std::string help_text(const Description& command, std::size_t columns);

/// A page for man(1) in section 1. Requires: `version` is like "tutti 0.1.0".
[[nodiscard]] std::string manual_page(const Description& command, const std::string& version);

}  // namespace tutti::cli
