//! Moves in the notations of programs and of handwritten records, and the suffixes after them.

use shakmaty::{
    Bitboard, Chess, Color, File, Piece, Position as _, Rank, Role, Square,
    san::{San, SanError as ShakmatyError},
    uci::UciMove,
};

use crate::{
    ChessBoard, GameResult, IllegalReason, Move, MoveError, Notation, Position,
    chess::{candidates, read_exact},
    error::shortened,
};

use super::{BEGINS_SYMBOL, NAG_SYMBOLS};

/// Whether a text is a null move: of `ChessBase`, SCID, UCI, Winboard, or of other programs.
pub(super) fn is_null_move(text: &[u8]) -> bool {
    matches!(text, b"--" | b"Z0" | b"0000" | b"@@@@" | b"null" | b"pass")
}

/// The move of a text in SAN or in another form, with the languages of the pieces.
pub(super) fn read_move(
    position: &Chess,
    text: &[u8],
    languages: &mut Languages,
) -> Option<shakmaty::Move> {
    if let Some(mv) = read_exact_move(position, text, languages) {
        return Some(mv);
    }
    // Most other texts are no moves: this bounds the time of reading them.
    if !resembles_move(text) {
        return None;
    }
    if languages.is_foreign() {
        return languages.read(position, text);
    }
    let san = San::from_ascii(text);
    if let Ok(san) = &san
        && let Ok(mv) = san.to_move(position)
    {
        if !mv.is_castle() {
            languages.note(mv.role(), mv.promotion());
        }
        return Some(mv);
    }
    read_other_form(position, text, &san).or_else(|| languages.read(position, text))
}

/// The legal move of a text in exact SAN with English letters.
#[inline]
pub(super) fn read_exact_move(
    position: &Chess,
    text: &[u8],
    languages: &mut Languages,
) -> Option<shakmaty::Move> {
    if languages.is_foreign() {
        return None;
    }
    let mv = read_exact(position, text)?;
    languages.note(mv.role(), mv.promotion());
    Some(mv)
}

/// Whether a text can be a move: it has a square, begins like castling, or is a null move.
pub(super) fn resembles_move(text: &[u8]) -> bool {
    let square = |pair: &[u8]| matches!(pair, [b'a'..=b'h' | b'A'..=b'H', b'1'..=b'8']);
    let is_castling = |next: u8| matches!(next, b'O' | b'o' | b'0' | b'-') || !next.is_ascii();
    match text {
        [] | [_] => false,
        [b'O' | b'o' | b'0', next, ..] if is_castling(*next) => true,
        _ => text.windows(2).any(square) || is_null_move(text),
    }
}

/// The legal move before the first character that SAN lacks, and its length: a fast form of
/// [`read_prefix`] for most texts.
pub(super) fn read_before_separator(
    position: &Chess,
    text: &[u8],
    languages: &mut Languages,
) -> Option<(shakmaty::Move, usize)> {
    let separates = |byte: &u8| SEPARATES[usize::from(*byte)];
    let length = text.iter().take(MAX_SAN + 1).position(separates)?;
    Some((read_exact_move(position, text.get(..length)?, languages)?, length))
}

/// ASCII characters that no notation of moves has.
static SEPARATES: [bool; 256] = {
    let separators = b",/|'&_~`^%\\";
    let mut table = [false; 256];
    let mut index = 0;
    while index < separators.len() {
        table[separators[index] as usize] = true;
        index += 1;
    }
    table
};

/// Bytes of the longest move in SAN.
const MAX_SAN: usize = 8;

/// The longest beginning of a text that is a legal move in SAN, and the text after it. The text after it
/// cannot belong to the move: it is a result, a sign, or begins with a character that SAN lacks.
pub(super) fn read_prefix<'a>(
    position: &Chess,
    text: &'a str,
    languages: &mut Languages,
) -> Option<(shakmaty::Move, &'a str)> {
    let mut first = None;
    for length in (2..=MAX_SAN.min(text.len().saturating_sub(1))).rev() {
        let Some((san, rest)) = text.split_at_checked(length) else { continue };
        if !san.is_ascii() || !ends_move(rest) {
            continue;
        }
        let Some(mv) = read_san(position, san.as_bytes(), languages) else { continue };
        // In `Nf3+=` the sign of check can belong to the evaluation.
        if !san.ends_with(['+', '#']) || gives_check(position, mv) {
            return Some((mv, rest));
        }
        first.get_or_insert((mv, rest));
    }
    first
}

fn gives_check(position: &Chess, mv: shakmaty::Move) -> bool {
    let mut after = position.clone();
    after.play_unchecked(mv);
    after.is_check()
}

/// The legal move of a text in SAN, with zeros in castling and the piece letters of the game.
fn read_san(position: &Chess, text: &[u8], languages: &mut Languages) -> Option<shakmaty::Move> {
    if languages.is_foreign() {
        return languages.read(position, text);
    }
    if let Some(mv) = read_exact_move(position, text, languages) {
        return Some(mv);
    }
    let castling = text.starts_with(b"0").then(|| normalized(text));
    let san = San::from_ascii(castling.as_deref().unwrap_or(text)).ok()?;
    let mv = san.to_move(position).ok()?;
    if !mv.is_castle() {
        languages.note(mv.role(), mv.promotion());
    }
    Some(mv)
}

/// Whether a text after a move cannot be a part of it.
fn ends_move(rest: &str) -> bool {
    if GameResult::from_text(rest).is_some() {
        return true;
    }
    let rest = match sign_at_start(rest) {
        Some(sign) => rest.strip_prefix(sign).unwrap_or(rest),
        None => rest,
    };
    let Some(letter) = rest.chars().next() else { return true };
    // A piece, a square, a capture, a promotion, a check, or the target after an origin.
    let can_belong = letter.is_alphanumeric()
        || matches!(letter, '+' | '#' | '=' | '-' | ':' | '@' | '×' | '†' | '‡')
        || matches!(letter, '\u{2010}'..='\u{2015}' | '−' | '♔'..='♟' | '\u{fe0e}' | '\u{fe0f}');
    !can_belong || rest == ":"
}

/// Whether a text can begin with a sign, a number, or a sign of an en passant capture.
pub(super) fn can_begin_sign(text: &[u8]) -> bool {
    let first = text.first().copied().unwrap_or_default();
    BEGINS_SYMBOL[usize::from(first)] || matches!(first, b'0'..=b'9' | b'e' | b'p')
}

fn begins_sign(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| BEGINS_SYMBOL[usize::from(first)])
}

/// The longest sign of a NAG at the start of a text.
pub(super) fn sign_at_start(text: &str) -> Option<&'static str> {
    if !begins_sign(text) {
        return None;
    }
    let symbols = NAG_SYMBOLS.iter().map(|(symbol, ..)| *symbol);
    symbols.filter(|symbol| text.starts_with(symbol)).max_by_key(|symbol| symbol.len())
}

fn read_other_form(
    position: &Chess,
    text: &[u8],
    san: &Result<San, shakmaty::san::ParseSanError>,
) -> Option<shakmaty::Move> {
    // A form of SAN that fits several moves has no other reading.
    if let Ok(san) = san
        && san.to_move(position) == Err(ShakmatyError::AmbiguousSan)
    {
        return None;
    }
    let tidy = San::from_ascii(&normalized(text)).map(|san| san.to_move(position));
    if let Ok(Ok(mv)) = tidy {
        return Some(mv);
    }
    by_squares(position, text)
}

/// The reason why a text is not a move. `None` if it does not look like one.
pub(super) fn why_not(position: &Chess, text: &str) -> Option<MoveError> {
    let square = |pair: &[u8]| match pair {
        [file, rank] => matches!(file, b'a'..=b'h') && matches!(rank, b'1'..=b'8'),
        _ => false,
    };
    let is_castling = matches!(text.as_bytes(), [b'O' | b'0' | b'o', b'-', ..]);
    if is_null_move(text.as_bytes()) {
        return Some(MoveError::new("--", IllegalReason::KingInCheck));
    }
    if !is_castling && !text.as_bytes().windows(2).any(square) {
        return None;
    }
    let board = Position::from_chess(ChessBoard::without_history(position.clone()));
    Some(match board.parse(text, Notation::Western) {
        Err(error) => error,
        Ok(_) => MoveError::new(&shortened(text), IllegalReason::InvalidMove),
    })
}

/// The only candidate of an ambiguous move with which the moves after it are legal.
pub(super) fn resolve(
    position: &Chess,
    error: &MoveError,
    upcoming: &[u8],
) -> Option<shakmaty::Move> {
    if error.reason != IllegalReason::AmbiguousMove {
        return None;
    }
    let mut fitting = error.candidates.iter().filter_map(|uci| {
        let mv = UciMove::from_ascii(uci.as_bytes()).ok()?.to_move(position).ok()?;
        let mut after = position.clone();
        after.play_unchecked(mv);
        are_legal(after, upcoming).then_some(mv)
    });
    let found = fitting.next()?;
    fitting.next().is_none().then_some(found)
}

/// Whether the moves of a text are legal, up to the end of the line or an ambiguous move.
fn are_legal(mut position: Chess, text: &[u8]) -> bool {
    let is_special = |byte: &u8| byte.is_ascii_whitespace() || b"{};()[*".contains(byte);
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some((&byte, after)) = rest.split_first() {
        rest = match byte {
            b'{' => after.iter().position(|byte| *byte == b'}').map_or(&[][..], |at| &after[at..]),
            b';' => after.iter().position(|byte| *byte == b'\n').map_or(&[][..], |at| &after[at..]),
            b'[' | b'*' => return true,
            b'(' => {
                depth += 1;
                after
            }
            b')' if depth == 0 => return true,
            b')' => {
                depth -= 1;
                after
            }
            _ if is_special(&byte) => after,
            _ => {
                let end = rest.iter().position(is_special);
                // The last text can be incomplete.
                let Some(end) = end else { return true };
                let (symbol, later) = rest.split_at(end);
                if depth == 0 {
                    if matches!(symbol, b"1-0" | b"0-1" | b"1/2-1/2") {
                        return true;
                    }
                    match next_move(&position, symbol) {
                        Some(Ok(mv)) => position.play_unchecked(mv),
                        Some(Err(error)) => return error == ShakmatyError::AmbiguousSan,
                        None => {}
                    }
                }
                later
            }
        };
    }
    true
}

/// The move of a symbol, which can begin with a number. `None` if it is no move.
fn next_move(position: &Chess, symbol: &[u8]) -> Option<Result<shakmaty::Move, ShakmatyError>> {
    let number = symbol.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut text = match symbol.get(number..) {
        Some(rest @ [b'.', ..]) => rest,
        _ => symbol,
    };
    while let [b'.', rest @ ..] = text {
        text = rest;
    }
    let marks = text.iter().rev().take_while(|byte| matches!(byte, b'!' | b'?')).count();
    let san = San::from_ascii(&normalized(&text[..text.len() - marks])).ok()?;
    Some(san.to_move(position))
}

/// A move in one of the lenient forms of [`Position::parse`], such as with figurines.
pub(super) fn read_lenient(position: &Chess, text: &str) -> Option<shakmaty::Move> {
    let board = Position::from_chess(ChessBoard::without_history(position.clone()));
    match board.parse(text, Notation::Western) {
        Ok(Move::Chess(mv)) => Some(mv),
        Ok(Move::Shogi(_)) | Err(_) => None,
    }
}

/// The move that a text denotes against the rules. `None` if its squares are unknown.
pub(super) fn illegal_move(position: &Chess, text: &str) -> Option<shakmaty::Move> {
    let mv = unchecked_move(position, text)?;
    (!position.is_legal(mv)).then_some(mv)
}

fn unchecked_move(position: &Chess, text: &str) -> Option<shakmaty::Move> {
    let (board, turn) = (position.board(), position.turn());
    let squares: String =
        text.trim_start_matches(['K', 'Q', 'R', 'B', 'N']).split(['-', 'x', ':']).collect();
    let uci = ChessBoard::without_history(position.clone()).parse_unchecked(&squares);
    if uci.is_some() {
        return uci;
    }
    match San::from_ascii(&normalized(text.as_bytes())).ok()? {
        San::Normal { role, file, rank, to, promotion, .. } => {
            let file = file.map_or(Bitboard::FULL, Bitboard::from_file);
            let rank = rank.map_or(Bitboard::FULL, Bitboard::from_rank);
            let pieces = board.by_piece(Piece { color: turn, role }) & file & rank;
            let from = pieces
                .single_square()
                .or_else(|| (pieces & candidates(position, role, to)).single_square())?;
            Some(shakmaty::Move::Normal { role, from, capture: board.role_at(to), to, promotion })
        }
        San::Castle(side) => {
            let king = board.king_of(turn)?;
            let corner = Square::from_coords(
                if side.is_king_side() { File::H } else { File::A },
                turn.fold_wb(Rank::First, Rank::Eighth),
            );
            let rook = position.castles().rook(turn, side).unwrap_or(corner);
            (king.rank() == rook.rank() && king != rook)
                .then_some(shakmaty::Move::Castle { king, rook })
        }
        San::Put { .. } | San::Null => None,
    }
}

/// The NAG of a symbol after a move of a side.
pub(super) fn nag_of(symbol: &str, mover: Color) -> Option<u8> {
    if !begins_sign(symbol) {
        return None;
    }
    let (_, white, black) = NAG_SYMBOLS.iter().find(|(known, ..)| *known == symbol)?;
    Some(mover.fold_wb(*white, *black))
}

/// Splits a sign such as `‼` or `±` from the end of a move.
pub(super) fn split_sign(text: &str) -> Option<(&str, &str)> {
    let symbols =
        NAG_SYMBOLS.iter().map(|(symbol, ..)| *symbol).filter(|symbol| !symbol.is_ascii());
    let sign = symbols.filter(|symbol| text.ends_with(symbol)).max_by_key(|symbol| symbol.len())?;
    let mv = text.strip_suffix(sign)?;
    (!mv.is_empty()).then_some((mv, sign))
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
fn by_squares(position: &Chess, text: &[u8]) -> Option<shakmaty::Move> {
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

/// Languages with their letters of king, queen, rook, bishop and knight.
///
/// Dutch is not among them: its `P` for a knight is also that of a pawn.
const LANGUAGES: [(&str, [u8; 5]); 7] = [
    ("German", *b"KDTLS"),
    ("French", *b"RDTFC"),
    ("Spanish or Italian", *b"RDTAC"),
    ("Portuguese", *b"RDTBC"),
    ("Polish", *b"KHWGS"),
    ("Czech", *b"KDVSJ"),
    ("Hungarian", *b"KVBFH"),
];

const ENGLISH: [u8; 5] = *b"KQRBN";

/// The languages that the piece letters of a game can have.
#[derive(Debug, Clone)]
pub(super) struct Languages {
    /// Bits of the roles that were read in English.
    english: u8,
    /// Bits of the languages that fit all moves. None before the first move that is not English.
    fitting: u16,
}

impl Languages {
    pub(super) fn new() -> Self {
        Self { english: 0, fitting: 0 }
    }

    fn is_foreign(&self) -> bool {
        self.fitting != 0
    }

    /// The name of the language, if it is not English.
    pub(super) fn name(&self) -> Option<&'static str> {
        let index = usize::try_from(self.fitting.trailing_zeros()).ok()?;
        LANGUAGES.get(index).map(|(name, _)| *name)
    }

    fn note(&mut self, role: Role, promotion: Option<Role>) {
        let role = promotion.unwrap_or(role);
        if role != Role::Pawn {
            self.english |= 1 << index_of(role);
        }
    }

    /// Reads a move in the languages that fit the earlier moves, and retains those that fit this one.
    fn read(&mut self, position: &Chess, text: &[u8]) -> Option<shakmaty::Move> {
        let is_foreign = |byte: &u8| byte.is_ascii_uppercase() && !b"KQRBNO".contains(byte);
        if !self.is_foreign() && !text.iter().any(is_foreign) {
            return None;
        }
        let fits = |letters: &[u8; 5]| {
            let known = (0..5).filter(|index| self.english & (1 << index) != 0);
            known.into_iter().all(|index| letters.get(index) == ENGLISH.get(index))
        };
        let mut found = None;
        let mut fitting = 0;
        for (index, (_, letters)) in LANGUAGES.iter().enumerate() {
            let is_candidate =
                if self.is_foreign() { self.fitting & (1 << index) != 0 } else { fits(letters) };
            if !is_candidate {
                continue;
            }
            let Some(english) = translated(text, *letters) else { continue };
            let san = San::from_ascii(&english);
            let mv = san.as_ref().ok().and_then(|san| san.to_move(position).ok());
            let Some(mv) = mv.or_else(|| read_other_form(position, &english, &san)) else {
                continue;
            };
            if *found.get_or_insert(mv) == mv {
                fitting |= 1 << index;
            }
        }
        if found.is_some() {
            self.fitting = fitting;
        }
        found
    }
}

fn index_of(role: Role) -> u8 {
    match role {
        Role::King | Role::Pawn => 0,
        Role::Queen => 1,
        Role::Rook => 2,
        Role::Bishop => 3,
        Role::Knight => 4,
    }
}

/// The move with English letters. `None` if a letter is not one of the language.
fn translated(text: &[u8], letters: [u8; 5]) -> Option<Vec<u8>> {
    let translate = |byte: u8| {
        if !byte.is_ascii_uppercase() || byte == b'O' {
            return Some(byte);
        }
        let index = letters.iter().position(|known| *known == byte)?;
        ENGLISH.get(index).copied()
    };
    text.iter().map(|byte| translate(*byte)).collect()
}
