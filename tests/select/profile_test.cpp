#include "select/profile.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

namespace tutti {
namespace {

using test::expect_error;
using test::TemporaryDirectory;

TEST(Profile, BuiltInHasEveryReach) {
  const Profile& profile = built_in_profile();
  for (const Pairs pairs : {Pairs::process, Pairs::host, Pairs::loopback}) {
    for (const bool crowded : {false, true}) {
      const ReachProfile& found = profile.at({.pairs = pairs, .crowded = crowded}, 4);
      EXPECT_EQ(found.reach, (Reach{.pairs = pairs, .crowded = crowded}));
      EXPECT_FALSE(found.model.rates.empty());
    }
  }
  EXPECT_EQ(profile.at({.pairs = Pairs::network}, 4).reach.pairs, Pairs::network);
}

TEST(Profile, RoundTrips) {
  const Profile& profile = built_in_profile();
  EXPECT_EQ(Profile::parse(profile.json()), profile);
  EXPECT_EQ(Profile::parse(profile.json()).digest(), profile.digest());
}

TEST(Profile, RoundTripsWithGapsAndRepetitions) {
  const auto measured = [](const char* algorithm, std::vector<Measurement::Point> points) {
    return Measurement{.algorithm = algorithm, .ranks = 4, .cores = 2, .points = std::move(points)};
  };
  Profile profile = built_in_profile();
  profile.measurements = {
      measured("reduce/flat", {{.bytes = 64, .seconds = 1}, {.bytes = 4096, .seconds = 2}}),
      measured("reduce/binomial", {{.bytes = 8, .seconds = 3}, {.bytes = 512, .seconds = 4}}),
      measured("reduce/flat", {{.bytes = 8, .seconds = 5}}),
      measured("allreduce/ring", {{.bytes = 16, .seconds = 6}})};
  EXPECT_EQ(Profile::parse(profile.json()), profile);
}

TEST(Profile, DigestsDiffer) {
  Profile other = built_in_profile();
  other.reaches[0].link.alpha *= 1.0001;
  EXPECT_NE(other.digest(), built_in_profile().digest());
}

TEST(Profile, UnknownReachUsesTheMostSimilar) {
  Profile profile;
  for (const Reach reach : {Reach{.pairs = Pairs::loopback}, Reach{.pairs = Pairs::host}}) {
    profile.reaches.push_back({.reach = reach});
  }
  EXPECT_EQ(profile.at({.pairs = Pairs::process}, 4).reach.pairs, Pairs::host);
  EXPECT_EQ(profile.at({.pairs = Pairs::host, .crowded = true}, 4).reach.pairs, Pairs::host);
  EXPECT_EQ(profile.at({.pairs = Pairs::network}, 4).reach.pairs, Pairs::loopback);
}

TEST(Profile, UsesTheNearestNumberOfRanks) {
  Profile profile;
  for (const std::uint32_t ranks : {2U, 8U}) profile.reaches.push_back({.ranks = ranks});
  EXPECT_EQ(profile.at({}, 3).ranks, 2U);
  EXPECT_EQ(profile.at({}, 5).ranks, 8U);
  EXPECT_EQ(profile.at({}, 1000).ranks, 8U);
}

TEST(Profile, TakesTheMeanOfSeveralMeasurements) {
  const auto once = [](double seconds) {
    return Profile{.measurements = {{.algorithm = "allreduce/ring",
                                     .ranks = 2,
                                     .points = {{.bytes = 8, .seconds = seconds},
                                                {.bytes = 64, .seconds = 1}}}}};
  };
  Profile profile = once(2);
  profile.take_in(std::array{once(4), once(3)});
  EXPECT_EQ(profile.measurements[0].points[0].seconds, 3);
  EXPECT_EQ(profile.measurements[0].points[1].seconds, 1);
  profile.take_in(std::array{Profile{}});
  EXPECT_EQ(profile.measurements[0].points[0].seconds, 3);
}

TEST(Profile, MergeReplacesEqualEntriesAndKeepsTheRest) {
  const auto measured = [](const std::string& algorithm, std::uint32_t ranks, double seconds) {
    return Measurement{.algorithm = algorithm,
                       .ranks = ranks,
                       .cores = 2,
                       .points = {{.bytes = 8, .seconds = seconds}}};
  };
  Profile profile{
      .reaches = {{.link = {.alpha = 1}}},
      .measurements = {measured("allreduce/ring", 2, 1), measured("allreduce/ring", 4, 2)}};
  profile.merge({.machine = "new",
                 .reaches = {{.link = {.alpha = 3}}, {.reach = {.pairs = Pairs::network}}},
                 .measurements = {measured("allreduce/ring", 4, 5)}});
  EXPECT_EQ(profile.machine, "new");
  ASSERT_EQ(profile.reaches.size(), 2U);
  EXPECT_EQ(profile.at({}, 2).link.alpha, 3);
  ASSERT_EQ(profile.measurements.size(), 2U);
  EXPECT_EQ(profile.measurements[0].points[0].seconds, 1);
  EXPECT_EQ(profile.measurements[1].points[0].seconds, 5);
}

/// The built-in profile with one text replaced by another.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = built_in_profile().json();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Profile, RejectsInvalidFiles) {
  const auto refuses = [](const std::string& text, const std::string& part) {
    expect_error([&] { (void)Profile::parse(text); }, ErrorCode::invalid_argument, part);
  };
  refuses("", "tutti tune");
  refuses("[]", "tutti_profile");
  refuses("{}", "tutti_profile");
  refuses(changed("\"tutti_profile\": 2", "\"tutti_profile\": 1"), "its format is 1");
  refuses(changed("\"pairs\": \"process\"", "\"pairs\": \"proces\""), "process, host");
  refuses(changed("\"crowded\": false", "\"crowded\": 7"),
          "at /reaches/0/crowded: expected true or false, not 7");
  refuses(changed("\"alpha\": ", "\"alpha\": -"), "at /reaches/0/alpha: -");
  refuses(changed("\"beta\": ", "\"bet\": "), "at /reaches/0: the member \"beta\" is missing");
  refuses(changed("\"up_to\": ", "\"up_to\": \"x\", \"x\": "),
          "at /reaches/0/model/0/up_to: expected a whole number");
  // Numbers that do not fit the type of the member.
  refuses(changed("\"ranks\": 2", "\"ranks\": 4294967298"), "not 4294967298");
  refuses(changed("\"ranks\": 2", "\"ranks\": 2.5"),
          "at /reaches/0/ranks: expected a whole number from 2 to 4294967295, not 2.5");
  refuses(changed("\"slice_bytes\": ", "\"slice_bytes\": -"),
          "/slice_bytes: expected a whole number");
  refuses(changed("\"slice_bytes\": ", "\"slice_bytes\": 1e300, \"x\": "), "1e+300");
  refuses(changed("\"single_copy_from\": {", "\"single_copy_from\": {\"gather\": 0, \"x\": 1"),
          "at /reaches/0/single_copy_from/gather: expected a whole number from 1");
  refuses(changed("\"tutti_profile\": 2", "\"tutti_profile\": true"),
          "at /tutti_profile: expected a whole number");
  refuses(changed("\"bytes\":[8,", "\"bytes\":[80,"), "not sorted");
  refuses(changed("\"bytes\":[8,64,", "\"bytes\":["), "/seconds/");
  refuses(changed("/flat\":[", "/flat\":[-"), "/seconds/broadcast/flat/0: -");
  refuses(changed("/flat\":", "/flat\":[null],\"broadcast/other\":"), "is empty");
  refuses(changed("broadcast/flat", "broadcast/fla"), "broadcast/fla");
  refuses(built_in_profile().json().substr(0, 1000), "tutti tune");
}

TEST(Profile, RejectsEveryTruncation) {
  Profile profile = built_in_profile();
  profile.reaches.resize(2);
  profile.measurements.resize(30);
  const std::string text = profile.json();
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    EXPECT_THROW((void)Profile::parse(text.substr(0, length)), Error) << length;
  }
}

TEST(ProfileFile, NamesMeasuredSchedules) {
  const TemporaryDirectory folder;
  const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 4});
  std::ofstream(folder.path("ring.json")) << to_json(ring);
  Profile profile = built_in_profile();
  profile.measurements = {{.algorithm = "file:ring.json",
                           .schedule = prove(ring),
                           .ranks = 4,
                           .cores = 2,
                           .points = {{.bytes = 8, .seconds = 1e-6}}}};
  const std::string text = profile.json();
  EXPECT_EQ(Profile::parse(text, folder.path()), profile);
  EXPECT_EQ(Profile::parse(text, folder.path()).measurements[0].method().identity(),
            content_hash(ring));
  const auto refuses = [&](const std::string& part) {
    expect_error([&] { (void)Profile::parse(text, folder.path()); }, ErrorCode::invalid_argument,
                 part);
  };
  // The file has changed since the measurement.
  std::ofstream(folder.path("ring.json"))
      << to_json(algorithm("allreduce/mesh").schedule({.ranks = 4}));
  refuses("its content hash was " + hash_text(content_hash(ring)));
  std::filesystem::remove(folder.path("ring.json"));
  refuses("there is no such file");
}

TEST(ProfileFile, IsFoundInTheConfigurationDirectory) {
  const TemporaryDirectory folder;
  ::unsetenv("TUTTI_PROFILE");
  ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
  EXPECT_EQ(default_profile_path(), folder.path("tutti/profile.json"));
  EXPECT_EQ(find_profile().profile, built_in_profile());
  EXPECT_NE(find_profile().origin.find("there is no " + folder.path()), std::string::npos);
  Profile own = built_in_profile();
  own.machine = "mine";
  save_profile(own, default_profile_path());
  EXPECT_EQ(find_profile().profile.machine, "mine");
  own.machine = "named";
  save_profile(own, folder.path("other.json"));
  ::setenv("TUTTI_PROFILE", (folder.path("other.json")).c_str(), 1);
  EXPECT_EQ(find_profile().profile.machine, "named");
  ::setenv("TUTTI_PROFILE", (folder.path("missing.json")).c_str(), 1);
  expect_error([] { (void)find_profile(); }, ErrorCode::invalid_argument, "missing.json");
  ::unsetenv("TUTTI_PROFILE");
  ::unsetenv("XDG_CONFIG_HOME");
}

TEST(ProfileFile, IsWrittenAtomically) {
  const TemporaryDirectory folder;
  save_profile(built_in_profile(), folder.path("profile.json"));
  // A limit on the length of files acts like a full disk.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  expect_error([&] { save_profile(built_in_profile(), folder.path("profile.json")); },
               ErrorCode::invalid_argument, "File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  std::ifstream file(folder.path("profile.json"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(Profile::parse(text), built_in_profile());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace tutti
