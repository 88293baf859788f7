"""A process group for torchft: ``torchft.Manager(pg=tutti.torch.ft.ProcessGroupTutti())``.

torchft keeps one process group for each replica and configures it again when replicas come or go.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from torchft.process_group import ProcessGroupWrapper

from tutti.torch import make_group


class ProcessGroupTutti(ProcessGroupWrapper):  # type: ignore[misc]
    """A process group on backend tutti that can be configured again."""

    def __init__(self, timeout: timedelta = timedelta(seconds=60), options: Any = None) -> None:
        super().__init__(timeout)
        self._options = options  # tutti.torch.Options, or None.

    def _create_pg(self, store: Any, rank: int, world_size: int) -> Any:
        return make_group(store, rank, world_size, self._timeout, self._options)

    def getBackendName(self) -> str:  # noqa: N802
        """Return the name that torchft shows."""
        return "torchft-tutti"
