#include <gtest/gtest.h>

#include "lifeline/control_message.hpp"
#include "lifeline/failure_inquiry.hpp"
#include "lifeline/participant.hpp"
#include "support/random.hpp"

/// The texts that members send each other survive writing and reading, and garbage is rejected.
namespace tutti::test {
namespace {

std::string random_text(Random& random, std::uint64_t most) {
  std::string text;
  for (std::uint64_t i = random.below(most); i > 0; --i) {
    text += static_cast<char>(random.below(256U));
  }
  return text;
}

TEST(ControlMessage, RoundTrips) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const ControlMessage message{
        .kind = static_cast<ControlMessage::Kind>(random.below(ControlMessage::last_kind + 1U)),
        .communicator = random.bits(),
        .question = static_cast<std::uint32_t>(random.bits()),
        .ballot = static_cast<std::uint32_t>(random.bits()),
        .body = random_text(random, 100)};
    const std::optional<ControlMessage> read = decode_control_message(encode(message));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, message.kind);
    EXPECT_EQ(read->communicator, message.communicator);
    EXPECT_EQ(read->question, message.question);
    EXPECT_EQ(read->ballot, message.ballot);
    EXPECT_EQ(read->body, message.body);
  }
}

TEST(ControlMessage, RejectsShortTextAndUnknownKind) {
  const std::string whole = encode({.kind = ControlMessage::Kind::status, .communicator = 1});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(decode_control_message(std::string_view(whole).substr(0, bytes))) << bytes;
  }
  std::string other = whole;
  other[0] = static_cast<char>(ControlMessage::last_kind + 1);
  EXPECT_FALSE(decode_control_message(other));
}

TEST(Report, RoundTrips) {
  const Report report{.code = ErrorCode::mismatch,
                      .ranks = {0, 7, 4000000000U},
                      .call = ~std::uint64_t{0},
                      .words = "a \"word\"\n"};
  EXPECT_EQ(read_report(write(report)), report);
}

TEST(AgreedVerdict, RoundTrips) {
  const AgreedVerdict agreed{.verdict = {.code = ErrorCode::peer_lost,
                                         .ranks = {3},
                                         .words = "rank 3 is gone",
                                         .calls = {{.rank = 1, .words = "call 2"}}},
                             .unresponsive = {1, 2},
                             .completed = 17};
  EXPECT_EQ(read_agreed_verdict(write(agreed)), agreed);
}

TEST(AgreedVerdict, ReplacesBytesThatAreNotUtf8) {
  const auto read = read_agreed_verdict(write(AgreedVerdict{.verdict = {.words = "\xff\xfe"}}));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->verdict.words.empty());
}

TEST(RankStatus, RoundTrips) {
  const RankStatus read = read_rank_status(write(RankStatus{.call = 17,
                                                            .words = "call 17, barrier",
                                                            .runs = true,
                                                            .seconds = 1.5,
                                                            .about = 16,
                                                            .signature = 99,
                                                            .asked = "call 16, broadcast",
                                                            .done = 5}));
  EXPECT_EQ(read.call, 17U);
  EXPECT_EQ(read.words, "call 17, barrier");
  EXPECT_TRUE(read.runs);
  EXPECT_EQ(read.seconds, 1.5);
  EXPECT_EQ(read.about, 16U);
  EXPECT_EQ(read.signature, 99U);
  EXPECT_EQ(read.asked, "call 16, broadcast");
  EXPECT_EQ(read.done, 5U);
}

TEST(Texts, GarbageDoesNotThrow) {
  Random random(2);
  const std::vector<std::string> whole{
      write(Report{.ranks = {1}, .words = "w"}),
      write(AgreedVerdict{.verdict = {.ranks = {1}, .words = "w"}}),
      write(RankStatus{.call = 1, .words = "w"})};
  for (int i = 0; i < 5000; ++i) {
    std::string text = random.pick(whole);
    for (std::uint64_t changes = 1 + random.below(4U); changes > 0; --changes) {
      text[random.below(text.size())] = static_cast<char>(random.below(256U));
    }
    (void)read_report(text);
    (void)read_agreed_verdict(text);
    (void)read_rank_status(text);
    (void)decode_control_message(text);
  }
  EXPECT_FALSE(read_report(R"({"code":99,"ranks":[],"call":0,"words":""})"));
  EXPECT_FALSE(read_report(R"({"code":1,"ranks":"all","call":0,"words":""})"));
  EXPECT_FALSE(read_agreed_verdict(R"({"code":-1,"ranks":[],"words":""})"));
  EXPECT_FALSE(read_agreed_verdict("[]"));
  EXPECT_EQ(read_rank_status("{\"call\":\"seven\"}").call, 0U);
  EXPECT_EQ(read_rank_status("").call, 0U);
}

}  // namespace
}  // namespace tutti::test
