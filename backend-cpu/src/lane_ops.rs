//! Lane operations over whole rows.
//!
//! The meaning of an operation is the scalar function of `recal_il::isa::lane`; here it is put in a loop over the
//! lanes that the compiler turns into vector instructions. The macros are expanded once for each instruction set
//! in [`crate::isa_choice`]. Operands of a handler: destination rows, then source rows, low word first.

/// Makes `fn lane(op) -> Handler` with a handler of each operation, compiled with the given attributes.
macro_rules! lane_table {
    ($features:literal; $($name:ident ($($class:ident),*) -> $result:ident = $($path:ident)::+ $(, $property:ident $(($of:ident))?)*;)*) => {
        /// The handlers of a lane operation.
        pub fn lane(op: LaneOp) -> Handler {
            match op {
                $(LaneOp::$name => {
                    #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
                    unsafe fn row(rows: &mut [Row], ids: &[RowId]) {
                        lane_body!(rows ids $result $($path)::+; $($class)*);
                    }
                    Handler::new(row)
                })*
            }
        }
    };
}

/// Body of a handler.
macro_rules! lane_body {
    ($rows:ident $ids:ident Q $path:path; $($class:ident)*) => {{
        let (lo, hi) = lane_body!(@bind $rows $ids (2) Q $path; [] $($class)*);
        $rows[$ids[0] as usize] = lo;
        $rows[$ids[1] as usize] = hi;
    }};
    ($rows:ident $ids:ident $result:ident $path:path; $($class:ident)*) => {{
        let out = lane_body!(@bind $rows $ids (1) W $path; [] $($class)*);
        $rows[$ids[0] as usize] = out;
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
}

/// Makes `fn mad(shape) -> Handler`: four multiply-adds that share a factor, or a chain of such quads.
///
/// Operands: four sums, four sums of the last but one link if `middle`, four addends, then for each link the shared
/// factor and four others.
macro_rules! mad_table {
    ($features:literal) => {
        /// [`float::mad`] with the zero test turned round, so that it can mask the multiplication.
        #[inline(always)]
        fn mad_nonzero(a: &mut Cpu, x: u32, y: u32, z: u32) -> u32 {
            let both = (x & 0x7FFF_FFFF != 0) & (y & 0x7FFF_FFFF != 0);
            let product = if both { f32::from_bits(x) * f32::from_bits(y) } else { 0.0 };
            let product = a.flush(product.to_bits());
            float::add(a, product, z)
        }

        /// The handler of fused multiply-adds.
        pub fn mad(shape: MadShape) -> Handler {
            match (shape.op, shape.length, shape.middle) {
                (LaneOp::MadIeee, 1, _) => mad_table!(@handler $features, float::mad_ieee, 1, false),
                (LaneOp::MadIeee, 2, false) => mad_table!(@handler $features, float::mad_ieee, 2, false),
                (LaneOp::MadIeee, 2, true) => mad_table!(@handler $features, float::mad_ieee, 2, true),
                (LaneOp::MadIeee, 4, false) => mad_table!(@handler $features, float::mad_ieee, 4, false),
                (LaneOp::MadIeee, 4, true) => mad_table!(@handler $features, float::mad_ieee, 4, true),
                (LaneOp::Mad, 1, _) => mad_table!(@handler $features, mad_nonzero, 1, false),
                (LaneOp::Mad, 2, false) => mad_table!(@handler $features, mad_nonzero, 2, false),
                (LaneOp::Mad, 2, true) => mad_table!(@handler $features, mad_nonzero, 2, true),
                (LaneOp::Mad, 4, false) => mad_table!(@handler $features, mad_nonzero, 4, false),
                (LaneOp::Mad, 4, true) => mad_table!(@handler $features, mad_nonzero, 4, true),
                shape => unreachable!("no such chain: {shape:?}"),
            }
        }
    };
    (@handler $features:literal, $mad:path, $length:literal, $middle:literal) => {{
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
        unsafe fn row(rows: &mut [Row], ids: &[RowId]) {
            const START: usize = if $middle { 8 } else { 4 };
            let row = |at: usize| &rows[ids[at] as usize].0;
            let z: [&[u32; LANES]; 4] = std::array::from_fn(|k| row(START + k));
            let x: [&[u32; LANES]; $length] = std::array::from_fn(|link| row(START + 4 + 5 * link));
            let y: [[&[u32; LANES]; 4]; $length] =
                std::array::from_fn(|link| std::array::from_fn(|k| row(START + 5 + 5 * link + k)));
            let mut sums = [Row::ZERO; 4];
            let mut inner = [Row::ZERO; 4];
            // Components are written out: the compiler would not unroll a loop of this size, and then not vectorise.
            macro_rules! component {
                ($lane:ident $k:literal) => {
                    let mut sum = z[$k][$lane];
                    for link in 0..$length {
                        if $middle && link == $length - 1 {
                            inner[$k].0[$lane] = sum;
                        }
                        sum = $mad(&mut Cpu, x[link][$lane], y[link][$k][$lane], sum);
                    }
                    sums[$k].0[$lane] = sum;
                };
            }
            for lane in 0..LANES {
                component!(lane 0);
                component!(lane 1);
                component!(lane 2);
                component!(lane 3);
            }
            if $middle {
                for k in 0..4 {
                    rows[ids[4 + k] as usize] = inner[k];
                }
            }
            for k in 0..4 {
                rows[ids[k] as usize] = sums[k];
            }
        }
        Handler::new(row)
    }};
}

pub(crate) use {lane_body, lane_table, mad_table};
