//! Throughput of the front end in bytes of text.

use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// A kernel of about a megabyte in the manner of a compiler's output: sampling, constants, arithmetic with
/// swizzles and modifiers, loops.
fn long_kernel() -> Vec<u8> {
    let mut text = String::from(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
         dcl_cb cb0[16]\ndcl_literal l0, 0x3F800000, 1.5, -7, 0\n\
         dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n",
    );
    for n in 0..2_600_u32 {
        let (a, b, c) = (n % 700, (n * 7 + 1) % 700, (n * 13 + 5) % 700);
        text += &format!(
            "dcl_literal l{}, 0x{:08X}, 0x{:08X}, {}.5, {n}\n\
             sample_resource(0)_sampler(0) r{a}, r{b}.xy00\n\
             mad_ieee r{a}.xyz_, r{b}_neg(xyzw).x000, cb0[l0.x + 3], r{c}\n\
             mul_ieee r{c}.xy,r{a}.xy,r{b}.zw\n\
             dmad r{b}.zw,r{a}.xy,r{c}.zw,r{b}.zw\n\
             iadd r{a}.x___, r{b}.x, l{}.y\n\
             whileloop\n  ige r{c}.w, r{a}.x, l0.z\n  break_logicalnz r{c}.w\n  ior r{a}, r{a}, r{b}.wzyx ; merge\nendloop\n\
             mov g[r{a}.x + 4].xy__, r{c}\n",
            n % 200 + 1,
            n.wrapping_mul(2_654_435),
            n * 40_503,
            n % 100,
            n % 200 + 1
        );
    }
    text += "mov o0, r0\nend\n";
    assert!(recal_il::front(text.as_bytes()).is_ok(), "the measured text is accepted");
    text.into_bytes()
}

#[divan::bench]
fn parse(bencher: Bencher) {
    let text = long_kernel();
    bencher.counter(BytesCount::of_slice(&text)).bench(|| recal_il::text::parse(divan::black_box(&text)));
}

#[divan::bench]
fn parse_and_check(bencher: Bencher) {
    let text = long_kernel();
    bencher.counter(BytesCount::of_slice(&text)).bench(|| recal_il::front(divan::black_box(&text)));
}

#[divan::bench]
fn print(bencher: Bencher) {
    let text = long_kernel();
    let tree = recal_il::text::parse(&text).unwrap_or_default();
    bencher.counter(BytesCount::of_slice(&text)).bench(|| recal_il::text::print(divan::black_box(&tree)));
}
