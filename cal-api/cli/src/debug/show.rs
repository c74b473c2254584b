//! States in words: where one is, registers, waves, memories.

use std::fmt::Write as _;

use recal::Format;
use recal::debug::{Extent, Layout, State};
use recal_il::format::Encoding;

use super::control::{Control, Thread, Why};
use super::expression::{Expression, Memory, Type, Value};

/// A position: two numbers in a domain, three in a grid of more than one line.
pub(crate) fn position(state: &State<'_>, [x, y, z]: [u32; 3]) -> String {
    match state.extent() {
        Extent::Domain { .. } => format!("({x}, {y})"),
        Extent::Grid { groups, block } => {
            let flat = |k: usize| groups[k] == 1 && block[k] <= 1;
            match (flat(1), flat(2)) {
                (true, true) => format!("({x})"),
                (false, true) => format!("({x}, {y})"),
                _ => format!("({x}, {y}, {z})"),
            }
        }
    }
}

/// A thread and where it runs.
pub(crate) fn thread(state: &State<'_>, thread: &Thread) -> String {
    let part = match state.extent() {
        Extent::Domain { .. } => "tile",
        Extent::Grid { .. } => "group",
    };
    let Thread { part: number, wave, lane, position: at } = thread;
    let wave = if part == "tile" { String::new() } else { format!(" of wave {wave}") };
    format!("thread {}: lane {lane}{wave} in {part} {number}", position(state, *at))
}

/// The line of the instruction that comes next, and its text.
pub(crate) fn place(control: &Control, state: &State<'_>) -> String {
    let line = control.lines.of_instruction(state, state.instruction());
    format!("{line:>5}  {}\n", control.lines.line(line).trim())
}

/// What was shown last of a thread.
#[derive(Default)]
pub(crate) struct Shown {
    thread: Option<Thread>,
    registers: Vec<(String, u32)>,
}

/// Registers of a thread, in the order r0, r1, …, o0.
pub(crate) fn registers(state: &State<'_>, lane: u32) -> Vec<(String, u32)> {
    let named = state.names().iter();
    let mut all: Vec<(String, u32)> =
        named.filter_map(|(register, name)| Some((name.clone(), state.register(*register, lane)?))).collect();
    all.sort_by_key(|(name, _)| {
        let (register, component) = name.split_once('.').unwrap_or((name, ""));
        let number: u32 = register[1..].parse().unwrap_or(0);
        (register.starts_with('o'), number, "xyzw".find(component))
    });
    all
}

/// Where the launch stands still and why; what the thread has changed since it was shown.
pub(crate) fn stop(control: &Control, state: &State<'_>, why: &Why, shown: &mut Shown) -> String {
    let mut text = String::new();
    if let Why::End = why {
        *shown = Shown::default();
        return "the launch has ended\n".into();
    }
    match why {
        Why::Breakpoint(ids) => {
            let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
            let _ = writeln!(text, "breakpoint {}", ids.join(", "));
        }
        Why::Watch(changes) => {
            for change in changes {
                let _ = writeln!(text, "watch {}: {}, by line {}", change.id, change.name, change.line);
                let _ = writeln!(text, "  was {}\n  is  {}", change.from.trim_end(), change.to.trim_end());
            }
        }
        Why::Start => text += "there is nothing before this\n",
        Why::Pause => text += "stopped\n",
        Why::Begin | Why::Step | Why::Thread | Why::End => {}
    }
    let known = shown.thread == Some(control.thread);
    if !known {
        let _ = writeln!(text, "{}", thread(state, &control.thread));
    }
    let now = match control.thread.in_wave(state) {
        true => registers(state, control.thread.lane),
        false => Vec::new(),
    };
    if known && matches!(why, Why::Step | Why::Breakpoint(_)) {
        for ((name, word), (_, before)) in now.iter().zip(&shown.registers) {
            if word != before {
                text += &word_line(name, *word);
            }
        }
    }
    if state.ended() {
        text += "the launch has ended\n";
    } else {
        text += &place(control, state);
    }
    *shown = Shown { thread: Some(control.thread), registers: now };
    text
}

/// A word, also as a float and an integer.
pub(crate) fn word_line(name: &str, word: u32) -> String {
    value_line(name, Value::Word(word))
}

pub(crate) fn value_line(name: &str, value: Value) -> String {
    format!("       {name:<8} {value}\n")
}

/// Lines around one.
pub(crate) fn list(control: &Control, state: &State<'_>, around: Option<u32>) -> String {
    let here = control.lines.of_instruction(state, state.instruction());
    let middle = around.unwrap_or(here);
    let mut text = String::new();
    for line in middle.saturating_sub(5).max(1)..=middle.saturating_add(5).min(control.lines.count()) {
        let mark = if line == here && !state.ended() { '>' } else { ' ' };
        let stop = if control.breakpoints.iter().any(|b| b.line == line) { '*' } else { ' ' };
        let _ = writeln!(text, "{mark}{stop}{line:>4}  {}", control.lines.line(line));
    }
    text
}

/// Where the thread is, and the calls that led there, the innermost first.
pub(crate) fn calls(control: &Control, state: &State<'_>) -> String {
    let mut text = String::new();
    let mut line = control.lines.of_instruction(state, state.instruction());
    for call in state.calls().iter().rev() {
        let _ = writeln!(text, "{line:>5}  in func {}", call.label);
        line = control.lines.of(call.from);
    }
    let _ = writeln!(text, "{line:>5}  in main");
    text
}

/// Values of all threads of the wave at work, a line for each.
pub(crate) fn wave(
    state: &State<'_>,
    expressions: &[Expression],
    kind: Option<Type>,
) -> Result<String, String> {
    if state.ended() {
        return Err("no wave is at work".into());
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut head = vec![String::new(), "lane".into(), "thread".into()];
    for lane in (0..64).filter(|lane| state.launched() >> lane & 1 == 1) {
        let active = if state.active() >> lane & 1 == 1 { "" } else { "-" };
        let mut row = vec![active.to_owned(), lane.to_string(), position(state, state.position(lane))];
        for expression in expressions {
            match expression.values(state, lane) {
                Ok(values) => {
                    for (name, value) in values {
                        if rows.is_empty() {
                            head.push(name);
                        }
                        row.push(match value {
                            Value::Word(word) => kind.unwrap_or(Type::Float).show(word),
                            value => value.to_string(),
                        });
                    }
                }
                // Of some threads only: an index that is out of range.
                Err(_) if !rows.is_empty() => row.push("?".into()),
                Err(_) => {
                    head.push(expression.text.clone());
                    row.push("?".into());
                }
            }
        }
        rows.push(row);
    }
    Ok(table(&head, &rows))
}

/// Columns under each other; numbers to the right.
fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let cell = |row: &[String], k: usize| row.get(k).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> = (0..head.len())
        .map(|k| rows.iter().map(|row| cell(row, k)).chain([cell(head, k)]).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in std::iter::once(head).chain(rows.iter().map(Vec::as_slice)) {
        let mut line = String::new();
        for (k, cell) in row.iter().enumerate() {
            let width = widths.get(k).copied().unwrap_or(0);
            let _ = match k {
                0 => write!(line, "{cell:<1}"),
                2 => write!(line, "  {cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// What the words of a format are.
fn kind_of(format: Format) -> Type {
    match format.encoding() {
        Encoding::Raw32 if format.name().starts_with("FLOAT") => Type::Float,
        Encoding::Raw32 if format.name().starts_with('S') => Type::Int,
        Encoding::Raw32 => Type::Uint,
        Encoding::Float64 => Type::Hex,
        _ if format.is_integer() => Type::Int,
        _ => Type::Float,
    }
}

/// So many elements of a memory, or lines of four words, from a place on.
pub(crate) fn memory(
    state: &State<'_>,
    memory: Memory,
    [column, row]: [u32; 2],
    count: u32,
    kind: Option<Type>,
) -> Result<String, String> {
    let contents = memory.contents(state).ok_or_else(|| format!("{memory}: no group runs here"))?;
    let mut text = String::new();
    let mut line = |at: String, words: &[u32], kind: Type| {
        let words: Vec<String> = words.iter().map(|word| format!("{:>12}", kind.show(*word))).collect();
        let _ = writeln!(text, "{:<16}{}", format!("{memory}[{at}]"), words.join(" "));
    };
    match contents.layout() {
        Layout::Bytes => {
            let first = column as usize & !3;
            for at in (first..contents.size()).step_by(16).take(count as usize) {
                let words: Vec<u32> = (0..4).map_while(|k| contents.word(at + 4 * k)).collect();
                line(format!("byte {at}"), &words, kind.unwrap_or(Type::Hex));
            }
        }
        Layout::Elements => {
            for at in column..column.saturating_add(count) {
                let Some(words) = contents.element(at, 0) else { break };
                line(at.to_string(), &words, kind.unwrap_or(Type::Float));
            }
        }
        Layout::Texels { width, format, .. } => {
            let first = u64::from(row) * u64::from(width) + u64::from(column);
            for at in first..first.saturating_add(count.into()) {
                let [column, row] = [at % u64::from(width), at / u64::from(width)].map(|k| k as u32);
                let Some(words) = contents.element(column, row) else { break };
                line(format!("{column}, {row}"), &words, kind.unwrap_or(kind_of(format)));
            }
        }
    }
    if text.is_empty() { Err(format!("{memory}: that is out of range")) } else { Ok(text) }
}

/// The memories: what each consists of.
pub(crate) fn memories(state: &State<'_>) -> String {
    let mut text = String::new();
    for memory in Memory::all(state) {
        let Some(contents) = memory.contents(state) else { continue };
        let shape = match contents.layout() {
            Layout::Bytes => format!("{} bytes", contents.size()),
            Layout::Elements => format!("{} elements of 4 words", contents.size() / 16),
            Layout::Texels { width, height, format, .. } => {
                format!("{width} x {height} {}", format.name().to_ascii_lowercase())
            }
        };
        let _ = writeln!(text, "{:<8}{shape}", memory.to_string());
    }
    for (number, elements) in state.arrays() {
        let _ = writeln!(text, "{:<8}{elements} elements of 4 words in each thread", format!("x{number}"));
    }
    text
}

/// Breakpoints and watches.
pub(crate) fn points(control: &Control, state: &State<'_>) -> String {
    let mut text = String::new();
    for b in &control.breakpoints {
        let thread = b.thread.map_or(String::new(), |t| format!(" thread {}", position(state, t.position)));
        let condition = b.condition.as_ref().map_or(String::new(), |c| format!(" if {}", c.text));
        let once = if b.once { ", once" } else { "" };
        let _ = writeln!(text, "{:>3}  line {}{thread}{condition}{once}", b.id, b.line);
    }
    for w in &control.watches {
        let thread =
            w.thread.map_or(String::new(), |t| format!(" of thread {}", position(state, t.position)));
        let _ = writeln!(text, "{:>3}  watch {}{thread}", w.id, w.expression.text);
    }
    if text.is_empty() { "there are none\n".into() } else { text }
}
