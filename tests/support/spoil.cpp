#include "support/spoil.hpp"

#include <string_view>

namespace tutti::test {

void spoil(std::string& text, Random& random) {
  const std::size_t at = random.below(std::uint64_t{text.size()});
  constexpr std::string_view marks = "0123456789-+.eE,:[]{}\" \n";
  switch (random.below(12U)) {
    case 0:
      text[at] = static_cast<char>(random.below(256U));
      break;
    case 1:
      text.erase(at, 1 + random.below(4U));
      break;
    case 2:
      text.insert(at, 1, marks[random.below(std::uint64_t{marks.size()})]);
      break;
    case 3:
      text[at] = static_cast<char>(text[at] ^ (1U << random.below(8U)));
      break;
    case 4:
      text.insert(at, text.substr(random.below(std::uint64_t{text.size()}), random.below(40U)));
      break;
    case 5:
      text.resize(at);
      break;
    default: {  // Mostly digits: other changes usually make the text invalid.
      const std::size_t digit = text.find_first_of("0123456789", at);
      if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random.below(10U));
    }
  }
}

}  // namespace tutti::test
