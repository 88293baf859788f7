#include "render/label_stack.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::render {
namespace {

/// Adjacent labels that move together.
struct Block {
  double middle_sum = 0;  ///< Sum over the members of the ideal position of the first one.
  std::size_t count = 0;
  double top = 0;
};

double within(double value, double low, double high) {
  return std::max(low, std::min(value, high));
}

}  // namespace

std::vector<double> push_apart(const std::vector<double>& wanted, double distance, double top,
                               double bottom) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  std::vector<Block> blocks;
  const auto settle = [&](Block& block) {
    const double height = static_cast<double>(block.count - 1) * distance;
    block.top = within(block.middle_sum / static_cast<double>(block.count), top, bottom - height);
  };
  for (const std::size_t each : order) {
    blocks.push_back({.middle_sum = wanted[each], .count = 1});
    settle(blocks.back());
    // Blocks that touch are merged. The merged block goes where its members move least.
    while (blocks.size() > 1) {
      Block& above = blocks[blocks.size() - 2];
      const Block& below = blocks.back();
      const double height = static_cast<double>(above.count) * distance;
      if (above.top + height <= below.top) break;
      above.middle_sum += below.middle_sum - height * static_cast<double>(below.count);
      above.count += below.count;
      blocks.pop_back();
      settle(blocks.back());
    }
  }
  std::vector<double> placed(wanted.size());
  auto next = order.begin();
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.count; ++i) {
      placed[*next++] = block.top + static_cast<double>(i) * distance;
    }
  }
  return placed;
}

std::vector<std::size_t> rows_for(const std::vector<Interval>& intervals, double gap) {
  std::vector<std::vector<Interval>> rows;
  std::vector<std::size_t> found;
  for (const Interval& each : intervals) {
    const auto free = [&](const std::vector<Interval>& row) {
      return std::none_of(row.begin(), row.end(), [&](const Interval& other) {
        return each.from < other.to + gap && other.from < each.to + gap;
      });
    };
    const auto row = std::find_if(rows.begin(), rows.end(), free);
    found.push_back(static_cast<std::size_t>(row - rows.begin()));
    if (row == rows.end()) {
      rows.push_back({each});
    } else {
      row->push_back(each);
    }
  }
  return found;
}

}  // namespace tutti::render
