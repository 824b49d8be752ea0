//! The measurement of the speed of engines: nodes per second in fixed positions, in several searches at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

use readyok_rules::Game;

use crate::game::{Player, SearchedNodes, start_for_search, time_search};
use crate::queue::{MEASURED_ENGINES, NoStart, Speed};
use crate::runner::EnginePlayer;
use crate::runner::worker::no_start;

/// Openings, middlegames and endgames.
const CHESS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1",
    "r1bqk2r/pp2bppp/2n1pn2/2pp4/3P4/2N1PN2/PP2BPPP/R1BQ1RK1 w - - 0 8",
    "r2q1rk1/1b1nbppp/p2ppn2/1p6/3NPP2/1BN1B3/PPP3PP/R2Q1R1K w - - 0 13",
    "4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19",
    "3r1rk1/p5pp/bpp1pp2/8/q1PP1P2/b3P3/P2NQRPP/1R2B1K1 b - - 6 22",
    "6k1/5pp1/4p2p/3pP3/1r1P2PP/R7/5PK1/8 w - - 3 35",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1",
];

/// From the opening to the attack on the king.
const SHOGI: [&str; 8] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "ln1gk2nl/1r1s1sgb1/p1pppp1pp/1p4p2/9/2P4P1/PP1PPPP1P/1BSGKS1R1/LN3G1NL b - 13",
    "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1",
    "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "ln1gk2nl/1r1s1sgb1/p1pppp1pp/1p4p2/9/2P4P1/PP1PPPP1P/1BSGKS1R1/LN3G1NL w - 13",
    "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3",
];

/// The least search time of an engine, in seconds. An engine that answers faster does not search by time.
const MIN_SECONDS: f64 = 0.2;

/// Measures the speed of the first engines of a plan, with a number of searches at the same time. `make` is called in the
/// thread of each of them. `None` if an engine reports no nodes or does not search as long as it should.
///
/// # Errors
/// An engine does not start.
pub fn measure_engines(
    parallel: usize,
    make: impl Fn() -> EnginePlayer + Sync,
) -> Result<Option<Speed>, NoStart> {
    let parallel = parallel.max(1);
    let all_started = Barrier::new(parallel);
    let measured: Vec<Result<Vec<SearchedNodes>, NoStart>> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..parallel).map(|_| scope.spawn(|| measure(&all_started, &make))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Ok(Vec::new()))).collect()
    });
    let mut sums = [SearchedNodes::default(); MEASURED_ENGINES];
    let mut engines = 0;
    for searched in measured {
        let searched = searched?;
        engines = engines.max(searched.len());
        for (sum, searched) in sums.iter_mut().zip(searched) {
            sum.add(searched);
        }
    }
    let sums = sums.get(..engines).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 searches")]
    let least = MIN_SECONDS * parallel as f64;
    let has_searched = |sum: &SearchedNodes| sum.nodes > 0.0 && least <= sum.seconds;
    let is_known = !sums.is_empty() && sums.iter().all(has_searched);
    Ok(is_known.then(|| Speed::Engines(sums.iter().map(|sum| sum.nodes / sum.seconds).collect())))
}

/// One of several searches at the same time.
fn measure(
    all_started: &Barrier,
    make: &(impl Fn() -> EnginePlayer + Sync),
) -> Result<Vec<SearchedNodes>, NoStart> {
    // After a panic, the others must not wait.
    let started = catch_unwind(AssertUnwindSafe(|| {
        let player = make();
        let game = player.game();
        let mut players = player.measured_players();
        for player in &mut players {
            start_for_search(player).map_err(|end| no_start(player.plan(), &end))?;
        }
        Ok((game, players))
    }));
    all_started.wait();
    let Ok(started) = started else { return Ok(Vec::new()) };
    let (game, mut players): (Game, Vec<Player>) = started?;
    let positions = match game {
        Game::Chess | Game::Chess960 => &CHESS[..],
        Game::Shogi => &SHOGI[..],
    };
    let mut sums = vec![SearchedNodes::default(); players.len()];
    let count = players.len().max(1);
    for (number, position) in positions.iter().enumerate() {
        // Each engine gets positions of all kinds.
        let at = number % count;
        if let (Some(player), Some(sum)) = (players.get_mut(at), sums.get_mut(at)) {
            let searched = time_search(player, position);
            sum.add(searched.map_err(|end| no_start(player.plan(), &end))?);
        }
    }
    Ok(sums)
}
