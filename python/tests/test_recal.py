"""The package as its users have it. `python/tests/python.rs` builds and runs it."""

import ast
import inspect
import pathlib
import runpy
import sys
import threading
import time

import numpy as np
import pytest

import recal

SCALE = """
il_ps_2_0
dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
dcl_output_generic o0
dcl_cb cb0[1]
dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx
mul o0, r0, cb0[0].x
end
"""

# For ever: the limit of time ends it.
ENDLESS = """
il_cs_2_0
dcl_num_thread_per_group 64
dcl_literal l0, 1, 0, 0, 0
whileloop
    iadd r0.x, r0.x, l0.x
    break_logicalz l0.x
    mov g[vAbsTidFlat.x], r0.x
endloop
end
"""

NUMBERS = """
il_cs_2_0
dcl_num_thread_per_group 64
mov g[vAbsTidFlat.x], vAbsTidFlat.x
end
"""

BYTES = """
il_cs_2_0
dcl_num_thread_per_group 64
dcl_raw_uav_id(0)
dcl_literal l0, 4, 1, 0, 0
imul r0.x, vAbsTidFlat.x, l0.x
uav_raw_load_id(0) r1.x, r0.x
iadd r1.x, r1.x, l0.y
uav_raw_store_id(0) mem0.x, r0.x, r1.x
end
"""


def test_a_kernel_runs_on_arrays():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = recal.run(SCALE, i0=x, cb0=0.5)
    assert y.dtype == np.float32 and np.array_equal(y, x / 2)


def test_an_output_given_is_the_one_written():
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    y = np.empty_like(x)
    assert recal.run(SCALE, i0=x, cb0=[2.0], o0=y) is y
    assert np.array_equal(y, 2 * x)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_strides_are_no_matter(dtype):
    x = np.arange(48).reshape(6, 8).astype(dtype)
    y = np.zeros((8, 12), dtype)
    recal.run(SCALE, i0=x.T, cb0=3.0, o0=y[:, ::2])
    assert np.array_equal(y[:, ::2], 3 * x.T) and not y[:, 1::2].any()


def test_a_third_dimension_is_components():
    x = np.arange(32, dtype=np.float32).reshape(2, 4, 4)
    assert np.array_equal(recal.run(SCALE, i0=x, cb0=2.0, o0=((2, 4, 4), "f4")), 2 * x)


def test_memory_is_written_in_place():
    g = np.zeros((100, 4), np.uint32)
    assert recal.run(NUMBERS, g=g, threads=100) is g
    assert np.array_equal(g, np.repeat(np.arange(100, dtype=np.uint32), 4).reshape(100, 4))
    counts = np.arange(10, dtype=np.int32)
    recal.run(BYTES, uav0=counts)
    assert np.array_equal(counts, np.arange(1, 11))


def test_views_with_addresses_have_no_gaps_between_rows():
    # 5 columns: a device that copies has rows of 64 for memory with a shape.
    counts = np.arange(15, dtype=np.int32).reshape(3, 5)
    recal.run(BYTES, uav0=counts)
    assert np.array_equal(counts.reshape(-1), np.arange(1, 16))
    # Any type does, as bytes; of a view with strides a copy is worked on.
    wide = np.zeros((4, 2), np.uint64)
    recal.run(BYTES, uav0=wide[:, 0], threads=8)
    assert (wide[:, 0] == 1 + 2**32).all() and not wide[:, 1].any()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "u1", "u2", "u4", "?", "c8", "c16"])
def test_all_types_come_back_as_they_went(dtype):
    il = SCALE.replace("mul o0, r0, cb0[0].x", "mov o0, r0").replace("dcl_cb cb0[1]\n", "")
    x = (np.arange(21) % 2).reshape(3, 7).astype(dtype)
    assert np.array_equal(recal.run(il, i0=x, o0=np.ones_like(x)), x)


def test_info_tells_what_was_copied():
    x, info = np.ones((4, 4), np.float32), {}
    recal.run(SCALE, i0=x.T[:, ::2], cb0=1.0, info=info)
    assert info["seconds"] > 0 and "i0" in info["copied"]
    if recal.devices()[0]["backend"] == "cpu":
        recal.run(SCALE, i0=x, cb0=1.0, info=info)
        assert info["copied"] == []
        # 3 bytes are no whole words.
        recal.run(SCALE, i0=np.ones((1, 3), np.uint8), cb0=1.0, info=info)
        assert info["copied"] == ["i0"]


def test_rows_of_constants():
    il = "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[2]\nadd o0, cb0[0], cb0[1]\nend\n"
    out = ((1, 1, 4), np.float32)
    rows = [[1.0, 2.0, 3.0, 4.0], 0.5]
    assert recal.run(il, cb0=rows, o0=out, domain=(1, 1)).tolist() == [[[1.5, 2.0, 3.0, 4.0]]]
    exact = np.array([[1, 2, 3, 4], [1, 1, 1, 1]], np.float32)
    assert recal.run(il, cb0=exact, o0=out, domain=(1, 1)).tolist() == [[[2.0, 3.0, 4.0, 5.0]]]


def test_a_wrong_kernel_says_where():
    with pytest.raises(recal.KernelError, match="did you mean `mul`") as raised:
        recal.compile("il_ps_2_0\nmull r0, r1, r2\nend\n")
    (found,) = raised.value.diagnostics
    assert (found["rule"], found["line"], found["column"]) == ("unknown-opcode", 2, 1)
    assert recal.check("il_ps_2_0\nend\n") == [] and recal.check("il_ps_2_0\nmov o0, l0\nend\n")


def test_wrong_arguments_are_named():
    x = np.ones((2, 2), np.float32)
    with pytest.raises(TypeError, match="has no `i1`; it has i0, o0, cb0"):
        recal.run(SCALE, i0=x, i1=x, cb0=1.0)
    with pytest.raises(TypeError, match="nothing is given for cb0"):
        recal.run(SCALE, i0=x)
    with pytest.raises(TypeError, match=r"i0: .*'<i8' \(int64\).*astype"):
        recal.run(SCALE, i0=x.astype(np.int64), cb0=1.0)
    with pytest.raises(TypeError, match="i0: .*object"):
        recal.run(SCALE, i0=x.astype(object), cb0=1.0)
    with pytest.raises(TypeError, match="i0: .*'>f4'"):
        recal.run(SCALE, i0=x.astype(">f4"), cb0=1.0)
    with pytest.raises(TypeError, match="g: .*object"):
        recal.run(NUMBERS, g=np.array([None, 1]))
    with pytest.raises(ValueError, match=r"i0: shape \(2, 2, 3\) has 3 components"):
        recal.run(SCALE, i0=np.ones((2, 2, 3), np.float32), cb0=1.0)
    with pytest.raises(ValueError, match=r"i0: shape \(1, 1, 1, 1\)"):
        recal.run(SCALE, i0=np.ones((1, 1, 1, 1), np.float32), cb0=1.0)
    with pytest.raises(ValueError, match=r"i0: shape \(0, 2\) has no elements"):
        recal.run(SCALE, i0=x[:0], cb0=1.0, domain=(1, 1))
    with pytest.raises(ValueError, match="cb0: .* no row"):
        recal.run(SCALE, i0=x, cb0=[[1.0] * 5])
    with pytest.raises(TypeError, match="cb0: 'a'"):
        recal.run(SCALE, i0=x, cb0="a")
    with pytest.raises(OverflowError, match="cb0"):
        recal.run(SCALE, i0=x, cb0=2**32)
    with pytest.raises(TypeError, match="o0: 'no type'"):
        recal.run(SCALE, i0=x, cb0=1.0, o0="no type")
    with pytest.raises(TypeError, match="runs over a `domain`"):
        recal.run(SCALE, i0=x, cb0=1.0, threads=3)
    with pytest.raises(TypeError, match="runs `threads`"):
        recal.run(NUMBERS, g=x, domain=(2, 2))
    with pytest.raises(ValueError, match="threads: -1"):
        recal.run(NUMBERS, g=x, threads=-1)
    with pytest.raises(ValueError, match="uav0: its shape"):
        recal.run(BYTES, uav0=np.float32)
    with pytest.raises(TypeError, match="neither IL nor a Kernel"):
        recal.run(b"il_ps_2_0", domain=(1, 1))
    fixed = np.ones((2, 2), np.float32)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        recal.run(SCALE, i0=x, cb0=1.0, o0=fixed)
    with pytest.raises(ValueError, match="domain"):
        recal.run("il_ps_2_0\ndcl_output_generic o0\nmov o0, r0\nend\n")


def test_what_the_binding_itself_is_given_is_checked():
    kernel, data = recal.compile(NUMBERS), np.zeros(64, np.uint8)
    for wrong, why in [
        (("g[]", data, 17, 0, "UNSIGNED_INT32_1", True), "68 bytes in a row are wanted"),
        (("g[]", data[::2], 8, 0, "UNSIGNED_INT32_1", True), "in a row"),
        (("g[]", data, 16, 0, "NOTHING", True), "no such format"),
        (("g[]", bytes(64), 16, 0, "UNSIGNED_INT32_1", False), "read-only"),
        (("g[]", data[:0], 0, 0, "UNSIGNED_INT32_1", True), "without elements"),
    ]:
        with pytest.raises(ValueError, match=why):
            kernel.launch([wrong], [1, 1, 1])
    with pytest.raises(recal.Error, match="nothing is bound to g"):
        kernel.launch([], [1, 1, 1])
    with pytest.raises(recal.Error, match="has no `o7`"):
        kernel.launch([("o7", data, 16, 0, "UNSIGNED_INT32_1", True)], [1, 1, 1])


def test_a_kernel_that_does_not_end_is_stopped_and_others_run_meanwhile():
    backend = recal.devices()[0]["backend"]
    if backend != "cpu":
        pytest.skip("what stops a kernel is the driver's")
    context, done, counted = recal.Context(backend=backend, timeout=0.5), [], 0

    def work():
        with pytest.raises(recal.Error) as raised:
            recal.run(ENDLESS, g=np.zeros(64, np.uint32), context=context)
        done.append((raised.value.kind, raised.value.code))

    thread = threading.Thread(target=work)
    thread.start()
    while not done:
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert done == [("timeout", "CAL_RESULT_ERROR")]
    # With the interpreter kept, it would be a turn or two.
    assert counted > 10


def test_threads_run_one_kernel():
    kernel = recal.compile(SCALE)
    wrong = []

    def work(n):
        x = np.full((16, 16), n, np.float32)
        for _ in range(20):
            if not np.array_equal(recal.run(kernel, i0=x, cb0=2.0), 2 * x):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_devices_and_figures():
    devices = recal.devices()
    assert devices and {"number", "name", "backend", "target", "simds"} <= devices[0].keys()
    assert recal.Context(0).device["name"] == devices[0]["name"]
    figures = recal.analyze(SCALE)
    assert figures["target"]["name"] == "cypress" and figures["gprs"] >= 1
    assert len(recal.analyze(SCALE, chip=None)) > 8
    with pytest.raises(ValueError, match="voodoo"):
        recal.analyze(SCALE, chip="voodoo")


def test_a_device_that_is_not_there_is_told():
    with pytest.raises(recal.Error, match="4711"):
        recal.Context(4711)
    with pytest.raises(recal.Error, match="there is no device; opencl: no backend is called `opencl`; there are vulkan, cpu"):
        recal.Context(backend="opencl")
    for seconds in [-1.0, 0.0, float("nan")]:
        with pytest.raises(ValueError, match="timeout"):
            recal.Context(timeout=seconds)


def test_a_machine_without_a_gpu_says_so(monkeypatch):
    monkeypatch.setenv("CAL_VULKAN_DEVICE", "a name of no device")
    with pytest.raises(recal.Error, match="there is no device; vulkan: "):
        recal.Context(backend="vulkan")


def test_findings_tell_the_line():
    context = recal.Context(backend="cpu", checks=True)
    kernel = recal.compile("il_ps_2_0\ndcl_output_generic o0\nadd o0, r5, r5\nend\n", context)
    recal.run(kernel, domain=(1, 1))
    found = context.findings()[0]
    assert (found["rule"], found["line"], found["thread"]) == ("uninitialized", 3, (0, 0, 0))
    assert context.findings() == [] and kernel.context.device == context.device
    assert recal.Context(backend="cpu").findings() is None


def test_the_roof_is_where_memory_says():
    dot = recal.roofline(SCALE)
    # 32 bytes of memory for a few operations: under the slope.
    # As the boxes of the HD 5870 said: 1600 stream cores at 850 MHz, 153.6 GB/s.
    assert dot["peak"] == pytest.approx(1600 * 850e6) and dot["bandwidth"] == pytest.approx(153.6e9)
    assert dot["bytes"] == 32 and dot["attainable"] == dot["bandwidth"] * dot["intensity"] < dot["peak"]


def test_the_plot_has_a_dot_for_each_kernel():
    pyplot = pytest.importorskip("matplotlib.figure")
    axes = recal.plot_roofline({"a": SCALE, "b": SCALE}, axes=pyplot.Figure().add_subplot())
    assert len(axes.lines) == 3


def test_the_example_runs_and_draws(tmp_path, monkeypatch, capsys):
    script = pathlib.Path(__file__).parents[1] / "examples/roofline.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path / "roof.png")])
    runpy.run_path(str(script), run_name="__main__")
    assert (tmp_path / "roof.png").stat().st_size > 5000
    assert capsys.readouterr().out.count("GFLOPS") == 3


def test_stubs_name_what_there_is_with_its_parameters():
    package = pathlib.Path(recal.__file__).parent
    assert (package / "py.typed").exists()

    def parameters(function, skip):
        names = [one.arg for one in function.args.posonlyargs + function.args.args]
        return names[skip:] + [one.arg for one in function.args.kwonlyargs]

    stub = ast.parse((package / "_recal.pyi").read_text())
    named = {"__version__"}
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            named.add(node.name)
            real = inspect.signature(getattr(recal._recal, node.name))
            assert parameters(node, 0) == list(real.parameters), node.name
        if isinstance(node, ast.ClassDef):
            named.add(node.name)
            real = getattr(recal._recal, node.name)
            for method in (one for one in node.body if isinstance(one, ast.FunctionDef)):
                if method.name == "__new__":
                    assert parameters(method, 1) == list(inspect.signature(real).parameters), node.name
                elif not method.decorator_list:
                    assert parameters(method, 0) == list(inspect.signature(getattr(real, method.name)).parameters)
            ours = {name for name in vars(real) if not name.startswith("__")}
            said = {one.name for one in node.body if isinstance(one, ast.FunctionDef) and one.name != "__new__"}
            assert said == ours or issubclass(real, Exception), node.name
    assert named - {"__version__"} == {name for name in dir(recal._recal) if not name.startswith("__")}
