"""Callbacks of futures may start and await any call: of the same group, of another, nested."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
import ranks
import torch
import torch.distributed as dist

from tutti.torch import _extension


def all_reduce(value: float, group=None) -> torch.futures.Future:
    return dist.all_reduce(torch.full((4,), value), async_op=True, group=group).get_future()


def awaits_a_future() -> list[float]:
    done = all_reduce(1.0).then(lambda _: all_reduce(2.0).wait()[0])
    return done.wait().tolist()


def test_a_callback_awaits_the_future_of_a_collective() -> None:
    assert ranks.run(2, awaits_a_future, timeout=20) == [[4.0] * 4] * 2


def nested(depth: int) -> float:
    """Each callback awaits a collective whose callback awaits the next."""
    if depth == 0:
        return all_reduce(1.0).wait()[0][0].item()
    return all_reduce(1.0).then(lambda _: nested(depth - 1) + 1).wait()


@pytest.mark.parametrize("size", [2, 3])
def test_callbacks_are_nested(size: int) -> None:
    assert ranks.run(size, nested, 12, timeout=20) == [12.0 + size] * size


def kinds() -> list[float]:
    size, rank = dist.get_world_size(), dist.get_rank()
    other = dist.new_group()
    to, source = (rank + 1) % size, (rank - 1) % size

    def wait_for_work(_) -> float:
        tensor = torch.ones(4)
        dist.all_reduce(tensor, async_op=True).wait()
        return tensor[0].item()

    def wait_with_a_limit(_) -> float:
        from datetime import timedelta

        tensor = torch.ones(4)
        dist.all_reduce(tensor, async_op=True).wait(timedelta(seconds=20))
        return tensor[0].item()

    def wait_for_call(_) -> float:
        tensor = torch.ones(4)
        dist.all_reduce(tensor)
        return tensor[0].item()

    def wait_for_other_group(_) -> float:
        inner = all_reduce(1.0, other).then(lambda _: all_reduce(1.0).wait()[0])
        return inner.wait()[0].item()

    def wait_for_messages(_) -> float:
        received = torch.empty(4)
        sent = dist.isend(torch.full((4,), float(size)), to)
        dist.irecv(received, source).get_future().wait()
        sent.get_future().wait()
        return received[0].item()

    functions = [wait_for_work, wait_with_a_limit, wait_for_call, wait_for_other_group, wait_for_messages]
    return [all_reduce(1.0).then(each).wait() for each in functions] + [
        all_reduce(1.0, other).then(each).wait() for each in functions
    ]


@pytest.mark.parametrize("size", [2, 3])
def test_callbacks_await_every_kind_of_call(size: int) -> None:
    assert ranks.run(size, kinds, timeout=20) == [[float(size)] * 10] * size


def message_callbacks() -> float:
    """The thread that moves messages must not run them."""
    to = 1 - dist.get_rank()

    def receive(tag: int) -> torch.futures.Future:
        tensor = torch.empty(1)
        future = dist.irecv(tensor, to, tag=tag).get_future()
        return future if tag == 3 else future.then(lambda _: receive(tag + 1).wait())

    chain = receive(0)
    for tag in range(4):
        dist.send(torch.full((1,), float(tag)), to, tag=tag)
    return chain.wait()[0].item()


def test_callbacks_of_messages_await_messages() -> None:
    assert ranks.run(2, message_callbacks, timeout=20) == [3.0, 3.0]


def is_attached_late() -> bool:
    """Whether this callback runs where it was attached, since its call had ended: it may not wait there."""
    return threading.current_thread() is threading.main_thread()


def many() -> tuple[int, bool]:
    """All callbacks wait at once, for a call that is made after all of theirs: so it may overtake them."""
    last: torch.futures.Future = torch.futures.Future()
    count = 20
    chains = [
        all_reduce(1.0).then(lambda _: 6.0 if is_attached_late() else last.wait()[0][0].item())
        for _ in range(count)
    ]
    all_reduce(3.0).then(lambda f: last.set_result(f.value()))
    values = [each.wait() for each in chains]
    return len(values), all(each == 6.0 for each in values)


def test_many_callbacks_wait_at_once() -> None:
    assert ranks.run(2, many, timeout=20) == [(20, True)] * 2


def while_another_waits() -> float:
    """A thread that waits for a call does not run the callbacks of others: these may need it."""
    other = dist.new_group()
    go = threading.Event()
    works = [dist.all_reduce(torch.ones(1), async_op=True) for _ in range(8)]
    blocked = [work.get_future().then(lambda _: is_attached_late() or go.wait(60)) for work in works]
    works[-1].wait()
    dist.all_reduce(torch.ones(1))
    dist.all_reduce(torch.ones(1), group=other)
    go.set()
    return float(all(each.wait() for each in blocked))


def test_a_thread_that_waits_is_not_held_up_by_callbacks() -> None:
    assert ranks.run(2, while_another_waits, timeout=20) == [1.0, 1.0]


def told() -> bool:
    """A future has its value when the work was waited for."""
    for _ in range(200):
        work = dist.all_reduce(torch.ones(1), async_op=True)
        future = work.get_future()
        work.wait()
        if not future.done():
            return False
    return True


def test_a_future_is_done_when_its_work_is() -> None:
    assert ranks.run(2, told) == [True, True]


def late() -> tuple[str, float]:
    if dist.get_rank() == 1:
        dist.all_reduce(torch.ones(4))
        time.sleep(2)
        return "", 0.0
    begin = time.monotonic()
    try:
        all_reduce(1.0).then(lambda _: all_reduce(2.0).wait()).wait()
    except RuntimeError as error:
        return str(error), time.monotonic() - begin
    return "no error", 0.0


def test_the_timeout_holds_in_callbacks() -> None:
    text, seconds = ranks.run(2, late, timeout=0.5)[0]
    assert "Timed out waiting 500ms" in text and "rank 1" in text, text
    assert 0.4 < seconds < 1.9


def in_every_order(is_waiting: bool) -> list[float]:
    """Calls of different lengths: one out of order is an error. Callbacks start more, and so do theirs."""
    pause, values, futures = ranks.pauses(), [], []

    def start(depth: int, count: int) -> torch.futures.Future:
        def again(done) -> float:
            pause()
            nested = start(depth + 1, count + 1)
            futures.append(nested)
            if is_waiting:
                nested.wait()
            futures.append(all_reduce_of(count + 2))
            return done.value()[0].sum().item()

        future = all_reduce_of(count)
        return future.then(again) if depth < 3 else future

    def all_reduce_of(count: int) -> torch.futures.Future:
        return dist.all_reduce(torch.full((count,), float(count)), async_op=True).get_future()

    for index in range(40):
        futures.append(start(0, 10 * index + 1))
        pause()
        if index % 8 == 7:  # A call of the program that waits.
            dist.all_reduce(torch.ones(500 + index))
    while futures:
        values.append(futures.pop().wait())
    return sorted(each if isinstance(each, float) else each[0].sum().item() for each in values)


@pytest.mark.parametrize("is_waiting", [False, True])
@pytest.mark.parametrize("size", [2, 4])
def test_calls_of_callbacks_have_the_same_order_on_all_ranks(size: int, is_waiting: bool) -> None:
    found = ranks.run(size, in_every_order, is_waiting, timeout=20)
    # Of each index: calls of count, count + 1 to 3 by the callbacks, and count + 2 to 4 after these.
    counts = [10 * index + 1 + more for index in range(40) for more in (0, 1, 2, 3, 2, 3, 4)]
    assert found == [sorted(float(size * count * count) for count in counts)] * size


def while_coalescing() -> tuple[list[float], float]:
    """A call that a callback makes is not one of those that another thread coalesces."""
    begun, ended = threading.Event(), threading.Event()
    values: list[torch.futures.Future] = []
    other = torch.ones(4)

    def call(_) -> float:
        assert begun.wait(10)
        dist.group.WORLD.allreduce([other]).wait()  # Below torch's own list of coalesced calls.
        ended.set()
        return other[0].item()

    # If the call is done before its callback is attached, the callback runs where it is attached: not here.
    first = all_reduce(1.0)
    attaching = threading.Thread(target=lambda: values.append(first.then(call)))
    attaching.start()
    tensors = [torch.ones(4) for _ in range(3)]
    with dist._coalescing_manager(async_ops=True) as works:
        begun.set()
        assert ended.wait(10)
        for each in tensors:
            dist.all_reduce(each)
    works.wait()
    attaching.join()
    return [each[0].item() for each in tensors], values[0].wait()


def test_calls_of_callbacks_are_not_coalesced_with_others() -> None:
    assert ranks.run(2, while_coalescing, timeout=20) == [([2.0] * 3, 2.0)] * 2


def destroys() -> bool:
    group = dist.new_group()
    ended = threading.Event()

    def destroy(_) -> None:
        nonlocal group
        dist.all_reduce(torch.ones(1), group=group)
        dist.destroy_process_group(group)
        group = None
        ended.set()

    all_reduce(1.0, group).then(destroy)
    assert ended.wait(20)
    dist.all_reduce(torch.ones(1))
    return True


def test_a_callback_destroys_its_group() -> None:
    assert ranks.run(2, destroys) == [True, True]


def destroyed_at_once() -> list[float]:
    """The program destroys the group while callbacks of it are about to make calls."""
    values = []
    for _ in range(20):
        group = dist.new_group()
        pause = ranks.pauses()

        def call(_, group=group, pause=pause) -> float:
            pause()
            total = torch.ones(1)
            dist.all_reduce(total, group=group)
            return total.item()

        chain = all_reduce(1.0, group).then(call)
        nested = all_reduce(1.0, group).then(lambda _, call=call: call(_) + call(_))
        dist.destroy_process_group(group)
        values += [chain.done(), nested.done(), chain.wait(), nested.wait()]
    return values


def test_a_group_is_destroyed_after_its_callbacks() -> None:
    assert ranks.run(2, destroyed_at_once, timeout=20) == [[True, True, 2.0, 4.0] * 20] * 2


def destroys_while_another_waits() -> bool:
    """The outer callback waits for the inner one, which destroys the group."""
    group = dist.new_group()

    def outer(_) -> bool:
        return all_reduce(1.0, group).then(inner).wait()

    def inner(_) -> bool:
        dist.destroy_process_group(group)
        return True

    all_reduce(1.0, group).then(outer).wait()
    dist.all_reduce(torch.ones(1))
    return True


def test_an_inner_callback_destroys_its_group() -> None:
    assert ranks.run(2, destroys_while_another_waits, timeout=20) == [True, True]


def observed() -> list[str]:
    group, events, pause = dist.group.WORLD, [], ranks.pauses()

    def note(name: str) -> None:
        if threading.current_thread() is threading.main_thread():
            return  # The call was done before the callback was attached.
        events.append(f"begin {name}")
        pause()
        events.append(f"end {name}")

    group._register_on_completion_hook(lambda info: note("observer"))
    chains = [all_reduce(1.0).then(lambda _: note("callback")) for _ in range(30)]
    for each in chains:
        each.wait()
    group._wait_for_pending_works()
    return events


def test_callbacks_and_observers_do_not_overlap() -> None:
    for events in ranks.run(2, observed, timeout=20):
        assert len([each for each in events if "observer" in each]) == 60
        assert all(begin.replace("begin", "end") == end for begin, end in zip(events[::2], events[1::2]))


# Works of messages ------------------------------------------------------------------------------


def failed_receives() -> list[str]:
    """What wait() raises: too short a message, a time that is over, a rank that is lost."""
    rank, found = dist.get_rank(), []

    def note(work, *limits) -> None:
        try:
            work.wait(*limits)
            found.append("")
        except RuntimeError as error:
            found.append(str(error))

    if rank == 1:
        dist.send(torch.ones(3), 0)
        dist.recv(torch.empty(1), 0)
        dist.send(torch.ones(2), 0, tag=1)
        dist.recv(torch.empty(1), 0)
        os._exit(0)
    short = dist.irecv(torch.empty(4), 1)
    future = short.get_future()
    note(short)
    found.append(str(future.done()))
    note(short)  # Again.
    with pytest.raises(RuntimeError, match="12 bytes"):
        future.wait()
    late = dist.irecv(torch.empty(2), 1, tag=1)
    note(late, timedelta(milliseconds=100))
    dist.send(torch.ones(1), 1)
    note(late, timedelta(seconds=20))
    lost = dist.irecv(torch.empty(2), 1, tag=2)
    dist.send(torch.ones(1), 1)
    note(lost)
    return found


def test_wait_raises_the_error_of_a_message() -> None:
    short, is_done, again, late, come, lost = ranks.run(2, failed_receives, timeout=20, lost=(1,))[0]
    assert "12 bytes" in short and short == again
    assert is_done == "True"
    assert "Timed out waiting 100ms" in late
    assert come == ""
    assert "Connection closed by peer" in lost and "rank 1" in lost


def awaited_messages() -> bool:
    """The future of a message has its value when its work was waited for."""
    to = 1 - dist.get_rank()
    for tag in range(100):
        works = [dist.isend(torch.ones(1), to, tag=tag), dist.irecv(torch.empty(1), to, tag=tag)]
        futures = [each.get_future() for each in works]
        for each in works:
            each.wait()
        if not all(each.done() for each in futures):
            return False
    return True


def test_a_future_is_done_when_its_message_is() -> None:
    assert ranks.run(2, awaited_messages, timeout=20) == [True, True]


# Threads ----------------------------------------------------------------------------------------

NO_THREADS = r"""
#include <errno.h>
#include <pthread.h>
#include <dlfcn.h>
extern "C" { int no_threads = 0;
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*body)(void*), void* with) {
  if (no_threads) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"))(thread, how, body, with);
} }
"""

WITHOUT_THREADS = """
import ctypes, sys, torch, torch.distributed as dist, tutti.torch
rank = int(sys.argv[2])
dist.init_process_group("tutti", store=dist.FileStore(sys.argv[1], 2), rank=rank, world_size=2)
ctypes.c_int.in_dll(ctypes.CDLL(None), "no_threads").value = 1
def call(value):
    return dist.all_reduce(torch.full((4,), value), async_op=True).get_future()
def nested(_):
    return call(2.0).then(lambda f: f.value()[0][0].item() + call(3.0).wait()[0][0].item()).wait()
assert [call(1.0).then(nested).wait() for _ in range(5)] == [10.0] * 5
works = [dist.all_reduce(torch.ones(1), async_op=True) for _ in range(5)]
for work in works: work.wait()
dist.all_reduce(torch.ones(1))
got = torch.empty(1)
received = dist.irecv(got, 1 - rank)
dist.send(torch.full((1,), float(rank)), 1 - rank)
received.wait()
assert got.item() == 1 - rank
dist.destroy_process_group()
"""


def test_callbacks_run_when_no_thread_can_be_started(tmp_path: Path) -> None:
    (tmp_path / "none.cpp").write_text(NO_THREADS)
    library = str(tmp_path / "none.so")
    compiler = _extension._compiler()
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, str(tmp_path / "none.cpp"), "-ldl"], check=True
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WITHOUT_THREADS, str(tmp_path / "store"), str(rank)],
            env={**os.environ, "LD_PRELOAD": library},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        errors = [each.communicate(timeout=120)[1] for each in processes]
    finally:
        for each in processes:
            each.kill()
    assert [each.returncode for each in processes] == [0, 0], errors
    assert all("no thread can be started" in each for each in errors), errors
