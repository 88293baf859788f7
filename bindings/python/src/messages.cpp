#include <string>

#include "arguments.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "group.hpp"

namespace tutti::python {
namespace {

nb::object envelope(const Envelope& envelope) {
  return nb::module_::import_("tutti._communicator")
      .attr("Envelope")(envelope.rank, envelope.tag, envelope.bytes);
}

/// Messages are started and then waited for, so that signal handlers run meanwhile.
class Exchanged {
 public:
  Exchanged(PyObject* self, const Arguments& arguments)
      : self_(self), arguments_(arguments), operation_(std::make_shared<Operation>()) {
    operation_->operands = std::make_unique<Operands>();
    options_.tag = arguments.rank(Arg::tag, 0);
    options_.timeout = std::chrono::milliseconds(arguments.milliseconds(Arg::timeout));
    options_.site = arguments.text(Arg::site);
    options_.may_be_shorter = arguments.flag(Arg::may_be_shorter);
  }

  void send(Arg array) {
    pin(arguments_.required(array));
    Array& data = operation_->operands->input;
    data.acquire(arguments_.required(array), arguments_.method(), Access::read);
    (void)arguments_.required(Arg::to);
    out_ = Outgoing{.data = data.data(),
                    .bytes = data.bytes(),
                    .to = arguments_.rank(Arg::to, 0),
                    .tag = options_.tag};
  }
  void receive(Arg array) {
    pin(arguments_.required(array));
    Array& data = operation_->operands->output;
    data.acquire(arguments_.required(array), arguments_.method(), Access::write);
    const bool any = arguments_[Arg::tag].ptr() == nullptr && !out_;
    in_ = Incoming{.data = data.data(),
                   .bytes = data.bytes(),
                   .from = arguments_.rank(Arg::source, any_rank),
                   .tag = any ? any_tag : options_.tag,
                   .may_be_shorter = options_.may_be_shorter};
    result_ = nb::borrow(arguments_.required(array));
  }

  /// Returns the envelope of a receive, None of a send, or the Work.
  nb::object run(Group& group, Communicator& communicator) {
    const Group::Inside inside(group);
    {
      const WithoutGil released;
      operation_->work =
          communicator.start(out_ ? std::span(&*out_, 1) : std::span<const Outgoing>(),
                             in_ ? std::span(&*in_, 1) : std::span<const Incoming>(), options_);
    }
    group.keep(operation_);
    if (arguments_.flag(Arg::async)) {
      return make_work(operation_, nb::borrow(self_), std::move(result_));
    }
    try {
      (void)wait_for(operation_->work, -1);
    } catch (const PythonFailure& failure) {
      group.abort(std::string("it was interrupted: ") + failure.what());
      throw;
    }
    group.sweep();
    return in_ ? envelope(operation_->work.envelope()) : nb::none();
  }

 private:
  void pin(nb::handle array) {
    if (!arguments_.flag(Arg::async)) return;
    if (PyObject_HasAttrString(array.ptr(), "untyped_storage") == 0) return;
    operation_->operands->pins.push_back(nb::module_::import_("tutti._arrays").attr("pin")(array));
  }

  PyObject* self_;
  const Arguments& arguments_;
  std::shared_ptr<Operation> operation_;
  MessageOptions options_{};
  std::optional<Outgoing> out_;
  std::optional<Incoming> in_;
  nb::object result_ = nb::none();
};

constexpr std::initializer_list<Arg> options = {Arg::async, Arg::timeout, Arg::site};

struct Send {
  static inline const Signature signature{"send", {Arg::x, Arg::to, Arg::tag}, {options}};
  static void prepare(Exchanged& messages) { messages.send(Arg::x); }
};
struct Receive {
  static inline const Signature signature{
      "receive", {Arg::x, Arg::source, Arg::tag}, {options, {Arg::may_be_shorter}}};
  static void prepare(Exchanged& messages) { messages.receive(Arg::x); }
};
struct SendReceive {
  static inline const Signature signature{"send_receive",
                                          {Arg::x, Arg::to, Arg::out, Arg::source, Arg::tag},
                                          {options, {Arg::may_be_shorter}}};
  static void prepare(Exchanged& messages) {
    messages.send(Arg::x);
    messages.receive(Arg::out);
  }
};

template <class M>
PyObject* method(PyObject* self, PyObject* const* values, Py_ssize_t count,
                 PyObject* names) noexcept {
  std::shared_ptr<Communicator> communicator;
  try {
    Group& group = group_of(self);
    communicator = group.open();
    const Arguments arguments(M::signature, values, count, names);
    Exchanged messages(self, arguments);
    M::prepare(messages);
    return messages.run(group, *communicator).release().ptr();
  } catch (...) {
    set_python_error(communicator.get());
    return nullptr;
  }
}

template <class M>
PyMethodDef definition(const char* doc) {
  return {M::signature.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&method<M>)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

}  // namespace

void register_messages(nb::handle type) {
  static std::array<PyMethodDef, 3> methods{
      definition<Send>("Sends x to a rank. Returns when x may be changed again."),
      definition<Receive>("Receives a message into x. Returns its envelope."),
      definition<SendReceive>("Sends x and receives into out at the same time."),
  };
  add_methods(type, methods);
}

}  // namespace tutti::python
