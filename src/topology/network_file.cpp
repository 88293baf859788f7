#include <filesystem>
#include <fstream>
#include <sstream>

#include <tutti/error.hpp>
#include <tutti/generator.hpp>
#include <tutti/network_file.hpp>
#include <tutti/network_json.hpp>
#include <tutti/network_xml.hpp>

namespace tutti {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw Error(ErrorCode::invalid_argument, "cannot read the file '" + path + "'");
  return text.str();
}

}  // namespace

Network load_network(const std::string& spec_or_path) {
  const std::filesystem::path path(spec_or_path);
  const bool is_json = path.extension() == ".json";
  if (!is_json && path.extension() != ".xml") return generate(spec_or_path);
  const std::string text = contents(spec_or_path);
  try {
    Network network = is_json ? network_from_json(text) : network_from_xml(text);
    if (network.name.empty()) network.name = path.filename().string();
    return network;
  } catch (const Error& error) {
    throw Error(error.code(), spec_or_path + ": " + error.what());
  }
}

}  // namespace tutti
