//! "Learn from mistakes": what an engine says of another try at a move that a report has judged.
//!
//! The engine of the report looks at the position after the try; what the try costs is measured against
//! what the report holds the best move to be worth.

use readyok_client::Search;
use readyok_rules::{Game, Move, MoveCodec};
use tokio::sync::oneshot;

use super::AppState;
use super::failures::{engine_ended, no_score, untold};
use super::reports::{go, score_at_end};
use crate::engine::{EngineCommand, SearchKind, SearchSpec};
use crate::game::{GameSession, api_error, illegal, no_such, winning};
use crate::wire::{
    Answer, ApiError, ApiErrorCode, Failure, GameId, Limits, NodeId, ProblemKind as Kind,
    ProcessId, Purpose, SearchInfo, Side, Thing, ValuesFor,
};

/// A try that costs no more, in percent of winning chances, is as good as the best.
const GOOD: f64 = 2.0;

/// What is told of a try, when it is known.
pub(crate) type Verdict = oneshot::Receiver<Result<Answer, ApiError>>;

/// A try that an engine looks at.
pub(super) struct RetryAttempt {
    game: GameId,
    search_id: u64,
    /// The mover, and the chances that the best move gives.
    side: Side,
    best: f64,
    moves: Vec<Move>,
    limits: Limits,
    tell: oneshot::Sender<Result<Answer, ApiError>>,
}

impl AppState {
    /// Has the engine of a game's report look at another move in the place of one that was played.
    pub(crate) fn try_move(
        &mut self,
        game: GameId,
        node: NodeId,
        text: &str,
        limits: Limits,
    ) -> Result<Verdict, ApiError> {
        let missing = || {
            let text = "the report has not judged this position";
            api_error(ApiErrorCode::NotFound, Kind::NotJudged, text)
        };
        let report = self.reports.get(&game).ok_or_else(missing)?;
        let judged = report.judged_at(node).ok_or_else(missing)?;
        let (engine, side) = (report.engine(), judged.turn);
        let room = self
            .rooms
            .get(&game)
            .ok_or_else(|| no_such(Thing::OpenGame, &game, format!("game {game} is not open")))?;
        let kind = room.game();
        let mut position = room
            .tree()
            .position(node)
            .ok_or_else(|| no_such(Thing::Node, &node, format!("there is no node {node}")))?;
        let best = winning(judged.score, kind);
        let first = judged.best.first().and_then(|first| position.parse_move(&first.word).ok());
        let mv = GameSession::read_move(&position, text)?;
        let mut moves = room.tree().moves_to(node);
        moves.push(mv);
        position.play(mv).map_err(|error| illegal(&error))?;

        let (tell, verdict) = oneshot::channel();
        let known = if first == Some(mv) {
            Some(best)
        } else {
            // From the side to move, who is the other one now.
            score_at_end(&position).map(|score| 100.0 - winning(score, kind))
        };
        self.drop_trials(game);
        if let Some(chances) = known {
            // Whoever asked is there: the other end is in this function.
            let _ = tell.send(Ok(tried(side, best, chances)));
            return Ok(verdict);
        }
        let values = self.registry.get(engine)?.values(ValuesFor::Analyse);
        let variant = Some(kind.into());
        let process =
            self.start_process(engine, Purpose::Learn { game }, variant, values, false)?;
        self.last_search_id += 1;
        let search_id = self.last_search_id;
        self.trials
            .insert(process, RetryAttempt { game, search_id, side, best, moves, limits, tell });
        Ok(verdict)
    }

    /// Only the latest try of a game is looked at.
    fn drop_trials(&mut self, game: GameId) {
        let old = self.trials.iter().filter(|(_, trial)| trial.game == game);
        for process in old.map(|(process, _)| *process).collect::<Vec<_>>() {
            self.end_trial(
                process,
                Err(api_error(
                    ApiErrorCode::NotNow,
                    Kind::OtherMoveTried,
                    "another move was tried meanwhile",
                )),
            );
        }
    }

    fn end_trial(&mut self, process: ProcessId, verdict: Result<Answer, ApiError>) {
        if let Some(trial) = self.trials.remove(&process) {
            // A tab that has gone needs no verdict.
            let _ = trial.tell.send(verdict);
        }
        let running = self.processes.get(&process);
        if let Some(handle) = running.and_then(|running| running.handle.as_ref()) {
            handle.send(EngineCommand::Quit);
        }
    }

    /// The engine for a try has greeted.
    pub(super) fn trial_greeted(&mut self, process: ProcessId) {
        let command = self.trial_order(process);
        let command = command.ok_or_else(|| ApiError::because(ApiErrorCode::Engine, untold()));
        match command {
            Ok(command) => {
                let running = self.processes.get(&process);
                if let Some(handle) = running.and_then(|running| running.handle.as_ref()) {
                    handle.send(command);
                }
            }
            Err(error) => self.end_trial(process, Err(error)),
        }
    }

    fn trial_order(&self, process: ProcessId) -> Option<EngineCommand> {
        let trial = self.trials.get(&process)?;
        let dialect = self.processes.get(&process)?.dialect?;
        let room = self.rooms.get(&trial.game)?;
        let codec = MoveCodec::new(dialect, room.game())?;
        let game = room.wire_game(codec, &trial.moves)?;
        let mut position = room.tree().start().clone();
        for mv in &trial.moves {
            position.play(*mv).ok()?;
        }
        let search = Search::from(go(&trial.limits, dialect)).lines(1);
        let (search_id, kind) = (trial.search_id, SearchKind::Analyse);
        let job = SearchSpec { search_id, kind, game, search, position, codec, shown: 1 };
        Some(EngineCommand::Search(Box::new(job)))
    }

    /// The engine has looked at a try.
    pub(super) fn trial_answers(&mut self, process: ProcessId, search_id: u64, told: &SearchInfo) {
        let Some(trial) = self.trials.get(&process).filter(|trial| trial.search_id == search_id)
        else {
            return;
        };
        let kind = self.rooms.get(&trial.game).map_or(Game::Chess, GameSession::game);
        let score = told.lines.first().and_then(|line| line.score);
        let verdict = match score {
            Some(score) => Ok(tried(trial.side, trial.best, 100.0 - winning(score, kind))),
            None => Err(ApiError::because(ApiErrorCode::Engine, no_score())),
        };
        self.end_trial(process, verdict);
    }

    /// The engine has gone; if it has told nothing, that is told.
    pub(super) fn trial_ended(&mut self, process: ProcessId, why: Option<&Failure>) {
        let why = why.cloned().unwrap_or_else(engine_ended);
        self.end_trial(process, Err(ApiError::because(ApiErrorCode::Engine, why)));
    }
}

/// The verdict: chances of the mover with the best move, and with the try.
fn tried(side: Side, best: f64, chances: f64) -> Answer {
    let loss = (best - chances).max(0.0);
    Answer::Tried { loss, good: loss <= GOOD, side }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_is_good_up_to_a_small_loss() {
        let check = |best, chances, expected| {
            let Answer::Tried { loss, good, .. } = tried(Side::First, best, chances) else {
                panic!("it is a verdict");
            };
            assert_eq!(good, expected, "{loss}");
            assert!(loss >= 0.0);
        };
        check(60.0, 60.0, true);
        check(60.0, 58.5, true);
        check(60.0, 57.0, false);
        // The engine may come to like a move better than the best one.
        check(60.0, 80.0, true);
    }
}
