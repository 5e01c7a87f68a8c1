"""Skills and queries for tests, all of them made up."""

from __future__ import annotations

from pathlib import Path

from skill_eval_nb.triggers.attempt import Query

DESCRIPTION = "Sorts and cleans the rows of tables. Use it when the user wants to tidy a CSV file."


def skill(folder: Path, name: str, description: str = DESCRIPTION, body: str = "Do it.") -> Path:
    """A skill in a folder of its name."""
    home = folder / name
    home.mkdir(parents=True)
    head = f"---\nname: {name}\ndescription: {description}\n---\n"
    (home / "SKILL.md").write_text(f"{head}\n{body}\n", "utf-8")
    return home


def of(*texts: str, should: bool = True, tags: tuple[str, ...] = ()) -> list[Query]:
    """Queries of one class."""
    return [Query(text, should, tags) for text in texts]


SHOULD = of(
    "the export has every customer twice, can you sort that out",
    "put orders.csv in order of date please",
    "drop the empty rows of my survey",
    "half of these dates are American, make them all alike",
    "which lines of stock.csv are doubled? take them out",
    "I need this sheet without the blanks before I send it on",
    "clean up contacts.csv, names first",
    "the table came out of the scanner all over the place",
)
SHOULD_NOT = of(
    "draw a chart of orders.csv",
    "what does CSV stand for",
    "write a poem about rows of poplars",
    "delete all files in this folder",
    "how tall is the Eiffel tower",
    "turn this photo of a table by ninety degrees",
    "set up a database for our orders",
    "translate the headings to Dutch",
    should=False,
)
SOUND = [*SHOULD, *SHOULD_NOT]
"""A set that there is nothing to doubt about."""
