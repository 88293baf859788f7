#include "cli/measure/place.hpp"

#include <unistd.h>

namespace tutti::measure {

Place own_place() {
  Place place{.pid = ::getpid()};
  if (::gethostname(place.host.data(), place.host.size() - 1) != 0) place.host[0] = '?';
  return place;
}

}  // namespace tutti::measure
