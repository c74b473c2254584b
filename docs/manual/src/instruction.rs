//! Topics of instructions, made of the rows of the table.

use recal_il::isa::lane::{Class, fold};
use recal_il::isa::{Category, Choice, Family, LaneOp, Meaning, Row, Scope, TABLE, VectorRule, View};

use crate::pseudo::{self, OPERANDS};
use crate::topic::{Block, Kind, Section, Topic};
use crate::{example, meaning, numerics};

/// A category in words.
pub fn category(category: Category) -> &'static str {
    match category {
        Category::Float => "Float arithmetic",
        Category::Flow => "Flow",
        Category::Select => "Selection",
        Category::Graphics => "Graphics",
        Category::Misc => "Other",
        Category::Decl => "Declarations",
        Category::Texture => "Textures",
        Category::Memory => "Read-only buffers",
        Category::Bit => "Bits",
        Category::Int => "Signed integers",
        Category::Uint => "Unsigned integers",
        Category::Compare => "Comparison",
        Category::Convert => "Conversion",
        Category::Double => "Doubles",
        Category::Gds => "Global data share",
        Category::Uav => "Unordered access views",
        Category::Lds => "Local data share",
        Category::Sync => "Synchronisation",
        Category::Int64 => "64-bit integers",
    }
}

fn family(family: Family) -> &'static str {
    match family {
        Family::R600 => "R600 (Radeon HD 2000) and all later chips",
        Family::R700 => "R700 (Radeon HD 4000) and later",
        Family::Evergreen => "Evergreen (Radeon HD 5000) and later",
        Family::NorthernIslands => "Northern Islands (Radeon HD 6000) and later",
    }
}

/// The parts of a `controls` entry; brackets keep what is inside together.
pub fn items(controls: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0;
    for c in controls.chars() {
        depth += i32::from("([{<".contains(c)) - i32::from(")]}>".contains(c));
        match c {
            ' ' if depth == 0 => items.push(String::new()),
            c => items.last_mut().unwrap_or(&mut String::new()).push(c),
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// Names of the specifiers of a row, without arguments.
pub fn specifiers(row: &Row) -> Vec<String> {
    let mut names = Vec::new();
    for item in items(row.controls) {
        // A bar inside parentheses belongs to an argument.
        let mut depth = 0;
        let mut word = String::new();
        for c in item.trim_matches(|c| "[]{}".contains(c)).chars().chain(['|']) {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if c == '|' && depth == 0 {
                let name = word.split('(').next().unwrap_or_default().to_string();
                if name.starts_with('_') && !name.starts_with("_<") {
                    names.push(name);
                }
                word.clear();
            } else {
                word.push(c);
            }
        }
    }
    names
}

fn stores(row: &Row) -> bool {
    row.destinations == 1 && (row.mnemonic.contains("store") || row.mnemonic == "lds_write_vec")
}

/// How the instruction is written.
pub fn syntax(row: &Row) -> String {
    let mut word = row.mnemonic.to_string();
    let mut operands = Vec::new();
    if row.destinations == 1 {
        operands.push(if stores(row) { "mem.mask" } else { "dst" }.to_string());
    }
    operands.extend(OPERANDS.iter().take(usize::from(row.sources)).map(|o| (*o).to_string()));
    let mut plain = Vec::new();
    for item in items(row.controls) {
        if item.contains('<') && !item.contains('_') {
            plain.push(item);
        } else {
            word += &item;
        }
    }
    // A register that is declared stands before its numbers; labels stand last.
    operands.extend(plain);
    format!("{word} {}", operands.join(", ")).trim_end().to_string()
}

fn operands(row: &Row) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let (view, classes) = match row.meaning {
        Meaning::Lane(view, Choice::One(op) | Choice::Zeroop { op, .. } | Choice::Ieee { bare: op, .. }) => {
            (Some(view), op.arguments())
        }
        _ => (None, &[] as &[Class]),
    };
    let kind = |k: usize| match (view, classes.get(k)) {
        (Some(View::Float), _) => "float",
        (Some(View::Bits), _) => "word, bit for bit",
        (Some(View::Int), _) => "32-bit integer",
        (Some(View::Double), Some(Class::Q)) => "double, a pair",
        (Some(View::Quad), Some(Class::Q)) => "64-bit integer, a pair",
        (Some(View::Double | View::Quad), _) => "32-bit word",
        (None, _) => match row.category {
            Category::Flow => "condition or selector, position x",
            Category::Texture => {
                if k == 0 {
                    "coordinates"
                } else {
                    "see the meaning"
                }
            }
            Category::Uav | Category::Lds | Category::Gds | Category::Memory => {
                if k == 0 {
                    "address"
                } else if k == 1 && row.mnemonic.contains("_vec") {
                    "offset in the record"
                } else {
                    "value"
                }
            }
            Category::Decl => "what is declared",
            _ => "float",
        },
    };
    if row.destinations == 1 {
        let what = match () {
            () if stores(row) => "the word `mem` with a mask of the components to store",
            () if row.category == Category::Decl => "what is declared, with a mask",
            () if row.rule == VectorRule::DoublePair => "register, mask `xy` or `zw`",
            () => "register with a mask; without one, all four components",
        };
        rows.push(vec![if stores(row) { "mem" } else { "dst" }.to_string(), what.to_string()]);
    }
    for (k, name) in OPERANDS.iter().enumerate().take(usize::from(row.sources)) {
        rows.push(vec![(*name).to_string(), kind(k).to_string()]);
    }
    rows
}

/// Operands for a table of values, by class.
fn samples(op: LaneOp, view: View) -> Vec<Vec<u64>> {
    let f = |v: f32| u64::from(v.to_bits());
    let d = |v: f64| v.to_bits();
    let int = |v: i32| u64::from(v as u32);
    let n = op.arguments().len();
    let pick = |columns: [Vec<u64>; 4]| -> Vec<Vec<u64>> {
        (0..columns[0].len()).map(|row| (0..n.min(4)).map(|k| columns[k][row]).collect()).collect()
    };
    match view {
        View::Float | View::Bits => pick([
            [1.5, -2.25, 0.0, f32::INFINITY, f32::NAN, 1e-40, 0.1].map(f).to_vec(),
            [2.0, 0.75, f32::INFINITY, f32::INFINITY, 1.0, 3.0, 0.2].map(f).to_vec(),
            [0.25, 1.0, 1.0, -1.0, 2.0, 0.0, 0.3].map(f).to_vec(),
            [0.0; 7].map(f).to_vec(),
        ]),
        View::Int => pick([
            [5, -7, 0, i32::MIN, -1, 0x1234_5678].map(int).to_vec(),
            [3, 2, 0, -1, 1, 8].map(int).to_vec(),
            [10, -1, 7, 0, 33, 16].map(int).to_vec(),
            [1, 2, 3, 4, 5, 6].map(int).to_vec(),
        ]),
        View::Double => pick([
            [1.5, -2.25, 0.0, f64::INFINITY, 5e-324, 0.1].map(d).to_vec(),
            [2.0, 0.75, f64::INFINITY, f64::INFINITY, 3.0, 0.2].map(d).to_vec(),
            [0.25, 1.0, 1.0, -1.0, 0.0, 0.3].map(d).to_vec(),
            [0.0; 6].map(d).to_vec(),
        ]),
        View::Quad => pick([
            [5, (-7i64) as u64, 0, i64::MIN as u64, u64::MAX].to_vec(),
            [3, 2, 0, u64::MAX, 1].to_vec(),
            [1, 2, 3, 4, 5].to_vec(),
            [0; 5].to_vec(),
        ]),
    }
}

fn shown_float(v: f64, bits: u64, negative: bool) -> String {
    if v.is_nan() {
        format!("NaN 0x{bits:X}")
    } else if v.is_infinite() {
        if negative { "-∞" } else { "∞" }.to_string()
    } else if v != 0.0 && !(1e-4..1e9).contains(&v.abs()) {
        format!("{v:e}")
    } else {
        format!("{v:?}")
    }
}

/// A word as people read it.
fn shown(value: u64, float: bool, wide: bool) -> String {
    match (float, wide) {
        (true, true) => shown_float(f64::from_bits(value), value, value >> 63 != 0),
        (true, false) => {
            let v = f32::from_bits(value as u32);
            let shortest: f64 = format!("{v:?}").parse().unwrap_or(f64::from(v));
            shown_float(shortest, value, value >> 31 != 0)
        }
        (false, true) => {
            if value < 10_000 {
                value.to_string()
            } else {
                format!("0x{value:016X}")
            }
        }
        (false, false) => {
            if value < 10_000 {
                value.to_string()
            } else {
                format!("0x{value:08X}")
            }
        }
    }
}

/// Whether the words of a result are floats: a comparison gives masks, a conversion to integers gives integers.
fn float_result(row: &Row, op: LaneOp) -> bool {
    use LaneOp as O;
    let from_integers = matches!(
        op,
        O::Itof
            | O::Utof
            | O::Itod
            | O::Utod
            | O::F162f
            | O::Unpack0
            | O::Unpack1
            | O::Unpack2
            | O::Unpack3
            | O::D2f
            | O::F2d
    );
    let floats = matches!(row.meaning, Meaning::Lane(View::Float | View::Bits | View::Double, _));
    from_integers
        || floats
            && !matches!(row.category, Category::Compare | Category::Convert)
            && !matches!(op, O::FrexpExp | O::DfrexpExp)
}

fn values(row: &Row) -> Option<Block> {
    let Meaning::Lane(view, choice) = row.meaning else { return None };
    let ops: Vec<(&str, LaneOp)> = meaning::operations(row);
    let (_, op) = *ops.first()?;
    let floats = matches!(view, View::Float | View::Bits | View::Double);
    let mut head: Vec<String> =
        OPERANDS.iter().take(usize::from(row.sources)).map(|o| (*o).to_string()).collect();
    head.extend(ops.iter().map(|(chooses, _)| {
        format!("dst{}", if chooses.is_empty() { String::new() } else { format!(" with `{chooses}`") })
    }));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for sample in samples(op, view) {
        let mut cells = Vec::new();
        for (k, class) in op.arguments().iter().enumerate().take(usize::from(row.sources)) {
            let value = match class {
                Class::Q => sample[k],
                // A count beside a pair.
                _ if matches!(view, View::Double | View::Quad) => k as u64 + 2,
                _ => sample[k],
            };
            // The integer operand of a float instruction: its last one.
            let integer =
                matches!(op, LaneOp::Ldexp | LaneOp::Dldexp | LaneOp::Class | LaneOp::Dclass) && k == 1;
            cells.push((if integer { 3 } else { value }, *class, floats && !integer));
        }
        let mut line: Vec<String> =
            cells.iter().map(|(value, class, float)| shown(*value, *float, *class == Class::Q)).collect();
        for (_, op) in &ops {
            let mut words: Vec<u32> = Vec::new();
            for (value, class, _) in &cells {
                match class {
                    Class::Q => words.extend([*value as u32, (*value >> 32) as u32]),
                    // What lowering does before a float operation.
                    Class::F => words.push(fold(LaneOp::Flush, &[*value as u32]).0),
                    Class::W => words.push(*value as u32),
                }
            }
            if let Choice::Zeroop { bare, .. } = choice {
                words.push(bare as u32);
            }
            let (low, high) = fold(*op, &words);
            let low = if op.result() == Class::F { fold(LaneOp::Canon, &[low]).0 } else { low };
            let value = u64::from(low) | u64::from(high.unwrap_or(0)) << 32;
            line.push(shown(value, float_result(row, *op), high.is_some()));
        }
        rows.push(line);
    }
    rows.dedup();
    Some(Block::Table(head, rows))
}

fn numbers(row: &Row) -> Vec<Block> {
    let mut blocks = Vec::new();
    let ops = meaning::operations(row);
    for (chooses, op) in &ops {
        for facts in numerics::of(*op) {
            let lead = if chooses.is_empty() {
                format!("`{}`", op.name())
            } else {
                format!("With `{chooses}`, `{}`", op.name())
            };
            blocks.push(Block::Text(format!("{lead}: {}.", facts.definition.trim_end_matches('.'))));
            if let Some([range, worst, share]) = facts.error {
                let error = if share == "0" {
                    "The result is correctly rounded.".to_string()
                } else {
                    format!(
                        "For {range} the error is at most {worst} units in the last place; {share} of results are not the nearest float."
                    )
                };
                blocks.push(Block::Text(error));
            }
        }
    }
    if matches!(row.meaning, Meaning::Lane(View::Float, _)) {
        blocks.push(Block::Text("Denormal operands and results are zeros of their sign; a NaN that arithmetic makes is 0x7FC00000.".to_string()));
    }
    if let Some(table) = values(row) {
        blocks.push(Block::Text("Values, computed by the defining function:".to_string()));
        blocks.push(table);
    }
    blocks
}

fn see_also(row: &Row) -> Vec<String> {
    let ops = meaning::operations(row);
    let same = |other: &&Row| {
        other.opcode != row.opcode
            && (!ops.is_empty()
                && meaning::operations(other).iter().any(|(_, op)| ops.iter().any(|(_, o)| o == op))
                || stem(other.mnemonic) == stem(row.mnemonic))
    };
    TABLE.iter().filter(same).take(8).map(|r| r.mnemonic.to_string()).collect()
}

/// What names of a family have in common: `uav_read_add` and `uav_add`, `if_logicalz` and `if_logicalnz`.
fn stem(mnemonic: &str) -> String {
    let mut stem =
        mnemonic.replace("_read_", "_").replace("logicalnz", "logical").replace("logicalz", "logical");
    for end in ["_high", "_vec", "64"] {
        stem = stem.trim_end_matches(end).to_string();
    }
    stem
}

fn topic(row: &Row, language: &[Topic]) -> Topic {
    let mut sections = Vec::new();
    let mut written = vec![Block::Code("il", syntax(row))];
    if !row.aliases.is_empty() {
        let names: Vec<String> = row.aliases.iter().map(|a| format!("`{a}`")).collect();
        written.push(Block::Text(format!("Also written {}.", names.join(", "))));
    }
    if float_scales(row) {
        written.push(Block::Text("The result may be scaled by `_x2`, `_x4`, `_x8`, `_d2`, `_d4` or `_d8`, and limited to 0 … 1 by `_sat`.".to_string()));
    }
    sections.push(Section { title: "Syntax", blocks: written });
    let operands = operands(row);
    if !operands.is_empty() {
        let head = ["operand", "is"].map(str::to_string).to_vec();
        sections.push(Section { title: "Operands", blocks: vec![Block::Table(head, operands)] });
    }
    let mut specified: Vec<Vec<String>> = Vec::new();
    for name in specifiers(row) {
        let words = language.iter().find(|t| t.name == name || t.aliases.contains(&name));
        let words = words.map_or_else(String::new, |t| t.summary.clone());
        match specified.last_mut() {
            Some(last) if last[1] == words => last[0] += &format!(", `{name}`"),
            _ => specified.push(vec![format!("`{name}`"), words]),
        }
    }
    if !specified.is_empty() {
        let head = ["specifier", "says"].map(str::to_string).to_vec();
        sections.push(Section { title: "Specifiers", blocks: vec![Block::Table(head, specified)] });
    }
    let mut blocks: Vec<Block> = meaning::words(row).into_iter().map(Block::Text).collect();
    let codes = meaning::code(row);
    for (chooses, code) in &codes {
        if !chooses.is_empty() {
            blocks.push(Block::Text(format!("With `{chooses}`:")));
        }
        blocks.push(Block::Code("text", code.clone()));
    }
    let all: Vec<&str> = codes.iter().map(|(_, code)| code.as_str()).collect();
    blocks.extend(pseudo::legend(&all.join("\n")).map(Block::Text));
    if !blocks.is_empty() {
        sections.push(Section { title: "Meaning", blocks });
    }
    let numbers = numbers(row);
    if !numbers.is_empty() {
        sections.push(Section { title: "Numbers", blocks: numbers });
    }
    let mut targets = vec![Block::Text(match row.scope {
        Scope::Compute => format!("{}.", family(row.family)),
        Scope::Graphics => "None: CAL kernels have no graphics pipeline.".to_string(),
    })];
    if let Some(number) = row.number {
        targets.push(Block::Text(format!("Number {number} of the binary form.")));
    }
    sections.push(Section { title: "Targets", blocks: targets });
    if let Some(kernel) = example::of(row) {
        sections.push(Section { title: "Example", blocks: vec![Block::Code("il", kernel)] });
    }
    Topic {
        name: row.mnemonic.to_string(),
        aliases: row.aliases.iter().map(|a| (*a).to_string()).collect(),
        kind: Kind::Instruction,
        summary: row.opcode.doc().to_string(),
        sections,
        see_also: see_also(row),
    }
}

fn float_scales(row: &Row) -> bool {
    let float = matches!(row.meaning, Meaning::Lane(View::Float | View::Bits, _))
        && !matches!(row.category, Category::Compare | Category::Convert)
        && !matches!(row.meaning, Meaning::Lane(_, Choice::One(LaneOp::FrexpExp | LaneOp::Class)));
    float && row.scope == Scope::Compute
}

/// All of them, in the order of the table.
pub fn topics() -> Vec<Topic> {
    let language = crate::chapters::topics();
    TABLE.iter().map(|row| topic(row, &language)).collect()
}
