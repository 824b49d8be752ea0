//! Reads the games of a PGN file, one at a time.

use std::{io::BufRead, mem};

use shakmaty::{
    Chess, Color, Position as _,
    san::{San, SanError as ShakmatyError},
    uci::UciMove,
};

use crate::{
    BoardRef, Game, GameResult, Move, Position, Side, chess::after_null, error::shortened,
};

use super::super::{
    GameRecord, Headers, Kept, Limit, Limits, Nag, Node, NodeId, Notice, NoticeReason,
    RecordErrorKind, RecordMove,
    input::{Games, Location, State},
    limits::MAX_PLIES,
};
use super::{
    NAG_SYMBOLS, ROSTER, command,
    tokens::{Token, Tokens},
    unknown_value,
};

/// Reads games until the source ends.
#[derive(Debug)]
pub(in super::super) struct Reader<R> {
    tokens: Tokens<R>,
    limits: Limits,
    /// A tag that ended a game and begins the next.
    pending: Option<Pending>,
    state: State,
}

#[derive(Debug)]
struct Pending {
    name: String,
    value: String,
}

/// A line of moves: the main line or a variation.
struct Line {
    /// The last node, and the positions before and after its move. A following variation replaces this
    /// move.
    last: NodeId,
    before: Option<Chess>,
    after: Chess,
    /// Comments on a variation without moves so far.
    comments: Vec<String>,
}

/// A game under construction.
struct Draft {
    record: GameRecord,
    line: Line,
    /// The lines that contain the current one.
    outer: Vec<Line>,
    /// The number of open parentheses inside a variation that cannot be read.
    skipping: usize,
    claimed: Option<GameResult>,
}

impl<R: BufRead> Reader<R> {
    pub(in super::super) fn new(input: R, limits: Limits) -> Self {
        Self {
            tokens: Tokens::new(input, limits),
            limits: Limits { plies: limits.plies.min(MAX_PLIES), ..limits },
            pending: None,
            state: State::default(),
        }
    }

    pub(in super::super) fn notices(&self) -> &[Notice] {
        self.state.notices()
    }

    fn notice(&mut self, reason: NoticeReason) {
        self.state.notice(self.tokens.location(), reason, Kept::All);
    }
}

impl<R: BufRead> Games for Reader<R> {
    fn state(&mut self) -> &mut State {
        &mut self.state
    }

    fn begin_game(&mut self) {
        self.tokens.begin_game();
    }

    fn location(&self) -> Location {
        self.tokens.location()
    }

    /// Skips the rest of a game that cannot be read. False if the file ends.
    fn skip_game(&mut self) -> bool {
        if self.pending.is_some() {
            return true;
        }
        let mut depth = 0_usize;
        loop {
            // Skipped text needs no memory, so it can have any size.
            self.tokens.begin_game();
            match self.tokens.next() {
                Ok(Token::Tag { name, value, .. }) => {
                    self.pending = Some(Pending { name, value });
                    return true;
                }
                Ok(Token::Open) => depth += 1,
                Ok(Token::Close) => depth = depth.saturating_sub(1),
                Ok(Token::Symbol) if depth == 0 && read_result(self.tokens.text()).is_some() => {
                    return true;
                }
                Ok(Token::End) | Err(RecordErrorKind::Io(_)) => return false,
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        let mut headers = Headers::default();
        let mut comments = Vec::new();
        let first = loop {
            let token = match self.pending.take() {
                Some(Pending { name, value }) => Token::Tag { name, value, malformed: false },
                None => self.tokens.next()?,
            };
            match token {
                Token::Tag { name, value, malformed } => {
                    // A second `Event` begins another game; the current one has no moves.
                    if name == "Event" && headers.get("Event").is_some() {
                        self.pending = Some(Pending { name, value });
                        break Token::End;
                    }
                    if malformed {
                        self.notice(NoticeReason::Header(shortened(&name)));
                    }
                    if headers.len() >= self.limits.headers {
                        return Err(RecordErrorKind::LimitExceeded(Limit::Headers));
                    }
                    if !name.is_empty() {
                        headers.push(name, value);
                    }
                }
                Token::Comment(text) => comments.push(text),
                Token::BlankLine => {}
                Token::End if headers.is_empty() && comments.is_empty() => return Ok(None),
                token @ (Token::Symbol | Token::Nag | Token::Open | Token::Close | Token::End) => {
                    break token;
                }
            }
        };
        let (start, claimed) = self.begin(&mut headers)?;
        let BoardRef::Chess(board) = start.board() else {
            return Err(RecordErrorKind::WrongGame(Game::Shogi));
        };
        let after = board.position().clone();
        let line = Line { last: NodeId::ROOT, before: None, after, comments: Vec::new() };
        let mut record = GameRecord::new(start);
        record.headers = headers;
        let mut draft = Draft { record, line, outer: Vec::new(), skipping: 0, claimed };
        for text in comments {
            add_comment(&mut draft, &text);
        }
        self.read_moves(&mut draft, first)?;
        draft.record.settle();
        Ok(Some(draft.record))
    }
}

impl<R: BufRead> Reader<R> {
    /// Removes the headers of the game, start position and result, and evaluates them.
    fn begin(
        &mut self,
        headers: &mut Headers,
    ) -> Result<(Position, Option<GameResult>), RecordErrorKind> {
        let variant = headers.remove("Variant");
        let fen = headers.remove("FEN");
        headers.remove("SetUp");
        let game = match variant.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "?" | "chess" | "standard" | "normal" | "from position") => {
                Game::Chess
            }
            Some(
                "chess960" | "chess 960" | "fischerandom" | "fischerrandom" | "fischer random",
            ) => Game::Chess960,
            Some(_) => {
                let name = variant.unwrap_or_default();
                return Err(RecordErrorKind::UnknownGame(shortened(&name)));
            }
        };
        let start = match fen {
            Some(fen) => Position::from_text(game, &fen).map_err(RecordErrorKind::Start)?,
            None => Position::start(game),
        };
        let claimed = headers.remove("Result").and_then(|text| {
            let result = read_result(text.trim().as_bytes());
            if result.is_none() && text != "?" {
                self.notice(NoticeReason::Header("Result".to_owned()));
            }
            result
        });
        for name in ROSTER {
            while headers.get(name) == Some(unknown_value(name)) {
                headers.remove_first(name);
            }
        }
        Ok((start, claimed))
    }

    fn read_moves(&mut self, draft: &mut Draft, first: Token) -> Result<(), RecordErrorKind> {
        let mut token = first;
        loop {
            match token {
                Token::Symbol => {
                    if let Some(result) = read_result(self.tokens.text()) {
                        if draft.outer.is_empty() && draft.skipping == 0 {
                            self.conclude(draft, result);
                            return Ok(());
                        }
                        self.notice_skipped();
                    } else if draft.skipping == 0 {
                        self.read_symbol(draft)?;
                    }
                }
                Token::Nag if draft.skipping == 0 => self.read_nag(draft),
                Token::Comment(text) if draft.skipping == 0 => add_comment(draft, &text),
                Token::Open => self.open(draft)?,
                Token::Close => self.close(draft),
                Token::Nag | Token::Comment(_) | Token::BlankLine => {}
                Token::Tag { name, value, .. } => {
                    self.pending = Some(Pending { name, value });
                    self.conclude_without_result(draft);
                    return Ok(());
                }
                Token::End => {
                    self.conclude_without_result(draft);
                    return Ok(());
                }
            }
            token = self.tokens.next()?;
        }
    }

    fn notice_skipped(&mut self) {
        let text = shortened(&String::from_utf8_lossy(self.tokens.text()));
        self.notice(NoticeReason::Skipped(text));
    }

    fn conclude(&mut self, draft: &mut Draft, result: GameResult) {
        draft.record.result = result;
        if let Some(claimed) = draft.claimed
            && claimed != result
        {
            // Many files end every game with `*` and have the result only in the tag.
            if result == GameResult::Unknown {
                draft.record.result = claimed;
            }
            self.notice(NoticeReason::Contradiction("Result".to_owned()));
        }
    }

    fn conclude_without_result(&mut self, draft: &mut Draft) {
        draft.record.result = draft.claimed.unwrap_or_default();
        self.notice(NoticeReason::NoEnd);
    }

    fn open(&mut self, draft: &mut Draft) -> Result<(), RecordErrorKind> {
        if draft.skipping > 0 {
            draft.skipping += 1;
            return Ok(());
        }
        if draft.outer.len() >= self.limits.depth {
            return Err(RecordErrorKind::LimitExceeded(Limit::Depth));
        }
        let parent = draft.record.node(draft.line.last).and_then(Node::parent);
        let line = if let (Some(after), Some(last)) = (draft.line.before.clone(), parent) {
            Line { last, before: None, after, comments: Vec::new() }
        } else {
            // There is no move to replace.
            self.notice(NoticeReason::Skipped("(".to_owned()));
            draft.skipping = 1;
            let (last, after) = (draft.line.last, draft.line.after.clone());
            Line { last, before: None, after, comments: Vec::new() }
        };
        draft.outer.push(mem::replace(&mut draft.line, line));
        Ok(())
    }

    fn close(&mut self, draft: &mut Draft) {
        if draft.skipping > 1 {
            draft.skipping -= 1;
            return;
        }
        draft.skipping = 0;
        let Some(outer) = draft.outer.pop() else {
            self.notice(NoticeReason::Skipped(")".to_owned()));
            return;
        };
        draft.line = outer;
    }

    fn read_nag(&mut self, draft: &mut Draft) {
        let digits = std::str::from_utf8(self.tokens.text()).ok();
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(number) => self.add_nag(draft, number),
            None => self.notice_skipped(),
        }
    }

    fn add_nag(&mut self, draft: &mut Draft, number: u8) {
        if draft.line.before.is_none() {
            self.notice_skipped();
        } else if let Some(notes) = draft.record.annotations_mut(draft.line.last) {
            notes.nags.push(Nag(number));
        }
    }

    fn read_symbol(&mut self, draft: &mut Draft) -> Result<(), RecordErrorKind> {
        let symbol = self.tokens.text();
        if symbol.iter().all(u8::is_ascii_digit) {
            return Ok(());
        }
        if is_null_move(symbol)
            && let Some(after) = after_null(&draft.line.after)
        {
            return self.add(draft, RecordMove::Null, after);
        }
        match read_move(&draft.line.after, symbol) {
            Ok(mv) => {
                let mut after = draft.line.after.clone();
                after.play_unchecked(mv);
                self.add(draft, Move::Chess(mv).into(), after)
            }
            Err(error) => {
                let text = String::from_utf8_lossy(symbol).into_owned();
                if let Some(&(_, nag)) = NAG_SYMBOLS.iter().find(|(known, _)| *known == text) {
                    self.add_nag(draft, nag);
                    return Ok(());
                }
                self.reject_symbol(draft, &text, error)
            }
        }
    }

    fn add(
        &mut self,
        draft: &mut Draft,
        mv: RecordMove,
        after: Chess,
    ) -> Result<(), RecordErrorKind> {
        let ply = draft.record.node(draft.line.last).map_or(0, Node::ply);
        if ply >= self.limits.plies {
            return Err(RecordErrorKind::LimitExceeded(Limit::Plies));
        }
        if draft.record.len() >= self.limits.moves {
            return Err(RecordErrorKind::LimitExceeded(Limit::Moves));
        }
        let attached = draft.record.attach(draft.line.last, mv);
        let id = attached.ok_or(RecordErrorKind::LimitExceeded(Limit::Moves))?;
        draft.line.last = id;
        draft.line.before = Some(mem::replace(&mut draft.line.after, after));
        let comments = mem::take(&mut draft.line.comments);
        if !comments.is_empty()
            && let Some(annotations) = draft.record.annotations_mut(id)
        {
            annotations.before = comments;
        }
        Ok(())
    }

    /// Handles a symbol that is not a move: it is an error in the main line, ends a variation, or is
    /// skipped.
    fn reject_symbol(
        &mut self,
        draft: &mut Draft,
        text: &str,
        error: SanError,
    ) -> Result<(), RecordErrorKind> {
        let shown = shortened(text);
        let is_letters = text.starts_with(|letter: char| letter.is_alphabetic());
        if error == SanError::Unreadable && !is_letters {
            self.notice_skipped();
        } else if matches!(text, "e" | "p" | "ep" | "N" | "D" | "RR") {
            // `e. p.`, and the signs of printed books for novelty, diagram and comment.
        } else if draft.outer.is_empty() {
            return Err(match error {
                SanError::Ambiguous => RecordErrorKind::AmbiguousMove(shown),
                SanError::Illegal => RecordErrorKind::NoSuchMove(shown),
                SanError::Unreadable => RecordErrorKind::Unexpected(shown),
            });
        } else {
            let ply = draft.record.node(draft.line.last).map_or(0, Node::ply);
            let kept = Kept::Variation(u32::try_from(ply).unwrap_or(u32::MAX));
            let location = self.tokens.location();
            self.state.notice(location, NoticeReason::NoSuchMove(shown), kept);
            draft.skipping = 1;
        }
        Ok(())
    }
}

fn add_comment(draft: &mut Draft, text: &str) {
    if text.is_empty() {
        return;
    }
    let begins_variation = draft.line.before.is_none() && !draft.outer.is_empty();
    if begins_variation {
        draft.line.comments.push(text.to_owned());
    } else if let Some(notes) = draft.record.annotations_mut(draft.line.last) {
        let mover = draft.line.before.as_ref().map(|before| side(before.turn()));
        command::extract(text, mover, side(draft.line.after.turn()), notes);
    }
}

fn read_result(symbol: &[u8]) -> Option<GameResult> {
    // A fast exit for moves and numbers.
    if !matches!(symbol.first()?, b'*' | b'0' | b'1' | 0xC2) {
        return None;
    }
    GameResult::from_text(&std::str::from_utf8(symbol).ok()?.replace(['–', '—'], "-"))
}

fn side(color: Color) -> Side {
    color.fold_wb(Side::First, Side::Second)
}

/// Why a text is not a move of the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SanError {
    /// It does not look like a move.
    Unreadable,
    /// It does not match a legal move.
    Illegal,
    /// It matches more than one legal move.
    Ambiguous,
}

/// The legal move that a text matches.
fn read_move(position: &Chess, text: &[u8]) -> Result<shakmaty::Move, SanError> {
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
    text.windows(2).any(square) || is_null_move(text)
}

/// Whether a text is a null move: of `ChessBase`, SCID, UCI or Winboard.
fn is_null_move(text: &[u8]) -> bool {
    matches!(text, b"--" | b"Z0" | b"0000" | b"@@@@")
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
