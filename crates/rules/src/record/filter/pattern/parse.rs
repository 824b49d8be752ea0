//! Reads patterns.

use super::super::placement::{CODES, EMPTY, code_of, index_of, piece_of, value};
use super::{ANY, BishopColors, BoardPattern, CodeSet, Conditions, CountRange, PatternKind};
use crate::record::{FilterError, NumberRange, PatternDefect};
use crate::{Game, Piece, PieceKind, Position, Side, Square, error::shortened};

/// Maximum length of a pattern in bytes.
const MAX_TEXT: usize = 4096;

/// What is wrong with a term.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Empty,
    Unknown,
    Repeated,
    /// The value has another form than this example.
    Form(&'static str),
    RowCount,
    RowLength {
        row: usize,
        width: u8,
    },
    Letter(char),
    Games,
    Range,
    Pieces,
    Rank(Square, Game),
    Contradiction(Square, Game),
    Length,
}

const NUMBER: Fault = Fault::Form("R=1..2");
const SQUARE: Fault = Fault::Form("on=Nd5");

fn failed(term: &str, fault: Fault) -> FilterError {
    let term = shortened(term);
    FilterError::Pattern(match fault {
        Fault::Empty => PatternDefect::PatternEmpty,
        Fault::Unknown => PatternDefect::PatternTerm { term },
        Fault::Repeated => PatternDefect::PatternRepeated { term },
        Fault::Form(form) => PatternDefect::PatternForm { term, form: form.to_owned() },
        Fault::RowCount => PatternDefect::PatternRows { term },
        Fault::RowLength { row, width } => PatternDefect::PatternRow { row, width },
        Fault::Letter(letter) => PatternDefect::PatternLetter { letter },
        Fault::Games => PatternDefect::PatternGames,
        Fault::Range => PatternDefect::PatternRange { term },
        Fault::Pieces => PatternDefect::PatternPieces { term },
        Fault::Rank(square, game) => PatternDefect::PatternRank { square: square.name(game) },
        Fault::Contradiction(square, game) => {
            PatternDefect::PatternSquare { square: square.name(game) }
        }
        Fault::Length => PatternDefect::PatternLength,
    })
}

pub(super) fn read(text: &str, game: Option<Game>) -> Result<BoardPattern, FilterError> {
    if MAX_TEXT < text.len() {
        return Err(failed(text, Fault::Length));
    }
    let terms: Vec<(&str, &str)> = text
        .split_whitespace()
        .map(|term| {
            let (name, value) = term.split_once('=').unwrap_or((term, ""));
            (name, value)
        })
        .collect();
    let game = match (game_of(text, &terms)?, game) {
        (Some(shown), Some(game)) if (shown == Game::Shogi) != (game == Game::Shogi) => {
            return Err(failed(text, Fault::Games));
        }
        (shown, game) => game.or(shown).unwrap_or(Game::Chess),
    };
    let mut reader = Reader::new(game);
    for (at, &(name, value)) in terms.iter().enumerate() {
        let term = if value.is_empty() { name.to_owned() } else { format!("{name}={value}") };
        if terms.iter().take(at).any(|(before, _)| *before == name) {
            return Err(failed(&term, Fault::Repeated));
        }
        reader.term(name, value).map_err(|defect| failed(&term, defect))?;
    }
    reader.finish(text)
}

/// The game that the terms show, if any.
fn game_of(text: &str, terms: &[(&str, &str)]) -> Result<Option<Game>, FilterError> {
    let mut found: Option<bool> = None;
    for &(name, value) in terms {
        let is_shogi = match name {
            "game" => Game::from_name(value).map(|game| game == Game::Shogi),
            "board" | "pawns" => match value.split('/').count() {
                8 => Some(false),
                9 => Some(true),
                _ => None,
            },
            "on" => value.split(',').next().and_then(|first| {
                let mut last = first.chars().rev();
                match (last.next()?, last.next()?) {
                    ('1'..='8', 'a'..='h') => Some(false),
                    ('a'..='i', '1'..='9') => Some(true),
                    _ => None,
                }
            }),
            "material" | "bishops" => Some(false),
            name if name.ends_with('*') || name.starts_with('+') => Some(true),
            "Q" | "q" => Some(false),
            "G" | "g" | "S" | "s" | "L" | "l" => Some(true),
            _ => None,
        };
        if let Some(is_shogi) = is_shogi
            && *found.get_or_insert(is_shogi) != is_shogi
        {
            return Err(failed(text, Fault::Games));
        }
    }
    Ok(found.map(|is_shogi| if is_shogi { Game::Shogi } else { Game::Chess }))
}

/// The conditions that were read so far.
struct Reader {
    game: Game,
    conditions: Conditions,
    /// By square, what can be on it.
    squares: [CodeSet; 81],
    has_material: bool,
    flips: [bool; 2],
    plies: NumberRange,
    length: u32,
}

impl Reader {
    fn new(game: Game) -> Self {
        Self {
            game,
            conditions: Conditions::default(),
            squares: [ANY; 81],
            has_material: false,
            flips: [false; 2],
            plies: NumberRange { min: i64::MIN, max: i64::MAX },
            length: 1,
        }
    }

    fn term(&mut self, name: &str, value: &str) -> Result<(), Fault> {
        match name {
            "board" => {
                let board = read_placement(self.game, value)?;
                board.into_iter().try_for_each(|(square, set)| self.restrict(square, set))
            }
            "pawns" => self.pawns(value),
            "on" => value.split(',').try_for_each(|part| {
                let (square, set) = read_square(self.game, part)?;
                self.restrict(square, set)
            }),
            "material" => {
                let expected = |_| Fault::Form("material=KRPvKR");
                self.has_material = true;
                read_material(value, &mut self.conditions).map_err(expected)
            }
            "balance" => {
                let range = range(value)?;
                let limit =
                    |number: i64| i32::try_from(number.clamp(-10_000, 10_000)).unwrap_or_default();
                self.conditions.balance = Some((limit(range.min), limit(range.max)));
                Ok(())
            }
            "bishops" => {
                self.conditions.bishops = Some(match value {
                    "opposite" => BishopColors::Opposite,
                    "same" => BishopColors::Same,
                    _ => return Err(Fault::Form("bishops=opposite")),
                });
                Ok(())
            }
            "turn" => {
                self.conditions.turn = Some(match (value, self.game) {
                    ("b", Game::Shogi) | ("w", Game::Chess | Game::Chess960) => Side::First,
                    ("w", Game::Shogi) | ("b", Game::Chess | Game::Chess960) => Side::Second,
                    _ => return Err(Fault::Form("turn=w")),
                });
                Ok(())
            }
            "flip" => value.split(',').try_for_each(|part| {
                let index = ["sides", "files"].iter().position(|known| *known == part);
                let index = index.ok_or(Fault::Form("flip=sides,files"))?;
                self.flips[index] = true;
                Ok(())
            }),
            "ply" => {
                self.plies = range(value)?;
                if self.plies.max < 0 { Err(Fault::Range) } else { Ok(()) }
            }
            "for" => {
                let length = value.parse().ok().filter(|length| (1..=10_000).contains(length));
                self.length = length.ok_or(Fault::Form("for=8"))?;
                Ok(())
            }
            "game" => match Game::from_name(value) {
                Some(_) => Ok(()),
                None => Err(Fault::Form("game=shogi")),
            },
            name => self.count(name, value),
        }
    }

    /// Adds a condition on a square.
    fn restrict(&mut self, square: Square, set: CodeSet) -> Result<(), Fault> {
        let place = &mut self.squares[usize::from(index_of(self.game, square)) % 81];
        let both = *place & set;
        if both == 0 {
            return Err(Fault::Contradiction(square, self.game));
        }
        let possible = (0..32).filter(|code| both >> code & 1 == 1);
        let mut possible = possible.map(piece_of);
        if !possible.any(|piece| piece.is_none_or(|piece| can_be_on(self.game, piece, square))) {
            return Err(Fault::Rank(square, self.game));
        }
        *place = both;
        Ok(())
    }

    fn pawns(&mut self, value: &str) -> Result<(), Fault> {
        let pawns = Side::BOTH.map(|side| set_of(Piece { side, kind: PieceKind::Pawn }));
        for (square, set) in read_placement(self.game, value)? {
            let others = set & !(pawns[0] | pawns[1]) & !1;
            if set != ANY && others != 0 {
                return Err(Fault::Form("pawns=8/pp3ppp/8/8/8/8/PPP2PPP/8"));
            }
            // A digit means: no pawn.
            let allowed = if set == 1 { ANY & !(pawns[0] | pawns[1]) } else { set };
            self.restrict(square, allowed)?;
        }
        Ok(())
    }

    /// A number of pieces, on the board or in hand.
    fn count(&mut self, name: &str, value: &str) -> Result<(), Fault> {
        let unknown = Fault::Unknown;
        let (letter, in_hand) = match name.strip_suffix('*') {
            Some(letter) => (letter, true),
            None => (name, false),
        };
        if letter.trim_start_matches('+').chars().count() != 1 {
            return Err(unknown);
        }
        let piece = Piece::read(self.game, letter);
        if in_hand && self.game != Game::Shogi {
            return Err(Fault::Games);
        }
        let piece = piece.ok_or(unknown)?;
        let range = range(value)?;
        let most = max_count(self.game, piece.kind);
        if range.min > most.into() {
            return Err(Fault::Pieces);
        }
        let limit = |number: i64| u8::try_from(number.clamp(0, 255)).unwrap_or(u8::MAX);
        let range = CountRange { min: limit(range.min), max: limit(range.max) };
        if in_hand {
            let index = PieceKind::IN_HAND.iter().position(|kind| *kind == piece.kind);
            let index = index.ok_or(unknown)?;
            self.conditions.hands.push((piece.side, index, range));
        } else {
            self.conditions.counts.push((code_of(piece), range));
        }
        Ok(())
    }

    fn finish(mut self, text: &str) -> Result<BoardPattern, FilterError> {
        let failed = |defect| failed(text, defect);
        let game = self.game;
        let squares = (0_u8..81).zip(self.squares).filter(|(_, set)| *set != ANY);
        // The rarest contents first.
        let mut squares: Vec<(u8, CodeSet)> = squares.collect();
        squares.sort_by_key(|(_, set)| (set & 1, set.count_ones()));
        self.conditions.squares = squares;
        if self.conditions == (Conditions { turn: self.conditions.turn, ..Conditions::default() }) {
            return Err(failed(Fault::Empty));
        }
        let positions = self.plies.max.saturating_sub(self.plies.min.max(0)).saturating_add(1);
        if positions < self.length.into() {
            return Err(failed(Fault::Length));
        }
        self.check_counts().map_err(failed)?;
        let conditions = self.conditions;
        let mut alternatives = vec![conditions];
        if self.flips[0] || self.has_material {
            alternatives.push(alternatives[0].with_sides_exchanged(game));
        }
        if self.flips[1] {
            let mirrored: Vec<Conditions> = alternatives
                .iter()
                .map(|conditions| conditions.with_files_exchanged(game))
                .collect();
            alternatives.extend(mirrored);
        }
        for conditions in &mut alternatives {
            // They compare equal if they are.
            conditions.squares.sort_by_key(|(square, set)| (set & 1, set.count_ones(), *square));
            conditions.counts.sort_by_key(|(code, _)| *code);
        }
        alternatives.dedup();
        let (plies, length) = (self.plies, self.length);
        Ok(BoardPattern { plies, length, ..BoardPattern::new(game, alternatives) })
    }

    /// Whether a side can have the pieces.
    fn check_counts(&self) -> Result<(), Fault> {
        let minimum = self.conditions.minimum();
        let mut total = [0_u32; 2];
        for (code, &count) in (0..).zip(&minimum) {
            let Some(piece) = piece_of(code) else { continue };
            total[piece.side.index()] += u32::from(count);
            if max_count(self.game, piece.kind) < count {
                return Err(Fault::Pieces);
            }
        }
        let most = if self.game == Game::Shogi { 40 } else { 16 };
        if total.into_iter().any(|total| total > most) {
            return Err(Fault::Pieces);
        }
        for (code, range) in &self.conditions.counts {
            if minimum[usize::from(*code) % CODES] > range.max {
                return Err(Fault::Pieces);
            }
        }
        if let Some((min, max)) = self.conditions.balance {
            // Nine queens, two rooks and four minor pieces; in shogi all pieces.
            let kinds = PieceKind::IN_HAND
                .map(|kind| i32::from(max_count(Game::Shogi, kind)) * value(Game::Shogi, kind));
            let most = if self.game == Game::Shogi { kinds.iter().sum() } else { 103 };
            if min > most || max < -most {
                return Err(Fault::Pieces);
            }
        }
        Ok(())
    }
}

/// The largest number of pieces of a kind that a side can have.
fn max_count(game: Game, kind: PieceKind) -> u8 {
    match (game, kind.unpromoted()) {
        (_, PieceKind::King) => 1,
        (Game::Shogi, PieceKind::Pawn) => 18,
        (Game::Shogi, PieceKind::Rook | PieceKind::Bishop) => 2,
        (Game::Shogi, _) => 4,
        (_, PieceKind::Pawn) => 8,
        (_, PieceKind::Queen) => 9,
        (_, _) => 10,
    }
}

/// Whether a piece can be on a square: pawns, and lances and knights in shogi, need moves ahead.
fn can_be_on(game: Game, piece: Piece, square: Square) -> bool {
    let ahead = match piece.side {
        Side::First => square.row(),
        Side::Second => game.width() - 1 - square.row(),
    };
    match (game, piece.kind) {
        (Game::Shogi, PieceKind::Knight) => ahead > 1,
        (Game::Shogi, PieceKind::Pawn | PieceKind::Lance) => ahead > 0,
        (Game::Chess | Game::Chess960, PieceKind::Pawn) => (1..=6).contains(&ahead),
        _ => true,
    }
}

fn set_of(piece: Piece) -> CodeSet {
    1 << code_of(piece)
}

/// The pieces that a character or several in brackets mean. `letters` is what follows.
fn read_set(game: Game, letters: &mut std::str::Chars<'_>) -> Result<CodeSet, Fault> {
    let side = |side: Side| {
        (1_u8..32).filter(move |code| piece_of(*code).is_some_and(|it| it.side == side))
    };
    let bits = |codes: &mut dyn Iterator<Item = u8>| codes.fold(0, |set, code| set | 1 << code);
    let letter = letters.next().ok_or(SQUARE)?;
    Ok(match letter {
        '?' => ANY,
        '-' => 1 << EMPTY,
        '!' => ANY & !(1 << EMPTY),
        'A' => bits(&mut side(Side::First)),
        'a' => bits(&mut side(Side::Second)),
        '[' => {
            let mut set = 0;
            loop {
                match letters.clone().next() {
                    None | Some('[') => return Err(Fault::Letter('[')),
                    Some(']') => {
                        letters.next();
                        break if set == 0 { Err(Fault::Letter(']'))? } else { set };
                    }
                    Some(_) => set |= read_set(game, letters)?,
                }
            }
        }
        '+' => {
            let letter = letters.next().ok_or(Fault::Letter('+'))?;
            let piece = Piece::read(game, &format!("+{letter}"));
            set_of(piece.ok_or(Fault::Letter(letter))?)
        }
        letter => {
            let piece = Piece::read(game, letter.encode_utf8(&mut [0; 4]));
            set_of(piece.ok_or(Fault::Letter(letter))?)
        }
    })
}

/// A piece on a square.
fn read_square(game: Game, text: &str) -> Result<(Square, CodeSet), Fault> {
    let mut letters = text.chars();
    let set = read_set(game, &mut letters)?;
    Ok((Square::read(game, letters.as_str()).ok_or(SQUARE)?, set))
}

/// The squares of a placement, row by row.
fn read_placement(game: Game, text: &str) -> Result<Vec<(Square, CodeSet)>, Fault> {
    let width = game.width();
    if text.split('/').count() != usize::from(width) {
        return Err(Fault::RowCount);
    }
    let mut squares = Vec::new();
    for (row, part) in (0_u8..).zip(text.split('/')) {
        let wrong = Fault::RowLength { row: usize::from(row) + 1, width };
        let mut sets: Vec<CodeSet> = Vec::new();
        let mut letters = part.chars();
        while let Some(letter) = letters.clone().next() {
            match letter {
                '1'..='9' => {
                    letters.next();
                    let count = letter.to_digit(10).unwrap_or_default();
                    sets.extend(std::iter::repeat_n(1 << EMPTY, count as usize));
                }
                '*' if letters.as_str() == "*" => {
                    letters.next();
                    sets.resize(usize::from(width).max(sets.len()), ANY);
                }
                // A mark of promoted pieces in some forms of FEN.
                '~' if game != Game::Shogi => drop(letters.next()),
                _ => sets.push(read_set(game, &mut letters)?),
            }
        }
        if sets.len() != usize::from(width) {
            return Err(wrong);
        }
        for (column, set) in (0_u8..).zip(sets) {
            squares.push((Square::new(game, column, row).ok_or(wrong)?, set));
        }
    }
    Ok(squares)
}

/// Adds the pieces of both sides in chess, of the first side first.
pub(super) fn read_material(text: &str, conditions: &mut Conditions) -> Result<(), FilterError> {
    let text = text.trim();
    let invalid = || FilterError::Material(text.to_owned());
    // `KRPKR` is the form of table names of some programs.
    let before_second_king =
        || text.rmatch_indices('K').find_map(|(at, _)| text.split_at_checked(at));
    let (first, second) = text
        .split_once(['v', 'V', ':', '-'])
        .or_else(before_second_king)
        .filter(|(first, _)| !first.is_empty())
        .ok_or_else(invalid)?;
    for (side, letters) in Side::BOTH.into_iter().zip([first, second]) {
        let kind = |letter: char| PieceKind::from_letter(Game::Chess, letter).ok_or_else(invalid);
        let kinds = letters.chars().filter(|letter| *letter != '*').map(kind);
        let kinds: Vec<PieceKind> = kinds.collect::<Result<_, _>>()?;
        for kind in [
            PieceKind::King,
            PieceKind::Queen,
            PieceKind::Rook,
            PieceKind::Bishop,
            PieceKind::Knight,
            PieceKind::Pawn,
        ] {
            let count = kinds.iter().filter(|known| **known == kind).count();
            let min = u8::try_from(count).map_err(|_| invalid())?;
            let max = if letters.contains('*') { u8::MAX } else { min };
            conditions.counts.push((code_of(Piece { side, kind }), CountRange { min, max }));
        }
    }
    Ok(())
}

fn range(text: &str) -> Result<NumberRange, Fault> {
    // `-3..-1`: a minus sign is not a separator.
    let parts = text.split_once("..").unwrap_or((text, text));
    let limit = |part: &str, open: i64| match part {
        "" => Ok(open),
        part => part.parse().map_err(|_| NUMBER),
    };
    if text.is_empty() {
        return Err(NUMBER);
    }
    let range = NumberRange { min: limit(parts.0, i64::MIN)?, max: limit(parts.1, i64::MAX)? };
    if range.min > range.max { Err(Fault::Range) } else { Ok(range) }
}

/// Reads a FEN or an SFEN, complete or with its first fields only.
pub(super) fn read_position(text: &str) -> Result<PatternKind, FilterError> {
    let invalid = || FilterError::Position(text.to_owned());
    let text = text.trim();
    let text = text.strip_prefix("position ").unwrap_or(text).trim_start();
    let text = text.strip_prefix("sfen ").or_else(|| text.strip_prefix("fen ")).unwrap_or(text);
    let fields: Vec<&str> = text.split_whitespace().collect();
    let placement = *fields.first().ok_or_else(invalid)?;
    let game = match placement.split('/').count() {
        8 => Game::Chess,
        9 => Game::Shogi,
        _ => return Err(invalid()),
    };
    let squares = read_placement(game, placement).map_err(|_| invalid())?;
    let is_exact = squares.iter().all(|(_, set)| set.is_power_of_two());
    if is_exact && fields.len() >= 3 {
        let text = match (game, fields.as_slice()) {
            (Game::Shogi, [placement, turn, hands, ..]) => format!("{placement} {turn} {hands} 1"),
            (_, [placement, turn, castling, en_passant, ..]) => {
                format!("{placement} {turn} {castling} {en_passant} 0 1")
            }
            (_, fields) => format!("{} - 0 1", fields.join(" ")),
        };
        let read = Position::from_text(game, &text)
            .or_else(|error| Position::from_text(Game::Chess960, &text).map_err(|_| error));
        let position = read.map_err(|_| invalid())?;
        return Ok(PatternKind::Key { shogi: game == Game::Shogi, key: position.key() });
    }
    let mut conditions = Conditions {
        turn: match (fields.get(1).copied(), game) {
            (None | Some("-" | "*"), _) => None,
            (Some("w"), Game::Chess | Game::Chess960) | (Some("b"), Game::Shogi) => {
                Some(Side::First)
            }
            (Some("b"), Game::Chess | Game::Chess960) | (Some("w"), Game::Shogi) => {
                Some(Side::Second)
            }
            _ => return Err(invalid()),
        },
        ..Conditions::default()
    };
    let squares = squares.into_iter().filter(|(_, set)| *set != ANY);
    conditions.squares = squares.map(|(square, set)| (index_of(game, square), set)).collect();
    conditions.squares.sort_by_key(|(_, set)| (set & 1, set.count_ones()));
    Ok(PatternKind::Placement(BoardPattern::new(game, vec![conditions])))
}
