//! `CAL_TRACE` shows what a program passes, in words. A process of its own: the variable is read by `calInit`.

#[allow(clippy::macro_metavars_in_unsafe)]
mod support;

use std::ffi::CString;
use std::ptr;

use recal::ffi::types::*;
use recal::ffi::*;
use support::ADD;

#[test]
fn calls_are_shown_in_words() {
    let path = std::env::temp_dir().join(format!("recal-calls-{}", std::process::id()));
    // SAFETY: this is the only test of the process.
    unsafe {
        std::env::set_var("CAL_TRACE", &path);
        std::env::set_var("CAL_BACKEND", "cpu");
    }
    // Twice: the second does not empty the file.
    for _ in 0..2 {
        calls();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    // Without what differs: handles, addresses and times.
    let lines: Vec<String> = text.lines().map(plain).collect();
    let expected = "\
calInit() = CAL_RESULT_OK
calDeviceOpen(ordinal = 0) -> dev #1 = CAL_RESULT_OK
calCtxCreate(dev = #1) -> ctx #2 = CAL_RESULT_OK
calclCompile(language = CAL_LANGUAGE_IL, source = \"il_ps_2_0\\ndcl_input_position_interp(linear_noper\"... (LEN bytes), \
target = CAL_TARGET_CYPRESS) -> obj @ = CAL_RESULT_OK
calclCompile(language = 7, source = \"end\\\"\\t\", target = 99) = CAL_RESULT_INVALID_PARAMETER: language: 7 is not CAL_LANGUAGE_IL
calclGetErrorString() = \"calclCompile: language: 7 is not CAL_LANGUAGE_IL\"
calclCompile(language = CAL_LANGUAGE_IL, source = NULL, target = CAL_TARGET_770) = CAL_RESULT_INVALID_PARAMETER: source: NULL
calclLink(obj = @, objCount = 1) -> image @ = CAL_RESULT_OK
calModuleLoad(ctx = #2, image = @) -> module #5 = CAL_RESULT_OK
calModuleGetEntry(ctx = #2, module = #5, procName = \"main\") -> func #6 = CAL_RESULT_OK
calModuleGetName(ctx = #2, module = #5, varName = \"o9\") = CAL_RESULT_ERROR: varName: the kernel has no `o9`; it has i0, o0, cb0, s0
calResAllocLocal2D(dev = #1, width = 64, height = 32, format = CAL_FORMAT_FLOAT32_4, flags = CAL_RESALLOC_GLOBAL_BUFFER) \
-> res #3 = CAL_RESULT_OK
calResAllocLocal1D(dev = #1, width = 64, format = CAL_FORMAT_UNORM_INT8_1, flags = 0) -> res #3 = CAL_RESULT_OK
calResAllocLocal1D(dev = #1, width = 64, format = 200, flags = 0) = CAL_RESULT_INVALID_PARAMETER: format: 200 is no value of CALformat
calCtxRunProgram(ctx = #2, func = #6, domain = {64 x 32 at (4, 8)}) = CAL_RESULT_ERROR: nothing is bound to i0, o0, cb0
calCtxRunProgram(ctx = #2, func = #6, domain = NULL) = CAL_RESULT_INVALID_PARAMETER: domain: NULL
calCtxRunProgramGrid(ctx = #2, pProgramGrid = {func #6, 2 x 3 x 4 groups of 64 x 1 x 1}) = CAL_RESULT_ERROR: func: a pixel kernel runs on a domain, not on a grid
calCtxRunProgramGridArray(ctx = #2, pGridArray = {1 grids: {func #6, 2 x 3 x 4 groups of 64 x 1 x 1}}) = \
CAL_RESULT_ERROR: grid 0: func: a pixel kernel runs on a domain, not on a grid
calExtSupported(extid = CAL_EXT_COMPUTE_SHADER) = CAL_RESULT_OK
calShutdown() = CAL_RESULT_OK";
    let expected = expected.replace("LEN", &ADD.len().to_string());
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(lines.len(), 2 * expected.len(), "{text}");
    for (line, expected) in lines.iter().zip(expected.iter().cycle()) {
        assert_eq!(line, expected, "{text}");
    }
}

fn calls() {
    let text = CString::new(ADD).unwrap();
    let (mut device, mut context, mut module, mut func, mut name, mut event) = (0, 0, 0, 0, 0, 0);
    let (mut object, mut image) = (ptr::null_mut(), ptr::null_mut());
    let mut resources = [0; 3];
    let domain = CALdomain { x: 4, y: 8, width: 64, height: 32 };
    // SAFETY: pointers to locals that outlive the calls, or NULL.
    unsafe {
        calInit();
        calDeviceOpen(&mut device, 0);
        calCtxCreate(&mut context, device);
        calclCompile(&mut object, CAL_LANGUAGE_IL, text.as_ptr(), 8);
        calclCompile(&mut ptr::null_mut(), 7, c"end\"\t".as_ptr(), 99);
        calclGetErrorString();
        calclCompile(&mut ptr::null_mut(), CAL_LANGUAGE_IL, ptr::null(), 5);
        calclLink(&mut image, &mut object, 1);
        calModuleLoad(&mut module, context, image);
        calModuleGetEntry(&mut func, context, module, c"main".as_ptr());
        calModuleGetName(&mut name, context, module, c"o9".as_ptr());
        calResAllocLocal2D(&mut resources[0], device, 64, 32, 13, CAL_RESALLOC_GLOBAL_BUFFER);
        calResAllocLocal1D(&mut resources[1], device, 64, 0, 0);
        calResAllocLocal1D(&mut resources[2], device, 64, 200, 0);
        calCtxRunProgram(&mut event, context, func, &domain);
        calCtxRunProgram(&mut event, context, func, ptr::null());
        let extent = |width, height, depth| CALdomain3D { width, height, depth };
        let mut grid =
            CALprogramGrid { func, gridBlock: extent(64, 1, 1), gridSize: extent(2, 3, 4), flags: 0 };
        calCtxRunProgramGrid(&mut event, context, &mut grid);
        let mut array = CALprogramGridArray { gridArray: &mut grid, num: 1, flags: 0 };
        calCtxRunProgramGridArray(&mut event, context, &mut array);
        calExtSupported(CAL_EXT_COMPUTE_SHADER);
        calShutdown();
    }
}

/// A line with its handles by kind, `@` for addresses and no time.
fn plain(line: &str) -> String {
    let (call, time) = line.rsplit_once(" [").unwrap();
    assert!(time.ends_with(" us]"), "{line}");
    let mut out = String::new();
    let mut rest = call;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len() - at - 2);
        let number = &rest[at + 2..at + 2 + digits];
        out += &rest[..at];
        // An address may have as many digits as a handle.
        let address = [" obj ", " image ", "(obj = ", " image = "].iter().any(|before| out.ends_with(before));
        out += &if address { "@".into() } else { format!("#{}", &number[..1]) };
        rest = &rest[at + 2 + digits..];
    }
    out + rest
}
