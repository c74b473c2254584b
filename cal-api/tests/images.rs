//! Objects and images: ELF bytes in `malloc` blocks, linked, written, read, freed by either library; hostile bytes.
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::ffi::{CStr, c_char, c_void};
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use proptest::prelude::*;
use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format, Image, Object};
use support::*;

/// A kernel with every class of symbol.
const ALL_SYMBOLS: &str = "il_ps_2_0\n\
    dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\n\
    dcl_output_generic o3\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    dcl_resource_id(5)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    dcl_cb cb0[3]\n\
    dcl_cb cb2[7]\n\
    dcl_literal l0, 0, 0, 0, 0\n\
    sample_resource(0)_sampler(1) r0, vWinCoord0.xy00\n\
    mov o0, r0\n\
    mov o3, cb0[0]\n\
    mov g[l0.x], r0\n\
    end\n";

fn bytes_of(image: CALimage) -> Vec<u8> {
    let mut size = 0;
    ok!(calclImageGetSize(&mut size, image));
    let mut bytes = vec![0xEEu8; size as usize + 8];
    expect!(Error, calclImageWrite(bytes.as_mut_ptr().cast(), size - 1, image));
    ok!(calclImageWrite(bytes.as_mut_ptr().cast(), size, image));
    assert!(bytes[size as usize..].iter().all(|&b| b == 0xEE));
    bytes.truncate(size as usize);
    bytes
}

#[test]
fn images_may_lie_anywhere() {
    let _session = start();
    let ctx = context(open(CPU));
    let bytes = bytes_of(image(NUMBER));
    let mut room = vec![0u8; bytes.len() + 8];
    for at in 0..8 {
        room[at..][..bytes.len()].copy_from_slice(&bytes);
        let (mut image, mut module) = (null_mut(), 0);
        ok!(calImageRead(&mut image, room[at..].as_ptr().cast(), bytes.len() as u32));
        ok!(calModuleLoad(&mut module, ctx, room[at..].as_mut_ptr().cast()));
        ok!(calImageFree(image));
    }
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no readelf")]
fn an_image_is_an_elf_file_as_cal_made_them() {
    let bytes = Image::from(recal::compile(ALL_SYMBOLS, 8).unwrap());
    let bytes = bytes.as_bytes();
    assert_eq!(&bytes[..4], b"\x7fELF");
    assert_eq!(
        (bytes[4], bytes[5], bytes[7], bytes[8]),
        (1, 1, 100, 1),
        "32-bit, little-endian, ABI 100, version 1"
    );
    assert_eq!(u16::from_le_bytes([bytes[18], bytes[19]]), 125);
    let path = std::env::temp_dir().join(format!("recal-image-{}.elf", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    // An independent reader agrees about notes, symbols and sections.
    let output = Command::new("readelf").args(["-W", "-a"]).arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    let output = output.expect("readelf runs: scripts/install-test-deps.sh installs it");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for wanted in ["ATI CAL", ".il", ".symtab", ".strtab", ".shstrtab", "NOTE", "LOAD"] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    for symbol in ["i0", "i5", "o0", "o3", "cb0", "cb2", "g[]", "s1"] {
        assert!(text.lines().any(|l| l.ends_with(&format!(" {symbol}"))), "{symbol}\n{text}");
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.to_lowercase().contains("error"), "{errors}");
}

#[test]
fn images_are_written_read_and_freed_by_either_library() {
    let _session = start();
    let ctx = context(open(CPU));
    let original = image(ALL_SYMBOLS);
    let bytes = bytes_of(original);
    let mut copy = null_mut();
    ok!(calImageRead(&mut copy, bytes.as_ptr().cast(), bytes.len() as u32));
    assert_eq!(bytes_of(copy), bytes);
    // A raw malloc'ed copy of the file serves as an image too.
    // SAFETY: a block of that size.
    let raw = unsafe {
        let raw = libc::malloc(bytes.len());
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), raw.cast::<u8>(), bytes.len());
        raw as CALimage
    };
    let mut modules = [0; 3];
    for (module, image) in modules.iter_mut().zip([original, copy, raw]) {
        ok!(calModuleLoad(module, ctx, image));
    }
    ok!(calImageFree(original));
    ok!(calclFreeImage(copy));
    ok!(calclFreeImage(raw));
    for module in modules {
        for symbol in [c"i0", c"i5", c"o0", c"o3", c"cb0", c"cb2", c"g[]", c"s1"] {
            name(ctx, module, symbol);
        }
    }
    let mut module = 9;
    expect!(InvalidParameter, calModuleLoad(&mut module, ctx, null_mut()));
    expect!(InvalidParameter, calImageRead(&mut copy, null(), 5));
    expect!(Error, calImageRead(&mut copy, bytes.as_ptr().cast(), bytes.len() as u32 - 1));
    expect!(Error, calImageRead(&mut copy, bytes.as_ptr().cast(), 0));
    assert!(copy.is_null());
}

#[test]
fn one_image_serves_several_targets() {
    let _session = start();
    let ctx = context(open(CPU));
    let mut objects = [compile(FILL, 5).unwrap(), compile(ADD, 8).unwrap(), compile(FILL, 15).unwrap()];
    let mut image = null_mut();
    ok!(calclLink(&mut image, objects.as_mut_ptr(), 3));
    let mut module = 0;
    ok!(calModuleLoad(&mut module, ctx, image));
    // The device is Cypress: ADD, which has an input.
    name(ctx, module, c"i0");
    ok!(calImageFree(image));
    // Two for the same target; none for this or an older one.
    objects[2] = objects[0];
    expect!(Error, calclLink(&mut image, objects.as_mut_ptr(), 3));
    assert!(image.is_null() && compiler_error().contains("770"), "{}", compiler_error());
    let mut newer = [compile(FILL, 15).unwrap()];
    ok!(calclLink(&mut image, newer.as_mut_ptr(), 1));
    expect!(Error, calModuleLoad(&mut module, ctx, image));
    assert!(module == 0 && error().contains("CAYMAN"), "{}", error());
    // Older code runs.
    ok!(calclLink(&mut image, objects.as_mut_ptr(), 1));
    ok!(calModuleLoad(&mut module, ctx, image));
    expect!(InvalidParameter, calclLink(&mut image, objects.as_mut_ptr(), 0));
    expect!(InvalidParameter, calclLink(&mut image, null_mut(), 1));
    objects[1] = null_mut();
    expect!(InvalidParameter, calclLink(&mut image, objects.as_mut_ptr(), 2));
}

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C-unwind" fn collect(line: *const c_char) {
    // SAFETY: the library passes NUL-terminated text.
    LINES.lock().unwrap().push(unsafe { CStr::from_ptr(line) }.to_str().unwrap().to_owned());
}

#[test]
fn listings_come_line_by_line() {
    let _alone = alone();
    let object = compile(ADD, 8).unwrap();
    ok!(calclDisassembleObject(&object, Some(collect)));
    let from_object = std::mem::take(&mut *LINES.lock().unwrap());
    assert!(
        from_object.len() > 8
            && from_object.iter().all(|l| l.ends_with('\n') && l.matches('\n').count() == 1)
    );
    assert!(from_object.iter().any(|l| l.contains("sample_resource(0)_sampler(0)")));
    // IL first, then code of the chip and the module, which both add.
    let heading = |text: &str| from_object.iter().position(|l| l.contains(text)).unwrap();
    assert!(
        heading("program, IL") < heading("sample_resource")
            && heading("end\n") < heading("program, ISA (a model)")
    );
    assert!(heading("program, ISA") < heading(": ADD ") && heading(": ADD ") < heading("program, SPIR-V"));
    assert!(
        heading("program, SPIR-V") < heading("OpEntryPoint") && heading("OpEntryPoint") < heading("OpFAdd")
    );
    let image = image(ADD);
    ok!(calclDisassembleImage(image, Some(collect)));
    assert_eq!(std::mem::take(&mut *LINES.lock().unwrap()), from_object);
    expect!(InvalidParameter, calclDisassembleImage(image, None));
    expect!(InvalidParameter, calclDisassembleImage(null_mut(), Some(collect)));
    expect!(InvalidParameter, calclDisassembleObject(null(), Some(collect)));
}

#[test]
fn a_file_of_another_process_loads() {
    let _session = start();
    let ctx = context(open(CPU));
    let bytes = Image::link(&[&recal::compile(FILL, 8).unwrap()]).unwrap();
    let path = std::env::temp_dir().join(format!("recal-offline-{}.elf", std::process::id()));
    std::fs::write(&path, bytes.as_bytes()).unwrap();
    let read = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut image = null_mut();
    ok!(calImageRead(&mut image, read.as_ptr().cast::<c_void>(), read.len() as u32));
    let mut module = 0;
    ok!(calModuleLoad(&mut module, ctx, image));
    ok!(calImageFree(image));
}

#[test]
fn an_object_holds_one_target() {
    let two = Image::link(&[&recal::compile(FILL, 5).unwrap(), &recal::compile(FILL, 8).unwrap()]).unwrap();
    assert_eq!(two.targets(), [5, 8]);
    assert!(Object::from_bytes(two.as_bytes()).is_err());
    // What follows the file is not part of it.
    let mut longer = two.as_bytes().to_vec();
    longer.extend([1, 2, 3]);
    assert_eq!(Image::from_bytes(&longer).unwrap(), two);
}

/// Loading, listing and writing whatever was read must end with an answer.
fn exercise(bytes: &[u8]) {
    if let Ok(image) = Image::from_bytes(bytes) {
        let mut lines = 0;
        let _ = image.disassemble(|_| lines += 1);
        let _ = image.targets();
        assert!(image.as_bytes().len() <= bytes.len());
    }
    let _ = Object::from_bytes(bytes);
}

#[test]
fn every_truncation_is_refused_or_harmless() {
    let image = Image::from(recal::compile(ALL_SYMBOLS, 8).unwrap());
    let bytes = image.as_bytes();
    for length in 0..bytes.len() {
        assert!(Image::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn every_header_byte_may_be_anything() {
    let image = Image::from(recal::compile(FILL, 8).unwrap());
    let bytes = image.as_bytes();
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7F, 0x80, 0xFF] {
            let mut changed = bytes.to_vec();
            changed[at] = value;
            exercise(&changed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_with_a_right_beginning(mut bytes in prop::collection::vec(any::<u8>(), 52..600)) {
        bytes[..9].copy_from_slice(b"\x7fELF\x01\x01\x01\x64\x01");
        bytes[18] = 125;
        bytes[19] = 0;
        bytes[42] = 32;
        bytes[43] = 0;
        bytes[46] = 40;
        bytes[47] = 0;
        exercise(&bytes);
    }

    #[test]
    fn words_replaced(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 1..6)) {
        let image = Image::link(&[&recal::compile(FILL, 5).unwrap(), &recal::compile(ADD, 8).unwrap()]).unwrap();
        let mut bytes = image.as_bytes().to_vec();
        for (at, word) in changes {
            let at = at.index(bytes.len() / 4) * 4;
            // Small numbers pass more checks than large ones.
            let word = if word % 3 == 0 { word } else { word % 4096 };
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        exercise(&bytes);
    }
}

#[test]
fn linked_code_still_computes() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let (module, func) = load(ctx, FILL);
    let out = local_2d(device, 9, 9, Format::Float32x1);
    bind(ctx, module, c"o0", out);
    let event = run(ctx, func, 9, 9);
    assert_eq!(finish(ctx, event), CalResult::Ok);
    with_rows(out, [9, 9], |w| assert!(w.iter().all(|&w| w == 1.5f32.to_bits())));
}
