#!/bin/sh
# install-blas.sh BLAS PREFIX DESTDIR [LIBDIR]: copies what scripts/build-blas.sh made in BLAS, the headers, and a pkg-config file.
# The arguments, and KEEP_DEBUG, are as for install.sh.
set -eu

blas=$1
prefix=$2
root=$3$2
libdir=${4:-lib}
here=$(dirname "$0")
. "$here/install-common.sh"

put 644 include "$here"/../blas/include/calblas.h
put 644 include/calblas "$here"/../blas/include/calblas/cblas.h
put 755 "$libdir" "$blas/libCALBLAS.so"
slim --strip-debug "$root/$libdir/libCALBLAS.so"
for name in libacml.so libacml_mv.so; do
    ln -sf libCALBLAS.so "$root/$libdir/$name"
    installed "$libdir/$name"
done
fill calblas.pc "$libdir/pkgconfig"
