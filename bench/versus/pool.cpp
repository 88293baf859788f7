#include "versus/pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <tutti/error.hpp>

#include "versus/command.hpp"

namespace tutti::cli {

VersusPool::VersusPool(const VersusField& field, std::string folder, Followers::Seconds patience)
    : field_(field), folder_(std::move(folder)), patience_(patience) {}

void VersusPool::enlist(const Contender& contender) {
  const std::string process = contender.process();
  if (failed_.contains(process)) return;
  try {
    if (!processes_.contains(process)) start(contender);
    contenders_.push_back(contender);
  } catch (const Error& error) {
    failed_.insert(process);
    note(process, error.what());
  }
}

void VersusPool::start(const Contender& contender) {
  const std::string program = folder_ + "/" + std::string(name(contender.library));
  if (::access(program.c_str(), X_OK) != 0) {
    throw Error(ErrorCode::unsupported, "there is no program " + program +
                                            "; './dev peers' installs what it needs and builds "
                                            "it, or --peers names another folder");
  }
  const Followers::Id id = followers_.start(command_of(contender, field_, folder_));
  try {
    // Any answer shows that its ranks have started: some settings have no barrier.
    const JsonReader answer = answer_to(id, "barrier 0 0 least=1");
    followers_.guard_family(id);
    if (answer.contains("version"))
      versions_[std::string(name(contender.library))] = answer.at("version").get<std::string>();
  } catch (const Error&) {
    followers_.end(id);
    throw;
  }
  processes_[contender.process()] = id;
}

JsonReader VersusPool::answer_to(Followers::Id id, const std::string& line) {
  const std::string answer = followers_.ask(id, line, patience_);
  try {
    JsonReader json = JsonReader::parse(answer);
    if (json.contains("error") || json.contains("median_us")) return json;
  } catch (const JsonError&) {
    // Reported below, like JSON that is no answer.
  }
  throw Error(ErrorCode::peer_lost, "its answer is not understood: " + answer);
}

std::optional<VersusPool::Turn> VersusPool::turn(const Contender& contender,
                                                 const std::string& line) {
  if (std::find(contenders_.begin(), contenders_.end(), contender) == contenders_.end()) {
    return std::nullopt;
  }
  const std::string process = contender.process();
  const auto begin = std::chrono::steady_clock::now();
  try {
    JsonReader answer = answer_to(processes_.at(process), line);
    if (answer.contains("error")) {
      dismiss(contender, answer.at("error").get<std::string>());
      return std::nullopt;
    }
    const Followers::Seconds took = std::chrono::steady_clock::now() - begin;
    return Turn{.answer = std::move(answer), .seconds = took.count()};
  } catch (const Error& error) {
    dismiss_process(process, "asked for '" + line + "', " + error.what());
    return std::nullopt;
  }
}

void VersusPool::dismiss(const Contender& contender, const std::string& why) {
  std::erase(contenders_, contender);
  note(contender.name(), why);
}

void VersusPool::dismiss_process(const std::string& process, const std::string& why) {
  failed_.insert(process);
  std::erase_if(contenders_, [&](const Contender& each) { return each.process() == process; });
  note(process, why);
  followers_.end(processes_.at(process));
}

void VersusPool::note(const std::string& name, const std::string& why) {
  failures_.emplace_back(name, why);
  std::fprintf(stderr, "tutti bench: %s: %s; going on without it\n", name.c_str(), why.c_str());
}

}  // namespace tutti::cli
