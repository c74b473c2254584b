//! NEON, read by yaxpeax-arm.

use std::mem::offset_of;

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

use super::operations;
use crate::emit::{Code, Pool};
use crate::graph::{Field, Node};
use crate::target::neon::Neon;
use crate::target::neon::encode::*;
use crate::target::neon::table::*;
use crate::target::{Base, Rm, Target};

/// The instructions of some code.
fn texts(code: &Code) -> Vec<String> {
    let words = code.bytes.chunks(4);
    words
        .map(|word| {
            let instruction = InstDecoder::default().decode(&mut U8Reader::new(word));
            instruction.unwrap_or_else(|error| panic!("{word:x?}: {error}")).to_string()
        })
        .collect()
}

fn made(make: impl FnOnce(&mut Code)) -> Vec<String> {
    let mut code = Code::default();
    make(&mut code);
    texts(&code)
}

#[test]
fn rows() {
    const REGISTERS: [u8; 9] = [0, 3, 7, 8, 13, 15, 16, 23, 26];
    let mut rows = 0;
    for op in operations() {
        let Some(Row { enc, shape }) = row(op) else { continue };
        rows += 1;
        for (k, &to) in REGISTERS.iter().enumerate() {
            let [a, b, c] = [1, 2, 3].map(|n| REGISTERS[(k + n) % REGISTERS.len()]);
            let args = match shape {
                Shape::Sum => [a, b, to],
                Shape::Choice => [to, b, c],
                _ => [a, b, c],
            };
            let found = made(|code| {
                Neon.operation(code, &mut Pool::default(), op, to, args.map(Rm::Reg), None);
            });
            let of = enc.of;
            let three = |d: u8, n: u8, m: u8| format!("{} v{d}.{of}, v{n}.{of}, v{m}.{of}", enc.name);
            let expected = match shape {
                Shape::Abc | Shape::Sum => vec![three(to, a, b)],
                Shape::Acb => vec![three(to, b, a)],
                Shape::Ab => vec![format!("{} v{to}.{of}, v{a}.{of}", enc.name)],
                Shape::By(by) => vec![format!("{} v{to}.{of}, v{a}.{of}, #{by:#x}", enc.name)],
                Shape::Choice => vec![three(to, b, c)],
                Shape::Down => vec![format!("neg v28.{of}, v{b}.{of}"), three(to, a, 28)],
                Shape::Low => vec![
                    format!("xtn v28.2s, v{a}.2d"),
                    format!("xtn v29.2s, v{b}.2d"),
                    format!("{} v{to}.2d, v28.2s, v29.2s", enc.name),
                ],
            };
            assert_eq!(found, expected, "{op:?}");
        }
    }
    assert!(rows > 65, "only {rows} rows");
}

/// Instructions that are no rows: vectors.
#[test]
fn vectors() {
    let checks: [(Vec<String>, &str); 22] = [
        (made(|code| three(code, ORN, 3, 8, 27)), "orn v3.16b, v8.16b, v27.16b"),
        (made(|code| three(code, BIT, 3, 8, 27)), "bit v3.16b, v8.16b, v27.16b"),
        (made(|code| three(code, ADD, 28, 3, 29)), "add v28.4s, v3.4s, v29.4s"),
        (made(|code| three(code, CMTST, 27, 3, 28)), "cmtst v27.4s, v3.4s, v28.4s"),
        (made(|code| copy(code, 3, 17)), "mov v3.16b, v17.16b"),
        (made(|code| two(code, UMINV, 28, 9)), "uminv s28, v9.4s"),
        (made(|code| two(code, UMAXV, 29, 9)), "umaxv s29, v9.4s"),
        (made(|code| two(code, ADDV, 28, 9)), "addv s28, v9.4s"),
        // The same as `dup`.
        (made(|code| splat_lane(code, 28, 9, 2)), "mov v28.4s, v9.s[2]"),
        (made(|code| splat_word(code, 28, 2)), "dup v28.4s, w2"),
        (made(|code| lane_to_word(code, 10, 9, 3)), "mov w10, v9.s[3]"),
        (made(|code| first_to_word(code, 12, 28)), "fmov w12, s28"),
        (made(|code| two(code, LD1R, 9, 10)), "ld1r {v9.4s}, [x10]"),
        (made(|code| two(code, LD2R, 28, 10)), "ld2r {v28.4s, v29.4s}, [x10]"),
        (made(|code| two(code, LD4R, 28, 10)), "ld4r {v28.4s, v29.4s, v30.4s, v31.4s}, [x10]"),
        (made(|code| two(code, LD2, 28, 10)), "ld2 {v28.4s, v29.4s}, [x10]"),
        (made(|code| two(code, LD4, 28, 10)), "ld4 {v28.4s, v29.4s, v30.4s, v31.4s}, [x10]"),
        (made(|code| single(code, LD1_LANE, 9, 3, 12)), "ld1 {v9.s}[3], [x12]"),
        (made(|code| single(code, LD1_LANE, 9, 0, 10)), "ld1 {v9.s}[0], [x10]"),
        (made(|code| single(code, LD2_LANE, 28, 1, 10)), "ld2 {v28.s, v29.s}[1], [x10]"),
        (made(|code| single(code, LD4_LANE, 28, 2, 10)), "ld4 {v28.s, v29.s, v30.s, v31.s}[2], [x10]"),
        (made(|code| single(code, ST1_LANE, 9, 2, 10)), "st1 {v9.s}[2], [x10]"),
    ];
    for (found, expected) in checks {
        assert_eq!(found, [expected]);
    }
}

/// Instructions that are no rows: general registers and jumps.
#[test]
fn general() {
    let checks: [(Vec<String>, &str); 14] = [
        (made(|code| add(code, 0, 0, 16, false)), "add x0, x0, #0x10"),
        (made(|code| add(code, 16, STACK, 7, true)), "add x16, sp, #0x7, lsl #12"),
        (made(|code| sub(code, STACK, STACK, 64, false)), "sub sp, sp, #0x40"),
        (made(|code| add_word(code, 12, 10, 3)), "add w12, w10, #0x3"),
        (made(|code| count_down(code, 7)), "subs w7, w7, #0x1"),
        (made(|code| add_words(code, 10, 9, 10)), "add x10, x9, x10, lsl #2"),
        (made(|code| compare(code, 12, 11)), "cmp x12, x11"),
        (made(|code| move_general(code, 0, 6)), "mov x0, x6"),
        (made(|code| set(code, 7, 16)), "mov w7, #0x10"),
        (made(|code| load_word(code, 11, 3, 40)), "ldr w11, [x3, #0x28]"),
        (made(|code| store_word(code, 10, 4, 0)), "str w10, [x4]"),
        (made(|code| load_address(code, 9, 3, 32)), "ldr x9, [x3, #0x20]"),
        (made(|code| back(code, If::Unequal, 0))[1..].to_vec(), "b $-0x4"),
        (
            made(|code| {
                let jump = jump_near(code, If::NotBelow);
                copy(code, 1, 2);
                land(code, jump);
            })[..1]
                .to_vec(),
            "b.hs $+0x8",
        ),
    ];
    for (found, expected) in checks {
        assert_eq!(found, [expected]);
    }
    for (condition, near, opposite) in [
        (If::Equal, "b.eq", "b.ne"),
        (If::Unequal, "b.ne", "b.eq"),
        (If::Zero(10), "cbz w10,", "cbnz w10,"),
        (If::NotZero(12), "cbnz w12,", "cbz w12,"),
    ] {
        let jumps = |far: bool| {
            made(|code| {
                let jump = if far { jump_far(code, Some(condition)) } else { jump_near(code, condition) };
                (0..5).for_each(|_| copy(code, 1, 2));
                land(code, jump);
            })
        };
        assert_eq!(jumps(false)[0], format!("{near} $+0x18"));
        assert_eq!(jumps(true)[..2], [format!("{opposite} $+0x8"), "b $+0x18".into()]);
    }
}

/// Places near and far from their base.
#[test]
fn places() {
    let checks: [(Base, u32, &[&str]); 5] = [
        (Base::Rows, 0, &["q9, [x0]"]),
        (Base::Stack, 16, &["q9, [sp, #0x10]"]),
        (Base::Pool, 65520, &["q9, [x1, #0xfff0]"]),
        (Base::Rows, 65536, &["add x16, x0, #0x10, lsl #12", "q9, [x16]"]),
        (Base::Pool, 0x12_3450, &["add x16, x1, #0x123, lsl #12", "q9, [x16, #0x450]"]),
    ];
    for (base, at, expected) in checks {
        for (name, found) in
            [("ldr", made(|code| load(code, 9, base, at))), ("str", made(|code| store(code, 9, base, at)))]
        {
            let last = expected.len() - 1;
            assert_eq!(found[..last], expected[..last]);
            assert_eq!(found[last..], [format!("{name} {}", expected[last])]);
        }
    }
}

/// A constant comes from an instruction or from the pool; either way it is that constant.
#[test]
fn constants() {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    };
    let floats = (0..256u32).map(|byte| {
        // As the architecture expands it.
        let exponent = (byte >> 4 & 7 ^ 4) + 124;
        byte >> 7 << 31 | exponent << 23 | (byte & 15) << 19
    });
    let bytes = (0..4).flat_map(|k| [0, 1, 0x80, 0xA5, 0xFF].map(|byte: u32| byte << (8 * k)));
    let bytes = bytes.flat_map(|word| [word, !word]);
    let others = [0x7F80_0000, 0x3DCC_CCCD, 0x0101_0101, 0x3F84_0000, 0x3F80_0001, 0xC280_0000];
    for word in floats.clone().chain(bytes.clone()).chain(others) {
        let mut pool = Pool::default();
        let found = made(|code| Neon.constant(code, &mut pool, 9, Node::Word(word)));
        assert_eq!(found.len(), 1, "{found:?}");
        let (name, operands) = found[0].split_once(' ').unwrap();
        if name == "ldr" {
            assert_eq!(operands, "q9, [x1]");
            assert_eq!(pool.words, [word; 4]);
            assert!(others.contains(&word), "{word:x} needs no memory");
            continue;
        }
        let mut operands = operands.split(", ");
        assert_eq!(operands.next(), Some("v9.4s"));
        let value = operands.next().unwrap().trim_start_matches('#');
        let shift = operands.next().map_or(0, |shift| number(shift.trim_start_matches("lsl #")));
        let made = match name {
            "movi" => number(value) << shift,
            "mvni" => !(number(value) << shift),
            "fmov" => value.parse::<f32>().unwrap().to_bits(),
            name => panic!("{name}"),
        };
        assert_eq!(made, word, "{found:?}");
    }
    let mut pool = Pool::default();
    let quad = made(|code| Neon.constant(code, &mut pool, 9, Node::Quad(0x1234_5678_9ABC_DEF0)));
    assert_eq!(quad, ["ldr q9, [x1]"]);
    assert_eq!(pool.words, [0x9ABC_DEF0, 0x1234_5678, 0x9ABC_DEF0, 0x1234_5678]);
    let field = made(|code| Neon.constant(code, &mut pool, 9, Node::Field(2, Field::Width)));
    let at = 2 * size_of::<crate::View>() + offset_of!(crate::View, texels) + 4 * Field::Width.number();
    assert_eq!(field, [format!("ldr w10, [x3, #{at:#x}]"), "dup v9.4s, w10".into()]);
}

/// What stands around the body of a function, and the question whether to stop.
#[test]
fn functions() {
    let mut code = Code::default();
    let nop = Code { bytes: vec![0x1F, 0x20, 0x03, 0xD5], ..Code::default() };
    let frame = crate::target::Frame {
        grown: &[],
        body: &nop,
        before: &Code::default(),
        stack: 4096 + 128,
        masked: true,
        strips: 1,
        origin: None,
        ahead: &[],
        ticks: None,
        stops: &[],
    };
    Neon.function(&mut code, &mut Pool::default(), &frame);
    let expected = "stp x29, x30, [sp, #-0x10]!; stp x19, x20, [sp, #-0x10]!; stp d8, d9, [sp, #-0x40]!; \
        stp d10, d11, [sp, #0x10]; stp d12, d13, [sp, #0x20]; stp d14, d15, [sp, #0x30]; \
        sub sp, sp, #0x1, lsl #12; str xzr, [sp]; sub sp, sp, #0x80; mov x19, x0; mov x20, x2; \
        ldr x0, [x19]; ldr x2, [x19, #0x8]; mov w7, #0x10; mov w6, #0x0; lsr x6, x6, #0x4; tst w2, #0xf; \
        b.ne $+0x8; b $+0x14; dup v27.4s, w2; ldr q28, [x1]; cmtst v27.4s, v27.4s, v28.4s; nop; \
        add x0, x0, #0x10; lsr x2, x2, #0x4; subs w7, w7, #0x1; b.eq $+0x8; b $-0x30; str x6, [x19, #0x10]; \
        add x19, x19, #0x20; subs w20, w20, #0x1; b.eq $+0x8; b $-0x54; add sp, sp, #0x1, lsl #12; \
        add sp, sp, #0x80; ldp d14, d15, [sp, #0x30]; ldp d12, d13, [sp, #0x20]; ldp d10, d11, [sp, #0x10]; \
        ldp d8, d9, [sp], #0x40; ldp x19, x20, [sp], #0x10; ldp x29, x30, [sp], #0x10; ret";
    let found = texts(&code);
    let end = found.iter().position(|text| text == "ret").unwrap();
    assert_eq!(found[..=end].join("; "), expected);
    assert!(found[end + 1..].iter().all(|text| text.starts_with("brk")), "{found:?}");

    let asked = made(|code| {
        let more = Neon.count(code, 0);
        let stop = Neon.ask(code, &mut Pool::default(), false, &mut |code| copy(code, 1, 2));
        [more, stop].into_iter().for_each(|jump| land(code, jump));
    });
    let expected = "ldr w10, [x4]; subs w10, w10, #0x1; str w10, [x4]; b.eq $+0x8; b $+0x44; \
        stp x0, x1, [sp, #-0x40]!; stp x2, x3, [sp, #0x10]; stp x4, x6, [sp, #0x20]; str x7, [sp, #0x30]; \
        mov x0, x4; ldr x12, [x4, #0x8]; blr x12; and w10, w0, #0xff; ldr x7, [sp, #0x30]; \
        ldp x4, x6, [sp, #0x20]; ldp x2, x3, [sp, #0x10]; ldp x0, x1, [sp], #0x40; mov v1.16b, v2.16b; \
        tst w10, #0x1; b.eq $+0x8; b $+0x4";
    assert_eq!(asked.join("; "), expected);
    let looked = made(|code| {
        let more = Neon.look(code, &mut Pool::default(), 0, &[3]);
        let told = Neon.jump_if_told(code);
        let given = Neon.jump_if_given(code);
        [more, told, given].into_iter().for_each(|jump| land(code, jump));
    });
    let expected = "ldr q28, [x1]; and v28.16b, v28.16b, v3.16b; addv s28, v28.4s; fmov w10, s28; \
        addv s28, v3.4s; fmov w11, s28; str w10, [x4, #0x20]; ldr w12, [x4, #0x24]; cmn w11, w12; b.pl $+0x20; \
        ldr w12, [x4, #0x28]; str w12, [x4]; ldr w10, [x4, #0x2c]; subs w10, w10, #0x1; str w10, [x4, #0x2c]; \
        b.eq $+0x8; b $+0x1c; tst w10, #0x2; b.eq $+0x8; b $+0x10; cmp x6, #0x0; b.eq $+0x8; b $+0x4";
    assert_eq!(looked.join("; "), expected);
    let given = made(|code| Neon.give(code, &mut Pool::default(), 3, 0));
    let expected = "ldr q28, [x1]; and v28.16b, v28.16b, v3.16b; addv s28, v28.4s; fmov w10, s28; \
        orr x6, x6, x10, lsl #60";
    assert_eq!(given.join("; "), expected);
}
