#pragma once

#include <span>
#include <string_view>

namespace tutti::test {

/// A parser of untrusted bytes or of user input, together with the invariants that must hold for
/// any input.
struct Target {
  std::string_view name;  ///< Also the name of its archive in tests/fuzz/corpus.
  /// Throws if an invariant is violated. An expected tutti::Error, such as the rejection of the
  /// input, is caught.
  void (*run)(std::string_view input);
};

[[nodiscard]] std::span<const Target> targets();

/// Throws invalid_argument if there is no such target.
[[nodiscard]] const Target& target(std::string_view name);

void try_connection(std::string_view input);
void try_handshake(std::string_view input);
void try_framed_channel(std::string_view input);
void try_rendezvous(std::string_view input);
void try_introduction(std::string_view input);
void try_control_message(std::string_view input);
void try_dump(std::string_view input);
void try_schedule(std::string_view input);
void try_msccl(std::string_view input);
void try_network(std::string_view input);
void try_nccl(std::string_view input);
void try_spec(std::string_view input);
void try_profile(std::string_view input);
void try_rules(std::string_view input);
void try_words(std::string_view input);
void try_environment(std::string_view input);

}  // namespace tutti::test
