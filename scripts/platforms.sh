#!/bin/sh
# platforms.sh [TARGET...]: builds the libraries for other systems and processors, and runs samples and C programs with them:
# 32-bit Linux as it is and on Mesa's software driver, Arm under qemu, Windows under Wine. All four without TARGET.
#
# Installs what is missing, as root or through sudo. 32-bit Wine and drivers come from a small Debian system for i386 in the
# folder RECAL_I386 (target/i386-system): packages of both architectures on one system want the same versions of everything.
# What is not to be had here is said, and fails at the end unless PLATFORMS_MAY_LACK=1.
set -eu
cd "$(dirname "$0")/.."
targets=${*:-i686-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu i686-pc-windows-gnu}
lacking=

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}
install() { # packages
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null
}
want() { # command, packages that provide it
    command=$1
    shift
    command -v "$command" >/dev/null 2>&1 && return
    if [ -z "${updated:-}" ]; then
        as_root apt-get update >/dev/null 2>&1 || true
        updated=1
    fi
    install "$@" || true
    command -v "$command" >/dev/null 2>&1
}
lack() { # target, why
    echo "platforms.sh: $1 was not run: $2" >&2
    lacking="$lacking $1"
}

i386_system() {
    RECAL_I386=${RECAL_I386:-$PWD/target/i386-system}
    export RECAL_I386
    if ! [ -x "$RECAL_I386/usr/bin/wine" ]; then
        make_i386_system || return 1
    fi
    # Wine asks there where it lies.
    [ -e "$RECAL_I386/proc/self/exe" ] || as_root mount -t proc proc "$RECAL_I386/proc"
}
make_i386_system() {
    # A folder like another.
    want debootstrap debootstrap || return 1
    as_root rm -rf "$RECAL_I386"
    as_root debootstrap --variant=minbase --arch=i386 --include=wine,wine32,mesa-vulkan-drivers,libvulkan1 \
        "$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")" "$RECAL_I386" >target/i386-system.log 2>&1 || {
        tail -n 5 target/i386-system.log >&2
        return 1
    }
}

usable=
mkdir -p target
for target in $targets; do
    . scripts/target.sh
    rustup target add "$target" >/dev/null 2>&1 || true
    if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
        lack "$target" "the toolchain has no such target"
        continue
    fi
    case $target in
    i686-unknown-linux-gnu)
        want i686-linux-gnu-gcc gcc-i686-linux-gnu && want i686-linux-gnu-g++ g++-i686-linux-gnu ||
            { lack "$target" "no cross compiler"; continue; }
        i386_system || lack "$target on a 32-bit Vulkan driver" "there is no system for i386"
        ;;
    aarch64-unknown-linux-gnu)
        want aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu && want aarch64-linux-gnu-g++ g++-aarch64-linux-gnu ||
            { lack "$target" "no cross compiler"; continue; }
        want qemu-aarch64 qemu-user || { lack "$target" "no qemu-aarch64"; continue; }
        ;;
    x86_64-pc-windows-gnu)
        want x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 && want x86_64-w64-mingw32-g++ g++-mingw-w64-x86-64 ||
            { lack "$target" "no mingw"; continue; }
        want wine wine wine64 || { lack "$target" "no Wine"; continue; }
        ;;
    i686-pc-windows-gnu)
        want i686-w64-mingw32-gcc gcc-mingw-w64-i686 && want i686-w64-mingw32-g++ g++-mingw-w64-i686 ||
            { lack "$target" "no mingw"; continue; }
        i386_system || { lack "$target" "there is no 32-bit Wine"; continue; }
        ;;
    esac
    sh scripts/build-libs.sh "target/recal/$target/lib" release "$target"
    usable="$usable $target"
done

RECAL_PLATFORMS="$usable" "${CARGO:-cargo}" test -p recal-conformance --test c_programs -- platforms:: --test-threads=2
if [ -n "$lacking" ] && [ -z "${PLATFORMS_MAY_LACK:-}" ]; then
    echo "platforms.sh: not run:$lacking" >&2
    exit 1
fi
