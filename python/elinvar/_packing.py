"""Models as bytes, by what they were made of: pickles of fits hold them."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

Make = TypeVar("Make", bound=Callable[..., Any])


def remembered(make: Make) -> Make:
    """Lets the models that ``make`` returns know how they were made, so that they can be made again elsewhere."""

    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        return dataclasses.replace(make(*args, **kwargs), origin=(made, args, kwargs))

    return made  # type: ignore[return-value]


def made_again(make: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """The model that a call of ``make`` has given before."""
    return make(*args, **kwargs)


def packed(model: Any) -> bytes | None:
    """The model as bytes, by cloudpickle where that is installed, or nothing where its functions cannot be pickled."""
    for name in ("cloudpickle", "pickle"):
        try:
            return importlib.import_module(name).dumps(model)
        except Exception:  # noqa: BLE001 what cannot be pickled says so in many ways
            continue
    return None


def unpacked(content: bytes) -> Any:
    """The model that was packed."""
    return pickle.loads(content)
