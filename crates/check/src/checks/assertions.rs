//! Helpers that several groups of checks share, and test positions.

use readyok_protocol::{Bound, Dialect, Info};
use readyok_rules::Game;

use crate::context::TestContext;
use crate::format;
use crate::message::{Message, message};
use crate::session::EngineSession;
use crate::spec::{Observation, Stop, TestResult};
use crate::transcript::{GameOf, Search, Transcript};

pub(super) fn middle(context: &TestContext<'_>) -> String {
    middle_of(context.dialect)
}

/// The command for a position of the middlegame.
pub(crate) fn middle_of(dialect: Dialect) -> String {
    format!("position {} {}", dialect.position_keyword(), test_positions(dialect.game()).middle[0])
}

/// Positions whose search trees are exhausted quickly.
pub(super) fn soon_done(context: &TestContext<'_>) -> Vec<String> {
    let probe = test_positions(context.game());
    let mut texts = vec![probe.mate_in_one[0]];
    if context.game() == Game::Chess {
        texts.extend([CHESS_FORCED, CHESS_MATE_IN_TWO]);
    }
    texts.into_iter().map(|text| context.position(text)).collect()
}

/// Verifies that a search continues when it is complete.
pub(super) fn continues(session: &mut EngineSession, early: Message) -> TestResult {
    if session.ends_when_complete()? {
        return Err(Stop::Fail(early));
    }
    Ok(())
}

/// Whether an engine without a reply to `stop` replies elsewhere. If not, another check covers it.
pub(super) fn obeys_stop(context: &TestContext<'_>) -> TestResult {
    let mut other = context.start_separate()?;
    other.send(&middle(context));
    other.send("go infinite");
    other.underway();
    other.send("stop");
    other.best(context.timeouts.answer())?;
    Ok(())
}

/// Evaluates the lines of all searches.
pub(super) fn each(
    transcript: &Transcript,
    judge: impl Fn(&Search, &Info<'_>) -> Option<Result<(), Message>>,
) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        for (at, info) in &search.infos {
            match judge(search, info) {
                Some(Ok(())) => seen += 1,
                Some(Err(why)) => return Err((*at, why)),
                None => (),
            }
        }
    }
    Ok(seen)
}

/// Depth of compared searches.
const COMPARED_DEPTH: u32 = 6;

/// The result of a search: its reply and its last score.
pub(super) fn search_summary(
    session: &mut EngineSession,
    context: &TestContext<'_>,
) -> Result<Message, Stop> {
    let found = session.search(&middle(context), &format!("go depth {COMPARED_DEPTH}"))?;
    let found = found.if_complete()?;
    let exact = found.infos.iter().filter(|info| info.bound == Bound::Exact);
    let answer = format::answer(&found.best.best);
    let Some(score) = exact.filter_map(|info| info.score).next_back() else {
        return Ok(message!("search.unscored-reply", answer));
    };
    let score = format::score(score, context.dialect);
    Ok(message!("search.scored-reply", answer, score))
}

/// Positions of one game.
pub(crate) struct TestPositions {
    /// The side to move mates in one: first as the first player, then as the second.
    pub(crate) mate_in_one: [&'static str; 2],
    /// The side to move is mated.
    pub(crate) mated: &'static str,
    /// The side to move has one legal move and is mated by the reply: first and second player.
    pub(crate) mated_next: [&'static str; 2],
    /// The shortest mate of the side to move has this number of plies.
    pub(crate) mates: [(&'static str, u32); 3],
    /// A middlegame position for each side to move.
    pub(crate) middle: [&'static str; 2],
    /// The side to move is winning: first and second player.
    pub(crate) ahead: [&'static str; 2],
    /// Legal moves from the start position.
    pub(crate) opening: &'static str,
}

const CHESS: TestPositions = TestPositions {
    mate_in_one: ["6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1"],
    mated: "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",
    mated_next: ["7r/8/8/8/8/1k6/8/K7 w - - 0 1", "k7/8/1K6/8/8/8/8/7R b - - 0 1"],
    mates: [
        (CHESS_MATE_IN_TWO, 3),
        ("1r4k1/r7/8/8/8/8/8/7K b - - 0 1", 3),
        ("7k/8/3K4/8/8/8/8/6Q1 w - - 0 1", 5),
    ],
    middle: [
        "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 2 3",
        "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    ],
    ahead: ["4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1", "3qk3/pppp4/8/8/8/8/PPPP4/4K3 b - - 0 1"],
    opening: "e2e4 e7e5 g1f3",
};

const SHOGI: TestPositions = TestPositions {
    mate_in_one: ["4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "4k4/9/9/9/9/9/4p4/9/4K4 w g 1"],
    mated: "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1",
    mated_next: ["4k4/9/9/9/9/9/1g7/9/K8 b g 1", "8k/9/7G1/9/9/9/9/9/4K4 w G 1"],
    mates: [
        ("7k1/9/9/6R2/9/9/9/9/4K4 b 2G 1", 3),
        ("4k4/9/9/9/9/2r6/9/9/1K7 w 2g 1", 3),
        ("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", 1),
    ],
    middle: [
        "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3",
        "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P4P1/PP1PPPP1P/1B5R1/LNSGKGSNL w - 4",
    ],
    ahead: [
        "4k4/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/9/4K4 w - 1",
    ],
    opening: "7g7f 3c3d 2g2f",
};

pub(crate) fn test_positions(game: Game) -> &'static TestPositions {
    match game {
        Game::Chess | Game::Chess960 => &CHESS,
        Game::Shogi => &SHOGI,
    }
}

/// A mate in two moves, which is three plies, for White.
pub(super) const CHESS_MATE_IN_TWO: &str = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";

pub(super) const CHESS_STALEMATE: &str = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";

/// A position with one legal move.
pub(super) const CHESS_FORCED: &str = "k7/8/1K6/8/8/8/8/7R b - - 0 1";

#[cfg(test)]
mod tests {
    use super::*;
    use readyok_rules::{Position, Termination};

    fn read(game: Game, text: &str) -> Position {
        Position::from_text(game, text).expect(text)
    }

    fn mates(game: Game, text: &str) -> bool {
        mates_in(&read(game, text), 1)
    }

    fn mates_in(position: &Position, plies: u32) -> bool {
        position.legal_moves().into_iter().any(|mv| {
            let mut next = position.clone();
            next.play(mv).expect("legal");
            next.outcome().is_some_and(|ending| ending.termination == Termination::Checkmate)
                || (2 < plies && is_mated_in(&next, plies - 1))
        })
    }

    fn is_mated_in(position: &Position, plies: u32) -> bool {
        let moves = position.legal_moves();
        !moves.is_empty()
            && moves.into_iter().all(|mv| {
                let mut next = position.clone();
                next.play(mv).expect("legal");
                next.outcome().is_none() && mates_in(&next, plies - 1)
            })
    }

    #[test]
    fn positions_are_what_they_are_called() {
        for game in [Game::Chess, Game::Shogi] {
            let probes = test_positions(game);
            for text in probes.mate_in_one {
                assert!(mates(game, text), "{text}");
            }
            for text in probes.mated_next {
                assert_eq!(read(game, text).legal_moves().len(), 1, "{text}");
                assert!(is_mated_in(&read(game, text), 2), "{text}");
            }
            for (text, plies) in probes.mates {
                assert!(mates_in(&read(game, text), plies), "{text}");
                assert!(plies < 2 || !mates_in(&read(game, text), plies - 2), "{text}");
            }
            for text in probes.middle.into_iter().chain(probes.ahead) {
                assert!(!mates(game, text) && !read(game, text).legal_moves().is_empty(), "{text}");
            }
            assert!(read(game, probes.mated).legal_moves().is_empty());
            let opening = probes.opening.split(' ');
            assert!(Position::start(game).after(opening).is_ok());
        }
        assert!(read(Game::Chess, CHESS_STALEMATE).legal_moves().is_empty());
        assert!(!read(Game::Chess, CHESS_STALEMATE).in_check());
        assert_eq!(read(Game::Chess, CHESS_FORCED).legal_moves().len(), 1);
        assert!(!mates(Game::Chess, CHESS_MATE_IN_TWO));
    }
}
