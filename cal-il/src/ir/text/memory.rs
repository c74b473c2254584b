//! Memory accesses: `destinations = Name field=value …`, with the names of the type's variants and fields.

use std::fmt::{self, Display, Formatter};

use smallvec::SmallVec;

use super::reader::{Found, Reader};
use super::values::print_register;
use super::{Form, Shown};
use crate::ir::{Dst4, MemoryInst, Reg};

/// Registers on the left of a statement; `_` is nothing.
pub(super) type Left = SmallVec<[Option<Reg>; 4]>;

/// A field that stands on the left.
trait Destination: Sized {
    fn left(&self) -> Left;
    /// From what stands there; none if that has another length.
    fn of(left: &[Option<Reg>]) -> Option<Self>;
}

impl Destination for Dst4 {
    fn left(&self) -> Left {
        self.iter().copied().collect()
    }

    fn of(left: &[Option<Reg>]) -> Option<Self> {
        left.try_into().ok()
    }
}

impl Destination for Reg {
    fn left(&self) -> Left {
        [Some(*self)].into_iter().collect()
    }

    fn of(left: &[Option<Reg>]) -> Option<Self> {
        if let [reg] = left { *reg } else { None }
    }
}

impl Destination for Option<Reg> {
    fn left(&self) -> Left {
        self.iter().map(|reg| Some(*reg)).collect()
    }

    fn of(left: &[Option<Reg>]) -> Option<Self> {
        match left {
            [] => Some(None),
            [Some(reg)] => Some(Some(*reg)),
            _ => None,
        }
    }
}

pub(super) fn print_left(left: &[Option<Reg>], f: &mut Formatter<'_>) -> fmt::Result {
    for reg in left {
        match reg {
            Some(reg) => print_register(*reg, f)?,
            None => f.write_str("_")?,
        }
        f.write_str(" ")?;
    }
    f.write_str(if left.is_empty() { "" } else { "= " })
}

fn print_field<T: Form + PartialEq>(name: &str, value: &T, f: &mut Formatter<'_>) -> fmt::Result {
    if T::absent().as_ref() == Some(value) {
        return Ok(());
    }
    write!(f, " {name}={}", Shown(value))
}

/// Fields come in their order, so one that has another name is one that is left out.
fn parse_field<T: Form>(name: &str, reader: &mut Reader<'_>) -> Found<T> {
    if reader.takes_word(name) {
        reader.expect(b'=')?;
        return T::parse(reader);
    }
    T::absent().ok_or_else(|| reader.wrong(format!("expected `{name}=`")))
}

fn parse_left<T: Destination>(
    name: &str,
    left: &[Option<Reg>],
    reader: &Reader<'_>,
    start: usize,
) -> Found<T> {
    T::of(left).ok_or_else(|| reader.wrong_since(start, format!("`{name}` has another number of results")))
}

/// Both directions from one list: a variant, the field that stands on the left, the others. Fields that are forgotten here do
/// not compile.
macro_rules! accesses {
    ($($name:ident $([$left:ident])? { $($field:ident),* })*) => {
        impl Display for MemoryInst {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self { $(
                    MemoryInst::$name { $($left,)? $($field,)* } => {
                        $(print_left(&$left.left(), f)?;)?
                        f.write_str(stringify!($name))?;
                        $(print_field(stringify!($field), $field, f)?;)*
                        Ok(())
                    }
                )* }
            }
        }

        /// The access of a name, which began at `start` and whose fields follow; none if there is no such name.
        pub(super) fn parse(
            name: &str,
            left: &[Option<Reg>],
            reader: &mut Reader<'_>,
            start: usize,
        ) -> Option<Found<MemoryInst>> {
            match name {
                $(stringify!($name) => Some((|| {
                    accesses!(@left $name left reader start $($left)?);
                    Ok(MemoryInst::$name {
                        $($left: parse_left(stringify!($name), left, reader, start)?,)?
                        $($field: parse_field(stringify!($field), reader)?,)*
                    })
                })()),)*
                _ => None,
            }
        }
    };
    (@left $name:ident $list:ident $reader:ident $start:ident) => {
        if !$list.is_empty() {
            let message = concat!("`", stringify!($name), "` has no result");
            return Err($reader.wrong_since($start, message.into()));
        }
    };
    (@left $name:ident $list:ident $reader:ident $start:ident $left:ident) => {};
}

accesses! {
    Sample [dst] { resource, sampler, unnormalized, coord, offset }
    Gather [dst] { resource, sampler, unnormalized, coord, offset, texel_offset, component }
    Fetch [dst] { resource, coord, offset }
    ResourceInfo [dst] { resource, uint }
    BufferInfo [dst] { of }
    ConstLoad [dst] { buffer, index, offset }
    ImmediateLoad [dst] { index, offset }
    ArrayLoad [dst] { array, index, offset }
    ArrayStore { array, index, offset, src }
    GlobalLoad [dst] { index, offset }
    GlobalStore { index, offset, src }
    SharedLoad [dst] { register }
    SharedStore { register, src }
    RawLoad [dst] { space, address, width }
    RawStore { space, address, width, src }
    TypedLoad [dst] { uav, coord }
    TypedStore { uav, coord, src }
    Atomic [dst] { op, space, address, src, src2, wide }
    LdsWriteOwn { offset, src }
    LdsReadAny [dst] { thread, offset, neighbor_exchange }
    Counter [dst] { uav, consume }
    InitShared {}
}
