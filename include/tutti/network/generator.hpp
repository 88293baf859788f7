#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// A parameter of a generator.
struct Parameter {
  enum class Kind : std::uint8_t { count, factors, rate, time };

  std::string_view name;
  Kind kind;
  /// The default value, or the name of an earlier parameter whose value is the default. Empty if
  /// the parameter is required.
  std::string_view otherwise;
  std::string_view summary;
};

/// The arguments of a generator: one text per parameter, checked to be of the parameter's kind.
class TUTTI_API Arguments {
 public:
  Arguments(std::span<const Parameter> parameters, std::vector<std::string> texts)
      : parameters_(parameters), texts_(std::move(texts)) {}

  [[nodiscard]] std::uint32_t count(std::string_view parameter) const;
  /// "4x4x2" → 4, 4, 2.
  [[nodiscard]] std::vector<std::uint32_t> factors(std::string_view parameter) const;
  /// Bytes per second.
  [[nodiscard]] double rate(std::string_view parameter) const;
  /// Seconds.
  [[nodiscard]] double time(std::string_view parameter) const;

 private:
  [[nodiscard]] const std::string& text(std::string_view parameter) const;

  std::span<const Parameter> parameters_;
  std::vector<std::string> texts_;
};

/// A family of networks: a pure function from arguments to a network.
struct Generator {
  /// The name of the source file and the first part of a spec: "fat_tree".
  std::string_view name;
  std::string_view summary;
  /// A spec to try: "fat_tree:k=4".
  std::string_view example;
  std::span<const Parameter> parameters;
  /// Throws invalid_argument if the arguments contradict each other.
  Network (*build)(const Arguments& arguments);
};

/// All generators. Every generator in this table is covered by every test, command and document.
[[nodiscard]] TUTTI_API std::span<const Generator> generators();

/// Builds the network of a spec: "torus:4x4x4", "star:p=1024,bandwidth=10Gb/s,latency=1us".
/// A value without a name goes to the first parameter. Throws invalid_argument and suggests the
/// nearest generator or parameter.
[[nodiscard]] TUTTI_API Network generate(std::string_view spec);

}  // namespace tutti
