#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "net/channel.hpp"
#include "net/secret.hpp"

namespace tutti {

/// Mutual authentication at the start of a connection. Each end sends a hello: a random nonce and
/// its greeting. Then each end sends a proof: an HMAC-SHA-256 over both hellos, keyed with the
/// secret and labelled with its side, so that no proof can be replayed. The dialing end proves
/// first. The accepting end answers a wrong proof with zeros. With an empty secret the same
/// messages are exchanged but prove nothing. If the secret encrypts, the TLS handshake comes first.
///
/// Never blocks, never reads past its own messages, and takes a bounded number of bytes from an
/// unauthenticated peer.
class Handshake {
 public:
  using Side = TlsSession::Side;
  enum class State {
    reading,  ///< Call advance() when the socket is readable.
    writing,  ///< Call advance() when the socket is writable.
    done,     ///< The peer knows the secret.
    refused,  ///< It does not, or has closed: close the connection. refusal() says why.
  };
  static constexpr std::size_t most_greeting = 208;

  /// Requires: greeting.size() ≤ most_greeting.
  Handshake(Side side, Secret secret, const std::string& greeting);

  /// Makes progress without blocking. Requires: the same, fresh channel each time.
  [[nodiscard]] State advance(Channel& channel);

  /// The greeting that the peer sent. Requires: done.
  [[nodiscard]] const std::string& peer_greeting() const { return peer_greeting_; }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// True if the refusal is permanent: the secrets differ, or only one end encrypts.
  [[nodiscard]] bool is_final() const { return is_final_; }
  /// True if the peer may have received this end's proof.
  [[nodiscard]] bool has_proved() const { return written_ > hello_bytes; }
  /// True if it was refused only because the peer closed the connection.
  [[nodiscard]] bool has_left() const { return has_left_; }

 private:
  static constexpr std::size_t hello_bytes = 256;
  static constexpr std::size_t proof_bytes = 32;
  static constexpr std::size_t all_bytes = hello_bytes + proof_bytes;
  enum class Flow { nothing, moved, blocked };

  /// Runs the TLS handshake.
  [[nodiscard]] State encrypt(Channel& channel);
  Flow write(Channel& channel);
  Flow read(Channel& channel);
  /// Refuses unless the bytes received so far are the beginning of a hello.
  void check_opening();
  void take_hello();
  void check_proof(Channel& channel);
  /// The proof that the end on `side` must send.
  [[nodiscard]] std::array<std::byte, proof_bytes> prove(Side side) const;
  /// The connection broke: `error` is an errno, or 0 if the peer closed it.
  void lost(int error);

  Side side_;
  Secret secret_;
  std::array<std::byte, hello_bytes> hello_{};
  std::array<std::byte, hello_bytes> peer_hello_{};
  std::array<std::byte, proof_bytes> proof_{};
  std::array<std::byte, proof_bytes> peer_proof_{};
  std::size_t written_ = 0;  // Bytes of hello_, then proof_.
  std::size_t read_ = 0;     // Bytes of peer_hello_, then peer_proof_.
  bool may_prove_ = false;
  bool is_private_ = false;  // The TLS handshake is done.
  bool is_final_ = false;
  bool has_left_ = false;
  std::string peer_greeting_;
  std::string refusal_;
};

}  // namespace tutti
