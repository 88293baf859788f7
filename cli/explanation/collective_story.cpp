#include "cli/explanation/collective_story.hpp"

#include <algorithm>

#include <tutti/error.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/bounds.hpp>
#include <tutti/schedule/closed_form.hpp>

#include "core/columns.hpp"
#include "core/quantity.hpp"
#include "render/boxes.hpp"
#include "render/definition.hpp"
#include "render/reason.hpp"

namespace tutti::cli {
namespace {

using namespace render;

std::string name_of(Collective collective) { return std::string(name(collective)); }

std::string in_boxes(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " box" : " boxes");
}

std::string paragraph(const std::string& text, std::size_t columns, std::size_t indent = 0) {
  return std::string(indent, ' ') + wrapped(text, columns, indent) + "\n";
}

std::string counts(const Boxes& boxes) {
  return "It reads " + in_boxes(boxes.read) + " and writes " + in_boxes(boxes.written) + ".";
}

std::string dual_text(const Contract& contract) {
  if (!has_dual(contract.collective)) {
    return "None: run backwards, " + name_of(contract.collective) + " is itself.";
  }
  const Collective other = dual(contract.collective);
  const Boxes there = boxes(boxed_contract(other, contract.ranks, contract.root));
  return name_of(other) + " is " + name_of(contract.collective) + " run backwards: it reads " +
         in_boxes(there.read) + " and writes " + in_boxes(there.written) +
         ". Sends become receives, copies become additions. So the two move as many bytes, and an "
         "algorithm of one is an algorithm of the other.";
}

std::string compositions_text(Collective collective, std::size_t columns) {
  std::string text;
  for (const Composition& each : compositions()) {
    if (each.whole != collective) continue;
    text += paragraph(name_of(collective) + " = " + name_of(each.first) + ", then " +
                          name_of(each.second) + ": " + std::string(each.algorithms),
                      columns, 2);
  }
  const std::string_view otherwise = definition(collective).otherwise;
  if (!otherwise.empty()) {
    text += paragraph(name_of(collective) + " = " + std::string(otherwise), columns, 2);
  }
  for (const Composition& each : compositions()) {
    if (each.first != collective && each.second != collective) continue;
    text += paragraph("a part of " + name_of(each.whole) + " = " + name_of(each.first) + ", then " +
                          name_of(each.second),
                      columns, 2);
  }
  return text;
}

/// Bytes as a share of the data: "1.5 n".
std::string share(std::uint64_t chunks, std::uint64_t whole) {
  std::string text = std::to_string(static_cast<double>(chunks) / static_cast<double>(whole));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " n";
}

std::string bounds_text(const Contract& contract, std::size_t columns) {
  const Definition& words = definition(contract.collective);
  const std::uint64_t whole = contract.ranks;
  const Bounds least = bounds(contract.collective, contract.ranks, whole);
  const std::string here = " (here ";
  std::string text = paragraph("steps, one message in and out per rank: ⌈log₂ p⌉" + here +
                                   std::to_string(least.rounds) + ")",
                               columns, 2);
  if (words.sent.empty()) return text;
  const auto line = [&](const char* what, std::string_view formula, std::uint64_t value) {
    text += paragraph(what + std::string(formula) + here + share(value, whole) + ")", columns, 2);
  };
  line("some rank sends at least ", words.sent, least.most_sent);
  line("some rank receives at least ", words.received, least.most_received);
  line("all together send at least ", words.total, least.bytes);
  return text + paragraph("because " + std::string(words.reason), columns, 2);
}

std::string algorithms_text(Collective collective, std::size_t columns) {
  std::size_t longest = 0;
  for (const Algorithm& each : algorithms(collective)) {
    longest = std::max(longest, each.name.size());
  }
  std::string text;
  for (const Algorithm& each : algorithms(collective)) {
    text += "  " + pad_right(std::string(each.name), longest) + "  " +
            wrapped(each.summary, columns, longest + 4) + "\n";
  }
  return text;
}

}  // namespace

std::string collective_story(const Contract& contract, const render::Paint& paint,
                             std::size_t columns) {
  const Collective collective = contract.collective;
  const Definition& words = definition(collective);
  std::string kind = "A " + std::string(words.kind) + " operation";
  if (has_root(collective)) {
    kind += " with a root, here rank " + std::to_string(contract.root);
  }
  std::string text = paint.bold(name_of(collective)) + "\n" +
                     paragraph(std::string(words.says) + " " + kind + ".", columns) +
                     paragraph("Used for: " + std::string(words.use), columns);
  const Boxes picture = boxes(contract);
  if (!picture.text.empty()) {
    const std::string sums = "; Σ0 = a0+b0+…";
    text +=
        "\n" + paint.bold("Boxes") + ", one column per rank\n" + picture.text +
        paint.dim("  b2 is box 2 of rank b" + (is_reduction(collective) ? sums : std::string())) +
        "\n  " + counts(picture) + "\n";
  }
  text += "\n" + paint.bold("Dual") + "\n" + paragraph(dual_text(contract), columns, 2);
  const std::string made = compositions_text(collective, columns);
  if (!made.empty()) text += "\n" + paint.bold("Compositions") + "\n" + made;
  text += "\n" + paint.bold("Lower bounds") + ", p = " + std::to_string(contract.ranks) +
          ", n bytes in the larger buffer of a rank\n" + bounds_text(contract, columns);
  text += "\n" + paint.bold("Algorithms") + "\n" + algorithms_text(collective, columns);
  const std::string example(algorithms(collective).front().name);
  return text + "\nNext: tutti explain " + example + " -p 4, --why, or tutti cost " +
         name_of(collective) + " -p 8 --formulas\n";
}

std::string reason_story(std::string_view name, const render::Paint& paint, std::size_t columns) {
  const Algorithm& subject = algorithm(name);
  const Reason* const reason = find_reason(name);
  std::string text = paint.bold(std::string(name)) + ": " + std::string(subject.summary) + "\n";
  const auto part = [&](const std::string& title, std::string_view words) {
    if (words.empty()) return;
    text += "\n" + paint.bold(title) + "\n" + paragraph(std::string(words), columns, 2);
  };
  if (reason == nullptr) {
    throw Error(ErrorCode::internal, "no reason is written for " + std::string(name));
  }
  part("The idea", reason->idea);
  part("Why, and when it wins", reason->why);
  part("Against the bounds", reason->bound);
  if (!subject.order.empty()) {
    part("Order of additions", "It adds " + std::string(subject.order) + ".");
  }
  if (const ClosedForm* const form = find_closed_form(name)) {
    part("By formula", "steps " + std::string(form->rounds) + "; bytes sent in all " +
                           std::string(form->bytes) + "; most by one rank in one step " +
                           std::string(form->most_in_a_round) + "; time with one port " +
                           std::string(form->seconds) + ". L = ⌈log₂ p⌉, h = ⌊log₂ p⌋.");
  }
  return text;
}

}  // namespace tutti::cli
