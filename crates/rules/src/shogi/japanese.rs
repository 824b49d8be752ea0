//! The Japanese notation of shogi, as records have it: `▲７六歩`, `△同　銀`, `▲５八金右`.

use rsshogi::types::{Bitboard, Color, Move, Move32, PieceType, Square};

use super::{
    ShogiBoard,
    wanted::{Direction, Wanted},
};
use crate::IllegalReason;

impl ShogiBoard {
    /// The notation of the Japan Shogi Association, with `龍` for the promoted rook and `同` for the
    /// square of the last move.
    pub(crate) fn japanese(&self, mv: Move32) -> String {
        let position = self.position();
        let to = mv.to_sq();
        let (piece, way, promotion) = if let Some(piece) = mv.dropped_piece() {
            let others = self.candidates(piece, to).any();
            (piece, if others { "打".to_owned() } else { String::new() }, "")
        } else {
            let from = mv.from_sq();
            let way = self.directions(mv).into_iter().map(Direction::word).collect();
            let promotion = if mv.is_promotion() {
                "成"
            } else if position.is_legal_move(Move::promotion(from, to)) {
                "不成"
            } else {
                ""
            };
            (position.piece_on(from).piece_type(), way, promotion)
        };
        let mark = if position.turn() == Color::BLACK { '▲' } else { '△' };
        let last = position.last_move();
        let square = if last.is_normal() && last.to_sq() == to {
            // The short form is as wide as a square.
            let alone = way.is_empty() && promotion.is_empty();
            if alone { "同　".to_owned() } else { "同".to_owned() }
        } else {
            square_name(to)
        };
        format!("{mark}{square}{}{way}{promotion}", piece_name(piece))
    }

    /// All legal moves that a text can mean, or why there is none.
    ///
    /// The mark of the player can be missing or another one of the same colour, digits can be of any
    /// width or kind, pieces go by their short and their long names, `不成` can be left out, and so
    /// can `打` where no piece of the board could go there. A square in brackets, as KIF has it,
    /// tells where the piece comes from.
    pub(crate) fn read_japanese(&self, text: &str) -> Result<Vec<Move32>, IllegalReason> {
        let Said { side, same, mut wanted } = read(text).ok_or(IllegalReason::Unreadable)?;
        if side.is_some_and(|side| side != self.position().turn()) {
            return Err(IllegalReason::WrongSide);
        }
        if same {
            let last = self.position().last_move();
            if !last.is_normal() {
                return Err(IllegalReason::NoLastMove);
            }
            wanted.to = last.to_sq();
        }
        let moves = self.resolve(&wanted)?;
        if wanted.directions.is_empty() {
            return Ok(moves);
        }
        // A straight rook is called left or right of another one, which only the exact words tell.
        let exact = moves.iter().copied().filter(|&mv| self.directions(mv) == wanted.directions);
        let exact: Vec<Move32> = exact.collect();
        if !exact.is_empty() {
            return Ok(exact);
        }
        let us = self.position().turn();
        let mut fitting = moves;
        fitting.retain(|mv| {
            let holds = |way: &Direction| way.holds(mv.from_sq(), wanted.to, us);
            wanted.directions.iter().all(holds)
        });
        if fitting.is_empty() { Err(IllegalReason::CannotReach) } else { Ok(fitting) }
    }

    /// The side's pieces of a kind that could go to a square, pinned ones too.
    fn candidates(&self, piece: PieceType, to: Square) -> Bitboard {
        let us = self.position().turn();
        self.position().attackers_to_color_current(us, to) & self.position().pieces_for(piece, us)
    }

    /// The words that tell a piece from others of its kind that could go there: how it goes, if that
    /// is enough, else from which side it comes, else both.
    fn directions(&self, mv: Move32) -> Vec<Direction> {
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
        let goes = Direction::motion(from, to, us);
        let shared =
            |direction: Direction| others.iter().any(|other| direction.holds(other, to, us));
        if !shared(goes) {
            return vec![goes];
        }
        let (left, right) = (Direction::Left, Direction::Right);
        let comes = if left.holds(from, to, us) {
            left
        } else if right.holds(from, to, us) {
            right
        } else if piece.demote() == PieceType::ROOK || piece.demote() == PieceType::BISHOP {
            // There are only two of them, so that this one is on the other's other side.
            return vec![if shared(right) { left } else { right }];
        } else {
            return vec![Direction::Straight];
        };
        if shared(comes) { vec![comes, goes] } else { vec![comes] }
    }
}

struct Said {
    side: Option<Color>,
    /// Whether it goes where the last move went (同).
    same: bool,
    wanted: Wanted,
}

fn read(text: &str) -> Option<Said> {
    // The longest that means anything is shorter still.
    const LONGEST: usize = 64;
    if text.len() > LONGEST {
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
    // Where it went last is not known here; any square does until then.
    let to = if same { Square::from_index(0) } else { square(&mut rest)? };
    let piece = eat_piece(&mut rest)?;
    let mut directions = Vec::new();
    let mut drop = None;
    while let Some(word) = eat(&mut rest, word) {
        match word {
            Word::Drop => drop = Some(true),
            Word::Direction(direction) if !directions.contains(&direction) => {
                directions.push(direction);
            }
            Word::Direction(_) => return None,
        }
    }
    directions.sort_unstable();
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
    let said_twice = drop == Some(true) && (promotes || from.is_some() || !directions.is_empty());
    if !rest.is_empty() || said_twice {
        return None;
    }
    let wanted = Wanted { piece, to, from, drop, promotes, directions };
    Some(Said { side, same, wanted })
}

enum Word {
    Direction(Direction),
    Drop,
}

fn word(letter: char) -> Option<Word> {
    Some(match letter {
        '左' => Word::Direction(Direction::Left),
        '右' => Word::Direction(Direction::Right),
        '直' => Word::Direction(Direction::Straight),
        '上' | '行' | '入' => Word::Direction(Direction::Forward),
        '寄' => Word::Direction(Direction::Sideways),
        '引' => Word::Direction(Direction::Back),
        '打' => Word::Drop,
        _ => return None,
    })
}

/// Takes the first letter if it means something.
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

fn piece_name(piece: PieceType) -> &'static str {
    PIECES.iter().find(|(_, known)| *known == piece).map_or("", |(name, _)| name)
}

/// The first name of a piece is the one that is written. A longer name stands before one that it
/// starts with.
const PIECES: [(&str, PieceType); 21] = [
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
];

fn eat_piece(rest: &mut &str) -> Option<PieceType> {
    let (name, piece) = PIECES.iter().find(|(name, _)| rest.starts_with(name))?;
    *rest = rest.get(name.len()..)?;
    Some(*piece)
}

fn eat_promotion(rest: &mut &str) -> bool {
    for (words, promotes) in [("不成", false), ("生", false), ("成", true)] {
        if let Some(shorter) = rest.strip_prefix(words) {
            *rest = shorter;
            return promotes;
        }
    }
    false
}
