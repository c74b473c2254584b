#!/bin/sh
# rust-tests.sh TARGET PART...: builds Rust tests for another system or processor and runs them, under qemu or Wine where needed. For
# macOS, where nothing is linked or run, there are the last two parts.
#   cpu     the tests of the CPU backend: encoders, compiled code and the evaluator (recal-jit), the engine (recal-cpu)
#   cases   every conformance case and random kernels on the CPU, compiled and interpreted
#   api     the tests of the API (recal): objects, work, images, extensions, limits
#   check   all that the workspace has compiles, tests included
#   docs    the documentation of the libraries has no warnings
# Installs what is missing: scripts/machine.sh.
set -eu
target=${1:?usage: rust-tests.sh TARGET PART...}
shift
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
. scripts/target.sh
. scripts/machine.sh
trap leave_i386 EXIT
machine || { echo "rust-tests.sh: $target: $why" >&2; exit 1; }
cross
runner

tests() {
    "$cargo" test --target "$target" "$@"
}
for part in "$@"; do
    case $part in
    cpu)
        # What is interpreted, evaluated or read back needs no particular processor: `make test` has it.
        [ "$target" != aarch64-unknown-linux-gnu ] || tests -p recal-jit --test jit -- "neon code"
        [ "$target" != aarch64-unknown-linux-gnu ] || tests -p recal-hal --lib float_env
        tests -p recal-cpu
        ;;
    cases)
        # Whatever else is asked about cases: not what they look like, which the host knows, but what they give.
        tests -p recal-suite --test conformance -- the_cpu_backend_passes_every_case
        tests -p recal-suite --test fuzzing -- the_cpu_backend_agrees_with_the_plain_interpreter
        ;;
    api)
        [ "$system" != windows ] || echo "rust-tests.sh: not on Windows: fork, hostile, leaks, which fork, set limits of Unix, count in /proc"
        skip=
        case $run in
        qemu*)
            # Children of a process with threads, of which no_child_hangs makes hundreds, end there by an assertion of qemu's own;
            # a_program_is_drawn makes one, too. nothing_grows would count the pages of qemu, which keeps what it translates. The
            # machine's Vulkan drivers are not for this processor.
            echo "rust-tests.sh: not under qemu: no_child_hangs a_program_is_drawn nothing_grows a_device_tells_its_times"
            skip="--skip no_child_hangs --skip a_program_is_drawn --skip nothing_grows --skip a_device_tells_its_times"
            # A program that starts itself wants a system that knows how to start programs for Arm.
            [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || {
                selves="huge_kernels rubbish_in_the_environment without_descriptors_memory_or_disk"
                echo "rust-tests.sh: not under qemu without binfmt_misc: $selves"
                for name in $selves; do skip="$skip --skip $name"; done
            }
            ;;
        esac
        case $target in
        i686-*-linux-*)
            # The machine's Vulkan drivers are for 64 bits.
            ls /usr/lib/i386-linux-gnu/libvulkan_*.so >/dev/null 2>&1 || {
                echo "rust-tests.sh: not without a 32-bit Vulkan driver: a_device_tells_its_times"
                skip="--skip a_device_tells_its_times"
            }
            ;;
        esac
        # shellcheck disable=SC2086 # words or none
        tests -p recal --lib --tests --no-fail-fast -- $skip
        ;;
    check) "$cargo" clippy --workspace --all-targets --target "$target" -- -D warnings ;;
    docs)
        RUSTDOCFLAGS="-D warnings" "$cargo" doc --no-deps --target "$target" -p recal-il -p recal-hal -p recal-reference -p recal-jit -p recal-cpu \
            -p recal-vulkan -p recal -p recal-brook -p recal-blas
        ;;
    *)
        echo "rust-tests.sh: there is no part $part" >&2
        exit 1
        ;;
    esac
done
