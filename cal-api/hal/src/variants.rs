//! What is made of a kernel for what its launches know.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sync::Mutex;

/// Variants that are kept. Each may hold pages of code.
const KEPT: usize = 32;

/// Variants of one kernel by one key, the one that was used last at the end; the one that was not used longest gives way.
/// Who has one keeps it alive.
#[derive(Debug)]
pub struct Variants<K, V>(Mutex<VecDeque<(K, Arc<V>)>>);

impl<K, V> Default for Variants<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, V> Variants<K, V> {
    /// The variant whose key is the `same`, or what `make` makes, with its key. Nobody waits for it meanwhile: if somebody
    /// else made the same, the first one stays.
    pub fn get(&self, same: impl Fn(&K) -> bool, make: impl FnOnce() -> (K, V)) -> Arc<V> {
        if let Some(known) = find(&mut self.0.lock(), &same) {
            return known;
        }
        let (key, made) = make();
        debug_assert!(same(&key), "the key is not the one that was asked for");
        let made = Arc::new(made);
        let mut list = self.0.lock();
        if let Some(known) = find(&mut list, &same) {
            return known;
        }
        list.push_back((key, made.clone()));
        // What is dropped may be large: not while others wait.
        let old = if list.len() > KEPT { list.pop_front() } else { None };
        drop(list);
        drop(old);
        made
    }
}

/// The variant with the key, which is moved to the end.
fn find<K, V>(list: &mut VecDeque<(K, Arc<V>)>, same: impl Fn(&K) -> bool) -> Option<Arc<V>> {
    let at = list.iter().rposition(|(key, _)| same(key))?;
    if at + 1 < list.len() {
        list.remove(at).into_iter().for_each(|used| list.push_back(used));
    }
    list.back().map(|(_, value)| value.clone())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::{Arc, Barrier};

    use super::{KEPT, Variants};

    #[test]
    fn the_ones_that_were_used_last_are_kept() {
        let (variants, made) = (Variants::default(), Cell::new(0));
        let get = |wanted: usize| {
            let value = variants.get(
                |key| *key == wanted,
                || {
                    made.set(made.get() + 1);
                    (wanted, vec![wanted])
                },
            );
            assert_eq!(*value, [wanted]);
            value
        };
        let first = get(0);
        for key in 1..10 * KEPT {
            get(key);
            // It is used, so it stays.
            assert!(Arc::ptr_eq(&get(0), &first));
        }
        assert_eq!(made.get(), 10 * KEPT);
        // The others of the last ones are there, and those before are made again.
        (9 * KEPT + 1..10 * KEPT).for_each(|key| _ = get(key));
        assert_eq!(made.get(), 10 * KEPT);
        let before = get(10 * KEPT - 1);
        get(1);
        assert_eq!(made.get(), 10 * KEPT + 1);
        (2..2 + KEPT).for_each(|key| _ = get(key));
        assert_eq!((Arc::strong_count(&before), Arc::strong_count(&first)), (1, 1), "both have given way");
    }

    #[test]
    fn nobody_waits_for_what_another_makes() {
        let (variants, both) = (Variants::default(), Barrier::new(2));
        let get = || {
            let make = || {
                // Two that make the same at once meet here; with the list locked they could not.
                both.wait();
                ((), 0)
            };
            variants.get(|()| true, make)
        };
        let [a, b] = std::thread::scope(|scope| {
            let other = scope.spawn(get);
            [get(), other.join().expect("it ends")]
        });
        assert!(Arc::ptr_eq(&a, &b), "one of them stays");
    }
}
