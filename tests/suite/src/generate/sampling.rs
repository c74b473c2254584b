//! Wrap modes of nearest and of linear sampling, of four components and of one, against amd-il 5.3.

use recal_hal::{Extent, Format, Sampler, Wrap};

use crate::case::{Buffer, Case, Needs, Slot, Want};

const WIDTH: i64 = 5;
const BORDER: [f32; 4] = [0.25, -1.0, 2.0, 7.0];

const WRAPS: [Wrap; 8] = [
    Wrap::Repeat,
    Wrap::MirroredRepeat,
    Wrap::ClampToEdge,
    Wrap::MirrorClampToEdge,
    Wrap::Clamp,
    Wrap::MirrorClamp,
    Wrap::ClampToBorder,
    Wrap::MirrorClampToBorder,
];

/// The texel that index `i` of `n` means; `None` is the border. The plain clamps are their to-edge forms here: what 5.3 says
/// of nearest filters.
fn texel(wrap: Wrap, i: i64, n: i64) -> Option<i64> {
    let once = if i < 0 { -1 - i } else { i };
    let inside = |i: i64| (0..n).contains(&i).then_some(i);
    match wrap {
        Wrap::Repeat => Some(i.rem_euclid(n)),
        Wrap::MirroredRepeat => {
            let turn = i.rem_euclid(2 * n);
            Some(if turn < n { turn } else { 2 * n - 1 - turn })
        }
        Wrap::ClampToEdge | Wrap::Clamp => Some(i.clamp(0, n - 1)),
        Wrap::MirrorClampToEdge | Wrap::MirrorClamp => Some(once.min(n - 1)),
        Wrap::ClampToBorder => inside(i),
        Wrap::MirrorClampToBorder => inside(once),
    }
}

/// The texels on both sides of the whole coordinate `x`. The plain clamps limit the coordinate (OpenGL's `GL_CLAMP`, and
/// `MIRROR_CLAMP` of EXT_texture_mirror_clamp), so that the filter reaches half-way into the border and no further.
fn taps(wrap: Wrap, x: i64, n: i64) -> (Option<i64>, Option<i64>) {
    let inside = |i: i64| (0..n).contains(&i).then_some(i);
    let (at, wrap) = match wrap {
        Wrap::Clamp => (x.clamp(0, n), Wrap::ClampToBorder),
        Wrap::MirrorClamp if x.abs() >= n => return (inside(n - 1), None),
        Wrap::MirrorClamp => (x, Wrap::MirrorClampToBorder),
        other => (x, other),
    };
    (texel(wrap, at - 1, n), texel(wrap, at, n))
}

/// Cases for each wrap mode of u, with the next mode for v.
pub fn sampling() -> Vec<Case> {
    let next = |k: usize| WRAPS[(k + 3) % WRAPS.len()];
    let pairs = || WRAPS.iter().enumerate().map(|(k, wrap)| (*wrap, next(k)));
    let filters =
        || pairs().flat_map(|(u, v)| [false, true].map(|linear| Sampler { linear, ..wrapping(u, v) }));
    [Format::Float32x4, Format::Float32x1]
        .into_iter()
        .flat_map(|format| filters().map(move |sampler| wrapped(format, sampler)))
        .collect()
}

fn wrapping(u: Wrap, v: Wrap) -> Sampler {
    Sampler { linear: false, wrap: [u, v, Wrap::ClampToEdge], border: BORDER }
}

/// With a linear filter at corners of texels, where it takes the mean of four, which is exact here.
fn wrapped(format: Format, sampler: Sampler) -> Case {
    const SPAN: i64 = 28; // indices -12 … 15
    let (linear, [u, v, _]) = (sampler.linear, sampler.wrap);
    let height = 3;
    let components = i64::from(format.components());
    let data: Vec<u32> = (0..components * WIDTH * height).map(|k| (k as f32 + 1.0).to_bits()).collect();
    // One component is fetched as all four, of the border colour, too.
    let stored = |c: usize| if components == 4 { c } else { 0 };
    let value = |i: Option<i64>, j: Option<i64>| match (i, j) {
        (Some(i), Some(j)) => [0, 1, 2, 3].map(|c| data[(components * (j * WIDTH + i)) as usize + stored(c)]),
        _ => [0, 1, 2, 3].map(|c| BORDER[stored(c)].to_bits()),
    };
    let nearest = |i: i64, j: i64| value(texel(u, i, WIDTH), texel(v, j, height));
    let mut wants = Vec::new();
    for y in 0..SPAN {
        for x in 0..SPAN {
            let (x, y) = (x - 12, y - 12);
            let (left, right) = taps(u, x, WIDTH);
            let (upper, lower) = taps(v, y, height);
            let four = [value(left, upper), value(right, upper), value(left, lower), value(right, lower)];
            let mean = [0, 1, 2, 3]
                .map(|c| (four.iter().map(|t| f32::from_bits(t[c])).sum::<f32>() / 4.0).to_bits());
            wants.extend(if linear { mean } else { nearest(x, y) }.map(Want::Word));
        }
    }
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\ndcl_literal l0, OFFSET, 0, 0, 0\n\
        sub r0.xy, vWinCoord0.xyxx, l0.xxxx\nsample_resource(0)_sampler(2) o0, r0.xyxx\nend\n";
    let input = Buffer {
        height: height as u32,
        initial: vec![0; 4 * data.len()],
        ..Buffer::row(Slot::Resource(0), format, WIDTH as u32)
    };
    let output = Buffer {
        height: SPAN as u32,
        initial: vec![0; (SPAN * SPAN * 16) as usize],
        ..Buffer::row(Slot::Output(0), Format::Float32x4, SPAN as u32)
    };
    let (filter, of) = (if linear { "_linear" } else { "" }, if components == 4 { "" } else { "-scalar" });
    Case {
        name: format!("texture/wrap{filter}/{u:?}-{v:?}{of}"),
        text: text.replace("OFFSET", if linear { "12.5" } else { "12.0" }),
        from: "amd-il 5.3 in whole numbers".into(),
        extent: Some(Extent::Domain { x: 0, y: 0, width: SPAN as u32, height: SPAN as u32 }),
        buffers: vec![input.holding(&data), output.expecting(wants)],
        samplers: vec![(2, sampler)],
        params: None,
        refused: None,
        needs: Needs::default(),
        faithful_only: false,
        checks: (SPAN * SPAN) as usize,
    }
}
