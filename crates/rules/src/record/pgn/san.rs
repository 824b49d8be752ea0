//! Reads a move of chess in SAN, long algebraic notation or UCI, exact or lenient.

use shakmaty::{
    Chess, Move, Position as _,
    san::{San, SanError as ShakmatyError},
    uci::UciMove,
};

/// Why a text is not a move of the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SanError {
    /// It does not look like a move.
    Unreadable,
    /// It does not match a legal move.
    Illegal,
    /// It matches more than one legal move.
    Ambiguous,
}

/// The legal move that a text matches.
pub(super) fn read(position: &Chess, text: &[u8]) -> Result<Move, SanError> {
    match San::from_ascii(text).or_else(|_| San::from_ascii(&normalized(text))) {
        Ok(san) => san.to_move(position).or_else(|error| match error {
            ShakmatyError::AmbiguousSan => Err(SanError::Ambiguous),
            // `e1g1` is also valid SAN of a pawn move.
            ShakmatyError::IllegalSan => by_squares(position, text).ok_or(SanError::Illegal),
        }),
        Err(_) => by_squares(position, text).ok_or_else(|| {
            if looks_like_a_move(text) { SanError::Illegal } else { SanError::Unreadable }
        }),
    }
}

/// Whether an unreadable text contains a square or is a null move.
fn looks_like_a_move(text: &[u8]) -> bool {
    let square = |pair: &[u8]| match pair {
        [file, rank] => matches!(file, b'a'..=b'h') && matches!(rank, b'1'..=b'8'),
        _ => false,
    };
    text.windows(2).any(square) || matches!(text, b"--" | b"Z0" | b"0000" | b"@@@@")
}

/// Replaces zeros in castling, `Q` or `/Q` for promotion, doubled signs of check, `:` for captures, and
/// `ep` after a pawn capture.
fn normalized(text: &[u8]) -> Vec<u8> {
    let mut tidy: Vec<u8> = Vec::with_capacity(text.len());
    for &byte in text {
        match byte {
            b'0' => tidy.push(b'O'),
            b'/' => tidy.push(b'='),
            b'+' | b'#' => {}
            _ => tidy.push(byte),
        }
    }
    if let [.., b'1' | b'8', b'Q' | b'R' | b'B' | b'N'] = tidy.as_slice() {
        tidy.insert(tidy.len() - 1, b'=');
    }
    for suffix in [&b"ep"[..], b"e"] {
        if let Some(rest) = tidy.strip_suffix(suffix)
            && rest.last().is_some_and(u8::is_ascii_digit)
        {
            tidy.truncate(rest.len());
        }
    }
    if let Some(colon) = tidy.iter().position(|&byte| byte == b':')
        && let Some(byte) = tidy.get_mut(colon)
    {
        *byte = b'x';
    }
    tidy
}

/// A move by its two squares, with or without a piece letter before them and a sign between.
fn by_squares(position: &Chess, text: &[u8]) -> Option<Move> {
    let signs = |byte: &u8| matches!(byte, b'-' | b'x' | b':' | b'=' | b'+' | b'#');
    let squares: Vec<u8> = text.iter().copied().filter(|byte| !signs(byte)).collect();
    let squares = match squares.as_slice() {
        [b'K' | b'Q' | b'R' | b'B' | b'N', rest @ ..] => rest,
        all => all,
    };
    let wanted = UciMove::from_ascii(&squares.to_ascii_lowercase()).ok()?;
    let moves = position.legal_moves();
    let found = moves.iter().find(|&&mv| UciMove::from_chess960(mv) == wanted);
    found.or_else(|| moves.iter().find(|&&mv| UciMove::from_standard(mv) == wanted)).copied()
}
