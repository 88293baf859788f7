#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/command.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

/// A folder with results of `tutti bench --vs`, and the two pages into which bench/report writes
/// them.
class PerformancePage {
 public:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path(name)) << text;
  }

  /// `first` is the first argument of bench/report; the folder, unless it is --again.
  void report(const std::string& first) {
    const Outcome run = shell("\"" TUTTI_GOLDEN_DIR "/../../bench/report\" " + first + " " +
                              directory_.path("page.md") + " " + directory_.path("front.md"));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    page_ = directory_.read("page.md");
    front_ = directory_.read("front.md");
  }

  [[nodiscard]] std::string folder() const { return directory_.path(); }
  [[nodiscard]] const std::string& page() const { return page_; }
  [[nodiscard]] bool page_has(const std::string& part) const {
    return page_.find(part) != std::string::npos;
  }
  [[nodiscard]] const std::string& front() const { return front_; }
  [[nodiscard]] bool front_has(const std::string& part) const {
    return front_.find(part) != std::string::npos;
  }

 private:
  TemporaryDirectory directory_;
  std::string page_;
  std::string front_;
};

/// A result of two rounds, with these medians.
Json result_of(const std::string& library, const std::string& setting, double least, double most) {
  return {{"name", setting == "default" ? library : library + ":" + setting},
          {"library", library},
          {"setting", setting},
          {"median_us", (least + most) / 2},
          {"p10_us", least},
          {"p90_us", most},
          {"medians_us", {least, most}}};
}

/// Programs have their buffers from malloc; memory of tutti::allocate is named beside it.
TEST(PerformancePage, OrdinaryMemoryComesFirst) {
  PerformancePage pages;
  const Json row{{"bytes", 64},
                 {"results",
                  {result_of("tutti", "default", 45, 55), result_of("tutti", "private", 90, 110),
                   result_of("openmpi", "ucx", 105, 195)}}};
  const Json versus{{"system", "Linux"},
                    {"rounds", 2},
                    {"seconds", 1},
                    {"versions", {{"openmpi", "4"}}},
                    {"rows", Json::array({row})},
                    {"failures", Json::array()}};
  const Json run{{"tutti", "0.1"}, {"versus", versus}};
  pages.write("allreduce-shm-2-fresh.json", run.dump());
  pages.write("page.md", "<!-- versus -->\n<!-- /versus -->\n");
  pages.write("front.md",
              "<!-- fast -->\n<!-- /fast -->\n<!-- fast words --><!-- /fast words -->\n"
              "beside <!-- fast peers -->old<!-- /fast peers -->.\n");
  pages.report(pages.folder());
  EXPECT_TRUE(
      pages.page_has("| collective | size | tutti, `malloc`, µs | p10 – p90 | "
                     "tutti, `tutti::allocate` | Open MPI |\n"))
      << pages.page();
  EXPECT_TRUE(
      pages.page_has("| allreduce | 64 B | 100 | 90 – 110 | 50 (0.50×) | 150 (1.50~) ucx |\n"))
      << pages.page();
  EXPECT_TRUE(
      pages.front_has("| 2 processes, shared memory, ordinary memory | 100 (1.50~) |\n"
                      "| 2 processes, shared memory, memory of `tutti::allocate` | 50 (3.00×) |\n"))
      << pages.front();
  EXPECT_TRUE(pages.front_has("beside <!-- fast peers -->Open MPI<!-- /fast peers -->."))
      << pages.front();
}

/// A case in which a peer is faster is in the list and in the range, whichever table it is in.
TEST(PerformancePage, SentencesAreMadeFromAllTables) {
  PerformancePage pages;
  const std::string head =
      "| collective | size | tutti, `malloc`, µs | p10 – p90 | tutti, `tutti::allocate` | Open MPI "
      "| MPICH |\n|---|\n";
  pages.write(
      "page.md",
      "<!-- versus -->\n### Two processes, shared memory\n\n" + head +
          "| allreduce | 1 MiB | 200 | 190 – 210 | 100 (0.50×) | 300 (1.50×) | 1,000 (5.00×) |\n"
          "| barrier |  | 2 | 1 – 3 | 2 (1.00~) | 1 (0.50~) ucx | 4 (2.00×) |\n"
          "### Two processes, shared memory, in place\n\n" +
          head +
          "| allreduce | 1 MiB | 500 | 490 – 510 | 100 (0.20×) | 450 (0.90×) ring |  |\n"
          "\n### Where tutti is not faster\n\nold\n<!-- /versus -->\n");
  pages.write("front.md", "<!-- fast words -->old<!-- /fast words -->\n");
  pages.report("--again");
  EXPECT_TRUE(pages.page_has(
      "shared memory, ordinary memory, 1 of 2 cases: barrier 0.50~.\n"
      "- Two processes, shared memory, memory of `tutti::allocate`, 1 of 2 cases: barrier 0.50.\n"))
      << pages.page();
  EXPECT_TRUE(pages.page_has("in place, ordinary memory, 1 of 1 cases: allreduce 1 MiB 0.90.\n"))
      << pages.page();
  EXPECT_FALSE(pages.page_has("old")) << pages.page();
  EXPECT_TRUE(pages.front_has(" is 0.9 to 1.5 times as fast")) << pages.front();
  EXPECT_TRUE(pages.front_has("; 3.0 to 4.5 times in memory from")) << pages.front();
}

}  // namespace
}  // namespace tutti::test
