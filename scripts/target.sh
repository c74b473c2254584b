# Sourced with a target of Rust in $target. Sets
#   tools   what the names of GNU's tools for it begin with
#   system  linux, windows or macos, for which nothing is linked
#   deb     Debian's name of the architecture, and multiarch its name in paths; both empty but for Linux
deb=
multiarch=
system=linux
case $target in
x86_64-unknown-linux-gnu) tools=x86_64-linux-gnu- deb=amd64 multiarch=x86_64-linux-gnu ;;
i686-unknown-linux-gnu) tools=i686-linux-gnu- deb=i386 multiarch=i386-linux-gnu ;;
aarch64-unknown-linux-gnu) tools=aarch64-linux-gnu- deb=arm64 multiarch=aarch64-linux-gnu ;;
x86_64-pc-windows-gnu) tools=x86_64-w64-mingw32- system=windows ;;
i686-pc-windows-gnu) tools=i686-w64-mingw32- system=windows ;;
x86_64-apple-darwin | aarch64-apple-darwin) tools= system=macos ;;
*)
    echo "$target is no target of ours" >&2
    exit 1
    ;;
esac

put_linker() { # path, command
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
# Sets cargo up for $target, from the root of the sources: its linker, and no line tables and no folder of this machine in what it
# builds, so that the same sources and compilers give the same bytes anywhere. Sets CC, too.
cross() {
    if [ "$system" = macos ]; then
        # Build scripts of crates assemble a few lines; their compiler would ask for Apple's kit. C++ wants headers of it, and as
        # nothing is linked, what stands for that in the example of Brook+ is empty.
        mkdir -p "target/recal/$target"
        put_linker "target/recal/$target/c++" 'case " $* " in *" -o "*) ;; *) exec clang++ "$@" ;; esac
while [ "$1" != -o ]; do shift; done
: >"$2"'
        export "CC_$(echo "$target" | tr - _)=clang" "CXX_$(echo "$target" | tr - _)=$PWD/target/recal/$target/c++" SDKROOT=/
        return
    fi
    CC=${tools}gcc
    RUSTFLAGS="--remap-path-prefix=$PWD=recal --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
    # A hash of what is stripped later, too, where symbols go by the folder.
    [ "$system" = windows ] || RUSTFLAGS="$RUSTFLAGS -C link-arg=-Wl,--build-id=none"
    CARGO_PROFILE_RELEASE_DEBUG=false
    CARGO_PROFILE_DEV_DEBUG=false
    cross_linker=$CC
    if [ "$target" = i686-unknown-linux-gnu ]; then
        # Options of a run of tests come by RECAL_LINK: cargo builds everything anew where the linker has another name.
        mkdir -p "target/recal/$target"
        cross_linker=$PWD/target/recal/$target/gcc
        put_linker "$cross_linker" "exec $CC \$RECAL_LINK \"\$@\""
    fi
    if [ "$system" = windows ]; then
        # Stands before Rust's own libraries, one of whose imports it replaces.
        mkdir -p "target/recal/$target"
        cross_linker=$PWD/target/recal/$target
        "$CC" -std=c99 -O2 -Wall -Wextra -c cal-api/rt/windows.c -o "$cross_linker/windows.o"
        # By its name Rust knows what options it takes. The linker sorts imports by the paths of its inputs, which are relative for it, so that
        # the folder is none of what they are sorted by.
        windows=target/recal/$target/windows.o
        cross_linker=$cross_linker/gcc
        put_linker "$cross_linker" "cd \"$PWD\"
for of; do
    shift
    set -- \"\$@\" \"\${of#\"$PWD\"/}\"
done
exec $CC \"$windows\" \"\$@\" -ladvapi32"
    fi
    export RUSTFLAGS CARGO_PROFILE_RELEASE_DEBUG CARGO_PROFILE_DEV_DEBUG
    export "CARGO_TARGET_$(echo "$target" | tr 'a-z-' 'A-Z_')_LINKER=$cross_linker"
}
