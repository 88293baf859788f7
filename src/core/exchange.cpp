#include <tutti/exchange.hpp>

namespace tutti {

Exchange::~Exchange() = default;

}  // namespace tutti
