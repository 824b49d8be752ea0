//! Games of a match as game records: the only conversion from results.

use std::time::Duration;

use jiff::Timestamp;
use readyok_rules::record::{Evaluation, GameRecord, NodeId, Tag};
use readyok_rules::{Game, Position, Side, Termination};

use crate::pairing::{Opening, Pairing};
use crate::plan::{EngineId, EnginePlan, Plan};
use crate::result::{EndSentence, MatchGame, MoveRecord};

/// The record of a finished game: players, opening, moves with times and evaluations, and the outcome.
/// `index` is the number of the game within its pair, from 0.
///
/// # Errors
/// The opening or a move is not legal.
pub fn game_record(
    plan: &Plan,
    pairing: &Pairing,
    index: usize,
    game: &MatchGame,
) -> Result<GameRecord, String> {
    let mut record = opening_record(plan.game, &pairing.opening)?;
    set_headers(&mut record, plan, pairing, index, game);
    for played in &game.moves {
        add_move(&mut record, played)?;
    }
    if needs_comment(game.end.termination) {
        let last = record.last();
        if let Some(notes) = record.annotations_mut(last) {
            notes.comments.push(EndSentence::of(plan, game).to_string());
        }
    }
    record.conclude(game.outcome());
    Ok(record)
}

/// The start of a game: the position and the moves of its opening.
///
/// # Errors
/// The position or a move is not legal.
pub fn opening_record(game: Game, opening: &Opening) -> Result<GameRecord, String> {
    let mut record = GameRecord::new(start(game, opening)?);
    for text in &opening.moves {
        play(&mut record, text)?;
    }
    Ok(record)
}

/// Adds a move with its time, clock and evaluation.
///
/// # Errors
/// The move is not legal.
pub fn add_move(record: &mut GameRecord, played: &MoveRecord) -> Result<(), String> {
    let side = record.position().turn();
    let id = play(record, played.mv.as_str())?;
    if let Some(notes) = record.annotations_mut(id) {
        notes.elapsed = Some(Duration::from_micros(played.time_us));
        let left = played.left_ms.and_then(|left| u64::try_from(left).ok());
        notes.clock = left.map(Duration::from_millis);
        notes.evaluation = played.score.map(|score| Evaluation::by(side, score, played.depth));
    }
    Ok(())
}

pub(super) fn start(game: Game, opening: &Opening) -> Result<Position, String> {
    match &opening.position {
        None => Ok(Position::start(game)),
        Some(text) => Position::from_text(game, text).map_err(|error| error.to_string()),
    }
}

/// Adds a move at the end of a record.
pub(super) fn play(record: &mut GameRecord, text: &str) -> Result<NodeId, String> {
    let mv = record.position().parse_move(text).map_err(|error| error.to_string())?;
    record.play(mv).map_err(|error| error.to_string())
}

/// Sets event, site, date, round and players.
pub(super) fn set_headers(
    record: &mut GameRecord,
    plan: &Plan,
    pairing: &Pairing,
    index: usize,
    game: &MatchGame,
) {
    for (tag, value) in [(Tag::Event, &plan.event), (Tag::Site, &plan.site)] {
        if !value.is_empty() {
            record.set_header(tag, value.as_str());
        }
    }
    if let Some(at) = timestamp(game.started_ms) {
        let format = match plan.game {
            Game::Chess | Game::Chess960 => "%Y.%m.%d",
            Game::Shogi => "%Y/%m/%d %H:%M:%S",
        };
        record.set_header(Tag::Date, at.strftime(format).to_string());
    }
    record.set_header(Tag::Round, format!("{}.{}", pairing.round, index + 1));
    for (side, engine) in [(Side::First, game.first), (Side::Second, game.second)] {
        record.set_player(side, engine_of(plan, engine).map_or("?", |engine| &engine.name));
    }
}

pub(super) fn engine_of(plan: &Plan, engine: EngineId) -> Option<&EnginePlan> {
    plan.engines.get(usize::try_from(engine.0).ok()?)
}

pub(super) fn timestamp(ms: u64) -> Option<Timestamp> {
    i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok())
}

/// Whether the formats of records have no term for an end.
fn needs_comment(termination: Termination) -> bool {
    let is_adjudicated = matches!(
        termination,
        Termination::DrawAdjudication
            | Termination::ResignAdjudication
            | Termination::MateAdjudication
            | Termination::TablebaseAdjudication
            | Termination::MoveLimit
    );
    is_adjudicated || termination.is_failure()
}

/// The final position of a game: EPD with counters as operations for chess, SFEN for shogi.
pub(super) fn final_position(
    plan: &Plan,
    pairing: &Pairing,
    game: &MatchGame,
) -> Result<String, String> {
    let moves = pairing.opening.moves.iter().map(String::as_str);
    let moves = moves.chain(game.moves.iter().map(|played| played.mv.as_str()));
    let position = start(plan.game, &pairing.opening)?.after(moves);
    let text = position.map_err(|error| error.to_string())?.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    Ok(match (plan.game, fields.as_slice()) {
        (Game::Chess | Game::Chess960, [board, turn, castling, passant, half, full]) => {
            format!("{board} {turn} {castling} {passant} hmvc {half}; fmvn {full};\n")
        }
        _ => format!("{text}\n"),
    })
}
