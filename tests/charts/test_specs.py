"""What the tests of charts see of a chart: only what Vega-Lite's schema allows."""

import altair as alt
import jsonschema_rs
import pytest

from tests.charts.specs import spec_of


def test_a_sound_chart_is_as_altair_writes_it():
    chart = alt.Chart({"values": [{"a": 1}]}).mark_point().encode(x="a:Q")
    assert spec_of(chart) == chart.to_dict()


@pytest.mark.parametrize(
    "wrong",
    [{"mark": "pint"}, {"mark": {"type": "point", "sise": 3}}, {"encoding": {"x": {"filed": "a"}}}],
)
def test_a_mistake_is_refused(wrong):
    class Mistaken:
        def to_dict(self, *, validate):
            return {"data": {"values": []}, "mark": "point", **wrong}

    with pytest.raises(jsonschema_rs.ValidationError):
        spec_of(Mistaken())
