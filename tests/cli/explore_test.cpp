#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "select/profile.hpp"
#include "support/command.hpp"

namespace tutti::test {
namespace {

namespace fs = std::filesystem;

/// A folder with a page, and with an empty home for the command.
class Explore : public testing::Test {
 protected:
  Explore() : folder_(fs::temp_directory_path() / ("tutti-explore-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    std::ofstream(page()) << "<script type=\"application/json\" id=\"profile\">null</script>";
  }
  ~Explore() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string page() const { return (folder_ / "page.html").string(); }
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string environment() const {
    return "env -u DISPLAY -u WAYLAND_DISPLAY -u BROWSER XDG_CACHE_HOME=" + folder_.string() +
           " XDG_CONFIG_HOME=" + folder_.string() + " " TUTTI_IN_SHELL " ";
  }
  static std::string text(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }

 private:
  fs::path folder_;
};

TEST_F(Explore, WritesThePage) {
  const Outcome outcome =
      shell(environment() + "explore --page " + page() + " -o " + path("copy.html"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(text(path("copy.html")), text(page()));
}

TEST_F(Explore, WithoutABrowserNamesTheAddress) {
  const Outcome outcome = shell(environment() + "explore --page " + page() + " --at view=cost");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "open this in a browser: file://" + path("tutti/explorer.html") + "#view=cost\n");
  EXPECT_EQ(text(path("tutti/explorer.html")), text(page()));
}

TEST_F(Explore, OffersTheProfileOfTheMachine) {
  fs::create_directories(path("tutti"));
  std::ofstream(path("tutti/profile.json")) << built_in_profile().json();
  const Outcome outcome = shell(environment() + "explore --page " + page() + " -o -");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("id=\"profile\">{\"links\":["), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\"alpha\":\"20.0us\""), std::string::npos) << outcome.out;
}

TEST_F(Explore, SaysHowToBuildAMissingPage) {
  fs::copy(TUTTI_COMMAND, path("tutti-alone"));
  const Outcome outcome = shell(path("tutti-alone") + " explore");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("Run ./dev explore"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace tutti::test
