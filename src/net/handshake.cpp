#include "net/handshake.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <tutti/error.hpp>

#include "core/random_bytes.hpp"
#include "net/crypto_use.hpp"

namespace tutti {
namespace {

// A hello: magic (7 bytes), version (1), nonce (32), length of the greeting (2, little-endian),
// zeros (6), and the greeting, padded with zeros.
constexpr std::string_view magic = "tutti\r\n";
constexpr std::byte version{1};
constexpr std::size_t version_at = magic.size();
constexpr std::size_t nonce_at = 8;
constexpr std::size_t nonce_bytes = 32;
constexpr std::size_t length_at = nonce_at + nonce_bytes;
constexpr std::size_t greeting_at = 48;

/// The first byte of a TLS alert or handshake record.
bool is_tls_record(std::byte first) { return first == std::byte{0x15} || first == std::byte{0x16}; }

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

Handshake::Handshake(Side side, Secret secret, const std::string& greeting)
    : side_(side), secret_(std::move(secret)) {
  static_assert(greeting_at + most_greeting == hello_bytes);
  if (greeting.size() > most_greeting) {
    throw Error(ErrorCode::internal, "a greeting of " + std::to_string(greeting.size()) +
                                         " bytes is too long: " + greeting);
  }
  std::memcpy(hello_.data(), magic.data(), magic.size());
  hello_[version_at] = version;
  fill_at_random({&hello_[nonce_at], nonce_bytes});
  hello_[length_at] = static_cast<std::byte>(greeting.size());
  std::memcpy(&hello_[greeting_at], greeting.data(), greeting.size());
}

Handshake::State Handshake::advance(Channel& channel) {
  if (secret_.tls && !is_private_) {
    const State state = encrypt(channel);
    if (state != State::done) return state;
  }
  while (refusal_.empty()) {
    const Flow out = write(channel);
    const Flow in = read(channel);
    if (!refusal_.empty()) break;
    if (written_ == all_bytes && read_ == all_bytes) return State::done;
    if (in == Flow::moved || out == Flow::moved) continue;
    return out == Flow::blocked ? State::writing : State::reading;
  }
  return State::refused;
}

Handshake::State Handshake::encrypt(Channel& channel) {
  if (channel.tls() == nullptr) channel.encrypt(secret_.tls, side_);
  TlsSession& session = *channel.tls();
  switch (session.open()) {
    case TlsSession::State::reading:
      return State::reading;
    case TlsSession::State::writing:
      return State::writing;
    case TlsSession::State::done:
      is_private_ = true;
      return State::done;
    case TlsSession::State::refused:
      break;
  }
  refusal_ = session.refusal().why;
  is_final_ = session.refusal().is_final;
  has_left_ = session.refusal().has_left;
  return State::refused;
}

Handshake::Flow Handshake::write(Channel& channel) {
  const bool at_hello = written_ < hello_bytes;
  if (!at_hello && (!may_prove_ || written_ == all_bytes)) return Flow::nothing;
  const std::byte* from = at_hello ? &hello_[written_] : &proof_[written_ - hello_bytes];
  const std::size_t left = (at_hello ? hello_bytes : all_bytes) - written_;
  const ssize_t sent = channel.write(from, left);
  if (sent < 0) {
    if (would_block(errno)) return Flow::blocked;
    if (errno != EINTR) lost(errno);
    return Flow::moved;
  }
  written_ += static_cast<std::size_t>(sent);
  return Flow::moved;
}

Handshake::Flow Handshake::read(Channel& channel) {
  if (read_ == all_bytes || !refusal_.empty()) return Flow::nothing;
  const bool at_hello = read_ < hello_bytes;
  std::byte* to = at_hello ? &peer_hello_[read_] : &peer_proof_[read_ - hello_bytes];
  const std::size_t left = (at_hello ? hello_bytes : all_bytes) - read_;
  const ssize_t received = channel.read(to, left);
  if (received < 0) {
    if (would_block(errno)) return Flow::blocked;
    if (errno != EINTR) lost(errno);
    return Flow::moved;
  }
  if (received == 0) {
    lost(0);
    return Flow::moved;
  }
  read_ += static_cast<std::size_t>(received);
  if (at_hello) check_opening();
  if (read_ == hello_bytes && refusal_.empty()) take_hello();
  if (read_ == all_bytes) check_proof(channel);
  return Flow::moved;
}

void Handshake::check_opening() {
  const std::size_t known = std::min(read_, magic.size());
  if (is_tls_record(peer_hello_.front()) && !is_private_) {
    refusal_ = "it encrypts, but this end does not: set TUTTI_TLS=1 for all ranks, or for none";
    is_final_ = true;
  } else if (std::memcmp(peer_hello_.data(), magic.data(), known) != 0) {
    refusal_ = "it does not speak tutti's protocol";
  } else if (read_ > version_at && peer_hello_[version_at] != version) {
    refusal_ = "it speaks version " +
               std::to_string(std::to_integer<int>(peer_hello_[version_at])) +
               " of tutti's handshake, this end version " +
               std::to_string(std::to_integer<int>(version)) + ": use one release of tutti";
  }
}

void Handshake::take_hello() {
  const auto length = std::to_integer<std::size_t>(peer_hello_[length_at]) |
                      std::to_integer<std::size_t>(peer_hello_[length_at + 1]) << 8;
  if (length > most_greeting) {
    refusal_ = "its greeting is too long";
    return;
  }
  if (CRYPTO_memcmp(hello_.data(), peer_hello_.data(), hello_bytes) == 0) {
    refusal_ = "it echoes the hello of this end";
    return;
  }
  peer_greeting_.assign(reinterpret_cast<const char*>(&peer_hello_[greeting_at]), length);
  proof_ = prove(side_);
  // The dialing end proves first, so that a peer that connects without the secret gets no HMAC to
  // test guesses against.
  may_prove_ = side_ == Side::dials;
}

void Handshake::check_proof(Channel& channel) {
  const auto expected = prove(side_ == Side::dials ? Side::accepts : Side::dials);
  if (CRYPTO_memcmp(expected.data(), peer_proof_.data(), proof_bytes) == 0) {
    may_prove_ = true;
    return;
  }
  is_final_ = true;
  if (peer_proof_ == std::array<std::byte, proof_bytes>{}) {
    refusal_ = "it has a different secret: give all ranks the same TUTTI_SECRET";
    return;
  }
  refusal_ = "it does not know the secret: give all ranks the same TUTTI_SECRET";
  // Zeros tell the peer that its proof was wrong. Best effort: not retried if the socket is full.
  proof_ = {};
  if (side_ == Side::accepts) {
    (void)channel.write(proof_.data(), proof_bytes);
  }
}

std::array<std::byte, Handshake::proof_bytes> Handshake::prove(Side side) const {
  const std::string_view label = side == Side::dials ? "tutti 1 dials   " : "tutti 1 accepts ";
  const auto& first = side_ == Side::dials ? hello_ : peer_hello_;
  const auto& second = side_ == Side::dials ? peer_hello_ : hello_;
  std::vector<unsigned char> message(label.begin(), label.end());
  for (const auto* hello : {&first, &second}) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(hello->data());
    message.insert(message.end(), bytes, bytes + hello_bytes);
  }
  std::array<std::byte, proof_bytes> proof{};
  unsigned int length = 0;
  const CryptoUse use;
  if (HMAC(EVP_sha256(), secret_.bytes.data(), static_cast<int>(secret_.bytes.size()),
           message.data(), message.size(), reinterpret_cast<unsigned char*>(proof.data()),
           &length) == nullptr ||
      length != proof_bytes) {
    throw Error(ErrorCode::internal, "libcrypto cannot compute HMAC-SHA-256");
  }
  return proof;
}

void Handshake::lost(int error) {
  has_left_ = true;
  const bool may_be_refused = side_ == Side::dials && written_ == all_bytes &&
                              (error == 0 || error == ECONNRESET || error == EPIPE);
  if (may_be_refused) {
    refusal_ = "it closed the connection: perhaps its TUTTI_SECRET differs";
  } else if (error == 0) {
    refusal_ = read_ == 0 ? "it closed the connection without sending anything"
                          : "it closed the connection during the handshake";
  } else {
    refusal_ = std::generic_category().message(error);
  }
}

}  // namespace tutti
