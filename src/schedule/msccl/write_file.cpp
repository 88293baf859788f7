#include "schedule/msccl/algorithm_file.hpp"

namespace tutti::msccl {
namespace {

std::string attribute(const char* name, const std::string& value) {
  std::string text;
  for (const char c : value) {
    // The five characters that XML reserves; control characters are not allowed at all.
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      default:
        text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return std::string(" ") + name + "=\"" + text + "\"";
}

std::string attribute(const char* name, std::int64_t value) {
  return attribute(name, std::to_string(value));
}

void write(const FileStep& step, std::size_t index, std::string& into) {
  into += "      <step" + attribute("s", static_cast<std::int64_t>(index)) +
          attribute("type", std::string(traits(step.type).name)) +
          attribute("srcbuf", std::string(1, step.source.buffer)) +
          attribute("srcoff", step.source.offset) +
          attribute("dstbuf", std::string(1, step.target.buffer)) +
          attribute("dstoff", step.target.offset) + attribute("cnt", step.count) +
          attribute("depid", step.waits_for_block) + attribute("deps", step.waits_for_step) +
          attribute("hasdep", step.is_waited_for ? 1 : 0) + "/>\n";
}

}  // namespace

std::string write_file(const AlgorithmFile& file) {
  std::string text = "<algo" + attribute("name", file.name) + attribute("proto", "Simple") +
                     attribute("nchannels", file.channels) +
                     attribute("nchunksperloop", file.chunks) +
                     attribute("ngpus", static_cast<std::int64_t>(file.gpus.size())) +
                     attribute("coll", std::string(tutti::name(file.collective))) +
                     attribute("inplace", file.in_place ? 1 : 0) +
                     attribute("outofplace", file.out_of_place ? 1 : 0) + attribute("minBytes", 0) +
                     attribute("maxBytes", 0);
  if (has_root(file.collective)) text += attribute("root", file.root);
  text += ">\n";
  for (std::size_t g = 0; g < file.gpus.size(); ++g) {
    const Gpu& gpu = file.gpus[g];
    text += "  <gpu" + attribute("id", static_cast<std::int64_t>(g)) +
            attribute("i_chunks", gpu.input) + attribute("o_chunks", gpu.output) +
            attribute("s_chunks", gpu.scratch) + ">\n";
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
      const ThreadBlock& block = gpu.blocks[b];
      text += "    <tb" + attribute("id", static_cast<std::int64_t>(b)) +
              attribute("send", block.to) + attribute("recv", block.from) +
              attribute("chan", block.channel) + ">\n";
      for (std::size_t s = 0; s < block.steps.size(); ++s) write(block.steps[s], s, text);
      text += "    </tb>\n";
    }
    text += "  </gpu>\n";
  }
  return text + "</algo>\n";
}

}  // namespace tutti::msccl
