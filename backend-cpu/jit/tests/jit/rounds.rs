//! Functions of rounds ask for what the next round reads, as far as the last one says where that is.

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use recal_il::ir::lines::Shape;
use recal_jit::{LANES, NONE, Row, Step, View};

use crate::{On, endless};

/// Rows: addresses in two views, and what is loaded from there.
const FROM: [u32; 2] = [0, 1];
const TO: [u32; 2] = [2, 3];
/// What loads remember.
const FIRST: u32 = 5;

/// A load of each of two views asks if its view is among those that are remembered and there is room, and asks where it found words.
pub fn remembered(on: On) {
    let bytes = match on.isa.name() {
        "avx2" => 32,
        "avx512" => 64,
        _ => return,
    };
    let memory: Vec<u32> = (0..4 * LANES as u32).map(|k| k.wrapping_mul(0x1234_5677) ^ 1).collect();
    // SAFETY: the vector outlives the calls.
    let view = || unsafe { View::new(memory.as_ptr().cast(), 4 * memory.len()) };
    for (views, rows, loads) in [(0b11, 1, 2), (0b10, 1, 1), (0b100, 1, 0), (0, 1, 0), (0b11, 0, 0)] {
        let load = |view: u8| {
            let [address, to] = [FROM, TO].map(|rows| rows[usize::from(view)]);
            Step::Load { view, address, to: [to, NONE, NONE, NONE], flush: 0, lanes: Shape::Step(4) }
        };
        let mut compiler = on.compiler().with_lines(64);
        compiler.in_rounds(views, FIRST, rows);
        let function = compiler.function(&[load(0), load(1)], |_| None, |_| false, |_| false);
        let (module, function) = (compiler.finish().unwrap(), function.unwrap());
        let mut decoder = Decoder::new(64, module.code(), DecoderOptions::NONE);
        let asks = decoder.iter().filter(|of| of.mnemonic() == Mnemonic::Prefetcht0).count();
        // Code for some lanes does not.
        assert_eq!(asks, loads, "views {views:b}, {rows} rows");
        let mut held = vec![Row::splat(9); 6 + usize::from(loads == 0)];
        for round in 0..3u32 {
            let first = |view: u32| (round + view) * LANES as u32 / 4;
            for (row, view) in FROM.into_iter().zip(0..) {
                held[row as usize] = Row(std::array::from_fn(|lane| 4 * (first(view) + lane as u32)));
            }
            on.call(&module, function, &mut held, &[view(), view()], !0, &mut endless());
            for (row, view) in TO.into_iter().zip(0..) {
                let expected = Row(std::array::from_fn(|lane| memory[first(view) as usize + lane]));
                assert_eq!(held[row as usize], expected, "round {round}");
            }
            assert_eq!(held[4], Row::splat(9), "nobody writes it");
            if !on.code {
                continue;
            }
            let remembered = (0..2).filter(|view| views >> view & 1 == 1 && rows > 0);
            for (place, view) in remembered.enumerate() {
                for strip in 0..256 / bytes {
                    let word = strip * bytes / 4 + 2 * place;
                    let [low, high] = [0, 1].map(|k| held[FIRST as usize].0[word + k] as usize);
                    let lane = first(view) as usize + strip * bytes / 4;
                    let there = memory[lane..].as_ptr() as usize;
                    assert_eq!(low | high << 32, there, "round {round}, view {view}, strip {strip}");
                }
            }
        }
    }
}
