//! What fastchess takes from all that an engine says about a move: one line of `info`.

use readyok_client::Info;
use readyok_protocol::Bound;

use crate::result::WarningKind;

#[derive(Debug, Default)]
pub(super) struct Scored {
    /// The last line with an exact score of the first variation, or, without one, the last with any; an
    /// empty one if none has a score.
    pub(super) info: Info<'static>,
    was_heard: bool,
}

impl Scored {
    pub(super) fn hear(&mut self, info: &Info<'static>) {
        self.was_heard = true;
        let is_first = info.multipv.is_none_or(|number| number == 1);
        let has_exact = self.info.score.is_some() && self.info.bound == Bound::Exact;
        if info.score.is_some() && is_first && (info.bound == Bound::Exact || !has_exact) {
            self.info = info.clone();
        }
    }

    /// Whether something is not odd to fastchess about an engine whose `last` variation is this one: that
    /// it has said nothing at all, or has gone on from a bound.
    pub(super) fn excuses(&self, odd: &WarningKind, last: &Info<'_>) -> bool {
        match odd {
            WarningKind::NoScore => !self.was_heard,
            WarningKind::OtherPv { .. } => last.bound != Bound::Exact,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use readyok_client::{Info, Score};
    use readyok_protocol::Bound;

    use super::Scored;
    use crate::result::WarningKind;

    #[test]
    fn an_exact_score_is_better_than_a_later_bound() {
        let check = |lines: &[(Option<i32>, Bound, u32)], expected: Option<i32>| {
            let mut scored = Scored::default();
            for &(score, bound, multipv) in lines {
                let score = score.map(Score::Cp);
                scored.hear(&Info { score, bound, multipv: Some(multipv), ..Info::default() });
            }
            assert_eq!(scored.info.score, expected.map(Score::Cp), "{lines:?}");
        };
        check(&[], None);
        check(&[(None, Bound::Exact, 1)], None);
        check(&[(Some(1), Bound::Exact, 1), (Some(2), Bound::Lower, 1)], Some(1));
        check(&[(Some(1), Bound::Exact, 1), (Some(2), Bound::Exact, 1)], Some(2));
        check(&[(Some(1), Bound::Exact, 1), (Some(2), Bound::Exact, 2)], Some(1));
        check(&[(Some(1), Bound::Upper, 1), (Some(2), Bound::Lower, 1)], Some(2));
        check(&[(Some(1), Bound::Upper, 1), (Some(2), Bound::Exact, 1)], Some(2));
    }
    #[test]
    fn silence_and_bounds_are_excused() {
        let exact = Info { score: Some(Score::Cp(1)), ..Info::default() };
        let bound = Info { bound: Bound::Lower, ..exact.clone() };
        let other = WarningKind::OtherPv { text: "e2e4".to_owned() };
        let mut scored = Scored::default();
        assert!(scored.excuses(&WarningKind::NoScore, &Info::default()));
        scored.hear(&bound);
        assert!(!scored.excuses(&WarningKind::NoScore, &Info::default()));
        assert!(scored.excuses(&other, &bound));
        assert!(!scored.excuses(&other, &exact));
        assert!(!scored.excuses(&WarningKind::WrongMateSign, &bound));
    }
}
