"""Families by name, as the command line and fit files have them."""

from __future__ import annotations

import json
from typing import Any

_OPTIONS: dict[str, dict[str, Any]] = {
    "auto": {},
    "gaussian": {},
    "skew": {},
    "emg": {},
    "student_t": {"a": 4.0, "learn": True},
    "nig": {"lambda": 2.0, "learn": True},
    "snig": {"lambda": 2.0, "learn": True},
    "rank_k": {"rank": 1},
    "skew_k": {"directions": 2},
    "emg_k": {"directions": 2},
    "mog": {"components": "auto"},
}


def family(name: str, *, covariance: str | None = None, **options: Any) -> str:
    """A family with its options, for ``fit(model, family=...)``.

    >>> elinvar.family("mog", components=4)
    '{"mog": {"components": 4}, "covariance": "full"}'
    """
    if name not in _OPTIONS:
        raise ValueError(f"there is no family {name!r}; there are {', '.join(_OPTIONS)}")
    known = _OPTIONS[name]
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none but covariance"
            raise TypeError(f"the family {name} has no option {option!r}; {has}")
    if covariance is None:
        covariance = "diagonal" if name == "rank_k" else "full"
    if covariance not in ("full", "diagonal"):
        raise ValueError(f"covariance is 'full' or 'diagonal', not {covariance!r}")
    return json.dumps({name: {**known, **options} or None, "covariance": covariance})
