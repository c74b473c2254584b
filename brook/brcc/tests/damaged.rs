//! Sources with damage: brcc answers with findings or code, in bounded time, and never panics; IL that it does write is accepted.

use proptest::prelude::*;

const SOURCES: [&str; 4] = [
    "typedef struct { float x; int4 p; } S;\nkernel float g(float a, float m[][]) { if (a > 1.0f) return a; return m[1][2] * a; }\n\
     kernel void f(S a<>, float m[][], float k[3], out S c<>, out float d<>)\n{ int i; c = a; for (i = 0; i < 3; i++) { c.x += g(k[i], m); \
     if (i == 1) continue; c.p.yx = a.p.zw; } d = indexof(a).x; }\n",
    "reduce void r(float2 a<>, reduce float2 c<>) { c = max(c, a); }\nint main(argc, argv) int argc; char **argv; { float2 s<10, 20>, *p; \
     streamRead(s, p); r(s, *p); return 0; }\n",
    "Attribute[GroupSize(64)] kernel void h(float4 a<>, out float4 o[][]) { shared float4 l[128]; int4 t = instance(); \
     l[2 * instanceInGroup().x + 1] = a; syncGroup(); do { t.x--; } while (t.x > 3 && t.y != 2); o[t.y][t.x] = l[5] + (t.x ? a : -a.wzyx); }\n",
    "#define N 3\n#ifdef N\nkernel void q(double2 a<>, uint b, out double2 c<>) { c = a * a - double2(dot(a, a), 1.0); c.x = (double)(b >> 2u); }\n#endif\n",
];

const PIECES: [&str; 30] = [
    "(", ")", "{", "}", "[", "]", "<", ">", ";", ",", "*", "+", "=", "?", ":", ".x", ".xyzw", "kernel ",
    "out ", "reduce ", "float4 ", "int ", "0", "1.0f", "/*", "\"", "#if", "\\", "é", "float2(",
];

fn damaged() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4u8);
    (0..SOURCES.len(), prop::collection::vec(edit, 1..6)).prop_map(|(source, edits)| {
        let mut chars: Vec<char> = SOURCES[source].chars().collect();
        for (at, what, kind) in edits {
            let at = at.index(chars.len().max(1)).min(chars.len());
            match kind {
                0 => drop(chars.splice(at..(at + 1).min(chars.len()), [])),
                1 => drop(chars.splice(at..at, PIECES[what.index(PIECES.len())].chars())),
                2 => drop(chars.splice(at..(at + what.index(40)).min(chars.len()), [])),
                _ => {
                    let from = what.index(chars.len().max(1)).min(chars.len());
                    let copy: Vec<char> = chars[from..(from + 20).min(chars.len())].to_vec();
                    drop(chars.splice(at..at, copy));
                }
            }
        }
        chars.into_iter().collect()
    })
}

fn check(source: &str, options: &brcc::Options) {
    match brcc::compile(source, options) {
        Ok(output) => {
            for pass in output.kernels.iter().flat_map(|k| &k.techniques).flat_map(|t| &t.passes) {
                if let Err(found) = recal_il::front(pass.text.as_bytes()) {
                    panic!("{source}\n{}\n{found:?}", pass.text);
                }
            }
        }
        Err(found) => {
            assert!(!found.is_empty());
            assert!(!brcc::diagnostic::render(&found, source, "k.br").is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_sources_are_answered(source in damaged(), strong in any::<bool>(), preprocess in any::<bool>()) {
        check(&source, &brcc::Options { strong, preprocess, ..brcc::Options::default() });
    }
}

#[test]
fn the_sources_themselves_compile() {
    for source in SOURCES {
        let options = brcc::Options { preprocess: source.starts_with('#'), ..brcc::Options::default() };
        if let Err(found) = brcc::compile(source, &options) {
            panic!("{}", brcc::diagnostic::render(&found, source, "k.br"));
        }
        check(source, &options);
    }
}

#[test]
fn depth_and_size_have_limits() {
    let expression = |open: &str, close: &str| {
        let body = format!("{}a{}", open.repeat(100_000), close.repeat(100_000));
        format!("kernel void f(float a<>, out float c<>) {{ c = {body}; }}")
    };
    for source in [
        expression("(", ")"),
        expression("-", ""),
        expression("a+", ""),
        expression("sqrt(", ")"),
        format!("kernel void f(float a<>, out float c<>) {{ {} }}", "{".repeat(100_000)),
        format!("kernel void f(float a<>, out float c<>) {{ {} c = a; }}", "if (a > 1.0f) ".repeat(100_000)),
    ] {
        assert!(brcc::compile(&source, &brcc::Options::default()).is_err());
    }
    // Each kernel calls the one before twice: 2^40 times the first.
    let mut source = String::from("kernel float k0(float a) { return a * 2.0f; }\n");
    for n in 1..31 {
        source += &format!("kernel float k{n}(float a) {{ return k{0}(a) + k{0}(a + 1.0f); }}\n", n - 1);
    }
    source += "kernel void f(float a<>, out float c<>) { c = k30(a); }\n";
    let found = brcc::compile(&source, &brcc::Options::default()).unwrap_err();
    assert_eq!(found[0].rule, "too-large");
    let found = brcc::compile(&" ".repeat((16 << 20) + 1), &brcc::Options::default()).unwrap_err();
    assert_eq!(found[0].rule, "file");
}
