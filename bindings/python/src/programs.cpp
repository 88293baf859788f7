#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tutti/schedule/program.hpp>

#include "errors.hpp"
#include "schedules.hpp"

namespace tutti::python {
namespace {

/// Chunks as Python writes them: a number, a range, or a sequence of numbers and ranges.
void add_chunks(nb::handle given, std::vector<ChunkRange>& into) {
  const auto add = [&](std::uint64_t first, std::uint64_t count) {
    if (count == 0) return;
    if (!into.empty() && into.back().end().index() == first) {
      into.back().count += count;
    } else {
      into.emplace_back(Chunk{first}, count);
    }
  };
  const nb::object whole = nb::steal(PyNumber_Index(given.ptr()));
  if (whole) return add(nb::cast<std::uint64_t>(whole), 1);
  PyErr_Clear();
  const nb::object items = nb::steal(PySequence_List(given.ptr()));
  if (!items) {
    PyErr_Clear();
    throw WrongType("chunks are a number, a range, or a list of them");
  }
  for (const nb::handle item : nb::cast<nb::list>(items)) add_chunks(item, into);
}

std::vector<ChunkRange> chunks_of(nb::handle given) {
  std::vector<ChunkRange> chunks;
  add_chunks(given, chunks);
  return chunks;
}

std::vector<Rank> ranks_of(nb::handle given) {
  std::vector<Rank> ranks;
  const nb::object whole = nb::steal(PyNumber_Index(given.ptr()));
  if (whole) {
    ranks.emplace_back(nb::cast<std::uint32_t>(whole));
    return ranks;
  }
  PyErr_Clear();
  for (const nb::handle each : given) ranks.emplace_back(nb::cast<std::uint32_t>(each));
  return ranks;
}

nb::tuple described(const Step& step) {
  nb::list peers;
  for (const Rank peer : step.peers) peers.append(peer);
  nb::list chunks;
  for (const ChunkRange& range : step.chunks) {
    chunks.append(nb::make_tuple(range.first.index(), range.count));
  }
  nb::list sources;
  for (const Variant source : step.sources) sources.append(source.index());
  const char* const kind = step.kind == Step::Kind::send      ? "send"
                           : step.kind == Step::Kind::receive ? "receive"
                                                              : "local";
  const nb::object own = step.own ? nb::cast(*step.own) : nb::none();
  return nb::make_tuple(kind, step.round, nb::tuple(peers), nb::tuple(chunks), own,
                        step.variant.index(), nb::tuple(sources));
}

}  // namespace

void register_programs(nb::module_& module) {
  nb::class_<Program>(module, "Program")
      .def(nb::init<std::uint32_t>())
      .def("send",
           [](Program& program, std::uint32_t round, nb::handle peers, nb::handle chunks,
              std::uint16_t variant) {
             program.send(round, ranks_of(peers), chunks_of(chunks), Variant{variant});
           })
      .def("receive",
           [](Program& program, std::uint32_t round, std::uint32_t peer, nb::handle chunks,
              std::uint16_t variant) {
             program.receive(round, peer, chunks_of(chunks), Variant{variant});
           })
      .def("receive_reduce",
           [](Program& program, std::uint32_t round, nb::handle peers, std::uint32_t own,
              nb::handle chunks) {
             program.receive_reduce(round, ranks_of(peers), own, chunks_of(chunks));
           })
      .def("copy",
           [](Program& program, std::uint32_t round, nb::handle chunks, std::uint16_t from,
              std::uint16_t to) {
             for (const ChunkRange& range : chunks_of(chunks)) {
               program.copy(round, range, Variant{from}, Variant{to});
             }
           })
      .def("reduce",
           [](Program& program, std::uint32_t round, nb::handle chunks,
              const std::vector<std::uint16_t>& sources, std::uint16_t to) {
             std::vector<Variant> variants;
             for (const std::uint16_t source : sources) variants.emplace_back(source);
             for (const ChunkRange& range : chunks_of(chunks)) {
               program.reduce(round, range, variants, Variant{to});
             }
           })
      .def("__len__", &Program::size)
      .def("steps",
           [](const Program& program) {
             nb::list steps;
             for (const Step step : program) steps.append(described(step));
             return steps;
           })
      .def("with_rounds", [](const Program& program, std::uint32_t rounds) {
        Program all(rounds);
        all.append(program, 0);
        return all;
      });
}

}  // namespace tutti::python
