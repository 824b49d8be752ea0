//! Move records, and warnings about inconsistent search info.

use std::time::Duration;

use readyok_client::{Engine, Info, Score, SearchResult};
use readyok_protocol::{Bound, Move, OptionKind};
use readyok_rules::{MoveCodec, Position};

use crate::plan::{EnginePlan, PvCheck};
use crate::result::{EngineInfo, MoveRecord, Variation, WarningKind};

/// The record of a move with its search info.
pub(super) fn move_record(
    mv: Move,
    result: &SearchResult,
    took: Duration,
    left: Option<Duration>,
    codec: MoveCodec,
) -> MoveRecord {
    let info = &result.info;
    MoveRecord {
        time_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        left_ms: left.map(|left| i64::try_from(left.as_millis()).unwrap_or(i64::MAX)),
        score: info.score,
        depth: info.depth,
        seldepth: info.seldepth,
        nodes: info.nodes,
        nps: info.nps,
        hashfull: info.hashfull,
        tbhits: info.tbhits,
        reported_time_ms: info.time_ms(),
        pv: variation(info, codec),
        ..MoveRecord::new(mv)
    }
}

/// Converts a score from the opponent's point of view.
pub(super) fn negate_score(info: &mut Info<'_>) {
    info.score = info.score.map(Score::negated);
    info.bound = match info.bound {
        Bound::Exact => Bound::Exact,
        Bound::Lower => Bound::Upper,
        Bound::Upper => Bound::Lower,
    };
}

/// The name of an engine, and its options that affect strength.
pub(super) fn introduction(engine: &Engine, plan: &EnginePlan) -> EngineInfo {
    let truncate = |text: &str| text.chars().take(EngineInfo::MAX_TEXT).collect::<String>();
    let set = |names: [&str; 2]| {
        let options = engine.options();
        let (name, option) = names.iter().find_map(|name| Some((name, options.find(name)?)))?;
        let mut planned = plan.options.iter();
        let planned = planned.find(|(other, _)| other.eq_ignore_ascii_case(name));
        match (planned, &option.kind) {
            (Some((_, value)), _) => Some(truncate(value)),
            (None, OptionKind::Spin { default: Some(value), .. }) => Some(value.to_string()),
            (None, _) => None,
        }
    };
    let identity = engine.identity();
    EngineInfo {
        name: truncate(&identity.name),
        author: truncate(&identity.author),
        threads: set(["Threads", "USI_Threads"]),
        hash: set(["Hash", "USI_Hash"]),
    }
}

fn variation(info: &Info<'_>, codec: MoveCodec) -> Variation {
    let moves = info.pv.iter().flat_map(|pv| codec.decode_line(pv));
    moves.take(MoveRecord::MAX_PV).collect()
}

/// Checks the score and the PV of a move. With the position `before` the move, the PV is replayed, which is expensive.
pub(super) fn check_info(
    before: Option<&Position>,
    pv_check: PvCheck,
    played: &MoveRecord,
    info: &Info<'_>,
) -> Option<WarningKind> {
    let score = info.score;
    if score.is_none() {
        return Some(WarningKind::NoScore);
    }
    let first = played.pv.tokens().next()?;
    if let Some(before) = before {
        let length = info.pv.as_ref().map_or(0, |pv| pv.tokens().count());
        if let Some(warning) = check_pv(before, &played.pv, score) {
            return Some(warning);
        }
        if pv_check == PvCheck::Mate
            && info.bound == Bound::Exact
            && let Some(warning) = check_mate_pv(before, &played.pv, length, score)
        {
            return Some(warning);
        }
        // Castling has two notations.
        let parse = |text| before.parse_move(text).ok();
        let is_same = first == played.mv.as_str() || parse(first) == parse(played.mv.as_str());
        return (!is_same).then(|| WarningKind::OtherPv { text: first.to_owned() });
    }
    (first != played.mv.as_str()).then(|| WarningKind::OtherPv { text: first.to_owned() })
}

fn check_pv(before: &Position, pv: &Variation, score: Option<Score>) -> Option<WarningKind> {
    let mover = before.turn();
    let mut position = before.clone();
    for mv in pv.tokens() {
        if let Some(outcome) = position.outcome() {
            let end = outcome.termination;
            return Some(WarningKind::PvBeyondEnd { text: mv.to_owned(), end });
        }
        if position.play_uci(mv).is_err() {
            return Some(WarningKind::IllegalPv { text: mv.chars().take(40).collect() });
        }
    }
    let is_mate = position.in_check() && position.legal_moves().is_empty();
    let mover_mates = position.turn() != mover;
    let reports_win = score.filter(|score| score.is_mate()).map(|score| Score::Cp(0) < score);
    (is_mate && reports_win == Some(!mover_mates)).then_some(WarningKind::WrongMateSign)
}

/// Checks that the PV of a mate score ends with mate. Of a truncated PV only the length is checked.
fn check_mate_pv(
    before: &Position,
    pv: &Variation,
    length: usize,
    score: Option<Score>,
) -> Option<WarningKind> {
    let plies = match score? {
        Score::MateIn { plies } | Score::MatedIn { plies } => plies,
        Score::Mated => 0,
        Score::Cp(_) | Score::MateInUnknown | Score::MatedInUnknown | Score::MateGiven => {
            return None;
        }
    };
    let found = u32::try_from(length).unwrap_or(u32::MAX);
    if found != plies {
        return Some(WarningKind::MatePvLength { plies, found });
    }
    if pv.tokens().count() < length {
        return None;
    }
    let end = before.clone().after(pv.tokens()).ok()?;
    let is_mate = end.in_check() && end.legal_moves().is_empty();
    (!is_mate).then_some(WarningKind::MatePvWithoutMate)
}

/// The `info` line that fastchess uses for a move.
#[derive(Debug, Default)]
pub(super) struct FastchessInfo {
    /// The last line of the first variation with an exact score, or else with any score; empty without a score.
    pub(super) info: Info<'static>,
    has_info: bool,
}

impl FastchessInfo {
    pub(super) fn update(&mut self, info: &Info<'static>) {
        self.has_info = true;
        let is_first = info.multipv.is_none_or(|number| number == 1);
        let has_exact = self.info.score.is_some() && self.info.bound == Bound::Exact;
        if info.score.is_some() && is_first && (info.bound == Bound::Exact || !has_exact) {
            self.info = info.clone();
        }
    }

    /// Whether fastchess does not warn: about an engine without any info, and about another move after a bound.
    pub(super) fn suppresses(&self, warning: &WarningKind, last: &Info<'_>) -> bool {
        match warning {
            WarningKind::NoScore => !self.has_info,
            WarningKind::OtherPv { .. } => last.bound != Bound::Exact,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use readyok_client::{Info, Score};
    use readyok_protocol::Bound;

    use super::FastchessInfo;
    use crate::result::WarningKind;

    #[test]
    fn prefers_an_exact_score_to_a_later_bound() {
        let check = |lines: &[(Option<i32>, Bound, u32)], expected: Option<i32>| {
            let mut selected = FastchessInfo::default();
            for &(score, bound, multipv) in lines {
                let score = score.map(Score::Cp);
                selected.update(&Info { score, bound, multipv: Some(multipv), ..Info::default() });
            }
            assert_eq!(selected.info.score, expected.map(Score::Cp), "{lines:?}");
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
    fn suppresses_warnings_about_silence_and_bounds() {
        let exact = Info { score: Some(Score::Cp(1)), ..Info::default() };
        let bound = Info { bound: Bound::Lower, ..exact.clone() };
        let other = WarningKind::OtherPv { text: "e2e4".to_owned() };
        let mut selected = FastchessInfo::default();
        assert!(selected.suppresses(&WarningKind::NoScore, &Info::default()));
        selected.update(&bound);
        assert!(!selected.suppresses(&WarningKind::NoScore, &Info::default()));
        assert!(selected.suppresses(&other, &bound));
        assert!(!selected.suppresses(&other, &exact));
        assert!(!selected.suppresses(&WarningKind::WrongMateSign, &bound));
    }
}
