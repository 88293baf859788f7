#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>

namespace tutti {

/// What a generator can be told.
struct Parameter {
  enum class Kind : std::uint8_t { count, factors, rate, time };

  std::string_view name;
  Kind kind;
  /// What it is when it is not said, or the name of the parameter before it that it then equals;
  /// empty if it must be said.
  std::string_view otherwise;
  std::string_view summary;
};

/// What a generator was told: a text for each of its parameters, checked to be of its kind.
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
  /// At once the source file and the beginning of a spec: "fat_tree".
  std::string_view name;
  std::string_view summary;
  /// A spec to try: "fat_tree:k=4".
  std::string_view example;
  std::span<const Parameter> parameters;
  /// Throws invalid_argument if the arguments do not go together.
  Network (*build)(const Arguments& arguments);
};

/// Every generator. Being in this table enrols one in every test, command and document.
[[nodiscard]] TUTTI_API std::span<const Generator> generators();

/// The network that a spec describes: "torus:4x4x4", "star:p=1024,bandwidth=10Gb/s,latency=1us".
/// What has no name goes to the first parameter. Throws invalid_argument that suggests the nearest
/// generator or parameter.
[[nodiscard]] TUTTI_API Network generate(std::string_view spec);

}  // namespace tutti
