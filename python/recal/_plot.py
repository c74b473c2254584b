"""A roofline: how fast a kernel could be on a chip of the time, by what it reads and what it computes."""

from typing import Any, Dict, Optional, Union

from ._recal import Kernel, analyze


def roofline(il: Union[str, Kernel], chip: str = "cypress", trips: int = 16) -> Dict[str, Any]:
    """Figures of a kernel under the roof of a chip, from `analyze`: operations are slots of the VLIW processors, one a clock each.

    `peak` (operations a second), `bandwidth` (bytes a second), `operations` and `bytes` (of a thread), `intensity` (operations a
    byte; None without memory), `attainable` (the roof there), `modelled` (operations a second by the model, which knows of fetches,
    too), `limit` (what decides there). Every read counts as one of memory: the model has no cache.
    """
    figures = analyze(il.il if isinstance(il, Kernel) else il, chip, trips)
    target, mean = figures["target"], figures["thread"]["mean"]
    peak = 1e6 * target["engine_mhz"] * target["thread_processors"] * target["slots"]
    bandwidth = 1e6 * target["memory_mbps"] * target["bus_bits"] / 8
    operations = mean["vliw"] * figures["code"]["packing"] * target["slots"]
    octets = mean["memory_bits"] / 8
    intensity = operations / octets if octets else None
    return {
        "chip": target["name"],
        "peak": peak,
        "bandwidth": bandwidth,
        "operations": operations,
        "bytes": octets,
        "intensity": intensity,
        "attainable": peak if intensity is None else min(peak, bandwidth * intensity),
        "modelled": operations * figures["threads_per_second"],
        "limit": figures["limit"],
    }


def plot_roofline(
    kernels: Union[str, Kernel, Dict[str, Union[str, Kernel]]],
    chip: str = "cypress",
    trips: int = 16,
    axes: Optional[Any] = None,
) -> Any:
    """Draws the roof of a chip with a dot for each kernel, `{name: il}` or one text; needs matplotlib. Gives the axes."""
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.subplots(layout="constrained")[1]
    if not isinstance(kernels, dict):
        kernels = {"kernel": kernels}
    dots = {name: roofline(il, chip, trips) for name, il in kernels.items()}
    if not dots:
        raise ValueError("kernels: there are none")
    one = next(iter(dots.values()))
    ridge = one["peak"] / one["bandwidth"]
    at = [dot["intensity"] for dot in dots.values() if dot["intensity"]]
    left, right = min([ridge / 16, *(x / 2 for x in at)]), max([ridge * 16, *(x * 2 for x in at)])
    axes.loglog([left, ridge, right], [1e-9 * left * one["bandwidth"], 1e-9 * one["peak"], 1e-9 * one["peak"]], "k-")
    for name, dot in dots.items():
        x = dot["intensity"] or right
        axes.loglog([x], [1e-9 * dot["modelled"]], "o", label=f"{name}: {dot['limit']} limits")
    axes.set_xlabel("operations per byte of memory")
    axes.set_ylabel("10⁹ operations a second")
    axes.set_title(f"{one['chip']}: {1e-9 * one['peak']:.0f}·10⁹ operations/s, {1e-9 * one['bandwidth']:.0f} GB/s")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    return axes
