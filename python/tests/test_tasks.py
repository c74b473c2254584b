"""The tasks of docs/manual/chapters/tasks.md, whose examples are tests as well: what the chapter says of its kernels holds."""

import pathlib

import numpy as np

import recal

EXAMPLES = pathlib.Path(__file__).parents[2] / "docs/manual/examples"


def test_the_checks_find_the_planted_index_and_no_other():
    il = (EXAMPLES / "wrong_index.il").read_text()
    a, x = np.arange(2400, dtype=np.float32).reshape(60, 40), np.ones(40, np.float32)

    def run(text):
        context = recal.Context(backend="cpu", checks=True)
        y = recal.run(text, uav0=a, uav1=x, uav2=((60,), "f4"), cb0=[[60, 40]], threads=60, context=context)["uav2"]
        return y, context.findings()

    y, found = run(il)
    assert y[0] == a[0].sum() and y[1] != a[1].sum()
    assert {(one["rule"], one["line"]) for one in found} == {("out-of-range", 18)}
    y, found = run(il.replace("cb0[0].x, r1.x", "cb0[0].y, r1.x"))
    assert np.array_equal(y, a.sum(1)) and found == []


def test_the_model_tells_the_slow_kernel_from_the_fast_one():
    slow, fast = (recal.analyze((EXAMPLES / f"blur_{name}.il").read_text()) for name in ["slow", "fast"])
    assert slow["thread"]["mean"]["vliw"] > 1.4 * fast["thread"]["mean"]["vliw"]
    assert slow["limit"] == fast["limit"] == "memory"
