//! Spelling rules, one test each. Expected values are the reference's tables.

use super::ast::{File, Index, Modifiers, Number, Operand, OperandKind, Select, Write};
use super::{Ast, parse};
use crate::diagnostic::{Diagnostic, Severity};
use crate::isa::Opcode;

fn tree(body: &str) -> Ast {
    let text = format!("il_ps_2_0\n{body}\nend\n");
    parse(text.as_bytes()).unwrap_or_else(|e| panic!("{body}: {e:?}"))
}

fn refused(body: &str) -> Diagnostic {
    let text = format!("il_ps_2_0\n{body}\nend\n");
    parse(text.as_bytes()).err().unwrap_or_else(|| panic!("{body} was accepted")).remove(0)
}

fn operand(body: &str, k: usize) -> Operand {
    let ast = tree(body);
    ast.operands(&ast.statements[0])[k]
}

fn mask(spelling: &str) -> String {
    let OperandKind::Destination { mask, .. } = operand(&format!("mov r0{spelling}, r1"), 0).kind else {
        panic!("{spelling} is no mask");
    };
    let letter = |(k, w): (usize, Write)| match w {
        Write::Keep => '_',
        Write::Result => ['x', 'y', 'z', 'w'][k],
        Write::Zero => '0',
        Write::One => '1',
    };
    mask.into_iter().enumerate().map(letter).collect()
}

fn source(spelling: &str) -> (String, u8, Modifiers) {
    let OperandKind::Source { swizzle, given, modifiers, .. } =
        operand(&format!("mov r0, {spelling}"), 1).kind
    else {
        panic!("{spelling} is no source");
    };
    let letter = |s| match s {
        Select::X => 'x',
        Select::Y => 'y',
        Select::Z => 'z',
        Select::W => 'w',
        Select::Zero => '0',
        Select::One => '1',
    };
    (swizzle.into_iter().map(letter).collect(), given, modifiers)
}

#[test]
fn masks_in_all_three_spellings() {
    for (spelling, meaning) in [
        ("", "xyzw"),
        (".xyzw", "xyzw"),
        (".x_z0", "x_z0"),
        (".x", "x___"),
        (".zw", "__zw"),
        (".xz", "x_z_"),
        (".xzw", "x_zw"),
        (".0y", "0y__"),
        (".0yzw", "0yzw"),
        (".x000", "x000"),
        (".xy00", "xy00"),
        (".0y00", "0y00"),
        (".xyz0", "xyz0"),
        (".x0__", "x0__"),
        (".x0", "x0__"),
        (".y00", "_y00"),
        (".__z_", "__z_"),
        (".rgba", "xyzw"),
        (".ga", "_y_w"),
        (".XY__", "xy__"),
        (".1___", "1___"),
    ] {
        assert_eq!(mask(spelling), meaning, "{spelling}");
    }
    for bad in [".yx", ".xx", ".w0", ".xyzw0", ".q", ".", ".___z0"] {
        assert_eq!(refused(&format!("mov r0{bad}, r1")).rule, "mask", "{bad}");
    }
}

#[test]
fn short_swizzles_repeat_the_last_position() {
    for (spelling, meaning, given) in [
        ("r1", "xyzw", 4),
        ("r1.y", "yyyy", 1),
        ("r1.1", "1111", 1),
        ("r1.xy", "xyyy", 2),
        ("r1.xw", "xwww", 2),
        ("r1.xyz", "xyzz", 3),
        ("r1.11", "1111", 2),
        ("r1.x0", "x000", 2),
        ("r1.0x00", "0x00", 4),
        ("r1.wzyx", "wzyx", 4),
        ("r1.bgra", "zyxw", 4),
        ("r1.XYZW", "xyzw", 4),
    ] {
        let (swizzle, count, _) = source(spelling);
        assert_eq!((swizzle.as_str(), count), (meaning, given), "{spelling}");
    }
    for bad in ["r1._", "r1.x_y", "r1.xyzwx", "r1.rx", "r1.2", "r1."] {
        assert_eq!(refused(&format!("mov r0, {bad}")).rule, "swizzle", "{bad}");
    }
}

#[test]
fn modifiers_stand_on_both_sides_of_the_swizzle() {
    let neg = |bits| Modifiers { neg: bits, ..Modifiers::default() };
    for (spelling, swizzle, modifiers) in [
        ("r1_neg(xyzw).x000", "x000", neg(15)),
        ("r1.x000_neg(xyzw)", "x000", neg(15)),
        ("r1_neg.x", "xxxx", neg(15)),
        ("r1.zw_neg(y)", "zwww", neg(2)),
        ("r1_neg(y).zw", "zwww", neg(2)),
        ("r1_neg(xz)", "xyzw", neg(5)),
        ("r1_neg()", "xyzw", neg(15)),
        ("r1_neg(xyzw)_abs", "xyzw", Modifiers { abs: true, ..neg(15) }),
        ("r1_abs_neg(xyzw)", "xyzw", Modifiers { abs: true, ..neg(15) }),
        ("r1_abs.y_neg(x)", "yyyy", Modifiers { abs: true, ..neg(1) }),
        ("r1.x_abs", "xxxx", Modifiers { abs: true, ..neg(0) }),
        ("r1_bx2", "xyzw", Modifiers { bias: true, x2: true, ..neg(0) }),
        ("r1_bias_x2", "xyzw", Modifiers { bias: true, x2: true, ..neg(0) }),
        ("r1_invert_sign_sat", "xyzw", Modifiers { invert: true, sign: true, saturate: true, ..neg(0) }),
        ("r1_divComp(z)", "xyzw", Modifiers { div_comp: Some(2), ..neg(0) }),
        ("r1_DIVCOMP(unknown)", "xyzw", Modifiers { div_comp: Some(0), ..neg(0) }),
    ] {
        let (found, _, m) = source(spelling);
        assert_eq!((found.as_str(), m), (swizzle, modifiers), "{spelling}");
    }
}

fn literal(value: &str) -> Number {
    match operand(&format!("dcl_literal l0, {value}, 0, 0, 0"), 1).kind {
        OperandKind::Number(n) => n,
        other => panic!("{value}: {other:?}"),
    }
}

#[test]
fn spelling_decides_the_type_of_a_literal() {
    for (value, bits) in [
        ("12", 12),
        ("-1", 0xFFFF_FFFF),
        ("+7", 7),
        ("4294967295", 0xFFFF_FFFF),
        ("-2147483648", 0x8000_0000),
        ("0x3F800000", 0x3F80_0000),
        ("0Xabc", 0xABC),
        ("0x0", 0),
        ("1.0", 0x3F80_0000),
        ("-0.5", 0xBF00_0000),
        ("2.", 0x4000_0000),
        (".5", 0x3F00_0000),
        ("1e3", 0x447A_0000),
        ("1E+3", 0x447A_0000),
        ("25e-2", 0x3E80_0000),
        ("1024.0f", 0x4480_0000),
        ("1f", 0x3F80_0000),
        ("0.0f", 0),
        ("-0.0", 0x8000_0000),
        ("0.1", 0x3DCC_CCCD),
        ("16777217.0", 0x4B80_0000),
    ] {
        assert_eq!(literal(value).bits(), bits, "{value}");
    }
    for bad in ["4294967296", "-2147483649", "0x100000000", "0x", "1e39", "99999999999999999999"] {
        let rule = if bad == "0x" { "bad-number" } else { "literal-range" };
        assert_eq!(refused(&format!("dcl_literal l0, {bad}, 0, 0, 0")).rule, rule, "{bad}");
    }
}

#[test]
fn indices_take_a_register_component_and_an_offset() {
    let index = |spelling: &str| match operand(&format!("mov r0, {spelling}"), 1).kind {
        OperandKind::Source { register, .. } => register.index,
        _ => None,
    };
    let at = |base, offset| Some(Index { base, offset });
    assert_eq!(index("cb0[3]"), at(None, 3));
    assert_eq!(index("cb0[r1.x+2]"), at(Some((File::Temp, Some(1), 0)), 2));
    assert_eq!(index("cb0[l0.x + 3]"), at(Some((File::Literal, Some(0), 0)), 3));
    assert_eq!(index("g[ r5.w -1 ]"), at(Some((File::Temp, Some(5), 3)), -1));
    assert_eq!(index("g[r5]"), at(Some((File::Temp, Some(5), 0)), 0));
    assert_eq!(index("g[vAbsTidFlat.x]"), at(Some((File::AbsTidFlat, None, 0)), 0));
    assert_eq!(index("g[vaTid0.g]"), at(Some((File::AbsTid, Some(0), 1)), 0));
}

fn opcodes(body: &str) -> Vec<Opcode> {
    tree(body).statements.iter().map(|s| s.opcode).collect()
}

#[test]
fn statements_end_without_white_space() {
    use Opcode as O;
    assert_eq!(opcodes("ftoi r0.x, r1.yitof r2.x, r0.x"), [O::Ftoi, O::Itof, O::End]);
    assert_eq!(opcodes("mov r0, r1mov r2, r3"), [O::Mov, O::Mov, O::End]);
    assert_eq!(opcodes("mov r0, cb0[1]add r2, r3, r4"), [O::Mov, O::Add, O::End]);
    assert_eq!(opcodes("mov r0, r1.xadd r2, r3, r4"), [O::Mov, O::Add, O::End]);
    assert_eq!(opcodes("mov r0, r1.x_absadd r2, r3, r4"), [O::Mov, O::Add, O::End]);
    assert_eq!(opcodes("dcl_literal l0, 1, 2, 3, 4mov r0, l0"), [O::DclLiteral, O::Mov, O::End]);
    assert_eq!(opcodes("dcl_literal l0, 1, 2, 3, 4.0ftoi r0, l0"), [O::DclLiteral, O::Ftoi, O::End]);
    assert_eq!(opcodes("dcl_input_position_interp(linear) v0.xy__mov r0, v0"), [O::DclInput, O::Mov, O::End]);
    let ast = tree("ftoi r0.x, r1.yitof r2.x, r0.x");
    assert_eq!(ast.warnings.len(), 1);
    assert_eq!(ast.warnings[0].rule, "glued-statement");
}

#[test]
fn line_breaks_mean_nothing() {
    let lines = tree("mad r0.xy,\n  r1, ; first\n  r2,r3\nwhileloop break_logicalnz\nr0.x endloop");
    let line = tree("mad r0.xy, r1, r2, r3 whileloop break_logicalnz r0.x endloop");
    assert_eq!(lines.without_spans(), line.without_spans());
}

#[test]
fn the_longest_mnemonic_wins() {
    use Opcode as O;
    for (text, opcode) in [
        ("sample_c_lz_resource(0)_sampler(0) r0, r1, r2", O::SampleCLz),
        ("sample_l_resource(0)_sampler(0) r0, r1, r2", O::SampleL),
        ("lds_read_add_id(1) r0, r1, r2", O::LdsReadAdd),
        ("dcl_output_generic o0", O::DclOutput),
        ("mul_ieee_sat r0, r1, r2", O::Mul),
        ("sub_sat r0, r1, r2", O::Sub),
        ("div_zeroop(infinity)_sat r0, r1, r2", O::Div),
        ("uav_raw_load_id(3)_cached r0, r1", O::UavRawLoad),
        ("exp_vec r0, r1", O::ExpVec),
        ("exp_sat r0, r1", O::Exp),
        ("ffb(hi) r0, r1", O::FfbHi),
        ("FFB(shi) r0, r1", O::FfbShi),
        ("break_logicop(eq) r0.x", O::BreakLogicalz),
        ("if_logicop(ne) r0.x", O::IfLogicalnz),
        ("dcl_input_usage(generic)_interp(linear) v1", O::DclInput),
        ("resinfo_uint_resource(0) r0, r1", O::Resinfo),
    ] {
        assert_eq!(opcodes(text)[0], opcode, "{text}");
    }
}

#[test]
fn headers() {
    for good in
        ["il_ps_2_0", "il_cs", "IL_PS_3_0", "il_ps_2_0_mp_rt", "\n;c\n\til_cs_2_1;x", "dx11_ps\nil_ps_2_0"]
    {
        assert!(parse(format!("{good}\nend").as_bytes()).is_ok(), "{good}");
    }
    for bad in ["il_ps_2", "il_xx_2_0", "ilps", "a b\nil_ps_2_0", "dx11_ps il_ps_2_0", "il_ps_2_0_zz"] {
        let errors = parse(format!("{bad}\nend").as_bytes()).expect_err(bad);
        assert_eq!(errors[0].rule, "no-header", "{bad}");
    }
}

#[test]
fn text_after_end_is_ignored() {
    let ast = parse(b"il_ps_2_0\nend\nend\n\xff\xfe not IL (").expect("accepted");
    assert_eq!(ast.statements.len(), 1);
    let notes: Vec<_> = ast.warnings.iter().map(|d| (d.severity, d.rule, d.span.start)).collect();
    assert_eq!(notes, [(Severity::Note, "after-end", 18)]);
    // What many texts have there is worth no note.
    for usual in ["", "end\n", " ; numbers of some tool\n", "\0", "\n\x1a"] {
        let ast = parse(format!("il_ps_2_0\nend\n{usual}").as_bytes()).expect("accepted");
        assert!(ast.warnings.is_empty(), "{usual:?}: {:?}", ast.warnings);
    }
}

#[test]
fn misspellings_get_a_suggestion() {
    for (text, near) in [
        ("mul_iee r0, r1, r2", "_ieee"),
        ("whilelop", "whileloop"),
        ("brek", "break"),
        ("smaple_resource(0)_sampler(0) r0, r1", "sample"),
        ("set_relop(gte) r0, r1, r2", "ge"),
        ("madd_sat r0, r1, r2, r3", "mad"),
        ("mad_saturate r0, r1, r2, r3", "_sat"),
        ("mov r0, vAbsTif.x", "vAbsTid"),
    ] {
        let suggestion = refused(text).suggestion.expect(text);
        let meant = &suggestion.edits[0].1;
        assert!(meant == near || meant.starts_with(&format!("{near}_")), "{text}: {suggestion:?}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let plain = parse(b"il_ps_2_0\nend\n").expect("accepted").without_spans();
    let marked = parse(b"\xEF\xBB\xBFil_ps_2_0\nend\n").expect("accepted");
    assert_eq!(marked.header.span.start, 3);
    assert_eq!(marked.without_spans(), plain);
    // Only one, and only at the beginning.
    assert!(parse(b"\xEF\xBB\xBF\xEF\xBB\xBFil_ps_2_0\nend\n").is_err());
    assert!(parse(b"il_ps_2_0\n\xEF\xBB\xBFend\n").is_err());
}

#[test]
fn ldexp_of_a_pair_is_that_of_doubles() {
    use Opcode::{Dldexp, Ldexp};
    for (text, meant) in [
        ("ldexp r0.xy, r1.xy, r2.x", Dldexp),
        ("ldexp r0.zw, r1.xy, r2.w", Dldexp),
        ("ldexp r0.xy__, r1.xyxy, r2.xxxx", Dldexp),
        ("LDEXP r0.__zw, r1.zw_neg(y), l0.y", Dldexp),
        ("dldexp r0.xy, r1.xy, r2.x", Dldexp),
        ("fldexp r0.xy, r1.xy, r2.x", Ldexp),
        ("ldexp r0.xy, r1.xy, r2.xy", Ldexp),
        ("ldexp r0.x, r1.x, r2.x", Ldexp),
        ("ldexp r0, r1, r2", Ldexp),
        ("ldexp r0.xy, r1, r2.x", Ldexp),
        ("ldexp r0.xyz, r1.xy, r2.x", Ldexp),
        ("ldexp r0.yz, r1.xy, r2.x", Ldexp),
        ("ldexp r0.xy0_, r1.xy, r2.x", Ldexp),
    ] {
        assert_eq!(opcodes(text)[0], meant, "{text}");
        let warned = tree(text).warnings.iter().any(|d| d.rule == "ldexp-of-pair");
        assert_eq!(warned, meant == Dldexp && !text.starts_with('d'), "{text}");
    }
}

#[test]
fn words_of_other_languages_lead_to_words_of_il() {
    for &(foreign, own) in super::mistakes::FOREIGN_INSTRUCTIONS {
        assert!(super::grammar::longest(foreign.as_bytes()).is_none(), "{foreign} is a word of IL itself");
        assert!(super::grammar::longest(own.as_bytes()).is_some(), "{own} is none");
    }
}
