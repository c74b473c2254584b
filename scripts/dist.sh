#!/bin/sh
# dist.sh OUT [TARGET...]: archives and Debian packages of libraries, headers and commands, Brook+ with them, and SHA256SUMS. All five
# targets without TARGET. The same sources, compilers and SOURCE_DATE_EPOCH (the time of the last commit) give the same bytes.
set -eu
out=${1:?usage: dist.sh OUT [TARGET...]}
shift
cd "$(dirname "$0")/.."
targets=${*:-x86_64-unknown-linux-gnu i686-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu i686-pc-windows-gnu}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
LC_ALL=C TZ=UTC
export SOURCE_DATE_EPOCH LC_ALL TZ
umask 022
limit=$((6 << 20))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)

# The command for this machine tells the man pages of all.
host=$(rustc -vV | sed -n 's/^host: //p')
TOOL=$PWD/target/recal/$host/bin/recal
export TOOL
build() { # target
    [ -n "${NO_BUILD:-}" ] && return
    sh scripts/build-libs.sh "target/recal/$1/lib" release "$1"
    sh scripts/build-brook.sh "target/recal/$1/brook" release "$1"
}
case $targets in *-linux-*) build "$host" ;; esac

. scripts/machine.sh
want xz xz-utils && want zip zip && want dpkg-deb dpkg || {
    echo "dist.sh: xz, zip and dpkg-deb are needed" >&2
    exit 1
}
for target in $targets; do
    . scripts/target.sh
    compilers || {
        echo "dist.sh: $target: $why" >&2
        exit 1
    }
    [ "$target" = "$host" ] || build "$target"
    built=$PWD/target/recal/$target
    name=recal-$version-$target
    stage=$work/$name
    mkdir -p "$stage/share/doc/recal"
    cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$stage/"
    cp docs/environment.md docs/platforms.md docs/command.md docs/language.md docs/brook*.md "$stage/share/doc/recal/"
    case $system in
    linux)
        export STRIP="${tools}strip" STRIP_LIBRARIES=--strip-unneeded
        PC_PREFIX='${pcfiledir}/../..' sh scripts/install.sh "$built/lib" "$stage" ""
        PC_PREFIX='${pcfiledir}/../..' sh scripts/install-brook.sh "$built/brook" "$stage" ""
        rm -r "$stage/share/recal"
        ;;
    windows)
        # Libraries beside the command, where Windows looks for them.
        mkdir -p "$stage/bin" "$stage/lib" "$stage/include/CAL" "$stage/include/brook/CPU"
        cp cal-api/include/CAL/*.h "$stage/include/CAL/"
        cp brook/include/brook/*.h "$stage/include/brook/"
        cp brook/include/brook/CPU/*.h "$stage/include/brook/CPU/"
        cp "$built"/lib/*.dll "$built/bin/recal.exe" "$built/brook/brook.dll" "$built/brook/brcc.exe" "$stage/bin/"
        "${tools}strip" -s "$stage/bin/recal.exe" "$stage/bin/brcc.exe"
        for folder in lib brook; do
            cp "$built/$folder"/*.a "$built/$folder"/*.lib "$built/$folder"/*.def "$stage/lib/"
        done
        chmod 755 "$stage"/bin/*
        ;;
    esac
    find "$stage" -type d -exec chmod 755 {} +
    find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    case $system in
    linux)
        archive=$out/$name.tar.xz
        tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
            -cf - "$name" | xz -9e -T1 >"$archive"
        sh scripts/deb.sh "$target" "$out"
        ;;
    windows)
        # Three, which unpack into one folder: what every Windows unpacks compresses less.
        (
            cd "$work"
            pack() { # archive, paths
                zip_of=$1
                shift
                find "$@" | sort | zip -X -9 -q "$out/$zip_of-$version-$target.zip" -@
            }
            pack recal-command "$name/bin/recal.exe"
            pack recal-brook "$name"/bin/br* "$name"/lib/*brook* "$name/include/brook"
            rm -r "$name/bin/recal.exe" "$name"/bin/br* "$name"/lib/*brook* "$name/include/brook"
            find "$name" -type d -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
            pack recal "$name"
        )
        ;;
    esac
    rm -rf "$stage"
done
cd "$out"
for file in *; do
    if [ "$(stat -c %s "$file")" -gt "$limit" ]; then
        echo "dist.sh: $file has more than $limit bytes" >&2
        exit 1
    fi
done
sha256sum -- * >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" .
ls -l
