//! How values grow along the lanes of a wave that is a line, from the first lane to the last, or in the rounds of a loop.
//!
//! What a wave samples at is a function of its columns, which grow by one from lane to lane, and of what all lanes have. Where no step of
//! such a function takes a value down, or further up than it should be, it is enough to look at the ends: if the last lane is as far
//! from the first one as all steps together may be, each step was taken in full. So it is with what a loop samples at, and its rounds.

use super::{Graph, Inst, NO, Node, Val};
use crate::op::{Kind, Op, Relation};

/// The largest column, and the largest number up to which halves are floats.
pub const COLUMNS: f32 = 4_194_304.0;
const HALVES: f64 = 8_388_608.0;

/// How a value differs from lane to lane, or from round to round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Course {
    /// It does not.
    Same,
    /// A float, no NaN, within bounds; it grows by 0 to so much. All are halves of whole numbers.
    Float(f64, f64, u32),
    /// A signed number within bounds; it grows by 0 to so much.
    Number(i64, i64, u32),
    /// A word that grows by 0 to so much, modulo 2^32.
    Word(u32),
}

/// How the values of a graph grow.
pub struct Courses(Vec<Option<Course>>);

impl Courses {
    /// Where a row holds columns: multiples of 1/2 from 0 to 2^22, one more in each lane.
    pub fn of(graph: &Graph, column: u32) -> Courses {
        Courses::from(graph, |val| match graph.node(val) {
            Node::Row(row) if row == column => Some(Course::columns(1)),
            _ => graph.same.contains(&val).then_some(Course::Same),
        })
    }

    /// What some values do is given.
    pub fn from(graph: &Graph, given: impl Fn(Val) -> Option<Course>) -> Courses {
        let mut courses = Courses(Vec::with_capacity(graph.nodes.len()));
        for (val, &node) in graph.numbered() {
            let course = given(val).or_else(|| match node {
                Node::Word(_) | Node::Quad(_) | Node::Bool(_) | Node::Field(..) => Some(Course::Same),
                Node::Row(_) | Node::Kept(_) | Node::Lanes(_) | Node::Mask(_) => None,
                Node::Inst(inst) => courses.inst(graph, inst),
            });
            courses.0.push(course);
        }
        courses
    }

    /// A value grows by `step` at most.
    pub fn grows(&self, val: Val, step: u32) -> bool {
        match self.get(val) {
            Some(Course::Number(_, _, most) | Course::Word(most)) => most == step,
            _ => false,
        }
    }

    pub fn get(&self, val: Val) -> Option<Course> {
        self.0.get(val.index()).copied().flatten()
    }

    /// A float that is no NaN.
    fn number(&self, val: Val) -> bool {
        matches!(self.get(val), Some(Course::Float(..)))
    }

    /// The mask has all lanes.
    fn all(&self, graph: &Graph, mask: Val) -> bool {
        match graph.as_inst(mask) {
            Some(Inst {
                op: Op::Compare(Kind::Float, Relation::Unordered, true),
                args: [a, b, _],
                mask: NO,
            }) => self.number(a) && self.number(b),
            _ => mask == NO,
        }
    }

    fn inst(&self, graph: &Graph, inst: Inst) -> Option<Course> {
        if inst.op.pure() && inst.operands().all(|arg| self.get(arg) == Some(Course::Same)) {
            return Some(Course::Same);
        }
        if !self.all(graph, inst.mask) {
            return None;
        }
        let [a, b, c] = inst.args;
        let [first, second] = [a, b].map(|arg| self.get(arg));
        match (inst.op, first, second) {
            (Op::Keep, _, Some(of)) if self.all(graph, a) => Some(of),
            (Op::Select, ..) if self.raises_nothing(graph, inst) => self.get(c),
            (Op::Flush, Some(of @ Course::Float(..)), _) => Some(of),
            // What lies between two neighbours' whole numbers is less than 1.
            (Op::Round(1), Some(Course::Float(low, high, step)), _) => {
                Some(Course::Float(low.floor(), high.floor(), step))
            }
            (Op::ToSigned, Some(Course::Float(low, high, step)), _) => {
                let [low, high] = [low, high].map(|of| of.trunc() as i64);
                fits(low, high).then_some(Course::Number(low, high, step))
            }
            (op @ (Op::FMin | Op::FMax | Op::FAdd | Op::FSub), Some(Course::Float(low, high, step)), _) => {
                let by = halves(graph, b)?;
                Some(match op {
                    Op::FMin => Course::Float(low.min(by), high.min(by), step),
                    Op::FMax => Course::Float(low.max(by), high.max(by), step),
                    Op::FAdd => exact(low + by, high + by, step)?,
                    _ => exact(low - by, high - by, step)?,
                })
            }
            (op @ (Op::FAdd | Op::FMin), Some(Course::Same), Some(Course::Float(low, high, step))) => {
                let by = halves(graph, a)?;
                if op == Op::FAdd {
                    exact(low + by, high + by, step)
                } else {
                    Some(Course::Float(low.min(by), high.min(by), step))
                }
            }
            (op @ (Op::MinSigned | Op::MaxSigned), Some(x), Some(y)) => {
                let (low, high, step) = match (x, y) {
                    (Course::Number(low, high, step), Course::Same)
                    | (Course::Same, Course::Number(low, high, step)) => (low, high, step),
                    _ => return None,
                };
                let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
                Some(match op {
                    Op::MinSigned => Course::Number(least, high, step),
                    _ => Course::Number(low, most, step),
                })
            }
            (Op::Add, Some(x), Some(y)) => {
                if let (Course::Number(low, high, step), Some(by)) = (x, graph.word_of(b)) {
                    let by = i64::from(by as i32);
                    if fits(low + by, high + by) {
                        return Some(Course::Number(low + by, high + by, step));
                    }
                }
                Some(Course::Word(x.step()?.checked_add(y.step()?)?))
            }
            (Op::Mul, Some(x), Some(Course::Same)) => {
                Some(Course::Word(x.step()?.checked_mul(graph.word_of(b)?)?))
            }
            (Op::ShlBy(by), Some(x), _) => {
                Some(Course::Word(x.step()?.checked_mul(1u32.checked_shl(by.into())?)?))
            }
            _ => None,
        }
    }

    /// The choice keeps denormals from being taken for zeros, and there are none, see `Graph::raised`.
    fn raises_nothing(&self, graph: &Graph, inst: Inst) -> bool {
        let [mask, _, other] = inst.args;
        let Some(Inst {
            op: Op::Compare(Kind::Unsigned, Relation::Less, false),
            args: [place, count, _],
            mask: NO,
        }) = graph.as_inst(mask)
        else {
            return false;
        };
        let Some(Inst { op: Op::Add, args: [of, least, _], mask: NO }) = graph.as_inst(place) else {
            return false;
        };
        let words = [least, count].map(|val| graph.word_of(val));
        of == other && self.number(other) && words == [Some(0x7FFF_FFFF), Some(0x007F_FFFF)]
    }
}

impl Course {
    /// Of multiples of 1/2 from 0 to [`COLUMNS`], each so much more than the one before.
    pub fn columns(step: u32) -> Course {
        Course::Float(0.0, COLUMNS.into(), step)
    }

    /// What words grow by at most.
    fn step(self) -> Option<u32> {
        match self {
            Course::Same => Some(0),
            Course::Number(_, _, step) | Course::Word(step) => Some(step),
            Course::Float(..) => None,
        }
    }
}

/// The numbers are signed words.
fn fits(low: i64, high: i64) -> bool {
    low >= i64::from(i32::MIN) && high <= i64::from(i32::MAX)
}

/// A constant that is half a whole number.
fn halves(graph: &Graph, val: Val) -> Option<f64> {
    let of = f64::from(f32::from_bits(graph.word_of(val)?));
    ((2.0 * of).fract() == 0.0).then_some(of)
}

/// Sums that are not rounded.
fn exact(low: f64, high: f64, step: u32) -> Option<Course> {
    (low >= -HALVES && high <= HALVES).then_some(Course::Float(low, high, step))
}

#[cfg(test)]
mod tests {
    use recal_il::isa::Algebra;
    use recal_il::isa::memory::texel::{self, Axis, Mode, Wrap};

    use super::*;
    use crate::graph::Field;

    const COLUMN: u32 = 3;

    /// What grows by 1 along columns that were changed, and sampled at.
    fn grows(change: impl FnOnce(&mut Graph, Val) -> Val, wrap: Wrap, unnormalized: bool) -> bool {
        let mut graph = Graph::new(true);
        let column = graph.add(Node::Row(COLUMN));
        let coord = change(&mut graph, column);
        let size = graph.add(Node::Field(0, Field::Columns));
        let axis = Axis { coord, size, offset: 2, unnormalized, mode: Mode::Known(wrap) };
        let (texel, _) = texel::nearest(&mut graph, &axis);
        Courses::of(&graph, COLUMN).grows(texel, 1)
    }

    #[test]
    fn coordinates_that_step_with_columns_are_known() {
        let sum = |by: f32| {
            move |g: &mut Graph, x: Val| {
                let by = g.word(by.to_bits());
                g.fadd_raw(x, by)
            }
        };
        assert!(grows(|_, x| x, Wrap::ClampToEdge, true));
        assert!(grows(sum(-1.5), Wrap::ClampToEdge, true));
        assert!(grows(|g, x| sum(7.0)(g, x), Wrap::ClampToBorder, true));
        // The sum is rounded, so that steps are of other lengths; or is too large to have halves.
        assert!(!grows(sum(0.3), Wrap::ClampToEdge, true));
        assert!(!grows(sum(1.0e7), Wrap::ClampToEdge, true));
        // What comes round again, or is stretched, goes down, or further.
        assert!(!grows(|_, x| x, Wrap::Repeat, true));
        assert!(!grows(|_, x| x, Wrap::MirrorClampToEdge, true));
        assert!(!grows(|_, x| x, Wrap::ClampToEdge, false));
        assert!(!grows(|g, x| g.fadd_raw(x, x), Wrap::ClampToEdge, true));
        // Another row is anything.
        assert!(!grows(|g, _| g.add(Node::Row(COLUMN + 1)), Wrap::ClampToEdge, true));
    }

    #[test]
    fn words_grow_by_what_they_are_multiplied_with() {
        let mut g = Graph::new(true);
        let (column, other) = (g.add(Node::Row(COLUMN)), g.add(Node::Row(COLUMN + 1)));
        g.same.insert(other);
        let x = g.ftoi_raw(column);
        let (twice, two) = (g.iadd(x, x), g.word(2));
        let far = g.shl(x, two);
        let far = g.iadd(far, other);
        let unlike = g.imul(x, other);
        let wrapped = {
            let by = g.word(0x7FFF_FFFF);
            g.iadd(x, by)
        };
        let lowered = g.imin(wrapped, other);
        let courses = Courses::of(&g, COLUMN);
        assert!(courses.grows(x, 1) && courses.grows(twice, 2) && courses.grows(far, 4));
        assert!(!courses.grows(far, 1) && !courses.grows(unlike, 1) && !courses.grows(other, 1));
        // A sum may wrap, and is no signed number that grows any more.
        assert!(courses.grows(wrapped, 1) && !courses.grows(lowered, 1));
    }
}
