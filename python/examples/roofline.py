"""The products of matrices of the manual's tutorial, run on the first device, and under the roof of a Cypress.

usage: python roofline.py [FILE.png]
"""

import pathlib
import sys

import matplotlib.pyplot as plt
import numpy as np

import recal

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "docs/manual/examples"
SIZE = 256


def product(name, a, b, info):
    """a @ b by one of the kernels, which differ in what elements their memory has."""
    il, n = (KERNELS / f"{name}.il").read_text(), len(a)
    if name == "product_one":
        return recal.run(il, i0=a, i1=b, cb0=float(n), o0=np.empty_like(a), info=info)
    four, quarter = (n, n // 4, 4), (n // 4, n // 4, 4)
    if name == "product_four":
        return recal.run(il, i0=a.reshape(four), i1=b.reshape(four), cb0=n / 4, o0=(four, "f4"), info=info).reshape(n, n)
    streams = {f"i{k}": part.reshape(quarter) for k, part in enumerate(np.split(a, 4))}
    outputs = {f"o{k}": (quarter, "f4") for k in range(4)}
    parts = recal.run(il, i4=b.reshape(four), cb0=n / 4, **streams, **outputs, info=info)
    return np.concatenate([parts[f"o{k}"].reshape(n // 4, n) for k in range(4)])


def main():
    """Runs, checks, prints and draws."""
    print("on", recal.devices()[0]["name"])
    numbers = np.random.default_rng(1)
    a, b = (numbers.random((SIZE, SIZE), np.float32) for _ in range(2))
    texts = {}
    for name in ["product_one", "product_four", "product_block"]:
        # The first launch compiles for the memory that it has; the best of some says most.
        times = []
        for _ in range(5):
            info = {}
            found = product(name, a, b, info)
            times.append(info["seconds"])
        np.testing.assert_allclose(found, a @ b, rtol=1e-5)
        print(f"{name}: {1e3 * min(times):.2f} ms, {2e-9 * SIZE**3 / min(times):.1f} GFLOPS, copied: {', '.join(info['copied']) or 'nothing'}")
        texts[name] = (KERNELS / f"{name}.il").read_text()
    recal.plot_roofline(texts, trips=SIZE // 4)
    file = sys.argv[1] if len(sys.argv) > 1 else "roofline.png"
    plt.savefig(file, dpi=120)
    print("see", file)


if __name__ == "__main__":
    main()
