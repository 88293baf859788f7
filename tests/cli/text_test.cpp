#include "cli/console/text.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

using cli::TextTable;

TextTable example() {
  TextTable table({{"name", TextTable::Align::left},
                   {"what it does", TextTable::Align::left},
                   {"bytes", TextTable::Align::right},
                   {"steps", TextTable::Align::right}});
  table.add({"ring", "blocks twice round a ring, both ways", "1234567", "14"});
  return table;
}

TEST(TextTables, AreAsWideAsTheirCells) {
  EXPECT_EQ(example().text(0),
            "name  what it does                            bytes  steps\n"
            "----  ------------------------------------  -------  -----\n"
            "ring  blocks twice round a ring, both ways  1234567     14\n");
}

TEST(TextTables, BreakCellsToFit) {
  EXPECT_EQ(example().text(42),
            "name  what it does            bytes  steps\n"
            "----  --------------------  -------  -----\n"
            "ring  blocks twice round a  1234567     14\n"
            "      ring, both ways\n");
}

TEST(TextTables, FoldIfCellsCannotBeBroken) {
  EXPECT_EQ(example().text(30),
            "name  what it does\n"
            "----  ------------------\n"
            "ring  blocks twice round\n"
            "      a ring, both ways\n"
            "\n"
            "name    bytes  steps\n"
            "----  -------  -----\n"
            "ring  1234567     14\n");
}

}  // namespace
}  // namespace tutti::test
