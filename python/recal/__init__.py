"""Kernels in AMD IL on arrays of numpy: see `run`, and the README of the package.

    >>> import numpy as np, recal
    >>> il = '''
    ... il_ps_2_0
    ... dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
    ... dcl_output_generic o0
    ... dcl_cb cb0[1]
    ... dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
    ... sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx
    ... mul o0, r0, cb0[0].x
    ... end
    ... '''
    >>> recal.run(il, i0=np.ones((2, 3), np.float32), cb0=0.5)
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5]], dtype=float32)
"""

from typing import Optional

from ._arrays import run
from ._plot import plot_roofline, roofline
from ._recal import Context, Error, Kernel, KernelError, __version__, analyze, check, devices

__all__ = [
    "Context",
    "Error",
    "Kernel",
    "KernelError",
    "__version__",
    "analyze",
    "check",
    "compile",
    "devices",
    "plot_roofline",
    "roofline",
    "run",
]


def compile(il: str, context: Optional[Context] = None) -> Kernel:
    """A kernel, to be run many times. What is wrong with it is a KernelError; its `diagnostics` say where."""
    return Kernel(il, context)
