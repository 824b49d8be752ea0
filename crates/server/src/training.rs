//! Exercises: their tasks and solutions, their sources and their schedule. No I/O except reading files that are
//! imported.

mod blocks;
mod csv;
mod fsrs;
mod problem;
mod repertoire;
mod schedule;
mod sources;

use readyok_protocol::Score;
use readyok_rules::judgement::winning_chances;
use readyok_rules::{Game, Move, Position};
use serde::{Deserialize, Serialize};

use crate::errors::{illegal, invalid_position};
use crate::game::position_view::line;
use crate::game::{EngineLine, parse_move};
use crate::wire::{
    ApiError, EngineId, ErrorCode, ErrorSubject, ExerciseKind, ExerciseSource, NumberedLine, Side,
    Variant,
};

pub(crate) use blocks::{
    MAX_THEMES, ProblemFilter, ProblemRow, decode_block, encode_block, find_in_block,
};
pub(crate) use problem::{Omitted, Problem};
pub(crate) use repertoire::{Repertoire, RepertoireRules};
pub(crate) use schedule::{LEARNED, Memory};
pub(crate) use sources::{mistakes, read_problems};

/// Maximum number of moves of an attempt.
const MAX_MOVES: usize = 400;
/// Maximum length of a mate, in plies.
const MAX_PLIES: u32 = 400;
/// Maximum loss of a good move, in percent of winning chances.
const GOOD: f64 = 2.0;

/// The task of an exercise, as stored in JSON. Problems of CSV files are stored in [a shorter form](Task::restored).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Task {
    pub(crate) variant: Variant,
    /// In FEN or SFEN.
    pub(crate) position: String,
    pub(crate) side: Side,
    pub(crate) kind: ExerciseKind,
    /// The moves of both sides in UCI or USI notation; empty if no solution is known.
    pub(crate) solution: Vec<String>,
    /// All best moves of the position, if it has several, or all moves of a repertoire.
    pub(crate) best: Vec<String>,
    /// The length of the mate: in moves in chess, in plies in shogi.
    pub(crate) mate: Option<u32>,
    /// The score of the position, for the side to move.
    pub(crate) score: Option<Score>,
    /// The engine of the report.
    pub(crate) engine: Option<EngineId>,
    pub(crate) source: ExerciseSource,
    /// Where the line starts that leads to the position; the usual start position by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<String>,
    /// The moves that lead to the position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) line: Vec<String>,
}

/// The separator of the fields of a short form.
const SEPARATOR: &str = "\t";

/// How a position came about.
pub(crate) struct Lead {
    /// The position before the first move, as FEN or SFEN.
    pub(crate) start: String,
    pub(crate) moves: NumberedLine,
    /// The last move with the position before it.
    pub(crate) last: Option<(Position, Move)>,
    pub(crate) position: Position,
}

/// The judgement of a move.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Right {
        /// None if the exercise is solved.
        reply: Option<String>,
    },
    Wrong {
        loss: Option<f64>,
        /// Whether the move mates, but later than possible.
        longer: bool,
    },
    /// An engine must search the position after the move.
    Unknown,
}

const WRONG: Verdict = Verdict::Wrong { loss: None, longer: false };
const SOLVED: Verdict = Verdict::Right { reply: None };

impl Task {
    pub(crate) fn game(&self) -> Game {
        self.variant
    }

    /// Identifies the position without its move counters.
    pub(crate) fn key(&self) -> i64 {
        match Position::from_text(self.variant, &self.position) {
            Ok(position) => key(&position),
            // Only a damaged file has such a position.
            Err(_) => 0,
        }
    }

    /// The task of a row of the database: JSON, or the short form of a problem, from which the rest follows.
    pub(crate) fn restored(
        stored: &str,
        variant: Variant,
        kind: ExerciseKind,
    ) -> Result<Self, serde_json::Error> {
        if stored.starts_with('{') {
            return serde_json::from_str(stored);
        }
        Self::from_short(stored, variant, kind)
            .ok_or_else(|| serde::de::Error::custom("invalid short form of a problem"))
    }

    /// The short form of a problem: where its line starts, the line, the solution and the name.
    fn short_form(start: &str, [line, solution]: [&[&str]; 2], name: &str) -> String {
        [start, &line.join(" "), &solution.join(" "), name].join(SEPARATOR)
    }

    fn from_short(stored: &str, variant: Variant, kind: ExerciseKind) -> Option<Self> {
        let mut fields = stored.splitn(4, SEPARATOR);
        let mut next = || fields.next();
        let (start, line, solution, name) = (next()?, next()?, next()?, next()?);
        let moves = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (line, solution) = (moves(line), moves(solution));
        let position = Position::from_text(variant, start).ok()?.after(&line).ok()?;
        let source = ExerciseSource { name: name.to_owned(), ..ExerciseSource::default() };
        let task = sources::new_task(&position, kind, solution, source);
        Some(Self { start: Some(start.to_owned()), line, ..task })
    }

    /// The line that leads to the position, with the positions before and after its last move, and this move.
    pub(crate) fn lead(&self) -> Result<Lead, ApiError> {
        let invalid = |error| invalid_position(self.variant, &error);
        let start = match &self.start {
            Some(text) => Position::from_text(self.variant, text).map_err(invalid)?,
            None if self.line.is_empty() => {
                Position::from_text(self.variant, &self.position).map_err(invalid)?
            }
            None => Position::start(self.variant),
        };
        let text = start.to_string();
        let setup = start.setup();
        let moves = NumberedLine {
            first_number: setup.move_number(),
            first_turn: setup.turn(),
            moves: line(&start, &self.line, &[]),
        };
        let mut position = start;
        let mut last = None;
        for text in &self.line {
            let mv = parse_move(&position, text)?;
            let before = position.clone();
            position.play(mv).map_err(|error| illegal(&error))?;
            last = Some((before, mv));
        }
        Ok(Lead { start: text, moves, last, position })
    }

    /// The last moves before the position of a repertoire.
    pub(crate) fn line_end(&self, count: usize) -> Option<NumberedLine> {
        if self.kind != ExerciseKind::Repertoire {
            return None;
        }
        let start = match &self.start {
            Some(text) => Position::from_text(self.variant, text).ok()?,
            None => Position::start(self.variant),
        };
        let (first, last) = self.line.split_at(self.line.len().saturating_sub(count));
        let position = start.after(first).ok()?;
        let setup = position.setup();
        Some(NumberedLine {
            first_number: setup.move_number(),
            first_turn: setup.turn(),
            moves: line(&position, last, &[]),
        })
    }

    /// The position after some moves of the exercise.
    pub(crate) fn after(&self, moves: &[String]) -> Result<EngineLine, ApiError> {
        if MAX_MOVES < moves.len() {
            return Err(ApiError::too_many(ErrorSubject::Move));
        }
        let start = Position::from_text(self.game(), &self.position)
            .map_err(|error| invalid_position(self.game(), &error))?;
        let mut line =
            EngineLine { position: start.clone(), start, moves: Vec::with_capacity(moves.len()) };
        for text in moves {
            let mv = parse_move(&line.position, text)?;
            line.position.play(mv).map_err(|error| illegal(&error))?;
            line.moves.push(mv);
        }
        Ok(line)
    }

    /// Judges a move after some moves of the exercise, if no engine is necessary.
    pub(crate) fn judge(&self, moves: &[String], before: &Position, mv: Move) -> Verdict {
        let uci = mv.to_uci(self.game().castling_form());
        let mut after = before.clone();
        if after.play(mv).is_err() {
            return WRONG;
        }
        if is_checkmate(&after) {
            return SOLVED;
        }
        let known = self.solution.strip_prefix(moves);
        let is_best = moves.is_empty() && self.best.contains(&uci);
        let is_known = known.and_then(<[String]>::first) == Some(&uci);
        match self.kind {
            ExerciseKind::BestMove if is_best || is_known => {
                let reply = known
                    .filter(|known| is_known && 2 < known.len())
                    .and_then(|known| known.get(1));
                Verdict::Right { reply: reply.cloned() }
            }
            ExerciseKind::Repertoire if is_best || is_known => SOLVED,
            ExerciseKind::BestMove | ExerciseKind::Repertoire => WRONG,
            ExerciseKind::Mistake if is_known => SOLVED,
            ExerciseKind::Mate if self.mates_by_checks() && !after.in_check() => WRONG,
            ExerciseKind::Mate if is_known => match known.and_then(|known| known.get(1)) {
                Some(reply) => Verdict::Right { reply: Some(reply.clone()) },
                None => Verdict::Unknown,
            },
            ExerciseKind::Mistake | ExerciseKind::Mate if after.outcome().is_some() => WRONG,
            ExerciseKind::Mistake | ExerciseKind::Mate => Verdict::Unknown,
        }
    }

    /// Judges a move by the search of the position after it: the score for the opponent, and the best reply.
    pub(crate) fn judge_by_search(
        &self,
        moves: usize,
        score: Score,
        reply: Option<&str>,
    ) -> Verdict {
        if self.kind == ExerciseKind::Mistake {
            let best = self.score.map_or(100.0, |score| winning_chances(score, self.game()));
            let loss = (best - 100.0 + winning_chances(score, self.game())).max(0.0);
            return if loss <= GOOD {
                SOLVED
            } else {
                Verdict::Wrong { loss: Some(loss), longer: false }
            };
        }
        if !score.is_mated() {
            return WRONG;
        }
        let left = self.remaining_plies(moves).map(|plies| plies.saturating_sub(1));
        let is_short = match (left, score.mate_plies()) {
            (Some(left), Some(plies)) => plies <= left,
            _ => true,
        };
        match reply {
            Some(reply) if is_short => Verdict::Right { reply: Some(reply.to_owned()) },
            _ => Verdict::Wrong { loss: None, longer: true },
        }
    }

    /// The plies until the mate, after some moves.
    pub(crate) fn remaining_plies(&self, moves: usize) -> Option<u32> {
        let all = match self.variant {
            Variant::Shogi => self.mate?,
            Variant::Chess | Variant::Chess960 => self.mate?.saturating_mul(2).saturating_sub(1),
        };
        // The length comes from files.
        Some(all.min(MAX_PLIES).saturating_sub(u32::try_from(moves).unwrap_or(u32::MAX)))
    }

    /// Whether each move of the attacker must be a check, as in tsume problems.
    fn mates_by_checks(&self) -> bool {
        if self.variant != Variant::Shogi || self.source.game.is_some() {
            return false;
        }
        let Ok(start) = Position::from_text(self.game(), &self.position) else { return false };
        let mut position = start;
        for (ply, uci) in self.solution.iter().enumerate() {
            if position.play_uci(uci).is_err() {
                break;
            }
            if ply.is_multiple_of(2) && !position.in_check() {
                return false;
            }
        }
        true
    }
}

/// Whether the side to move is checkmated.
pub(crate) fn is_checkmate(position: &Position) -> bool {
    position.in_check() && position.legal_moves().is_empty()
}

pub(crate) fn variant_name(variant: Variant) -> &'static str {
    match variant {
        Variant::Chess => "chess",
        Variant::Chess960 => "chess960",
        Variant::Shogi => "shogi",
    }
}

pub(crate) fn kind_name(kind: ExerciseKind) -> &'static str {
    match kind {
        ExerciseKind::Mistake => "mistake",
        ExerciseKind::Mate => "mate",
        ExerciseKind::BestMove => "best_move",
        ExerciseKind::Repertoire => "repertoire",
    }
}

pub(crate) fn variant_named(name: &str) -> Option<Variant> {
    [Variant::Chess, Variant::Chess960, Variant::Shogi]
        .into_iter()
        .find(|variant| variant_name(*variant) == name)
}

pub(crate) fn kind_named(name: &str) -> Option<ExerciseKind> {
    use ExerciseKind::{BestMove, Mate, Mistake, Repertoire};
    [Mistake, Mate, BestMove, Repertoire].into_iter().find(|kind| kind_name(*kind) == name)
}

/// Identifies a position of a variant without its move counters.
pub(crate) fn key(position: &Position) -> i64 {
    let variant = match position.game() {
        Game::Chess => 0,
        Game::Chess960 => 1,
        Game::Shogi => 2,
    };
    (position.key() ^ variant).cast_signed()
}

/// An error of an exercise without a solution.
pub(crate) fn no_solution() -> ApiError {
    ApiError::engine(ErrorCode::NoSolution)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mate in two: 1. Ra7 and 2. Rb8.
    const LADDER: &str = "7k/8/8/8/8/8/R7/1R5K w - - 0 1";

    fn task(kind: ExerciseKind, position: &str, solution: &[&str]) -> Task {
        Task {
            variant: Variant::Chess,
            position: position.to_owned(),
            side: Side::First,
            kind,
            solution: solution.iter().map(|mv| (*mv).to_owned()).collect(),
            best: Vec::new(),
            mate: None,
            score: None,
            engine: None,
            source: ExerciseSource::default(),
            start: None,
            line: Vec::new(),
        }
    }

    fn judge(task: &Task, moves: &[&str], text: &str) -> Verdict {
        let moves: Vec<String> = moves.iter().map(|mv| (*mv).to_owned()).collect();
        let line = task.after(&moves).expect("the moves are legal");
        let mv = parse_move(&line.position, text).expect("it is legal");
        task.judge(&moves, &line.position, mv)
    }

    fn reply(uci: &str) -> Verdict {
        Verdict::Right { reply: Some(uci.to_owned()) }
    }

    #[test]
    fn a_mate_is_played_to_its_end() {
        let mate = task(ExerciseKind::Mate, LADDER, &["a2a7", "h8g8", "b1b8"]);
        assert_eq!(judge(&mate, &[], "Ra7"), reply("h8g8"));
        assert_eq!(judge(&mate, &["a2a7", "h8g8"], "Rb8"), SOLVED);
        assert_eq!(judge(&mate, &[], "Rb7"), Verdict::Unknown);
        // An engine continues where the solution ends.
        let short = task(ExerciseKind::Mate, LADDER, &["a2a7"]);
        assert_eq!(judge(&short, &[], "Ra7"), Verdict::Unknown);
    }

    #[test]
    fn a_mate_must_be_as_short_as_the_solution() {
        let mut mate = task(ExerciseKind::Mate, LADDER, &[]);
        mate.mate = Some(2);
        let judged = |plies| mate.judge_by_search(0, Score::MatedIn { plies }, Some("h8g8"));
        assert_eq!(judged(2), reply("h8g8"));
        assert_eq!(judged(4), Verdict::Wrong { loss: None, longer: true });
        assert_eq!(mate.judge_by_search(0, Score::Cp(-900), Some("h8g8")), WRONG);
    }

    #[test]
    fn a_mistake_is_replaced_by_a_move_that_loses_little() {
        let mut mistake = task(ExerciseKind::Mistake, LADDER, &["a2a7"]);
        mistake.score = Some(Score::Cp(100));
        assert_eq!(judge(&mistake, &[], "Ra7"), SOLVED);
        assert_eq!(judge(&mistake, &[], "Rb7"), Verdict::Unknown);
        assert_eq!(mistake.judge_by_search(0, Score::Cp(-95), None), SOLVED);
        let verdict = mistake.judge_by_search(0, Score::Cp(300), None);
        assert!(matches!(verdict, Verdict::Wrong { loss: Some(loss), .. } if 30.0 < loss));
    }

    #[test]
    fn all_best_moves_are_right() {
        let mut best = task(ExerciseKind::BestMove, LADDER, &["a2a7"]);
        best.best = vec!["a2a7".to_owned(), "b1b7".to_owned()];
        assert_eq!(judge(&best, &[], "Ra7"), SOLVED);
        assert_eq!(judge(&best, &[], "Rb7"), SOLVED);
        assert_eq!(judge(&best, &[], "Kg2"), WRONG);
    }

    #[test]
    fn each_move_of_a_tsume_problem_is_a_check() {
        let position = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1";
        let tsume = task(ExerciseKind::Mate, position, &["G*5b"]);
        let tsume = Task { variant: Variant::Shogi, ..tsume };
        assert_eq!(judge(&tsume, &[], "G*5b"), SOLVED);
        assert_eq!(judge(&tsume, &[], "G*1i"), WRONG);
    }

    #[test]
    fn the_key_of_a_position_has_no_counters() {
        let key = |position: &str| task(ExerciseKind::Mate, position, &[]).key();
        assert_eq!(key(LADDER), key("7k/8/8/8/8/8/R7/1R5K w - - 12 40"));
        assert_ne!(key(LADDER), key("7k/8/8/8/8/8/R7/1R5K b - - 0 1"));
    }
}
