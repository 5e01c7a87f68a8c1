from __future__ import annotations

import subprocess
import sys

from skill_eval_nb import models


def test_the_face_has_what_it_says():
    assert sorted(models.__all__) == models.__all__
    assert all(getattr(models, name) is not None for name in models.__all__)
    assert set(models.__all__) <= set(dir(models))
    assert not hasattr(models, "no_such_name")


def test_the_room_is_light_until_a_model_is_called():
    program = (
        "import sys, skill_eval_nb.models as m\n"
        "m.Connection, m.Tally, m.load_prices().date, m.connect, m.batches.submit, m.StandIn\n"
        "print([n for n in ('anthropic', 'httpx2', 'pandas', 'polars') if n in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert said.stdout.strip() == "[]", said.stderr
