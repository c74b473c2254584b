//! Kernels that were loaded not long ago.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use crate::Program;
use crate::sync::Mutex;

/// Programs that are remembered.
const REMEMBERED: usize = 8;

/// The kernels of the programs that a device loaded last, so that loading one again is quick. A program that nobody
/// holds any more, its kernel neither, is forgotten.
#[derive(Debug)]
pub struct Recent<K>(Mutex<VecDeque<(Weak<Program>, K)>>);

impl<K> Default for Recent<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone> Recent<K> {
    /// The kernel of the program, if it is remembered.
    pub fn get(&self, program: &Arc<Program>) -> Option<K> {
        let mut loaded = self.0.lock();
        loaded.retain(|(known, _)| known.strong_count() > 0);
        let same = |known: &&(Weak<Program>, K)| known.0.as_ptr() == Arc::as_ptr(program);
        loaded.iter().find(same).map(|(_, kernel)| kernel.clone())
    }

    /// Remembers the kernel of a program, and forgets the oldest if there are too many.
    pub fn put(&self, program: &Arc<Program>, kernel: K) {
        let mut loaded = self.0.lock();
        if loaded.len() == REMEMBERED {
            loaded.pop_front();
        }
        loaded.push_back((Arc::downgrade(program), kernel));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{REMEMBERED, Recent};

    #[test]
    fn the_last_programs_that_live_are_remembered() {
        let program = || Arc::new(recal_il::compile(b"il_ps_2_0\nend\n").expect("it compiles"));
        let (recent, first) = (Recent::default(), program());
        assert_eq!(recent.get(&first), None);
        recent.put(&first, 0);
        assert_eq!((recent.get(&first), recent.get(&program())), (Some(0), None));
        for k in 1..100 {
            recent.put(&program(), k);
            // Dead ones do not push others out.
            assert_eq!(recent.get(&first), Some(0));
        }
        let others: Vec<_> = (0..REMEMBERED).map(|_| program()).collect();
        others.iter().enumerate().for_each(|(k, program)| recent.put(program, 100 + k));
        assert_eq!(recent.get(&first), None);
        assert!(others.iter().enumerate().all(|(k, program)| recent.get(program) == Some(100 + k)));
    }
}
