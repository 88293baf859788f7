#pragma once

#include <string>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

namespace tutti::test {

/// Expects f() to throw an Error with this code whose message contains `part`.
template <class F>
void expect_error(F f, ErrorCode code, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown; expected an error with \"" << part << "\"";
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), name(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "\"" << part << "\" is not in: " << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not a tutti::Error: " << error.what();
  }
}

}  // namespace tutti::test
