//! Lane operations over whole rows.
//!
//! The meaning of an operation is the scalar function of `cal_il::isa::lane`; here it is put in a loop over the
//! lanes that the compiler turns into vector instructions. The macros are expanded once for each instruction set
//! in [`crate::isa_choice`]. Operands of a handler: destination rows, then source rows, low word first.

/// Makes `fn lane(op) -> Handler` with a handler of each operation, compiled with the given attributes.
macro_rules! lane_table {
    ($features:literal; $($name:ident ($($class:ident),*) -> $result:ident = $($path:ident)::+;)*) => {
        /// The handlers of a lane operation.
        pub fn lane(op: LaneOp) -> Handler {
            match op {
                $(LaneOp::$name => {
                    #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
                    unsafe fn full(rows: &mut [Row], ids: &[RowId], _: &Row) {
                        lane_body!(full rows ids (Row::ZERO) $result $($path)::+; $($class)*);
                    }
                    #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
                    unsafe fn some(rows: &mut [Row], ids: &[RowId], mask: &Row) {
                        lane_body!(some rows ids mask $result $($path)::+; $($class)*);
                    }
                    Handler::new(full, some)
                })*
            }
        }
    };
}

/// Body of a handler.
macro_rules! lane_body {
    ($how:ident $rows:ident $ids:ident $mask:tt Q $path:path; $($class:ident)*) => {{
        let (lo, hi) = lane_body!(@bind $rows $ids (2) Q $path; [] $($class)*);
        lane_body!(@put $how $rows ($ids[0]) lo $mask);
        lane_body!(@put $how $rows ($ids[1]) hi $mask);
    }};
    ($how:ident $rows:ident $ids:ident $mask:tt $result:ident $path:path; $($class:ident)*) => {{
        let out = lane_body!(@bind $rows $ids (1) W $path; [] $($class)*);
        lane_body!(@put $how $rows ($ids[0]) out $mask);
    }};
    // One `let` per argument: hygiene keeps the names of different steps apart.
    (@bind $rows:ident $ids:ident ($at:expr) $result:ident $path:path; [$($done:tt)*] Q $($rest:ident)*) => {{
        let lo = &$rows[$ids[$at] as usize].0;
        let hi = &$rows[$ids[$at + 1] as usize].0;
        lane_body!(@bind $rows $ids ($at + 2) $result $path; [$($done)* (lo hi)] $($rest)*)
    }};
    (@bind $rows:ident $ids:ident ($at:expr) $result:ident $path:path; [$($done:tt)*] $class:ident $($rest:ident)*) => {{
        let word = &$rows[$ids[$at] as usize].0;
        lane_body!(@bind $rows $ids ($at + 1) $result $path; [$($done)* (word)] $($rest)*)
    }};
    (@bind $rows:ident $ids:ident ($at:expr) Q $path:path; [$($done:tt)*]) => {{
        let (mut lo, mut hi) = (Row::ZERO, Row::ZERO);
        for lane in 0..LANES {
            let quad: u64 = $path(&mut Cpu, $(lane_body!(@read lane $done)),*);
            lo.0[lane] = quad as u32;
            hi.0[lane] = (quad >> 32) as u32;
        }
        (lo, hi)
    }};
    (@bind $rows:ident $ids:ident ($at:expr) W $path:path; [$($done:tt)*]) => {{
        let mut out = Row::ZERO;
        for lane in 0..LANES {
            out.0[lane] = $path(&mut Cpu, $(lane_body!(@read lane $done)),*);
        }
        out
    }};
    (@read $lane:ident ($word:ident)) => { $word[$lane] };
    (@read $lane:ident ($lo:ident $hi:ident)) => { u64::from($lo[$lane]) | u64::from($hi[$lane]) << 32 };
    (@put full $rows:ident ($id:expr) $value:ident $mask:tt) => { $rows[$id as usize] = $value; };
    (@put some $rows:ident ($id:expr) $value:ident $mask:tt) => {
        let row = &mut $rows[$id as usize].0;
        for lane in 0..LANES {
            row[lane] = $value.0[lane] & $mask.0[lane] | row[lane] & !$mask.0[lane];
        }
    };
}

pub(crate) use {lane_body, lane_table};
