//! Image files: any bytes, and good images with damage.

use std::sync::OnceLock;

use recal::{Image, Object};

const KERNEL: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[2]\n\
    dcl_literal l0, 2, 1, 0, 0\nishl r0.x, vAbsTidFlat.x, l0.x\n\
    uav_raw_store_id(0) mem0.x___, r0.x, cb0[0].x\nend\n";

/// Bytes to which damage lets an image grow, about.
const MOST: usize = 1 << 18;

/// A good image for two targets.
fn good() -> &'static [u8] {
    static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
    GOOD.get_or_init(|| {
        let objects: Vec<Object> =
            [8, 5].iter().filter_map(|target| recal::compile(KERNEL, *target).ok()).collect();
        let image = Image::link(&objects.iter().collect::<Vec<_>>());
        image.map(|image| image.as_bytes().to_vec()).unwrap_or_default()
    })
}

/// First byte even: the rest is a file. Odd: each following four bytes damage a good image: place (two bytes), how, with
/// what.
pub fn image(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return };
    if first & 1 == 0 {
        return read(rest);
    }
    let mut bytes = good().to_vec();
    for damage in rest.chunks_exact(4) {
        // Damage that adds up to many megabytes is only slow.
        if bytes.is_empty() || bytes.len() > MOST {
            break;
        }
        let at = usize::from(u16::from_le_bytes([damage[0], damage[1]])) % bytes.len();
        match damage[2] % 6 {
            0 => bytes[at] = damage[3],
            1 => bytes[at] ^= 1 << (damage[3] & 7),
            2 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = damage[3]),
            3 => bytes.truncate(at),
            4 => bytes.insert(at, damage[3]),
            _ => bytes.extend(std::iter::repeat_n(damage[3], at)),
        }
    }
    read(&bytes);
}

fn read(bytes: &[u8]) {
    if let Ok(image) = Image::from_bytes(bytes) {
        assert!(image.as_bytes().len() <= bytes.len());
        assert!(!image.targets().is_empty(), "an image for no target");
        let again = Image::from_bytes(image.as_bytes());
        assert!(again.is_ok_and(|again| again == image), "what was read is read again");
        let listings = image.listings().unwrap_or_default();
        assert_eq!(listings.len(), image.targets().len());
        let mut lines = 0;
        let _ = image.disassemble(|line| lines += usize::from(line.ends_with('\n')));
        assert!(lines >= listings.len());
    }
    if let Ok(object) = Object::from_bytes(bytes) {
        let _ = Image::link(&[&object]);
    }
}
