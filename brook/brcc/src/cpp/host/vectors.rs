//! `unsigned int4`, which is `uint4`: to C++ vectors are classes, which have no sign before them.

use crate::diagnostic::Report;
use crate::lex::{Kind, lex};
use crate::types::{Scalar, Type};

/// The text with the signs of vectors in their names.
pub(crate) fn signs(text: &str) -> String {
    let mut out = String::new();
    if !text.contains("signed") {
        return text.to_owned();
    }
    let tokens = lex(text, &mut Report::default());
    let mut copied = 0;
    for pair in tokens.windows(2) {
        let [sign, name] = pair else { continue };
        if sign.kind != Kind::Word || name.kind != Kind::Word {
            continue;
        }
        let name_text = name.span.of(text);
        let prefix = match (sign.span.of(text), Type::named(name_text)) {
            ("unsigned", Some(Type::Vector(Scalar::Char | Scalar::Short | Scalar::Int, 2..))) => "u",
            ("signed", Some(Type::Vector(Scalar::Char | Scalar::Short | Scalar::Int, 2..))) => "",
            _ => continue,
        };
        out.push_str(&text[copied..sign.span.start as usize]);
        out.push_str(prefix);
        copied = name.span.start as usize;
    }
    out.push_str(&text[copied..]);
    out
}

/// A word stands in the text.
pub(crate) fn mentions(text: &str, word: &str) -> bool {
    let tokens = lex(text, &mut Report::default());
    tokens.iter().any(|token| token.kind == Kind::Word && token.span.of(text) == word)
}

#[cfg(test)]
mod tests {
    use super::signs;

    #[test]
    fn vectors_have_their_sign_in_the_name() {
        let text = "unsigned int4 f(const unsigned  short2*, signed char3); unsigned int n = sizeof(unsigned int2); /* unsigned int4 */";
        let want = "uint4 f(const ushort2*, char3); unsigned int n = sizeof(uint2); /* unsigned int4 */";
        assert_eq!(signs(text), want);
        assert_eq!(signs("unsigned float4 \"unsigned int4\""), "unsigned float4 \"unsigned int4\"");
    }
}
