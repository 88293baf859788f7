#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tutti {

/// A priority queue of numbered events whose times can be changed.
///
/// An indexed 4-ary heap. Equal times are cheap, and frequent when ranks move in lockstep.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  /// The earliest time. Requires: !empty().
  [[nodiscard]] double next() const { return heap_.front().at; }

  /// The event that take() would return. Requires: !empty().
  [[nodiscard]] std::uint32_t first() const { return heap_.front().id; }

  /// Sets or changes the time of `id`.
  void set(std::uint32_t id, double at) {
    if (places_.size() <= id) places_.resize(id + 1, none);
    if (places_[id] == none) {
      places_[id] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back({at, id});
      rise(places_[id]);
      return;
    }
    const std::uint32_t place = places_[id];
    const double before = heap_[place].at;
    heap_[place].at = at;
    at < before ? rise(place) : sink(place);
  }

  /// Removes one event with the earliest time. Requires: !empty().
  std::uint32_t take() {
    const std::uint32_t id = heap_.front().id;
    places_[id] = none;
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
      put(0, last);
      sink(0);
    }
    return id;
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Event {
    double at;
    std::uint32_t id;
  };

  void put(std::uint32_t place, const Event& event) {
    heap_[place] = event;
    places_[event.id] = place;
  }

  void rise(std::uint32_t place) {
    const Event event = heap_[place];
    while (place > 0) {
      const std::uint32_t parent = (place - 1) / 4;
      if (heap_[parent].at <= event.at) break;
      put(place, heap_[parent]);
      place = parent;
    }
    put(place, event);
  }

  void sink(std::uint32_t place) {
    const Event event = heap_[place];
    const auto size = static_cast<std::uint32_t>(heap_.size());
    while (4 * place + 1 < size) {
      std::uint32_t least = 4 * place + 1;
      for (std::uint32_t child = least + 1; child < size && child <= 4 * place + 4; ++child) {
        if (heap_[child].at < heap_[least].at) least = child;
      }
      if (heap_[least].at >= event.at) break;
      put(place, heap_[least]);
      place = least;
    }
    put(place, event);
  }

  std::vector<Event> heap_;
  std::vector<std::uint32_t> places_;
};

}  // namespace tutti
