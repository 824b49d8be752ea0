//! Plays a legal move.

use cozy_chess::Board as Chess;
use readyok_engine::{Answer, Board, Control, Engine, Runner, SearchRequest};

struct First;

impl Engine for First {
    type Board = Chess;
    fn search(&mut self, request: &SearchRequest, _control: &Control) -> Answer {
        let board = Chess::from_position(&request.position)?;
        board.answer(board.any_move(), request)
    }
}

fn main() -> std::io::Result<()> {
    Runner::new("First 1.0", First).author("A. Author").run_stdio()
}
