//! Who does a product: devices, host or both, by what products of its size took so far.
//!
//! What was not measured is predicted, and tried once it promises half of what the best does. Who loses is asked again, the later
//! the further behind: other work on the machine comes and goes. Asking again takes at most 1/64 of the time for each loser.

use std::collections::HashMap;

/// Who works on a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Devices,
    Host,
    Both,
}

impl Way {
    pub(crate) const ALL: [Way; 3] = [Way::Devices, Way::Host, Way::Both];
}

/// Products after which a loser that is nearly as good is asked again.
const AGAIN: f64 = 16.0;

/// What is known of one size.
#[derive(Default)]
struct Known {
    /// Operations a second; 0: not known.
    rates: [f64; 3],
    /// The first product prepares memory and kernels, and tells nothing.
    warm: [bool; 3],
    /// Products since it was last done so.
    since: [u32; 3],
}

/// Rates by size of products: the exponent of their operations.
#[derive(Default)]
pub(crate) struct Balance(HashMap<i32, Known>);

fn size(operations: f64) -> i32 {
    operations.max(1.0).log2() as i32
}

impl Balance {
    /// The way of the next product of so many operations. Predicted are operations a second, 0 where a way cannot be gone.
    pub(crate) fn choose(&mut self, operations: f64, predicted: [f64; 3]) -> Way {
        let known = self.0.entry(size(operations)).or_default();
        let expected: [f64; 3] = std::array::from_fn(|way| match known.rates[way] {
            _ if predicted[way] <= 0.0 => 0.0,
            rate if rate > 0.0 => rate,
            _ => predicted[way],
        });
        let best = (0..3).max_by(|a, b| expected[*a].total_cmp(&expected[*b])).unwrap_or(0);
        let due = |way: &usize| {
            let ratio = expected[best] / expected[*way];
            // A prediction may be far off, so it does not keep anybody waiting as long.
            let measured = known.rates[*way] > 0.0;
            let patience = if measured { AGAIN } else { 1.0 } * ratio * ratio;
            let promising = !measured && ratio <= 2.0;
            expected[*way] > 0.0 && (promising || f64::from(known.since[*way]) >= patience)
        };
        let others = (0..3).filter(|way| *way != best && known.rates[best] > 0.0);
        let chosen = others.filter(due).max_by_key(|way| known.since[*way]).unwrap_or(best);
        known.since.iter_mut().for_each(|since| *since += 1);
        known.since[chosen] = 0;
        Way::ALL[chosen]
    }

    /// What a product did.
    pub(crate) fn learn(&mut self, operations: f64, way: Way, seconds: f64) {
        let (known, way) = (self.0.entry(size(operations)).or_default(), way as usize);
        let rate = operations / seconds;
        if !std::mem::replace(&mut known.warm[way], true) || !rate.is_finite() {
            return;
        }
        // What was done once can be done again, unless it is slow for long.
        let old = known.rates[way];
        known.rates[way] = if rate > old { rate } else { (old + rate) / 2.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds of products of 10⁹ operations, on a machine that does so many a second.
    fn spent(balance: &mut Balance, products: usize, predicted: [f64; 3], truth: [f64; 3]) -> f64 {
        (0..products)
            .map(|_| {
                let way = balance.choose(1e9, predicted);
                let seconds = 1e9 / truth[way as usize];
                balance.learn(1e9, way, seconds);
                seconds
            })
            .sum()
    }

    #[test]
    fn the_whole_is_as_fast_as_the_best_whatever_was_predicted() {
        for truth in [[10e9, 2e9, 11e9], [10e9, 2e9, 6e9], [1e9, 9e9, 5e9], [5e9, 6e9, 4e9], [3e9, 3e9, 3e9]]
        {
            for predicted in [[10e9, 2e9, 12e9], [2e9, 9e9, 11e9], [5e9, 5e9, 10e9]] {
                let mut balance = Balance::default();
                spent(&mut balance, 100, predicted, truth);
                let best = truth.into_iter().fold(0.0, f64::max);
                let took = spent(&mut balance, 1000, predicted, truth) * best / 1e12;
                assert!(took < 1.04, "{took} of {truth:?}, predicted {predicted:?}");
            }
        }
    }

    #[test]
    fn who_becomes_faster_is_found() {
        let mut balance = Balance::default();
        spent(&mut balance, 200, [4e9, 6e9, 10e9], [4e9, 6e9, 3e9]);
        let took = spent(&mut balance, 400, [4e9, 6e9, 10e9], [12e9, 6e9, 3e9]) * 12e9 / 4e11;
        assert!(took < 1.2, "{took}");
        // And who becomes slower.
        let took = spent(&mut balance, 400, [4e9, 6e9, 10e9], [2e9, 6e9, 3e9]) * 6e9 / 4e11;
        assert!(took < 1.2, "{took}");
    }

    /// The products until a way is gone for the first time that is faster than was predicted.
    fn tried_after(predicted: f64) -> usize {
        let (predicted, mut balance) = ([10e9, 1e9, predicted], Balance::default());
        let tried = (0..1000).position(|_| {
            let way = balance.choose(1e9, predicted);
            balance.learn(1e9, way, if way == Way::Both { 0.05 } else { 0.1 });
            way == Way::Both
        });
        tried.expect("it is tried some time")
    }

    #[test]
    fn what_was_not_measured_is_tried() {
        let [promising, poor, hopeless] = [6e9, 4e9, 2e9].map(tried_after);
        // The first product is not measured.
        assert_eq!(promising, 2);
        assert!(promising < poor && poor < hopeless && hopeless < 32, "{promising}, {poor}, {hopeless}");
    }

    #[test]
    fn what_cannot_be_is_not_tried() {
        let mut balance = Balance::default();
        for _ in 0..500 {
            let way = balance.choose(1e9, [5e9, 6e9, 0.0]);
            assert_ne!(way, Way::Both);
            balance.learn(1e9, way, 0.2);
        }
    }
}
