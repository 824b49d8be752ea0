//! Declares options of each type, counts nodes up to the limit, and reports progress.

use cozy_chess::Board as Chess;
use readyok_engine::protocol::Info;
use readyok_engine::{Answer, Board, Check, Control, Engine, Options, Runner, SearchRequest, Spin};

struct Counter {
    depth: Spin,
    verbose: Check,
}

impl Engine for Counter {
    type Board = Chess;

    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer {
        let board = Chess::from_position(&request.position)?;
        let best = board.any_move();
        for depth in 1..=u32::try_from(self.depth.get()).unwrap_or(1) {
            let nodes = perft(&board, depth, control);
            if control.stopped() {
                break;
            }
            if self.verbose.get() {
                let info = Info {
                    depth: Some(depth),
                    nodes: Some(nodes),
                    time: Some(control.elapsed()),
                    pv: Some(board.encode_line(best.as_slice(), request.castling)),
                    ..Info::default()
                };
                control.info(info);
            }
        }
        board.answer(best, request)
    }
}

/// Number of leaf nodes at a depth; fewer if the search is stopped.
fn perft(board: &cozy_chess::Board, depth: u32, control: &Control) -> u64 {
    if depth == 0 || control.stopped() {
        return 1;
    }
    let mut nodes = 0;
    board.generate_moves(|moves| {
        for mv in moves {
            let mut next = board.clone();
            next.play_unchecked(mv);
            nodes += perft(&next, depth - 1, control);
        }
        false
    });
    nodes
}

fn main() -> std::io::Result<()> {
    let mut options = Options::new();
    let depth = options.spin("Depth", 5, 1..=10);
    let verbose = options.check("Verbose", true);
    let overhead = options.spin("Move Overhead", 10, 0..=5000);
    options.chess960();
    options.ponder();
    options.button("Clear Hash", || {});
    Runner::new("Counter 1.0", Counter { depth, verbose })
        .author("the Readyok authors")
        .options(options)
        .move_overhead(&overhead)
        .run_stdio()
}
