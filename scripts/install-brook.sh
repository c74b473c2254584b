#!/bin/sh
# install-brook.sh BROOK PREFIX DESTDIR [LIBDIR]: copies what scripts/build-brook.sh made in BROOK, the headers of Brook+, and its
# pkg-config and CMake files. Arguments and variables are as for install.sh.
set -eu

brook=$1
prefix=$2
root=$3$2
libdir=${4:-lib}
here=$(dirname "$0")
. "$here/install-common.sh"

put 644 include/brook "$here"/../brook/include/brook/*.h
put 644 include/brook/CPU "$here"/../brook/include/brook/CPU/*.h
put 755 "$libdir" "$brook/libbrook.so"
put 755 bin "$brook/brcc"
slim "${STRIP_LIBRARIES:---strip-debug}" "$root/$libdir/libbrook.so"
slim --strip-all "$root/bin/brcc"
fill brook.pc "$libdir/pkgconfig"
fill BrookConfig.cmake "$libdir/cmake/Brook"
fill BrookConfigVersion.cmake "$libdir/cmake/Brook"
