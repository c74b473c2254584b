//! The instruction behind an element that differs between two devices.
//!
//! Input: a launch, an element and two devices. The thread that wrote the element is followed on the CPU. Each of its
//! instructions then runs alone on both devices, with the bits that its operands had ([`super::micro`]): first those on
//! which the element depends, from the first one on, then all. Output: the first that gives other bits.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use recal::capture::{Capture, Launch};
use recal::{AccessKind, Area, At, Format, Step, Threads};
use serde_json::{Value, json};

use super::compare::Difference;
use super::micro::Micro;
use crate::Outcome;
use crate::choice::{self, Opened};

/// Longest search for the thread, and for the instruction.
const PATIENCE: Duration = Duration::from_secs(60);
/// Instructions of a thread that are kept.
const STEPS: usize = 100_000;

/// What came out.
pub(super) enum Found {
    /// The first instruction whose results differ.
    Instruction(Instruction),
    /// None does by itself.
    Nothing {
        /// Instructions that were tried.
        tried: usize,
        thread: [u32; 3],
    },
    /// The thread was not found.
    NoThread,
}

/// An instruction, and what the devices make of it.
pub(super) struct Instruction {
    pub(super) line: u32,
    text: String,
    thread: [u32; 3],
    /// Registers that it reads, and their bits.
    operands: Vec<(String, u32)>,
    results: Results,
}

/// Components of registers that differ: A's bits and B's.
pub(super) type Results = Vec<(String, [u32; 2])>;
/// A thread, its instructions, and which of them wrote an element.
type Followed = ([u32; 3], Vec<Step>, usize);

/// An instruction that may be tried.
pub(super) struct Tried<'s> {
    pub(super) step: &'s Step,
    /// The registers that it names, before it.
    pub(super) before: Vec<(u32, [u32; 4])>,
}

pub(super) fn find(
    capture: &Capture,
    launch: &Launch,
    text: &[u8],
    resource: usize,
    difference: &Difference,
    devices: &[Opened; 2],
) -> Outcome<Found> {
    if launch.kernel.ends_with(".ir") {
        return Err("--trace: the kernel was loaded without its text".into());
    }
    let Some((thread, steps, last)) = writer(capture, launch, text, resource, difference)? else {
        return Ok(Found::NoThread);
    };
    let needed = slice(&steps, last);
    let all = registers(&steps);
    let start = Instant::now();
    let mut micro = Micro::new(capture, launch, text, thread, devices);
    let mut seen = BTreeSet::new();
    let mut tried = 0;
    for wanted in [true, false] {
        for (at, before) in all.iter().enumerate() {
            let step = &steps[at];
            if needed[at] != wanted || !seen.insert((step.line, before.clone())) {
                continue;
            }
            if start.elapsed() > PATIENCE {
                return Ok(Found::Nothing { tried, thread });
            }
            let one = Tried { step, before: before.clone() };
            let Some(results) = micro.differs(&one)? else { continue };
            tried += 1;
            if results.is_empty() {
                continue;
            }
            let operands = before.iter().flat_map(|(n, words)| {
                words.iter().zip("xyzw".chars()).map(move |(word, c)| (format!("r{n}.{c}"), *word))
            });
            return Ok(Found::Instruction(Instruction {
                line: step.line,
                text: step.text.clone(),
                thread,
                operands: operands.collect(),
                results,
            }));
        }
    }
    Ok(Found::Nothing { tried, thread })
}

/// The thread that wrote an element last, its instructions, and which of them did.
fn writer(
    capture: &Capture,
    launch: &Launch,
    text: &[u8],
    resource: usize,
    difference: &Difference,
) -> Outcome<Option<Followed>> {
    let held = &launch.resources[resource];
    let cpu = choice::choice("cpu")?.open()?;
    let format = Format::named(&held.format).ok_or_else(|| format!("there is no format {}", held.format))?;
    let [x, y] = difference.at;
    let element = u64::from(y) * u64::from(held.pitch) + u64::from(x);
    let component = difference.component.unwrap_or(0);
    let byte = element * u64::from(format.bytes()) + u64::from(component * difference.width / 8);
    let is_output = held.symbols.iter().any(|s| s.starts_with('o'));
    let is_it = |step: &Step| {
        let written =
            |name: &str| is_output && held.symbols.iter().any(|s| name.starts_with(&format!("{s}.")));
        let here = |access: &recal::Access| {
            let area = match access.area {
                Area::Global => "g[]".to_owned(),
                area => area.to_string(),
            };
            let at = match access.at {
                At::Byte(byte_of) => (u64::from(byte_of)..u64::from(byte_of) + 16).contains(&byte),
                At::Element(n) => n == element as i64 || n as u64 == byte / 16,
                At::Texel(at) => at == [i64::from(x), i64::from(y)],
                _ => false,
            };
            access.kind != AccessKind::Read && !access.outside && at && held.symbols.contains(&area)
        };
        step.writes.iter().any(|(name, _)| written(name)) || step.accesses.iter().any(here)
    };
    let start = Instant::now();
    for thread in candidates(launch, [x, y], element, is_output) {
        if start.elapsed() > PATIENCE {
            break;
        }
        // Each time anew: stores are made.
        let prepared = capture.prepare_with(launch, text, &cpu.context)?;
        let mut steps = Vec::new();
        prepared.module().trace(text, launch.threads(), thread, |step| {
            if steps.len() < STEPS {
                steps.push(step);
            }
            ControlFlow::Continue(())
        })?;
        if let Some(last) = steps.iter().rposition(is_it) {
            return Ok(Some((thread, steps, last)));
        }
    }
    Ok(None)
}

/// Threads that may have written an element, the likely ones first.
fn candidates(
    launch: &Launch,
    at: [u32; 2],
    element: u64,
    is_output: bool,
) -> Box<dyn Iterator<Item = [u32; 3]>> {
    match launch.threads() {
        Threads::Domain(d) => {
            let position = [at[0], at[1], 0];
            if is_output {
                return Box::new(std::iter::once(position));
            }
            let numbered = [
                d.x + (element % u64::from(d.width.max(1))) as u32,
                (element / u64::from(d.width.max(1))) as u32 + d.y,
                0,
            ];
            let inside = move |t: &[u32; 3]| {
                t[0] >= d.x && t[1] >= d.y && t[0] - d.x < d.width && t[1] - d.y < d.height
            };
            let all = (0..d.height).flat_map(move |y| (0..d.width).map(move |x| [d.x + x, d.y + y, 0]));
            Box::new([position, numbered].into_iter().filter(inside).chain(all))
        }
        Threads::Grid(g) => {
            let size = [0, 1, 2].map(|k| u64::from(g.groups[k]) * u64::from(g.block[k]));
            let wide = size[0].max(1);
            let likely = [
                [element, 0, 0],
                [u64::from(at[0]), u64::from(at[1]), 0],
                [element % wide, element / wide, 0],
            ];
            let inside = move |t: &[u64; 3]| (0..3).all(|k| t[k] < size[k]);
            let all = (0..size[2])
                .flat_map(move |z| (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y, z])));
            Box::new(likely.into_iter().filter(inside).chain(all).map(|t| t.map(|n| n as u32)))
        }
    }
}

/// Registers `r#` that a text names.
pub(super) fn named(text: &str) -> BTreeSet<u32> {
    let bytes = text.as_bytes();
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices('r') {
        let before = at.checked_sub(1).map(|k| bytes[k]);
        if before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            continue;
        }
        let digits: String = text[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        let after = bytes.get(at + 1 + digits.len());
        if after.is_none_or(|b| !b.is_ascii_alphanumeric()) {
            found.extend(digits.parse::<u32>());
        }
    }
    found
}

/// For each instruction the registers that it names, and what is in them before it.
fn registers(steps: &[Step]) -> Vec<Vec<(u32, [u32; 4])>> {
    let mut now: HashMap<u32, [u32; 4]> = HashMap::new();
    let mut all = Vec::new();
    for step in steps {
        let named = named(&step.text).into_iter();
        all.push(named.map(|n| (n, now.get(&n).copied().unwrap_or_default())).collect());
        for (name, word) in &step.writes {
            if let Some((n, component)) = register(name) {
                now.entry(n).or_default()[component] = *word;
            }
        }
    }
    all
}

/// `r5.y`
pub(super) fn register(name: &str) -> Option<(u32, usize)> {
    let (number, component) = name.strip_prefix('r')?.split_once('.')?;
    Some((number.parse().ok()?, "xyzw".find(component)?))
}

/// The instructions on which one depends through registers: whole registers, and not what decides where threads go.
fn slice(steps: &[Step], last: usize) -> Vec<bool> {
    let mut needed = vec![false; steps.len()];
    let mut wanted = named(&steps[last].text);
    needed[last] = true;
    for at in (0..last).rev() {
        let step = &steps[at];
        let writes: BTreeSet<u32> =
            step.writes.iter().filter_map(|(name, _)| Some(register(name)?.0)).collect();
        if writes.is_disjoint(&wanted) {
            continue;
        }
        needed[at] = true;
        let sources = step.text.split_once(',').map_or("", |(_, sources)| sources);
        wanted.extend(named(sources));
    }
    needed
}

fn word(bits: u32) -> String {
    format!("0x{bits:08x} ({:?})", f32::from_bits(bits))
}

impl Found {
    pub(super) fn text(&self) -> String {
        match self {
            Found::NoThread => "  no thread was found that writes the element on the CPU\n".into(),
            Found::Nothing { tried, thread } => format!(
                "  thread {thread:?}: none of {tried} instructions gives other bits by itself; the devices differ in \
                 memory, in order, or in what they make of several instructions together\n"
            ),
            Found::Instruction(i) => {
                let mut text = format!("  thread {:?}, line {}: {}\n", i.thread, i.line, i.text);
                for (name, bits) in &i.operands {
                    text += &format!("    {name:<6} {}\n", word(*bits));
                }
                for (name, [a, b]) in &i.results {
                    text += &format!("    {name:<6} A {}, B {}\n", word(*a), word(*b));
                }
                text
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        let hex = |bits: u32| format!("0x{bits:08x}");
        match self {
            Found::NoThread => json!({ "thread": null }),
            Found::Nothing { tried, thread } => json!({ "thread": thread, "line": null, "tried": tried }),
            Found::Instruction(i) => {
                let operand = |(name, bits): &(String, u32)| json!({ "register": name, "bits": hex(*bits) });
                let result =
                    |(name, bits): &(String, [u32; 2])| json!({ "register": name, "bits": bits.map(hex) });
                json!({
                    "thread": i.thread, "line": i.line, "text": i.text,
                    "operands": i.operands.iter().map(operand).collect::<Value>(),
                    "results": i.results.iter().map(result).collect::<Value>(),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_told_from_other_words() {
        let all = |text: &str| named(text).into_iter().collect::<Vec<_>>();
        assert_eq!(all("mad_sat r12.xy, r0_neg(x), cb0[r3.x], r12"), [0, 3, 12]);
        assert_eq!(all("sr1, vr2, rcp o0, x4[r5.x+1], br3, r"), [5]);
    }

    #[test]
    fn only_what_an_instruction_depends_on_is_in_its_slice() {
        let step = |line, text: &str, writes: &[&str]| Step {
            line,
            text: text.into(),
            writes: writes.iter().map(|name| ((*name).to_owned(), 0)).collect(),
            accesses: Vec::new(),
            flow: None,
        };
        let steps = [
            step(1, "mov r0, l0", &["r0.x"]),
            step(2, "mov r1, l0", &["r1.x"]),
            step(3, "mul r2, r0, r0", &["r2.x"]),
            step(4, "mul r3, r1, r1", &["r3.x"]),
            step(5, "mov o0, r2", &["o0.x"]),
        ];
        assert_eq!(slice(&steps, 4), [true, false, true, false, true]);
    }
}
