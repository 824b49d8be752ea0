//! Start positions by name, number or text, and opening books.

use readyok_arena::openings::{self as arena, OpeningError};
use readyok_arena::plan::{OpeningOrder, OpeningSource, Openings};
use readyok_rules::{Game, Handicap, Position, Setup};

use super::session::{check_players, not_added};
use super::tree::Tree;
use crate::errors::{illegal, invalid_position, opening_error};
use crate::wire::{
    ApiError, Book, ErrorCategory, ErrorCode, ErrorSubject, NewGame, Start, Variant,
};

/// Maximum size of a position with its moves, in bytes.
const LONGEST: usize = 64 << 10;

fn invalid(code: ErrorCode) -> ApiError {
    ApiError::new(ErrorCategory::InvalidPosition, code)
}

/// The position of a start, and the moves of a `position …` line.
pub(crate) fn read_start(
    variant: Variant,
    start: &Start,
    seed: u16,
) -> Result<(Position, Vec<String>), ApiError> {
    let setup = match start {
        Start::Usual => return Ok((Position::start(variant), Vec::new())),
        Start::Number { number } => {
            if variant != Variant::Chess960 {
                return Err(invalid(ErrorCode::StartOfOtherVariant));
            }
            let number = number.unwrap_or(seed % 960);
            Setup::chess960(number)
                .ok_or_else(|| unknown_start(ErrorSubject::StartNumber, number))?
        }
        Start::Handicap { name } => {
            if variant != Variant::Shogi {
                return Err(invalid(ErrorCode::StartOfOtherVariant));
            }
            let handicap = Handicap::from_name(name)
                .ok_or_else(|| unknown_start(ErrorSubject::Handicap, name))?;
            Setup::handicap(handicap)
        }
        Start::Text { text } => return read_text(variant, text),
    };
    Ok((setup.position().map_err(|error| invalid_position(variant, &error))?, Vec::new()))
}

fn unknown_start(subject: ErrorSubject, name: impl ToString) -> ApiError {
    invalid(ErrorCode::unknown(subject, name))
}

/// Reads FEN, SFEN, or a `position …` line.
fn read_text(game: Game, text: &str) -> Result<(Position, Vec<String>), ApiError> {
    if LONGEST < text.len() {
        return Err(ApiError::limit(ErrorCode::TooLong { subject: ErrorSubject::Text }));
    }
    let mut moves = text.split_whitespace().peekable();
    moves.next_if_eq(&"position");
    let position = if moves.next_if_eq(&"startpos").is_some() {
        Position::start(game)
    } else {
        if moves.next_if_eq(&"fen").is_none() {
            moves.next_if_eq(&"sfen");
        }
        let mut fields = Vec::new();
        while let Some(mv) = moves.next_if(|mv| *mv != "moves") {
            fields.push(mv);
        }
        Position::from_text(game, &fields.join(" "))
            .map_err(|error| invalid_position(game, &error))?
    };
    moves.next_if_eq(&"moves");
    Ok((position, moves.map(str::to_owned).collect()))
}

/// The tree of a new game. It blocks while it reads the book.
pub(crate) fn open(new: &NewGame) -> Result<Tree, ApiError> {
    if let Some(players) = &new.players {
        check_players(players)?;
    }
    let seed = seed();
    let (position, moves) = match &new.book {
        Some(book) => read_book(new.variant, &new.start, book, seed)?,
        None => read_start(new.variant, &new.start, u16::try_from(seed % 960).unwrap_or(0))?,
    };
    let mut tree = Tree::new(position.clone());
    let mut at = super::tree::ROOT;
    let mut position = position;
    for mv in moves {
        let mv = position.parse_move(&mv).map_err(|error| illegal(&error))?;
        at = tree.add(at, mv).map_err(|error| not_added(at, error))?;
        position.play(mv).map_err(|error| illegal(&error))?;
    }
    Ok(tree)
}

/// A random opening of a book: its position and moves.
fn read_book(
    variant: Variant,
    start: &Start,
    book: &Book,
    seed: u64,
) -> Result<(Position, Vec<String>), ApiError> {
    if !matches!(start, Start::Usual | Start::Number { number: None }) {
        return Err(invalid(ErrorCode::BookRequiresStandardStart));
    }
    let openings = Openings {
        source: OpeningSource::File { path: book.path.clone(), format: None },
        order: OpeningOrder::Random,
        plies: Some(book.plies),
        ..Openings::default()
    };
    let unusable = |error: OpeningError| {
        ApiError::new(ErrorCategory::InvalidPath, opening_error(variant, &error))
    };
    let mut book = arena::Book::open(variant, &openings, seed).map_err(unusable)?;
    let opening = book.get(0).map_err(unusable)?;
    let position = match &opening.position {
        Some(text) => {
            Position::from_text(variant, text).map_err(|error| invalid_position(variant, &error))?
        }
        None => Position::start(variant),
    };
    Ok((position, opening.moves))
}

fn seed() -> u64 {
    let mut bytes = [0; 8];
    // Without randomness any start is as good as another.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variant: Variant, start: &Start, expected: &str) {
        let shown = match read_start(variant, start, 0) {
            Ok((position, moves)) => format!("{position} {}", moves.join(" ")),
            Err(error) => error.error.to_string(),
        };
        assert!(shown.starts_with(expected), "{shown}");
    }

    fn text(text: &str) -> Start {
        Start::Text { text: text.to_owned() }
    }

    #[test]
    fn starts_are_read_in_all_their_forms() {
        check(
            Variant::Chess960,
            &Start::Number { number: Some(0) },
            "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1",
        );
        check(
            Variant::Shogi,
            &Start::Handicap { name: "lance".to_owned() },
            "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w",
        );
        check(
            Variant::Shogi,
            &text("position startpos moves 7g7f"),
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 7g7f",
        );
        check(
            Variant::Chess,
            &text("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1 moves e2e4"),
            "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1 e2e4",
        );
    }

    #[test]
    fn rejects_invalid_starts_with_their_errors() {
        check(
            Variant::Chess960,
            &Start::Number { number: Some(960) },
            "start position number not found: 960",
        );
        check(
            Variant::Chess,
            &Start::Number { number: Some(1) },
            "the start position belongs to another variant",
        );
        check(Variant::Chess, &text("8/8/8/8/8/8/8/8 w - - 0 1"), "");
        assert!(read_start(Variant::Chess, &text("8/8/8/8/8/8/8/8 w - - 0 1"), 0).is_err());
    }
}
