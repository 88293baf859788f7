#include <algorithm>
#include <array>
#include <map>

#include <pugixml.hpp>

#include <tutti/error.hpp>
#include <tutti/network/network_xml.hpp>

#include "core/decimal.hpp"

namespace tutti {
namespace {

constexpr double giga = 1e9;
constexpr double mega_bit = 1e6 / 8;

// Bandwidths in bytes per second that NCCL assumes for links its file does not measure.
constexpr double between_cpus = 10 * giga;
constexpr double nvlink_of_hopper = 20.6 * giga;
constexpr double nvlink_of_ampere = 20 * giga;
constexpr double nvlink_of_pascal = 18 * giga;

/// Net bandwidth of a PCI Express lane, without encoding and headers.
struct Lane {
  std::string_view speed;
  double bytes_per_second;
};
constexpr std::array lanes{
    Lane{"2.5 GT/s", 0.1875 * giga}, Lane{"5 GT/s", 0.375 * giga},  Lane{"5.0 GT/s", 0.375 * giga},
    Lane{"8 GT/s", 0.75 * giga},     Lane{"8.0 GT/s", 0.75 * giga}, Lane{"16 GT/s", 1.5 * giga},
    Lane{"16.0 GT/s", 1.5 * giga},   Lane{"32 GT/s", 3 * giga},     Lane{"32.0 GT/s", 3 * giga},
    Lane{"64 GT/s", 6 * giga},       Lane{"64.0 GT/s", 6 * giga}};

/// Reads the document once per host.
class XmlReader {
 public:
  XmlReader(std::string_view text, XmlOptions options) : text_(text), options_(options) {}

  [[nodiscard]] Network read() {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text_.data(), text_.size());
    if (!result) reject_at(result.offset, std::string("this is not XML: ") + result.description());
    const pugi::xml_node system = document.child("system");
    if (!system) reject_at(0, "the element <system>, which NCCL writes, is missing");
    for (host_ = 0; host_ < options_.hosts; ++host_) read_host(system);
    if (options_.hosts > 1) join_hosts();
    network_.check();
    return std::move(network_);
  }

 private:
  [[noreturn]] void reject_at(std::ptrdiff_t offset, const std::string& what) const {
    const auto end = text_.begin() + std::clamp<std::ptrdiff_t>(
                                         offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
    const auto line = 1 + std::count(text_.begin(), end, '\n');
    throw Error(ErrorCode::invalid_argument, "line " + std::to_string(line) + ": " + what);
  }
  [[noreturn]] void reject(const pugi::xml_node& element, const std::string& what) const {
    reject_at(element.offset_debug(), what);
  }

  [[nodiscard]] double number(const pugi::xml_node& element, const char* attribute) const {
    const std::string_view value = element.attribute(attribute).value();
    double number = 0;
    const auto [end, error] = read_decimal(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || !(number > 0)) {
      reject(element, "<" + std::string(element.name()) + "> needs a positive number as '" +
                          attribute + "'");
    }
    return number;
  }

  [[nodiscard]] std::string text(const pugi::xml_node& element, const char* attribute) const {
    std::string value = element.attribute(attribute).value();
    if (value.empty()) {
      reject(element,
             "<" + std::string(element.name()) + "> needs the attribute '" + attribute + "'");
    }
    return value;
  }

  [[nodiscard]] std::string named(const std::string& name) const {
    return options_.hosts == 1 ? name : "h" + std::to_string(host_) + "." + name;
  }

  void read_host(const pugi::xml_node& system) {
    gpus_.clear();
    nvswitch_.reset();
    nics_.clear();
    std::vector<NodeId> cpus;
    for (const pugi::xml_node cpu : system.children("cpu")) {
      // CPUs are fully connected, so the number of links grows with the square.
      constexpr std::size_t most_cpus = 1024;
      if (cpus.size() == most_cpus) {
        reject(cpu, "there are more than " + std::to_string(most_cpus) + " <cpu>");
      }
      cpus.push_back(network_.add(named("cpu" + text(cpu, "numaid")), NodeKind::host));
      for (std::size_t i = 0; i + 1 < cpus.size(); ++i) {
        network_.join(cpus[i], cpus.back(), between_cpus, 0);
      }
      read_below(cpu, cpus.back(), 0);
    }
    if (gpus_.empty()) reject(system, "no <cpu> contains a <gpu>, so there are no ranks");
    // NVLinks need all GPUs to be known.
    for (const auto& [bus, gpu] : gpus_) read_nvlinks(gpu);
    all_nics_.push_back(nics_);
  }

  /// Reads the devices of a CPU, PCI switch or network card at a depth of `switches` PCI switches.
  void read_below(const pugi::xml_node& parent, NodeId node, int switches) {
    constexpr int deepest = 256;  // PCI has at most 256 buses.
    if (switches > deepest) {
      reject(parent, "more than " + std::to_string(deepest) + " nested <pci>");
    }
    for (const pugi::xml_node child : parent.children()) {
      const std::string_view what = child.name();
      if (what == "pci") {
        read_pci(child, node, switches);
      } else if (what == "nic") {
        for (const pugi::xml_node net : child.children("net")) read_net(net, node);
      }
    }
  }

  void read_pci(const pugi::xml_node& pci, NodeId parent, int switches) {
    const std::string bus = text(pci, "busid");
    const double bandwidth = pci_bandwidth(pci);
    if (const pugi::xml_node gpu = pci.child("gpu")) {
      const NodeId node = network_.add(named("gpu" + text(gpu, "dev")), NodeKind::rank);
      network_.join(node, parent, bandwidth, 0);
      gpus_.emplace(bus, Gpu{.element = gpu, .node = node});
      return;
    }
    const NodeId node = network_.add(named("pci " + bus), NodeKind::switch_);
    network_.join(node, parent, bandwidth, 0);
    read_below(pci, node, switches + 1);
  }

  [[nodiscard]] double pci_bandwidth(const pugi::xml_node& pci) const {
    // Virtual machines hide the link speed; NCCL then assumes PCI Express 3.0.
    std::string_view speed = pci.attribute("link_speed").value();
    if (speed.empty() || speed == "Unknown speed") speed = "8 GT/s";
    const double width = pci.attribute("link_width").as_double(0);
    constexpr double usual_width = 16;
    for (const Lane& lane : lanes) {
      if (speed.substr(0, lane.speed.size()) == lane.speed) {
        return lane.bytes_per_second * (width > 0 ? width : usual_width);
      }
    }
    reject(pci, "unknown link speed '" + std::string(speed) + "': write, for example, 16 GT/s");
  }

  void read_net(const pugi::xml_node& net, NodeId parent) {
    const NodeId node = network_.add(named("net" + text(net, "dev")), NodeKind::nic);
    const double bandwidth = number(net, "speed") * mega_bit;
    network_.join(node, parent, bandwidth, 0);
    nics_.push_back({.node = node, .bandwidth = bandwidth});
  }

  struct Gpu {
    pugi::xml_node element;
    NodeId node;
  };

  void read_nvlinks(const Gpu& gpu) {
    for (const pugi::xml_node nvlink : gpu.element.children("nvlink")) {
      const double sm = number(gpu.element, "sm");
      const double each = sm >= 90   ? nvlink_of_hopper
                          : sm >= 70 ? nvlink_of_ampere
                                     : nvlink_of_pascal;
      const double bandwidth = number(nvlink, "count") * each;
      const std::string kind = text(nvlink, "tclass");
      if (kind.starts_with("0x068")) {
        if (!nvswitch_) nvswitch_ = network_.add(named("nvswitch"), NodeKind::switch_);
        network_.join(gpu.node, *nvswitch_, bandwidth, 0);
      } else if (kind.starts_with("0x03")) {
        const auto target = gpus_.find(text(nvlink, "target"));
        if (target == gpus_.end()) {
          reject(nvlink, "no GPU has the bus id '" + text(nvlink, "target") + "'");
        }
        // The other end has its own entry for the reverse direction.
        network_.add_link(gpu.node, target->second.node, bandwidth, 0);
      }
    }
  }

  struct Nic {
    NodeId node;
    double bandwidth;
  };

  void join_hosts() {
    const std::size_t rails = all_nics_.front().size();
    if (rails == 0) {
      reject_at(0, "there is no <net> to join several hosts");
    }
    for (std::size_t k = 0; k < rails; ++k) {
      const NodeId rail = network_.add("rail" + std::to_string(k), NodeKind::switch_);
      for (const auto& nics : all_nics_) network_.join(nics[k].node, rail, nics[k].bandwidth, 0);
    }
  }

  std::string_view text_;
  XmlOptions options_;
  std::uint32_t host_ = 0;
  Network network_;
  std::map<std::string, Gpu> gpus_;  // GPUs of the current host, by bus id.
  std::optional<NodeId> nvswitch_;
  std::vector<Nic> nics_;
  std::vector<std::vector<Nic>> all_nics_;
};

}  // namespace

Network network_from_xml(std::string_view text, XmlOptions options) {
  return XmlReader(text, options).read();
}

}  // namespace tutti
