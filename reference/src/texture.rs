//! Elements of surfaces, and the texels that coordinates name.

use recal_hal::Sampler;
use recal_il::ir::Dimension;
use recal_il::isa::Scalar;
use recal_il::isa::memory::element::Layout;
use recal_il::isa::memory::texel::{self, Axis, GATHER_ORDER, Grid, Mode};
use recal_il::isa::memory::{Truth, filter};

use crate::{Bound, Machine, Memory, Surface};

/// Coordinates of a filtered read.
pub(crate) struct Place {
    pub coord: [u32; 2],
    /// Half texels.
    pub offset: [i8; 3],
    pub unnormalized: bool,
    /// Coordinates that count.
    pub dimensions: u32,
}

/// Coordinates of a shape that count.
pub(crate) fn planar(dimension: Dimension) -> u32 {
    match dimension {
        Dimension::D1 | Dimension::Buffer => 1,
        Dimension::D2 | Dimension::D3 | Dimension::D1Array | Dimension::D2Array => 2,
    }
}

/// A texel of an axis, and whether it is inside.
type Texel = (u32, bool);

fn known((index, inside): texel::Texel<Scalar>) -> Texel {
    let (Truth::Known(inside) | Truth::Value(inside)) = inside;
    (index, inside)
}

impl<M: Memory> Machine<M> {
    /// What a store leaves of four words; nothing outside.
    pub(crate) fn store_element(&mut self, surface: &Surface, element: u32, words: [u32; 4]) {
        let size = surface.format.bytes() as usize;
        let start = element as usize * size;
        if start + size <= surface.bytes() {
            self.memories[surface.memory].write(start, &surface.format.encode(words)[..size]);
        }
    }
}

impl Bound<'_> {
    /// The bytes of an element; what is outside is 0.
    fn element(&self, surface: &Surface, element: u32) -> [u8; 16] {
        let size = surface.format.bytes() as usize;
        let start = element as usize * size;
        let mut out = [0; 16];
        if start + size <= surface.bytes() {
            self.memories.numbered(surface.memory).read(start, &mut out[..size]);
        }
        out
    }

    /// A texel where there is one, else the border.
    fn texel(&self, surface: &Surface, sampler: &Sampler, column: Texel, row: Texel) -> [u32; 4] {
        if column.1 && row.1 {
            let element = row.0.wrapping_mul(surface.pitch).wrapping_add(column.0);
            return surface.format.fetch(&self.element(surface, element));
        }
        Layout::of(&mut Scalar, surface.format).border(&mut Scalar, sampler.border.map(f32::to_bits))
    }

    fn axis(&self, surface: &Surface, sampler: &Sampler, place: &Place, k: usize) -> Axis<u32> {
        Axis {
            coord: place.coord[k],
            size: [surface.width, surface.height][k].max(1),
            offset: place.offset[k],
            unnormalized: place.unnormalized,
            mode: Mode::Known(sampler.wrap[k]),
        }
    }

    /// `sample`
    pub(crate) fn sample(&self, surface: &Surface, sampler: &Sampler, place: &Place) -> [u32; 4] {
        let axes = [0, 1].map(|k| self.axis(surface, sampler, place, k));
        if sampler.linear && !surface.format.is_integer() {
            return self.linear(surface, sampler, &axes, place.dimensions > 1);
        }
        let column = known(texel::nearest(&mut Scalar, &axes[0]));
        let planar = place.dimensions > 1;
        let row = if planar { known(texel::nearest(&mut Scalar, &axes[1])) } else { (0, true) };
        self.texel(surface, sampler, column, row)
    }

    /// The linear filter over two columns, and two rows if the surface has such.
    fn linear(&self, surface: &Surface, sampler: &Sampler, axes: &[Axis<u32>; 2], planar: bool) -> [u32; 4] {
        let (columns, across) = texel::taps(&mut Scalar, &axes[0]);
        let columns = columns.map(known);
        let line = |row: Texel| columns.map(|column| self.texel(surface, sampler, column, row));
        if !planar {
            let line = line((0, true));
            return [0, 1, 2, 3]
                .map(|k| filter::linear(&mut Scalar, line.map(|texel| texel[k]), None, across));
        }
        let (rows, down) = texel::taps(&mut Scalar, &axes[1]);
        let [first, second] = rows.map(|row| line(known(row)));
        [0, 1, 2, 3].map(|k| {
            let below = Some((second.map(|texel| texel[k]), down));
            filter::linear(&mut Scalar, first.map(|texel| texel[k]), below, across)
        })
    }

    /// `fetch4`, `added` texels on.
    pub(crate) fn gather(
        &self,
        surface: &Surface,
        sampler: &Sampler,
        place: &Place,
        added: Option<[u32; 2]>,
        component: u8,
    ) -> [u32; 4] {
        let sides = [0, 1].map(|k| {
            if k == 1 && place.dimensions < 2 {
                return [(0, true); 2];
            }
            let axis = self.axis(surface, sampler, place, k);
            texel::gathered(&mut Scalar, &axis, added.map(|added| added[k])).map(known)
        });
        GATHER_ORDER
            .map(|(i, j)| self.texel(surface, sampler, sides[0][i], sides[1][j])[usize::from(component & 3)])
    }

    /// `load`
    pub(crate) fn fetch(
        &self,
        surface: &Surface,
        dimensions: u32,
        coord: [u32; 3],
        offset: [i8; 3],
    ) -> [u32; 4] {
        match whole(surface, surface.width, dimensions, coord, offset) {
            Some(element) => surface.format.fetch(&self.element(surface, element)),
            None => [0; 4],
        }
    }

    /// Load of a typed UAV: what is outside is an element of zeros.
    pub(crate) fn typed_load(&self, surface: &Surface, dimensions: u32, coord: [u32; 3]) -> [u32; 4] {
        let found = typed(surface, dimensions, coord).map(|element| self.element(surface, element));
        surface.format.decode(&found.unwrap_or_default())
    }
}

/// Element number of integer texels in rows of so many columns.
fn whole(surface: &Surface, columns: u32, dimensions: u32, coord: [u32; 3], offset: [i8; 3]) -> Option<u32> {
    let grid = Grid { columns, rows: surface.height, pitch: surface.pitch, flat: dimensions < 2 };
    let (coord, offset) = ([coord[0], coord[1]], [offset[0], offset[1]]);
    let (element, inside) = texel::at_integers(&mut Scalar, &grid, coord, offset);
    inside.then_some(element)
}

/// Element number in a typed UAV, whose rows go on to the pitch.
pub(crate) fn typed(surface: &Surface, dimensions: u32, coord: [u32; 3]) -> Option<u32> {
    whole(surface, surface.pitch, dimensions, coord, [0; 3])
}
