"""A model of the gallery: how it is made, and what is expected of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

ENTRIES: dict[str, Entry] = {}


@dataclass(frozen=True)
class Made:
    """What is handed to ``elinvar.fit``."""

    model: Any
    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """One model; ``refused`` is a part of the sentence that refuses it, where it cannot be fitted."""

    name: str
    library: str
    make: Callable[[], Any]
    refused: str | None = None
    # Quantities that mean something whatever the labels of components are; all of them where it is None.
    compared: tuple[str, ...] | None = None

    @property
    def about(self) -> str:
        return (self.make.__doc__ or "").strip().rstrip(".")

    def made(self) -> Made:
        found = self.make()
        return found if isinstance(found, Made) else Made(found)


def model(library: str, *, refused: str | None = None, compared: tuple[str, ...] | None = None):
    """Puts a function that makes a model into the gallery, under the name of the function."""

    def register(make: Callable[[], Any]) -> Callable[[], Any]:
        name = f"{library.lower()}/{make.__name__}"
        assert name not in ENTRIES, name
        ENTRIES[name] = Entry(name, library, make, refused, compared)
        return make

    return register
