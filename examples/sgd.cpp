// Training with averaged gradients, on Kepler's data: the orbital period of a planet as a function
// of its distance from the Sun. Each rank has only some of the planets. Together they find
// log(period) = 1.5 · log(distance), Kepler's third law.
//   tutti run -n 4 -- build/examples/sgd
#include <array>
#include <cmath>
#include <cstdio>

#include <tutti/communicator.hpp>

namespace {

struct Planet {
  double distance;  // In astronomical units.
  double period;    // In years.
};
constexpr std::array<Planet, 8> planets = {{{0.387, 0.2408},
                                            {0.723, 0.6152},
                                            {1.000, 1.0000},
                                            {1.524, 1.8808},
                                            {5.203, 11.862},
                                            {9.537, 29.447},
                                            {19.19, 84.017},
                                            {30.07, 164.79}}};

}  // namespace

int main() {
  tutti::Communicator comm = tutti::Communicator::from_environment();
  std::array<double, 2> weights = {0, 0};  // Slope and offset.
  constexpr double rate = 0.05;
  for (int step = 0; step < 2000; ++step) {
    // Sums over this rank's planets: both gradients, the squared error, and the number of planets.
    std::array<double, 4> sums = {};
    for (std::size_t i = comm.rank(); i < planets.size(); i += comm.size()) {
      const double x = std::log(planets[i].distance);
      const double error = weights[0] * x + weights[1] - std::log(planets[i].period);
      sums[0] += error * x;
      sums[1] += error;
      sums[2] += error * error;
      sums[3] += 1;
    }
    comm.all_reduce(sums);
    weights[0] -= rate * sums[0] / sums[3];
    weights[1] -= rate * sums[1] / sums[3];
    if (comm.rank() == 0 && (step % 500 == 0 || step == 1999)) {
      std::printf("step %4d: log(period) = %.4f log(distance) %+.4f, mean squared error %.1e\n",
                  step, weights[0], weights[1], sums[2] / sums[3]);
    }
  }
  // All ranks get the same bits from an allreduce, so all must have the same weights.
  std::array<double, 2> least = weights;
  comm.all_reduce(least, tutti::Op::min);
  return std::fabs(weights[0] - 1.5) < 0.001 && least == weights ? 0 : 1;
}
