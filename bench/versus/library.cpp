#include "versus/library.hpp"

namespace tutti::cli {

std::string_view name(Library library) {
  switch (library) {
    case Library::tutti:
      return "tutti";
    case Library::openmpi:
      return "openmpi";
    case Library::mpich:
      return "mpich";
    case Library::intelmpi:
      return "intelmpi";
    case Library::gloo:
      return "gloo";
    case Library::oneccl:
      return "oneccl";
    case Library::direct:
      break;
  }
  return "direct";
}

}  // namespace tutti::cli
