#pragma once

#include <sys/types.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/pattern.hpp"

/// Calls of `tutti run`, and the output of its ranks.
namespace tutti::test {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

/// The output of each of up to ten ranks.
inline std::map<char, std::vector<std::string>> by_rank(const std::string& text) {
  std::map<char, std::vector<std::string>> found;
  for (const std::string& line : lines(text)) {
    const bool prefixed = line.size() >= 4 && line[0] == '[' && line.compare(2, 2, "] ") == 0;
    EXPECT_TRUE(prefixed) << line.substr(0, 200);
    if (prefixed) found[line[1]].push_back(line.substr(4));
  }
  return found;
}

/// The arguments of `tutti run` with these options and a script for each rank.
inline std::vector<std::string> run_of_shell(std::vector<std::string> options,
                                             const std::string& script) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), {"--", "sh", "-c", script});
  return options;
}

/// The numbers in lines of ranks that begin with `word`.
inline std::vector<pid_t> numbers_after(const std::string& word, const std::string& text) {
  std::vector<pid_t> found;
  for (const Match& each : search_all(text, word + " ([0-9]+)")) {
    found.push_back(std::stoi(each[1]));
  }
  return found;
}

}  // namespace tutti::test
