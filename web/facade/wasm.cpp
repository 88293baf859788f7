#include <cstdlib>
#include <cstring>
#include <string>

#include <emscripten/emscripten.h>

#include "web/facade/explorer.hpp"

/// The only function that the page calls. The answer stays valid until the next call.
extern "C" EMSCRIPTEN_KEEPALIVE const char* tutti_answer(const char* question,
                                                         const char* arguments) {
  static tutti::web::Explorer explorer;
  static std::string answer;
  answer = explorer.answer(question, arguments);
  return answer.c_str();
}
