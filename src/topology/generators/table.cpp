#include <array>

#include <tutti/network/generator.hpp>

#include "topology/generators/generators.hpp"

namespace tutti {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter ranks{"p", Kind::count, "", "ranks"};
constexpr Parameter bandwidth{"bandwidth", Kind::rate, "100Gb/s", "of a link, each way"};
constexpr Parameter latency{"latency", Kind::time, "1us", "of a link"};
constexpr Parameter inside_latency{"inside_latency", Kind::time, "100ns",
                                   "between a rank and its host"};
constexpr Parameter outside_latency{"outside_latency", Kind::time, "1us",
                                    "between a NIC and its switch"};

constexpr std::array server_parameters{
    Parameter{"p", Kind::count, "", "ranks per host"},
    Parameter{"hosts", Kind::count, "1", "hosts, joined by a switch"},
    Parameter{"inside", Kind::rate, "50GB/s", "between a rank and its host"},
    Parameter{"outside", Kind::rate, "100Gb/s", "of the NIC"},
    inside_latency,
    outside_latency};
constexpr std::array plain_parameters{ranks, bandwidth, latency};
constexpr std::array fat_tree_parameters{
    Parameter{"k", Kind::count, "", "ports per switch; k³/4 ranks"},
    Parameter{"oversubscription", Kind::count, "1", "downlinks of an edge switch per uplink"},
    bandwidth, latency};
constexpr std::array torus_parameters{
    Parameter{"dimensions", Kind::factors, "", "for example 4x4 or 8x8x8"}, bandwidth, latency};
constexpr std::array dragonfly_parameters{
    Parameter{"g", Kind::count, "", "groups"},
    Parameter{"a", Kind::count, "4", "routers per group"},
    Parameter{"p", Kind::count, "2", "ranks per router"},
    bandwidth,
    Parameter{"global", Kind::rate, "bandwidth", "bandwidth between groups"},
    latency,
    Parameter{"global_latency", Kind::time, "latency", "between groups"}};
constexpr std::array hypercube_parameters{Parameter{"d", Kind::count, "", "dimensions; 2^d ranks"},
                                          bandwidth, latency};
constexpr std::array multi_rail_parameters{
    Parameter{"nodes", Kind::count, "", "hosts"},
    Parameter{"gpus", Kind::count, "8", "ranks per host"},
    Parameter{"nics", Kind::count, "gpus", "NICs per host, each on its own rail"},
    Parameter{"inside", Kind::rate, "450GB/s", "between a rank and the switch of its host"},
    Parameter{"outside", Kind::rate, "400Gb/s", "of a NIC"},
    inside_latency,
    outside_latency};

constexpr std::array table{
    Generator{"server", "hosts of p ranks that share one NIC", "server:p=4,hosts=2",
              server_parameters, generator::server},
    Generator{"star", "ranks around one switch", "star:p=16", plain_parameters, generator::star},
    Generator{"fat_tree", "a Clos network of three levels of switches with k ports", "fat_tree:k=4",
              fat_tree_parameters, generator::fat_tree},
    Generator{"torus",
              "ranks on a grid that wraps around in every dimension; ranks forward, as TPUs do",
              "torus:4x4", torus_parameters, generator::torus},
    Generator{"grid", "ranks on a grid with borders, in any number of dimensions; ranks forward",
              "grid:4x3", torus_parameters, generator::grid},
    Generator{"line", "ranks joined in a line; ranks forward", "line:p=8", plain_parameters,
              generator::line},
    Generator{"dragonfly", "groups of routers, fully connected within and between groups",
              "dragonfly:g=9,a=4,p=2", dragonfly_parameters, generator::dragonfly},
    Generator{"ring", "ranks joined in a ring; ranks forward", "ring:p=8", plain_parameters,
              generator::ring},
    Generator{"hypercube", "ranks joined if their numbers differ in one bit; ranks forward",
              "hypercube:d=4", hypercube_parameters, generator::hypercube},
    Generator{"full_mesh", "a link between any two ranks", "full_mesh:p=8", plain_parameters,
              generator::full_mesh},
    Generator{"multi_rail", "hosts of GPUs, fast inside, with NICs on rails outside",
              "multi_rail:nodes=4,gpus=8", multi_rail_parameters, generator::multi_rail},
};

}  // namespace

std::span<const Generator> generators() { return table; }

}  // namespace tutti
