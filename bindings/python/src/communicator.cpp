#include <unistd.h>

#include <deque>
#include <future>
#include <optional>
#include <thread>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tutti/communicator.hpp>
#include <tutti/retry.hpp>
#include <tutti/store.hpp>

#include "arguments.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "group.hpp"
#include "options.hpp"

namespace tutti::python {
namespace {

/// A new communicator on its way to its Python object.
struct Handle {
  std::optional<Communicator> communicator;

  explicit Handle(Communicator made) : communicator(std::move(made)) {}
};

nb::object handle_of(std::optional<Communicator> made) {
  if (!made) return nb::none();
  return nb::cast(Handle(std::move(*made)));
}

/// Makes a communicator in another thread, while this one runs signal handlers: it may take long
/// until all ranks have come. After Ctrl-C the thread goes on, until its timeout at most.
template <class F>
nb::object make_interruptibly(F make) {
  std::optional<Communicator> made;
  {
    const WithoutGil released;
    if (gettid() != getpid()) {
      made.emplace(make());
    } else {
      std::packaged_task<Communicator()> task(std::move(make));
      std::future<Communicator> result = task.get_future();
      std::thread thread(std::move(task));
      try {
        while (result.wait_for(std::chrono::milliseconds(milliseconds_between_signals)) !=
               std::future_status::ready) {
          check_signals();
        }
      } catch (...) {
        thread.detach();
        throw;
      }
      thread.join();
      made.emplace(result.get());
    }
  }
  return handle_of(std::move(made));
}

/// An object of Python with set(key, value) and get(key), such as torch's TCPStore.
class PythonStore final : public Store {
 public:
  explicit PythonStore(nb::object store) : store_(std::move(store)) {}
  ~PythonStore() override {
    const nb::gil_scoped_acquire gil;
    store_.reset();
  }
  PythonStore(const PythonStore&) = delete;
  PythonStore& operator=(const PythonStore&) = delete;

  void set(const std::string& key, const std::string& value) override {
    in_python([&] { store_.attr("set")(key, nb::bytes(value.data(), value.size())); });
  }
  std::string get(const std::string& key) override {
    std::string value;
    in_python([&] {
      const nb::object got =
          nb::steal(PyBytes_FromObject(nb::object(store_.attr("get")(key)).ptr()));
      if (!got) throw nb::python_error();
      const auto bytes = nb::cast<nb::bytes>(got);
      value.assign(bytes.c_str(), bytes.size());
    });
    return value;
  }

 private:
  template <class F>
  static void in_python(F f) {
    const nb::gil_scoped_acquire gil;
    try {
      f();
    } catch (nb::python_error& error) {
      error.restore();
      throw PythonFailure();
    }
  }

  nb::object store_;
};

nb::object create_by_store(nb::object store, const std::string& prefix, std::uint32_t rank,
                           std::uint32_t ranks, const nb::dict& given) {
  const CommunicatorOptions options = options_of(given);
  auto owned = std::make_shared<PythonStore>(std::move(store));
  return make_interruptibly([owned, prefix, rank, ranks, options] {
    StoreExchange exchange(*owned, prefix, rank, ranks);
    return Communicator::create(exchange, rank, ranks, options);
  });
}

/// Calls rank_function(handle) in a thread for each rank.
void run_as_threads(std::uint32_t ranks, const nb::object& rank_function, const nb::dict& given) {
  const CommunicatorOptions options = options_of(given);
  const WithoutGil released;
  run_threads(
      ranks,
      [&](Communicator& communicator) {
        const nb::gil_scoped_acquire gil;
        try {
          nb::object handle = nb::cast(Handle(std::move(communicator)));
          rank_function(handle);
        } catch (nb::python_error& error) {
          error.restore();
          throw PythonFailure();
        }
      },
      options);
}

nb::object verdict_of(Group& group) {
  const std::optional<Verdict> verdict = group.open()->verdict();
  if (!verdict) return nb::none();
  nb::dict calls;
  for (const RankCall& call : verdict->calls) calls[nb::int_(call.rank)] = nb::cast(call.words);
  return nb::make_tuple(std::string(name(verdict->code)), verdict->words,
                        nb::tuple(nb::cast(verdict->ranks)), calls);
}

template <class F>
auto without_gil(Group& group, F f) {
  const std::shared_ptr<Communicator> communicator = group.open();
  const Group::Inside inside(group);
  try {
    const WithoutGil released;
    return f(*communicator);
  } catch (const Error&) {
    set_python_error(communicator.get());
    throw nb::python_error();
  }
}

nb::tuple counters_of(Group& group, const std::string& collective) {
  return tuple_of(group.open()->counters(parse_collective(collective)));
}

std::string algorithm_for(Group& group, const std::string& collective, std::uint64_t count,
                          const std::string& dtype, std::uint32_t root) {
  return group.open()->algorithm_for({.collective = parse_collective(collective),
                                      .count = count,
                                      .dtype = dtype_named(dtype),
                                      .root = root});
}

nb::tuple retry(nb::handle self, const nb::object& function, const nb::list& arrays) {
  Group& group = group_of(self);
  std::deque<Array> kept;
  std::vector<std::span<std::byte>> memory;
  for (const nb::handle each : arrays) {
    kept.emplace_back().acquire(each, "with_retry", Access::write);
    memory.emplace_back(static_cast<std::byte*>(kept.back().data()), kept.back().bytes());
  }
  const auto call = [&](Communicator& /*same*/) {
    const nb::gil_scoped_acquire gil;
    try {
      function(self);
    } catch (nb::python_error& error) {
      error.restore();
      throw_python_error();
    }
  };
  const Retried retried = without_gil(group, [&](Communicator& communicator) {
    return with_retry(communicator, call, std::span<const std::span<std::byte>>(memory));
  });
  return nb::make_tuple(retried.ranks, nb::tuple(nb::cast(retried.gone)), retried.repeats);
}

nb::tuple shrink(Group& group, std::uint64_t completed) {
  Regrouped shrunk = without_gil(
      group, [&](Communicator& communicator) { return communicator.shrink(completed); });
  return nb::make_tuple(handle_of(std::move(shrunk.communicator)), nb::tuple(nb::cast(shrunk.gone)),
                        shrunk.completed);
}

nb::object grow(Group& group, const std::string& at, std::uint32_t most, double wait,
                double timeout) {
  const auto milliseconds = [](double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  };
  return handle_of(without_gil(group, [&](Communicator& communicator) {
    return communicator
        .grow(
            {.at = at, .most = most, .wait = milliseconds(wait), .timeout = milliseconds(timeout)})
        .communicator;
  }));
}

nb::object probe(Group& group, std::uint32_t source, std::uint32_t tag, bool waits,
                 const nb::object& timeout) {
  const MessageOptions options{.tag = tag,
                               .timeout = std::chrono::milliseconds(
                                   timeout.is_none() ? 0 : milliseconds_of(timeout, "probe"))};
  const std::optional<Envelope> found = without_gil(group, [&](Communicator& communicator) {
    return waits ? std::optional(communicator.probe(source, options))
                 : communicator.try_probe(source, tag);
  });
  if (!found) return nb::none();
  return nb::make_tuple(found->rank, found->tag, found->bytes);
}

void add_functions(nb::module_& module) {
  module.def("from_environment", [](const nb::dict& given) {
    const CommunicatorOptions options = options_of(given);
    return make_interruptibly([options] { return Communicator::from_environment(options); });
  });
  module.def("unique_id",
             [](const nb::dict& given) { return UniqueId::make(options_of(given)).text(); });
  module.def("create_by_id", [](const std::string& id, std::uint32_t rank, std::uint32_t ranks,
                                const nb::dict& given) {
    const CommunicatorOptions options = options_of(given);
    return make_interruptibly(
        [=] { return Communicator::create(UniqueId(id), rank, ranks, options); });
  });
  module.def("create_by_store", create_by_store);
  module.def("join", [](const std::string& at, double timeout, const nb::dict& given) {
    const CommunicatorOptions options = options_of(given);
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000));
    return make_interruptibly([=] { return Communicator::join(at, limit, options); });
  });
  module.def("run_threads", run_as_threads);
  module.def("shut_down", shut_down);
}

}  // namespace

nb::tuple tuple_of(const Counters& counters) {
  nb::list peers;
  for (const PeerCounters& peer : counters.peers) {
    peers.append(nb::make_tuple(peer.bytes_sent, peer.bytes_received, peer.messages_sent,
                                peer.messages_received, peer.slices_sent, peer.slices_received));
  }
  return nb::make_tuple(counters.calls, counters.waits, peers);
}

void register_group(nb::module_& module) {
  nb::class_<Handle>(module, "Handle");
  nb::class_<Group> type(module, "Group", nb::is_weak_referenceable(),
                         "The part of tutti.Communicator that is in C++.");
  type.def(
          "__init__",
          [](Group* self, Handle& handle) {
            if (!handle.communicator) refuse("this communicator has an object already");
            new (self) Group(std::move(*handle.communicator));
            handle.communicator.reset();
          },
          nb::arg("handle"))
      .def_prop_ro("rank", [](const Group& group) { return group.open()->rank(); })
      .def_prop_ro("size", [](const Group& group) { return group.open()->size(); })
      .def_prop_ro("closed", &Group::is_closed)
      .def("close", &Group::close)
      .def("abort", &Group::abort, nb::arg("reason"))
      .def("_verdict", verdict_of)
      .def(
          "_split",
          [](Group& group, std::optional<std::uint32_t> color, std::uint32_t key,
             const nb::dict& given) {
            const CommunicatorOptions options = options_of(given);
            return handle_of(without_gil(group, [&](Communicator& communicator) {
              return communicator.split(color, key, options);
            }));
          },
          nb::arg("color").none(), nb::arg("key"), nb::arg("options"))
      .def("_shrink", shrink)
      .def("_grow", grow)
      .def("_probe", probe, nb::arg("source"), nb::arg("tag"), nb::arg("waits"),
           nb::arg("timeout").none())
      .def("_counters", counters_of)
      .def("_algorithm_for", algorithm_for)
      .def_prop_ro("description", [](const Group& group) { return group.open()->description(); })
      .def_prop_rw(
          "completed", [](const Group& group) { return group.open()->completed(); },
          [](Group& group, std::uint64_t calls) { group.open()->set_completed(calls); });
  type.def("_with_retry", retry);
  register_collectives(type);
  register_messages(type);
  add_functions(module);
}

}  // namespace tutti::python
