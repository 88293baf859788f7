#include <charconv>
#include <filesystem>

#include <tutti/error.hpp>
#include <tutti/network/generator.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/network/network_json.hpp>
#include <tutti/network/network_xml.hpp>

#include "core/bounded_file.hpp"

namespace tutti {
namespace {

/// Removes ":hosts=4" from the end of a path.
XmlOptions take_options(std::string& path) {
  constexpr std::string_view word = ".xml:hosts=";
  const std::size_t at = path.rfind(word);
  if (at == std::string::npos) return {};
  const std::string count = path.substr(at + word.size());
  path.resize(path.find(':', at));
  XmlOptions options;
  const auto [end, error] =
      std::from_chars(count.data(), count.data() + count.size(), options.hosts);
  constexpr std::uint32_t most = 65536;
  if (error != std::errc{} || end != count.data() + count.size() || options.hosts < 1 ||
      options.hosts > most) {
    throw Error(ErrorCode::invalid_argument,
                "'" + count + "' is not a number of hosts from 1 to " + std::to_string(most));
  }
  return options;
}

}  // namespace

Network load_network(const std::string& spec_or_path) {
  std::string path = spec_or_path;
  const XmlOptions options = take_options(path);
  const std::filesystem::path extension = std::filesystem::path(path).extension();
  const bool is_json = extension == ".json";
  if (!is_json && extension != ".xml") return generate(spec_or_path);
  const std::string text = read_file(path);
  try {
    Network network = is_json ? network_from_json(text) : network_from_xml(text, options);
    if (network.name.empty()) network.name = std::filesystem::path(path).filename().string();
    return network;
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace tutti
