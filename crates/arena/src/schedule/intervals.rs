//! A set of numbers that mostly follow each other.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of numbers, kept as intervals: what was played of a long match is one of them.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    /// From the first number of each to the one after its last.
    ends: BTreeMap<u64, u64>,
}

impl Intervals {
    pub(super) fn contains(&self, number: u64) -> bool {
        self.around(number).is_some()
    }

    /// The first number from here on that is not in the set.
    pub(super) fn first_gap(&self, from: u64) -> u64 {
        self.around(from).map_or(from, |(_, end)| end)
    }

    /// Adds a number, and returns whether it is new.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        let new = !self.contains(number);
        self.insert_all(number..number.saturating_add(1));
        new
    }

    pub(super) fn insert_all(&mut self, numbers: Range<u64>) {
        if numbers.is_empty() {
            return;
        }
        let (mut start, mut end) = (numbers.start, numbers.end);
        // Whatever overlaps the new interval or touches it becomes a part of it.
        while let Some((&other_start, &other_end)) = self.ends.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            self.ends.remove(&other_start);
            start = start.min(other_start);
            end = end.max(other_end);
        }
        self.ends.insert(start, end);
    }

    /// The interval that holds a number.
    fn around(&self, number: u64) -> Option<(u64, u64)> {
        let (&start, &end) = self.ends.range(..=number).next_back()?;
        (number < end).then_some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Intervals;

    proptest! {
        #[test]
        fn intervals_hold_what_a_set_holds(ranges in prop::collection::vec((0_u64..60, 0_u64..6), 0..40)) {
            let (mut intervals, mut set) = (Intervals::default(), BTreeSet::new());
            for (start, length) in ranges {
                if length == 1 {
                    prop_assert_eq!(intervals.insert(start), set.insert(start));
                } else {
                    intervals.insert_all(start..start + length);
                    set.extend(start..start + length);
                }
                for number in 0..70 {
                    prop_assert_eq!(intervals.contains(number), set.contains(&number));
                    let gap = (number..200).find(|number| !set.contains(number));
                    prop_assert_eq!(Some(intervals.first_gap(number)), gap);
                }
            }
            let apart = intervals.ends.iter().zip(intervals.ends.iter().skip(1));
            prop_assert!(apart.into_iter().all(|((_, end), (start, _))| end < start));
        }
    }
}
