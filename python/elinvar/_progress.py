"""A line that says where a fit stands: in a terminal, in a notebook, or nowhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


def _line(step: Mapping[str, Any]) -> str:
    if "mean_error" in step:
        errors = f"errors {step['mean_error']:.3f} sd of a mean, {100 * step['sd_error']:.1f} % of an sd"
        return f"chains  {errors}  {step['gradients']:,} gradients"
    parts = [f"step {step['step'] + 1}"]
    if step["elbo"] is not None:
        error = f" ± {step['elbo_se']:.2f}" if step["elbo_se"] is not None else ""
        parts.append(f"ELBO {step['elbo']:.2f}{error}")
    if step["remaining"] is not None:
        parts.append(f"{max(step['remaining'], 0.0):.3f} nats left to gain")
    parts.append(f"{step['gradients']:,} gradients")
    parts.append(f"{step['seconds']:.1f} s")
    return "  ".join(parts)


class Progress:
    """Shows steps while it is entered, and hands them on to the user's callback."""

    def __init__(self, show: bool, callback: Callable[[Mapping[str, Any]], object] | None):
        self._callback = callback
        self._way = None
        self._shown: Any = None
        if show:
            self._way = "notebook" if _in_notebook() else "terminal" if sys.stderr.isatty() else None

    @property
    def observer(self) -> Callable[[Mapping[str, Any]], None] | None:
        """What a fit should call, or nothing where nobody looks."""
        return None if self._way is None and self._callback is None else self._step

    def _step(self, step: Mapping[str, Any]) -> None:
        if self._callback is not None:
            self._callback(step)
        if self._way == "terminal":
            sys.stderr.write("\r\x1b[K" + _line(step))
            sys.stderr.flush()
            self._shown = True
        elif self._way == "notebook":
            from IPython.display import HTML, display

            # Browsers show two spaces as one.
            line = HTML(f"<small>{_line(step).replace('  ', ' · ')}</small>")
            if self._shown is None:
                self._shown = display(line, display_id=True)
            else:
                self._shown.update(line)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._way == "terminal" and self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
