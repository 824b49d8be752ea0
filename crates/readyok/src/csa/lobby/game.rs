//! A game of the server: agreement, moves, clocks and results.

use std::time::{Duration, Instant};

use readyok_protocol::Score;
use readyok_rules::record::{self, Annotations, End};
use readyok_rules::{
    EndRules, GameOutcome, GameResult, Move, Notation, Position, ShogiRules, Side, Termination,
};

use super::super::message::{Signal, Summary};
use super::Lobby;

/// Maximum length of a comment of a move, in characters.
const MAX_COMMENT: usize = 2000;

/// A game between two players.
#[derive(Debug)]
pub(super) struct Match {
    pub(super) summary: Summary,
    pub(super) players: [u64; 2],
    pub(super) phase: Phase,
    pub(super) position: Position,
    pub(super) remaining: [Duration; 2],
}

#[derive(Debug)]
pub(super) enum Phase {
    Agreeing { agreed: [bool; 2], until: Instant },
    Running { turn_started: Instant },
}

impl Lobby {
    pub(super) fn on_game_line(
        &mut self,
        id: u64,
        number: u64,
        side: Side,
        line: &str,
        at: Instant,
    ) {
        let Some(game) = self.games.get_mut(&number) else { return };
        match &mut game.phase {
            Phase::Agreeing { agreed, .. } => {
                let mut tokens = line.split(' ');
                match tokens.next() {
                    Some("AGREE") => {
                        if let Some(agreed) = agreed.get_mut(side.index()) {
                            *agreed = true;
                        }
                        if *agreed == [true; 2] {
                            game.phase = Phase::Running { turn_started: at };
                            let start = format!("START:{}\n", game.summary.id);
                            for player in game.players {
                                self.send(player, start.clone());
                            }
                        }
                    }
                    Some("REJECT") => self.reject(number, side, at),
                    Some("LOGOUT") => {
                        self.reject(number, side, at);
                        self.log_out(id);
                    }
                    _ => (),
                }
            }
            Phase::Running { turn_started } => {
                let elapsed = at.saturating_duration_since(*turn_started);
                self.on_action(number, side, line, elapsed, at);
            }
        }
    }

    fn on_action(&mut self, number: u64, side: Side, line: &str, elapsed: Duration, at: Instant) {
        let (action, comment) = line.split_once(',').unwrap_or((line, ""));
        let Some(game) = self.games.get_mut(&number) else { return };
        if action == "%CHUDAN" {
            let result = GameResult::Unknown;
            let outcome = GameOutcome { result, termination: Termination::Aborted };
            self.finish(number, None, outcome, None, at);
            return;
        }
        if !action.starts_with(['+', '-', '%']) {
            return;
        }
        if game.position.turn() != side {
            let outcome = GameOutcome::lost(side, Termination::IllegalMove);
            self.finish(number, Some(Signal::IllegalAction), outcome, None, at);
            return;
        }
        let Some(times) = game.summary.times.get(side.index()).copied() else { return };
        let units = times.units(elapsed);
        let counted = times.time(units);
        let echo = format!("{action},T{units}\n");
        let players = game.players;
        match action {
            "%TORYO" => {
                let outcome = GameOutcome::lost(side, Termination::Resignation);
                self.send_both(players, &echo);
                self.finish(number, Some(Signal::Resign), outcome, Some(counted), at);
            }
            "%KACHI" => {
                let outcome = game.position.declare(&end_rules(&game.summary));
                let failed = GameOutcome::lost(side, Termination::FailedDeclaration);
                let outcome = outcome.unwrap_or(failed);
                let is_won = outcome.winner() == Some(side);
                let signal = if is_won { Signal::Declaration } else { Signal::IllegalMove };
                self.send_both(players, &echo);
                self.finish(number, Some(signal), outcome, Some(counted), at);
            }
            _ => {
                if let Ok(mv) = game.position.parse(action, Notation::Csa) {
                    game.play(mv, side, counted, comment, at);
                    self.send_both(players, &echo);
                    self.check_end(number, at);
                } else {
                    let outcome = GameOutcome::lost(side, Termination::IllegalMove);
                    self.finish(number, Some(Signal::IllegalMove), outcome, Some(counted), at);
                }
            }
        }
    }

    /// Ends a game by repetition or its length. A player that is mated resigns or loses on time.
    fn check_end(&mut self, number: u64, at: Instant) {
        let Some(game) = self.games.get(&number) else { return };
        let Some(outcome) = game.position.outcome_under(&end_rules(&game.summary)) else { return };
        let signal = match outcome.termination {
            Termination::Repetition => Signal::Repetition,
            Termination::PerpetualCheck => Signal::PerpetualCheck,
            Termination::MoveLimit => Signal::MaxMoves,
            _ => return,
        };
        self.finish(number, Some(signal), outcome, None, at);
    }

    /// Ends a game before its start.
    pub(super) fn reject(&mut self, number: u64, side: Side, at: Instant) {
        let Some(game) = self.games.remove(&number) else { return };
        let name = game.summary.names.get(side.index()).cloned().unwrap_or_default();
        let text = format!("REJECT:{} by {name}\n", game.summary.id);
        for player in game.players {
            self.send(player, text.clone());
            self.wait_again(player, at);
        }
    }

    pub(super) fn finish(
        &mut self,
        number: u64,
        reason: Option<Signal>,
        outcome: GameOutcome,
        elapsed: Option<Duration>,
        at: Instant,
    ) {
        let Some(mut game) = self.games.remove(&number) else { return };
        for (player, side) in game.players.into_iter().zip(Side::BOTH) {
            let result = match (outcome.result, reason) {
                (GameResult::Win(winner), _) if winner == side => Signal::Win,
                (GameResult::Win(_), _) => Signal::Lose,
                (GameResult::Draw, Some(Signal::MaxMoves)) => Signal::Censored,
                (GameResult::Draw, _) => Signal::Draw,
                (GameResult::Unknown, _) => Signal::Aborted,
            };
            let lines = reason.into_iter().chain([result]).map(Signal::text);
            let text: String = lines.flat_map(|line| [line, "\n"]).collect();
            self.send(player, text);
            self.wait_again(player, at);
        }
        let record = &mut game.summary.record;
        record.conclude(End { outcome, text: None, elapsed, comments: Vec::new() });
        let (result, why) = (outcome.result.as_str(), outcome.termination.name());
        self.log(format!("game {}: {result} {why}", game.summary.id));
        self.ended += 1;
        self.finished.push((game.summary.id, game.summary.record));
    }
}

impl Match {
    pub(super) fn deadline(&self) -> Instant {
        match self.phase {
            Phase::Agreeing { until, .. } => until,
            Phase::Running { turn_started } => {
                let side = self.position.turn().index();
                let clock = self.summary.times.get(side).zip(self.remaining.get(side));
                let time = clock.map_or(Duration::ZERO, |(times, left)| times.deadline(*left));
                // A clock beyond the range of `Instant` never runs out.
                let far = Duration::from_secs(u64::from(u32::MAX));
                turn_started + time.min(far)
            }
        }
    }

    fn play(&mut self, mv: Move, side: Side, counted: Duration, comment: &str, at: Instant) {
        let times = self.summary.times.get(side.index());
        if let (Some(times), Some(remaining)) = (times, self.remaining.get_mut(side.index())) {
            *remaining = times.remaining_after(*remaining, counted);
        }
        // The move is legal.
        if self.position.play(mv).is_err() {
            return;
        }
        self.phase = Phase::Running { turn_started: at };
        let record = &mut self.summary.record;
        let Ok(node) = record.play(mv) else { return };
        if let Some(notes) = record.annotations_mut(node) {
            *notes = annotations(counted, comment);
        }
    }
}

/// The annotations of a move with a comment of floodgate: `'* 30 -3334FU`, the score for Black and a PV.
fn annotations(elapsed: Duration, comment: &str) -> Annotations {
    let text: String =
        comment.chars().filter(|letter| !letter.is_control()).take(MAX_COMMENT).collect();
    let text = text.trim_start_matches('\'').trim();
    let evaluation = text.strip_prefix('*').map(str::trim_start);
    let (score, rest) = match evaluation {
        Some(text) => {
            let (number, rest) = text.split_once(' ').unwrap_or((text, ""));
            (number.parse().ok().map(Score::Cp), rest)
        }
        None => (None, text),
    };
    let comment = if score.is_some() { rest } else { text };
    Annotations {
        elapsed: Some(elapsed),
        evaluation: score.map(|score| record::Evaluation { score, depth: None }),
        comments: Some(comment.to_owned())
            .filter(|comment| !comment.is_empty())
            .into_iter()
            .collect(),
        ..Annotations::default()
    }
}

/// The rules of the Computer Shogi Association, with the move limit of the game.
fn end_rules(summary: &Summary) -> EndRules {
    let rules = ShogiRules { move_limit: None, ..ShogiRules::CSA };
    let shogi = summary.max_moves.map_or(rules, |moves| rules.with_move_limit(moves));
    EndRules { shogi, ..EndRules::ENGINE_MATCH }
}

/// The start position in the form of summaries, which some clients require.
pub(super) fn start_position() -> String {
    let mut out = String::new();
    let rows = [
        "P1-KY-KE-GI-KI-OU-KI-GI-KE-KY",
        "P2 * -HI *  *  *  *  * -KA * ",
        "P3-FU-FU-FU-FU-FU-FU-FU-FU-FU",
        "P4 *  *  *  *  *  *  *  *  * ",
        "P5 *  *  *  *  *  *  *  *  * ",
        "P6 *  *  *  *  *  *  *  *  * ",
        "P7+FU+FU+FU+FU+FU+FU+FU+FU+FU",
        "P8 * +KA *  *  *  *  * +HI * ",
        "P9+KY+KE+GI+KI+OU+KI+GI+KE+KY",
        "P+",
        "P-",
        "+",
    ];
    for row in rows {
        out.push_str(row);
        out.push('\n');
    }
    out
}
