#include <algorithm>
#include <numeric>
#include <string>

#include "arguments.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "group.hpp"
#include "reduction.hpp"
#include "schedules.hpp"

namespace tutti::python {
namespace {

/// A call of a collective, between Python's arguments and the library's Call.
class Translation {
 public:
  /// `lasts`: the operands are used after Python's call.
  Translation(const Arguments& arguments, const Communicator& communicator, Operands& operands,
              bool lasts)
      : arguments_(arguments),
        operands_(operands),
        lasts_(lasts),
        ranks_(communicator.size()),
        rank_(communicator.rank()) {
    call.root = arguments.rank(Arg::root, 0);
  }

  [[nodiscard]] bool is_root() const { return call.root == rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] Array& input() { return operands_.input; }
  [[nodiscard]] Array& output() { return operands_.output; }
  [[nodiscard]] const char* name() const { return arguments_.method(); }

  /// Reads the argument x.
  void take_input() {
    const nb::handle x = arguments_.required(Arg::x);
    pin(x);
    input().acquire(x, name(), Access::read);
    call.input = input().data();
  }
  /// Writes the argument x, which is also the input.
  void take_in_place() {
    const nb::handle x = arguments_.required(Arg::x);
    pin(x);
    input().acquire(x, name(), Access::write);
    call.input = call.output = input().data();
    result = nb::borrow(x);
  }
  /// Writes the argument out or, if there is none, a new array: x with another first dimension.
  void take_output(std::uint64_t rows) {
    nb::handle out = arguments_[Arg::out];
    if (out.ptr() == nullptr) {
      result = new_array(rows);
      out = result;
    } else {
      result = nb::borrow(out);
    }
    pin(out);
    output().acquire(out, name(), Access::write);
    call.output = output().data();
    if (input().data() == nullptr && input().bytes() == 0) return;
    if (input().dtype() == output().dtype() && input().item_bytes() == output().item_bytes())
      return;
    throw WrongType(std::string(name()) + ": x has elements of type " + input().type_name() +
                    " and out of type " + output().type_name() + ": use the same type");
  }
  [[nodiscard]] bool has_output() const { return arguments_[Arg::out].ptr() != nullptr; }

  /// `count` elements of the type of the array. With counts, the same call on all ranks has none.
  void set_elements(const Array& array, std::uint64_t count) {
    call.dtype = array.dtype().value_or(DType::u8);
    if (!call.counts.empty()) return;
    call.count = array.dtype() ? count : count * array.item_bytes();
  }
  void set_reduction() {
    call.reduction = reduction_of(arguments_[Arg::op], input(), name());
    if (call.reduction.combine() != nullptr) call.element_bytes = input().item_bytes();
  }
  void require_count(const char* which, std::uint64_t has, std::uint64_t needs) const {
    if (has == needs) return;
    refuse(std::string(name()) + ": " + which + " has " + std::to_string(has) +
           " elements, and must have " + std::to_string(needs) + " with " + std::to_string(ranks_) +
           " ranks");
  }

  /// The lengths of blocks in elements, from counts of rows. Empty if they are equal.
  [[nodiscard]] bool take_counts(const Array& array) {
    operands_.counts = scaled(Arg::counts, array);
    call.counts = operands_.counts;
    return !operands_.counts.empty();
  }
  void take_output_counts(const Array& array) {
    operands_.output_counts = scaled(Arg::out_counts, array);
    call.output_counts = operands_.output_counts;
  }
  [[nodiscard]] std::uint64_t own_count() const { return operands_.counts[rank_]; }
  [[nodiscard]] static std::uint64_t total(const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  [[nodiscard]] std::uint64_t total_count() const { return total(operands_.counts); }
  [[nodiscard]] std::uint64_t total_output_count() const { return total(operands_.output_counts); }

  /// The rows of one of `ranks` equal blocks of x.
  [[nodiscard]] std::uint64_t rows_of_block() {
    const std::uint64_t rows = rows_of(input());
    if (rows % ranks_ == 0) return rows / ranks_;
    refuse(std::string(name()) + ": the first dimension of x is " + std::to_string(rows) +
           ", which is no multiple of the number of ranks, " + std::to_string(ranks_) +
           ": pass counts= for blocks of different lengths");
  }
  [[nodiscard]] static std::uint64_t rows_of(const Array& array) {
    return array.dimensions() == 0 ? 1 : static_cast<std::uint64_t>(array.length(0));
  }
  [[nodiscard]] std::uint64_t block_elements(std::uint64_t rows) { return rows * input().row(); }

  void take_options() {
    CallOptions& options = call.options;
    options.algorithm = arguments_.text(Arg::algorithm);
    options.site = arguments_.text(Arg::site);
    options.timeout = std::chrono::milliseconds(arguments_.milliseconds(Arg::timeout));
    options.keep_input = arguments_.flag(Arg::keep_input);
    if (const std::string_view shape = arguments_.text(Arg::shape); !shape.empty()) {
      options.shape = parse_shape(shape);
    }
    if (const std::string_view level = arguments_.text(Arg::reproducible); !level.empty()) {
      options.reproducible = parse_reproducible(level);
    }
    if (const nb::handle schedule = arguments_[Arg::schedule]; schedule.ptr() != nullptr) {
      options.schedule = &proved(schedule, name());
    }
  }

  Call call{};
  nb::object result = nb::none();

 private:
  /// Torch resizes the memory of a tensor even if others refer to it, unless NumPy does.
  void pin(nb::handle array) {
    if (!lasts_) return;
    if (PyObject_HasAttrString(array.ptr(), "untyped_storage") == 0) return;
    operands_.pins.push_back(nb::module_::import_("tutti._arrays").attr("pin")(array));
  }

  [[nodiscard]] nb::object new_array(std::uint64_t rows) {
    nb::list shape;
    shape.append(rows);
    for (std::size_t i = 1; i < input().dimensions(); ++i) shape.append(input().length(i));
    return nb::module_::import_("tutti._arrays")
        .attr("empty_like")(arguments_[Arg::x], nb::tuple(shape));
  }

  [[nodiscard]] std::vector<std::uint64_t> scaled(Arg argument, const Array& array) const {
    std::vector<std::uint64_t> counts = arguments_.list(argument);
    if (counts.empty()) {
      if (arguments_[argument].ptr() == nullptr) return counts;
      refuse(std::string(name()) + ": " + python::name(argument) +
             " is empty: give one number for each rank");
    }
    if (counts.size() != ranks_) {
      refuse(std::string(name()) + ": " + python::name(argument) + " has " +
             std::to_string(counts.size()) + " numbers for " + std::to_string(ranks_) + " ranks");
    }
    const std::uint64_t each = array.row() * (array.dtype() ? 1 : array.item_bytes());
    for (std::uint64_t& count : counts) count *= each;
    return counts;
  }

  const Arguments& arguments_;
  Operands& operands_;
  bool lasts_;
  std::uint32_t ranks_;
  std::uint32_t rank_;
};

constexpr std::initializer_list<Arg> options = {Arg::async,      Arg::algorithm,   Arg::schedule,
                                                Arg::shape,      Arg::timeout,     Arg::site,
                                                Arg::keep_input, Arg::reproducible};

struct Allreduce {
  static constexpr Collective collective = Collective::allreduce;
  static inline const Signature signature{"allreduce", {Arg::x, Arg::op, Arg::out}, {options}};
  static void translate(Translation& p) {
    if (p.has_output()) {
      p.take_input();
      p.take_output(0);
      p.require_count("out", p.output().count(), p.input().count());
    } else {
      p.take_in_place();
    }
    p.set_elements(p.input(), p.input().count());
    p.set_reduction();
  }
};

struct Broadcast {
  static constexpr Collective collective = Collective::broadcast;
  static inline const Signature signature{"broadcast", {Arg::x, Arg::root}, {options}};
  static void translate(Translation& p) {
    if (p.is_root()) {
      p.take_input();  // May be read-only.
      p.call.output = p.input().data();
    } else {
      p.take_in_place();
    }
    p.set_elements(p.input(), p.input().count());
  }
};

struct Reduce {
  static constexpr Collective collective = Collective::reduce;
  static inline const Signature signature{
      "reduce", {Arg::x, Arg::op, Arg::root, Arg::out}, {options}};
  static void translate(Translation& p) {
    if (p.is_root() && !p.has_output()) {
      p.take_in_place();
    } else {
      p.take_input();
    }
    if (p.is_root() && p.has_output()) {
      p.take_output(0);
      p.require_count("out", p.output().count(), p.input().count());
    }
    p.set_elements(p.input(), p.input().count());
    p.set_reduction();
  }
};

struct Allgather {
  static constexpr Collective collective = Collective::allgather;
  static inline const Signature signature{"allgather", {Arg::x, Arg::out, Arg::counts}, {options}};
  static void translate(Translation& p) { translate_gather(p, true); }
  static void translate_gather(Translation& p, bool gets) {
    p.take_input();
    const std::uint64_t count = p.input().count();
    if (p.take_counts(p.input())) {
      const std::uint64_t unit = p.input().dtype() ? 1 : p.input().item_bytes();
      p.require_count("x", count * unit, p.own_count());
      if (gets) {
        const std::uint64_t row = std::max<std::uint64_t>(1, p.input().row() * unit);
        p.take_output(p.total_count() / row);
        p.require_count("out", p.output().count() * unit, p.total_count());
      }
    } else if (gets) {
      p.take_output(Translation::rows_of(p.input()) * p.ranks());
      p.require_count("out", p.output().count(), count * p.ranks());
    }
    p.set_elements(p.input(), count);
  }
};

struct Gather {
  static constexpr Collective collective = Collective::gather;
  static inline const Signature signature{
      "gather", {Arg::x, Arg::root, Arg::out, Arg::counts}, {options}};
  static void translate(Translation& p) { Allgather::translate_gather(p, p.is_root()); }
};

/// Scatter on the root, and reduce_scatter.
void translate_blocks(Translation& p) {
  p.take_input();
  if (p.take_counts(p.input())) {
    const std::uint64_t unit = p.input().dtype() ? 1 : p.input().item_bytes();
    const std::uint64_t row = std::max<std::uint64_t>(1, p.input().row() * unit);
    p.require_count("x", p.input().count() * unit, p.total_count());
    p.take_output(p.own_count() / row);
    p.require_count("out", p.output().count() * unit, p.own_count());
    p.set_elements(p.input(), 0);
  } else {
    const std::uint64_t rows = p.rows_of_block();
    const std::uint64_t count = p.block_elements(rows);
    p.take_output(rows);
    p.require_count("out", p.output().count(), count);
    p.set_elements(p.input(), count);
  }
}

struct Scatter {
  static constexpr Collective collective = Collective::scatter;
  static inline const Signature signature{
      "scatter", {Arg::x, Arg::root, Arg::out, Arg::counts}, {options}};
  static void translate(Translation& p) {
    if (p.is_root()) return translate_blocks(p);
    if (!p.has_output()) {
      refuse(
          "scatter: ranks other than the root get their block in out=: pass an array of its "
          "shape and type");
    }
    p.take_output(0);
    if (p.take_counts(p.output())) {
      const std::uint64_t unit = p.output().dtype() ? 1 : p.output().item_bytes();
      p.require_count("out", p.output().count() * unit, p.own_count());
    }
    p.set_elements(p.output(), p.output().count());
  }
};

struct ReduceScatter {
  static constexpr Collective collective = Collective::reduce_scatter;
  static inline const Signature signature{
      "reduce_scatter", {Arg::x, Arg::op, Arg::out, Arg::counts}, {options}};
  static void translate(Translation& p) {
    translate_blocks(p);
    p.set_reduction();
  }
};

struct Alltoall {
  static constexpr Collective collective = Collective::alltoall;
  static inline const Signature signature{
      "alltoall", {Arg::x, Arg::out, Arg::counts, Arg::out_counts}, {options}};
  static void translate(Translation& p) {
    p.take_input();
    if (p.take_counts(p.input())) {
      p.take_output_counts(p.input());
      if (p.call.output_counts.empty()) {
        refuse(
            "alltoall: counts= says what goes to each rank; out_counts= must say what comes "
            "from each");
      }
      const std::uint64_t unit = p.input().dtype() ? 1 : p.input().item_bytes();
      const std::uint64_t row = std::max<std::uint64_t>(1, p.input().row() * unit);
      p.require_count("x", p.input().count() * unit, p.total_count());
      p.take_output(p.total_output_count() / row);
      p.require_count("out", p.output().count() * unit, p.total_output_count());
      p.set_elements(p.input(), 0);
      return;
    }
    const std::uint64_t rows = p.rows_of_block();
    p.take_output(rows * p.ranks());
    p.require_count("out", p.output().count(), p.input().count());
    p.set_elements(p.input(), p.block_elements(rows));
  }
};

struct Barrier {
  static constexpr Collective collective = Collective::barrier;
  static inline const Signature signature{"barrier", {}, {options}};
  static void translate(Translation& /*p*/) {}
};

template <class C>
Translation translation(const Arguments& arguments, const Communicator& communicator,
                        Operands& operands, bool lasts) {
  Translation made(arguments, communicator, operands, lasts);
  made.call.collective = C::collective;
  C::translate(made);
  made.take_options();
  return made;
}

/// Carries out or starts the call. Returns its result, or its Work.
template <class C>
nb::object perform(PyObject* self, Group& group, const Arguments& arguments,
                   const std::shared_ptr<Communicator>& communicator) {
  const Group::Inside inside(group);
  if (!arguments.flag(Arg::async) && !group.has_pending()) {
    Operands operands;
    Translation made = translation<C>(arguments, *communicator, operands, false);
    const WithoutGil released;
    communicator->run(made.call);
    return std::move(made.result);
  }
  auto operation = std::make_shared<Operation>();
  operation->operands = std::make_shared<Operands>();
  Translation made =
      translation<C>(arguments, *communicator, *operation->operands, arguments.flag(Arg::async));
  {
    const WithoutGil released;
    operation->work = communicator->start(made.call);
  }
  group.keep(operation);
  if (arguments.flag(Arg::async)) {
    return make_work(std::move(operation), nb::borrow(self), std::move(made.result));
  }
  wait_behind_others(group, operation->work);
  return std::move(made.result);
}

/// Returns a PreparedCall.
template <class C>
nb::object prepare(PyObject* self, Group& group, const Arguments& arguments,
                   const std::shared_ptr<Communicator>& communicator) {
  const Group::Inside inside(group);
  auto operands = std::make_shared<Operands>();
  Translation made = translation<C>(arguments, *communicator, *operands, true);
  return make_prepared(communicator->prepare(made.call), std::move(operands), nb::borrow(self),
                       std::move(made.result));
}

/// The signature of the method that prepares a call.
template <class C>
const Signature& signature_to_prepare() {
  static const std::string name = std::string("prepare_") + C::signature.name;
  static const Signature made = C::signature.without(Arg::async, name.c_str());
  return made;
}

template <class C, bool prepares>
PyObject* method(PyObject* self, PyObject* const* values, Py_ssize_t count,
                 PyObject* names) noexcept {
  std::shared_ptr<Communicator> communicator;
  try {
    Group& group = group_of(self);
    communicator = group.open();
    const Arguments arguments(prepares ? signature_to_prepare<C>() : C::signature, values, count,
                              names);
    nb::object made = prepares ? prepare<C>(self, group, arguments, communicator)
                               : perform<C>(self, group, arguments, communicator);
    return made.release().ptr();
  } catch (...) {
    set_python_error(communicator.get());
    return nullptr;
  }
}

template <class C, bool prepares = false>
PyMethodDef definition(const char* doc) {
  const char* const name = prepares ? signature_to_prepare<C>().name : C::signature.name;
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&method<C, prepares>)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

template <class... C>
std::array<PyMethodDef, sizeof...(C)> definitions_to_prepare() {
  return {definition<C, true>("A PreparedCall of this collective, with the same arguments.")...};
}

}  // namespace

void register_collectives(nb::handle type) {
  static std::array<PyMethodDef, 9> methods{
      definition<Allreduce>("Every rank gets the reduction of all ranks' x: in x, or in out."),
      definition<Broadcast>("Every rank gets the root's x, in x."),
      definition<Reduce>("The root gets the reduction of all ranks' x: in x, or in out."),
      definition<Allgather>("Every rank gets the x of all ranks, one after the other."),
      definition<Gather>("The root gets the x of all ranks, one after the other."),
      definition<Scatter>("Rank r gets block r of the root's x."),
      definition<ReduceScatter>("Rank r gets block r of the reduction of all ranks' x."),
      definition<Alltoall>("Block d of rank s becomes block s of rank d."),
      definition<Barrier>("Returns when all ranks have called it."),
  };
  add_methods(type, methods);
  static std::array methods_to_prepare =
      definitions_to_prepare<Allreduce, Broadcast, Reduce, Allgather, Gather, Scatter,
                             ReduceScatter, Alltoall, Barrier>();
  add_methods(type, methods_to_prepare);
}

}  // namespace tutti::python
