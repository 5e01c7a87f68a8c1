"""Everybody can use what widgets are made of, in every theme."""

from __future__ import annotations

from typing import get_args

from tests.widgets.looks import looked_at
from tests.widgets.stage import Theme, staged
from tests.widgets.ui.toys import Plain, every_part


def test_every_part_can_be_used_by_everybody(browser) -> None:
    panel = Plain(*every_part())
    panel.do("refuse")
    with staged(browser, panel) as stage:
        looked_at(stage, looks=[(theme, 1000) for theme in get_args(Theme)])
