#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| recal_fuzz_targets::brook(data));
