#pragma once

#include <span>
#include <string_view>

#include <tutti/collective.hpp>

/// What collectives are, in words for readers of the command and of the explorer.
namespace tutti::render {

/// The definition of a collective.
struct Definition {
  std::string_view kind;  ///< "redistribution", "consolidation" or "synchronisation"
  std::string_view says;
  std::string_view use;
  /// A way to make it of others that is not a composition of two; empty if there is none.
  std::string_view otherwise;
  /// Lower bounds as formulas in p and n, those of bounds(). Empty: no data.
  std::string_view sent;
  std::string_view received;
  std::string_view total;
  std::string_view reason;  ///< Why no algorithm sends less.
};

[[nodiscard]] const Definition& definition(Collective collective);

/// A collective that is two others, one after the other.
struct Composition {
  Collective whole;
  Collective first;
  Collective second;
  std::string_view algorithms;  ///< Those that are made so.
};

[[nodiscard]] std::span<const Composition> compositions();

/// False for allreduce, alltoall and barrier. See dual().
[[nodiscard]] bool has_dual(Collective collective);

}  // namespace tutti::render
