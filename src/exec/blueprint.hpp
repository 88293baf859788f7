#pragma once

#include <utility>

#include <tutti/schedule/placement.hpp>

#include "schedule/chunk_slots.hpp"

namespace tutti {

/// The part of a plan that depends on the problem and not on the size of the data: one rank's
/// program, and the buffers that its steps use.
struct Blueprint {
  Blueprint(Contract contract_of_all, Program own, Rank rank, Aliasing buffers)
      : contract(std::move(contract_of_all)),
        program(std::move(own)),
        self(rank),
        aliasing(buffers),
        placement(place(program, contract, self, aliasing)),
        slots(program, contract, self) {}

  Contract contract;
  Program program;
  Rank self;
  Aliasing aliasing;
  Placement placement;
  ChunkSlots slots;
};

}  // namespace tutti
