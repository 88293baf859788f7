#include "networks.hpp"

#include <nanobind/stl/string.h>

#include <tutti/drawing.hpp>
#include <tutti/network/generator.hpp>
#include <tutti/network/network_dot.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/network/network_json.hpp>
#include <tutti/network/optimum.hpp>

#include "errors.hpp"

namespace tutti::python {

Network network_of(nb::handle network) {
  if (nb::isinstance<nb::str>(network)) return load_network(nb::cast<std::string>(network));
  if (nb::isinstance<Network>(network)) return *nb::inst_ptr<Network>(network);
  const nb::object path = nb::getattr(network, "__fspath__", nb::none());
  if (!path.is_none()) return load_network(nb::cast<std::string>(path()));
  throw WrongType("a network is a tutti.Network, a spec such as 'torus:4x4', or a file");
}

namespace {

NodeKind kind_named(const std::string& text) {
  for (const NodeKind kind : {NodeKind::rank, NodeKind::host, NodeKind::nic, NodeKind::switch_}) {
    if (text == name(kind)) return kind;
  }
  refuse("'" + text + "' is no kind of node: there are rank, host, nic and switch");
}

nb::tuple optimum_of(const Network& network) {
  const Optimum best = optimum(network);
  return nb::make_tuple(best.allgather.value(), best.reduce_scatter.value(),
                        best.allreduce.value());
}

}  // namespace

void register_networks(nb::module_& module) {
  nb::class_<Network>(module, "Network",
                      "An underlay: ranks, hosts, NICs and switches, joined by links.")
      .def(
          "__init__",
          [](Network* self, nb::handle spec) {
            new (self) Network(spec.is_none() ? Network{} : network_of(spec));
          },
          nb::arg("spec") = nb::none(), "From a spec, \"torus:4x4\", or a .json or .xml file.")
      .def_static("from_json", [](const std::string& text) { return network_from_json(text); })
      .def_rw("name", &Network::name)
      .def_prop_ro("ranks", &Network::rank_count)
      .def_prop_ro("nodes",
                   [](const Network& network) {
                     nb::list nodes;
                     for (const Node& node : network.nodes) {
                       nodes.append(nb::make_tuple(node.name, std::string(name(node.kind))));
                     }
                     return nodes;
                   })
      .def_prop_ro("links",
                   [](const Network& network) {
                     nb::list links;
                     for (const Link& link : network.links) {
                       links.append(nb::make_tuple(link.from.index(), link.to.index(),
                                                   link.bytes_per_second, link.latency));
                     }
                     return links;
                   })
      .def(
          "add",
          [](Network& network, const std::string& node, const std::string& kind) {
            return network.add(node, kind_named(kind)).index();
          },
          nb::arg("name"), nb::arg("kind") = "switch",
          "Adds a node and returns its number. A node of kind rank becomes the next rank.")
      .def(
          "join",
          [](Network& network, std::uint32_t a, std::uint32_t b, double bandwidth, double latency) {
            network.join(NodeId{a}, NodeId{b}, bandwidth, latency);
          },
          nb::arg("a"), nb::arg("b"), nb::arg("bandwidth"), nb::arg("latency") = 0.0,
          "Adds a link in both directions: bytes per second, and seconds.")
      .def("check", &Network::check)
      .def("optimum", optimum_of,
           "The bandwidth that no schedule can exceed: of allgather, reduce_scatter, allreduce.")
      .def("to_json", [](const Network& network) { return to_json(network); })
      .def("to_dot", [](const Network& network) { return to_dot(network); })
      .def("_repr_svg_", [](const Network& network) { return draw_network(network); })
      .def("__eq__",
           [](const Network& a, nb::handle b) {
             return nb::isinstance<Network>(b) && a == *nb::inst_ptr<Network>(b);
           })
      .def("__repr__", [](const Network& network) {
        return "<tutti.Network " + network.name + ": " + std::to_string(network.rank_count()) +
               " ranks, " + std::to_string(network.links.size()) + " links>";
      });
  module.def("networks", [] {
    nb::list all;
    for (const Generator& each : generators()) {
      all.append(nb::make_tuple(std::string(each.name), std::string(each.summary),
                                std::string(each.example)));
    }
    return all;
  });
}

}  // namespace tutti::python
