//! Files of the command line: pipes, pictures, images.

use crate::{KERNEL, json, printed, recal, recal_with, scratch};

#[test]
fn standard_input_and_output_stand_for_files() {
    let folder = scratch("pipes");
    let file = folder.join("k.il");
    std::fs::write(&file, KERNEL).unwrap();
    let path = file.to_str().unwrap();
    let shape = ["-b", "o0=16x16:float_1", "-d", "16x16"];
    // The results and nothing else.
    let output = recal_with(&[&["run", "-", "-s", "o0=-"][..], &shape].concat(), KERNEL.as_bytes(), &[]);
    assert!(output.status.success(), "{output:?}");
    let at = |row: usize| f32::from_le_bytes(output.stdout[64 * row..][..4].try_into().unwrap());
    assert_eq!((output.stdout.len(), at(0), at(15)), (1024, 2.5, 17.5));
    assert!(String::from_utf8_lossy(&output.stderr).contains(": 1 launch, best "));
    // An image through pipes.
    let image = recal_with(&["compile", "-", "-o", "-"], KERNEL.as_bytes(), &[]).stdout;
    assert!(image.starts_with(b"\x7fELF"));
    let listing = recal_with(&["disassemble", "-"], &image, &[]).stdout;
    assert!(String::from_utf8(listing).unwrap().contains("whileloop"));
    // Bytes for a symbol.
    let copy = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nmov o0, r0\nend\n";
    std::fs::write(&file, copy).unwrap();
    let bytes: Vec<u8> = (0..64).collect();
    let bind = ["run", path, "-d", "4x4", "-b", "i0=-:4x4:ubyte_4", "-b", "o0=4x4:ubyte_4", "-s", "o0=-"];
    assert_eq!(recal_with(&bind, &bytes, &[]).stdout, bytes);
    for (arguments, said) in [
        (&["run", "-", "-b", "i0=-:4x4:ubyte_4", "-b", "o0=4x4:ubyte_4", "-d", "4x4"][..], "is read once"),
        (
            &["run", path, "-b", "o0=4x4:ubyte_4", "-d", "4x4", "-s", "o0=-", "--json"],
            "both want standard output",
        ),
        (&["run", path, "-b", "o0=4x4:ubyte_4", "-d", "4x4", "-s", "o0=-", "-s", "o0=-"], "only one symbol"),
        (&["compile", path, "-o", "-", "--json"], "both want standard output"),
        // A file without end.
        #[cfg(unix)]
        (
            &["run", path, "-b", "i0=/dev/zero:4x4:ubyte_4", "-b", "o0=4x4:ubyte_4", "-d", "4x4"],
            "/dev/zero: more, but the shape has 64 bytes",
        ),
    ] {
        let output = recal_with(arguments, copy.as_bytes(), &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(said), "{arguments:?}: {text}");
    }
}

#[test]
fn pictures_come_out_and_go_in() {
    let folder = scratch("pictures");
    let (kernel, picture, raw) = (folder.join("k.il"), folder.join("o0.png"), folder.join("o0.raw"));
    // Red grows to the right, green downwards; w, which is 0, does not hide it.
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_cb cb0[1]\nmul r0, vWinCoord0.xyxy, cb0[0].xxxx\nmov o0, r0.xy00\nend\n";
    std::fs::write(&kernel, text).unwrap();
    let save = format!("o0={}", picture.display());
    let kernel_path = kernel.to_str().unwrap();
    printed(&["run", kernel_path, "-b", "cb0=0.125", "-b", "o0=8x4:float_4", "-d", "8x4", "-s", &save]);
    let mut reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&picture).unwrap()))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((frame.width, frame.height, frame.color_type), (8, 4, png::ColorType::Rgb));
    for (at, pixel) in pixels.chunks(3).enumerate() {
        // (n + 0.5) / 8 of 255, rounded.
        let level = |n: usize| ((2 * n + 1) as f64 * 255.0 / 16.0).round() as u8;
        assert_eq!(pixel, [level(at % 8), level(at / 8), 0], "{at}");
    }
    // And in again: four components, opaque.
    let text = text.replace("dcl_cb cb0[1]\nmul r0, vWinCoord0.xyxy, cb0[0].xxxx\nmov o0, r0.xy00", "dcl_resource_id(0)_type\
        (2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\nsample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nmov o0, r0");
    std::fs::write(&kernel, text).unwrap();
    let (bind, save) = (format!("i0={}", picture.display()), format!("o0={}", raw.display()));
    printed(&["run", kernel_path, "-b", &bind, "-b", "o0=8x4:ubyte_4", "-d", "8x4", "-s", &save]);
    let expected: Vec<u8> = pixels.chunks(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]).collect();
    assert_eq!(std::fs::read(raw).unwrap(), expected);
    let output = recal(&[
        "run",
        kernel_path,
        "-b",
        &bind,
        "-b",
        "o0=8x4:unorm_short_565",
        "-d",
        "8x4",
        "-s",
        "o0=a.png",
    ]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("UNORM_SHORT_565 has no counterpart in .png"));
}

#[test]
fn images_are_taken_wherever_text_is() {
    let folder = scratch("images");
    let (kernel, image, again) = (folder.join("k.il"), folder.join("k.elf"), folder.join("again.elf"));
    std::fs::write(&kernel, KERNEL).unwrap();
    let [kernel, image, again] = [&kernel, &image, &again].map(|path| path.to_str().unwrap());
    printed(&["compile", kernel, "-o", image, "-t", "rv770"]);
    let extent = ["-b", "o0=16x16:float_1", "-d", "16x16"];
    for command in [&["trace"][..], &["trace", "--json"], &["analyze"], &["analyze", "--json", "-d", "rv770"]]
    {
        let extent = if command[0] == "trace" { &extent[..] } else { &[] };
        let [of_text, of_image] =
            [kernel, image].map(|file| printed(&[command, &[file], extent].concat()).replace(file, "FILE"));
        assert_eq!(of_text, of_image, "{command:?}");
    }
    for command in ["run", "bench"] {
        printed(&[&[command, image, "-n", "2"][..], &extent].concat());
    }
    // Compiled again for another device.
    printed(&["compile", image, "-o", again, "-t", "cypress"]);
    assert_eq!(json(&["disassemble", again, "--json"]).0["programs"][0]["target"], "cypress");
    // An image for a later device does not run on an earlier one.
    let output = recal(&["analyze", again, "-d", "rv670"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && text.contains("no code for target 670; it has code for CYPRESS"),
        "{text}"
    );
}
