//! What streams are made of: numbers in host memory and in the formats of CAL.

pub use brook_abi::Scalar;
use recal::Format;

/// A vector inside an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its numbers.
    pub scalar: Scalar,
    /// How many.
    pub width: usize,
    /// Where it begins in host memory.
    pub offset: usize,
}

impl Member {
    /// Bytes in host memory.
    pub fn bytes(&self) -> usize {
        self.scalar.bytes() * self.width
    }

    /// Components in device memory: three become four.
    pub fn device_width(&self) -> usize {
        if self.width == 3 { 4 } else { self.width }
    }

    /// Bytes in device memory.
    pub fn device_bytes(&self) -> usize {
        self.scalar.bytes() * self.device_width()
    }

    /// Format in device memory.
    pub fn format(&self) -> Format {
        let choice = match self.device_width() {
            1 => 0,
            2 => 1,
            _ => 2,
        };
        let formats = match self.scalar {
            Scalar::Char => [Format::SignedInt8x1, Format::SignedInt8x2, Format::SignedInt8x4],
            Scalar::UChar => [Format::UnsignedInt8x1, Format::UnsignedInt8x2, Format::UnsignedInt8x4],
            Scalar::Short => [Format::SignedInt16x1, Format::SignedInt16x2, Format::SignedInt16x4],
            Scalar::UShort => [Format::UnsignedInt16x1, Format::UnsignedInt16x2, Format::UnsignedInt16x4],
            Scalar::Int => [Format::SignedInt32x1, Format::SignedInt32x2, Format::SignedInt32x4],
            Scalar::UInt => [Format::UnsignedInt32x1, Format::UnsignedInt32x2, Format::UnsignedInt32x4],
            Scalar::Float => [Format::Float32x1, Format::Float32x2, Format::Float32x4],
            Scalar::Double => [Format::Float64x1, Format::Float64x2, Format::Float64x2],
        };
        formats[choice]
    }
}

/// An element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// What it is made of.
    pub members: Vec<Member>,
    /// Bytes in host memory, padding and all.
    pub size: usize,
}

impl Element {
    /// Copies elements of the host to the rows of one member's device memory.
    pub(crate) fn pack(&self, member: usize, host: &[u8], device: &mut [u8]) {
        let m = &self.members[member];
        let (bytes, stride) = (m.bytes(), m.device_bytes());
        if bytes == stride && bytes == self.size {
            device[..host.len()].copy_from_slice(host);
            return;
        }
        for (from, to) in host.chunks_exact(self.size).zip(device.chunks_exact_mut(stride)) {
            to[..bytes].copy_from_slice(&from[m.offset..m.offset + bytes]);
            to[bytes..].fill(0);
        }
    }

    /// Copies one member's device memory to elements of the host.
    pub(crate) fn unpack(&self, member: usize, device: &[u8], host: &mut [u8]) {
        let m = &self.members[member];
        let (bytes, stride) = (m.bytes(), m.device_bytes());
        if bytes == stride && bytes == self.size {
            host.copy_from_slice(&device[..host.len()]);
            return;
        }
        for (to, from) in host.chunks_exact_mut(self.size).zip(device.chunks_exact(stride)) {
            to[m.offset..m.offset + bytes].copy_from_slice(&from[..bytes]);
        }
    }
}

/// A constant as kernels see it: components of 32 bits, doubles as two.
pub(crate) fn constant_words(scalar: Scalar, width: usize, bytes: &[u8]) -> [u32; 4] {
    let mut words = [0; 4];
    for (at, part) in bytes.chunks_exact(scalar.bytes()).take(width).enumerate() {
        let one = |n: usize| part.get(n).copied().unwrap_or(0);
        match scalar {
            Scalar::Char => words[at] = i32::from(one(0) as i8) as u32,
            Scalar::UChar => words[at] = u32::from(one(0)),
            Scalar::Short => words[at] = i32::from(i16::from_le_bytes([one(0), one(1)])) as u32,
            Scalar::UShort => words[at] = u32::from(u16::from_le_bytes([one(0), one(1)])),
            Scalar::Int | Scalar::UInt | Scalar::Float => {
                words[at] = u32::from_le_bytes([one(0), one(1), one(2), one(3)]);
            }
            Scalar::Double if at < 2 => {
                words[2 * at] = u32::from_le_bytes([one(0), one(1), one(2), one(3)]);
                words[2 * at + 1] = u32::from_le_bytes([one(4), one(5), one(6), one(7)]);
            }
            Scalar::Double => {}
        }
    }
    words
}
