//! Commands that show the current position: `d`, `eval` and `go perft`, with the output of Stockfish, which programs parse.

use std::fmt::Write as _;

use readyok_rules::{BoardRef, FenForm, Game, MoveCodec, Position, Side};

use crate::{Searcher, perft};

/// The board, the position as text, its key and the pieces that give check.
pub(super) fn board(position: &Position) -> String {
    let (name, form) = match position.game() {
        Game::Chess => ("Fen", FenForm::XFen),
        // Castling rights by the files of the rooks.
        Game::Chess960 => ("Fen", FenForm::Shredder),
        Game::Shogi => ("Sfen", FenForm::XFen),
    };
    let text = position.text(form);
    let mut out = diagram(&text);
    let _ = write!(
        out,
        "\n{name}: {text}\nKey: {:016X}\nCheckers: {}",
        position.key(),
        checkers(position)
    );
    out
}

/// A table of the squares, with the ranks on the right and the files below.
fn diagram(text: &str) -> String {
    let rows: Vec<Vec<String>> =
        text.split(' ').next().unwrap_or_default().split('/').map(squares).collect();
    let shogi = rows.len() == 9;
    let width = if shogi { 4 } else { 3 };
    let files = rows.first().map_or(0, Vec::len);
    let line = format!(" +{}\n", format!("{}+", "-".repeat(width)).repeat(files));
    let mut out = format!("\n{line}");
    for (index, row) in rows.iter().enumerate() {
        for square in row {
            let _ = write!(out, " |{square:>width$}", width = width - 1);
        }
        let rank = match u8::try_from(index) {
            Ok(index) if shogi => char::from(b'a' + index).to_string(),
            _ => (rows.len() - index).to_string(),
        };
        let _ = write!(out, " | {rank}\n{line}");
    }
    for index in 0..files {
        let file = match u8::try_from(index) {
            Ok(index) if !shogi => char::from(b'a' + index).to_string(),
            _ => (files - index).to_string(),
        };
        let _ = write!(out, " {file:>width$}");
    }
    out.push('\n');
    out
}

/// The pieces of a rank of FEN or SFEN, and spaces for empty squares.
fn squares(rank: &str) -> Vec<String> {
    let mut squares = Vec::new();
    let mut promoted = "";
    for letter in rank.chars() {
        match letter.to_digit(10) {
            Some(empty) => squares.extend((0..empty).map(|_| " ".to_owned())),
            None if letter == '+' => promoted = "+",
            None => squares.push(format!("{}{letter}", std::mem::take(&mut promoted))),
        }
    }
    squares
}

/// The squares of the pieces that give check, each with a space; of chess only.
fn checkers(position: &Position) -> String {
    let text = position.text(FenForm::Shredder);
    let board = cozy_chess::Board::from_fen(&text, true);
    let checkers = board.map(|board| board.checkers()).unwrap_or_default();
    checkers.into_iter().fold(String::new(), |mut text, square| {
        let _ = write!(text, "{square} ");
        text
    })
}

/// The static evaluation in pawns, from the view of White or sente.
pub(super) fn evaluation(searcher: &Searcher, position: &Position) -> String {
    let value = if position.in_check() { None } else { searcher.evaluate(position) };
    let Some(value) = value else { return "Final evaluation: none (in check)".to_owned() };
    let first = if position.turn() == Side::First { value } else { -value };
    let side = match position.board() {
        BoardRef::Shogi(_) => "black",
        BoardRef::Chess(_) | BoardRef::Diagram(_) => "white",
    };
    format!("Final evaluation       {:+.2} ({side} side)\n", f64::from(first) / 100.0)
}

/// The number of leaf nodes of each move at a depth, and their sum.
pub(super) fn divided(position: &Position, depth: u32, codec: MoveCodec) -> String {
    let mut out = String::new();
    let mut sum = 0_u64;
    for mv in position.legal_moves() {
        let mut after = position.clone();
        let leaves = match after.play(mv) {
            Ok(()) if depth > 1 => perft(&after, depth - 1).unwrap_or(0),
            _ => 1,
        };
        if let Ok(text) = codec.encode(mv) {
            let _ = writeln!(out, "{text}: {leaves}");
        }
        sum = sum.saturating_add(leaves);
    }
    let _ = write!(out, "\nNodes searched: {sum}\n");
    out
}
