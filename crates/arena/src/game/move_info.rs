//! Move records, and warnings about inconsistent search info.

use std::collections::VecDeque;
use std::mem::discriminant;
use std::time::Duration;

use readyok_client::{Engine, Info, Score, SearchResult, Update};
use readyok_protocol::{Bound, Move, OptionKind};
use readyok_rules::session::{LineBoard, PvFault};
use readyok_rules::{MoveCodec, MoveError, Position, Side};

use crate::plan::{EnginePlan, PvCheck};
use crate::result::{EngineInfo, MoveRecord, Variation, Warning, WarningKind};

pub(super) fn truncate(line: &str, max: usize) -> String {
    line.chars().take(max).collect()
}

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

/// An `info` line with a PV.
#[derive(Clone, Debug)]
pub(super) struct InfoLine {
    pub(super) info: Info<'static>,
    /// The line, truncated if it was long.
    pub(super) raw: String,
}

impl InfoLine {
    /// Maximum number of lines per search: the latest ones are checked.
    pub(super) const MAX: usize = 512;

    pub(super) fn new(update: &Update) -> Self {
        let raw = truncate(&update.raw, Warning::MAX_LINE);
        Self { info: (*update.info).clone(), raw }
    }
}

/// How the PVs of a search are checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct PvMode {
    pub(super) pv_check: PvCheck,
    /// Whether warnings of the same kind are repeated for each line.
    pub(super) repeats: bool,
}

/// Checks the PVs of a search, which started from the position `before`. Each warning has the line that caused it.
pub(super) fn check_lines(
    before: &Position,
    lines: &VecDeque<InfoLine>,
    mode: PvMode,
    codec: MoveCodec,
) -> Vec<(WarningKind, String)> {
    let mut warnings: Vec<(WarningKind, String)> = Vec::new();
    let mut board = LineBoard::new(before.clone(), codec);
    for InfoLine { info, raw } in lines {
        let Some(kind) = check_pv(&mut board, before.turn(), info, mode.pv_check) else { continue };
        let is_same =
            |(other, _): &(WarningKind, String)| discriminant(other) == discriminant(&kind);
        if mode.repeats || !warnings.iter().any(is_same) {
            warnings.push((kind, raw.clone()));
        }
    }
    warnings
}

/// Checks the score of a move, and the first move of the PV. Castling has two notations, which are equal in the position
/// `before` the move.
pub(super) fn check_move(
    before: Option<&Position>,
    played: &MoveRecord,
    info: &Info<'_>,
) -> Option<WarningKind> {
    if info.score.is_none() {
        return Some(WarningKind::MoveWithoutScore);
    }
    let first = played.pv.tokens().next()?;
    let is_same = first == played.mv.as_str()
        || before.is_some_and(|before| {
            let parse = |text| before.parse_move(text).ok();
            parse(first) == parse(played.mv.as_str())
        });
    (!is_same).then(|| WarningKind::OtherPv { text: first.to_owned() })
}

fn check_pv(
    board: &mut LineBoard,
    mover: Side,
    info: &Info<'_>,
    pv_check: PvCheck,
) -> Option<WarningKind> {
    let score = info.score;
    let pv = info.pv.as_ref()?;
    let length = match board.play(pv.tokens()) {
        Ok(length) => u32::try_from(length).unwrap_or(u32::MAX),
        Err(PvFault::Illegal(MoveError { text, .. })) => {
            return Some(WarningKind::IllegalPv { text });
        }
        Err(PvFault::BeyondEnd { text, termination }) => {
            return Some(WarningKind::PvBeyondEnd { text, termination });
        }
    };
    let position = board.position();
    let is_mate = position.in_check() && position.legal_moves().is_empty();
    let mover_mates = position.turn() != mover;
    let reports_win = score.filter(|score| score.is_mate()).map(|score| Score::Cp(0) < score);
    if is_mate && reports_win == Some(!mover_mates) {
        return Some(WarningKind::WrongMateSign);
    }
    if pv_check != PvCheck::Mate || info.bound != Bound::Exact {
        return None;
    }
    let plies = match score? {
        Score::MateIn { plies } | Score::MatedIn { plies } => plies,
        Score::Mated => 0,
        Score::Cp(_) | Score::MateInUnknown | Score::MatedInUnknown | Score::MateGiven => {
            return None;
        }
    };
    if length != plies {
        return Some(WarningKind::MatePvLength { plies, found: length });
    }
    (!is_mate).then_some(WarningKind::MatePvWithoutMate)
}

/// The moves to a mate as in UCI: negative if the engine is mated. `None` for other scores.
pub(super) fn mate_moves(score: Score) -> Option<i64> {
    match score {
        Score::MateIn { plies } => Some(i64::from(plies.div_ceil(2)).max(1)),
        Score::MatedIn { plies } => Some(-(i64::from(plies.div_ceil(2)).max(1))),
        Score::Mated
        | Score::MateGiven
        | Score::Cp(_)
        | Score::MateInUnknown
        | Score::MatedInUnknown => None,
    }
}

/// The `info` line that fastchess uses for a move.
#[derive(Debug, Default)]
pub(super) struct FastchessInfo {
    /// The last line of the first variation with an exact score, or else with any score; empty without a score.
    pub(super) info: Info<'static>,
    /// The line, truncated if it was long.
    pub(super) raw: String,
    has_info: bool,
}

impl FastchessInfo {
    pub(super) fn update(&mut self, info: &Info<'static>, raw: &str) {
        self.has_info = true;
        let is_first = info.multipv.is_none_or(|number| number == 1);
        // A line whose score cannot be parsed counts as well.
        let has_score = raw.contains(" score ") && !raw.contains("info string");
        let has_exact = !self.raw.is_empty() && self.info.bound == Bound::Exact;
        if has_score && is_first && (info.bound == Bound::Exact || !has_exact) {
            self.info = info.clone();
            self.raw = truncate(raw, Warning::MAX_LINE);
        }
    }

    /// Like [`check_move`], with the exceptions of fastchess: an engine without any info, another move after a bound.
    pub(super) fn check(
        &self,
        before: Option<&Position>,
        played: &MoveRecord,
        last: &Info<'_>,
    ) -> Option<WarningKind> {
        if !self.raw.is_empty() && self.info.score.is_none() {
            return Some(WarningKind::UnreadableScore);
        }
        match check_move(before, played, last)? {
            WarningKind::MoveWithoutScore if !self.has_info => None,
            WarningKind::OtherPv { .. } if last.bound != Bound::Exact => None,
            kind => Some(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use readyok_client::Score;
    use readyok_protocol::{Dialect, Info, Reply};

    use super::{FastchessInfo, mate_moves};
    use crate::result::{MoveRecord, WarningKind};

    fn info(line: &str) -> Info<'static> {
        let Reply::Info(info) = Reply::read(line, Dialect::Uci).value else { panic!("{line}") };
        info.into_owned()
    }

    fn selected(lines: &[&str]) -> FastchessInfo {
        let mut selected = FastchessInfo::default();
        for line in lines {
            selected.update(&info(line), line);
        }
        selected
    }

    #[test]
    fn prefers_an_exact_score_to_a_later_bound() {
        let check = |lines: &[&str], expected: Option<i32>| {
            assert_eq!(selected(lines).info.score, expected.map(Score::Cp), "{lines:?}");
        };
        check(&[], None);
        check(&["info depth 1 nodes 2"], None);
        check(&["info score cp 1", "info score cp 2 lowerbound"], Some(1));
        check(&["info score cp 1", "info score cp 2"], Some(2));
        check(&["info score cp 1", "info multipv 2 score cp 2"], Some(1));
        check(&["info score cp 1 upperbound", "info score cp 2 lowerbound"], Some(2));
        check(&["info score cp 1 upperbound", "info score cp 2"], Some(2));
    }

    #[test]
    fn checks_the_score_and_the_move_like_fastchess() {
        let check = |lines: &[&str], expected: Option<WarningKind>| {
            let played = MoveRecord {
                pv: ["e2e4"].into_iter().collect(),
                ..MoveRecord::new("d2d4".parse().expect("a move"))
            };
            let last = lines.last().map(|line| info(line)).unwrap_or_default();
            assert_eq!(selected(lines).check(None, &played, &last), expected, "{lines:?}");
        };
        check(&[], None);
        check(&["info depth 1"], Some(WarningKind::MoveWithoutScore));
        check(&["info score cp 1 lowerbound"], None);
        let other = WarningKind::OtherPv { text: "e2e4".to_owned() };
        check(&["info score cp 1"], Some(other));
        check(&["info depth 1 score cp x"], Some(WarningKind::UnreadableScore));
    }

    #[test]
    fn counts_mates_in_moves() {
        assert_eq!(mate_moves(Score::MateIn { plies: 5 }), Some(3));
        assert_eq!(mate_moves(Score::MatedIn { plies: 4 }), Some(-2));
        assert_eq!(mate_moves(Score::Cp(900)), None);
    }
}
