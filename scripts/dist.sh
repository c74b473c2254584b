#!/bin/sh
# dist.sh OUT [TARGET...]: archives and Debian packages of the libraries, headers and command, with SHA256SUMS. All five
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
[ -n "${NO_BUILD:-}" ] || sh scripts/build-libs.sh "target/recal/$host/lib" release "$host"

for target in $targets; do
    . scripts/target.sh
    [ -n "${NO_BUILD:-}" ] || [ "$target" = "$host" ] || sh scripts/build-libs.sh "target/recal/$target/lib" release "$target"
    built=$PWD/target/recal/$target
    name=recal-$version-$target
    stage=$work/$name
    mkdir -p "$stage/share/doc/recal"
    cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$stage/"
    cp docs/environment.md docs/platforms.md docs/command.md docs/language.md "$stage/share/doc/recal/"
    case $system in
    linux)
        STRIP=${tools}strip STRIP_LIBRARIES=--strip-unneeded PC_PREFIX='${pcfiledir}/../..' sh scripts/install.sh "$built/lib" "$stage" ""
        rm -r "$stage/share/recal"
        ;;
    windows)
        # Libraries beside the command, where Windows looks for them.
        mkdir -p "$stage/bin" "$stage/lib" "$stage/include/CAL"
        cp cal-api/include/CAL/*.h "$stage/include/CAL/"
        cp "$built"/lib/*.dll "$built/bin/recal.exe" "$stage/bin/"
        "${tools}strip" -s "$stage/bin/recal.exe"
        cp "$built"/lib/*.a "$built"/lib/*.lib "$built"/lib/*.def "$stage/lib/"
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
        archive=$out/$name.zip
        (cd "$work" && find "$name" | sort | zip -X -9 -q "$archive" -@)
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
