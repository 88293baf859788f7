// An algorithm is a value: take one, verify it, price it.
#include <cstdio>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/schedule/verify.hpp>

int main() {
  const tutti::Schedule ring = tutti::algorithm("allreduce/ring").schedule({.ranks = 8});
  const tutti::Verification verdict = tutti::verify(ring);
  if (!verdict.ok()) return std::puts(verdict.violations.front().message.c_str()), 1;

  const tutti::Layout layout = tutti::even_layout(ring.contract, 64 << 20);
  const tutti::CostModel ethernet{.link = {.alpha = 10e-6, .beta = 1 / 12.5e9}};
  const tutti::Price price = tutti::Pricer(ring).price(layout, ethernet, tutti::Ports::one);
  std::printf("%s is right; each rank sends %.1f MiB in %.2f ms\n", ring.name.c_str(),
              static_cast<double>(tutti::count(ring, layout).most_sent) / (1 << 20),
              price.seconds * 1e3);
}
