#include "net/tls_session.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "net/handshake.hpp"
#include "support/line.hpp"
#include "support/random.hpp"

namespace tutti::test {
namespace {

using Side = Handshake::Side;
using State = Handshake::State;

const Secret secret = Secret{.bytes = "open sesame"}.encrypting();

/// Two ends and a man in the middle, which forwards their bytes and may read or change them.
class Wire {
 public:
  Line dialer;    // The dialer is at a.
  Line acceptor;  // The acceptor is at a.
  std::string sent_by_dialer;
  std::string sent_by_acceptor;

  void pass_on() {
    pass(dialer, acceptor, sent_by_dialer);
    pass(acceptor, dialer, sent_by_acceptor);
  }

 private:
  static void pass(Line& from, Line& to, std::string& sent) {
    const std::string bytes = take(from.b, 1 << 20);
    if (!bytes.empty()) give(to.b, bytes);
    sent += bytes;
  }
};

struct Ends {
  Handshake dials;
  Handshake accepts;
  State dials_state = State::reading;
  State accepts_state = State::reading;

  Ends(const Secret& one, const Secret& other, Wire& wire)
      : dials(Side::dials, one, "greeting of the dialer"),
        accepts(Side::accepts, other, "greeting of the acceptor") {
    for (int turns = 0; turns < 16; ++turns) {
      dials_state = dials.advance(wire.dialer.a);
      accepts_state = accepts.advance(wire.acceptor.a);
      wire.pass_on();
    }
  }
};

/// A wire whose ends have authenticated each other.
struct Talk {
  Wire wire;
  explicit Talk(const Secret& of_both = secret) {
    const Ends ends(of_both, of_both, wire);
    EXPECT_EQ(ends.dials_state, State::done) << ends.dials.refusal();
    EXPECT_EQ(ends.accepts_state, State::done) << ends.accepts.refusal();
  }
  [[nodiscard]] Channel& dialer() { return wire.dialer.a; }
  [[nodiscard]] Channel& acceptor() { return wire.acceptor.a; }
};

std::string read_some(Channel& channel) {
  std::string bytes(4096, '\0');
  const ssize_t got = channel.read(bytes.data(), bytes.size());
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What crosses the wire -----------------------------------------------------------------------

TEST(TlsSession, EncryptsData) {
  const std::string words = "what only ranks may know";
  for (const bool encrypts : {false, true}) {
    Talk talk(encrypts ? secret : Secret{.bytes = secret.bytes});
    ASSERT_EQ(talk.dialer().write(words.data(), words.size()), static_cast<ssize_t>(words.size()));
    talk.wire.pass_on();
    EXPECT_EQ(read_some(talk.acceptor()), words);
    ASSERT_EQ(talk.acceptor().write(words.data(), words.size()),
              static_cast<ssize_t>(words.size()));
    talk.wire.pass_on();
    EXPECT_EQ(read_some(talk.dialer()), words);
    for (const std::string& sent : {talk.wire.sent_by_dialer, talk.wire.sent_by_acceptor}) {
      EXPECT_EQ(contains(sent, words), !encrypts);
      EXPECT_EQ(contains(sent, "greeting of the "), !encrypts);
      EXPECT_FALSE(contains(sent, secret.bytes));
    }
  }
}

TEST(TlsSession, SameDataHasDifferentCiphertext) {
  Talk one;
  Talk other;
  const std::string words(100, 'w');
  for (Talk* each : {&one, &other}) {
    each->wire.sent_by_dialer.clear();
    ASSERT_EQ(each->dialer().write(words.data(), words.size()), 100);
    each->wire.pass_on();
  }
  EXPECT_EQ(one.wire.sent_by_dialer.size(), other.wire.sent_by_dialer.size());
  EXPECT_NE(one.wire.sent_by_dialer, other.wire.sent_by_dialer);
}

TEST(TlsSession, DetectsModifiedRecord) {
  const std::string words(100, 'w');
  for (const std::size_t at : {5U, 50U, 120U}) {
    Talk talk;
    ASSERT_EQ(talk.dialer().write(words.data(), words.size()), 100);
    std::string record = take(talk.wire.dialer.b);
    ASSERT_GT(record.size(), at);
    record[at] = static_cast<char>(record[at] ^ 1);
    give(talk.wire.acceptor.b, record);
    for (int times = 0; times < 2; ++times) {
      std::string bytes(200, '\0');
      EXPECT_EQ(talk.acceptor().read(bytes.data(), bytes.size()), -1);
      EXPECT_EQ(errno, EPROTO);
      EXPECT_EQ(bytes, std::string(200, '\0'));
    }
  }
}

TEST(TlsSession, DetectsReplayedRecord) {
  Talk talk;
  ASSERT_EQ(talk.dialer().write("once", 4), 4);
  const std::string record = take(talk.wire.dialer.b);
  give(talk.wire.acceptor.b, record + record);
  EXPECT_EQ(read_some(talk.acceptor()), "once");
  char byte = 0;
  EXPECT_EQ(talk.acceptor().read(&byte, 1), -1);
  EXPECT_EQ(errno, EPROTO);
}

// Streams -------------------------------------------------------------------------------------

/// Writes in random parts, and retries what was not written.
class Writer {
 public:
  Writer(Channel& channel, const std::string& data, std::uint32_t seed)
      : channel_(channel), data_(data), random_(seed) {}

  void advance() {
    if (size_ == 0) size_ = std::min(data_.size() - at_, std::size_t{1} + random_.below(100000U));
    const std::size_t first = size_ / (1 + random_.below(100U));
    std::array<iovec, 2> parts{
        iovec{.iov_base = const_cast<char*>(data_.data()) + at_, .iov_len = first},
        iovec{.iov_base = const_cast<char*>(data_.data()) + at_ + first, .iov_len = size_ - first}};
    const ssize_t written = channel_.write(parts);
    if (written < 0) {
      EXPECT_EQ(errno, EAGAIN);
      ++blocked;
      return;
    }
    at_ += static_cast<std::size_t>(written);
    size_ -= static_cast<std::size_t>(written);
  }
  [[nodiscard]] bool is_done() const { return at_ == data_.size(); }
  int blocked = 0;

 private:
  Channel& channel_;
  const std::string& data_;
  Random random_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;  // Of the write under way.
};

TEST(TlsSession, CarriesStreamsBothWaysThroughSmallBuffers) {
  Line line;
  const int bytes = 4096;
  for (const Channel* each : {&line.a, &line.b}) {
    setsockopt(each->fd(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }
  Handshake dials(Side::dials, secret, "a");
  Handshake accepts(Side::accepts, secret, "b");
  for (int turns = 0; turns < 16; ++turns) {
    (void)dials.advance(line.a);
    (void)accepts.advance(line.b);
  }
  Random random(5);
  std::string there(3000000, '\0');
  for (char& each : there) each = static_cast<char>(random.below(256U));
  const std::string back(there.rbegin(), there.rend());
  Writer a(line.a, there, 1);
  Writer b(line.b, back, 2);
  std::string at_a;
  std::string at_b;
  for (int turns = 0; turns < 1000000 && (at_a.size() < back.size() || at_b.size() < there.size());
       ++turns) {
    if (!a.is_done()) a.advance();
    if (!b.is_done()) b.advance();
    at_a += read_some(line.a);
    at_b += read_some(line.b);
  }
  EXPECT_TRUE(at_a == back);
  EXPECT_TRUE(at_b == there);
  EXPECT_GT(a.blocked, 0);
}

TEST(TlsSession, GathersHeaderAndBodyInOneRecord) {
  Talk talk;
  std::string header = "header";
  std::string body(1000, 'b');
  std::array<iovec, 2> parts{iovec{.iov_base = header.data(), .iov_len = header.size()},
                             iovec{.iov_base = body.data(), .iov_len = body.size()}};
  ASSERT_EQ(talk.dialer().write(parts), 1006);
  const std::string record = take(talk.wire.dialer.b);
  // A record adds a header, a type and a tag.
  EXPECT_EQ(record.size(), 1006U + 5 + 1 + 16);
  give(talk.wire.acceptor.b, record);
  EXPECT_EQ(read_some(talk.acceptor()), header + body);
}

/// The number of records of this length.
std::size_t records_of(const std::string& wire, std::size_t length) {
  std::size_t count = 0;
  for (std::size_t at = 0; at + 5 <= wire.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(wire[at + i]); };
    const std::size_t bytes = static_cast<std::size_t>(byte(3)) << 8 | byte(4);
    if (bytes == length) ++count;
    at += 5 + bytes;
  }
  return count;
}

TEST(TlsSession, UpdatesKeys) {
  const Secret often{.bytes = "s", .tls = std::make_shared<const Tls>("s", 3)};
  Talk talk(often);
  talk.wire.sent_by_dialer.clear();
  for (int i = 0; i < 100; ++i) {
    const std::string words = "words " + std::to_string(i) + std::string(50, '.');
    ASSERT_EQ(talk.dialer().write(words.data(), words.size()), static_cast<ssize_t>(words.size()));
    talk.wire.pass_on();
    ASSERT_EQ(read_some(talk.acceptor()), words);
  }
  // A key update message has five bytes and is encrypted like data.
  EXPECT_GE(records_of(talk.wire.sent_by_dialer, 5 + 1 + 16), 33U);
}

TEST(TlsSession, ReadsEndOfStreamWhenPeerCloses) {
  for (const bool sends_notify : {false, true}) {
    Line line;
    Handshake dials(Side::dials, secret, "a");
    Handshake accepts(Side::accepts, secret, "b");
    for (int turns = 0; turns < 16; ++turns) {
      (void)dials.advance(line.a);
      (void)accepts.advance(line.b);
    }
    ASSERT_EQ(line.a.write("last words", 10), 10);
    if (sends_notify) {
      line.a.finish();
      line.a.finish();
    } else {
      line.a = Channel();
    }
    EXPECT_EQ(read_some(line.b), "last words");
    char byte = 0;
    EXPECT_EQ(line.b.read(&byte, 1), 0);
    EXPECT_EQ(line.b.read(&byte, 1), 0);
    if (sends_notify) {
      // The other direction stays open.
      EXPECT_EQ(line.b.write("answer", 6), 6);
      EXPECT_EQ(read_some(line.a), "answer");
    } else {
      // SIGPIPE would end this program.
      EXPECT_EQ(line.b.write("answer", 6), -1);
      EXPECT_EQ(errno, EPIPE);
    }
  }
}

// Refusals ------------------------------------------------------------------------------------

TEST(TlsSession, RefusesDifferentSecret) {
  Wire wire;
  const Ends ends(secret, Secret{.bytes = "another"}.encrypting(), wire);
  EXPECT_EQ(ends.dials_state, State::refused);
  EXPECT_EQ(ends.accepts_state, State::refused);
  for (const Handshake* each : {&ends.dials, &ends.accepts}) {
    EXPECT_TRUE(each->is_final());
    EXPECT_TRUE(contains(each->refusal(), "TUTTI_SECRET")) << each->refusal();
  }
}

TEST(TlsSession, ReportsThatOnlyOneEndEncrypts) {
  const Secret plain{.bytes = secret.bytes};
  for (const bool dialer_encrypts : {false, true}) {
    Wire wire;
    const Ends ends(dialer_encrypts ? secret : plain, dialer_encrypts ? plain : secret, wire);
    EXPECT_EQ(ends.dials_state, State::refused);
    EXPECT_EQ(ends.accepts_state, State::refused);
    for (const Handshake* each : {&ends.dials, &ends.accepts}) {
      EXPECT_TRUE(each->is_final());
      EXPECT_TRUE(contains(each->refusal(), "TUTTI_TLS")) << each->refusal();
    }
  }
}

TEST(TlsSession, RefusesGarbage) {
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x16\x03\x01\xff\xff") + "x",
        std::string("\x16\x03\x01\x00\x05", 5) + "xxxxx", std::string(5000, '\0')}) {
    Line line;
    Handshake accepts(Side::accepts, secret, "b");
    give(line.a, garbage);
    EXPECT_EQ(accepts.advance(line.b), State::refused) << garbage;
    EXPECT_FALSE(accepts.has_left());
    EXPECT_FALSE(contains(accepts.refusal(), garbage));
  }
}

TEST(TlsSession, WaitsForRestOfPartialHello) {
  Line line;
  Handshake accepts(Side::accepts, secret, "b");
  EXPECT_EQ(accepts.advance(line.b), State::reading);
  give(line.a, std::string("\x16\x03\x01\x02", 4));
  EXPECT_EQ(accepts.advance(line.b), State::reading);
  line.a = Channel();
  EXPECT_EQ(accepts.advance(line.b), State::refused);
  EXPECT_TRUE(accepts.has_left());
}

/// An ordinary TLS end that does not know the secret.
class Foreigner {
 public:
  Foreigner(int fd, bool accepts) : context_(SSL_CTX_new(TLS_method()), &SSL_CTX_free) {
    if (accepts) certify();
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), fd);
    if (accepts) {
      SSL_set_accept_state(session_.get());
    } else {
      SSL_set_connect_state(session_.get());
    }
  }
  void advance() { (void)SSL_do_handshake(session_.get()); }
  [[nodiscard]] bool is_done() const { return SSL_is_init_finished(session_.get()) == 1; }

 private:
  /// Makes a self-signed certificate.
  void certify() {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    ASSERT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
    ASSERT_EQ(SSL_CTX_use_certificate(context_.get(), certificate.get()), 1);
    ASSERT_EQ(SSL_CTX_use_PrivateKey(context_.get(), key.get()), 1);
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> session_{nullptr, &SSL_free};
};

TEST(TlsSession, RefusesServerCertificate) {
  Line line;
  Foreigner foreigner(line.b.fd(), true);
  Handshake dials(Side::dials, secret, "a");
  State state = State::reading;
  for (int turns = 0; turns < 8; ++turns) {
    state = dials.advance(line.a);
    foreigner.advance();
  }
  EXPECT_EQ(state, State::refused);
  EXPECT_TRUE(contains(dials.refusal(), "certificate")) << dials.refusal();
}

TEST(TlsSession, RefusesClientWithoutSecret) {
  Line line;
  Foreigner foreigner(line.a.fd(), false);
  Handshake accepts(Side::accepts, secret, "b");
  State state = State::reading;
  for (int turns = 0; turns < 8; ++turns) {
    foreigner.advance();
    state = accepts.advance(line.b);
  }
  EXPECT_EQ(state, State::refused);
  EXPECT_FALSE(foreigner.is_done());
}

}  // namespace
}  // namespace tutti::test
