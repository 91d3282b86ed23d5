"""A fit as notebooks show it, in light and in dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._fit import Fit

# Each is seen on white and on black.
_COLOURS = {"trust": "#1a8f5a", "trust_means_only": "#b07d00", "do_not_trust": "#c4372f"}
_WORDS = {"trust": "Trust", "trust_means_only": "Trust the means only", "do_not_trust": "Do not trust"}
_MOST_ROWS = 30


def page(fit: Fit) -> str:
    """The verdict, its reason, and the table of parameters."""
    verdict = fit.verdict or ""
    colour = _COLOURS.get(verdict, "#808080")
    word = _WORDS.get(verdict, "Interrupted" if fit.interrupted else "Not judged")
    head = "".join(f"<th style='text-align:right'>{title}</th>" for title in ("mean", "sd", "5 %", "95 %"))
    from ._fit import mode_line

    rows = fit.rows(2000)
    body = "".join(
        f"<tr><td style='text-align:left'>{escape(row['name'])}</td>"
        + "".join(f"<td style='text-align:right'>{row[key]:.4g}</td>" for key in ("mean", "sd", "q5", "q95"))
        + "</tr>"
        for row in rows[:_MOST_ROWS]
    )
    more = f"<p><small>and {len(rows) - _MOST_ROWS} more: fit.summary()</small></p>" if len(rows) > _MOST_ROWS else ""
    found = "".join(f"<li>{escape(mode_line(mode))}</li>" for mode in fit.modes)
    modes = f"<ul>{found}</ul>" if found else ""
    # No background and no colour of text but the verdict's: both come from the notebook. Tables have to be told where a
    # page is shown as browsers of old did, which is what a frame without a doctype is.
    return (
        f"<div><p><span style='color:{colour};font-weight:600'>{word}.</span> {escape(fit.reason or '')}</p>"
        f"{modes}<table style='color:inherit'><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )
