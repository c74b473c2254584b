//! Graphics-only rows: each must be refused by name, with a reason.

use recal_il::isa::{Row, Scope, TABLE};

use crate::case::{Case, Needs};

/// Old spellings that pixel kernels of the first generation use: accepted, with cases in files.
const ACCEPTED: &[&str] = &["callnz", "dclpt", "texld", "texldb", "texldd"];

/// One case a row.
pub fn refused() -> Vec<Case> {
    let graphics =
        TABLE.iter().filter(|row| row.scope == Scope::Graphics && !ACCEPTED.contains(&row.mnemonic));
    graphics.map(case).collect()
}

/// A kernel with the instruction and operands as its row asks for.
fn case(row: &Row) -> Case {
    let mut word = row.mnemonic.to_owned();
    let mut operands: Vec<String> = Vec::new();
    for k in 0..row.destinations + row.sources {
        operands.push(format!("r{k}"));
    }
    for item in row.controls.split_whitespace() {
        match item.strip_prefix('{').and_then(|i| i.strip_suffix('}')) {
            Some(choice) => word.push_str(&argument(choice.split('|').next().unwrap_or_default())),
            None if item.starts_with('_') => word.push_str(&argument(item)),
            None if item.starts_with('<') => operands.push(match item {
                "<bool>" => "true".into(),
                "<word>" => "line".into(),
                _ => "1".into(),
            }),
            None => {}
        }
    }
    let text = format!("il_ps_2_0\n{word} {}\nend\n", operands.join(", "));
    Case {
        name: format!("refused/{}", row.mnemonic),
        text,
        from: "the column scope of the instruction table".into(),
        extent: None,
        buffers: Vec::new(),
        samplers: Vec::new(),
        params: None,
        refused: Some(row.mnemonic.to_owned()),
        needs: Needs::default(),
        faithful_only: false,
        checks: 1,
    }
}

/// `_stage(n)` with a value.
fn argument(specifier: &str) -> String {
    match specifier.split_once('(') {
        Some((name, _)) => {
            let value = match name {
                "_x" | "_y" | "_z" | "_w" => "*",
                "_type" => "2d",
                "_coordmode" => "normalized",
                "_usage" => "generic",
                _ => "0",
            };
            format!("{name}({value})")
        }
        None => specifier.replace("<word>", "tri"),
    }
}
