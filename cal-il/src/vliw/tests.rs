//! Kernels packed by hand, and code that is followed with names of values in the registers.

use std::collections::HashMap;

use super::*;

fn code_of(text: &str, chip: &str) -> Code {
    let kernel = crate::front(text.as_bytes()).unwrap();
    let program = crate::lower::lower_bare(&kernel).unwrap();
    compile(&program, Chip::named(chip).unwrap(), &Elements::default()).unwrap()
}

fn pixel(body: &str) -> String {
    format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\ndcl_cb cb0[4]\n\
         dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n{body}\nend\n"
    )
}

/// Instructions by slot, bundle by bundle.
fn packed(code: &Code) -> Vec<String> {
    let mut out = Vec::new();
    for clause in &code.clauses {
        let Clause::Alu(bundles) = clause else { continue };
        for bundle in bundles {
            let slots = bundle.slots.iter().zip("xyzwt".chars());
            let name = |(slot, at): (&Option<(Alu, usize)>, char)| {
                slot.as_ref().map(|(alu, _)| format!("{at}:{}", alu.name))
            };
            out.push(slots.filter_map(name).collect::<Vec<_>>().join(" "));
        }
    }
    out
}

#[test]
fn transcendental_operations_have_a_slot_or_three() {
    let text = pixel("rcp r0.x, vWinCoord0.x\nadd o0.xyz, r0.xxxx, vWinCoord0.xyxx");
    assert_eq!(packed(&code_of(&text, "Cypress")), ["t:RECIP_IEEE", "x:ADD y:ADD z:ADD"]);
    let cayman = packed(&code_of(&text, "Cayman"));
    assert_eq!(cayman, ["x:RECIP_IEEE y:RECIP_IEEE z:RECIP_IEEE", "x:ADD y:ADD z:ADD"]);
}

#[test]
fn doubles_take_two_slots_or_four() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[4]\n\
        uav_raw_load_id(0) r0, cb0[0].x\ndadd r1.xy, r0.xy, r0.zw\ndmul r1.zw, r0.xy, r0.zw\n\
        uav_raw_store_id(0) mem, cb0[0].y, r1\nend\n";
    let mut lines = packed(&code_of(text, "Cypress"));
    lines.remove(0);
    assert_eq!(lines, ["x:ADD_64 y:ADD_64", "x:MUL_64 y:MUL_64 z:MUL_64 w:MUL_64"]);
}

/// Shifts are for the transcendental slot on R6xx, the sum of products for all four.
#[test]
fn generations_differ() {
    let text = pixel("ishl r0.xy, vWinCoord0.xyxx, cb0[0].x\ndp4 o0.x, r0.xyxy, vWinCoord0.xyxy");
    let dot = "x:DOT4 y:DOT4 z:DOT4 w:DOT4";
    assert_eq!(packed(&code_of(&text, "RV670")), ["t:LSHL_INT", "t:LSHL_INT", dot]);
    assert_eq!(packed(&code_of(&text, "RV770")), ["x:LSHL_INT y:LSHL_INT", dot]);
}

/// A VLIW instruction reads three registers of each component, not four.
#[test]
fn registers_are_read_in_three_cycles() {
    let fetch = |n| format!("sample_resource(0)_sampler(0)_aoffimmi({n}.0,0.0,0.0) r{n}, vWinCoord0.xyxx\n");
    let fetches: String = (0..4).map(fetch).collect();
    // The first components of three registers, then of four.
    let three = pixel(&format!("{fetches}add r4.x, r0.x, r1.x\nadd r4.y, r2.x, r0.x\nmov o0.xy, r4.xyxy"));
    assert_eq!(packed(&code_of(&three, "RV770")), ["x:ADD y:ADD"]);
    let four = pixel(&format!("{fetches}add r4.x, r0.x, r1.x\nadd r4.y, r2.x, r3.x\nmov o0.xy, r4.xyxy"));
    let lines = packed(&code_of(&four, "RV770"));
    assert!(lines.len() == 2 && lines.iter().all(|line| line.matches("ADD").count() == 1), "{lines:?}");
}

/// Five literals do not fit one instruction; of constant buffers R7xx reads two pairs of words at once, R6xx four words.
#[test]
fn literals_and_constants_are_limited() {
    let literals = |n: u32| {
        let names = ["x", "y", "z", "w"];
        let body: String = (0..n)
            .map(|k| format!("mul r{}.x, vWinCoord0.x, l{}.{}\n", k, k / 4, names[(k % 4) as usize]))
            .collect();
        let sums: String = (1..n).map(|k| format!("add r0.x, r0.x, r{k}.x\n")).collect();
        let l = "dcl_literal l0, 3.0, 5.0, 7.0, 9.0\ndcl_literal l1, 11.0, 13.0, 15.0, 17.0\n";
        packed(&code_of(&pixel(&format!("{l}{body}{sums}mov o0.x, r0.x")), "RV770"))
    };
    let products = |lines: &[String]| lines[0].matches("MUL").count();
    assert_eq!((products(&literals(4)), products(&literals(5))), (4, 4));
    let rows = pixel(
        "add r0.x, vWinCoord0.x, cb0[0].x\nadd r0.y, vWinCoord0.x, cb0[1].x\nadd r0.z, vWinCoord0.x, cb0[2].x\nmov o0.xyz, r0",
    );
    assert_eq!(packed(&code_of(&rows, "RV770")), ["x:ADD y:ADD", "z:ADD"]);
    assert_eq!(packed(&code_of(&rows, "RV670")), ["x:ADD y:ADD z:ADD"]);
}

/// Comparisons set the predicate themselves, and jumps out of loops belong to their clause.
#[test]
fn loops_and_branches_are_listed() {
    let text = pixel(
        "dcl_literal l0, 0, 1, 10, 0\nmov r0.x, l0.x\nmov r1.x, vWinCoord0.x\nwhileloop\nige r2.x, r0.x, cb0[0].x\n\
         break_logicalnz r2.x\nadd r1.x, r1.x, vWinCoord0.y\niadd r0.x, r0.x, l0.y\nendloop\nif_logicalnz cb0[1].x\n\
         mul r1.x, r1.x, r1.x\nelse\nadd r1.x, r1.x, r1.x\nendif\nmov o0.x, r1.x",
    );
    let listing = code_of(&text, "Cypress").listing(Chip::named("Cypress").unwrap());
    let lines: Vec<&str> = listing.lines().filter(|line| !line.starts_with(' ')).collect();
    let heads: Vec<&str> = lines.iter().filter_map(|line| line.split([':', '(']).next()).collect();
    let expected = [
        "00 ALU",
        "01 LOOP_DX10 i0 FAIL_JUMP_ADDR",
        "02 ALU_BREAK",
        "03 ALU",
        "04 ENDLOOP i0 PASS_JUMP_ADDR",
        "05 ALU_PUSH_BEFORE",
        "06 JUMP  POP_CNT",
        "07 ALU",
        "08 ELSE POP_CNT",
        "09 ALU",
        "10 POP ",
        "11 EXP_DONE",
        "END_OF_PROGRAM",
    ];
    assert_eq!(heads, expected, "{listing}");
    assert!(lines[1].ends_with("FAIL_JUMP_ADDR(5)") && lines[4].ends_with("PASS_JUMP_ADDR(2)"), "{listing}");
    assert!(listing.contains("x: PRED_SETGE_INT   ____,  R0.") && lines[6].ends_with("ADDR(8)"), "{listing}");
}

/// Follows code, each loop twice, with the name of the value in each component of each register: who reads, finds what is meant.
fn follow(code: &Code, inputs: &[V]) {
    let mut registers: HashMap<(u32, u8), V> = HashMap::new();
    let place = |v: V| code.places[v.index()];
    registers.extend(inputs.iter().filter_map(|v| Some((place(*v)?, *v))));
    let mut order: Vec<usize> = Vec::new();
    let mut starts = Vec::new();
    for (at, clause) in code.clauses.iter().enumerate() {
        order.push(at);
        match clause {
            Clause::Mark(Mark::Loop(_), _) => starts.push(order.len()),
            Clause::Mark(Mark::EndLoop, _) => order.extend_from_within(starts.pop().unwrap()..),
            _ => {}
        }
    }
    for at in order {
        match &code.clauses[at] {
            Clause::Alu(bundles) => {
                let mut before: Vec<V> = Vec::new();
                for bundle in bundles {
                    let slots: Vec<&Slot> =
                        bundle.slots.iter().flatten().map(|(alu, n)| &alu.slots[*n]).collect();
                    for value in slots.iter().flat_map(|slot| slot.srcs.iter().filter_map(Src::value)) {
                        let found = before.contains(&value)
                            || place(value).and_then(|at| registers.get(&at)) == Some(&value);
                        assert!(found, "clause {at}: {value} is not in {:?}", place(value));
                    }
                    before = slots.iter().filter_map(|slot| slot.dst).collect();
                    registers.extend(before.iter().filter_map(|v| Some((place(*v)?, *v))));
                }
            }
            Clause::Fetch(list) => {
                for fetch in list {
                    let values: Vec<V> = fetch.address.iter().filter_map(Src::value).collect();
                    let places: Vec<_> = values.iter().map(|v| place(*v).unwrap()).collect();
                    assert!(places.iter().all(|p| p.0 == places[0].0), "one register: {places:?}");
                    values.iter().zip(&places).for_each(|(v, at)| assert_eq!(registers.get(at), Some(v)));
                    let results: Vec<_> =
                        fetch.dst.iter().flatten().filter_map(|v| Some((place(*v)?, *v))).collect();
                    assert!(results.iter().all(|r| r.0.0 == results[0].0.0), "one register: {results:?}");
                    registers.extend(results);
                }
            }
            Clause::Write(write) => {
                let places: Vec<_> = write.data.iter().map(|v| place(*v).unwrap()).collect();
                assert!(places.iter().all(|p| p.0 == places[0].0), "one register: {places:?}");
                write.data.iter().zip(&places).for_each(|(v, at)| assert_eq!(registers.get(at), Some(v)));
            }
            Clause::Mark(..) => {}
        }
    }
}

#[test]
fn registers_hold_what_is_read() {
    let mut seed = 1u32;
    let mut next = |n: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % n
    };
    for round in 0..60 {
        let mut body = String::from("dcl_literal l0, 1.0, 2.0, 3.0, 0.0\n");
        (0..6).for_each(|n| body += &format!("mov r{n}, vWinCoord0.xyxy\n"));
        let looped = round % 2 == 0;
        if looped {
            body += "mov r6.x, cb0[0].x\nwhileloop\nbreak_logicalz r6.x\nadd r6.x, r6.x, l0.x\n";
        }
        let letters = ["x", "y", "z", "w"];
        for _ in 0..30 {
            let (d, a, b, c) = (next(6), next(6), next(6), next(6));
            let (m, s) = (letters[next(4) as usize], letters[next(4) as usize]);
            body += &match next(7) {
                0 => format!("mad r{d}, r{a}, r{b}, r{c}\n"),
                1 => format!("add r{d}.{m}, r{a}.{s}, r{b}.{m}\n"),
                2 => format!("mul r{d}, r{a}.{s}, cb0[{}]\n", next(4)),
                3 => format!("sample_resource(0)_sampler(0) r{d}, r{a}.{m}{s}{m}{s}\n"),
                4 => format!("rcp r{d}.{m}, r{a}.{s}\n"),
                5 => format!("dp4 r{d}.{m}, r{a}, r{b}_neg({s})\n"),
                _ => format!("mov r{d}.{m}, r{a}.{s}\n"),
            };
        }
        if looped {
            body += "endloop\n";
        }
        let text = pixel(&(body + "add r0, r0, r1\nadd r2, r2, r3\nadd r0, r0, r2\nadd o0, r0, r4"));
        for chip in ["RV670", "RV770", "Cypress", "Cayman"] {
            let kernel = crate::front(text.as_bytes()).unwrap();
            let program = crate::lower::lower_bare(&kernel).unwrap();
            let chip = Chip::named(chip).unwrap();
            let inputs = translate::translate(&program, chip, &Elements::default()).unwrap().inputs;
            let code = compile(&program, chip, &Elements::default()).unwrap();
            follow(&code, &inputs.keys().copied().collect::<Vec<_>>());
            for bundles in
                code.clauses.iter().filter_map(|c| if let Clause::Alu(b) = c { Some(b) } else { None })
            {
                assert!(bundles.iter().map(Bundle::words).sum::<usize>() <= 128);
                assert!(bundles.iter().all(|b| b.used() > 0 && b.literals.len() <= 4));
            }
        }
    }
}
