//! Plays a legal move of shogi, over USI.

use readyok_engine::{Answer, Board, Control, Dialect, Engine, Runner, SearchRequest};
use rsshogi::board::Position as Shogi;

struct First;

impl Engine for First {
    type Board = Shogi;
    fn search(&mut self, request: &SearchRequest, _control: &Control) -> Answer {
        let board = Shogi::from_position(&request.position)?;
        board.answer(board.any_move(), request)
    }
}

fn main() -> std::io::Result<()> {
    Runner::new("First Shogi 1.0", First).dialects([Dialect::Usi]).run_stdio()
}
