"""Communicators between Ray actors.

    pip install ray
    python examples/ray_actors.py

Ray places the actors and passes the unique id between them. Then the actors call collectives of each other
without Ray: their data does not pass through its object store.
"""

from __future__ import annotations

import numpy as np
import ray

import tutti


class Worker:
    """A rank. Ray runs it in a process of its own."""

    def unique_id(self) -> str:
        """The process of rank 0 makes the id, because the others connect to it."""
        return tutti.unique_id()

    def join(self, unique_id: str, rank: int, ranks: int) -> str:
        self.comm = tutti.init(id=unique_id, rank=rank, ranks=ranks)
        return self.comm.description

    def average(self, count: int) -> float:
        gradient = np.full(count, float(self.comm.rank))
        self.comm.allreduce(gradient, "avg")
        return float(gradient[-1])

    def survive(self, lost: int) -> int:
        """An actor is gone: the others notice it in their next call, and continue without it."""
        try:
            self.comm.allreduce(np.ones(10))
        except tutti.PeerLost as error:
            assert error.ranks == (lost,)
            self.comm = self.comm.shrink().communicator
        return self.comm.size


def main() -> None:
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    actors = ray.remote(Worker)
    workers = [actors.remote() for _ in range(4)]
    unique_id = workers[0].unique_id.remote()  # A reference: the driver does not wait for it.
    joined = [each.join.remote(unique_id, rank, len(workers)) for rank, each in enumerate(workers)]
    print(ray.get(joined, timeout=60)[0])
    print("average:", ray.get([each.average.remote(1_000_000) for each in workers], timeout=60))
    ray.kill(workers.pop())
    print("ranks left:", ray.get([each.survive.remote(3) for each in workers], timeout=60))
    ray.shutdown()


if __name__ == "__main__":
    main()
