//! The Japanese notation of shogi, as in game records: `▲７六歩`, `△同　銀`, `▲５八金右`.

use rsshogi::types::{Bitboard, Color, Move, Move32, PieceType, Square};

use super::{
    ShogiBoard,
    query::{Direction, MoveQuery},
};
use crate::IllegalReason;

impl ShogiBoard {
    /// The notation of the Japan Shogi Association, with `龍` for the promoted rook and `同` for the
    /// square of the last move.
    pub(crate) fn japanese(&self, mv: Move32) -> String {
        let position = self.position();
        let to = mv.to_sq();
        let (piece, modifiers, promotion) = if let Some(piece) = mv.dropped_piece() {
            let others = self.candidates(piece, to).any();
            (piece, if others { "打".to_owned() } else { String::new() }, "")
        } else {
            let from = mv.from_sq();
            let modifiers = self.modifiers(mv).into_iter().map(Direction::kanji).collect();
            let promotion = if mv.is_promotion() {
                "成"
            } else if position.is_legal_move(Move::promotion(from, to)) {
                "不成"
            } else {
                ""
            };
            (position.piece_on(from).piece_type(), modifiers, promotion)
        };
        let mark = if position.turn() == Color::BLACK { '▲' } else { '△' };
        let last = position.last_move();
        let square = if last.is_normal() && last.to_sq() == to {
            // The short form has the width of a square.
            let alone = modifiers.is_empty() && promotion.is_empty();
            if alone { "同　".to_owned() } else { "同".to_owned() }
        } else {
            square_name(to)
        };
        format!("{mark}{square}{}{modifiers}{promotion}", kanji_name(piece))
    }

    /// All legal moves that a text can mean, or the reason for the rejection.
    ///
    /// The player's mark can be missing or another one of the same side. Digits can have any width or
    /// kind, and pieces their short and long names. `不成` can be left out, and `打` if no piece on the
    /// board can move there. A square in brackets is the origin, as in KIF.
    pub(crate) fn read_japanese(&self, text: &str) -> Result<Vec<Move32>, IllegalReason> {
        let Parsed { side, same, mut query } = read(text).ok_or(IllegalReason::InvalidMove)?;
        if side.is_some_and(|side| side != self.position().turn()) {
            return Err(IllegalReason::WrongSide);
        }
        if same {
            let last = self.position().last_move();
            if !last.is_normal() {
                return Err(IllegalReason::NoPreviousMove);
            }
            query.to = last.to_sq();
        }
        let moves = self.resolve(&query)?;
        if query.directions.is_empty() {
            return Ok(moves);
        }
        // A straight rook is left or right of another one, so the exact modifiers have precedence.
        let exact = moves.iter().copied().filter(|&mv| self.modifiers(mv) == query.directions);
        let exact: Vec<Move32> = exact.collect();
        if !exact.is_empty() {
            return Ok(exact);
        }
        let us = self.position().turn();
        let mut fitting = moves;
        fitting.retain(|mv| {
            let holds = |direction: &Direction| direction.holds(mv.from_sq(), query.to, us);
            query.directions.iter().all(holds)
        });
        if fitting.is_empty() { Err(IllegalReason::Unreachable) } else { Ok(fitting) }
    }

    /// The side's pieces of a kind that could move to a square, including pinned ones.
    fn candidates(&self, piece: PieceType, to: Square) -> Bitboard {
        let us = self.position().turn();
        self.position().attackers_to_color_current(us, to) & self.position().pieces_for(piece, us)
    }

    /// The modifiers that distinguish a piece from others of its kind that could move there: its motion
    /// if that suffices, otherwise the side that it comes from, otherwise both.
    fn modifiers(&self, mv: Move32) -> Vec<Direction> {
        if mv.is_drop() {
            return Vec::new();
        }
        let (us, from, to) = (self.position().turn(), mv.from_sq(), mv.to_sq());
        let piece = self.position().piece_on(from).piece_type();
        let mut others = self.candidates(piece, to);
        others.clear(from);
        if others.is_empty() {
            return Vec::new();
        }
        let motion = Direction::motion(from, to, us);
        let shared =
            |direction: Direction| others.iter().any(|other| direction.holds(other, to, us));
        if !shared(motion) {
            return vec![motion];
        }
        let (left, right) = (Direction::Left, Direction::Right);
        let origin = if left.holds(from, to, us) {
            left
        } else if right.holds(from, to, us) {
            right
        } else if piece.demote() == PieceType::ROOK || piece.demote() == PieceType::BISHOP {
            // There are only two of them, so this one is on the opposite side of the other.
            return vec![if shared(right) { left } else { right }];
        } else {
            return vec![Direction::Straight];
        };
        if shared(origin) { vec![origin, motion] } else { vec![origin] }
    }
}

struct Parsed {
    side: Option<Color>,
    /// Whether the target is that of the last move (同).
    same: bool,
    query: MoveQuery,
}

fn read(text: &str) -> Option<Parsed> {
    // Longer than any move.
    const MAX_LEN: usize = 64;
    if text.len() > MAX_LEN {
        return None;
    }
    let letters: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let mut rest = letters.as_str();
    let side = eat(&mut rest, |letter| match letter {
        '▲' | '☗' | '▼' => Some(Color::BLACK),
        '△' | '☖' | '▽' => Some(Color::WHITE),
        _ => None,
    });
    let same = eat(&mut rest, |letter| (letter == '同').then_some(())).is_some();
    // The last target is not known here; the caller sets it.
    let to = if same { Square::from_index(0) } else { square(&mut rest)? };
    let (piece, after) = piece_by_kanji(rest)?;
    rest = after;
    let mut directions = Vec::new();
    let mut drop = None;
    while let Some(modifier) = eat(&mut rest, modifier) {
        match modifier {
            Modifier::Drop => drop = Some(true),
            Modifier::Direction(direction) if !directions.contains(&direction) => {
                let place = directions.partition_point(|before| *before < direction);
                directions.insert(place, direction);
            }
            Modifier::Direction(_) => return None,
        }
    }
    let promotes = eat_promotion(&mut rest);
    let from = match rest.strip_prefix(['(', '（']) {
        Some(inner) => {
            rest = inner;
            let from = square(&mut rest)?;
            rest = rest.strip_prefix([')', '）'])?;
            Some(from)
        }
        None => None,
    };
    let contradicts = drop == Some(true) && (promotes || from.is_some() || !directions.is_empty());
    if !rest.is_empty() || contradicts {
        return None;
    }
    let query = MoveQuery { piece, to, from, drop, promotes, directions };
    Some(Parsed { side, same, query })
}

enum Modifier {
    Direction(Direction),
    Drop,
}

fn modifier(letter: char) -> Option<Modifier> {
    Some(match letter {
        '左' => Modifier::Direction(Direction::Left),
        '右' => Modifier::Direction(Direction::Right),
        '直' => Modifier::Direction(Direction::Straight),
        '上' | '行' | '入' => Modifier::Direction(Direction::Forward),
        '寄' => Modifier::Direction(Direction::Sideways),
        '引' => Modifier::Direction(Direction::Back),
        '打' => Modifier::Drop,
        _ => return None,
    })
}

/// Consumes the first letter if it has a meaning.
fn eat<T>(rest: &mut &str, meaning: impl FnOnce(char) -> Option<T>) -> Option<T> {
    let mut letters = rest.chars();
    let meant = meaning(letters.next()?)?;
    *rest = letters.as_str();
    Some(meant)
}

fn square(rest: &mut &str) -> Option<Square> {
    let file = eat(rest, digit)?;
    let rank = eat(rest, digit)?;
    let rank = char::from_digit(rank.checked_add(9)?, 36)?;
    Square::from_usi(&format!("{file}{rank}"))
}

/// A digit from 1 to 9 of half or full width, or in kanji.
fn digit(letter: char) -> Option<u32> {
    let index = DIGITS.iter().find_map(|row| row.chars().position(|known| known == letter))?;
    u32::try_from(index).ok()?.checked_add(1)
}

const DIGITS: [&str; 3] = ["１２３４５６７８９", "一二三四五六七八九", "123456789"];

fn square_name(square: Square) -> String {
    let (file, rank) = (square.file().raw(), square.rank().raw());
    let [wide, kanji, _] = DIGITS;
    let nth = |row: &str, index: i8| row.chars().nth(usize::from(index.unsigned_abs()));
    nth(wide, file).into_iter().chain(nth(kanji, rank)).collect()
}

/// The name of a piece, as it is written.
pub(crate) fn kanji_name(piece: PieceType) -> &'static str {
    PIECES.iter().find(|(_, known)| *known == piece).map_or("", |(name, _)| name)
}

/// The piece whose name is a prefix of a text, and the rest of the text.
pub(crate) fn piece_by_kanji(text: &str) -> Option<(PieceType, &str)> {
    PIECES.iter().find_map(|(name, piece)| Some((*piece, text.strip_prefix(name)?)))
}

/// The first name of a piece is the one that is written. A name precedes its own prefixes.
const PIECES: [(&str, PieceType); 22] = [
    ("成香", PieceType::PRO_LANCE),
    ("成桂", PieceType::PRO_KNIGHT),
    ("成銀", PieceType::PRO_SILVER),
    ("歩", PieceType::PAWN),
    ("香", PieceType::LANCE),
    ("桂", PieceType::KNIGHT),
    ("銀", PieceType::SILVER),
    ("金", PieceType::GOLD),
    ("角", PieceType::BISHOP),
    ("飛", PieceType::ROOK),
    ("玉", PieceType::KING),
    ("王", PieceType::KING),
    ("と", PieceType::PRO_PAWN),
    ("杏", PieceType::PRO_LANCE),
    ("圭", PieceType::PRO_KNIGHT),
    ("全", PieceType::PRO_SILVER),
    ("馬", PieceType::HORSE),
    ("龍", PieceType::DRAGON),
    ("竜", PieceType::DRAGON),
    ("成角", PieceType::HORSE),
    ("成飛", PieceType::DRAGON),
    ("成歩", PieceType::PRO_PAWN),
];

fn eat_promotion(rest: &mut &str) -> bool {
    for (suffix, promotes) in [("不成", false), ("生", false), ("成", true)] {
        if let Some(shorter) = rest.strip_prefix(suffix) {
            *rest = shorter;
            return promotes;
        }
    }
    false
}
