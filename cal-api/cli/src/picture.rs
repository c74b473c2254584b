//! PNG pictures: memory to look at, and pictures as memory.
//!
//! One component is a grey, several are red, green and blue; a fourth is left out, since kernels leave anything in w, and a
//! picture that is transparent shows nothing. Floats and fractions are dark at 0 and bright at 1, integers at 0 and 255
//! (65535 for 16 bits). The first row is at the top.

use recal::Format;
use recal_il::format::Encoding;

use crate::Outcome;
use crate::data::{Buffer, Shape};

/// How the components of a format are read as brightness, 0 to 1; `None` for packed ones.
fn brightness(encoding: Encoding, integer: bool) -> Option<fn(&[u8]) -> f64> {
    /// The bytes of a component as an array.
    fn word<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().unwrap_or([0; N])
    }
    Some(match encoding {
        Encoding::Raw32 if integer => |b| f64::from(i32::from_le_bytes(word(b))) / 255.0,
        Encoding::Raw32 => |b| f64::from(f32::from_le_bytes(word(b))),
        Encoding::Float64 => |b| f64::from_le_bytes(word(b)),
        Encoding::Float16 => |b| half(u16::from_le_bytes(word(b))),
        Encoding::Unorm8 | Encoding::Uint8 => |b| f64::from(b[0]) / 255.0,
        Encoding::Unorm16 | Encoding::Uint16 => |b| f64::from(u16::from_le_bytes(word(b))) / 65535.0,
        Encoding::Snorm8 => |b| f64::from(b[0] as i8) / 127.0,
        Encoding::Snorm16 => |b| f64::from(i16::from_le_bytes(word(b))) / 32767.0,
        Encoding::Sint8 => |b| f64::from(b[0] as i8) / 255.0,
        Encoding::Sint16 => |b| f64::from(i16::from_le_bytes(word(b))) / 255.0,
        Encoding::Unorm565 | Encoding::Unorm555 | Encoding::Unorm10 => return None,
    })
}

/// A half precision float.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction) * 2f64.powi(e - 15),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// Whether memory of a format can be shown.
pub(crate) fn is_shown(format: Format) -> bool {
    brightness(format.encoding(), format.is_integer()).is_some()
}

/// A buffer as a picture.
pub(crate) fn encode(buffer: &Buffer) -> Outcome<Vec<u8>> {
    let Shape { width, height, format } = buffer.shape;
    let brightness = brightness(format.encoding(), format.is_integer()).ok_or("no counterpart in .png")?;
    let deep = matches!(format.encoding(), Encoding::Unorm16 | Encoding::Uint16);
    let components = format.components() as usize;
    let each = format.bytes() as usize / components;
    let mut samples = Vec::new();
    for element in buffer.bytes.chunks_exact(each * components) {
        for channel in 0..if components == 1 { 1 } else { 3 } {
            let value =
                if channel < components { brightness(&element[channel * each..][..each]) } else { 0.0 };
            // NaN is dark.
            let value = if value > 0.0 { value.min(1.0) } else { 0.0 };
            match deep {
                true => samples.extend(((value * 65535.0).round() as u16).to_be_bytes()),
                false => samples.push((value * 255.0).round() as u8),
            }
        }
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height.max(1));
    encoder.set_color(if components == 1 { png::ColorType::Grayscale } else { png::ColorType::Rgb });
    encoder.set_depth(if deep { png::BitDepth::Sixteen } else { png::BitDepth::Eight });
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&samples)?;
    writer.finish()?;
    Ok(file)
}

/// The picture in the bytes of a file, as fractions: a component for grey, two with opacity, four for colours.
pub(crate) fn decode(file: &[u8]) -> Outcome<Buffer> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    // Grey stays one component; colours become four.
    let opacity = match decoder.read_header_info()?.color_type {
        png::ColorType::Grayscale => png::Transformations::IDENTITY,
        _ => png::Transformations::ALPHA,
    };
    decoder.set_transformations(png::Transformations::EXPAND | opacity);
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().ok_or("the picture is too large")?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes)?;
    bytes.truncate(frame.buffer_size());
    let deep = frame.bit_depth == png::BitDepth::Sixteen;
    if deep {
        // The file has the high byte first.
        bytes.chunks_exact_mut(2).for_each(|pair| pair.reverse());
    }
    let format = match (frame.color_type, deep) {
        (png::ColorType::Grayscale, false) => Format::UnormInt8x1,
        (png::ColorType::Grayscale, true) => Format::UnormInt16x1,
        (png::ColorType::GrayscaleAlpha, false) => Format::UnormInt8x2,
        (png::ColorType::GrayscaleAlpha, true) => Format::UnormInt16x2,
        (png::ColorType::Rgba, false) => Format::UnormInt8x4,
        (png::ColorType::Rgba, true) => Format::UnormInt16x4,
        (other, _) => return Err(format!("pixels of the kind {other:?} have no format").into()),
    };
    Ok(Buffer { shape: Shape { width: frame.width, height: frame.height, format }, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(file: &[u8]) -> (u32, u32, png::ColorType, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        (frame.width, frame.height, frame.color_type, bytes)
    }

    fn shown(format: Format, bytes: Vec<u8>) -> Vec<u8> {
        let width = bytes.len() as u32 / format.bytes();
        pixels(&encode(&Buffer { shape: Shape { width, height: 0, format }, bytes }).unwrap()).3
    }

    #[test]
    fn values_become_brightness() {
        let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let grey = floats(&[0.0, 1.0, 0.5, -3.0, 7.0, f32::NAN, f32::INFINITY]);
        assert_eq!(shown(Format::Float32x1, grey), [0, 255, 128, 0, 255, 0, 255]);
        // x, y, z are red, green, blue; two components leave blue dark; w is left out.
        assert_eq!(shown(Format::Float32x4, floats(&[1.0, 0.0, 0.2, 0.0])), [255, 0, 51]);
        assert_eq!(shown(Format::Float32x2, floats(&[1.0, 0.2])), [255, 51, 0]);
        let integers = [300, 7, -1, 0].iter().flat_map(|v: &i32| v.to_le_bytes()).collect();
        assert_eq!(shown(Format::SignedInt32x1, integers), [255, 7, 0, 0]);
        assert_eq!(shown(Format::UnormInt8x4, vec![1, 2, 3, 4]), [1, 2, 3]);
        assert_eq!(shown(Format::UnsignedInt16x1, vec![0x34, 0x12]), [0x12, 0x34]);
        // 0.5, 1.0, 2^-24, infinity
        let halves = [0x3800u16, 0x3C00, 1, 0x7C00].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(shown(Format::Float16x1, halves), [128, 255, 0, 255]);
        assert_eq!(shown(Format::SnormInt8x1, vec![127, 0x81]), [255, 0]);
        assert_eq!(shown(Format::Float64x1, 0.2f64.to_le_bytes().to_vec()), [51]);
        assert!(!is_shown(Format::UnormShort565));
    }

    #[test]
    fn pictures_survive_memory() {
        for (format, color) in [
            (Format::UnormInt8x1, png::ColorType::Grayscale),
            (Format::UnormInt16x1, png::ColorType::Grayscale),
            (Format::UnormInt8x4, png::ColorType::Rgb),
            (Format::UnormInt16x4, png::ColorType::Rgb),
        ] {
            // Rows differ, and w is opaque.
            let mut bytes: Vec<u8> = (0..3 * 2 * format.bytes()).map(|i| (17 * i) as u8).collect();
            let each = (format.bytes() / format.components()) as usize;
            if format.components() == 4 {
                bytes.chunks_mut(4 * each).for_each(|pixel| pixel[3 * each..].fill(0xFF));
            }
            let buffer = Buffer { shape: Shape { width: 3, height: 2, format }, bytes };
            let file = encode(&buffer).unwrap();
            assert_eq!((pixels(&file).0, pixels(&file).1, pixels(&file).2), (3, 2, color));
            assert_eq!(decode(&file).unwrap(), buffer);
        }
        assert!(decode(b"no picture").is_err());
    }
}
