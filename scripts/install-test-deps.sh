#!/bin/sh
# Installs what the tests need beyond Rust, on Debian and Ubuntu. Asks for nothing that is already there; without
# root or sudo it says what is missing and fails.
set -eu

# command:package that provides it
needed="gcc:gcc g++:g++ cmake:cmake pkg-config:pkg-config valgrind:valgrind readelf:binutils
    boinc:boinc-client spirv-val:spirv-tools glslangValidator:glslang-tools
    mpicc:libopenmpi-dev mpirun:openmpi-bin hpcc:hpcc
    x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 i686-w64-mingw32-gcc:gcc-mingw-w64-i686"
missing=
for pair in $needed; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done

# package:file pattern that tells that it is there
for pair in \
    "libc6-dev:/usr/include/stdio.h" \
    "libvulkan1:/usr/lib/*/libvulkan.so.1" \
    "mesa-vulkan-drivers:/usr/share/vulkan/icd.d/lvp_icd*.json" \
    "vulkan-validationlayers:/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json" \
    "libblas-test:/usr/lib/*/blas/xblat3s" \
    "libblas3:/usr/lib/*/blas/libblas.so.3" \
    "libopenblas0-pthread:/usr/lib/*/openblas-pthread/libblas.so.3" \
    "chromium:/usr/lib/chromium/libvk_swiftshader.so" \
    "python3-venv:/usr/lib/python3.*/ensurepip/__main__.py" \
    "python3-numpy:/usr/lib/python3/dist-packages/numpy" \
    "python3-pytest:/usr/lib/python3/dist-packages/pytest" \
    "python3-matplotlib:/usr/lib/python3/dist-packages/matplotlib"; do
    # shellcheck disable=SC2086 # the pattern is to be expanded
    ls ${pair#*:} >/dev/null 2>&1 || missing="$missing ${pair%%:*}"
done

install() {
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "make test needs these packages (Debian's names):$missing" >&2
        exit 1
    fi
    if [ "$(id -u)" = 0 ]; then
        sudo=
    elif command -v sudo >/dev/null 2>&1; then
        sudo=sudo
    else
        echo "make test needs these packages; as root: apt-get install$missing" >&2
        exit 1
    fi
    $sudo apt-get update
    # shellcheck disable=SC2086 # a list of packages
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}
[ -z "$missing" ] || install

# maturin, which builds the wheel for Python, is no package of Debian 12: it comes by pip, into an environment beside what is built.
tools=$(cd "$(dirname "$0")/.." && pwd)/target/recal/python
if ! "$tools/bin/python" -c "import maturin" >/dev/null 2>&1; then
    /usr/bin/python3 -m venv --clear --system-site-packages "$tools" &&
        "$tools/bin/python" -m pip install --quiet --disable-pip-version-check "maturin>=1.9.4,<2" ||
        echo "install-test-deps.sh: maturin was not installed; the tests for Python are skipped, or fail with CI=true" >&2
fi
