#pragma once

#include <span>

#include <tutti/bucketer.hpp>

namespace tutti {

/// Checks that all ranks declare the same tensors and options. Addresses may differ. All ranks must
/// call it. If a declaration differs or is invalid, it throws on every rank and names that rank and
/// the difference.
void agree_on_declaration(Communicator& communicator, std::span<const Tensor> tensors,
                          const BucketOptions& options);

}  // namespace tutti
