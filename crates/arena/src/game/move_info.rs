//! What an engine told about a move, as it is kept.

use std::time::Duration;

use readyok_client::{Engine, Info, Score, SearchResult};
use readyok_protocol::{Bound, Move, OptionKind};
use readyok_rules::{MoveCodec, Position};

use crate::plan::{EnginePlan, PvCheck};
use crate::result::{EngineInfo, MoveRecord, Variation, WarningKind};

/// A move with what was told about it.
pub(super) fn played(
    word: Move,
    played: &SearchResult,
    took: Duration,
    left: Option<Duration>,
    codec: MoveCodec,
) -> MoveRecord {
    let info = &played.info;
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
        ..MoveRecord::new(word)
    }
}

/// Makes a score of the other side's into one of the engine's own.
pub(super) fn turn_score(info: &mut Info<'_>) {
    info.score = info.score.map(Score::negated);
    info.bound = match info.bound {
        Bound::Exact => Bound::Exact,
        Bound::Lower => Bound::Upper,
        Bound::Upper => Bound::Lower,
    };
}

/// Who an engine says it is, and how the plan has set it.
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

/// What is odd about a move and its variation, which starts in the position before it. Following
/// the variation is the dear part, and optional.
pub(super) fn oddities(
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
        let said = info.pv.as_ref().map_or(0, |pv| pv.tokens().count());
        if let Some(odd) = follow(before, &played.pv, score) {
            return Some(odd);
        }
        if pv_check == PvCheck::Mate
            && info.bound == Bound::Exact
            && let Some(odd) = to_mate(before, &played.pv, said, score)
        {
            return Some(odd);
        }
        // Castling has two forms.
        let read = |word| before.parse_move(word).ok();
        let same = first == played.mv.as_str() || read(first) == read(played.mv.as_str());
        return (!same).then(|| WarningKind::OtherPv { text: first.to_owned() });
    }
    (first != played.mv.as_str()).then(|| WarningKind::OtherPv { text: first.to_owned() })
}

fn follow(before: &Position, pv: &Variation, score: Option<Score>) -> Option<WarningKind> {
    let mover = before.turn();
    let mut position = before.clone();
    for word in pv.tokens() {
        if let Some(outcome) = position.outcome() {
            let end = outcome.termination;
            return Some(WarningKind::PvBeyondEnd { text: word.to_owned(), end });
        }
        if position.play_uci(word).is_err() {
            return Some(WarningKind::IllegalPv { text: word.chars().take(40).collect() });
        }
    }
    let is_mate = position.in_check() && position.legal_moves().is_empty();
    let mover_mates = position.turn() != mover;
    let says_it_mates = score.filter(|score| score.is_mate()).map(|score| Score::Cp(0) < score);
    (is_mate && says_it_mates == Some(!mover_mates)).then_some(WarningKind::WrongMateSign)
}

/// Whether a variation with a score of mate ends with it. One that was cut cannot be judged but by its
/// length.
fn to_mate(
    before: &Position,
    pv: &Variation,
    said: usize,
    score: Option<Score>,
) -> Option<WarningKind> {
    let plies = match score? {
        Score::MateIn { plies } | Score::MatedIn { plies } => plies,
        Score::Mated => 0,
        Score::Cp(_) | Score::MateInUnknown | Score::MatedInUnknown | Score::MateGiven => {
            return None;
        }
    };
    let found = u32::try_from(said).unwrap_or(u32::MAX);
    if found != plies {
        return Some(WarningKind::MatePvLength { plies, found });
    }
    if pv.tokens().count() < said {
        return None;
    }
    let end = before.clone().after(pv.tokens()).ok()?;
    let is_mate = end.in_check() && end.legal_moves().is_empty();
    (!is_mate).then_some(WarningKind::MatePvWithoutMate)
}
