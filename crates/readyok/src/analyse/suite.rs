//! Scoring of an answer by the operations of its position: `bm`, `am`, `dm`, points, and mates of shogi.

use std::collections::BTreeMap;

use readyok_client::{Checkmate, SearchResult};
use readyok_protocol::Score;
use readyok_rules::{Game, Move, Notation, Operation, Position, Side};
use serde::{Deserialize, Serialize};

/// What an answer should be.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Expectation {
    /// `bm`: any of these moves.
    best: Option<Vec<Move>>,
    /// `am`: none of these moves.
    avoid: Option<Vec<Move>>,
    /// `dm`: the maximum number of moves to the mate; negative if the side to move is mated.
    mate: Option<i32>,
    /// Points of moves, as in the Strategic Test Suite.
    points: Vec<(Move, u32)>,
    /// The answer to a mate search in shogi.
    tsume: bool,
}

/// Whether an answer is right.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Solved,
    Failed,
}

/// The score of an answer. All fields are empty without an expectation.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Judgement {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<Verdict>,
    /// The points of the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) points: Option<u32>,
    /// The points of the best move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_points: Option<u32>,
    /// The result of each opcode, and of `mate`: a mate search in shogi.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) operations: BTreeMap<String, bool>,
}

/// The parts of an answer that are scored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) mv: Option<Move>,
    pub(crate) score: Option<Score>,
    /// A mate search in shogi found a mate, and its moves are one.
    pub(crate) is_mate: bool,
}

impl Expectation {
    /// `is_mate_search` means that the engine searches for a mate.
    pub(crate) fn of(position: &Position, operations: &[Operation], is_mate_search: bool) -> Self {
        let mut expectation = Self {
            tsume: is_mate_search && position.game() == Game::Shogi,
            points: points(position, operations),
            ..Self::default()
        };
        for operation in operations {
            match operation {
                Operation::BestMoves(moves) => expectation.best = Some(moves.clone()),
                Operation::AvoidMoves(moves) => expectation.avoid = Some(moves.clone()),
                Operation::DirectMate(number) => expectation.mate = Some(*number),
                _ => {}
            }
        }
        expectation
    }

    /// The results by opcode.
    fn checks(&self, answer: Answer) -> impl Iterator<Item = (&'static str, bool)> {
        let is_one = move |moves: &Vec<Move>| answer.mv.is_some_and(|mv| moves.contains(&mv));
        let best = self.best.as_ref().map(|moves| ("bm", is_one(moves)));
        let avoid = self.avoid.as_ref();
        let avoid = avoid.map(|moves| ("am", answer.mv.is_some() && !is_one(moves)));
        let mate = self.mate.map(|moves| ("dm", is_mate_within(answer.score, moves)));
        let tsume = self.tsume.then_some(("mate", answer.is_mate));
        // Points alone: the best move is right.
        let has_others = best.or(avoid).or(mate).is_some();
        let most = (!has_others && !self.points.is_empty())
            .then(|| ("points", self.points_of(answer.mv) == self.max_points()));
        [best, avoid, mate, tsume, most].into_iter().flatten()
    }

    /// Whether an answer is right so far. `None` without an expectation.
    pub(crate) fn is_met(&self, answer: Answer) -> Option<bool> {
        let mut checks = self.checks(answer).peekable();
        checks.peek()?;
        Some(checks.all(|(_, passed)| passed))
    }

    pub(crate) fn judge(&self, answer: Answer) -> Judgement {
        let verdict =
            self.is_met(answer).map(|met| if met { Verdict::Solved } else { Verdict::Failed });
        let has_points = !self.points.is_empty();
        Judgement {
            verdict,
            points: has_points.then(|| self.points_of(answer.mv)),
            max_points: has_points.then(|| self.max_points()),
            operations: self
                .checks(answer)
                .map(|(name, passed)| (name.to_owned(), passed))
                .collect(),
        }
    }

    fn points_of(&self, mv: Option<Move>) -> u32 {
        let found = self.points.iter().find(|(known, _)| Some(*known) == mv);
        found.map_or(0, |(_, points)| *points)
    }

    fn max_points(&self) -> u32 {
        self.points.iter().map(|(_, points)| *points).max().unwrap_or(0)
    }
}

/// Whether a score is a mate within a number of moves, by the side to move or, if negative, by the other one.
fn is_mate_within(score: Option<Score>, moves: i32) -> bool {
    let Some(score) = score else { return false };
    let is_side = if moves < 0 { score.is_mated() } else { score.is_mating() };
    is_side && score.mate_plies().is_some_and(|plies| plies.div_ceil(2) <= moves.unsigned_abs())
}

/// The points of moves, in one of the forms of the Strategic Test Suite:
/// - `c0 "f5=10, Be5+=2"`: moves and their points;
/// - `c8 "10 2"` and `c9 "f4f5 c7e5"`: the points of moves in UCI notation, or `c7` with moves in SAN.
fn points(position: &Position, operations: &[Operation]) -> Vec<(Move, u32)> {
    let comment = |wanted: u8| {
        operations.iter().find_map(|operation| match operation {
            Operation::Comment { number, text } if *number == wanted => Some(text.as_str()),
            _ => None,
        })
    };
    let pair = |mv: &str, points: &str| {
        let mv = position.parse(mv.trim(), Notation::Western).ok()?;
        Some((mv, points.trim().parse().ok()?))
    };
    if let Some(text) = comment(0) {
        // A promotion also has a sign: `e8=Q=10`.
        let pairs = text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty());
        let pairs =
            pairs.map(|part| part.rsplit_once('=').and_then(|(mv, points)| pair(mv, points)));
        // Any other text is a comment.
        if let Some(pairs) = pairs.collect::<Option<Vec<_>>>()
            && !pairs.is_empty()
        {
            return pairs;
        }
    }
    let Some(points) = comment(8) else { return Vec::new() };
    for moves in [comment(9), comment(7)].into_iter().flatten() {
        let (moves, points) = (moves.split_whitespace(), points.split_whitespace());
        let count = moves.clone().count();
        let pairs: Vec<_> = moves.zip(points).filter_map(|(mv, points)| pair(mv, points)).collect();
        if count > 0 && pairs.len() == count {
            return pairs;
        }
    }
    Vec::new()
}

/// Whether the answer to a mate search is a mate: all moves are legal, those of the side to move give check, and the
/// last one is mate.
pub(crate) fn is_proven_mate(position: &Position, result: &SearchResult) -> bool {
    let Some(Checkmate::Moves(moves)) = &result.checkmate else { return false };
    is_mate_line(position, moves.tokens())
}

fn is_mate_line<'a>(position: &Position, moves: impl IntoIterator<Item = &'a str>) -> bool {
    let mut position = position.clone();
    let attacker: Side = position.turn();
    let mut count = 0;
    for text in moves {
        let Ok(mv) = position.parse_move(text) else { return false };
        let is_attack = position.turn() == attacker;
        if position.play(mv).is_err() || is_attack && !position.in_check() {
            return false;
        }
        count += 1;
    }
    count % 2 == 1 && position.turn() != attacker && position.legal_moves().is_empty()
}

#[cfg(test)]
mod tests {
    use readyok_rules::Epd;

    use super::*;

    fn expectation(text: &str) -> (Position, Expectation) {
        let Epd { position, operations } = Epd::read(Game::Chess, text).expect(text);
        let expectation = Expectation::of(&position, &operations, false);
        (position, expectation)
    }

    #[track_caller]
    fn check(text: &str, mv: &str, score: Score, verdict: Option<Verdict>, points: Option<u32>) {
        let (position, expectation) = expectation(text);
        let mv = position.parse_move(mv).expect(mv);
        let answer = Answer { mv: Some(mv), score: Some(score), is_mate: false };
        let judgement = expectation.judge(answer);
        assert_eq!((judgement.verdict, judgement.points), (verdict, points), "{text}");
    }

    const BOARD: &str = "4k3/P7/8/8/8/8/4P3/4K2R w K -";
    const SOLVED: Option<Verdict> = Some(Verdict::Solved);
    const FAILED: Option<Verdict> = Some(Verdict::Failed);

    #[test]
    fn moves_are_compared() {
        let zero = Score::Cp(0);
        let check = |operations: &str, mv, verdict, points| {
            check(&format!("{BOARD} {operations}"), mv, zero, verdict, points);
        };
        check("bm e4 O-O;", "e1g1", SOLVED, None);
        check("bm e4;", "e2e3", FAILED, None);
        check("am e3;", "e2e3", FAILED, None);
        check("bm e4; am e3;", "e2e4", SOLVED, None);
        check("id \"a\";", "e2e4", None, None);
        // The forms of the Strategic Test Suite.
        check("bm e4; c0 \"e4=10, a8=Q+=7, O-O=2\";", "a7a8q", FAILED, Some(7));
        check("bm e4; c0 \"e4=10,e3=1\";", "e2e4", SOLVED, Some(10));
        check("bm e4; c0 \"a comment\"; c7 \"e4 e3\"; c8 \"10 4\";", "e2e3", FAILED, Some(4));
        check("c7 \"e4 x\"; c8 \"10 4\"; c9 \"e2e4 e1g1\";", "e1g1", FAILED, Some(4));
        check("c8 \"10 4\"; c9 \"e2e4 e1g1\";", "e2e4", SOLVED, Some(10));
        check("c8 \"10 4\"; c9 \"e2e4 e1g1\";", "h1h2", FAILED, Some(0));
    }

    #[test]
    fn mates_are_counted_in_moves() {
        for (number, score, verdict) in [
            (2, Score::MateIn { plies: 3 }, SOLVED),
            (2, Score::MateIn { plies: 5 }, FAILED),
            (2, Score::Cp(900), FAILED),
            (2, Score::MatedIn { plies: 2 }, FAILED),
            (2, Score::MateInUnknown, FAILED),
            (-1, Score::MatedIn { plies: 2 }, SOLVED),
        ] {
            check(&format!("{BOARD} dm {number};"), "e2e4", score, verdict, None);
        }
    }

    #[test]
    fn mates_of_shogi_are_played() {
        let sfen = "4k4/9/4G4/9/9/9/9/9/9 b G 1";
        let position = Position::from_text(Game::Shogi, sfen).expect(sfen);
        for (line, is_mate) in [
            (&["G*5b"][..], true),
            (&["5c5b"], false),
            (&["G*4b"], false),
            (&["G*5c"], false),
            (&["G*5b", "5a4a"], false),
            (&[], false),
        ] {
            assert_eq!(is_mate_line(&position, line.iter().copied()), is_mate, "{line:?}");
        }
    }
}
