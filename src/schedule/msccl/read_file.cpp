#include <algorithm>
#include <charconv>
#include <limits>

#include <pugixml.hpp>

#include <tutti/error.hpp>

#include "schedule/msccl/algorithm_file.hpp"

namespace tutti::msccl {
namespace {

constexpr std::int64_t most_gpus = 4096;
constexpr std::int64_t most_chunks = 1 << 16;
constexpr std::int64_t most_blocks = 1 << 12;
constexpr std::int64_t most_channels = 1 << 10;

/// Finds the line of a place in the text. Places are asked for in ascending order, mostly.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') ends_.push_back(i);
    }
  }
  [[nodiscard]] std::uint32_t at(std::ptrdiff_t offset) const {
    const auto before = std::lower_bound(
        ends_.begin(), ends_.end(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
    return static_cast<std::uint32_t>(before - ends_.begin()) + 1;
  }

 private:
  std::vector<std::size_t> ends_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), lines_(text) {}

  [[nodiscard]] AlgorithmFile read() {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text_.data(), text_.size());
    if (!result) {
      refuse(lines_.at(result.offset), std::string("this is not XML: ") + result.description());
    }
    const pugi::xml_node root = document.child("algo");
    if (!root) refuse(1, "the element <algo> is missing: this is not an algorithm of MSCCL");
    AlgorithmFile file{.name = root.attribute("name").as_string("an MSCCL algorithm")};
    file.collective = collective(root);
    file.root = static_cast<std::uint32_t>(optional(root, "root", 0, 0, most_gpus - 1));
    file.chunks = static_cast<std::uint32_t>(number(root, "nchunksperloop", 1, most_chunks));
    file.in_place = optional(root, "inplace", 0, 0, 1) == 1;
    file.out_of_place = optional(root, "outofplace", 1, 0, 1) == 1;
    if (!file.in_place && !file.out_of_place) {
      refuse(line(root), "inplace and outofplace are both 0: the algorithm fits no call");
    }
    file.gpus.resize(static_cast<std::size_t>(number(root, "ngpus", 1, most_gpus)));
    for (const pugi::xml_node& each : root.children("gpu")) gpu(each, file);
    for (std::size_t i = 0; i < file.gpus.size(); ++i) {
      if (file.gpus[i].line == 0) {
        refuse(line(root), "ngpus is " + std::to_string(file.gpus.size()) +
                               ", but there is no <gpu> " + std::to_string(i));
      }
    }
    return file;
  }

 private:
  [[nodiscard]] std::uint32_t line(const pugi::xml_node& element) const {
    return lines_.at(element.offset_debug());
  }

  [[nodiscard]] std::int64_t number(const pugi::xml_node& element, const char* name,
                                    std::int64_t least, std::int64_t most) const {
    const pugi::xml_attribute attribute = element.attribute(name);
    if (!attribute) {
      refuse(line(element),
             std::string("<") + element.name() + "> has no attribute '" + name + "'");
    }
    const std::string_view text = attribute.value();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
      refuse(line(element), std::string(name) + "=\"" + std::string(text.substr(0, 40)) +
                                "\" is not a whole number from " + std::to_string(least) + " to " +
                                std::to_string(most));
    }
    return value;
  }
  [[nodiscard]] std::int64_t optional(const pugi::xml_node& element, const char* name,
                                      std::int64_t otherwise, std::int64_t least,
                                      std::int64_t most) const {
    return element.attribute(name) ? number(element, name, least, most) : otherwise;
  }

  [[nodiscard]] Collective collective(const pugi::xml_node& root) const {
    const std::string_view text = root.attribute("coll").value();
    if (text == "reducescatter") return Collective::reduce_scatter;
    for (const Collective each : collectives()) {
      if (tutti::name(each) == text && each != Collective::barrier) return each;
    }
    throw Error(ErrorCode::unsupported,
                "line " + std::to_string(line(root)) + ": coll=\"" +
                    std::string(text.substr(0, 40)) +
                    "\" is none of the collectives that can be imported: allreduce, allgather, "
                    "reduce_scatter, alltoall, broadcast, reduce, scatter, gather");
  }

  void gpu(const pugi::xml_node& element, AlgorithmFile& file) const {
    const auto id = static_cast<std::size_t>(
        number(element, "id", 0, static_cast<std::int64_t>(file.gpus.size()) - 1));
    Gpu& gpu = file.gpus[id];
    if (gpu.line != 0) refuse(line(element), "there are two <gpu> " + std::to_string(id));
    gpu.line = line(element);
    gpu.input = static_cast<std::uint32_t>(number(element, "i_chunks", 0, most_chunks));
    gpu.output = static_cast<std::uint32_t>(number(element, "o_chunks", 0, most_chunks));
    gpu.scratch = static_cast<std::uint32_t>(number(element, "s_chunks", 0, most_chunks));
    const auto children = element.children("tb");
    const auto count = std::distance(children.begin(), children.end());
    if (count > most_blocks) refuse(gpu.line, "a GPU has more than 4096 thread blocks");
    gpu.blocks.resize(static_cast<std::size_t>(count));
    for (const pugi::xml_node& each : children) block(each, gpu, id, file);
  }

  void block(const pugi::xml_node& element, Gpu& gpu, std::size_t self,
             const AlgorithmFile& file) const {
    const auto id = static_cast<std::size_t>(
        number(element, "id", 0, static_cast<std::int64_t>(gpu.blocks.size()) - 1));
    ThreadBlock& block = gpu.blocks[id];
    if (block.line != 0) {
      refuse(line(element),
             "GPU " + std::to_string(self) + " has two thread blocks " + std::to_string(id));
    }
    block.line = line(element);
    const auto last = static_cast<std::int64_t>(file.gpus.size()) - 1;
    block.to = static_cast<std::int32_t>(number(element, "send", -1, last));
    block.from = static_cast<std::int32_t>(number(element, "recv", -1, last));
    for (const std::int32_t peer : {block.to, block.from}) {
      if (peer == static_cast<std::int32_t>(self)) {
        refuse(block.line, "GPU " + std::to_string(self) + " sends to or receives from itself");
      }
    }
    block.channel = static_cast<std::uint32_t>(number(element, "chan", 0, most_channels));
    for (const pugi::xml_node& each : element.children("step")) step(each, block);
  }

  void step(const pugi::xml_node& element, ThreadBlock& block) const {
    FileStep step{.line = line(element)};
    const auto next = static_cast<std::int64_t>(block.steps.size());
    if (number(element, "s", 0, std::numeric_limits<std::int32_t>::max()) != next) {
      refuse(step.line, "the steps of a thread block are not numbered from 0 on: expected s=\"" +
                            std::to_string(next) + "\"");
    }
    const std::string_view type = element.attribute("type").value();
    const auto* const known =
        std::find_if(step_types.begin(), step_types.end(),
                     [&](const StepTraits& each) { return each.name == type; });
    if (known == step_types.end()) {
      refuse(step.line, "type=\"" + std::string(type.substr(0, 40)) +
                            "\" is none of s, r, rcs, rrc, rrcs, rrs, cpy, re, nop");
    }
    step.type = known->type;
    if (known->reads) step.source = place(element, "srcbuf", "srcoff");
    if (known->writes) step.target = place(element, "dstbuf", "dstoff");
    const bool moves = known->type != StepType::nothing;
    step.count = static_cast<std::uint32_t>(moves ? number(element, "cnt", 1, most_chunks) : 0);
    constexpr std::int64_t many = std::numeric_limits<std::int32_t>::max();
    step.waits_for_block = static_cast<std::int32_t>(number(element, "depid", -1, many));
    step.waits_for_step = static_cast<std::int32_t>(number(element, "deps", -1, many));
    step.is_waited_for = number(element, "hasdep", 0, 1) == 1;
    block.steps.push_back(step);
  }

  [[nodiscard]] Place place(const pugi::xml_node& element, const char* buffer,
                            const char* offset) const {
    const std::string_view text = element.attribute(buffer).value();
    if (text != "i" && text != "o" && text != "s") {
      refuse(line(element), std::string(buffer) + "=\"" + std::string(text.substr(0, 40)) +
                                "\" is none of i, o, s");
    }
    return {.buffer = text.front(),
            .offset = static_cast<std::uint32_t>(number(element, offset, 0, most_chunks))};
  }

  std::string_view text_;
  Lines lines_;
};

}  // namespace

void refuse(std::uint32_t line, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "MSCCL XML: line " + std::to_string(line) + ": " + why);
}

AlgorithmFile read_file(std::string_view xml) { return Reader(xml).read(); }

}  // namespace tutti::msccl
