//! AVX-512 and AVX2, read by iced-x86.

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind, Register, RoundingControl};

use super::operations;
use crate::emit::{Code, Pool};
use crate::op::Op;
use crate::target::x86::{Row, Shape};
use crate::target::{Base, Rm, Target, avx2, avx512};

/// The only instruction of some code, and that nothing is left over.
fn only(code: &Code) -> Instruction {
    let mut decoder = Decoder::new(64, &code.bytes, DecoderOptions::NONE);
    let instruction = decoder.decode();
    assert!(!instruction.is_invalid(), "{:x?} is no instruction", code.bytes);
    assert_eq!(instruction.len(), code.bytes.len(), "{:x?} is more than one", code.bytes);
    instruction
}

fn name(instruction: &Instruction) -> String {
    format!("{:?}", instruction.mnemonic()).to_lowercase()
}

/// Encodes all rows with all kinds of registers and operands; how many there are.
fn check(target: &dyn Target, row: fn(Op) -> Option<Row>, bank: &[Register], wide: bool) -> usize {
    let mut rows = 0;
    let registers: Vec<u8> =
        [0, 3, 7, 8, 13, 15, 16, 23, 24, 30].into_iter().filter(|&r| usize::from(r) < bank.len()).collect();
    let of_masks = [2, 5, 6];
    for op in operations() {
        let Some(Row { enc, shape, imm }) = row(op) else { continue };
        rows += 1;
        for (k, &to) in registers.iter().enumerate() {
            let other = |n: usize| registers[(k + n) % registers.len()];
            let masks = target.masks().registers.is_some();
            // Which operands are masks, if there are registers for them.
            let to_mask = masks && op.is_mask();
            let first_mask = masks && matches!(op, Op::Select | Op::QSelect | Op::Words | Op::QWords);
            let to = if to_mask { of_masks[k % 3] } else { to };
            let a = if first_mask { of_masks[(k + 1) % 3] } else { other(1) };
            let (b, c) = (other(2), other(3));
            let last = match shape {
                Shape::Rm | Shape::Digit(_) => a,
                _ => b,
            };
            let mut memory = vec![Rm::Reg(last)];
            if target.takes_memory(op) {
                memory.push(Rm::Mem(Base::Stack, 0x1240));
                memory.push(Rm::Mem(Base::Views, 8));
                memory.extend([0, 0x40, 0x60, 0x80, 0x1FC0, 0x2000].map(|at| Rm::Mem(Base::Stack, at)));
                memory.extend((0..5).flat_map(|n| [Rm::Mem(Base::Kept(n), 12), Rm::Mem(Base::Kept(n), 0)]));
                if wide && !matches!(shape, Shape::Rm if first_mask) && !matches!(op, Op::ZipLow) {
                    memory.push(Rm::Splat(Base::Pool, 68));
                }
            }
            for rm in memory {
                let mut code = Code::default();
                let mut args = [a, b, c].map(Rm::Reg);
                args[usize::from(!matches!(shape, Shape::Rm | Shape::Digit(_)))] = rm;
                if shape == Shape::Fma {
                    args[2] = Rm::Reg(to);
                }
                let within = (wide && shape == Shape::Rvm && !op.wide() && k % 2 == 1).then_some(4);
                target.operation(&mut code, &mut Pool::default(), op, to, args, within);
                let found = only(&code);
                let text = format!("{op:?}: {:x?}", code.bytes);
                assert_eq!(name(&found), enc.name, "{text}");
                let result = if to_mask { Register::K0 + u32::from(to) } else { bank[usize::from(to)] };
                assert_eq!(found.op0_register(), result, "{text}");
                let reg = |number: u8, mask: bool| {
                    if mask { Register::K0 + u32::from(number) } else { bank[usize::from(number)] }
                };
                let mut expected = match shape {
                    Shape::Rvm | Shape::Fma => vec![reg(a, false)],
                    Shape::Rm | Shape::Digit(_) => vec![],
                    Shape::Blend => vec![reg(c, false)],
                };
                expected.push(match rm {
                    Rm::Reg(number) => reg(number, first_mask && shape == Shape::Rm),
                    _ => Register::None,
                });
                if shape == Shape::Blend && !masks {
                    expected.push(reg(a, false));
                }
                for (k, wanted) in expected.iter().enumerate() {
                    let k = k as u32 + 1;
                    if *wanted == Register::None {
                        assert_eq!(found.op_kind(k), OpKind::Memory, "{text}");
                        let (base, at) = match rm {
                            Rm::Mem(Base::Stack, at) => (Register::RCX, at),
                            Rm::Mem(Base::Kept(0), at) => (Register::RBP, at),
                            Rm::Mem(Base::Kept(n), at) => (Register::R11 + u32::from(n), at),
                            Rm::Mem(_, at) => (Register::R9, at),
                            Rm::Splat(_, at) => (Register::RSI, at),
                            Rm::Reg(_) => unreachable!(),
                        };
                        assert_eq!(
                            (found.memory_base(), found.memory_displacement64()),
                            (base, u64::from(at)),
                            "{text}"
                        );
                        assert_eq!(found.is_broadcast(), matches!(rm, Rm::Splat(..)), "{text}");
                    } else {
                        assert_eq!(found.op_register(k), *wanted, "{text}");
                    }
                }
                let mask = match (shape, within) {
                    (Shape::Blend, _) if masks => Register::K0 + u32::from(a),
                    (_, Some(mask)) => Register::K0 + u32::from(mask),
                    _ => Register::None,
                };
                assert_eq!(found.op_mask(), mask, "{text}");
                assert_eq!(found.zeroing_masking(), within.is_some() && !op.is_mask(), "{text}");
                if let Some(imm) = imm {
                    assert_eq!(found.immediate8(), imm, "{text}");
                }
                let by = match op {
                    Op::ToSignedBy(0) => RoundingControl::RoundToNearest,
                    Op::ToSignedBy(1) => RoundingControl::RoundDown,
                    Op::ToSignedBy(2) => RoundingControl::RoundUp,
                    Op::ToSignedBy(_) => RoundingControl::RoundTowardZero,
                    _ => RoundingControl::None,
                };
                assert_eq!(found.rounding_control(), by, "{text}");
                if target.merges(op, false) {
                    let mut code = Code::default();
                    target.merged(&mut code, op, to, args, 6, false);
                    let merged = only(&code);
                    let text = format!("{op:?}: {:x?}", code.bytes);
                    assert_eq!((merged.code(), merged.op_mask()), (found.code(), Register::K6), "{text}");
                    assert!(!merged.zeroing_masking(), "{text}");
                    let all = |of: &Instruction| [of.op0_register(), of.op1_register(), of.op2_register()];
                    assert_eq!(all(&merged), all(&found), "{text}");
                }
            }
        }
    }
    rows
}

/// What reads or writes less than a vector counts displacements of one byte in less, which nothing but the instruction says.
#[test]
fn displacements_of_avx512() {
    use avx512::encode::{Lanes, short, vector};
    use avx512::table::*;
    let parts = [PBROADCASTD, PBROADCASTQ, BROADCAST4, BROADCAST8];
    let with_numbers = [EXTRACT, INSERT, SHUFI64X2];
    let whole = [LOAD, STORE, LOAD_NEAR, STORE_NEAR, STORE_PAST, PERMD, PERMI2D];
    for at in [
        0,
        4,
        8,
        16,
        32,
        48,
        64,
        128,
        508,
        512,
        1016,
        1024,
        2032,
        2048,
        4064,
        4096,
        8128,
        8192,
        0u32.wrapping_sub(64),
    ] {
        let mem = Rm::Mem(Base::First, at);
        let check = |code: &Code, name: &str, longest: usize| {
            let found = only(code);
            assert_eq!(self::name(&found), name);
            assert_eq!(found.memory_displacement64() as u32, at, "{name}: {:x?}", code.bytes);
            assert!(at > 0 || code.bytes.len() <= longest, "{name} at 0 has {:x?}", code.bytes);
        };
        for enc in parts.into_iter().chain(whole).chain(with_numbers) {
            let mut code = Code::default();
            let number = with_numbers.contains(&enc).then_some(1);
            vector(&mut code, enc, 17, 3, mem, Lanes::All, number);
            if [EXTRACT, LOAD, STORE, LOAD_NEAR, STORE_NEAR, STORE_PAST].contains(&enc)
                || parts.contains(&enc)
            {
                code.bytes.clear();
                vector(&mut code, enc, 17, 0, mem, Lanes::All, number);
            }
            check(&code, enc.name, 7 + usize::from(number.is_some()));
        }
        for (enc, number) in
            [(MOVD, None), (MOVD_TO, None), (PINSRD, Some(2)), (PEXTRD, Some(2)), (LOAD_NEAR, None)]
        {
            let mut code = Code::default();
            short(&mut code, enc, 17, if enc == PINSRD { 3 } else { 0 }, mem, number);
            check(&code, enc.name, 7 + usize::from(number.is_some()));
        }
        // A displacement of one byte is taken where one will do.
        let mut code = Code::default();
        vector(&mut code, LOAD, 17, 0, mem, Lanes::All, None);
        let steps = at as i32 / 64;
        let bytes = match at {
            0 => 6,
            _ if at % 64 == 0 && i8::try_from(steps).is_ok() => 7,
            _ => 10,
        };
        assert_eq!(code.bytes.len(), bytes, "{at}");
    }
}

#[test]
fn rows_of_avx512() {
    let bank: Vec<Register> = (0..31).map(|k| Register::ZMM0 + k).collect();
    let rows = check(&avx512::Avx512, avx512::table::row, &bank, true);
    assert!(rows > 85, "only {rows} rows");
}

#[test]
fn rows_of_avx2() {
    let bank: Vec<Register> = (0..16).map(|k| Register::YMM0 + k).collect();
    let rows = check(&avx2::Avx2, avx2::table::row, &bank, false);
    assert!(rows > 60, "only {rows} rows");
}
