#!/bin/sh
# platforms.sh [--quick] [TARGET...]: builds the libraries for other systems and processors, and runs with them samples and C
# programs, the conformance cases, and the tests of the API and the CPU backend: 32-bit Linux as it is and on Mesa's software
# driver, Arm under qemu, Windows under Wine. What is for macOS is compiled only. Then documentation for each. All without TARGET.
#
# --quick is sooner done: libraries built as tests are, no drivers, and the most telling parts first.
# PLATFORMS_MINUTES ends it after so many minutes; what was not run by then is told as such, and is no failure.
#
# Installs what is missing (scripts/machine.sh). What is not to be had here is said, and fails at the end unless
# PLATFORMS_MAY_LACK=1 or with --quick.
set -eu
cd "$(dirname "$0")/.."
. scripts/machine.sh
profile=release
skip=
if [ "${1:-}" = --quick ]; then
    profile=dev
    skip="--skip lavapipe"
    PLATFORMS_MAY_LACK=1
    shift
fi
targets=${*:-i686-unknown-linux-gnu x86_64-pc-windows-gnu i686-pc-windows-gnu aarch64-unknown-linux-gnu
    x86_64-apple-darwin aarch64-apple-darwin}
begun=$(date +%s)
report=$(mktemp)
trap 'rm -f "$report"; leave_i386' EXIT
lacking=
failed=

say() { # target, part, result, seconds
    printf '%-26s %-10s %-40s %s\n' "$1" "$2" "$3" "${4:+$4 s}" >>"$report"
}
time_is_left() { # part: in $limit the seconds, 0 for any number
    limit=0
    [ -n "${PLATFORMS_MINUTES:-}" ] || return 0
    limit=$((begun + PLATFORMS_MINUTES * 60 - $(date +%s)))
    [ "$limit" -gt 0 ] || { say "$target" "$1" "not run: no time was left"; return 1; }
}
part() { # part, command: of $target, in the time that is left
    name=$1
    shift
    time_is_left "$name" || return 1
    from=$(date +%s)
    status=0
    timeout -k 20 "$limit" "$@" || status=$?
    seconds=$(($(date +%s) - from))
    case $status in
    0) say "$target" "$name" passed "$seconds" ;;
    124 | 137)
        say "$target" "$name" "not run to the end: no time was left" "$seconds"
        return 1
        ;;
    *)
        say "$target" "$name" FAILED "$seconds"
        failed=1
        return 1
        ;;
    esac
}
lack() { # target, part, why
    say "$1" "$2" "not run: $3"
    lacking=1
}

usable=
documented=
for target in $targets; do
    . scripts/target.sh
    time_is_left all || continue
    MACHINE_SECONDS=$limit
    machine || { lack "$target" all "$why"; continue; }
    if [ "$system" = macos ]; then
        part check sh scripts/rust-tests.sh "$target" check && documented="$documented $target"
        continue
    fi
    # Reads the headers as Microsoft's compiler does; the programs' tests tell when it is not there.
    [ "$system" != windows ] || want clang clang || true
    [ "$target$profile" != i686-unknown-linux-gnurelease ] || i386_system ||
        lack "$target" lavapipe "there is no system for i386"
    part libraries sh scripts/build-libs.sh "target/recal/$target/lib" "$profile" "$target" || continue
    part brook sh scripts/build-brook.sh "target/recal/$target/brook" "$profile" "$target" || continue
    # shellcheck disable=SC2086 # two words or none
    part programs env RECAL_PLATFORMS="$target" "${CARGO:-cargo}" test -p recal-conformance --test c_programs -- platforms:: \
        --test-threads=2 $skip || true
    usable="$usable $target"
    documented="$documented $target"
done
for name in api cases cpu; do
    for target in $usable; do
        case $name:$target in
        cases:i686-pc-windows-gnu | cpu:*-windows-* | cpu:i686-*) continue ;;
        esac
        part "$name" sh scripts/rust-tests.sh "$target" "$name" || true
    done
done
for target in $documented; do
    part docs sh scripts/rust-tests.sh "$target" docs || true
done

cat "$report"
[ -z "$failed" ] || exit 1
[ -z "$lacking" ] || [ -n "${PLATFORMS_MAY_LACK:-}" ]
