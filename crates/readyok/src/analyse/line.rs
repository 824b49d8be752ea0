//! A position in a line of text: EPD, FEN, SFEN, or moves in any notation.

use readyok_rules::record::MoveLine;
use readyok_rules::{
    Epd, EpdError, Game, LineError, Move, Operation, Position, PositionError, Setup,
};

/// A position, and how it was reached.
#[derive(Clone, Debug)]
pub(super) struct LinePosition {
    /// The position before the moves.
    pub(super) root: Position,
    pub(super) moves: Vec<Move>,
    /// The operations of an EPD, in order.
    pub(super) operations: Vec<Operation>,
}

/// Why a line is not a position.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadLine {
    #[error(transparent)]
    Epd(#[from] EpdError),
    #[error(transparent)]
    Position(#[from] PositionError),
    #[error(transparent)]
    Moves(#[from] LineError),
    #[error("neither a position nor moves: {0}")]
    Unknown(readyok_rules::MoveError),
}

/// Reads a line that is neither empty nor a comment.
///
/// `game` is that of all lines, if it is known. `usual` is the game of a start position without moves.
pub(super) fn read_line(
    text: &str,
    game: Option<Game>,
    usual: Game,
) -> Result<LinePosition, BadLine> {
    let text = after(text, "position").unwrap_or(text);
    let (start, moves) = split_at_moves(text);
    let (keyword, board) = match (after(start, "sfen"), after(start, "fen")) {
        (Some(rest), _) => (Some(Game::Shogi), rest),
        (None, Some(rest)) => (Some(Game::Chess), rest),
        (None, None) => (None, start),
    };
    let first = board.split_whitespace().next().unwrap_or_default();
    let ranks = first.split('/').count();
    let position_game = match ranks {
        9 => Some(Game::Shogi),
        8 => Some(game.filter(|game| *game != Game::Shogi).unwrap_or(Game::Chess)),
        _ => keyword,
    };
    let Some(position_game) = position_game else {
        let moves = match (after(start, "startpos"), moves) {
            (Some(_), moves) => moves.unwrap_or_default(),
            (None, Some(moves)) if start.is_empty() => moves,
            (None, _) => text,
        };
        return from_start(moves, game, usual);
    };
    let (root, operations) = match position_game {
        Game::Shogi => (Setup::read_partial(Game::Shogi, board)?.position()?, Vec::new()),
        game if moves.is_some() || board.split_whitespace().nth(3).is_none() => {
            (chess(game, board)?, Vec::new())
        }
        game => {
            let Epd { position, operations } = epd(game, board)?;
            (position, operations)
        }
    };
    let moves = match moves {
        Some(moves) => MoveLine::after(root.clone(), moves)?.moves().to_vec(),
        None => Vec::new(),
    };
    Ok(LinePosition { root, moves, operations })
}

/// Moves from the start position of the first game in which they are legal.
fn from_start(moves: &str, game: Option<Game>, usual: Game) -> Result<LinePosition, BadLine> {
    let games = match (game, usual) {
        (Some(game), _) => vec![game],
        (None, Game::Shogi) => vec![Game::Shogi, Game::Chess],
        (None, Game::Chess | Game::Chess960) => vec![Game::Chess, Game::Shogi],
    };
    let line = MoveLine::read(moves, &games).map_err(BadLine::Unknown)?;
    let root = Position::start(line.end().game());
    Ok(LinePosition { root, moves: line.moves().to_vec(), operations: Vec::new() })
}

/// A FEN of chess, or of Chess960 if its castling rights require that.
fn chess(game: Game, text: &str) -> Result<Position, PositionError> {
    let read = |game| Setup::read_partial(game, text)?.position();
    read(game).or_else(|error| read(Game::Chess960).map_err(|_| error))
}

fn epd(game: Game, text: &str) -> Result<Epd, EpdError> {
    let read = |text: &str| {
        Epd::read(game, text).or_else(|error| match error {
            EpdError::Position(_) => Epd::read(Game::Chess960, text).map_err(|_| error),
            EpdError::Move { .. } | EpdError::Defect(_) => Err(error),
        })
    };
    read(text).or_else(|error| match &error {
        // Lines of analysis are cut off in some suites. The analysis replaces them.
        EpdError::Move { opcode, .. } if opcode == "pv" => {
            read(&without_pv(text)).map_err(|_| error)
        }
        EpdError::Move { .. } | EpdError::Position(_) | EpdError::Defect(_) => Err(error),
    })
}

fn without_pv(text: &str) -> String {
    let Some((before, pv)) = text.split_once(" pv ") else { return text.to_owned() };
    let after = pv.split_once(';').map_or("", |(_, after)| after);
    format!("{before} {after}")
}

/// The rest of a text after a token that it starts with.
fn after<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    let rest = text.trim_start().strip_prefix(token)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// The text before the token `moves`, and the text after it.
fn split_at_moves(text: &str) -> (&str, Option<&str>) {
    if let Some(moves) = after(text, "moves") {
        return ("", Some(moves));
    }
    // In an EPD, the token is a part of a quoted text.
    match text.split_once(" moves ") {
        Some((start, moves)) if !start.contains('"') => (start.trim(), Some(moves)),
        _ => (text.strip_suffix(" moves").unwrap_or(text).trim(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, game: Game, end: &str) {
        let line = read_line(text, None, Game::Chess).expect(text);
        let mut position = line.root;
        for mv in line.moves {
            position.play(mv).expect(text);
        }
        assert_eq!((position.game(), position.to_string().as_str()), (game, end), "{text}");
    }

    #[test]
    fn lines_have_many_forms() {
        let e4e5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        for text in [
            "1. e4 e5",
            "e2e4 e7e5",
            "startpos moves e2e4 e7e5",
            "position startpos moves e4 e5",
            "moves e4 e5",
            e4e5,
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - hmvc 0; fmvn 2;",
            "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves e4 e5",
        ] {
            check(text, Game::Chess, e4e5);
        }
        let bishops = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3";
        for text in [
            "7g7f 3c3d",
            "▲７六歩 △３四歩",
            "position startpos moves 7g7f 3c3d",
            bishops,
            "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves ７六歩 ３四歩",
        ] {
            check(text, Game::Shogi, bishops);
        }
        check("8/8/8/4k3/8/8/8/4K3 w", Game::Chess, "8/8/8/4k3/8/8/8/4K3 w - - 0 1");
    }

    #[test]
    fn defects_are_named() {
        for (text, expected) in [
            ("hello", "neither a position nor moves"),
            ("e4 e4", "e4"),
            ("8/8/8/8/8/8/8/8 w - -", "king"),
            ("4k3/8/8/8/8/8/8/4K3 w - - bm e4;", "`bm`"),
            ("startpos moves e2e4 e2e4", "e2e4"),
        ] {
            let error = read_line(text, None, Game::Chess).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let cut = "4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; pv e4 Qxx; id \"a\";";
        assert_eq!(read_line(cut, None, Game::Chess).expect(cut).operations.len(), 2);
    }
}
