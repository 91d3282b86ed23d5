"""Optional packages, and what to say where one is missing."""

from __future__ import annotations

import importlib
from types import ModuleType


def needs(package: str, extra: str) -> ModuleType:
    """The package, or an error with the line that installs it."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] != package.split(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"this needs {package}, which is not installed: pip install 'elinvar[{extra}]'", name=missing.name
        ) from None
