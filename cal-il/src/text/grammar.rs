//! What the instruction table says about spelling, prepared for the parser: a hash of mnemonics and, parsed
//! once from [`crate::isa::Row::controls`], the specifiers and further operands of every opcode.

use std::cmp::Reverse;
use std::sync::LazyLock;

use crate::isa::{Category, Opcode, Scope, TABLE};

/// Spelling rules of one opcode.
#[derive(Default)]
pub(crate) struct Rules {
    /// Specifiers, longest names first.
    pub specifiers: Vec<SpecRule>,
    /// Number of groups of which exactly one specifier must be present.
    pub required: Vec<u8>,
    /// Operands that follow the registers: required and optional ones.
    pub values: Vec<ValueKind>,
    /// How many of the last `values` may be missing.
    pub optional_values: usize,
    /// `_<u>`: a usage name is a specifier of its own.
    pub usage_word: bool,
    /// `_<word>`: any word is a specifier (graphics-only).
    pub any_word: bool,
}

/// One permitted specifier.
pub(crate) struct SpecRule {
    /// Canonical name without the underscore.
    pub name: &'static str,
    /// It has arguments in parentheses.
    pub arguments: bool,
    /// Specifiers of one group exclude each other.
    pub group: u8,
}

/// A further operand, `<…>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueKind {
    Number,
    Flags,
    Word,
}

/// Rules by `Opcode as usize`.
pub(crate) static RULES: LazyLock<Vec<Rules>> =
    LazyLock::new(|| TABLE.iter().map(|row| rules(row.controls)).collect());

/// Parses a `controls` string; its notation is documented at [`crate::isa::Row::controls`].
fn rules(controls: &'static str) -> Rules {
    let mut out = Rules::default();
    for (group, item) in controls.split_whitespace().enumerate() {
        let group = group as u8;
        let (body, required) = match item.as_bytes()[0] {
            b'[' => (&item[1..item.len() - 1], false),
            b'{' => (&item[1..item.len() - 1], true),
            _ => (item, true),
        };
        if let Some(name) = body.strip_prefix('<') {
            out.values.push(match name.trim_end_matches('>') {
                "flags" => ValueKind::Flags,
                "word" | "bool" => ValueKind::Word,
                _ => ValueKind::Number,
            });
            out.optional_values += usize::from(!required);
            continue;
        }
        let mut named = false;
        for alternative in alternatives(body) {
            match alternative {
                "_<u>" => out.usage_word = true,
                "_<word>" => out.any_word = true,
                _ => {
                    let (name, arguments) = match alternative.find('(') {
                        Some(open) => (&alternative[..open], true),
                        None => (alternative, false),
                    };
                    let name = name.strip_prefix('_').unwrap_or(name);
                    out.specifiers.push(SpecRule { name, arguments, group });
                    named = true;
                }
            }
        }
        if required && named {
            out.required.push(group);
        }
    }
    out.specifiers.sort_by_key(|s| Reverse(s.name.len()));
    out
}

/// Splits at `|` outside parentheses.
fn alternatives(body: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    body.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == '|' && depth == 0
    })
}

impl Rules {
    pub fn of(opcode: Opcode) -> &'static Self {
        &RULES[opcode as usize]
    }
}

const SLOTS: usize = 2048;

/// Open-addressed hash of every spelling.
struct Mnemonics {
    slots: Vec<Option<(&'static str, Opcode)>>,
}

static MNEMONICS: LazyLock<Mnemonics> = LazyLock::new(|| {
    let mut slots = vec![None; SLOTS];
    for row in TABLE {
        for &spelling in std::iter::once(&row.mnemonic).chain(row.aliases) {
            let hash = spelling.bytes().fold(0, hash_step);
            let mut slot = slot_of(hash);
            while slots[slot].is_some() {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = Some((spelling, row.opcode));
        }
    }
    Mnemonics { slots }
});

#[inline]
fn hash_step(hash: u32, byte: u8) -> u32 {
    (hash.rotate_left(5) ^ u32::from(byte | 0x20)).wrapping_mul(0x9E37_79B1)
}

#[inline]
fn slot_of(hash: u32) -> usize {
    (hash >> 21) as usize
}

impl Mnemonics {
    #[inline]
    fn find(&self, hash: u32, spelling: &[u8]) -> Option<Opcode> {
        let mut slot = slot_of(hash);
        while let Some((name, opcode)) = self.slots[slot] {
            if name.len() == spelling.len() && name.as_bytes().eq_ignore_ascii_case(spelling) {
                return Some(opcode);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }
}

/// The opcode with exactly this spelling.
pub(crate) fn exact(spelling: &[u8]) -> Option<Opcode> {
    let hash = spelling.iter().fold(0, |h, &b| hash_step(h, b));
    MNEMONICS.find(hash, spelling)
}

/// The longest mnemonic that starts `word` and is followed by `_` or the end of the word; its length too.
pub(crate) fn longest(word: &[u8]) -> Option<(Opcode, usize)> {
    let mnemonics = &*MNEMONICS;
    // Hashes at the places where a mnemonic may end. The longest spelling has fewer parts than this.
    let mut ends = [(0u32, 0usize); 12];
    let mut count = 0;
    let mut hash = 0;
    for (i, &byte) in word.iter().enumerate().take(64) {
        if byte == b'_' && count < ends.len() - 1 {
            ends[count] = (hash, i);
            count += 1;
        }
        hash = hash_step(hash, byte);
    }
    ends[count] = (hash, word.len().min(64));
    ends[..=count]
        .iter()
        .rev()
        .find_map(|&(hash, len)| mnemonics.find(hash, &word[..len]).map(|opcode| (opcode, len)))
}

/// How an instruction is written, with what it must have: `sample_resource(n)_sampler(m) dst, src`.
pub(crate) fn usage(opcode: Opcode) -> String {
    let row = opcode.row();
    let mut word = row.mnemonic.to_string();
    let mut operands = Vec::new();
    let stores = row.mnemonic.contains("store") || row.mnemonic.contains("write");
    operands.extend((0..row.destinations).map(|_| if stores { "mem" } else { "dst" }.to_string()));
    operands.extend((0..row.sources).map(|k| match (row.category, row.sources) {
        (Category::Decl, _) => "register".to_string(),
        (_, 1) => "src".to_string(),
        _ => format!("src{k}"),
    }));
    for item in row.controls.split_whitespace() {
        let required = item.trim_start_matches('{').trim_end_matches('}');
        match required.as_bytes()[0] {
            b'[' => {}
            b'<' => operands.push(required.trim_matches(['<', '>']).to_string()),
            _ => word += alternatives(required).next().unwrap_or_default(),
        }
    }
    if operands.is_empty() { word } else { format!("{word} {}", operands.join(", ")) }
}

/// Words that a specifier defines: accepted spelling and canonical spelling.
pub(crate) fn words_of(specifier: &str) -> &'static [(&'static str, &'static str)] {
    macro_rules! list {
        ($($word:literal $(= $canonical:literal)?),* $(,)?) => { &[$(($word, list!(@ $word $(, $canonical)?))),*] };
        (@ $word:literal) => { $word };
        (@ $word:literal, $canonical:literal) => { $canonical };
    }
    match specifier {
        "type" | "resourcetype" => list![
            "1d",
            "2d",
            "3d",
            "cubemap",
            "2dmsaa",
            "4c",
            "4comp" = "4c",
            "buffer",
            "1darray",
            "2darray",
            "2darraymsaa",
            "2dms_array" = "2darraymsaa",
            "2dplusw",
            "cubemapplusw",
            "cubemaparray",
            "unknown",
            "unnorm"
        ],
        "fmtx" | "fmty" | "fmtz" | "fmtw" => {
            list!["unknown", "snorm", "unorm", "sint", "uint", "float", "srgb", "mixed"]
        }
        "interp" => list![
            "notused",
            "constant",
            "linear",
            "linear_centroid",
            "linear_noperspective",
            "linear_noperspective_centroid",
            "linear_sample",
            "linear_noperspective_sample",
            "centroid" = "linear_centroid",
            "noperspective" = "linear_noperspective",
            "sample" = "linear_sample",
            "noper_centroid" = "linear_noperspective_centroid",
            "noper_sample" = "linear_noperspective_sample",
            "linear_noper_centroid" = "linear_noperspective_centroid",
            "linear_noper_sample" = "linear_noperspective_sample"
        ],
        "usage" => list![
            "position",
            "pos" = "position",
            "wincoord" = "position",
            "pointsize",
            "color",
            "backcolor",
            "fog",
            "pixel_sample_coverage",
            "generic",
            "clipdistance",
            "culldistance",
            "primitiveid",
            "vertexid",
            "instanceid",
            "isfrontface",
            "lod",
            "coloring",
            "node_coloring",
            "normal",
            "rendertarget_array_index",
            "viewport_array_index",
            "undefined",
            "sample_index"
        ],
        "coordtype" | "coordmode" => list!["normalized", "unnormalized", "unknown"],
        "relop" => list!["ne", "eq", "ge", "gt", "le", "lt"],
        "zeroop" => list!["fltmax", "zero", "infinity", "inf_else_max"],
        "compselect" => list!["x", "y", "z", "w", "r" = "x", "g" = "y", "b" = "z", "a" = "w"],
        "size" => list!["dword", "short", "byte"],
        "access" => list!["read_write", "read_only", "write_only", "private"],
        "sharingMode" => list!["rel", "abs"],
        "matrix" => list!["4x4", "4x3", "3x4", "3x3", "3x2", "2x3", "2x2", "4x2", "2x4"],
        "x" | "y" | "z" | "w" => list!["*", "-", "0", "1"],
        _ => &[],
    }
}

/// Spellings near `word`, for "did you mean".
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 40 {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let limit = (word.len() / 3).clamp(1, 3);
    candidates
        .map(|c| (distance(word.as_bytes(), c.to_ascii_lowercase().as_bytes()), c))
        .filter(|&(d, c)| d <= limit && d < c.len())
        // Of equally near ones, that which begins alike.
        .min_by_key(|&(d, c)| (d, Reverse(word.bytes().zip(c.bytes()).take_while(|(a, b)| a == b).count())))
        .map(|(_, c)| c)
}

/// Every mnemonic usable in kernels, for suggestions.
pub(crate) fn mnemonics() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(|row| row.scope == Scope::Compute).map(|row| row.mnemonic)
}

/// Levenshtein distance, with a swap of neighbours counted as one change.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let change = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_nearest_spelling_begins_alike() {
        let near = |word| super::nearest(word, super::mnemonics());
        assert_eq!([near("madd"), near("mull"), near("saturate")], [Some("mad"), Some("mul"), None]);
    }
}
