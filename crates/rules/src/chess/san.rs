//! SAN and long algebraic notation: written exactly, read loosely.

use shakmaty::{
    CastlingSide, Chess, File, Move, Position, Rank, Role, Square,
    san::{San, SanPlus},
    uci::UciMove,
};

use super::{ChessBoard, explain};
use crate::{IllegalReason, error::most_telling};

/// The long algebraic notation of FIDE's appendix C: `Ng1-f3`, `e5xd6`, `e7-e8=Q+`.
pub(crate) fn long_notation(position: &Chess, mv: Move) -> String {
    let san = SanPlus::from_move(position.clone(), mv);
    let suffix = san.suffix.map(|suffix| suffix.char().to_string()).unwrap_or_default();
    let (Some(from), false) = (mv.from(), mv.is_castle()) else { return san.to_string() };
    let piece = match mv.role() {
        Role::Pawn => String::new(),
        role => role.upper_char().to_string(),
    };
    let separator = if mv.is_capture() { 'x' } else { '-' };
    let promotion = mv.promotion().map(|role| format!("={}", role.upper_char()));
    format!("{piece}{from}{separator}{}{}{suffix}", mv.to(), promotion.unwrap_or_default())
}

impl ChessBoard {
    /// SAN, as the PGN standard has it (section 8.2.3): `Nbd7`, `exd6`, `e8=Q+`.
    pub(crate) fn san(&self, mv: Move) -> String {
        SanPlus::from_move(self.position().clone(), mv).to_string()
    }

    pub(crate) fn long(&self, mv: Move) -> String {
        long_notation(self.position(), mv)
    }

    /// All legal moves that a text can mean, or why there is none.
    ///
    /// Signs for captures, checks, mate and comments can be missing or too many, castling can be
    /// written with zeros, pieces as figurines, promotions without `=`. What would be exact SAN for
    /// one move means that move; after that every reading counts, lower-case pieces too.
    pub(crate) fn read_san(&self, text: &str) -> Result<Vec<Move>, IllegalReason> {
        let word = tidied(text).ok_or(IllegalReason::Unreadable)?;
        if let Some(side) = castling(&word) {
            let moves = self.position().castling_moves(side);
            return moves.first().map(|&mv| vec![mv]).ok_or(IllegalReason::Castling);
        }
        if let Ok(san) = word.parse::<San>()
            && let Ok(mv) = san.to_move(self.position())
            && San::from_move(self.position(), mv) == san
        {
            return Ok(vec![mv]);
        }
        let readings = Reading::all_of(&word);
        let legal = self.position().legal_moves();
        let fitting = |whole: bool| {
            let fits = |mv: Move| {
                let mut readings = readings.iter().filter(|reading| !whole || reading.is_whole());
                readings.any(|reading| reading.means(mv))
            };
            legal.iter().copied().filter(|&mv| fits(mv)).collect::<Vec<Move>>()
        };
        // Both squares of a move leave no doubt: `b4-b3` is no bishop's.
        let mut moves = fitting(true);
        if moves.is_empty() {
            moves = fitting(false);
        }
        // A castling of Chess960 can look like an ordinary move of the king, which then comes first.
        if moves.iter().any(|mv| !mv.is_castle()) {
            moves.retain(|mv| !mv.is_castle());
        }
        if !moves.is_empty() {
            return Ok(moves);
        }
        let Some(reading) = readings.first() else { return Err(IllegalReason::Unreadable) };
        Err(self.why_not(reading))
    }

    fn why_not(&self, reading: &Reading) -> IllegalReason {
        let board = self.position().board();
        let Reading { to, promotion, .. } = *reading;
        if let (None, Some(file), Some(rank)) = (reading.role, reading.file, reading.rank) {
            let from = Square::from_coords(file, rank);
            return explain::why(self.position(), UciMove::Normal { from, to, promotion });
        }
        let ours = board.by_color(self.position().turn());
        let pieces = match reading.role {
            Some(role) => ours & board.by_role(role),
            None => ours,
        };
        let mut origins = pieces.into_iter().filter(|&from| reading.starts_from(from)).peekable();
        if origins.peek().is_none() {
            return if reading.is_whole() {
                IllegalReason::NoPiece
            } else {
                IllegalReason::NoSuchPiece
            };
        }
        let reasons = origins
            .map(|from| explain::why(self.position(), UciMove::Normal { from, to, promotion }));
        most_telling(reasons)
    }
}

/// What a text says of a move that is no castling.
struct Reading {
    /// None if the text has only squares.
    role: Option<Role>,
    file: Option<File>,
    rank: Option<Rank>,
    to: Square,
    promotion: Option<Role>,
}

impl Reading {
    fn all_of(word: &str) -> Vec<Self> {
        let mut readings = Vec::new();
        let named = word.chars().next().and_then(|letter| Some((letter, Role::from_char(letter)?)));
        match named {
            Some((letter, role)) if letter.is_ascii_uppercase() => {
                readings.extend(word.get(1..).and_then(|rest| Self::of(Some(role), rest)));
            }
            Some((_, role)) => {
                readings.extend(Self::without_piece(word));
                readings.extend(word.get(1..).and_then(|rest| Self::of(Some(role), rest)));
            }
            None => readings.extend(Self::without_piece(word)),
        }
        readings
    }

    /// A pawn's move, or the move of any piece if both squares are there.
    fn without_piece(word: &str) -> Option<Self> {
        let reading = Self::of(None, word)?;
        let role = if reading.is_whole() { None } else { Some(Role::Pawn) };
        Some(Self { role, ..reading })
    }

    /// The rest after the piece: where it comes from, where it goes, what it becomes.
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

    /// Whether it names the whole square that the move starts from.
    fn is_whole(&self) -> bool {
        self.file.is_some() && self.rank.is_some()
    }

    fn starts_from(&self, from: Square) -> bool {
        self.file.is_none_or(|file| file == from.file())
            && self.rank.is_none_or(|rank| rank == from.rank())
    }

    fn means(&self, mv: Move) -> bool {
        let reaches = match (mv, mv.castling_side()) {
            // Only both squares of the king's move make a castling of it.
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

/// The text in letters of SAN, without what only comments on the move.
fn tidied(text: &str) -> Option<String> {
    // The longest that means anything is shorter still.
    const LONGEST: usize = 32;
    if text.len() > LONGEST {
        return None;
    }
    let mut word = text.trim();
    let comments = ["!", "?", "+", "#", "†", "‡", "e.p.", "ep", "mate", "±", "∓", "□"];
    while let Some(shorter) = comments.iter().find_map(|comment| word.strip_suffix(comment)) {
        word = shorter.trim_end();
    }
    let mut tidied = String::new();
    for letter in word.chars() {
        match letter {
            '♔' | '♚' => tidied.push('K'),
            '♕' | '♛' => tidied.push('Q'),
            '♖' | '♜' => tidied.push('R'),
            '♗' | '♝' => tidied.push('B'),
            '♘' | '♞' => tidied.push('N'),
            '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' | ')' => {}
            ':' | '×' => tidied.push('x'),
            '–' | '—' | '‐' | '‑' | '−' => tidied.push('-'),
            letter if letter.is_whitespace() => {}
            letter => tidied.push(letter),
        }
    }
    Some(tidied)
}

fn castling(word: &str) -> Option<CastlingSide> {
    let is_castling = word.chars().all(|letter| matches!(letter, 'O' | 'o' | '0' | '-'));
    match word.chars().filter(|&letter| letter != '-').count() {
        2 if is_castling => Some(CastlingSide::KingSide),
        3 if is_castling => Some(CastlingSide::QueenSide),
        _ => None,
    }
}
