//! A fixed search of fixed positions: how fast the engine is, and whether it searches as it did.

use std::time::Duration;

use readyok_rules::{Game, Position};

use crate::{Control, Limits, Report, Searcher};

/// Positions of chess and Chess960 from many stages of the game.
const CHESS: [&str; 12] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r1bqk2r/pp2bppp/2n1pn2/2pp4/3P4/2N1PN2/PP2BPPP/R1BQ1RK1 w kq - 0 8",
    "2r2rk1/pp1bqppp/2n1pn2/3p4/3P4/P1NBPN2/1P2QPPP/2R2RK1 b - - 4 15",
    "r2q1rk1/1b1nbppp/p2ppn2/1p6/3NPP2/1BN1B3/PPP3PP/R2Q1R1K w - - 0 13",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19",
    "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1",
    "6k1/5pp1/4p2p/3pP3/1r1P2PP/R7/5PK1/8 w - - 3 35",
    "r1b2rk1/2q1b1pp/p2ppn2/1p6/3QP3/1BN1B3/PPP3PP/R4RK1 w - - 0 1",
    "8/1p3k2/p1p2p2/P1P2P2/1P2K3/8/8/8 w - - 0 1",
    "3r1rk1/p5pp/bpp1pp2/8/q1PP1P2/b3P3/P2NQRPP/1R2B1K1 b - - 6 22",
];

/// Positions of shogi: the opening, castles, attacks, entering kings.
const SHOGI: [&str; 6] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "ln1gk2nl/1r1s1sgb1/p1pppp1pp/1p4p2/9/2P4P1/PP1PPPP1P/1BSGKS1R1/LN3G1NL b - 13",
    "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1",
    "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "8k/9/9/9/4R4/9/9/9/4K4 b B2G2S2N2L9Prb2g2s2n2l9p 1",
];

/// How deep each game's positions are searched.
const CHESS_DEPTH: u32 = 11;
const SHOGI_DEPTH: u32 = 9;

/// Searches the positions of a game, Chess960 counting as chess, one thread, 16 megabytes of hash,
/// and returns how many positions were searched. The number is the same on all machines.
///
/// # Errors
/// There is no memory for the hash table.
pub fn bench(game: Game) -> Result<u64, std::collections::TryReserveError> {
    let mut searcher = Searcher::new(16)?;
    let (texts, depth) = match game {
        Game::Chess | Game::Chess960 => (CHESS.as_slice(), CHESS_DEPTH),
        Game::Shogi => (SHOGI.as_slice(), SHOGI_DEPTH),
    };
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let nodes = texts.iter().filter_map(|text| {
        let position = Position::from_text(game, text).ok()?;
        searcher.clear();
        Some(searcher.search(&position, &limits, &Silent).nodes)
    });
    Ok(nodes.sum())
}

/// Nobody listens.
struct Silent;

impl Control for Silent {
    fn stopped(&self) -> bool {
        false
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn report(&self, _report: &Report<'_>) {}
}

#[cfg(test)]
mod tests {
    use readyok_rules::{Game, Position};

    use super::{CHESS, SHOGI, bench};

    #[test]
    fn its_positions_are_positions() {
        for (game, texts) in [(Game::Chess, CHESS.as_slice()), (Game::Shogi, SHOGI.as_slice())] {
            for text in texts {
                let read = Position::from_text(game, text);
                assert!(read.is_ok_and(|position| !position.legal_moves().is_empty()), "{text}");
            }
        }
    }

    /// Whoever changes what is searched changes these numbers, and says so.
    #[test]
    fn searches_as_many_nodes_as_ever() {
        assert_eq!(bench(Game::Chess), Ok(344_874));
        assert_eq!(bench(Game::Shogi), Ok(161_616));
    }
}
