#include "core/named_objects.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(NamedObjects, AreFoundByName) {
  const auto one = std::make_shared<int>(1);
  const auto two = std::make_shared<int>(2);
  const std::string name_of_one = NamedObjects<int>::publish(one);
  const std::string name_of_two = NamedObjects<int>::publish(two);
  EXPECT_NE(name_of_one, name_of_two);
  EXPECT_EQ(NamedObjects<int>::find(name_of_one), one);
  EXPECT_EQ(NamedObjects<int>::find(name_of_two), two);
  EXPECT_EQ(NamedObjects<int>::find("no such name"), nullptr);
}

TEST(NamedObjects, TableDoesNotOwnThem) {
  auto object = std::make_shared<int>(3);
  const std::string name = NamedObjects<int>::publish(object);
  EXPECT_EQ(object.use_count(), 1);
  object.reset();
  EXPECT_EQ(NamedObjects<int>::find(name), nullptr);
}

TEST(NamedObjects, NamesOfOneTypeAreUnknownToAnother) {
  const auto object = std::make_shared<long>(4);
  const std::string name = NamedObjects<long>::publish(object);
  EXPECT_EQ(NamedObjects<unsigned>::find(name), nullptr);
}

}  // namespace
}  // namespace tutti
