# Sourced: what a machine must have to build for $target and to run what was built. Installs what is missing, as root or through
# sudo. 32-bit Wine and drivers come from a small Debian system for i386 in the folder RECAL_I386 (target/i386-system): packages
# of both architectures on one system want the same versions of everything. No command of it takes longer than MACHINE_SECONDS; 0,
# or nothing, is no limit.

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}
want() { # command, packages that provide it
    command=$1
    shift
    command -v "$command" >/dev/null 2>&1 && return
    if [ -z "${updated:-}" ]; then
        as_root timeout "${MACHINE_SECONDS:-0}" apt-get update >/dev/null 2>&1 || true
        updated=1
    fi
    as_root timeout "${MACHINE_SECONDS:-0}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" \
        >/dev/null || true
    command -v "$command" >/dev/null 2>&1
}

i386_system() {
    RECAL_I386=${RECAL_I386:-$PWD/target/i386-system}
    export RECAL_I386
    # A link to what lies in that system, not in this one.
    if ! [ -L "$RECAL_I386/usr/bin/wine" ] && ! [ -x "$RECAL_I386/usr/bin/wine" ]; then
        make_i386_system || return 1
    fi
    # Wine asks there where it lies.
    [ -e "$RECAL_I386/proc/self/exe" ] || { as_root mount -t proc proc "$RECAL_I386/proc" && i386_proc=$RECAL_I386/proc; }
}
# At the end of a script: what it mounted would be in the way of whoever removes the folder.
leave_i386() {
    [ -z "${i386_proc:-}" ] || as_root umount "$i386_proc" || true
}
make_i386_system() {
    # A folder like another.
    want debootstrap debootstrap || return 1
    mkdir -p target
    # Takes its name when it is whole: an interrupted one has a Wine, too, and perhaps a mount.
    new=$RECAL_I386.new
    as_root umount "$RECAL_I386/proc" 2>/dev/null || true
    as_root umount "$new/proc" 2>/dev/null || true
    as_root rm -rf --one-file-system "$RECAL_I386" "$new"
    as_root timeout "${MACHINE_SECONDS:-0}" debootstrap --variant=minbase --arch=i386 \
        --include=wine,wine32,mesa-vulkan-drivers,libvulkan1 \
        "$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")" "$new" >target/i386-system.log 2>&1 || {
        tail -n 5 target/i386-system.log >&2
        return 1
    }
    as_root umount "$new/proc" 2>/dev/null || true
    as_root mv "$new" "$RECAL_I386"
}

# What builds for $target: Rust's target and a cross compiler. In $why what cannot be had.
compilers() {
    why=
    timeout "${MACHINE_SECONDS:-0}" rustup target add "$target" >/dev/null 2>&1 || true
    if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
        why="the toolchain has no such target"
        return 1
    fi
    case $target in
    i686-unknown-linux-gnu) cross_packages=i686-linux-gnu ;;
    aarch64-unknown-linux-gnu) cross_packages=aarch64-linux-gnu ;;
    x86_64-pc-windows-gnu) cross_packages=mingw-w64-x86-64 ;;
    i686-pc-windows-gnu) cross_packages=mingw-w64-i686 ;;
    *-apple-darwin)
        want clang clang || why="there is no clang"
        [ -z "$why" ]
        return
        ;;
    *) return 0 ;;
    esac
    [ "$target" != "$(uname -m)-unknown-linux-gnu" ] || return 0
    want "${tools}gcc" "gcc-$cross_packages" && want "${tools}g++" "g++-$cross_packages" || why="there is no cross compiler"
    [ -z "$why" ]
}
# That, and an emulator or Wine for what was built.
machine() {
    compilers || return 1
    case $target in
    aarch64-unknown-linux-gnu)
        [ "$(uname -m)" = aarch64 ] || want qemu-aarch64 qemu-user || why="there is no qemu-aarch64"
        ;;
    x86_64-pc-windows-gnu) want wine wine wine64 || why="there is no Wine" ;;
    i686-pc-windows-gnu) i386_system || why="there is no 32-bit Wine" ;;
    esac
    [ -z "$why" ]
}

# Has cargo run tests that it built for $target: after `cross` of target.sh.
runner() {
    run=
    case $target in
    i686-unknown-linux-gnu)
        # The loader of the cross compiler's C library, which programs ask for: a test that starts itself finds itself.
        libc=/usr/i686-linux-gnu/lib
        export RECAL_LINK="-Wl,--dynamic-linker=$libc/ld-linux.so.2 -Wl,--disable-new-dtags,-rpath,$libc"
        ;;
    aarch64-unknown-linux-gnu) [ "$(uname -m)" = aarch64 ] || run="qemu-aarch64 -L /usr/aarch64-linux-gnu" ;;
    x86_64-pc-windows-gnu)
        run=wine
        export WINEPREFIX="$PWD/target/recal/$target/wine" WINEDEBUG=-all
        # Of programs that begin while Wine's server begins or ends, one in some twenty ends with STATUS_DLL_INIT_FAILED: it runs before
        # them, and until nobody has needed it for a minute. That one runs already is no failure.
        wineserver -p60 >/dev/null 2>&1 || :
        wine wineboot >/dev/null 2>&1 || :
        ;;
    i686-pc-windows-gnu) run="sh $PWD/scripts/wine32.sh" ;;
    esac
    [ -z "$run" ] || export "CARGO_TARGET_$(echo "$target" | tr 'a-z-' 'A-Z_')_RUNNER=$run"
}
