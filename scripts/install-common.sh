# What the scripts that install share; they have set here, prefix, root and libdir.

# From the folder of libraries back to the prefix.
up=$(echo "$libdir" | sed 's|[^/][^/]*|..|g')
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)

# What lies there by these scripts, for uninstall.sh.
list=$root/share/recal/$(echo "$libdir" | tr / -).files
installed() { # path under the prefix
    mkdir -p "$root/share/recal"
    grep -qxF "$1" "$list" 2>/dev/null || echo "$1" >>"$list"
    chmod 644 "$list"
}
put() { # mode, folder, files
    mode=$1
    folder=$2
    shift 2
    mkdir -p "$root/$folder"
    for file in "$@"; do
        install -m "$mode" "$file" "$root/$folder/"
        installed "$folder/$(basename "$file")"
    done
}
fill() { # template, folder, mode 644
    mkdir -p "$root/$2"
    sed -e "s|@PREFIX@|${PC_PREFIX:-$prefix}|g" -e "s|@LIBDIR@|$libdir|g" -e "s|@UP@|$up|g" -e "s|@VERSION@|$version|g" "$here/templates/$1.in" >"$root/$2/$1"
    chmod 644 "$root/$2/$1"
    installed "$2/$1"
}
slim() { # options, file: line tables are for who builds it; nothing that programs link is touched
    if [ -z "${KEEP_DEBUG:-}" ] && command -v "${STRIP:-strip}" >/dev/null 2>&1; then
        "${STRIP:-strip}" "$@"
    fi
}
