#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "versus/contender.hpp"
#include "versus/followers.hpp"

namespace tutti::cli {

/// The contenders of a comparison, and their processes. One that fails is reported on standard
/// error; the others go on.
class VersusPool {
 public:
  using Failure =
      std::pair<std::string, std::string>;  ///< The contender or process, and the reason.

  /// An answer, and the seconds until it came.
  struct Turn {
    JsonReader answer;
    double seconds = 0;
  };

  /// `folder` holds the peers' programs.
  VersusPool(const VersusField& field, std::string folder, Followers::Seconds patience);

  /// Starts the contender's process if it has none yet, and waits until its ranks have started.
  void enlist(const Contender& contender);
  /// Lets a contender measure. None if it fails, or has failed before.
  [[nodiscard]] std::optional<Turn> turn(const Contender& contender, const std::string& line);
  /// Removes a contender.
  void dismiss(const Contender& contender, const std::string& why);
  /// Records and prints a failure.
  void note(const std::string& name, const std::string& why);

  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  [[nodiscard]] const std::map<std::string, std::string>& versions() const { return versions_; }
  [[nodiscard]] const std::vector<Failure>& failures() const { return failures_; }

 private:
  void start(const Contender& contender);
  void dismiss_process(const std::string& process, const std::string& why);
  /// The answer to a line, which may be an error.
  [[nodiscard]] JsonReader answer_to(Followers::Id id, const std::string& line);

  VersusField field_;
  std::string folder_;
  Followers::Seconds patience_;
  Followers followers_;
  std::vector<Contender> contenders_;
  std::map<std::string, Followers::Id> processes_;
  std::set<std::string> failed_;  // Names of processes.
  std::map<std::string, std::string> versions_;
  std::vector<Failure> failures_;
};

}  // namespace tutti::cli
