//! How arguments and results look in a trace: enumerators by name, handles in hex, texts quoted, structures unfolded.

use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write as _;

use super::types::*;
use crate::Format;
use crate::target::Target;

/// Characters of a text that are shown.
const SHOWN: usize = 48;
/// Grids of an array that are shown.
const GRIDS: u32 = 4;

/// A value that can be shown.
pub(super) trait Show {
    /// Appends the value; `kind` is its type as the entry point names it.
    ///
    /// # Safety
    /// Pointers are NULL or valid, as the function demands to which they were passed.
    unsafe fn show(&self, kind: &str, line: &mut String);
}

impl Show for u32 {
    unsafe fn show(&self, kind: &str, line: &mut String) {
        line.push_str(&word(*self, kind));
    }
}

/// A 32-bit value of a type of the headers.
fn word(value: u32, kind: &str) -> String {
    let constant = |prefixes: &[&str]| {
        let of_kind = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        CONSTANTS.iter().find(|(name, v)| *v == value && of_kind(name)).map(|(name, _)| (*name).to_owned())
    };
    let name = match kind {
        "CALformat" => Format::from_value(value).map(|format| format!("CAL_FORMAT_{}", format.name())),
        "CALtarget" => Target::from_value(value).map(|target| format!("CAL_TARGET_{}", target.name)),
        "CALlanguage" => constant(&["CAL_LANGUAGE_"]),
        "CALextid" => constant(&["CAL_EXT_", "CAL_PRIVATE_EXT_"]),
        "CALsamplerParameter" => constant(&["CAL_SAMPLER_PARAM_"]),
        "CALcountertype" => constant(&["CAL_COUNTER_"]),
        "CALresallocflags" if value != 0 && value <= 3 => {
            let bits = [
                (CAL_RESALLOC_GLOBAL_BUFFER, "CAL_RESALLOC_GLOBAL_BUFFER"),
                (CAL_RESALLOC_CACHEABLE, "CAL_RESALLOC_CACHEABLE"),
            ];
            let names: Vec<_> =
                bits.iter().filter(|(bit, _)| value & bit != 0).map(|(_, name)| *name).collect();
            Some(names.join("|"))
        }
        _ => None,
    };
    // Handles have their kind in the top bits.
    name.unwrap_or_else(|| if value >> 28 == 0 { value.to_string() } else { format!("{value:#x}") })
}

impl Show for f32 {
    unsafe fn show(&self, _: &str, line: &mut String) {
        // Writing to a string cannot fail; here and below.
        let _ = write!(line, "{self}");
    }
}

impl Show for *const c_char {
    /// The beginning of a text, and its length if that is not all.
    unsafe fn show(&self, _: &str, line: &mut String) {
        if self.is_null() {
            return line.push_str("NULL");
        }
        // SAFETY: not NULL, so it ends with NUL by the contract of this function.
        let text = unsafe { CStr::from_ptr(*self) }.to_bytes();
        let shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]);
        let _ = write!(line, "\"{}\"", shown.escape_debug());
        if text.len() > SHOWN {
            let _ = write!(line, "... ({} bytes)", text.len());
        }
    }
}

/// Appends what a pointer points at, read as `T`; NULL as such.
///
/// # Safety
/// The pointer is NULL or valid for reading.
unsafe fn pointee<T>(pointer: *const T, line: &mut String, show: impl FnOnce(T, &mut String)) {
    match pointer.is_null() {
        true => line.push_str("NULL"),
        // SAFETY: not NULL; valid by the contract of this function.
        false => show(unsafe { pointer.read_unaligned() }, line),
    }
}

impl Show for *const CALdomain {
    unsafe fn show(&self, _: &str, line: &mut String) {
        let domain = |d: CALdomain, line: &mut String| {
            let _ = write!(line, "{{{} x {} at ({}, {})}}", d.width, d.height, d.x, d.y);
        };
        // SAFETY: the contract of this function.
        unsafe { pointee(*self, line, domain) };
    }
}

fn grid(grid: &CALprogramGrid, line: &mut String) {
    let extent = |e: &CALdomain3D| format!("{} x {} x {}", e.width, e.height, e.depth);
    let (func, groups, block) = (word(grid.func, "CALfunc"), extent(&grid.gridSize), extent(&grid.gridBlock));
    let _ = write!(line, "{{func {func}, {groups} groups of {block}");
    if grid.flags != 0 {
        let _ = write!(line, ", flags {:#x}", grid.flags);
    }
    line.push('}');
}

impl Show for *mut CALprogramGrid {
    unsafe fn show(&self, _: &str, line: &mut String) {
        // SAFETY: the contract of this function.
        unsafe { pointee(*self, line, |g, line| grid(&g, line)) };
    }
}

impl Show for *mut CALprogramGridArray {
    unsafe fn show(&self, _: &str, line: &mut String) {
        let array = |array: CALprogramGridArray, line: &mut String| {
            let _ = write!(line, "{{{} grids", array.num);
            let shown = if array.gridArray.is_null() { 0 } else { array.num.min(GRIDS) };
            for index in 0..shown {
                line.push_str(if index == 0 { ": " } else { ", " });
                // SAFETY: valid for `num` grids by the contract of the function that it was passed to.
                grid(&unsafe { array.gridArray.add(index as usize).read_unaligned() }, line);
            }
            line.push_str(if shown < array.num { ", ...}" } else { "}" });
        };
        // SAFETY: the contract of this function.
        unsafe { pointee(*self, line, array) };
    }
}

impl Show for *const CALdomainparam {
    /// The parameters that are not zero.
    unsafe fn show(&self, _: &str, line: &mut String) {
        let params = |p: CALdomainparam, line: &mut String| {
            let vector = |v: CALvec4f| format!("({}, {}, {}, {})", v.x, v.y, v.z, v.w);
            let zero = CALvec4f { x: 0.0, y: 0.0, z: 0.0, w: 0.0 };
            let all = [p.param0, p.param1, p.param2, p.param3, p.param4, p.param5, p.param6, p.param7];
            let shown: Vec<String> = (all.iter().enumerate())
                .filter(|(_, p)| **p != CALparam { ul: zero, ll: zero, lr: zero })
                .map(|(n, p)| format!("param{n} {} {} {}", vector(p.ul), vector(p.ll), vector(p.lr)))
                .collect();
            let _ = write!(line, "{{{}}}", shown.join(", "));
        };
        // SAFETY: the contract of this function.
        unsafe { pointee(*self, line, params) };
    }
}

/// Pointers to what is opaque, or an output.
macro_rules! addresses {
    ($($t:ty),*) => { $(
        impl Show for $t {
            unsafe fn show(&self, _: &str, line: &mut String) {
                match self.is_null() {
                    true => line.push_str("NULL"),
                    false => _ = write!(line, "{self:?}"),
                }
            }
        }
    )* };
}
addresses!(
    *mut c_void,
    *const c_void,
    *mut u32,
    *mut CALobject,
    CALobject,
    CALimage,
    *const CALobject,
    *mut CALdeviceinfo,
    *mut CALdeviceattribs,
    *mut CALdevicestatus,
    *mut CALfuncInfo
);

impl Show for CALLogFunction {
    unsafe fn show(&self, _: &str, line: &mut String) {
        line.push_str(if self.is_some() { "function" } else { "NULL" });
    }
}
