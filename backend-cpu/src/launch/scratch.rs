//! What a thread of the host needs to run waves, kept from launch to launch.

use recal_hal::{Error, Extent};

use super::{group_size, held};
use crate::context::Launch;
use crate::memory::{Block, InUse};
use crate::system;
use crate::wave::{Row, Wave};

/// Waves and group memory of one thread of the host, kept from launch to launch.
#[derive(Default)]
pub struct Scratch {
    /// The thread's among those that have a core; 0: no worker's.
    pub number: usize,
    pub(super) waves: Vec<Wave>,
    pub(super) lds: Option<Block>,
    pub(super) shared: Vec<Row>,
    in_use: InUse,
}

/// Bytes of rows that a worker keeps for the next launch.
const KEPT: usize = 64 << 20;

impl Scratch {
    /// Of the thread with a number.
    pub fn of(number: usize) -> Scratch {
        Scratch { number, ..Scratch::default() }
    }

    /// Finds room for so many waves of `rows` rows: large `x#` make them large, and there may not be as much.
    fn reserve(&mut self, rows: usize, waves: usize) -> Result<(), Error> {
        let row = size_of::<Row>();
        let needed = rows * waves * row;
        fits(needed)?;
        let kept: usize = self.waves.iter().map(|wave| wave.rows.capacity() * row).sum();
        if kept > KEPT && kept > 4 * needed {
            self.waves.clear();
        }
        for wave in self.waves.iter_mut().take(waves) {
            let more = rows.saturating_sub(wave.rows.len());
            wave.rows.try_reserve_exact(more).map_err(|_| short(needed))?;
        }
        for _ in self.waves.len()..waves {
            let mut wave = Wave::default();
            wave.rows.try_reserve_exact(rows).map_err(|_| short(needed))?;
            self.waves.push(wave);
        }
        Ok(())
    }

    /// Makes the waves and memory that the launch needs.
    pub(super) fn prepare(&mut self, launch: &Launch<'_>) -> Result<(), Error> {
        let code = launch.code;
        let waves = held(group_size(launch.extent).1, launch) + u32::from(launch.body.repacks());
        let rows = (code.rows + launch.body.copies) as usize;
        self.reserve(rows, waves as usize)?;
        self.waves.resize_with(self.waves.len().max(waves as usize), Wave::default);
        for wave in &mut self.waves[..waves as usize] {
            wave.rows.resize(wave.rows.len().max(rows), Row::ZERO);
            wave.starts.resize(wave.starts.len().max(code.samples as usize), [0; 2]);
            for &(row, word) in &code.literals {
                wave.rows[row as usize] = Row::splat(word);
            }
            for &(row, place, word) in &code.constants {
                let value = launch.buffers.get(place as usize).map_or(0, |view| view.word(word as usize));
                wave.rows[row as usize] = Row::splat(value);
            }
        }
        let lds = u64::from(code.lds_bytes);
        if self.lds.as_ref().map_or(0, |block| block.view().bytes() as u64) < lds {
            self.lds = Some(Block::allocate(lds, u64::MAX, &self.in_use)?);
        }
        self.shared.clear();
        self.shared.resize(4 * code.shared as usize, Row::ZERO);
        Ok(())
    }
}

/// An error if a thread of this host does not have so many bytes for a group.
fn fits(needed: usize) -> Result<(), Error> {
    // Little of it is not asked about at each launch.
    let limit = if needed > KEPT { system::memory_bytes() / 2 / system::cores() } else { needed };
    if needed > limit {
        return Err(Error::OutOfMemory(format!(
            "the registers and x# of a group take {needed} bytes; a thread of this host has {limit} for them"
        )));
    }
    Ok(())
}

/// An error if a thread of this host has no room for so many words of each thread of a group.
pub fn affordable(words: usize, extent: Extent) -> Result<(), Error> {
    fits(words * size_of::<Row>() * group_size(extent).1 as usize)
}

fn short(bytes: usize) -> Error {
    Error::OutOfMemory(format!("the registers and x# of a group take {bytes} bytes, which are not to be had"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_its_share_of_the_hosts_memory() {
        let share = ((system::memory_mib() as usize) << 20) / 2 / system::cores();
        // Rows are asked for here and not touched, so they cost addresses only.
        let reserve = |bytes: usize| Scratch::default().reserve(bytes.div_ceil(size_of::<Row>()), 1);
        reserve(KEPT).unwrap();
        if share > KEPT {
            reserve(KEPT + 1).unwrap();
            let text = format!("a thread of this host has {share} for them");
            assert!(matches!(reserve(share + 1), Err(Error::OutOfMemory(why)) if why.ends_with(&text)));
        }
    }
}
