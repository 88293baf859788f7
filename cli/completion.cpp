#include <cstdio>
#include <memory>

#include <tutti/error.hpp>

#include "cli/commands.hpp"
#include "cli/completion/candidates.hpp"
#include "cli/completion/scripts.hpp"
#include "cli/console/exit_code.hpp"

namespace tutti::cli {
namespace {

void print_lines(const std::vector<std::string>& lines) {
  for (const std::string& each : lines) std::printf("%s\n", each.c_str());
}

}  // namespace

void add_completion(Command tutti, std::vector<std::string> after_dashes) {
  const Command command =
      tutti.command("completion", "print a script that completes the words of tutti in a shell");
  auto shell = std::make_shared<std::string>();
  command.option("shell", *shell, "bash, zsh or fish").among({"bash", "zsh", "fish"}).required();
  command.footer(
      "source <(tutti completion bash)                                in ~/.bashrc\n"
      "source <(tutti completion zsh)                                 in ~/.zshrc\n"
      "tutti completion fish > ~/.config/fish/completions/tutti.fish  once");
  command.action([shell] {
    std::fputs(completion_script(*shell).c_str(), stdout);
    return success;
  });

  // Hidden: what the scripts ask.
  const Command asked = tutti.command("complete", "print what can be the last of these words");
  asked.hide();
  asked.action([tutti, words = std::move(after_dashes)] {
    print_lines(candidates(tutti.describe(), words));
    return success;
  });
}

}  // namespace tutti::cli
