//! Text of a case → [`Case`].
//!
//! A case file is a kernel. Comment lines that begin with `;@` are directives; `;|` continues the one before:
//!
//! ```text
//! ; What is tested, in a sentence.
//! ;@ from amd-il 4.3
//! ;@ grid 2 block 64                      threads: groups and block, 1 to 3 numbers each
//! ;@ domain 8x4 at 2,1                    or: a pixel domain, origin optional
//! ;@ uav0 UNSIGNED_INT32_1 128 = 0..127   slot(s), format, width[xheight], initial data (zeros if left out)
//! ;@ i0,o0 FLOAT32_4 8x4                  the same memory in two slots
//! ;@ expect uav0 = 1..64 0*63 _           data afterwards; buffers without `expect` must not change
//! ;@ sampler0 linear repeat mirror clamp-to-border border 1 0 0 1
//! ;@ v1 ul 0 0 0 0 ll 0 4 0 0 lr 8 4 0 0  corner values of an interpolated input
//! ;@ needs fp64                           skipped where the device lacks it
//! ;@ mode faithful                        skipped in native float mode
//! ;@ refused graphics                     instead of threads: the compiler must refuse, by this rule or message
//! ```
//!
//! Data: integers, `0x…` words, floats (with a point), `d:1.5` a double, `b:00ff` bytes, `a..b` every number from a
//! to b, `x*n` n times; in `expect` also `_` anything, `nan` any NaN, `1.5~2` within 2 ulp, `[a,b]` between, `a|b`
//! either, and a final `...` for "the rest as it was".

use recal_hal::{DomainParam, Extent, Format, Sampler, Wrap};

use super::data::{Item, Want, parse_list};
use super::{Buffer, Case, Needs, Slot};

/// A directive that does not say what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Reads a case called `name`.
pub fn parse(name: &str, text: &str) -> Result<Case, ParseError> {
    let mut case = Case {
        name: name.to_owned(),
        text: text.to_owned(),
        from: String::new(),
        extent: None,
        buffers: Vec::new(),
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: Needs::default(),
        faithful_only: false,
        checks: 1,
    };
    for (line, directive) in directives(text) {
        apply(&mut case, &directive).map_err(|message| ParseError { line, message })?;
    }
    let complete = match (&case.extent, &case.refused) {
        (None, None) => Err("needs `grid`, `domain` or `refused`"),
        (Some(_), Some(_)) => Err("has both threads and `refused`"),
        (Some(_), None) if case.buffers.iter().all(|b| b.expected.is_none()) => Err("expects nothing"),
        _ if case.from.is_empty() => Err("does not say where the expected values come from (`from`)"),
        _ => Ok(()),
    };
    complete.map_err(|message| ParseError { line: 1, message: format!("the case {message}") })?;
    Ok(case)
}

/// Directives with their first line, continuations joined.
fn directives(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(rest) = line.strip_prefix(";@") {
            found.push((number + 1, rest.trim().to_owned()));
        } else if let (Some(rest), Some((_, last))) = (line.strip_prefix(";|"), found.last_mut()) {
            last.push(' ');
            last.push_str(rest.trim());
        }
    }
    found
}

fn apply(case: &mut Case, directive: &str) -> Result<(), String> {
    let (key, rest) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    let rest = rest.trim();
    match key {
        "from" => case.from = rest.to_owned(),
        "grid" => case.extent = Some(grid(rest)?),
        "domain" => case.extent = Some(domain(rest)?),
        "refused" => case.refused = Some(rest.to_owned()),
        "mode" if rest == "faithful" => case.faithful_only = true,
        "mode" => return Err(format!("unknown mode `{rest}`")),
        "needs" => {
            for need in rest.split_ascii_whitespace() {
                match need {
                    "fp64" => case.needs.fp64 = true,
                    "compute" => case.needs.compute = true,
                    _ => return Err(format!("unknown capability `{need}`")),
                }
            }
        }
        "expect" => expect(case, rest)?,
        _ => {
            if let Some(number) = key.strip_prefix("sampler").and_then(|n| n.parse().ok()) {
                case.samplers.push((number, sampler(rest)?));
            } else if let Some(number) = key.strip_prefix('v').and_then(|n| n.parse::<usize>().ok()) {
                let slot = case.params.get_or_insert_default().get_mut(number).ok_or("v0 to v7 only")?;
                *slot = corners(rest)?;
            } else {
                let slots: Option<Vec<Slot>> = key.split(',').map(Slot::parse).collect();
                let slots = slots.ok_or_else(|| format!("unknown directive `{key}`"))?;
                case.buffers.push(buffer(slots, rest)?);
            }
        }
    }
    Ok(())
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    text.split(|c: char| c.is_whitespace() || c == 'x' || c == ',')
        .filter(|t| !t.is_empty())
        .map(|t| t.parse().map_err(|_| format!("`{t}` is not a number")))
        .collect()
}

fn three(text: &str) -> Result<[u32; 3], String> {
    let given = numbers(text)?;
    if given.is_empty() || given.len() > 3 {
        return Err("wants one to three numbers".into());
    }
    let mut all = [1; 3];
    all[..given.len()].copy_from_slice(&given);
    Ok(all)
}

fn grid(rest: &str) -> Result<Extent, String> {
    let (groups, block) = rest.split_once("block").ok_or("wants `grid G block B`")?;
    Ok(Extent::Grid { groups: three(groups)?, block: three(block)? })
}

fn domain(rest: &str) -> Result<Extent, String> {
    let (size, origin) = rest.split_once("at").unwrap_or((rest, "0,0"));
    match (&numbers(size)?[..], &numbers(origin)?[..]) {
        (&[width, height], &[x, y]) => Ok(Extent::Domain { x, y, width, height }),
        _ => Err("wants `domain WxH at X,Y`".into()),
    }
}

fn sampler(rest: &str) -> Result<Sampler, String> {
    let (state, border) = rest.split_once(" border ").unwrap_or((rest, ""));
    let mut sampler = Sampler::default();
    let mut axis = 0;
    for word in state.split_ascii_whitespace() {
        let wrap = match word {
            "linear" => {
                sampler.linear = true;
                continue;
            }
            "nearest" => continue,
            "repeat" => Wrap::Repeat,
            "mirror" => Wrap::MirroredRepeat,
            "clamp-to-edge" => Wrap::ClampToEdge,
            "mirror-clamp-to-edge" => Wrap::MirrorClampToEdge,
            "clamp" => Wrap::Clamp,
            "mirror-clamp" => Wrap::MirrorClamp,
            "clamp-to-border" => Wrap::ClampToBorder,
            "mirror-clamp-to-border" => Wrap::MirrorClampToBorder,
            _ => return Err(format!("unknown sampler state `{word}`")),
        };
        *sampler.wrap.get_mut(axis).ok_or("more than three wrap modes")? = wrap;
        axis += 1;
    }
    for (k, value) in border.split_ascii_whitespace().enumerate() {
        let slot = sampler.border.get_mut(k).ok_or("a border has four components")?;
        *slot = value.parse().map_err(|_| format!("`{value}` is not a float"))?;
    }
    Ok(sampler)
}

fn corners(rest: &str) -> Result<DomainParam, String> {
    let mut param = DomainParam::default();
    let mut corner: Option<&mut [f32; 4]> = None;
    let mut k = 0;
    for word in rest.split_ascii_whitespace() {
        k = match word {
            "ul" | "ll" | "lr" => {
                corner = Some(match word {
                    "ul" => &mut param.ul,
                    "ll" => &mut param.ll,
                    _ => &mut param.lr,
                });
                0
            }
            _ => {
                let value = word.parse().map_err(|_| format!("`{word}` is not a float"))?;
                let slot =
                    corner.as_mut().and_then(|c| c.get_mut(k)).ok_or("wants `ul a b c d ll … lr …`")?;
                *slot = value;
                k + 1
            }
        };
    }
    Ok(param)
}

fn buffer(slots: Vec<Slot>, rest: &str) -> Result<Buffer, String> {
    let (shape, data) = rest.split_once('=').unwrap_or((rest, ""));
    let mut words = shape.split_ascii_whitespace();
    let format = words.next().ok_or("wants a format")?;
    let format = *Format::ALL
        .iter()
        .find(|f| f.name() == format)
        .ok_or_else(|| format!("unknown format `{format}`"))?;
    let size = numbers(words.next().ok_or("wants a size")?)?;
    let (width, height) = match size[..] {
        [width] => (width, 1),
        [width, height] => (width, height),
        _ => return Err("wants `W` or `WxH`".into()),
    };
    let mut initial = Vec::new();
    for item in parse_list(data)? {
        match item {
            Item::Value(Want::Word(w)) => initial.extend(w.to_le_bytes()),
            Item::Value(Want::Byte(b)) => initial.push(b),
            _ => return Err("initial data must be definite".into()),
        }
    }
    let bytes = width as usize * height as usize * format.bytes() as usize;
    if initial.len() > bytes {
        return Err(format!("{} bytes of data for a buffer of {bytes}", initial.len()));
    }
    initial.resize(bytes, 0);
    Ok(Buffer { slots, format, width, height, initial, expected: None })
}

fn expect(case: &mut Case, rest: &str) -> Result<(), String> {
    let (slot, data) = rest.split_once('=').ok_or("wants `expect SLOT = data`")?;
    let slot = Slot::parse(slot.trim()).ok_or_else(|| format!("unknown slot `{slot}`"))?;
    let buffer = case.buffers.iter_mut().find(|b| b.slots.contains(&slot));
    let buffer = buffer.ok_or_else(|| format!("{slot} is not declared before its `expect`"))?;
    if buffer.expected.is_some() {
        return Err(format!("{slot} has two `expect`s"));
    }
    let mut wants = Vec::new();
    let mut at = 0;
    for item in parse_list(data)? {
        match item {
            Item::Value(want) => {
                wants.push((at, want));
                at += want.bytes();
            }
            Item::Rest => {
                let rest = buffer.initial.get(at..).unwrap_or_default();
                wants.extend(rest.iter().enumerate().map(|(k, &b)| (at + k, Want::Byte(b))));
                at = buffer.initial.len();
            }
        }
    }
    if at != buffer.initial.len() {
        return Err(format!("{at} bytes expected in a buffer of {}", buffer.initial.len()));
    }
    buffer.expected = Some(wants);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "; A title.\n;@ from hand\n;@ grid 2 block 4,2\n;@ uav0,uav1 UNSIGNED_INT32_1 8 = 1..3 0xff*2\n\
        ;@ expect uav1 = 1 _ 1.5~1\n;| nan ...\nil_cs_2_0\nend\n";

    #[test]
    fn reads_directives() {
        let case = parse("a/b", TEXT).unwrap();
        assert_eq!(case.extent, Some(Extent::Grid { groups: [2, 1, 1], block: [4, 2, 1] }));
        let buffer = &case.buffers[0];
        assert_eq!(buffer.slots, [Slot::Uav(0), Slot::Uav(1)]);
        assert_eq!(buffer.initial[12..16], [255, 0, 0, 0]);
        let expected = buffer.expected.as_ref().unwrap();
        assert_eq!(expected[2], (8, Want::Between(0x3FBF_FFFF, 0x3FC0_0001)));
        assert_eq!(expected[3], (12, Want::Nan));
        assert_eq!(expected.len(), 4 + 16);
    }

    #[test]
    fn says_what_is_wrong() {
        let wrong = |from: &str, to: &str| parse("a", &TEXT.replace(from, to)).unwrap_err().to_string();
        assert_eq!(wrong("UNSIGNED_INT32_1", "UINT"), "line 4: unknown format `UINT`");
        assert_eq!(wrong(" ...", ""), "line 5: 16 bytes expected in a buffer of 32");
        assert_eq!(wrong("grid", "gird"), "line 3: unknown directive `gird`");
        assert_eq!(wrong(";@ from hand\n", "").split(':').next(), Some("line 1"));
    }

    #[test]
    fn accepts_what_it_should_and_nothing_else() {
        let bytes = |f: f32| f.to_bits().to_le_bytes();
        assert!(Want::Between(0x3F7F_FFFF, 0x3F80_0001).accepts(&bytes(1.0), false));
        assert!(!Want::Between(0x3F7F_FFFF, 0x3F80_0001).accepts(&bytes(1.1), false));
        assert!(!Want::Between(0, 0x7F80_0000).accepts(&bytes(f32::NAN), false));
        assert!(Want::Nan.accepts(&bytes(f32::NAN), false) && !Want::Nan.accepts(&bytes(1.0), false));
        assert!(!Want::Word(0).accepts(&bytes(-0.0), false) && Want::Word(0).accepts(&bytes(-0.0), true));
    }
}
