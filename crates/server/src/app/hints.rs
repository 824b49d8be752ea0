//! Searches for the human: hints during play, and "learn from mistakes", where the engine of a report evaluates
//! another move in place of a mistake.

use std::sync::Arc;

use readyok_rules::Position;
use readyok_rules::judgement::{final_score, winning_chances};

use super::saving::Deferred;
use super::searches::{Awaited, found};
use super::{App, AppState};
use crate::engine::{BUILT_IN, SearchKind};
use crate::errors::{illegal, move_error};
use crate::game::parse_move;
use crate::search::{Goal, Owner, Wanted};
use crate::wire::{
    Answer, ApiError, EngineId, ErrorCategory, ErrorCode, ErrorSubject, GameId, NodeId,
    SearchLimits, Side, Variant,
};

/// Search time for a hint, in milliseconds.
const HINT_TIME: u64 = 1000;
/// Maximum loss of a good move, in percent of winning chances.
const GOOD: f64 = 2.0;

impl AppState {
    /// Starts a search for a hint, by the engine that plays or the built-in one unless one is given.
    fn start_hint(
        &mut self,
        game: GameId,
        engine: Option<EngineId>,
    ) -> Result<(NodeId, Position, Awaited), ApiError> {
        let session = self.session(game)?;
        let (node, position) = session.hint_node()?;
        if position.legal_moves().is_empty() {
            return Err(ApiError::conflict(ErrorCode::GameOver));
        }
        let no_node = || ApiError::not_found(ErrorSubject::Node, node);
        let line = session.tree().engine_line(node).ok_or_else(no_node)?;
        let variant = session.game();
        let playing = [Side::First, Side::Second]
            .into_iter()
            .find_map(|side| Some(session.slot(side)?.engine()?.engine));
        let engine = engine.or(playing).unwrap_or(BUILT_IN);
        let goal = Goal::Limits(SearchLimits { time: Some(HINT_TIME), ..SearchLimits::default() });
        let wanted = Wanted { kind: SearchKind::Play, line, goal, lines: None, only: Vec::new() };
        let awaited = self.search_once(Owner::Hint(game), engine, variant, wanted)?;
        Ok((node, position, awaited))
    }
}

impl App {
    /// Searches for a hint. A later one answers for an earlier one of the same game.
    pub(super) fn hint(
        self: &Arc<Self>,
        game: GameId,
        engine: Option<EngineId>,
    ) -> Result<Deferred, ApiError> {
        let started = self.update(|state| state.start_hint(game, engine))?;
        let (node, position, awaited) = started;
        Ok(self.defer(|app| async move {
            let found = match found(awaited).await {
                Ok(found) => found,
                Err(error) if error.error.code == ErrorCode::AttemptReplaced => {
                    return Ok(Answer::Done);
                }
                Err(error) => return Err(error),
            };
            let Some(best) = found.info.best else {
                let answer = found.answer.best.to_string();
                return Err(ApiError::engine(ErrorCode::InvalidBestMove { answer }));
            };
            position.parse_move(&best.uci).map_err(|error| ApiError::engine(move_error(&error)))?;
            app.update(|state| {
                state.play(game, |active, document, _| {
                    active.set_hint(document, node, best);
                    Ok(Vec::new())
                })
            })
        }))
    }

    /// Evaluates a move in place of a mistake of a game with a report.
    pub(super) fn try_move(
        self: &Arc<Self>,
        (game, node): (GameId, NodeId),
        text: &str,
        limits: SearchLimits,
    ) -> Result<Deferred, ApiError> {
        let attempt = self.update(|state| state.start_attempt((game, node), text, limits))?;
        Ok(self.defer(|_| async move {
            let Attempt { side, best, variant, evaluation } = attempt;
            let chances = match evaluation {
                Evaluation::Known(chances) => chances,
                Evaluation::Awaited(awaited) => {
                    let found = found(awaited).await?;
                    let score = found.info.lines.first().and_then(|line| line.score);
                    let score = score.ok_or_else(|| ApiError::engine(ErrorCode::NoScore))?;
                    100.0 - winning_chances(score, variant)
                }
            };
            Ok(judge(side, best, chances))
        }))
    }
}

/// A move in place of a mistake.
struct Attempt {
    /// The side to move, and its winning chances after the best move.
    side: Side,
    best: f64,
    variant: Variant,
    evaluation: Evaluation,
}

/// The winning chances of the side after the move, or the search that finds them.
enum Evaluation {
    Known(f64),
    Awaited(Awaited),
}

impl AppState {
    fn start_attempt(
        &mut self,
        (game, node): (GameId, NodeId),
        text: &str,
        limits: SearchLimits,
    ) -> Result<Attempt, ApiError> {
        let missing = || ApiError::new(ErrorCategory::NotFound, ErrorCode::NoEvaluation);
        let (engine, note) = self.note_at(game, node).ok_or_else(missing)?;
        let session = self.session(game)?;
        let variant = session.game();
        let mut line = session.tree().engine_line(node).ok_or_else(missing)?;
        let side = line.position.turn();
        let best = winning_chances(note.score, variant);
        let first = note.lines.first().and_then(|line| line.moves.first());
        let first = first.and_then(|first| line.position.parse_move(first).ok());
        let mv = parse_move(&line.position, text)?;
        line.position.play(mv).map_err(|error| illegal(&error))?;
        line.moves.push(mv);
        // Of the side to move, which is the opponent now.
        let known = final_score(&line.position);
        let known = known.map(|score| 100.0 - winning_chances(score, variant));
        let known = if first == Some(mv) { Some(best) } else { known };
        let owner = Owner::Attempt(game);
        let evaluation = if let Some(chances) = known {
            self.tasks.replace(owner);
            Evaluation::Known(chances)
        } else {
            let wanted = Wanted::evaluation(line, limits);
            Evaluation::Awaited(self.search_once(owner, engine, variant, wanted)?)
        };
        Ok(Attempt { side, best, variant, evaluation })
    }
}

/// Compares the winning chances of the side after the best move and after the attempt.
fn judge(side: Side, best: f64, chances: f64) -> Answer {
    let loss = (best - chances).max(0.0);
    Answer::Tried { loss, good: loss <= GOOD, side }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_good_up_to_a_small_loss() {
        let check = |best, chances, expected| {
            let Answer::Tried { loss, good, .. } = judge(Side::First, best, chances) else {
                panic!("another answer");
            };
            assert_eq!(good, expected, "{loss}");
            assert!(loss >= 0.0);
        };
        check(60.0, 60.0, true);
        check(60.0, 58.5, true);
        check(60.0, 57.0, false);
        // A search can prefer a move to the best one of the report.
        check(60.0, 80.0, true);
    }
}
