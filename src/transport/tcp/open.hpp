#pragma once

#include "transport/table.hpp"

/// The functions of this folder's row in the table of transports. See TransportRow.
namespace tutti::tcp {

[[nodiscard]] bool reaches(const Whereabouts& a, const Whereabouts& b);
[[nodiscard]] std::unique_ptr<Transport> open(const TransportRequest& request,
                                              std::string& trouble);

}  // namespace tutti::tcp
