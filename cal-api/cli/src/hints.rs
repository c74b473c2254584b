//! Hints about values that are surely not meant: a float where the kernel computes with integers.
//!
//! `cb0=64` is the float 64.0, whose bits are the integer 1115684864: a loop up to it does not end for a while.

use std::collections::BTreeSet;

use recal_il::diagnostic::position;
use recal_il::ir::visit::statements;
use recal_il::ir::{LaneInst, Operand, StmtKind};
use recal_il::isa::LaneOp;

use crate::data::{Binding, Word};

/// Tells hints on standard error, unless they go into JSON.
pub(crate) fn tell(text: &[u8], bindings: &[Binding], json: bool) -> Vec<String> {
    let hints = hints(text, bindings);
    if !json {
        hints.iter().for_each(|hint| crate::files::say(&format!("recal: hint: {hint}\n")));
    }
    hints
}

/// A hint for each float that the kernel takes for an integer.
fn hints(text: &[u8], bindings: &[Binding]) -> Vec<String> {
    let given: Vec<(u32, &[Word])> = bindings.iter().filter_map(Binding::constants).collect();
    // A kernel that is not accepted has errors of its own.
    let (false, Ok(mut program)) = (given.is_empty(), recal_il::compile(text)) else { return Vec::new() };
    let mut hints = BTreeSet::new();
    for function in &mut program.functions {
        statements(&mut function.body, &mut |stmt| {
            let StmtKind::Lane(LaneInst { op, args, .. }) = &stmt.kind else { return };
            for arg in args.iter().filter(|_| is_integer(*op)) {
                let Operand::Const { buffer, row, component } = *arg else { continue };
                let words = given
                    .iter()
                    .find(|(number, _)| *number == u32::from(buffer))
                    .map_or(&[][..], |(_, words)| words);
                let word = words.get(4 * row as usize + usize::from(component));
                if let Some(float) = word.and_then(|word| word.float.clone()) {
                    let at = format!("cb{buffer}[{row}].{}", ["x", "y", "z", "w"][usize::from(component)]);
                    hints.insert((position(text, stmt.span.start).0, at, float));
                }
            }
        });
    }
    let hint = |(line, at, float): (usize, String, String)| {
        let instead = match float.parse::<f64>() {
            Ok(value) if value.fract() == 0.0 && value.abs() < f64::from(1u32 << 31) => {
                format!("write {}i for the integer", value as i64)
            }
            _ => "integers are written with an i, e.g. 64i, or in hex".into(),
        };
        format!("{at} is the float {float}, but line {line} computes with it as an integer; {instead}")
    };
    hints.into_iter().map(hint).collect()
}

/// Whether all operands are integers, and not only bits.
fn is_integer(op: LaneOp) -> bool {
    use LaneOp::*;
    matches!(
        op,
        Ieq | Ine
            | Ilt
            | Ige
            | Ult
            | Uge
            | Iadd
            | Isub
            | Imul
            | ImulHigh
            | UmulHigh
            | Imad
            | Imin
            | Imax
            | Umin
            | Umax
            | Udiv
            | Umod
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::binding;

    #[test]
    fn floats_that_are_taken_for_integers_are_told_with_their_line() {
        let text = b"il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[2]\nmov r0, r0.0000\nmov r5, cb0[1]\nwhileloop\n\
            ige r1.x, r0.x, cb0[0].y\nbreak_logicalnz r1.x\niadd r0.x, r0.x, r5.z\nmul r2, r2, cb0[0].xxxx\nendloop\n\
            mov o0, r2\nend\n";
        let given = |value: &str| hints(text, &[binding(&format!("cb0={value}")).unwrap()]);
        assert_eq!(
            given("64,64,0,0,0,0,2.5"),
            [
                "cb0[0].y is the float 64, but line 7 computes with it as an integer; write 64i for the integer",
                "cb0[1].z is the float 2.5, but line 9 computes with it as an integer; integers are written with an i, \
                 e.g. 64i, or in hex",
            ]
        );
        // Zero is the same in both, and so is what is written as an integer.
        assert!(
            given("64,64i,0,0,0,0,0x2").is_empty()
                && given("1,0,0,0,0,0,0").is_empty()
                && given("1").is_empty()
        );
        assert!(hints(b"rubbish", &[binding("cb0=1").unwrap()]).is_empty());
    }
}
