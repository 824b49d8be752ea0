//! SAN and long algebraic notation: written exactly, read leniently.

use shakmaty::{
    CastlingSide, Chess, File, Move, Position, Rank, Role, Square, san::San, uci::UciMove,
};

use super::{ChessBoard, exact, illegal_reason};
use crate::{IllegalReason, error::most_specific};

/// The long algebraic notation of FIDE's appendix C: `Ng1-f3`, `e5xd6`, `e7-e8=Q+`.
pub(crate) fn long_notation(position: &Chess, mv: Move) -> String {
    let san = exact::san(position, mv);
    let (Some(from), false) = (mv.from(), mv.is_castle()) else { return san };
    let suffix = san.find(['+', '#']).and_then(|index| san.get(index..)).unwrap_or_default();
    let piece = match mv.role() {
        Role::Pawn => String::new(),
        role => role.upper_char().to_string(),
    };
    let separator = if mv.is_capture() { 'x' } else { '-' };
    let promotion = mv.promotion().map(|role| format!("={}", role.upper_char()));
    format!("{piece}{from}{separator}{}{}{suffix}", mv.to(), promotion.unwrap_or_default())
}

impl ChessBoard {
    /// SAN of the PGN standard (section 8.2.3): `Nbd7`, `exd6`, `e8=Q+`.
    pub(crate) fn san(&self, mv: Move) -> String {
        exact::san(self.position(), mv)
    }

    pub(crate) fn long(&self, mv: Move) -> String {
        long_notation(self.position(), mv)
    }

    /// All legal moves that a text can mean, or the reason for the rejection.
    ///
    /// Signs for captures, checks, mate and annotations can be missing or superfluous. Castling can be
    /// written with zeros, pieces as figurines, promotions without `=`. Exact SAN has precedence;
    /// otherwise every reading counts, including lower-case pieces.
    pub(crate) fn read_san(&self, text: &str) -> Result<Vec<Move>, IllegalReason> {
        let san_text = normalized(text).ok_or(IllegalReason::InvalidMove)?;
        if let Some(side) = castling(&san_text) {
            let moves = self.position().castling_moves(side);
            return moves.first().map(|&mv| vec![mv]).ok_or(IllegalReason::CastlingNotAllowed);
        }
        if let Ok(san) = san_text.parse::<San>()
            && let Ok(mv) = san.to_move(self.position())
            && San::from_move(self.position(), mv) == san
        {
            return Ok(vec![mv]);
        }
        let readings = ParsedSan::all_of(&san_text);
        let legal = self.position().legal_moves();
        let fitting = |whole: bool| {
            let fits = |mv: Move| {
                let mut readings = readings.iter().filter(|reading| !whole || reading.is_whole());
                readings.any(|reading| reading.means(mv))
            };
            legal.iter().copied().filter(|&mv| fits(mv)).collect::<Vec<Move>>()
        };
        // A move with both squares is unambiguous: `b4-b3` is not a bishop's.
        let mut moves = fitting(true);
        if moves.is_empty() {
            moves = fitting(false);
        }
        // A castling of Chess960 can look like a king move, which has precedence.
        if moves.iter().any(|mv| !mv.is_castle()) {
            moves.retain(|mv| !mv.is_castle());
        }
        if !moves.is_empty() {
            return Ok(moves);
        }
        let Some(reading) = readings.first() else { return Err(IllegalReason::InvalidMove) };
        Err(self.why_not(reading))
    }

    fn why_not(&self, reading: &ParsedSan) -> IllegalReason {
        let board = self.position().board();
        let ParsedSan { to, promotion, .. } = *reading;
        if let (None, Some(file), Some(rank)) = (reading.role, reading.file, reading.rank) {
            let from = Square::from_coords(file, rank);
            return illegal_reason(self.position(), UciMove::Normal { from, to, promotion });
        }
        let ours = board.by_color(self.position().turn());
        let pieces = match reading.role {
            Some(role) => ours & board.by_role(role),
            None => ours,
        };
        let mut origins = pieces.into_iter().filter(|&from| reading.starts_from(from)).peekable();
        if origins.peek().is_none() {
            return if reading.is_whole() {
                IllegalReason::EmptyOriginSquare
            } else {
                IllegalReason::MissingPiece
            };
        }
        let reasons = origins
            .map(|from| illegal_reason(self.position(), UciMove::Normal { from, to, promotion }));
        most_specific(reasons)
    }
}

/// One interpretation of the text of a move other than castling.
struct ParsedSan {
    /// None if the text has only squares.
    role: Option<Role>,
    file: Option<File>,
    rank: Option<Rank>,
    to: Square,
    promotion: Option<Role>,
}

impl ParsedSan {
    fn all_of(text: &str) -> Vec<Self> {
        let mut readings = Vec::new();
        let named = text.chars().next().and_then(|letter| Some((letter, Role::from_char(letter)?)));
        match named {
            Some((letter, role)) if letter.is_ascii_uppercase() => {
                readings.extend(text.get(1..).and_then(|rest| Self::of(Some(role), rest)));
            }
            Some((_, role)) => {
                readings.extend(Self::without_piece(text));
                readings.extend(text.get(1..).and_then(|rest| Self::of(Some(role), rest)));
            }
            None => readings.extend(Self::without_piece(text)),
        }
        readings
    }

    /// A pawn move, or the move of any piece if both squares are given.
    fn without_piece(text: &str) -> Option<Self> {
        let reading = Self::of(None, text)?;
        let role = if reading.is_whole() { None } else { Some(Role::Pawn) };
        Some(Self { role, ..reading })
    }

    /// The text after the piece: origin, target and promotion.
    fn of(role: Option<Role>, rest: &str) -> Option<Self> {
        let (rest, promotion) = match rest.char_indices().next_back() {
            Some((index, letter)) if letter.is_ascii_alphabetic() => {
                let promotion = Role::from_char(letter)?;
                (rest.get(..index)?.trim_end_matches(['=', '/', '(']), Some(promotion))
            }
            _ => (rest, None),
        };
        let (origin, to) = rest.split_at_checked(rest.len().checked_sub(2)?)?;
        let to = to.parse().ok()?;
        let origin = origin.strip_suffix(['x', '-']).unwrap_or(origin);
        let mut origin = origin.chars().peekable();
        let file = origin.next_if(|letter| ('a'..='h').contains(letter));
        let rank = origin.next_if(|letter| ('1'..='8').contains(letter));
        if origin.next().is_some() {
            return None;
        }
        let file = file.and_then(File::from_char);
        let rank = rank.and_then(Rank::from_char);
        Some(Self { role, file, rank, to, promotion })
    }

    /// Whether the complete origin square is given.
    fn is_whole(&self) -> bool {
        self.file.is_some() && self.rank.is_some()
    }

    fn starts_from(&self, from: Square) -> bool {
        self.file.is_none_or(|file| file == from.file())
            && self.rank.is_none_or(|rank| rank == from.rank())
    }

    fn means(&self, mv: Move) -> bool {
        let reaches = match (mv, mv.castling_side()) {
            // A castling needs both squares of the king's move.
            (Move::Castle { king, rook }, Some(side)) if self.is_whole() => {
                let target = side.king_to(shakmaty::Color::from_white(king.rank() == Rank::First));
                self.to == rook || self.to == target
            }
            (Move::Castle { .. }, _) => false,
            _ => self.to == mv.to(),
        };
        reaches
            && self.role.is_none_or(|role| role == mv.role())
            && mv.from().is_some_and(|from| self.starts_from(from))
            && self.promotion == mv.promotion()
    }
}

/// The text in letters of SAN, without annotation signs.
fn normalized(text: &str) -> Option<String> {
    // Longer than any move.
    const MAX_LEN: usize = 32;
    if text.len() > MAX_LEN {
        return None;
    }
    let mut text = text.trim();
    let suffixes = ["!", "?", "+", "#", "†", "‡", "e.p.", "ep", "mate", "±", "∓", "□"];
    while let Some(shorter) = suffixes.iter().find_map(|suffix| text.strip_suffix(suffix)) {
        text = shorter.trim_end();
    }
    let mut normalized = String::new();
    for letter in text.chars() {
        match letter {
            '♔' | '♚' => normalized.push('K'),
            '♕' | '♛' => normalized.push('Q'),
            '♖' | '♜' => normalized.push('R'),
            '♗' | '♝' => normalized.push('B'),
            '♘' | '♞' => normalized.push('N'),
            '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' | ')' => {}
            ':' | '×' => normalized.push('x'),
            '–' | '—' | '‐' | '‑' | '−' => normalized.push('-'),
            letter if letter.is_whitespace() => {}
            letter => normalized.push(letter),
        }
    }
    Some(normalized)
}

fn castling(text: &str) -> Option<CastlingSide> {
    let is_castling = text.chars().all(|letter| matches!(letter, 'O' | 'o' | '0' | '-'));
    match text.chars().filter(|&letter| letter != '-').count() {
        2 if is_castling => Some(CastlingSide::KingSide),
        3 if is_castling => Some(CastlingSide::QueenSide),
        _ => None,
    }
}
