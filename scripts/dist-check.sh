#!/bin/sh
# dist-check.sh DIST [TARGET...]: what dist.sh made, as a stranger uses it. Checksums; README's program, built against each archive by
# the target's compiler, and run: for Windows by the very commands of README; Debian packages installed, README's program built against
# the installed files and run, `recal doctor`, man pages, lintian where it is installed, and everything removed: nothing stays.
#
# Packages for i386 go into the system for i386 (scripts/machine.sh) by its own dpkg, the others into a folder.
set -eu
dist=$(cd "${1:?usage: dist-check.sh DIST [TARGET...]}" && pwd)
shift
cd "$(dirname "$0")/.."
. scripts/machine.sh
targets=${*:-x86_64-unknown-linux-gnu i686-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu i686-pc-windows-gnu}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
guest=
trap 'rm -rf "$work" ${guest:+"$guest"}; leave_i386' EXIT
export CAL_BACKEND=cpu

fail() {
    echo "dist-check.sh: $*" >&2
    exit 1
}
sed -n '/^```c$/,/^```$/p' README.md | sed '1d;/^```$/,$d' >"$work/hello.c"
# What README says for Windows: a block of commands, the last of which runs the program.
sed -n '/^    unzip recal-/,/^$/s/^    //p' README.md >"$work/windows.sh"
[ "$(wc -l <"$work/windows.sh")" = 3 ] || fail "README.md does not say in three lines how programs for Windows are built"
(cd "$dist" && sha256sum -c --quiet SHA256SUMS)
echo "SHA256SUMS: right"

in_i386() { # command, in the system for i386
    as_root chroot "$RECAL_I386" /usr/bin/env CAL_BACKEND=cpu HOME=/tmp "$@"
}
prints() { # what the program should print, command
    expected=$1
    shift
    found=$("$@" | tr -d '\r') || fail "$target: $* failed"
    [ "$found" = "$expected" ] || fail "$target: $* printed $found"
}
contents() { # folder: files and folders, but dpkg's own
    as_root find "$1" -xdev -path "$1/proc" -prune -o -path "$1/var/lib/dpkg" -prune -o -path "$1/var/log" -prune -o \
        -path "$1/var/cache" -prune -o -path "$1/etc/ld.so.cache" -prune -o -path "$1/tmp" -prune -o -print | sort
}

archive() {
    name=recal-$version-$target
    folder=$work
    if [ "$target" = i686-unknown-linux-gnu ] || [ "$target" = i686-pc-windows-gnu ]; then
        guest=$RECAL_I386/tmp/dist-check
        rm -rf "$guest"
        mkdir -p "$guest"
        folder=$guest
    fi
    out=$folder/recal/bin/hello
    case $system in
    linux)
        tar -C "$folder" -xf "$dist/$name.tar.xz"
        mv "$folder/$name" "$folder/recal"
        "${tools}gcc" -Wall -Wextra "$work/hello.c" -I"$folder/recal/include/CAL" -L"$folder/recal/lib" -laticalrt -laticalcl -o "$out"
        ;;
    windows)
        out=$out.exe
        # The folder of the i386 system has no other copy.
        [ "$folder" = "$work" ] || cp "$work/hello.c" "$folder/"
        want unzip unzip || fail "unzip is not installed"
        cp "$dist/recal-$version-$target.zip" "$folder/"
        # The others unpack into the same folder.
        for part in recal-command recal-brook; do (cd "$folder" && unzip -qo "$dist/$part-$version-$target.zip"); done
        # The text names the 64-bit compiler and archive. Where Wine lies is this script's affair.
        sed -e '$d' -e "s/x86_64-pc-windows-gnu/$target/g;s/x86_64-w64-mingw32-/$tools/g" "$work/windows.sh" >"$work/build.sh"
        (cd "$folder" && sh -e "$work/build.sh" >"$work/log") || { cat "$work/log" >&2; fail "$target: README's commands"; }
        [ -e "$folder/recal/bin/recal.exe" ] && [ -e "$folder/recal/bin/brcc.exe" ] ||
            fail "$target: the archives unpack into several folders"
        ;;
    esac
    libraries=$folder/recal/lib
    case $target in
    x86_64-unknown-linux-gnu)
        prints 8.75 env LD_LIBRARY_PATH="$libraries" "$out"
        cp brook/tests/installed/main.cpp brook/tests/installed/kernels.br "$work/"
        # shellcheck disable=SC2046 # a list of options
        (cd "$work" && export PKG_CONFIG_PATH="$libraries/pkgconfig" && recal/bin/brcc kernels.br &&
            g++ main.cpp kernels.cpp $(pkg-config --cflags --libs brook) -o saxpy)
        prints 'Passed!' env LD_LIBRARY_PATH="$libraries" "$work/saxpy"
        ;;
    i686-unknown-linux-gnu) prints 8.75 in_i386 env LD_LIBRARY_PATH=/tmp/dist-check/recal/lib /tmp/dist-check/recal/bin/hello ;;
    aarch64-unknown-linux-gnu)
        prints 8.75 qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$libraries" "$out"
        ;;
    x86_64-pc-windows-gnu) prints 8.75 env WINEPREFIX="$PWD/target/recal/$target/wine" WINEDEBUG=-all wine "$out" ;;
    i686-pc-windows-gnu) prints 8.75 in_i386 env WINEPREFIX=/tmp/recal-wine WINEDEBUG=-all wine /tmp/dist-check/recal/bin/hello.exe ;;
    esac
    rm -rf "$folder/recal" "$guest"
    echo "$target: the archive's hello prints 8.75"
}

packages() {
    set --
    for package in librecal librecal-dev recal recal-brook; do
        set -- "$@" "$dist/${package}_${version}_$deb.deb"
    done
    if command -v lintian >/dev/null 2>&1; then
        # Nobody's address, as packaging/README.md says.
        lintian --fail-on error,warning --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$@" || fail "$deb: lintian"
    else
        echo "$deb: lintian is not installed"
    fi
    if [ "$deb" = i386 ]; then
        root=$RECAL_I386
        mkdir -p "$root/tmp/dist-check"
        cp "$@" "$root/tmp/dist-check/"
        contents "$root" >"$work/before"
        in_i386 sh -c 'dpkg -i /tmp/dist-check/*.deb' >/dev/null
    else
        root=$work/root
        mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/log"
        : >"$root/var/lib/dpkg/status"
        contents "$root" >"$work/before"
        as_root dpkg --root="$root" --force-depends --force-architecture --log=/dev/null -i "$@" >"$work/log" 2>&1 ||
            { cat "$work/log" >&2; fail "$deb: dpkg -i"; }
    fi
    libraries=$root/usr/lib/$multiarch
    "${tools}gcc" -Wall -Wextra "$work/hello.c" -I"$root/usr/include/CAL" -L"$libraries" -laticalrt -laticalcl -o "$work/hello"
    functions=$("${tools}objdump" -T "$libraries/libaticalrt.so" "$libraries/libaticalcl.so" |
        sed -n 's/.* \(cal\(cl\)\{0,1\}[A-Z][A-Za-z0-9]*\)$/\1/p')
    [ "$(echo "$functions" | wc -l)" = 51 ] || fail "$deb: the libraries export $functions"
    for name in $functions; do
        [ -e "$root/usr/share/man/man3/$name.3.gz" ] || fail "$deb: there is no man page of $name"
    done
    for page in man1/recal.1 man7/amd-il.7; do
        [ -e "$root/usr/share/man/$page.gz" ] || fail "$deb: there is no man page $page"
    done
    case $deb in
    i386)
        cp "$work/hello" "$root/tmp/dist-check/"
        prints 8.75 in_i386 /tmp/dist-check/hello
        in_i386 recal doctor --json >"$work/doctor"
        in_i386 sh -c 'brcc -h 2>&1' | grep -q 'usage: brcc'
        in_i386 dpkg -P recal-brook recal librecal-dev librecal >/dev/null
        ;;
    *)
        run=
        [ "$deb" != arm64 ] || run="qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$libraries"
        # shellcheck disable=SC2086 # words
        prints 8.75 env LD_LIBRARY_PATH="$libraries" $run "$work/hello"
        # shellcheck disable=SC2086 # words
        env LD_LIBRARY_PATH="$libraries" $run "$root/usr/bin/recal" doctor --json >"$work/doctor"
        as_root dpkg --root="$root" --force-architecture --log=/dev/null -P recal-brook recal librecal-dev librecal >/dev/null 2>&1
        ;;
    esac
    grep -q '"arch"' "$work/doctor" || fail "$deb: recal doctor printed $(cat "$work/doctor")"
    contents "$root" >"$work/after"
    diff "$work/before" "$work/after" || fail "$deb: removing the packages left this, or took it away"
    rm -rf "$work/root" "$RECAL_I386/tmp/dist-check"
    echo "$deb: packages installed, used, removed; nothing is left"
}

for target in $targets; do
    . scripts/target.sh
    machine || fail "$target: $why"
    i386_system || fail "there is no system for i386"
    archive
    [ -z "$deb" ] || packages
done
