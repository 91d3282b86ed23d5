"""The verdict on a fit: a word, with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TRUSTED = "trust"
_NUMBERS = ("pareto_k", "effective_states", "acceptance", "elbo", "elbo_se", "log_evidence", "log_evidence_se")


class Verdict(str):
    """``trust``, ``trust_means_only`` or ``do_not_trust``; with ``trusted``, ``reason``, ``doubts`` and ``numbers``.

    >>> from elinvar._verdict import Verdict
    >>> verdict = Verdict("trust", {"reason": "every mean is sharp", "pareto_k": 0.3})
    >>> verdict == "trust", verdict.trusted, verdict.numbers
    (True, True, {'pareto_k': 0.3})
    """

    reason: str
    doubts: tuple[str, ...]
    numbers: dict[str, float]

    def __new__(cls, word: str, record: Mapping[str, Any] | None = None) -> Verdict:
        made = super().__new__(cls, word)
        known = record or {}
        made.reason = known.get("reason", "")
        made.doubts = tuple(known.get("doubts", ()))
        made.numbers = {name: known[name] for name in _NUMBERS if known.get(name) is not None}
        return made

    @property
    def trusted(self) -> bool:
        """Whether every mean is within 0.1 sd and every sd within 15 %, as far as can be seen."""
        return self == TRUSTED
