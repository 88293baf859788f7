#pragma once

#include "transport/table.hpp"

/// The row of the table that this folder is. See TransportRow.
namespace tutti::tcp {

[[nodiscard]] bool reaches(const Whereabouts& a, const Whereabouts& b);
[[nodiscard]] std::unique_ptr<Transport> open(const TransportRequest& request,
                                              std::string& trouble);

}  // namespace tutti::tcp
