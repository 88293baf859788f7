#include <array>

#include <tutti/generator.hpp>

#include "topology/generators/generators.hpp"

namespace tutti {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter bandwidth{"bandwidth", Kind::rate, "100Gb/s", "of a link, each way"};
constexpr Parameter latency{"latency", Kind::time, "1us", "of a link"};

constexpr std::array star_parameters{Parameter{"p", Kind::count, "", "ranks"}, bandwidth, latency};
constexpr std::array torus_parameters{
    Parameter{"dimensions", Kind::factors, "", "such as 4x4 or 8x8x8"}, bandwidth, latency};

constexpr std::array table{
    Generator{"star", "ranks around one switch", "star:p=16", star_parameters, generator::star},
    Generator{"torus", "ranks on a grid that closes in every dimension; they forward, as TPUs do",
              "torus:4x4", torus_parameters, generator::torus},
};

}  // namespace

std::span<const Generator> generators() { return table; }

}  // namespace tutti
