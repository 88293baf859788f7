"""What the ranks hold after each round of a schedule."""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class Trace:
    """What every rank holds after each round, as expressions: rounds[k][rank][chunk].

    rounds[0] is the start. "a0" is rank 0's contribution to chunk 0, "b0" that of rank 1; "" is nothing.
    """

    rounds: tuple[tuple[tuple[str, ...], ...], ...]

    def __len__(self) -> int:
        return len(self.rounds)

    def __getitem__(self, index: int) -> tuple[tuple[str, ...], ...]:
        return self.rounds[index]

    def __str__(self) -> str:
        lines = []
        for number, ranks in enumerate(self.rounds):
            lines.append("start" if number == 0 else f"after round {number - 1}")
            for rank, chunks in enumerate(ranks):
                lines.append(f"  rank {rank}: " + " | ".join(each or "-" for each in chunks))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = []
        for number, ranks in enumerate(self.rounds):
            title = "start" if number == 0 else f"after round {number - 1}"
            head = "".join(f"<th>chunk {c}</th>" for c in range(len(ranks[0]) if ranks else 0))
            body = "".join(
                f"<tr><th>rank {rank}</th>"
                + "".join(f"<td>{html.escape(each)}</td>" for each in chunks)
                + "</tr>"
                for rank, chunks in enumerate(ranks)
            )
            parts.append(f"<table><caption>{title}</caption><tr><th></th>{head}</tr>{body}</table>")
        return "".join(parts)
