"""Puts a table into its place in a page of docs."""

import pathlib

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def put(page: str, place: str, lines: list[str]) -> None:
    """Writes ``lines`` between ``<!-- place -->`` and the ``<!-- end -->`` after it."""
    path = DOCS / page
    before, rest = path.read_text(encoding="utf-8").split(f"<!-- {place} -->\n", 1)
    _, after = rest.split("<!-- end -->", 1)
    path.write_text(f"{before}<!-- {place} -->\n" + "\n".join(lines) + f"\n<!-- end -->{after}", encoding="utf-8")
