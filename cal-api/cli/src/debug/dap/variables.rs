//! What an editor shows in its tree of variables: registers, values of the launch, memory.

use base64::Engine as _;
use recal::debug::{Layout, State};
use serde_json::{Value, json};

use super::super::expression::{Memory, Type, Value as Word};
use super::super::parse::expression;
use super::super::show;

/// Elements that are listed if nobody says how many.
const SOME: u64 = 256;
/// Elements that are listed at a time.
const MOST: u64 = 1 << 16;

/// Nodes of the tree; each is a number, which has the lane in its last six bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Registers,
    Thread,
    Memories,
    /// Components of a register, by its place in the list of them.
    Register(u32),
    /// Elements of a memory, likewise.
    Memory(u32),
    /// Elements of `x#`, likewise.
    Array(u32),
}

impl Node {
    fn number(self, lane: u32) -> u64 {
        let (kind, place) = match self {
            Node::Registers => (0, 0),
            Node::Thread => (1, 0),
            Node::Memories => (2, 0),
            Node::Register(place) => (3, place),
            Node::Memory(place) => (4, place),
            Node::Array(place) => (5, place),
        };
        // 0 is no node.
        1 + (u64::from(lane) | u64::from(place & 0xFFFF) << 6 | kind << 22)
    }

    fn of(number: u64) -> Option<(Node, u32)> {
        let bits = number.checked_sub(1)?;
        let (lane, place) = ((bits & 63) as u32, (bits >> 6 & 0xFFFF) as u32);
        let node = match bits >> 22 {
            0 => Node::Registers,
            1 => Node::Thread,
            2 => Node::Memories,
            3 => Node::Register(place),
            4 => Node::Memory(place),
            5 => Node::Array(place),
            _ => return None,
        };
        Some((node, lane))
    }
}

/// The roots for a lane.
pub(super) fn scopes(state: &State<'_>, lane: u32) -> Value {
    let scope = |name: &str, node: Node, hint: Option<&str>| {
        let mut scope = json!({ "name": name, "variablesReference": node.number(lane), "expensive": false });
        if let Some(hint) = hint {
            scope["presentationHint"] = hint.into();
        }
        scope
    };
    let memory = scope("Memory", Node::Memories, None);
    match state.ended() {
        true => json!({ "scopes": [memory] }),
        false => json!({ "scopes": [
            scope("Registers", Node::Registers, Some("registers")), scope("Thread", Node::Thread, None), memory,
        ] }),
    }
}

/// `r0`, `r1`, …, `o0`: each once.
fn names(state: &State<'_>) -> Vec<String> {
    let all = show::registers(state, 0);
    let mut names: Vec<String> =
        all.iter().filter_map(|(name, _)| Some(name.split_once('.')?.0.to_owned())).collect();
    names.dedup();
    names
}

/// A word as floats and integers are read.
fn shown(value: Word) -> String {
    match value {
        Word::Word(word) => {
            format!("{} ({}, {})", Type::Float.show(word), Type::Int.show(word), Type::Hex.show(word))
        }
        value => value.to_string(),
    }
}

fn leaf(name: &str, value: String, evaluate: &str) -> Value {
    json!({ "name": name, "value": value, "evaluateName": evaluate, "variablesReference": 0 })
}

/// Values of an expression beside each other.
pub(super) fn line(state: &State<'_>, text: &str, lane: u32) -> Result<String, String> {
    let values = expression(text, state)?.values(state, lane)?;
    Ok(match &values[..] {
        [(_, value)] => shown(*value),
        values => {
            let words = values.iter().map(|(_, value)| match value {
                Word::Word(word) => Type::Float.show(*word),
                value => value.to_string(),
            });
            words.collect::<Vec<_>>().join(", ")
        }
    })
}

/// Children of a node, as many from the first as are wanted.
pub(super) fn children(
    state: &State<'_>,
    number: u64,
    first: u64,
    count: Option<u64>,
) -> Result<Value, String> {
    let (node, lane) = Node::of(number).ok_or("there is no such variable")?;
    let range = |size: u64| first.min(size)..first.saturating_add(count.unwrap_or(SOME).min(MOST)).min(size);
    let parent = |name: &str, node: Node, value: String| json!({ "name": name, "value": value, "evaluateName": name, "variablesReference": node.number(lane) });
    let list: Vec<Value> = match node {
        Node::Registers => {
            let registers = names(state).into_iter().enumerate().map(|(place, name)| {
                let value = line(state, &name, lane).unwrap_or_else(|why| why);
                parent(&name, Node::Register(place as u32), value)
            });
            let arrays = state.arrays().enumerate().map(|(place, (number, elements))| {
                let mut array =
                    parent(&format!("x{number}"), Node::Array(place as u32), format!("{elements} elements"));
                array["indexedVariables"] = elements.into();
                array
            });
            registers.chain(arrays).collect()
        }
        Node::Thread => {
            let known = [
                "tid",
                "lane",
                "wave",
                "group",
                "vWinCoord0",
                "v0",
                "v1",
                "v2",
                "v3",
                "v4",
                "v5",
                "v6",
                "v7",
                "vTidInGrp0",
                "vTidInGrpFlat",
                "vAbsTid0",
                "vAbsTidFlat",
                "vThreadGrpId0",
                "vThreadGrpIdFlat",
                "vObjIndex0",
            ];
            let value = |name: &&str| Some(leaf(name, line(state, name, lane).ok()?, name));
            known.iter().filter_map(value).collect()
        }
        Node::Memories => {
            let memories = Memory::all(state).into_iter().enumerate();
            memories
                .filter_map(|(place, memory)| {
                    let contents = memory.contents(state)?;
                    let (elements, what) = match contents.layout() {
                        Layout::Bytes => (contents.size() / 4, format!("{} bytes", contents.size())),
                        Layout::Elements => {
                            (contents.size() / 16, format!("{} elements", contents.size() / 16))
                        }
                        Layout::Texels { width, height, format, .. } => {
                            let name = format.name().to_ascii_lowercase();
                            (width as usize * height as usize, format!("{width} x {height} {name}"))
                        }
                    };
                    let mut variable = parent(&memory.to_string(), Node::Memory(place as u32), what);
                    variable["indexedVariables"] = elements.into();
                    variable["memoryReference"] = memory.to_string().into();
                    Some(variable)
                })
                .collect()
        }
        Node::Register(place) => {
            let name = names(state).into_iter().nth(place as usize).ok_or("there is no such register")?;
            let values = expression(&name, state)?.values(state, lane)?;
            let component = |name: &str| name.rsplit_once('.').map_or(String::new(), |(_, k)| k.to_owned());
            values.into_iter().map(|(name, value)| leaf(&component(&name), shown(value), &name)).collect()
        }
        Node::Memory(place) => {
            let memory =
                Memory::all(state).into_iter().nth(place as usize).ok_or("there is no such memory")?;
            let contents = memory.contents(state).ok_or("no group runs here")?;
            let element = |at: String| {
                let name = format!("{memory}[{at}]");
                let value = line(state, &name, lane).unwrap_or_else(|why| why);
                leaf(&format!("[{at}]"), value, &name)
            };
            match contents.layout() {
                Layout::Bytes => {
                    range(contents.size() as u64 / 4).map(|k| element((4 * k).to_string())).collect()
                }
                Layout::Elements => {
                    range(contents.size() as u64 / 16).map(|k| element(k.to_string())).collect()
                }
                Layout::Texels { width, height, .. } => {
                    let size = u64::from(width) * u64::from(height);
                    let at = |k: u64| match height {
                        0 | 1 => k.to_string(),
                        _ => format!("{}, {}", k % u64::from(width), k / u64::from(width)),
                    };
                    range(size).map(|k| element(at(k))).collect()
                }
            }
        }
        Node::Array(place) => {
            let (number, elements) = state.arrays().nth(place as usize).ok_or("there is no such array")?;
            let element = |k: u64| {
                let name = format!("x{number}[{k}]");
                leaf(&format!("[{k}]"), line(state, &name, lane).unwrap_or_else(|why| why), &name)
            };
            range(elements.into()).map(element).collect()
        }
    };
    Ok(json!({ "variables": list }))
}

/// The expression that a variable of a node stands for.
pub(super) fn expression_of(state: &State<'_>, number: u64, name: &str) -> Option<String> {
    let (node, _) = Node::of(number)?;
    match node {
        Node::Register(place) => Some(format!("{}.{name}", names(state).get(place as usize)?)),
        Node::Memory(place) => Some(format!("{}{name}", Memory::all(state).get(place as usize)?)),
        Node::Array(place) => Some(format!("x{}{name}", state.arrays().nth(place as usize)?.0)),
        Node::Registers | Node::Thread => Some(name.to_owned()),
        Node::Memories => None,
    }
}

/// Bytes of a memory.
pub(super) fn bytes(state: &State<'_>, given: &Value) -> Result<Value, String> {
    let name = given["memoryReference"].as_str().unwrap_or_default();
    let memory = Memory::named(state, name).ok_or_else(|| format!("there is no memory `{name}`"))?;
    let contents = memory.contents(state).ok_or("no group runs here")?;
    let count = given["count"].as_u64().unwrap_or(0).min(1 << 20);
    let first = given["offset"].as_i64().unwrap_or(0);
    let first = u64::try_from(first).map_err(|_| "there is nothing before the memory")?;
    let byte = |at: u64| contents.byte(usize::try_from(at).ok()?);
    let bytes: Vec<u8> = (first..first.saturating_add(count)).map_while(byte).collect();
    Ok(json!({
        "address": format!("{first:#x}"),
        "data": base64::engine::general_purpose::STANDARD.encode(&bytes),
        "unreadableBytes": count - bytes.len() as u64,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_numbers_are_the_same() {
        let nodes = [
            Node::Registers,
            Node::Thread,
            Node::Memories,
            Node::Register(4095),
            Node::Memory(1),
            Node::Array(65535),
        ];
        for node in nodes {
            for lane in [0, 1, 63] {
                assert_eq!(Node::of(node.number(lane)), Some((node, lane)));
                assert!(node.number(lane) > 0 && node.number(lane) < 1 << 31);
            }
        }
        assert_eq!(Node::of(0), None);
        assert_eq!(Node::of(u64::MAX), None);
    }
}
