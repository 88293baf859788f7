"""Wrong input is an exception that says what to do, on every rank concerned."""

import ctypes
import re
import threading
from array import array

import pytest

import tutti

np = pytest.importorskip("numpy")


@pytest.fixture
def comm():
    with tutti.init() as alone:
        yield alone


def test_what_is_no_array(comm):
    for thing in ([1, 2], 5, "text", object(), {"a": 1}):
        with pytest.raises(tutti.WrongType, match="is no array") as caught:
            comm.allreduce(thing)
        assert isinstance(caught.value, (TypeError, ValueError))


def test_not_contiguous_says_what_to_call(comm):
    with pytest.raises(tutti.InvalidArgument, match="numpy.ascontiguousarray"):
        comm.allreduce(np.zeros((4, 4))[:, ::2])
    with pytest.raises(tutti.InvalidArgument, match="not contiguous"):
        comm.allreduce(np.zeros((4, 4)).T)
    comm.allreduce(np.zeros((1, 4)).T)  # This is contiguous.


def test_read_only(comm):
    x = np.zeros(3)
    x.flags.writeable = False
    with pytest.raises(tutti.InvalidArgument, match="read-only.*out="):
        comm.allreduce(x)
    with pytest.raises(tutti.InvalidArgument, match="read-only"):
        comm.allreduce(b"bytes")
    comm.allreduce(x, out=np.ones(3))


def test_objects_and_foreign_byte_order(comm):
    with pytest.raises(tutti.InvalidArgument, match="Python objects"):
        comm.broadcast(np.array([None]))
    foreign = np.zeros(3, ">f4" if np.little_endian else "<f4")
    with pytest.raises(tutti.InvalidArgument, match="byte order"):
        comm.allreduce(foreign)


def test_types_and_sizes_that_differ(comm):
    with pytest.raises(tutti.WrongType, match="f64.*f32"):
        comm.allreduce(np.zeros(3), out=np.zeros(3, np.float32))
    with pytest.raises(tutti.InvalidArgument, match="out has 4 elements, and must have 3"):
        comm.allreduce(np.zeros(3), out=np.zeros(4))
    with pytest.raises(tutti.InvalidArgument, match="overlap"):
        x = np.zeros(4)
        comm.allreduce(x[:3], out=x[1:])


class Elsewhere:
    """An array in the memory of a GPU."""

    device = "cuda:0"

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise AssertionError("not asked for")


def test_memory_of_a_device(comm):
    with pytest.raises(tutti.InvalidArgument, match=r"on cuda:0.*x\.cpu\(\)"):
        comm.allreduce(Elsewhere())


class Interface:
    """An array that has only __array_interface__."""

    def __init__(self, x, **changes):
        self.x = x
        self.__array_interface__ = dict(x.__array_interface__, **changes)


def test_array_interface(comm):
    x = np.arange(4.0)
    comm.allreduce(Interface(x))
    assert comm.allgather(Interface(x), x.copy()).tolist() == [0, 1, 2, 3]
    with pytest.raises(tutti.InvalidArgument, match="read-only"):
        comm.allreduce(Interface(x, data=(x.ctypes.data, True)))
    with pytest.raises(tutti.InvalidArgument, match="not contiguous"):
        comm.allreduce(Interface(x, shape=(2,), strides=(16,)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("typestr", "<fx"),
        ("typestr", "<f99999999999999999999"),
        ("typestr", "<"),
        ("typestr", "|t8"),
        ("typestr", 5),
        ("shape", [4]),
        ("shape", ("a",)),
        ("data", (5,)),
        ("data", ("a", False)),
        ("strides", [8]),
        ("strides", (8, 8)),
        ("strides", ()),
    ],
)
def test_array_interface_with_a_malformed_field(comm, field, value):
    with pytest.raises(tutti.WrongType, match=f"'{field}' of the array's __array_interface__ must"):
        comm.allreduce(Interface(np.arange(4.0), **{field: value}))


def test_shapes_that_no_memory_has(comm):
    x = np.arange(4.0)
    with pytest.raises(tutti.InvalidArgument, match="negative length: -1"):
        comm.allreduce(Interface(x, shape=(-1,)))
    for shape in ((1 << 61,), (1 << 32, 1 << 32), (1 << 62, 4)):
        with pytest.raises(tutti.InvalidArgument, match="more bytes than any memory"):
            comm.allreduce(Interface(x, shape=shape))
    comm.allreduce(Interface(x, shape=(1 << 62, 1 << 62, 0)))
    with pytest.raises(tutti.InvalidArgument, match="null"):
        comm.allreduce(Interface(x, data=(0, False)))
    comm.broadcast(Interface(x, typestr="|V0"))  # Elements without bytes.


def test_texts_have_four_bytes_for_each_character(comm):
    x, out = np.array(["ab", "cd"]), np.array(["  ", "  "])
    comm.allgather(Interface(x), out=Interface(out))
    assert out.tolist() == ["ab", "cd"]


def dlpack_capsule(bits, lanes, memory, shape):
    """A capsule of a type that no library here exports. `memory` and `shape` outlive it."""

    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
            ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
            ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
            ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ]  # fmt: skip

    tensor = Tensor(memory.ctypes.data, (1, 0), shape.size, 1, bits, lanes, shape.ctypes.data)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(tensor), b"dltensor", None), tensor


def test_elements_of_less_than_a_byte(comm):
    class Packed:
        def __init__(self, *of):
            self.made = dlpack_capsule(*of)

        def __dlpack__(self):
            return self.made[0]

    memory, shape = np.arange(4, dtype=np.uint8), np.array([4])
    assert comm.allreduce(Packed(8, 1, memory, shape), out=np.empty(4, np.uint8)).tolist() == [0, 1, 2, 3]
    with pytest.raises(tutti.InvalidArgument, match="4 bits"):
        comm.allreduce(Packed(4, 1, memory, shape), out=np.empty(4, np.uint8))


def test_dlpack_alone(comm):
    class Packed:
        def __init__(self, x):
            self.x = x

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.x.__dlpack__(**options)

    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    comm.allreduce(Packed(x))
    out = np.zeros((2, 3), np.int32)
    comm.allreduce(Packed(x), out=Packed(out))
    assert (out == x).all()
    with pytest.raises(tutti.InvalidArgument, match="not contiguous"):
        comm.allreduce(Packed(x.T))


def test_dlpack_of_jax_is_read_only(comm):
    class ArrayImpl:
        """As JAX exports bfloat16: in a capsule without a version, which has no flag for it."""

        __module__ = "jaxlib._jax"

        def __init__(self, x):
            self.x = x

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

        def __dlpack__(self):
            return self.x.__dlpack__()

    x = np.arange(4.0)
    assert comm.allreduce(ArrayImpl(x), out=np.empty(4)).tolist() == [0, 1, 2, 3]
    with pytest.raises(tutti.InvalidArgument, match="read-only"):
        comm.allreduce(ArrayImpl(x))


def test_arguments(comm):
    x = np.zeros(3)
    with pytest.raises(TypeError, match="no argument 'algoritm'.*algorithm"):
        comm.allreduce(x, algoritm="ring")
    with pytest.raises(TypeError, match="needs the argument 'x'"):
        comm.allreduce()
    with pytest.raises(TypeError, match="twice"):
        comm.allreduce(x, "sum", op="sum")
    with pytest.raises(TypeError, match="at most 3"):
        comm.allreduce(x, "sum", x, 5)
    with pytest.raises(tutti.InvalidArgument, match="sum"):
        comm.allreduce(x, "summ")
    with pytest.raises(tutti.InvalidArgument, match="ring"):
        comm.allreduce(x, algorithm="allreduce/rin")
    with pytest.raises(tutti.WrongType):
        comm.allreduce(x, op=3)
    with pytest.raises(tutti.WrongType):
        comm.allreduce(x, schedule="allreduce/ring")
    with pytest.raises(tutti.InvalidArgument):
        comm.allreduce(x, timeout=-1)
    with pytest.raises(tutti.InvalidArgument):
        comm.broadcast(x, 5)
    with pytest.raises(tutti.InvalidArgument):
        comm.broadcast(x, -1)
    with pytest.raises(tutti.InvalidArgument, match="2 numbers for 1 ranks"):
        comm.allgather(x, counts=[1, 2])
    with pytest.raises(tutti.InvalidArgument):
        comm.allgather(x, counts=[-3])
    with pytest.raises(tutti.InvalidArgument):
        comm.allreduce(np.zeros(3), "band")
    comm.allreduce(x)  # It still works.


def test_options_that_do_not_exist():
    with pytest.raises(TypeError, match="no option 'timeot'"):
        tutti.init(timeot=3)
    with pytest.raises(tutti.InvalidArgument, match="single"):
        tutti.init(threads="many")
    with pytest.raises(tutti.InvalidArgument):
        tutti.init(transport="pigeon")
    with pytest.raises(tutti.InvalidArgument, match="auto, off or a size"):
        tutti.init(adopt="perhaps")
    with pytest.raises(tutti.InvalidArgument, match="need an id or a store"):
        tutti.init(rank=0, ranks=2)
    with pytest.raises(tutti.InvalidArgument):
        tutti.init(id="nonsense", rank=0, ranks=2)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"TUTTI_RANK": "0"}, "TUTTI_SIZE is not"),
        ({"TUTTI_RANK": "0", "TUTTI_SIZE": "2"}, "TUTTI_ROOT is not"),
        ({"TUTTI_RANK": "x", "TUTTI_SIZE": "2"}, "TUTTI_RANK=x is not a whole number"),
        ({"RANK": "0", "WORLD_SIZE": "2"}, "MASTER_ADDR is not"),
        ({"RANK": "5", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, "RANK=5 is not below"),
    ],
)
def test_variables_of_half_a_launcher(variables, words, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(tutti.InvalidArgument, match=words):
        tutti.init()


def test_without_a_launcher_a_rank_is_alone():
    with tutti.init() as comm:
        assert (comm.rank, comm.size) == (0, 1)


def test_closed(comm):
    comm.close()
    comm.close()
    assert comm.closed
    assert "closed" in repr(comm)
    with pytest.raises(tutti.Aborted, match="closed"):
        comm.barrier()


def test_different_shapes_name_the_calls():
    def work(comm):
        try:
            comm.allreduce(np.zeros(3 + comm.rank))
        except tutti.Mismatch as error:
            return error.code, error.ranks, error.calls

    for code, ranks, calls in tutti.run_threads(work, 2):
        assert code == "mismatch"
        assert ranks == (0, 1)
        assert set(calls) == {0, 1}
        assert "3 f64" in calls[0]
        assert "4 f64" in calls[1]


def test_different_types_and_collectives():
    def types(comm):
        comm.allreduce(np.zeros(4, np.float32 if comm.rank else np.int32))

    def collectives(comm):
        if comm.rank:
            comm.barrier()
        else:
            comm.allreduce(np.zeros(4))

    for work in (types, collectives):
        with pytest.raises(tutti.RunError) as caught:
            tutti.run_threads(work, 2)
        assert all(isinstance(e, tutti.Mismatch) for e in caught.value.failures.values())


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a, b: None, "returned None"),
        (lambda a, b: 1.0, r"returned the shape \(\)"),
        (lambda a, b: np.ones(7), r"returned the shape \(7,\)"),
    ],
)
def test_operations_that_return_no_array_of_that_shape(function, words):
    with pytest.raises(tutti.RunError) as caught:
        tutti.run_threads(lambda comm: comm.allreduce(np.ones(3), function), 2)
    assert re.search(words, str(caught.value.__cause__))


def test_empty():
    assert tutti.empty([2, np.int64(3)]).shape == (2, 3)
    for shape in ("3", 2.5, (2, "3"), None):
        with pytest.raises(tutti.WrongType, match="is no shape"):
            tutti.empty(shape)
    for shape in (1 << 62, (1 << 40, 1 << 40)):
        with pytest.raises(tutti.InvalidArgument, match="more elements than any memory"):
            tutti.empty(shape)


def test_what_is_no_store():
    with pytest.raises(tutti.WrongType, match="dict is no store"):
        tutti.init(store={}, rank=0, ranks=2)


def test_late_rank():
    done = threading.Event()

    def work(comm):
        if comm.rank == 1:
            done.wait(20)
            return None
        try:
            comm.allreduce(np.zeros(4), timeout=0.3)
        except tutti.TimedOut as error:
            return error
        finally:
            done.set()

    error, _ = tutti.run_threads(work, 2)
    assert isinstance(error, TimeoutError)
    assert error.ranks == (1,)


def test_buffers_of_running_calls_cannot_be_resized():
    def work(comm):
        if comm.rank == 1:
            started.wait(20)
            comm.allreduce(np.ones(4))
            comm.allreduce(array("d", [1.0]))
            return
        x = np.ones(4)
        y = array("d", [1.0])
        first = comm.allreduce(x, async_=True)
        second = comm.allreduce(y, async_=True)
        with pytest.raises(ValueError):
            x.resize(1000)
        with pytest.raises(BufferError):
            y.append(2.0)
        started.set()
        first.wait()
        second.wait()
        y.append(2.0)
        return x[0], y[0]

    started = threading.Event()
    assert tutti.run_threads(work, 2)[0] == (2, 2)


def test_two_threads_at_once_get_an_error():
    def work(comm):
        if comm.rank == 1:
            go.wait(20)
            comm.allreduce(np.ones(1))
            return
        errors = []

        def second():
            try:
                comm.allreduce(np.ones(1))
            except tutti.InvalidArgument as error:
                errors.append(error)
            go.set()

        thread = threading.Timer(0.2, second)
        thread.start()
        comm.allreduce(np.ones(1))
        thread.join()
        return errors

    go = threading.Event()
    errors = tutti.run_threads(work, 2)[0]
    assert "two threads" in str(errors[0])


def test_communicators_are_not_pickled(comm):
    import pickle

    with pytest.raises(tutti.InvalidArgument, match="pickled"):
        pickle.dumps(comm)


def test_errors_can_be_pickled():
    import pickle

    for error in (
        tutti.PeerLost("gone", (2,), {}),
        tutti.Mismatch("differ", (0,), {0: "call 1"}),
        tutti.RankDied(3, -9),
        tutti.RunError("failed", {1: ValueError("x")}, {0: 5}),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert str(copy) == str(error)
        assert copy.ranks == error.ranks
    assert "SIGKILL" in str(tutti.RankDied(3, -9))
