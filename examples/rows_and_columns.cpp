// Ranks on a grid: each row and each column is a communicator. An allreduce over the row and then
// one over the column give every rank the total of all ranks.
//   tutti run -n 6 -- build/examples/rows_and_columns
#include <cstdio>
#include <optional>
#include <vector>

#include <tutti/communicator.hpp>

int main() {
  tutti::Communicator comm = tutti::Communicator::from_environment();
  const std::uint32_t columns = comm.size() % 3 == 0 ? 3 : comm.size() % 2 == 0 ? 2 : 1;
  const std::uint32_t row = comm.rank() / columns;
  const std::uint32_t column = comm.rank() % columns;

  std::optional<tutti::Communicator> my_row = comm.split(row);
  std::optional<tutti::Communicator> my_column = comm.split(column);

  std::vector<double> total = {static_cast<double>(comm.rank())};
  my_row->all_reduce(total);
  std::printf("rank %u: row %u adds up to %g\n", comm.rank(), row, total[0]);
  my_column->all_reduce(total);

  const double expected = static_cast<double>(comm.size()) * (comm.size() - 1) / 2;
  return total[0] == expected ? 0 : 1;
}
