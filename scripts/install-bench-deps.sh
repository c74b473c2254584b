#!/bin/sh
# Installs what `make bench` compares with beyond what the tests need: OpenCL's loader and pocl, on Debian and Ubuntu. What cannot be
# installed is left out of the comparison, which says so.
set -eu

missing=
for pair in \
    "ocl-icd-libopencl1:/usr/lib/*/libOpenCL.so.1" \
    "pocl-opencl-icd:/etc/OpenCL/vendors/pocl.icd"; do
    # shellcheck disable=SC2086 # the pattern is to be expanded
    ls ${pair#*:} >/dev/null 2>&1 || missing="$missing ${pair%%:*}"
done
[ -n "$missing" ] || exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
# shellcheck disable=SC2086 # a list of packages
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ||
    echo "install-bench-deps.sh: no pocl to compare with; Debian's packages are$missing" >&2
