//! Methods that both targets have alike.

/// What both targets do with addresses on the stack and in registers.
macro_rules! keeping_addresses {
    () => {
        fn addresses(&self) -> u8 {
            x86::ADDRESSES.len() as u8
        }

        fn fetch_further(&self, code: &mut Code, at: u32, bytes: u32) {
            x86::fetch_further(code, at, bytes);
        }

        fn take_address(&self, code: &mut Code, at: u32) {
            x86::take_address(code, at);
        }

        fn word_to_stack(&self, code: &mut Code, at: u32) {
            x86::word_to_stack(code, at);
        }

        fn view_to_stack(&self, code: &mut Code, view: u8, at: u32) {
            x86::view_to_stack(code, view, at);
        }

        fn keep_address(&self, code: &mut Code, to: u8) {
            x86::keep_address(code, to);
        }

        fn fetch_ahead(&self, code: &mut Code, at: u32, bytes: u32) {
            x86::fetch_ahead(code, at, bytes);
        }
    };
}
pub(in crate::target) use keeping_addresses;
