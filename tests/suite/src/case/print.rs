//! [`Case`] → text. Cases built in memory can so be looked at, and kept as files when they fail.

use std::fmt::Write as _;

use recal_hal::{Extent, Wrap};

use super::{Buffer, Case, Want};

/// The case as a file that [`super::parse`] reads back. A case that came from a file prints as that file.
pub fn print(case: &Case) -> String {
    if case.text.lines().any(|line| line.starts_with(";@")) {
        return case.text.clone();
    }
    let mut out = format!(";@ from {}\n", case.from);
    match case.extent {
        Some(Extent::Domain { x, y, width, height }) => {
            let _ = writeln!(out, ";@ domain {width}x{height} at {x},{y}");
        }
        Some(Extent::Grid { groups: [a, b, c], block: [d, e, f] }) => {
            let _ = writeln!(out, ";@ grid {a} {b} {c} block {d} {e} {f}");
        }
        None => {}
    }
    if let Some(rule) = &case.refused {
        let _ = writeln!(out, ";@ refused {rule}");
    }
    if case.needs.fp64 {
        out.push_str(";@ needs fp64\n");
    }
    if case.needs.compute {
        out.push_str(";@ needs compute\n");
    }
    if case.faithful_only {
        out.push_str(";@ mode faithful\n");
    }
    for (number, sampler) in &case.samplers {
        let wrap = sampler.wrap.map(wrap_name).join(" ");
        let filter = if sampler.linear { "linear" } else { "nearest" };
        let [r, g, b, a] = sampler.border;
        let _ = writeln!(out, ";@ sampler{number} {filter} {wrap} border {r} {g} {b} {a}");
    }
    for (k, param) in case.params.iter().flatten().enumerate() {
        let corner = |v: [f32; 4]| v.map(|x| x.to_string()).join(" ");
        let _ =
            writeln!(out, ";@ v{k} ul {} ll {} lr {}", corner(param.ul), corner(param.ll), corner(param.lr));
    }
    for buffer in &case.buffers {
        print_buffer(&mut out, buffer);
    }
    out.push_str(&case.text);
    out
}

fn print_buffer(out: &mut String, buffer: &Buffer) {
    let slots: Vec<String> = buffer.slots.iter().map(ToString::to_string).collect();
    let size = match buffer.height {
        1 => buffer.width.to_string(),
        height => format!("{}x{height}", buffer.width),
    };
    let words = buffer.initial.chunks(4).map(|c| match *c {
        [a, b, c, d] => format!("0x{:08X}", u32::from_le_bytes([a, b, c, d])),
        _ => format!("b:{}", c.iter().map(|b| format!("{b:02x}")).collect::<String>()),
    });
    let _ = write!(out, ";@ {} {} {size} =", slots.join(","), buffer.format.name());
    wrapped(out, words);
    if let Some(expected) = &buffer.expected {
        let _ = write!(out, ";@ expect {} =", slots[0]);
        wrapped(
            out,
            expected.iter().map(|(_, want)| match want {
                Want::Any => "_".to_owned(),
                Want::Word(w) => format!("0x{w:08X}"),
                Want::Byte(b) => format!("b:{b:02x}"),
                Want::Nan => "nan".to_owned(),
                Want::Between(a, b) => format!("[0x{a:08X},0x{b:08X}]"),
                Want::OneOf(a, b) => format!("0x{a:08X}|0x{b:08X}"),
            }),
        );
    }
}

/// Eight items a line; runs of one item are counted.
fn wrapped(out: &mut String, items: impl Iterator<Item = String>) {
    let mut runs: Vec<(String, usize)> = Vec::new();
    for item in items {
        match runs.last_mut() {
            Some((last, times)) if *last == item => *times += 1,
            _ => runs.push((item, 1)),
        }
    }
    for (k, (item, times)) in runs.iter().enumerate() {
        out.push_str(if k > 0 && k % 8 == 0 { "\n;| " } else { " " });
        out.push_str(item);
        if *times > 1 {
            let _ = write!(out, "*{times}");
        }
    }
    out.push('\n');
}

fn wrap_name(wrap: Wrap) -> &'static str {
    match wrap {
        Wrap::Repeat => "repeat",
        Wrap::MirroredRepeat => "mirror",
        Wrap::ClampToEdge => "clamp-to-edge",
        Wrap::MirrorClampToEdge => "mirror-clamp-to-edge",
        Wrap::Clamp => "clamp",
        Wrap::MirrorClamp => "mirror-clamp",
        Wrap::ClampToBorder => "clamp-to-border",
        Wrap::MirrorClampToBorder => "mirror-clamp-to-border",
    }
}

#[cfg(test)]
mod tests {
    use crate::case::{Slot, parse, print};
    use recal_hal::{Extent, Format};

    #[test]
    fn a_built_case_reads_back_as_it_was() {
        let buffer =
            super::Buffer::row(Slot::Uav(3), Format::UnsignedInt32x1, 4).holding(&[1, 2, 2]).expecting([
                super::Want::Nan,
                super::Want::Any,
                super::Want::OneOf(1, 2),
                super::Want::Between(5, 9),
            ]);
        let mut case = parse("x", ";@ from hand\n;@ refused flow\n").unwrap();
        case.text = "il_cs_2_0\nend\n".into();
        case.refused = None;
        case.extent = Some(Extent::Grid { groups: [1, 2, 1], block: [64, 1, 1] });
        case.buffers = vec![buffer];
        let again = parse("x", &print(&case)).unwrap();
        assert_eq!(again.buffers, case.buffers);
        assert_eq!(again.extent, case.extent);
    }
}
