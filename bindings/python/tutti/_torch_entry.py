"""What the entry points of the package name. Torch calls them; see docs/torch.md.

Not in ``tutti.torch``, which registers the backend when it is imported and may fail.
"""

from __future__ import annotations

import sys


def autoload() -> None:
    """Register the backend while torch is imported. Never fails: torch would not import."""
    try:
        import tutti.torch  # noqa: F401
    except Exception as error:
        print(f"tutti: the backend 'tutti' is not available: {error}", file=sys.stderr)


def register() -> None:
    """Register the backend when a program first names it."""
    import tutti.torch

    tutti.torch.register()
