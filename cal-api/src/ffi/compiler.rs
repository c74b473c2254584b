//! The compiler library: `recal_cl_*` symbols, which the `calcl*` functions of `libaticalcl.so` forward to.

use std::ffi::{CStr, CString, c_char, c_void};

use super::boundary::{self, Needs};
use super::error_text::Library;
use super::image::{block, free, image_at, object_at};
use super::show::Show;
use super::types::*;
use crate::error::{CalResult, Error, Result};
use crate::image::Image;
use crate::target::Target;

/// A listing, as the program's function takes it.
type Lines = Vec<CString>;

/// Runs the body of an entry point that makes a listing.
///
/// # Safety
/// The arguments are NULL or valid, as the entry point demands.
unsafe fn list<A: Show>(
    name: &'static str,
    argument: (&str, &str, A),
    logfunc: CALLogFunction,
    body: impl FnOnce(&mut dyn FnMut(&str)) -> Result<()>,
) -> std::result::Result<Lines, CalResult> {
    let mut lines = Lines::new();
    let arguments = |line: &mut String| {
        let (name, kind, value) = &argument;
        // SAFETY: the contract of this function.
        unsafe {
            boundary::argument(line, name, kind, value);
            boundary::argument(line, "logfunc", "CALLogFunction", &logfunc);
        }
    };
    boundary::enter(name, Library::Compiler, Needs::Nothing, &[], arguments, |_| {
        logfunc.ok_or_else(|| Error::invalid("logfunc: NULL"))?;
        body(&mut |line| lines.push(CString::new(line.replace('\0', " ")).unwrap_or_default()))
    })?;
    Ok(lines)
}

/// Hands a listing to the program's function, line by line. What it throws passes through here to the program: this is
/// behind the boundary's end, where nothing is held but the lines.
///
/// # Safety
/// The function takes a NUL-terminated text.
unsafe fn hand_over(lines: std::result::Result<Lines, CalResult>, logfunc: CALLogFunction) -> CalResult {
    match (lines, logfunc) {
        (Ok(lines), Some(logfunc)) => {
            for line in &lines {
                // SAFETY: the contract of this function.
                unsafe { logfunc(line.as_ptr()) };
            }
            CalResult::Ok
        }
        (lines, _) => lines.map_or_else(|code| code, |_| CalResult::Ok),
    }
}

/// Calls `logfunc` with the listing, line by line, newlines included.
///
/// # Safety
/// Pointers are NULL or valid for what the function reads through them; `logfunc` takes a NUL-terminated text.
#[unsafe(export_name = "recal_cl_DisassembleImage")]
pub unsafe extern "system-unwind" fn calclDisassembleImage(
    image: CALimage,
    logfunc: CALLogFunction,
) -> CalResult {
    let argument = ("image", "CALimage", image);
    // SAFETY: NULL or the address of an image by the contract of the function.
    let body = |line: &mut dyn FnMut(&str)| unsafe { image_at(image) }?.disassemble(line);
    // SAFETY: the contract of this function.
    unsafe { hand_over(list("calclDisassembleImage", argument, logfunc, body), logfunc) }
}

/// Calls `logfunc` with the listing of the object that `obj` points at, line by line, newlines included.
///
/// # Safety
/// As for [`calclDisassembleImage`].
#[unsafe(export_name = "recal_cl_DisassembleObject")]
pub unsafe extern "system-unwind" fn calclDisassembleObject(
    obj: *const CALobject,
    logfunc: CALLogFunction,
) -> CalResult {
    let body = |line: &mut dyn FnMut(&str)| {
        if obj.is_null() {
            return Err(Error::invalid("obj: NULL"));
        }
        // SAFETY: not NULL; points at an object by the contract of the function.
        unsafe { object_at(obj.read_unaligned()) }?.disassemble(line)
    };
    // SAFETY: the contract of this function.
    unsafe {
        hand_over(list("calclDisassembleObject", ("obj", "const CALobject*", obj), logfunc, body), logfunc)
    }
}

boundary! {
    /// Version of the compiler: 1.4.1734.
    #[unsafe(export_name = "recal_cl_GetVersion")]
    Compiler Nothing
    fn calclGetVersion(call; major: CALuint, minor: CALuint, imp: CALuint;) {
        let _ = call;
        Ok(super::system::VERSION)
    }

    /// Compiles IL text for a target. Works at any time.
    #[unsafe(export_name = "recal_cl_Compile")]
    Compiler Nothing
    fn calclCompile(call; obj: CALobject; language: CALlanguage, source: *const c_char, target: CALtarget) {
        let _ = call;
        crate::logger::start_from_env();
        if language != CAL_LANGUAGE_IL {
            return Err(Error::invalid(format!("language: {language} is not CAL_LANGUAGE_IL")));
        }
        if source.is_null() {
            return Err(Error::invalid("source: NULL"));
        }
        // SAFETY: not NULL; ends with NUL by the contract of the function.
        let text = unsafe { CStr::from_ptr(source) }.to_bytes();
        Ok((block(crate::compile(text, target)?.as_bytes())?,))
    }

    /// Links objects, each for another target, into an image.
    #[unsafe(export_name = "recal_cl_Link")]
    Compiler Nothing
    fn calclLink(call; image: CALimage; obj: *mut CALobject, objCount: CALuint) {
        let _ = call;
        if obj.is_null() || objCount == 0 {
            return Err(Error::invalid("obj, objCount: no object"));
        }
        let mut objects = Vec::new();
        for index in 0..objCount as usize {
            // SAFETY: not NULL, and valid for `objCount` objects by the contract of the function; reading stops at
            // a bad one.
            objects.push(unsafe { object_at(obj.add(index).read_unaligned()) }?);
        }
        let image = Image::link(&objects.iter().collect::<Vec<_>>())?;
        Ok((block(image.as_bytes())?,))
    }

    /// Frees an object.
    #[unsafe(export_name = "recal_cl_FreeObject")]
    Compiler Nothing
    fn calclFreeObject(call; ; obj: CALobject) {
        let _ = call;
        // SAFETY: NULL or a `malloc` block by the contract of the function.
        unsafe { free("obj", obj.cast()) }
    }

    /// Frees an image, wherever it came from.
    #[unsafe(export_name = "recal_cl_FreeImage")]
    Compiler Nothing
    fn calclFreeImage(call; ; image: CALimage) {
        let _ = call;
        // SAFETY: NULL or a `malloc` block by the contract of the function.
        unsafe { free("image", image.cast()) }
    }

    /// Would assemble device code of the original GPUs; there is none here to run it.
    #[unsafe(export_name = "recal_cl_AssembleObject")]
    Compiler Nothing
    fn calclAssembleObject(call; obj: CALobject; kind: CALenum, source: *const c_char, target: CALtarget) {
        let _ = call;
        if source.is_null() {
            return Err(Error::invalid("source: NULL"));
        }
        if kind > CAL_PROGRAM_TYPE_CS {
            return Err(Error::invalid(format!("type: {kind} is no CALCLprogramType")));
        }
        let target = Target::from_value(target)
            .ok_or_else(|| Error::invalid(format!("target: {target} is no value of CALtarget")))?;
        Err(Error::unsupported(format!(
            "the source is device code of {}, which no device here runs; compile IL with calclCompile",
            target.name
        )))
    }

    /// Bytes of an image as a file.
    #[unsafe(export_name = "recal_cl_ImageGetSize")]
    Compiler Nothing
    fn calclImageGetSize(call; size: CALuint; image: CALimage) {
        let _ = call;
        // SAFETY: NULL or the address of an image by the contract of the function.
        let image = unsafe { image_at(image) }?;
        let bytes = image.as_bytes().len();
        Ok((u32::try_from(bytes).map_err(|_| Error::failed(format!("image: {bytes} bytes")))?,))
    }

    /// Writes an image as a file.
    #[unsafe(export_name = "recal_cl_ImageWrite")]
    Compiler Nothing
    fn calclImageWrite(call; ; buffer: *mut c_void, size: CALuint, image: CALimage) {
        let _ = call;
        if buffer.is_null() {
            return Err(Error::invalid("buffer: NULL"));
        }
        // SAFETY: NULL or the address of an image by the contract of the function.
        let image = unsafe { image_at(image) }?;
        let bytes = image.as_bytes();
        if bytes.len() > size as usize {
            return Err(Error::failed(format!("size: {size} bytes, but the image has {}", bytes.len())));
        }
        // SAFETY: not NULL, and valid for `size` bytes by the contract of the function; `bytes` is a copy.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast::<u8>(), bytes.len()) };
        Ok(())
    }

    /// Compiler extensions: there are none.
    #[unsafe(export_name = "recal_cl_ExtSupported")]
    Compiler Nothing
    fn calclExtSupported(call; ; extid: CALextid) {
        let _ = call;
        Err(Error::unsupported(format!("extid: {extid:#x}: the compiler has no extensions")))
    }

    /// Compiler extensions: there are none.
    #[unsafe(export_name = "recal_cl_ExtGetProc")]
    Compiler Nothing
    fn calclExtGetProc(call; proc_: CALextproc; extid: CALextid, procname: *const c_char) {
        let _ = call;
        // SAFETY: NULL or NUL-terminated by the contract of the function.
        let name = unsafe { super::module::text_at("procname", procname) }?;
        Err(Error::unsupported(format!("extid: {extid:#x}: the compiler has no extensions, and no `{name}`")))
    }
}

/// Text about the most recent compiler error, diagnostics included; never NULL.
#[unsafe(export_name = "recal_cl_GetErrorString")]
pub extern "system" fn calclGetErrorString() -> *const c_char {
    boundary::error_text("calclGetErrorString", Library::Compiler)
}
