"""The page: what was found, what was simulated, and the tables, as Markdown."""

from __future__ import annotations

from typing import NamedTuple

from . import sections
from .bounds import noise
from .findings import findings
from .lookup import Found
from .measure import HOPELESS
from .scenarios import EASY_EFFECT, EFFECTS, ONE_CHECK_EFFECT


class About(NamedTuple):
    """What the page says of its making."""

    command: str
    seed: int
    size: int
    versions: dict[str, str]
    date: str | None = None


def page(found: Found, about: About) -> str:
    """The whole page; the same results give the same bytes."""
    parts = [
        _opening(about),
        "## What was found",
        "\n".join(f"- {finding}" for finding in findings(found)),
        _data(about),
        *sections.coverage(found),
        *sections.false_verdicts(found),
        *sections.power(found),
        *sections.smallest(found),
        *sections.others(found),
        *sections.harder(found),
        *sections.models(found),
        *sections.pages(found),
        *sections.looks(found),
        *sections.small(found),
        *sections.gates(found),
        *sections.claims(found),
        *sections.triggers(found),
        *sections.labelled(found),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _opening(about: About) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about.versions.items())
    on = f" on {about.date}" if about.date else ""
    return f"""
# Do the verdicts hold up?

`sen.stats.deltas` says how much a skill changes a metric, how sure that is, and gives a verdict.
Here it is applied to random data sets whose true difference is known, and its answers are counted.
Of its 95 % intervals, 95 of 100 should contain the truth; if there is no difference, at most 5 of
100 verdicts may say that there is one.

Written by `{about.command}`{on}: seed {about.seed}, {about.size:,} data sets a cell,
{versions}.
Do not edit this page: run it again.
"""


def _data(about: About) -> str:
    rates, points = EFFECTS.values()
    easy_rate, easy_points = EASY_EFFECT.values()
    return f"""
## What was simulated

A data set has n evals, with K runs of each on both sides.

- **Pass rate.** An eval has 4 to 12 checks and a position on the logit scale: how easy it is, and
  what the skill does for it. Each run deviates from it randomly, so that its checks tend to fail
  together. The number of checks that pass is binomial.
- **Rubric.** A position on the scale, plus the noise of the run and of the judge, rounded and
  limited to 1–5. Each run is judged once.
- **Plain evals**: without the skill the mean pass rate is .55 (SD over evals .21), the SD over runs
  .25, the SD of true effects .19; the mean score is 3.2 (.75), over runs .68, of effects .48.
  **Easy evals**: means .91 and 4.6; a third and a half of the cells of three runs show no noise.
- **Effects**: {_listed(rates)} in pass rate and {_listed(points)} points in expectation over all
  plain evals, named small, medium and large; {easy_rate:g} and {easy_points:g} over easy ones.
  They differ from eval to eval.
- **A/A**: both sides are the same on every eval. **A/A over tasks**: the skill helps on as many
  evals as it hurts, so the difference is 0 over tasks, but not on the evals at hand.
- **One check**: like plain, but an eval has a single check, so that a run passes or fails; a mean
  effect of {ONE_CHECK_EFFECT:g}. With one run a side `deltas` gives Tango's interval here.

The truth is calculated, not estimated: *of these evals*, the mean over the evals drawn of the
difference in expectation; *of tasks like these*, its expectation over all evals, by quadrature.
The code that draws the data shares nothing with the code under test (`bench/calibrate`).

Figures are percentages of data sets; one of 95 is off by less than
{100 * noise(0.95, about.size):.1f} in 95 of 100 simulations, one of 5 under A/A by less than
{100 * noise(0.05, about.size):.1f}. **Bold** is outside the wanted range.
– means that there is no interval or answer. Where so few runs or evals can never give an
answer, only {HOPELESS} data sets were asked about.
"""


def _listed(effects: tuple[float, ...]) -> str:
    return " / ".join(f"{effect:g}" for effect in effects)
