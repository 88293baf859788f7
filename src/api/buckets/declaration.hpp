#pragma once

#include <span>

#include <tutti/bucketer.hpp>

namespace tutti {

/// Makes sure that all ranks declare the same tensors, wherever these stand, and the same options.
/// All ranks call it together. Where one declares something else, or something that cannot be, it
/// throws on every rank, and says which rank and what.
void agree_on_declaration(Communicator& communicator, std::span<const Tensor> tensors,
                          const BucketOptions& options);

}  // namespace tutti
