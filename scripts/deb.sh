#!/bin/sh
# deb.sh TARGET OUT: Debian packages of what build-libs.sh and build-brook.sh built for a target of Linux: librecal (the libraries),
# librecal-dev (what programs are built with), recal (the command) and recal-brook (Brook+). packaging/debian/control has the
# descriptions. The libraries of several architectures can be installed together. TOOL: as for install.sh.
set -eu
target=$1
out=$2
cd "$(dirname "$0")/.."
. scripts/target.sh
[ -n "$deb" ] || { echo "deb.sh: no Debian architecture is $target" >&2; exit 1; }
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
export STRIP="${tools}strip" STRIP_LIBRARIES=--strip-unneeded
sh scripts/install.sh "target/recal/$target/lib" /usr "$work/all" "lib/$multiarch"
sh scripts/install-brook.sh "target/recal/$target/brook" /usr "$work/all" "lib/$multiarch"
rm -r "$work/all/usr/share/recal"
mv "$work/all/usr/share/zsh/site-functions" "$work/all/usr/share/zsh/vendor-completions"

move() { # package, paths under usr
    package=$1
    shift
    for path in "$@"; do
        mkdir -p "$work/$package/usr/$(dirname "$path")"
        mv "$work/all/usr/$path" "$work/$package/usr/$path"
    done
}
move librecal "lib/$multiarch/libaticalrt.so" "lib/$multiarch/libaticalcl.so" "lib/$multiarch/libaticaldd.so"
move recal-brook bin/brcc "lib/$multiarch/libbrook.so" include/brook "lib/$multiarch/pkgconfig/brook.pc" "lib/$multiarch/cmake/Brook"
move librecal-dev include "lib/$multiarch/pkgconfig" "lib/$multiarch/cmake" share/man/man3
move recal bin share
gzip -9n "$work"/recal/usr/share/man/man*/* "$work"/librecal-dev/usr/share/man/man*/*
left=$(find "$work/all" -type f)
[ -z "$left" ] || { echo "deb.sh: no package has $left" >&2; exit 1; }

# What files ask of the C library; its packages are as old as the newest version of a symbol.
needs() { # files
    newest=$(for file in "$@"; do "${tools}objdump" -T "$file"; done | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu | tail -n 1)
    echo "libc6 (>= $newest), libgcc-s1 (>= 4.2)"
}
fields() { # package: its paragraph in control, comments and fields of the sources left out
    sed -n "/^Package: $1\$/,/^\$/p" packaging/debian/control | sed '/^$/d'
}
for package in librecal librecal-dev recal recal-brook; do
    root=$work/$package
    mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$package"
    cp packaging/debian/copyright "$root/usr/share/doc/$package/"
    gzip -9nc packaging/debian/changelog >"$root/usr/share/doc/$package/changelog.gz"
    if [ "$package" = recal ]; then
        cp README.md docs/*.md "$root/usr/share/doc/recal/"
        mkdir -p "$root/usr/share/doc/recal/examples"
        cp samples/c/* "$root/usr/share/doc/recal/examples/"
    fi
    if [ -f "packaging/debian/$package.lintian-overrides" ]; then
        mkdir -p "$root/usr/share/lintian/overrides"
        cp "packaging/debian/$package.lintian-overrides" "$root/usr/share/lintian/overrides/$package"
    fi
    binaries=$(find "$root" \( -name '*.so' -o -path '*/bin/*' \) -type f)
    # shellcheck disable=SC2086 # names of ours, without spaces
    shlibs=$([ -z "$binaries" ] || needs $binaries)
    # Depends may stand on one line only.
    fields "$package" | sed \
        -e "s/^Architecture: .*/Architecture: $deb/" \
        -e "s/\${binary:Version}/$version/g" \
        -e "s/\${shlibs:Depends}/$shlibs/" -e 's/\${misc:Depends}//' \
        -e '/^Depends:/{s/, *,/,/g;s/: *, */: /;s/, *$//;}' -e '/^Depends: *$/d' >"$work/fields"
    {
        sed -n '1p' "$work/fields"
        echo "Version: $version"
        sed -n '/^Architecture:/p' "$work/fields"
        sed -n 's/^Maintainer:/&/p;/^Priority:/p' packaging/debian/control | head -n 2
        echo "Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)"
        sed '1d;/^Architecture:/d' "$work/fields"
    } >"$root/DEBIAN/control"
    [ "$package" != recal ] || sed -i "s/^Section:.*/Section: utils/" "$root/DEBIAN/control"
    (cd "$root" && find usr -type f | sort | xargs md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -type d -exec chmod 755 {} +
    find "$root" -type f ! -path '*/bin/*' -exec chmod 644 {} +
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz -z9 --build "$root" "$out/${package}_${version}_$deb.deb" >/dev/null
done
