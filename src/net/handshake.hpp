#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "net/channel.hpp"
#include "net/secret.hpp"

namespace tutti {

/// Before either end of a connection believes a byte of the other, both prove that they know the
/// secret: each sends a random nonce and who it is (its greeting), and then an HMAC-SHA-256 over
/// both of these messages, keyed with the secret and labelled with its side, so that no answer can
/// be played back. The end that dials proves first; zeros instead of a proof answer a wrong one.
/// With an empty secret the same is done, and proves nothing. If the secret encrypts, keys are
/// agreed on first, and all of this is said in private.
///
/// Never blocks, never reads past its own messages, and takes a bounded number of bytes from a
/// stranger.
class Handshake {
 public:
  using Side = TlsSession::Side;
  enum class State {
    reading,  ///< Go on when there is something to read.
    writing,  ///< Go on when there is room to write.
    done,     ///< The other end knows the secret.
    refused,  ///< It does not, or has gone: close the connection. refusal() says why.
  };
  static constexpr std::size_t most_greeting = 208;

  /// Requires: greeting.size() ≤ most_greeting.
  Handshake(Side side, Secret secret, const std::string& greeting);

  /// Goes on as far as it can without blocking. Requires: the same channel each time, on which
  /// nothing was said before.
  [[nodiscard]] State advance(Channel& channel);

  /// What the other end says who it is. Requires: done.
  [[nodiscard]] const std::string& peer_greeting() const { return peer_greeting_; }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// Whether it was refused because the secrets differ, or one end encrypts and the other does not:
  /// to try again is of no use.
  [[nodiscard]] bool is_final() const { return is_final_; }
  /// Whether the other end may know by now that this one knows the secret.
  [[nodiscard]] bool has_proved() const { return written_ > hello_bytes; }
  /// Whether it was refused because the other end has gone, and nothing else was wrong with it.
  [[nodiscard]] bool has_left() const { return has_left_; }

 private:
  static constexpr std::size_t hello_bytes = 256;
  static constexpr std::size_t proof_bytes = 32;
  static constexpr std::size_t all_bytes = hello_bytes + proof_bytes;
  enum class Flow { nothing, moved, blocked };

  /// Agrees on keys.
  [[nodiscard]] State encrypt(Channel& channel);
  Flow write(Channel& channel);
  Flow read(Channel& channel);
  /// What has come of the other's hello must begin as a hello does.
  void check_opening();
  void take_hello();
  void check_proof(Channel& channel);
  /// What the end on this side has to send as its proof.
  [[nodiscard]] std::array<std::byte, proof_bytes> prove(Side side) const;
  /// The connection broke: `error` is an errno, or 0 if the other end closed it.
  void lost(int error);

  Side side_;
  Secret secret_;
  std::array<std::byte, hello_bytes> hello_{};
  std::array<std::byte, hello_bytes> peer_hello_{};
  std::array<std::byte, proof_bytes> proof_{};
  std::array<std::byte, proof_bytes> peer_proof_{};
  std::size_t written_ = 0;  // Of hello_ and then proof_.
  std::size_t read_ = 0;     // Of peer_hello_ and then peer_proof_.
  bool may_prove_ = false;
  bool is_private_ = false;  // Keys are agreed on.
  bool is_final_ = false;
  bool has_left_ = false;
  std::string peer_greeting_;
  std::string refusal_;
};

}  // namespace tutti
