//! Every instruction of the table that kernels may contain, in every specifier it takes, is accepted, and
//! survives printing; random operands too. The statements are made from the table's `controls` column.

use recal_il::diagnostic::render;
use recal_il::isa::{Category, Row, Scope, TABLE, VectorRule};
use recal_il::text::{Ast, parse, print};

/// A small generator of numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Declared in every program: something of each kind.
const PRELUDE: &str = "dcl_literal l0, 1, 2.0, 0x3, -4\ndcl_cb cb0[8]\ndcl_indexed_temp_array x0[4]\n\
     dcl_resource_id(0)_type(2d,unnorm)\ndcl_uav_id(1)_type(2d)_fmtx(float)\ndcl_raw_uav_id(2)\n\
     dcl_struct_uav_id(3) 16\ndcl_arena_uav_id(4)\ndcl_raw_srv_id(5)\ndcl_struct_srv_id(6) 16\ndcl_gds_id(0) 64\n\
     dcl_shared_temp sr4\n";
const GROUP: &str = "dcl_num_thread_per_group 64\n";
const LDS: &str = "dcl_lds_id(0) 1024\ndcl_lds_size_per_thread 32\n";

/// Instructions that only stand in a certain place are tested in whole programs of `accept/`.
const STRUCTURE: &[&str] = &[
    "if", "else", "end", "loop", "switch", "case", "default", "func", "break", "continue", "call", "m",
    "dclpi",
];

fn structural(row: &Row) -> bool {
    let mnemonic = row.mnemonic;
    row.category == Category::Flow
        && STRUCTURE.iter().any(|s| mnemonic.starts_with(s))
        && !mnemonic.starts_with("ret")
        || mnemonic == "whileloop"
}

fn refused_with_reason(row: &Row) -> bool {
    row.mnemonic.contains("semaphore")
}

fn id_of(row: &Row) -> u32 {
    let m = row.mnemonic;
    match row.category {
        Category::Uav if matches!(m, "uav_load" | "uav_store") => 1,
        Category::Uav if m.starts_with("uav_struct") => 3,
        Category::Uav if m.starts_with("uav_arena") => 4,
        Category::Uav => 2,
        _ if m == "srv_raw_load" => 5,
        _ if m == "srv_struct_load" => 6,
        _ => 0,
    }
}

/// Sample arguments of `_name(argument)`.
fn arguments(row: &Row, name: &str, argument: &str, random: &mut Random) -> String {
    match (name, argument) {
        ("_id" | "_resource", _) if row.category == Category::Decl => "7".into(),
        ("_id" | "_resource" | "_uav", _) if row.mnemonic == "bufinfo" => {
            if name == "_uav" {
                "2".into()
            } else {
                "0".into()
            }
        }
        ("_id" | "_resource" | "_uav", _) => id_of(row).to_string(),
        ("_sampler" | "_stage", _) => random.below(16).to_string(),
        ("_type" | "_resourcetype", _) => random.pick(&["1d", "2d", "3d", "buffer"]).into(),
        ("_coordtype", _) => random.pick(&["normalized", "unnormalized"]).into(),
        ("_relop", _) => random.pick(&["ne", "eq", "ge", "gt", "le", "lt"]).into(),
        ("_zeroop", _) => random.pick(&["fltmax", "zero", "infinity", "inf_else_max"]).into(),
        ("_cmpval", _) => random.pick(&["0.0", "0.5", "1.0", "-0.5", "-1.0"]).into(),
        ("_aoffimmi" | "_addroffimmi", _) => random.pick(&["1,0,0", "-8.0,7.5,0.5"]).into(),
        ("_compselect", _) => random.pick(&["x", "y", "z", "w"]).into(),
        ("_matrix", _) => "3x3".into(),
        ("_lOffset", _) => (random.below(3) * 4).to_string(),
        ("_sharingMode", _) => "rel".into(),
        ("_usage", _) => "generic".into(),
        ("_usageIndex", _) => "1".into(),
        ("_interp", _) => random.pick(&["linear", "constant", "linear_noperspective"]).into(),
        ("_access", _) => "read_only".into(),
        ("_stride", _) => "4".into(),
        ("_length", _) => "-1".into(),
        ("_size", words) => words.split('|').nth(random.below(3)).unwrap_or("byte").into(),
        (n, _) if n.starts_with("_fmt") => random.pick(&["float", "uint", "unknown"]).into(),
        (n, a) => panic!("no sample argument for {n}({a}) of {}", row.mnemonic),
    }
}

/// Splits at `|` outside parentheses.
fn alternatives(body: &str) -> Vec<String> {
    let mut depth = 0;
    body.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == '|' && depth == 0
    })
    .map(str::to_string)
    .collect()
}

/// The opcode word with a choice of specifiers, and sample values for `<…>` operands.
fn opword(row: &Row, random: &mut Random) -> (String, Vec<String>, bool) {
    let mut specifiers = Vec::new();
    let mut values = Vec::new();
    let mut ext = false;
    for item in row.controls.split_whitespace() {
        let optional = item.starts_with('[');
        let body = if optional || item.starts_with('{') { &item[1..item.len() - 1] } else { item };
        if body.starts_with('<') {
            let value = match body {
                "<flags>" => "refactoringAllowed|enableDoublePrecisionFloatOps",
                "<stride>" | "<bytes>" | "<count>" => "16",
                _ if row.mnemonic.contains("thread_per_") => "1",
                "<int>" => "32",
                _ => random.pick(&["0x10", "2.5", "-3", "1e3", "4294967295"]),
            };
            values.push(value.to_string());
            continue;
        }
        if optional && random.below(2) == 0 {
            continue;
        }
        let options = alternatives(body);
        let chosen = options[random.below(options.len())].replace("<u>", "generic");
        ext |= chosen == "_ext";
        specifiers.push(match chosen.split_once('(') {
            Some((name, rest)) => {
                format!("{name}({})", arguments(row, name, rest.trim_end_matches(')'), random))
            }
            None => chosen,
        });
    }
    if row.mnemonic == "fence" {
        specifiers.push("_memory".into());
        specifiers.dedup();
        let last = specifiers.len() - 1;
        if specifiers[..last].contains(&"_memory".to_string()) {
            specifiers.pop();
        }
    }
    // Any order is accepted.
    for k in (1..specifiers.len()).rev() {
        specifiers.swap(k, random.below(k + 1));
    }
    let spelling = if random.below(3) == 0 && !row.aliases.is_empty() {
        row.aliases[random.below(row.aliases.len())]
    } else {
        row.mnemonic
    };
    (format!("{spelling}{}", specifiers.concat()), values, ext)
}

fn source(random: &mut Random, compute: bool) -> String {
    let register = match random.below(10) {
        0 => "l0".into(),
        1 => format!("cb0[{}]", random.below(8)),
        2 => format!("cb0[r{}.{}+{}]", random.below(9), random.pick(&["x", "y", "z", "w"]), random.below(5)),
        3 => "x0[r1.y]".into(),
        4 => "g[l0.x - 1]".into(),
        5 if compute => random.pick(&["vTidInGrp0", "vAbsTidFlat", "vThreadGrpId"]).into(),
        5 => random.pick(&["v0", "vWinCoord0"]).into(),
        _ => format!("r{}", random.below(3000)),
    };
    let swizzle: String =
        (0..random.below(5)).map(|_| random.pick(&["x", "y", "z", "w", "0", "1"])).collect();
    let modifier = random.pick(&["", "", "", "_neg(xyzw)", "_neg(y)", "_abs", "_neg_abs", "_bx2"]);
    let dot = if swizzle.is_empty() { "" } else { "." };
    if random.below(2) == 0 {
        format!("{register}{dot}{swizzle}{modifier}")
    } else {
        format!("{register}{modifier}{dot}{swizzle}")
    }
}

fn destination(row: &Row, random: &mut Random) -> String {
    let stores = row.mnemonic.contains("store") || row.mnemonic == "lds_write_vec";
    if stores {
        return random.pick(&["mem", "mem0.xy__", "mem[0].x", "mem.xyzw"]).into();
    }
    let mask = if row.rule == VectorRule::DoublePair {
        random.pick(&["", ".xy", ".__zw", ".xyzw", ".zw", ".xy00"])
    } else {
        random.pick(&["", ".x", ".xy__", ".__z_", ".xz", ".0yzw", ".y00", ".x_1"])
    };
    match random.below(6) {
        0 => format!("x0[2]{mask}"),
        1 => format!("g[r0.w+3]{mask}"),
        _ => format!("r{}{mask}", random.below(3000)),
    }
}

/// The register of a declaration.
fn declared(row: &Row) -> &'static str {
    match row.mnemonic {
        "dcl_literal" => "l9",
        "dcl_cb" => "cb9[16]",
        "dcl_indexed_temp_array" => "x9[8]",
        "dcl_shared_temp" => "sr2",
        "dcl_input" => "v3.xy__",
        "dcl_output" => "o0.xyz_",
        "dclpi" => "vWinCoord0",
        other => panic!("no register for {other}"),
    }
}

fn statement(row: &Row, random: &mut Random, compute: bool) -> String {
    let (word, values, ext) = opword(row, random);
    let mut operands = Vec::new();
    if row.category == Category::Decl {
        if row.destinations + row.sources > 0 {
            operands.push(declared(row).to_string());
        }
    } else {
        (0..row.destinations).for_each(|_| operands.push(destination(row, random)));
        (0..row.sources).for_each(|_| operands.push(source(random, compute)));
    }
    if ext {
        let two = row.category == Category::Texture && !matches!(row.mnemonic, "load" | "resinfo");
        (0..1 + usize::from(two)).for_each(|_| operands.push(source(random, compute)));
    }
    operands.extend(values);
    format!("{word} {}\n", operands.join(random.pick(&[", ", ",", " ,\t"])))
}

fn program(statements: &str, compute: bool) -> String {
    if !compute {
        return format!("il_ps_2_0\n{PRELUDE}{statements}end\n");
    }
    let group = if statements.contains("thread_per_") { "" } else { GROUP };
    format!("il_cs_2_0\n{group}{LDS}{PRELUDE}{statements}end\n")
}

fn only_pixel(row: &Row) -> bool {
    matches!(row.mnemonic, "dcl_input" | "dcl_output" | "discard_logicalz" | "discard_logicalnz")
}

fn roundtrip(text: &str) {
    let tree = match parse(text.as_bytes()) {
        Ok(tree) => tree.without_spans(),
        Err(errors) => panic!("{}", render(&errors, text.as_bytes(), "generated")),
    };
    let printed = print(&tree);
    assert_eq!(parse(printed.as_bytes()).map(Ast::without_spans), Ok(tree), "{text}\n{printed}");
}

#[test]
fn every_instruction_of_kernels_is_accepted() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut seen = 0;
    for row in TABLE.iter().filter(|r| r.scope == Scope::Compute) {
        if structural(row) || refused_with_reason(row) || row.mnemonic == "dclpi" {
            continue;
        }
        seen += 1;
        for _ in 0..25 {
            let compute = !only_pixel(row);
            let text = program(&statement(row, &mut random, compute), compute);
            if let Err(errors) = recal_il::front(text.as_bytes()) {
                panic!("{}", render(&errors, text.as_bytes(), row.mnemonic));
            }
            roundtrip(&text);
        }
    }
    assert!(seen > 330, "only {seen} instructions were tried");
}

#[test]
fn every_other_instruction_is_refused_by_name() {
    let mut refused = 0;
    for row in TABLE.iter().filter(|r| r.scope == Scope::Graphics) {
        if ["texld", "texldb", "texldd", "callnz", "dclpt"].contains(&row.mnemonic) {
            continue;
        }
        let operands =
            (0..row.destinations + row.sources).map(|k| format!("r{k}")).collect::<Vec<_>>().join(", ");
        let text = format!("il_ps_2_0\n{} {operands}\nend\n", row.mnemonic);
        let errors = recal_il::front(text.as_bytes()).expect_err(row.mnemonic);
        assert!(!errors.is_empty());
        // Where the plain form is complete, the reason is the name.
        if row.controls.split_whitespace().all(|c| c.starts_with('[')) {
            assert!(
                matches!(errors[0].rule, "graphics-only" | "legacy" | "undocumented"),
                "{}: {:?}",
                row.mnemonic,
                errors[0]
            );
            assert!(errors[0].message.contains(row.mnemonic), "{}", errors[0].message);
        }
        refused += 1;
    }
    assert!(refused > 50);
}

#[test]
fn generated_programs_survive_printing() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let rows: Vec<&Row> = TABLE
        .iter()
        .filter(|r| r.scope == Scope::Compute && r.category != Category::Decl && !structural(r))
        .filter(|r| !refused_with_reason(r) && !only_pixel(r))
        .collect();
    for _ in 0..60 {
        let mut body = String::new();
        let mut open = Vec::new();
        for _ in 0..random.below(120) {
            match random.below(12) {
                0 => {
                    body += "if_logicalnz r0.x\n";
                    open.push("endif\n");
                }
                1 => {
                    body += "whileloop\nbreak_logicalz r3.y\n";
                    open.push("endloop\n");
                }
                2 => {
                    body += "switch r0.x\ncase -1\ncase 0x7\nbreak\ndefault\n";
                    open.push("break\nendswitch\n");
                }
                3 => body += open.pop().unwrap_or("nop\n"),
                4 => body += "mcall(3)(r1.xy), (r2_neg(x).yxwz)\n",
                _ => body += &statement(rows[random.below(rows.len())], &mut random, true),
            }
        }
        while let Some(close) = open.pop() {
            body += close;
        }
        body += "mdef(3)_out(1)_in(1)\nadd out0, in0, r0\nmend\n";
        let text = program(&body, true);
        if let Err(errors) = recal_il::front(text.as_bytes()) {
            panic!("{}", render(&errors, text.as_bytes(), "generated"));
        }
        roundtrip(&text);
        // All on one line is the same program.
        let one_line = text.replace('\n', " ");
        let tree = |t: &str| parse(t.as_bytes()).map(Ast::without_spans);
        assert_eq!(tree(&text), tree(&one_line));
    }
}
