#![no_main]
// Every input initialises the runtime anew, and looking for GPUs would take most of the time.
libfuzzer_sys::fuzz_target!(
    init: {
        // SAFETY: libFuzzer calls this before it starts any thread of its own or of ours.
        unsafe { std::env::set_var("CAL_BACKEND", "cpu") };
    },
    |data: &[u8]| recal_fuzz_targets::api(data)
);
