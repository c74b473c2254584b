# Sourced with a target of Rust in $target. Sets
#   tools   what the names of GNU's tools for it begin with
#   system  linux or windows
#   deb     Debian's name of the architecture, and multiarch its name in paths; both empty for Windows
deb=
multiarch=
system=linux
case $target in
x86_64-unknown-linux-gnu) tools=x86_64-linux-gnu- deb=amd64 multiarch=x86_64-linux-gnu ;;
i686-unknown-linux-gnu) tools=i686-linux-gnu- deb=i386 multiarch=i386-linux-gnu ;;
aarch64-unknown-linux-gnu) tools=aarch64-linux-gnu- deb=arm64 multiarch=aarch64-linux-gnu ;;
x86_64-pc-windows-gnu) tools=x86_64-w64-mingw32- system=windows ;;
i686-pc-windows-gnu) tools=i686-w64-mingw32- system=windows ;;
*)
    echo "$target is no target of ours" >&2
    exit 1
    ;;
esac
