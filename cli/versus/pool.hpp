#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/versus/contender.hpp"
#include "cli/versus/followers.hpp"
#include "core/json.hpp"

namespace tutti::cli {

/// Those who take part in a comparison, and their processes. Who fails is named on standard error,
/// and the others go on.
class VersusPool {
 public:
  using Failure = std::pair<std::string, std::string>;  ///< Who, and why.

  /// An answer, and how many seconds it took to come.
  struct Turn {
    Json answer{};
    double seconds = 0;
  };

  /// `folder` is where the peers' programs are.
  VersusPool(const VersusField& field, std::string folder, Followers::Seconds patience);

  /// Starts the contender's process, if it has none yet, and waits until its ranks are there.
  void enlist(const Contender& contender);
  /// Lets a contender measure; none if it has failed now, or before.
  [[nodiscard]] std::optional<Turn> turn(const Contender& contender, const std::string& line);
  /// Lets it take no further part.
  void dismiss(const Contender& contender, const std::string& why);
  /// Notes a library that cannot take part at all.
  void note(const std::string& who, const std::string& why);

  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  [[nodiscard]] const std::map<std::string, std::string>& versions() const { return versions_; }
  [[nodiscard]] const std::vector<Failure>& failures() const { return failures_; }

 private:
  void start(const Contender& contender);
  void dismiss_process(const std::string& process, const std::string& why);
  /// The answer to a line, be it a refusal.
  [[nodiscard]] Json heard(Followers::Id id, const std::string& line);

  VersusField field_;
  std::string folder_;
  Followers::Seconds patience_;
  Followers followers_;
  std::vector<Contender> contenders_;
  std::map<std::string, Followers::Id> processes_;
  std::set<std::string> failed_;  // Processes.
  std::map<std::string, std::string> versions_;
  std::vector<Failure> failures_;
};

}  // namespace tutti::cli
