//! Words of a case: spelling of initial and expected values, and when a word is as expected.

/// What a word, or a byte, must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Anything.
    Any,
    /// This word.
    Word(u32),
    /// This byte.
    Byte(u8),
    /// A NaN of any payload.
    Nan,
    /// A float of this interval (bits of the ends, inclusive); the zeros are equal.
    Between(u32, u32),
    /// Either word: the documents allow both.
    OneOf(u32, u32),
}

impl Want {
    /// Bytes it speaks about.
    pub fn bytes(self) -> usize {
        if matches!(self, Want::Byte(_)) { 1 } else { 4 }
    }

    /// Whether the little-endian bytes at the front of `memory` are as wanted. `loose` is for devices in native
    /// float mode: NaNs are alike, denormals may be zeros, zeros have no sign.
    pub fn accepts(self, memory: &[u8], loose: bool) -> bool {
        if let Want::Byte(b) = self {
            return memory[0] == b;
        }
        let word = u32::from_le_bytes([memory[0], memory[1], memory[2], memory[3]]);
        match self {
            Want::Any => true,
            Want::Word(w) => word == w || loose && loosely_equal(word, w),
            Want::Nan => is_nan(word),
            Want::OneOf(a, b) => word == a || word == b || loose && loosely_equal(word, a),
            Want::Between(low, high) => {
                !is_nan(word) && order(low) <= order(word) && order(word) <= order(high)
            }
            Want::Byte(_) => unreachable!("handled above"),
        }
    }
}

fn is_nan(word: u32) -> bool {
    word & 0x7FFF_FFFF > 0x7F80_0000
}

fn loosely_equal(a: u32, b: u32) -> bool {
    let tiny = |w: u32| w & 0x7F80_0000 == 0;
    is_nan(a) && is_nan(b) || tiny(a) && tiny(b) && (a & 0x7FFF_FFFF == 0 || b & 0x7FFF_FFFF == 0)
}

/// Position of a float on the number line; the zeros share one.
pub(crate) fn order(word: u32) -> i64 {
    let magnitude = i64::from(word & 0x7FFF_FFFF);
    if word >> 31 == 1 { -magnitude } else { magnitude }
}

/// One item of a data list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Item {
    Value(Want),
    /// `...`: the rest is as it was.
    Rest,
}

/// Parses a data list, see [`super::parse`].
pub(super) fn parse_list(text: &str) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    for token in text.split_ascii_whitespace() {
        parse_token(token, &mut items).map_err(|why| format!("`{token}`: {why}"))?;
    }
    Ok(items)
}

fn parse_token(token: &str, items: &mut Vec<Item>) -> Result<(), String> {
    if token == "..." {
        items.push(Item::Rest);
        return Ok(());
    }
    if let Some((item, times)) = token.rsplit_once('*') {
        let times: usize = times.parse().map_err(|_| "the number after * is not a count".to_owned())?;
        let mut one = Vec::new();
        parse_token(item, &mut one)?;
        (0..times).for_each(|_| items.extend_from_slice(&one));
        return Ok(());
    }
    if let Some(hex) = token.strip_prefix("b:") {
        if hex.len() % 2 != 0 {
            return Err("bytes need two hex digits each".into());
        }
        for k in (0..hex.len()).step_by(2) {
            let pair = hex.get(k..k + 2).ok_or("not hex digits")?;
            let byte = u8::from_str_radix(pair, 16).map_err(|_| "not hex digits".to_owned())?;
            items.push(Item::Value(Want::Byte(byte)));
        }
        return Ok(());
    }
    if let Some(double) = token.strip_prefix("d:") {
        let bits = double.parse::<f64>().map_err(|_| "not a number".to_owned())?.to_bits();
        items.push(Item::Value(Want::Word(bits as u32)));
        items.push(Item::Value(Want::Word((bits >> 32) as u32)));
        return Ok(());
    }
    if let Some((first, last)) = token.split_once("..") {
        if is_float(first) {
            let (a, b) = (float(first)?, float(last)?);
            let steps = (b - a).max(-1.0) as i64;
            items.extend((0..=steps).map(|k| Item::Value(Want::Word((a + k as f32).to_bits()))));
        } else {
            let (a, b) = (integer(first)?, integer(last)?);
            items.extend((a..=b).map(|v| Item::Value(Want::Word(v as u32))));
        }
        return Ok(());
    }
    if let Some((value, ulps)) = token.split_once('~') {
        let centre = float(value)?.to_bits();
        let ulps: u32 = ulps.parse().map_err(|_| "the number after ~ is not a count of ulps".to_owned())?;
        items.push(Item::Value(within(centre, ulps)));
        return Ok(());
    }
    if let Some((low, high)) =
        token.strip_prefix('[').and_then(|t| t.strip_suffix(']')).and_then(|t| t.split_once(','))
    {
        items.push(Item::Value(Want::Between(word(low)?, word(high)?)));
        return Ok(());
    }
    if let Some((one, other)) = token.split_once('|') {
        items.push(Item::Value(Want::OneOf(word(one)?, word(other)?)));
        return Ok(());
    }
    items.push(Item::Value(match token {
        "_" => Want::Any,
        "nan" => Want::Nan,
        _ => Want::Word(word(token)?),
    }));
    Ok(())
}

/// The interval of `ulps` floats on either side.
pub(crate) fn within(centre: u32, ulps: u32) -> Want {
    let float = |position: i64| if position < 0 { (-position) as u32 | 0x8000_0000 } else { position as u32 };
    let position = order(centre);
    Want::Between(float(position - i64::from(ulps)), float(position + i64::from(ulps)))
}

fn is_float(text: &str) -> bool {
    !text.starts_with("0x") && (text.contains('.') || text.contains("inf") || text.contains('e'))
}

fn word(text: &str) -> Result<u32, String> {
    if is_float(text) { Ok(float(text)?.to_bits()) } else { Ok(integer(text)? as u32) }
}

fn float(text: &str) -> Result<f32, String> {
    text.parse().map_err(|_| "not a float".to_owned())
}

fn integer(text: &str) -> Result<i64, String> {
    let value = match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).map_err(|_| "not a hex number".to_owned())?,
        None => text.parse().map_err(|_| "not a number".to_owned())?,
    };
    if (-(1 << 31)..1 << 32).contains(&value) { Ok(value) } else { Err("does not fit 32 bits".into()) }
}
