"""What the proof of a schedule says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional


class Violation(NamedTuple):
    """A defect of a schedule."""

    kind: str
    message: str
    rank: int
    round: Optional[int]
    step: Optional[int]
    chunk: Optional[int]


@dataclass(frozen=True)
class Verification:
    """The result of Schedule.verify(). It is true if the schedule is right."""

    #: The first violations only.
    violations: tuple[Violation, ...]
    violation_count: int
    steps: int
    messages: int
    #: Every output is one fold of all contributions, from rank 0 up.
    folds_in_rank_order: bool

    @property
    def ok(self) -> bool:
        """Whether the schedule is right."""
        return self.violation_count == 0

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"proved: {self.steps} steps, {self.messages} messages"
        lines = [each.message for each in self.violations]
        return "\n".join([f"{self.violation_count} violations:", *lines])
