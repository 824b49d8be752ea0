//! Places of a long source that are noted while it is read, from which each of its entries is found again.

/// Places in front of every so many entries, from the first one on, as far as the source was read.
#[derive(Debug)]
pub(super) struct Marks<P> {
    places: Vec<P>,
    /// From one place to the next, in entries.
    stride: u64,
    /// Twice as many places as are kept at least, of a long source.
    most: usize,
}

impl<P: Copy> Marks<P> {
    pub(super) const fn new(most: usize) -> Self {
        Self { places: Vec::new(), stride: 1, most }
    }

    /// Notes the place in front of an entry, if it is the next one to be noted.
    pub(super) fn note(&mut self, entry: u64, place: P) {
        if entry != self.entry(self.places.len()) {
            return;
        }
        self.places.push(place);
        if self.places.len() >= self.most {
            let mut keep = false;
            self.places.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride *= 2;
        }
    }

    /// Where to go on the way to an entry; none if it is best to read on from the entry `at`.
    pub(super) fn nearest(&self, entry: u64, at: u64) -> Option<P> {
        let index = usize::try_from(entry / self.stride).unwrap_or(usize::MAX);
        let index = index.min(self.places.len().saturating_sub(1));
        let is_better = entry < at || self.entry(index) > at;
        self.places.get(index).copied().filter(|_| is_better)
    }

    /// The last place, if it is further than the entry `at`.
    pub(super) fn last_ahead_of(&self, at: u64) -> Option<P> {
        let index = self.places.len().checked_sub(1)?;
        self.places.get(index).copied().filter(|_| self.entry(index) > at)
    }

    /// Which entry is behind a place.
    fn entry(&self, index: usize) -> u64 {
        self.stride.saturating_mul(index as u64)
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.places.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::Marks;

    #[test]
    fn the_nearest_place_is_found_however_many_were_noted() {
        let mut marks = Marks::new(8);
        assert_eq!((marks.nearest(3, 0), marks.last_ahead_of(0)), (None, None));
        for entry in 0..1000 {
            marks.note(entry, entry);
        }
        assert!(marks.places.len() < 8 && marks.places.len() >= 4);
        for entry in 0..1000 {
            let found = marks.nearest(entry, 1000).unwrap();
            assert!(
                found <= entry
                    && (entry - found < marks.stride || found == *marks.places.last().unwrap())
            );
            assert_eq!(marks.nearest(entry, found), None, "there already");
            assert_eq!(marks.nearest(entry, entry), None);
        }
        let last = *marks.places.last().unwrap();
        assert_eq!(marks.last_ahead_of(last - 1), Some(last));
        assert_eq!(marks.last_ahead_of(last), None);
    }
}
