//! Prints sizes, offsets and values of the C ABI, one `kind name value` a line.

fn main() {
    for line in recal::ffi::abi_lines() {
        println!("{line}");
    }
}
