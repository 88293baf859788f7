#include "schedule/chunk_slots.hpp"

#include <algorithm>

namespace tutti {
namespace {

template <class T>
void sort_and_tidy(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

template <class T>
std::size_t index_of(const std::vector<T>& sorted, const T& item) {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), item) -
                                  sorted.begin());
}

std::vector<std::pair<Chunk, Variant>> other_variants(const Program& program) {
  std::vector<std::pair<Chunk, Variant>> found;
  if (program.last_variant() == Variant{}) return found;
  for (const Step step : program) {
    const auto add = [&](Variant variant) {
      if (variant == Variant{}) return;
      for_each_chunk(step, [&](Chunk chunk) { found.emplace_back(chunk, variant); });
    };
    step.for_each_read(add);
    if (step.makes()) add(step.variant);
  }
  sort_and_tidy(found);
  return found;
}

}  // namespace

ChunkSlots::ChunkSlots(const Program& program, const Contract& contract, Rank self)
    : variants_(other_variants(program)) {
  const ChunkSeries input = contract.input(self);
  const ChunkSeries output = contract.output(self);
  std::uint64_t touched = input.count + output.count;
  for (const Step step : program) touched += step.chunk_count();

  // If the rank touches at least half of all chunks, numbering all of them is no more expensive.
  dense_ = touched >= contract.chunks / 2;
  if (dense_) {
    dense_size_ = contract.chunks;
    return;
  }
  chunks_.reserve(touched);
  for (const ChunkSeries& series : {input, output}) {
    for (std::uint64_t i = 0; i < series.count; ++i) chunks_.push_back(series[i]);
  }
  for (const Step step : program) {
    for_each_chunk(step, [&](Chunk chunk) { chunks_.push_back(chunk); });
  }
  sort_and_tidy(chunks_);
}

std::size_t ChunkSlots::operator[](Chunk chunk) const {
  return dense_ ? chunk.index() : index_of(chunks_, chunk);
}

std::size_t ChunkSlots::beside(Chunk chunk, Variant variant) const {
  return index_of(variants_, {chunk, variant});
}

}  // namespace tutti
