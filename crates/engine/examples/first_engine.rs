//! Plays the first legal move that it finds.

use cozy_chess::{Board as Chess, util::display_uci_move};
use readyok_engine::{Answer, Board, Control, Engine, Move, Runner, SearchRequest};

struct First;

impl Engine for First {
    fn search(&mut self, request: &SearchRequest, _control: &Control) -> Answer {
        let board = Chess::from_position(&request.position)?;
        let mut words = Vec::new();
        board.generate_moves(|moves| {
            words.extend(moves.into_iter().map(|mv| display_uci_move(&board, mv).to_string()));
            false
        });
        Ok(words.first().map(|word| word.parse::<Move>()).transpose()?.into())
    }
}

fn main() -> std::io::Result<()> {
    Runner::new("First 1.0", First).run_stdio()
}
