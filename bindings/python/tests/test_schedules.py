"""Schedules as values of Python: proved, priced, simulated, drawn and run."""

import pickle

import pytest

import tutti

np = pytest.importorskip("numpy")


def ring(program):
    """The ring allgather of docs/adding-an-algorithm.md, in Python."""
    right = (program.rank + 1) % program.ranks
    left = (program.rank - 1) % program.ranks
    for k in range(program.ranks - 1):
        program.send(k, right, (program.rank - k) % program.ranks)
        program.receive(k, left, (left - k) % program.ranks)


def direct(program):
    """An allreduce in which all ranks send everything to all."""
    others = [r for r in range(program.ranks) if r != program.rank]
    if others:
        program.send(0, others, range(program.chunks))
        program.receive_reduce(0, others, range(program.chunks))


def test_algorithms():
    every = tutti.algorithms()
    assert len(every) > 40
    names = [each.name for each in tutti.algorithms("allreduce")]
    assert "allreduce/ring" in names
    found = next(each for each in every if each.name == "allreduce/ring")
    assert "p" in found.formulas.seconds
    assert found.parameters == []
    chain = next(each for each in every if each.name == "broadcast/chain")
    assert [each.name for each in chain.parameters] == ["segments"]
    assert tutti.schedule("broadcast/chain:segments=3", ranks=4).chunks == 3
    with pytest.raises(tutti.InvalidArgument, match="segments from 1 to"):
        tutti.schedule("broadcast/chain:segments=0", ranks=4)
    with pytest.raises(tutti.InvalidArgument):
        tutti.algorithms("allreduces")


def test_every_algorithm_is_proved():
    for each in tutti.algorithms():
        try:
            schedule = tutti.schedule(each.name, ranks=4)
        except tutti.Unsupported:
            continue
        assert schedule.verify(), each.name


def test_a_schedule_as_a_value():
    schedule = tutti.schedule("allreduce/ring", ranks=8)
    assert (schedule.name, schedule.collective) == ("allreduce/ring", "allreduce")
    assert (schedule.ranks, schedule.chunks, schedule.rounds) == (8, 8, 14)
    assert schedule == tutti.schedule("allreduce/ring", 8)
    assert schedule != tutti.schedule("allreduce/ring", 7)
    assert hash(schedule) == hash(tutti.schedule("allreduce/ring", 8))
    assert pickle.loads(pickle.dumps(schedule)) == schedule
    assert tutti.Schedule.from_json(schedule.to_json()) == schedule
    step = schedule.program(0)[0]
    assert (step.kind, step.round, step.peers) == ("send", 0, (1,))
    with pytest.raises(tutti.InvalidArgument):
        schedule.program(8)


def test_cost_and_figures():
    schedule = tutti.schedule("allreduce/ring", ranks=4)
    figures = schedule.figures("4MiB")
    assert figures.most_sent == 6 * 2**20
    cost = schedule.cost("4MiB", alpha="1us", bandwidth="1GB/s")
    assert cost.seconds == pytest.approx(6e-6 + 6 * 2**20 / 1e9)
    assert tutti.bounds("allreduce", 4, "4MiB").most_sent == figures.most_sent
    with pytest.raises(tutti.InvalidArgument):
        schedule.cost("lots")


def test_simulation():
    schedule = tutti.schedule("allreduce/ring", ranks=4)
    simulation = schedule.simulate("star:p=4,bandwidth=1GB/s,latency=1us", "4MiB")
    assert simulation.seconds > 6 * 2**20 / 1e9
    assert simulation.messages == 24
    assert len(simulation.finished) == 4
    assert simulation.activities
    assert simulation.critical_path[-1].end == pytest.approx(simulation.seconds)
    assert sum(link.bytes for link in simulation.links) > 0
    assert simulation.to_svg().startswith("<svg")
    assert simulation._repr_svg_() == simulation.to_svg()
    assert "traceEvents" in simulation.to_chrome_trace()
    with pytest.raises(tutti.InvalidArgument, match="torus"):
        schedule.simulate("torsu:4x4")
    with pytest.raises(tutti.InvalidArgument):
        schedule.simulate("star:p=2")


def test_networks():
    network = tutti.Network("torus:2x2")
    assert network.ranks == 4
    assert network == tutti.Network.from_json(network.to_json())
    assert "<svg" in network._repr_svg_()
    own = tutti.Network()
    a, b = own.add("a", "rank"), own.add("b", "rank")
    own.join(a, b, 1e9, 1e-6)
    own.check()
    assert tutti.schedule("broadcast/flat", 2).simulate(own, 1000).seconds == pytest.approx(2e-6)
    assert own.optimum()[0] > 0
    with pytest.raises(tutti.InvalidArgument):
        own.add("c", "router")


def test_trace_and_words():
    schedule = tutti.schedule("allreduce/mesh", ranks=2)
    trace = schedule.trace()
    assert trace[0][0][0] == "a0"
    assert trace[len(trace) - 1][1][0] == "a0+b0"
    assert "rank 1" in str(trace)
    assert "<table>" in trace._repr_html_()
    assert "round" in schedule.explain()


def test_drawings():
    schedule = tutti.schedule("allreduce/ring", ranks=3)
    assert schedule.to_svg().startswith("<svg")
    assert schedule._repr_svg_() == schedule.to_svg()
    assert "<script" in schedule.to_html()
    assert schedule._repr_html_().startswith("<iframe")
    assert schedule.draw_load("star:p=3").startswith("<svg")
    with pytest.raises(tutti.Unsupported):
        tutti.schedule("allreduce/ring", ranks=100).to_svg()


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_schedules_written_in_python_run(p):
    gather = tutti.schedule(ring, p, collective="allgather")
    reduce = tutti.schedule(direct, p, collective="allreduce", chunks=2)
    assert gather.verify()
    assert reduce.verify().folds_in_rank_order or p == 1
    assert gather.name == "ring"

    def work(comm):
        gathered = comm.allgather(np.array([comm.rank, 7]), schedule=gather)
        x = np.arange(5.0) + comm.rank
        comm.allreduce(x, schedule=reduce)
        background = comm.allreduce(np.ones(3), schedule=reduce, async_=True)
        return gathered.tolist(), x[0], background.wait()[0]

    for gathered, x, ones in tutti.run_threads(work, p):
        assert gathered == [v for r in range(p) for v in (r, 7)]
        assert x == sum(range(p))
        assert ones == p


def test_wrong_schedules_are_refused():
    def forgetful(program):
        if program.rank == 0:
            program.send(0, 1, 0)
        elif program.rank == 1:
            program.receive(0, 0, 0)

    wrong = tutti.schedule(forgetful, 3, collective="broadcast", chunks=1)
    verification = wrong.verify()
    assert not verification
    assert verification.violations[0].kind == "wrong output"
    assert verification.violations[0].rank == 2
    assert "violations" in str(verification)

    def work(comm):
        with pytest.raises(tutti.InvalidArgument, match="rank 2"):
            comm.broadcast(np.zeros(1), schedule=wrong)
        good = tutti.schedule("allreduce/ring", ranks=4)
        with pytest.raises(tutti.InvalidArgument):
            comm.allreduce(np.zeros(1), schedule=good)
        comm.barrier()

    tutti.run_threads(work, 3)
    with pytest.raises(tutti.InvalidArgument):
        wrong.cost(100)
    with pytest.raises(tutti.InvalidArgument):
        wrong.trace()
    with pytest.raises(tutti.InvalidArgument, match="collective="):
        tutti.schedule(ring, 3)
    with pytest.raises(tutti.InvalidArgument):
        tutti.schedule("allreduce/rnig", 3)
    with pytest.raises(tutti.Error, match="20,000 ranks has about 1,600 million steps.*fewer ranks"):
        tutti.schedule("allreduce/ring", 20000)
    with pytest.raises(tutti.InvalidArgument):
        tutti.schedule(ring, 0, collective="allgather")


def test_different_schedules_on_ranks_are_a_mismatch():
    def work(comm):
        name = ["allreduce/ring", "allreduce/mesh"][comm.rank]
        comm.allreduce(np.ones(4), schedule=tutti.schedule(name, ranks=2))

    with pytest.raises(tutti.RunError) as caught:
        tutti.run_threads(work, 2)
    assert all(isinstance(e, tutti.Mismatch) for e in caught.value.failures.values())


def test_load(tmp_path):
    path = tmp_path / "ring.json"
    schedule = tutti.schedule("allreduce/ring", ranks=3)
    path.write_text(schedule.to_json())
    assert tutti.load_schedule(path) == schedule
    with pytest.raises(tutti.InvalidArgument, match="missing.json"):
        tutti.load_schedule("missing.json")
