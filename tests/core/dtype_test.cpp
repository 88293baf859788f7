#include <set>

#include <gtest/gtest.h>

#include <tutti/dtype.hpp>
#include <tutti/error.hpp>
#include <tutti/op.hpp>

namespace tutti {
namespace {

/// The numbers are in messages between ranks, in files and in compiled programs.
TEST(DType, NumbersAreStable) {
  EXPECT_EQ(static_cast<int>(DType::i8), 0);
  EXPECT_EQ(static_cast<int>(DType::f64), 9);
  EXPECT_EQ(static_cast<int>(DType::i16), 10);
  EXPECT_EQ(static_cast<int>(DType::complex128), 13);
  EXPECT_EQ(static_cast<int>(DType::f8e5m2), 15);
  EXPECT_EQ(dtypes().size(), 16U);
}

TEST(DType, NamesRoundTrip) {
  std::set<std::string_view> names;
  for (const DType each : dtypes()) {
    EXPECT_EQ(parse_dtype(name(each)), each);
    names.insert(name(each));
    EXPECT_EQ(is_integral(each) + is_floating(each) + is_complex(each), 1) << name(each);
  }
  EXPECT_EQ(names.size(), dtypes().size());
  try {
    (void)parse_dtype("complex46");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("complex64"), std::string::npos) << error.what();
  }
}

TEST(DType, OperationsThatApply) {
  for (const DType each : dtypes()) {
    EXPECT_TRUE(applies(Op::sum, each) && applies(Op::prod, each) && applies(Op::avg, each));
    EXPECT_EQ(applies(Op::min, each), !is_complex(each));
    EXPECT_EQ(applies(Op::max, each), !is_complex(each));
    EXPECT_EQ(applies(Op::band, each), is_integral(each));
  }
}

}  // namespace
}  // namespace tutti
