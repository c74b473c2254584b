//! `calGetErrorString` and `calclGetErrorString`: one text per library, for the whole process.
//!
//! A pointer that was given out stays valid while the next [`KEPT`] different texts are given out, so that a thread
//! may print a text although another thread failed meanwhile.

use std::collections::VecDeque;
use std::ffi::{CString, c_char};

use recal_hal::sync::Mutex;

const KEPT: usize = 256;

/// Which library a call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// `libaticalrt.so`
    Runtime,
    /// `libaticalcl.so`. Its failures are visible from both libraries.
    Compiler,
}

/// The texts of both libraries.
pub(super) struct ErrorTexts {
    texts: Mutex<[Option<String>; 2]>,
    given: Mutex<VecDeque<CString>>,
}

impl ErrorTexts {
    pub(super) const fn new() -> Self {
        Self { texts: Mutex::new([None, None]), given: Mutex::new(VecDeque::new()) }
    }

    pub(super) fn set(&self, library: Library, text: String) {
        let mut texts = self.texts.lock();
        if library == Library::Compiler {
            texts[1] = Some(text.clone());
        }
        texts[0] = Some(text);
    }

    /// The latest text; never NULL.
    pub(super) fn get(&self, library: Library) -> *const c_char {
        let text = {
            let texts = self.texts.lock();
            let text = &texts[if library == Library::Compiler { 1 } else { 0 }];
            match text {
                Some(text) => CString::new(text.replace('\0', " ")).unwrap_or_default(),
                None => return c"no error".as_ptr(),
            }
        };
        let mut given = self.given.lock();
        if let Some(same) = given.iter().rev().find(|t| **t == text) {
            return same.as_ptr();
        }
        if given.len() == KEPT {
            given.pop_front();
        }
        given.push_back(text);
        given.back().map_or(c"no error".as_ptr(), |t| t.as_ptr())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn read(pointer: *const c_char) -> String {
        // SAFETY: `get` returns a NUL-terminated text that is kept.
        unsafe { CStr::from_ptr(pointer) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn texts_are_kept_and_compiler_errors_are_seen_by_both() {
        let texts = ErrorTexts::new();
        assert_eq!(read(texts.get(Library::Runtime)), "no error");
        texts.set(Library::Compiler, "line 1: bad\0char".into());
        let early = texts.get(Library::Runtime);
        assert_eq!(read(early), "line 1: bad char");
        assert_eq!(texts.get(Library::Runtime), early, "asking does not change anything");
        for n in 0..100 {
            texts.set(Library::Runtime, format!("error {n}"));
            assert_eq!(read(texts.get(Library::Runtime)), format!("error {n}"));
        }
        assert_eq!(read(early), "line 1: bad char");
        assert_eq!(read(texts.get(Library::Compiler)), "line 1: bad char");
    }
}
