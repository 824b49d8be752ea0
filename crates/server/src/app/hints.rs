//! Searches for the human: hints during play, and "learn from mistakes", where the engine of a report evaluates
//! another move in place of a mistake.

use std::collections::BTreeMap;
use std::time::Duration;

use readyok_client::Search;
use readyok_protocol::Go;
use readyok_rules::judgement::{final_score, winning_chances};
use readyok_rules::{Game, MoveCodec};
use tokio::sync::oneshot;

use super::components::{Context, SearchEvent, SearchId};
use super::engines::Engines;
use super::games::{Games, search_spec};
use super::library::Deferred;
use super::reports::{Reports, limits};
use crate::engine::{BUILT_IN, EngineCommand, SearchKind, SearchSpec};
use crate::errors::illegal;
use crate::game::{EngineLine, GameSession, parse_move};
use crate::wire::{
    Answer, ApiError, EngineId, ErrorCategory, ErrorCode, ErrorSubject, GameId, Limits, NodeId,
    ProcessId, Purpose, SearchInfo, Side, ValuesFor,
};

/// Search time for a hint.
const HINT_TIME: Duration = Duration::from_secs(1);

/// The searches for hints, and the nodes that they are for.
#[derive(Default)]
pub(crate) struct Hints {
    searches: BTreeMap<ProcessId, (SearchId, NodeId)>,
}

impl Hints {
    /// Starts a search for a hint, by the engine that plays or the built-in one unless one is given.
    pub(super) fn start(
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
        engine: Option<EngineId>,
    ) -> Result<Answer, ApiError> {
        let session = games.session(id)?;
        session.hint_node()?;
        let variant = session.game();
        let playing = [Side::First, Side::Second]
            .into_iter()
            .find_map(|side| Some(session.slot(side)?.engine()?.engine));
        let engine = engine.or(playing).unwrap_or(BUILT_IN);
        let purpose = Purpose::Hint { game: id };
        engines.start_with(cx, engine, purpose, Some(variant), ValuesFor::Analyse)?;
        Ok(Answer::Done)
    }

    pub(super) fn on_event(
        &mut self,
        games: &mut Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (process, game): (ProcessId, GameId),
        event: SearchEvent,
    ) {
        match event {
            SearchEvent::Ready => self.search(games, cx, process, game),
            SearchEvent::Finished(search, _, info) => {
                cx.processes.quit(process);
                let hint = self.searches.get(&process).filter(|(id, _)| *id == search);
                let node = hint.map(|(_, node)| *node);
                if let (Some(node), Some(best)) = (node, info.best.clone()) {
                    // The game may have been closed in the meantime.
                    let _ = games.play(engines, cx, game, |active, document, _| {
                        active.set_hint(document, node, best);
                        Ok(Vec::new())
                    });
                }
            }
            SearchEvent::Rejected(..) => cx.processes.quit(process),
            SearchEvent::Exited { .. } => {
                self.searches.remove(&process);
            }
            SearchEvent::Started(_) | SearchEvent::Info(..) => (),
        }
    }

    fn search(&mut self, games: &Games, cx: &mut Context<'_>, process: ProcessId, game: GameId) {
        let id = cx.next_search_id();
        let Some(session) = games.get(game) else { return };
        let Some(dialect) = cx.processes.dialect(process) else { return };
        let Ok((node, _)) = session.hint_node() else { return };
        let go = Go { move_time: Some(HINT_TIME), ..Go::default() };
        let Some(line) = session.tree().engine_line(node) else { return };
        let spec = search_spec(session, dialect, &line, go, (id, SearchKind::Play));
        let command = spec.map_or(EngineCommand::Quit, |it| EngineCommand::Search(Box::new(it)));
        cx.processes.send(process, command);
        self.searches.insert(process, (id, node));
    }
}

/// Maximum loss of a good move, in percent of winning chances.
const GOOD: f64 = 2.0;

struct RetryAttempt {
    game: GameId,
    search_id: SearchId,
    /// The side to move, and its winning chances after the best move.
    side: Side,
    best: f64,
    line: EngineLine,
    limits: Limits,
    reply: oneshot::Sender<Result<Answer, ApiError>>,
}

/// The attempts that engines evaluate, at most one for each game.
#[derive(Default)]
pub(crate) struct RetryAttempts {
    attempts: BTreeMap<ProcessId, RetryAttempt>,
}

impl RetryAttempts {
    pub(super) fn start(
        &mut self,
        reports: &Reports,
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (game, node, text, limits): (GameId, NodeId, &str, Limits),
    ) -> Result<Deferred, ApiError> {
        let missing = || ApiError::new(ErrorCategory::NotFound, ErrorCode::NoEvaluation);
        let (engine, note) = reports.note_at(game, node).ok_or_else(missing)?;
        let session = games.session(game)?;
        let kind = session.game();
        let mut position = session
            .tree()
            .position(node)
            .ok_or_else(|| ApiError::not_found(ErrorSubject::Node, node))?;
        let side = position.turn();
        let best = winning_chances(note.score, kind);
        let first = note.lines.first().and_then(|line| line.moves.first());
        let first = first.and_then(|first| position.parse_move(first).ok());
        let mv = parse_move(&position, text)?;
        let mut line = session.tree().engine_line(node).ok_or_else(missing)?;
        line.play(mv);
        position.play(mv).map_err(|error| illegal(&error))?;

        let (reply, answer) = oneshot::channel();
        let known = if first == Some(mv) {
            Some(best)
        } else {
            // Of the side to move, which is the opponent now.
            final_score(&position).map(|score| 100.0 - winning_chances(score, kind))
        };
        self.cancel(cx, game);
        if let Some(chances) = known {
            // The receiver is in this function.
            let _ = reply.send(Ok(judge(side, best, chances)));
            return Ok(answer);
        }
        let purpose = Purpose::Learn { game };
        let process = engines.start_with(cx, engine, purpose, Some(kind), ValuesFor::Analyse)?;
        let search_id = cx.next_search_id();
        let attempt = RetryAttempt { game, search_id, side, best, line, limits, reply };
        self.attempts.insert(process, attempt);
        Ok(answer)
    }

    /// Ends the attempt of a game; only the latest one is evaluated.
    fn cancel(&mut self, cx: &Context<'_>, game: GameId) {
        let old = self.attempts.iter().filter(|(_, attempt)| attempt.game == game);
        for process in old.map(|(process, _)| *process).collect::<Vec<_>>() {
            let error = ApiError::conflict(ErrorCode::AttemptReplaced);
            self.finish(cx, process, Err(error));
        }
    }

    fn finish(&mut self, cx: &Context<'_>, process: ProcessId, answer: Result<Answer, ApiError>) {
        if let Some(attempt) = self.attempts.remove(&process) {
            // A tab that was closed needs no answer.
            let _ = attempt.reply.send(answer);
        }
        cx.processes.quit(process);
    }

    pub(super) fn on_event(
        &mut self,
        games: &Games,
        cx: &Context<'_>,
        process: ProcessId,
        event: SearchEvent,
    ) {
        match event {
            SearchEvent::Ready => {
                if let Some(command) = self.search_command(games, cx, process) {
                    cx.processes.send(process, command);
                } else {
                    let error = ApiError::engine(ErrorCode::UnsupportedPosition);
                    self.finish(cx, process, Err(error));
                }
            }
            SearchEvent::Finished(search, _, info) => {
                if let Some(answer) = self.answer(games, process, search, &info) {
                    self.finish(cx, process, answer);
                }
            }
            SearchEvent::Rejected(..) => cx.processes.quit(process),
            SearchEvent::Exited { failure, .. } => {
                let why = failure.unwrap_or_else(|| ErrorCode::EngineStopped.into());
                let error = ApiError::engine(why);
                self.finish(cx, process, Err(error));
            }
            SearchEvent::Started(_) | SearchEvent::Info(..) => (),
        }
    }

    fn search_command(
        &self,
        games: &Games,
        cx: &Context<'_>,
        process: ProcessId,
    ) -> Option<EngineCommand> {
        let attempt = self.attempts.get(&process)?;
        let dialect = cx.processes.dialect(process)?;
        let session = games.get(attempt.game)?;
        let codec = MoveCodec::new(dialect, session.game())?;
        let game = session.engine_game(codec, &attempt.line)?;
        let position = attempt.line.position.clone();
        let search = Search::from(limits(&attempt.limits, dialect)).lines(1);
        let (search_id, kind) = (attempt.search_id, SearchKind::Analyse);
        let spec = SearchSpec { search_id, kind, game, search, position, codec, shown: 1 };
        Some(EngineCommand::Search(Box::new(spec)))
    }

    fn answer(
        &self,
        games: &Games,
        process: ProcessId,
        search: SearchId,
        info: &SearchInfo,
    ) -> Option<Result<Answer, ApiError>> {
        let attempt = self.attempts.get(&process).filter(|it| it.search_id == search)?;
        let kind = games.get(attempt.game).map_or(Game::Chess, GameSession::game);
        Some(match info.lines.first().and_then(|line| line.score) {
            Some(score) => {
                Ok(judge(attempt.side, attempt.best, 100.0 - winning_chances(score, kind)))
            }
            None => Err(ApiError::engine(ErrorCode::NoScore)),
        })
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
