//! The way from the root to a position, in which nothing repeats, and what holds on that way only.

use readyok_rules::rsshogi::types::Hand;

use super::hands;

/// Independent of the way.
pub(super) const NO_LOOP: u16 = u16::MAX;

/// How many results that hold on one way only are kept.
const KEPT: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Place {
    board: u64,
    hand: Hand,
    /// Tells the way up to here from any other.
    trail: u64,
}

#[derive(Debug)]
pub(super) struct Path {
    places: Vec<Place>,
    /// The trails on which there is no mate because of repetition, and the least distance from the
    /// root of a position that repeats.
    looping: Vec<(u64, u16)>,
}

impl Path {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), looping: vec![(0, NO_LOOP); KEPT] }
    }

    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.looping.fill((0, NO_LOOP));
    }

    pub(super) fn push(&mut self, board: u64, hand: Hand) {
        let trail = self.trail(board, hand);
        self.places.push(Place { board, hand, trail });
    }

    pub(super) fn pop(&mut self) {
        self.places.pop();
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.places.truncate(length);
    }

    /// How far from the root an earlier position is that the next one repeats. One with less in the
    /// attacker's hand is no better: had there been a mate, it would have been shorter there.
    pub(super) fn repeats(&self, board: u64, hand: Hand) -> Option<u16> {
        let earlier = self.places.iter().enumerate().rev().skip(1).step_by(2);
        let mut same = earlier.filter(|(_, place)| place.board == board);
        let (index, _) = same.find(|(_, place)| hands::covers(place.hand, hand))?;
        u16::try_from(index).ok()
    }

    /// Whether the next position is known to have no mate on this way.
    pub(super) fn loops(&self, board: u64, hand: Hand) -> Option<u16> {
        let trail = self.trail(board, hand);
        let &(known, from) = self.looping.get(index(trail))?;
        (known == trail && from != NO_LOOP).then_some(from)
    }

    /// Notes that the last position has no mate on this way.
    pub(super) fn note_loop(&mut self, from: u16) {
        let Some(&Place { trail, .. }) = self.places.last() else { return };
        if let Some(entry) = self.looping.get_mut(index(trail)) {
            *entry = (trail, from);
        }
    }

    fn trail(&self, board: u64, hand: Hand) -> u64 {
        let before = self.places.last().map_or(0, |place| place.trail);
        mix(before ^ mix(board ^ u64::from(hand.bits()).rotate_left(32)))
    }
}

fn index(trail: u64) -> usize {
    usize::try_from(trail % KEPT as u64).unwrap_or(0)
}

/// Spreads the bits of a number (the finalizer of Steele, Lea and Flood's `SplitMix`).
pub(super) const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
