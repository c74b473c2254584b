#!/bin/sh
# wine32.sh PROGRAM [ARGUMENT...]: runs a 32-bit Windows program of this tree by the Wine of the i386 system (scripts/machine.sh),
# in which it sees the tree under its own name. The mounts end with it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
RECAL_I386=${RECAL_I386:-$root/target/i386-system}
RECAL_ROOT=$root
RECAL_FOLDER=$PWD
export RECAL_I386 RECAL_ROOT RECAL_FOLDER
sudo=
[ "$(id -u)" = 0 ] || sudo="sudo -E"
# shellcheck disable=SC2016 # for the shells below
exec $sudo unshare --mount sh -c '
    mkdir -p "$RECAL_I386$RECAL_ROOT"
    mount --bind "$RECAL_ROOT" "$RECAL_I386$RECAL_ROOT"
    [ -e "$RECAL_I386/proc/self/exe" ] || mount -t proc proc "$RECAL_I386/proc"
    exec chroot "$RECAL_I386" /bin/sh -c "cd \"\$RECAL_FOLDER\" && exec wine \"\$@\"" wine "$@"
' wine "$@"
