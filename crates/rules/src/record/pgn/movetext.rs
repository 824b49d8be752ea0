//! Reads the games of a PGN file, one at a time.
//!
//! A game is kept up to a defect. Only an unknown variant and an unreadable start position are errors.

use std::{io::BufRead, mem};

use shakmaty::{Chess, Color, Position as _};

use crate::{
    BoardRef, Game, GameResult, Move, Position, PositionError, Setup, Side, chess::after_null,
    error::shortened,
};

use super::super::{
    Bookmark, Defect, GameRecord, Headers, Limit, Limits, Nag, NodeId, NoticeReason, ReadExtent,
    RecordErrorKind, RecordMove,
    format::{Games, Location, ReadingState},
    limits::MAX_PLIES,
};
use super::{
    ILLEGAL_MOVE, ROSTER, command,
    moves::{self, Languages},
    tokens::{Token, Tokens, decoded},
    unknown_value, without_line_breaks,
};

/// Reads games until the source ends.
#[derive(Debug)]
pub(in super::super) struct PgnReader<R> {
    tokens: Tokens<R>,
    limits: Limits,
    /// The last token is a tag that ended a game and begins the next.
    has_pending_tag: bool,
    state: ReadingState,
}

/// A line of moves: the main line or a variation.
struct Line {
    /// The last node, and the positions before and after its move. A following variation replaces this
    /// move.
    last: NodeId,
    parent: NodeId,
    ply: u32,
    before: Option<Chess>,
    after: Chess,
    /// Comments and NAGs of a variation without moves so far. Its first move gets them.
    comments: Vec<String>,
    nags: Vec<Nag>,
    /// The illegal move that ended the line, unless another move follows.
    illegal: Option<Illegal>,
}

/// An illegal move at the end of a line.
struct Illegal {
    /// The parent of the line before it.
    parent: NodeId,
    /// The comment that had the move.
    comment: Option<String>,
}

/// Number of bytes after an ambiguous move that can resolve it.
const LOOKAHEAD: usize = 512;
/// Maximum number of ambiguous moves in a game that are resolved: bounds the time.
const MAX_RESOLVED: usize = 16;

/// A game under construction.
struct GameBuilder {
    record: GameRecord,
    line: Line,
    /// The lines that contain the current one.
    outer: Vec<Line>,
    /// The number of open parentheses inside a line that cannot be read.
    skipping: usize,
    claimed: Option<GameResult>,
    languages: Languages,
    /// Number of ambiguous moves that the moves after them resolved.
    resolved: usize,
}

impl<R: BufRead> PgnReader<R> {
    pub(in super::super) fn new(input: R, limits: Limits) -> Self {
        Self {
            tokens: Tokens::new(input, limits),
            limits: Limits { plies: limits.plies.min(MAX_PLIES), ..limits },
            has_pending_tag: false,
            state: ReadingState::default(),
        }
    }

    fn notice(&mut self, reason: NoticeReason) {
        self.notice_kept(reason, ReadExtent::All);
    }

    fn notice_kept(&mut self, reason: NoticeReason, kept: ReadExtent) {
        if !self.state.is_full() {
            self.state.notice(self.tokens.location(), reason, kept);
        }
    }

    fn notice_skipped(&mut self) {
        // Garbage has many of them.
        if !self.state.is_full() {
            let text = shortened(&decoded(self.tokens.text()));
            self.notice(NoticeReason::Defect(Defect::TextSkipped { text }));
        }
    }
}

impl<R: BufRead> Games for PgnReader<R> {
    fn state(&self) -> &ReadingState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut ReadingState {
        &mut self.state
    }

    fn bookmark(&self) -> Option<Bookmark> {
        // A part of the next game may be consumed.
        None
    }

    fn begin_game(&mut self) {
        self.tokens.begin_game();
    }

    fn location(&mut self) -> Location {
        self.tokens.location()
    }

    /// Skips the rest of a game that cannot be read. False if the file ends.
    fn skip_game(&mut self) -> bool {
        self.skip_to_end(0).is_ok_and(|end| end != GameEnd::File)
    }

    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        let mut headers = Headers::default();
        let mut comments = Vec::new();
        let (mut is_separated, mut is_too_large) = (false, false);
        let first = loop {
            let token = if mem::take(&mut self.has_pending_tag) {
                Token::Tag
            } else {
                self.tokens.next()?
            };
            if self.tokens.game_bytes() > self.limits.game_bytes {
                is_too_large = true;
                self.has_pending_tag = token == Token::Tag;
                break Token::End;
            }
            match token {
                Token::Tag => {
                    // Games without moves follow each other. A header can occur twice in one game.
                    is_separated |= self.tokens.is_after_blank_line();
                    let name = self.tokens.tag.name.as_str();
                    let is_next = name == "Event" || is_separated;
                    if is_next && headers.get(name).is_some() {
                        self.has_pending_tag = true;
                        break Token::End;
                    }
                    is_separated = false;
                    self.add_header(&mut headers);
                }
                Token::Comment => {
                    comments.push(self.tokens.text().to_owned());
                    is_separated = true;
                }
                Token::LongComment => {
                    self.notice(NoticeReason::LimitExceeded(Limit::CommentTooLong));
                }
                Token::End if headers.is_empty() && comments.is_empty() => return Ok(None),
                Token::Symbol
                | Token::Nag
                | Token::Open
                | Token::Close
                | Token::OpenComment
                | Token::End => break token,
            }
        };
        let has_headers = !headers.is_empty();
        let (start, claimed) = self.begin(&mut headers)?;
        let after = match start.board() {
            BoardRef::Chess(board) => Some(board.position().clone()),
            BoardRef::Diagram(_) => None,
            BoardRef::Shogi(_) => return Err(RecordErrorKind::WrongGame(Game::Shogi)),
        };
        let mut record = GameRecord::with_capacity(start, USUAL_NODES);
        record.headers = headers;
        let line = Line {
            last: NodeId::ROOT,
            parent: NodeId::ROOT,
            ply: 0,
            before: None,
            after: after.clone().unwrap_or_default(),
            comments: Vec::new(),
            nags: Vec::new(),
            illegal: None,
        };
        let (outer, skipping, languages, resolved) = (Vec::new(), 0, Languages::new(), 0);
        let mut draft = GameBuilder { record, line, outer, skipping, claimed, languages, resolved };
        for text in comments {
            if after.is_some() {
                self.read_comment(&mut draft, &text);
            } else {
                draft.add_comment(&text);
            }
        }
        let token = match after {
            Some(_) if is_too_large => {
                self.reject_main_line(&draft, NoticeReason::LimitExceeded(Limit::GameTooLarge));
                Rest::Moves { depth: 0 }
            }
            Some(_) => self.read_moves(&mut draft, first)?,
            // The position is only for viewing.
            None => Rest::Moves { depth: 0 },
        };
        let is_text = token == Rest::NextGame && !has_headers && draft.record.is_empty();
        if is_text && let Some(skipped) = self.state.first_skipped() {
            return Err(RecordErrorKind::Defect(Defect::UnexpectedText {
                text: skipped.to_owned(),
            }));
        }
        self.end_game(&mut draft, token)?;
        Ok(Some(draft.record))
    }
}

/// Nodes of most games.
const USUAL_NODES: usize = 128;

/// The text after the part of a game that was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// The result was read.
    Nothing,
    /// Another game or nothing follows.
    NextGame,
    /// Moves that cannot be read follow, in variations of this depth.
    Moves { depth: usize },
}

/// The end of a game.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GameEnd {
    Result(GameResult),
    NextGame,
    File,
}

impl<R: BufRead> PgnReader<R> {
    /// Adds the last tag.
    fn add_header(&mut self, headers: &mut Headers) {
        if self.tokens.tag.is_malformed {
            let name = shortened(&self.tokens.tag.name);
            self.notice(NoticeReason::Defect(Defect::MalformedHeader { text: name }));
        }
        let (name, value) = (&self.tokens.tag.name, &self.tokens.tag.value);
        let exceeded = if headers.len() >= self.limits.headers {
            Some(Limit::TooManyHeaders)
        } else if name.len().max(value.len()) > self.limits.header_bytes {
            Some(Limit::HeaderTooLong)
        } else {
            None
        };
        match exceeded {
            Some(limit) => self.notice(NoticeReason::LimitExceeded(limit)),
            None if name.is_empty() => {}
            None => headers.push(name, value),
        }
    }

    /// Removes the headers of the game, start position and result, and evaluates them.
    fn begin(
        &mut self,
        headers: &mut Headers,
    ) -> Result<(Position, Option<GameResult>), RecordErrorKind> {
        let variant = headers.remove("Variant").unwrap_or_default();
        let fen = headers.remove("FEN");
        headers.remove("SetUp");
        let Some(game) = variant_of(&variant) else {
            return Err(RecordErrorKind::Defect(Defect::UnknownVariant {
                name: shortened(&variant),
            }));
        };
        let start = match fen.filter(|fen| !matches!(fen.trim(), "" | "?" | "startpos")) {
            Some(fen) => self.start(game, &fen)?,
            None => Position::start(game),
        };
        let claimed = headers.remove("Result").and_then(|text| {
            let result = read_result(text.trim().as_bytes());
            if result.is_none() && !matches!(text.trim(), "" | "?") {
                self.notice(NoticeReason::Defect(Defect::MalformedHeader {
                    text: "Result".to_owned(),
                }));
            }
            result
        });
        for name in ROSTER {
            while headers
                .get(name)
                .is_some_and(|value| value.is_empty() || value == unknown_value(name))
            {
                headers.remove_first(name);
            }
        }
        Ok((start, claimed))
    }

    /// The start position of a FEN. Impossible castling rights are dropped, and a position that violates
    /// another rule is for viewing.
    fn start(&mut self, game: Game, fen: &str) -> Result<Position, RecordErrorKind> {
        let read = |game| Setup::read_partial(game, fen).map_err(RecordErrorKind::Start);
        let mut setup = read(game)?;
        let error = match setup.position() {
            Ok(position) => return Ok(position),
            Err(error) => error,
        };
        if let PositionError::InvalidCastlingRight { .. } = error {
            // Some programs omit the variant.
            if game == Game::Chess
                && let Ok(position) = read(Game::Chess960)?.position()
            {
                return Ok(position);
            }
            let rights = |setup: &Setup| -> Vec<String> {
                let rooks = Side::BOTH.into_iter().flat_map(|side| setup.castling(side));
                rooks.map(|rook| rook.name(game)).collect()
            };
            let before = rights(&setup);
            setup.drop_invalid_castling();
            let after = rights(&setup);
            for square in before.into_iter().filter(|square| !after.contains(square)) {
                self.notice(NoticeReason::CastlingRight { square });
            }
            if let Ok(position) = setup.position() {
                return Ok(position);
            }
        }
        let position = Position::for_viewing(&setup);
        if let Some(defect) = position.defect() {
            self.notice(NoticeReason::Start(defect.clone()));
        }
        Ok(position)
    }

    fn read_moves(
        &mut self,
        draft: &mut GameBuilder,
        first: Token,
    ) -> Result<Rest, RecordErrorKind> {
        let mut token = first;
        loop {
            match token {
                // The beginning of the symbol was reported.
                Token::Symbol if self.tokens.is_continuation() => {}
                Token::Symbol => {
                    if draft.has_illegal_move() && draft.skipping == 0 && !self.is_final() {
                        if draft.remove_illegal_move() {
                            continue;
                        }
                        return Ok(Rest::Moves { depth: 0 });
                    }
                    if let Some(result) = read_result(self.tokens.text()) {
                        if draft.outer.is_empty() && draft.skipping == 0 {
                            self.conclude(draft, result);
                            return Ok(Rest::Nothing);
                        }
                        self.notice_skipped();
                    } else if draft.has_illegal_move() {
                        // A number or a sign.
                    } else if draft.skipping == 0 && !self.read_symbol(draft) {
                        return Ok(Rest::Moves { depth: draft.outer.len() });
                    }
                }
                Token::Comment if draft.skipping == 0 => {
                    self.read_comment(draft, self.tokens.text());
                }
                Token::Nag if draft.skipping == 0 && !draft.has_illegal_move() => {
                    self.read_nag(draft);
                }
                Token::Open if draft.has_illegal_move() && draft.skipping == 0 => {
                    if draft.remove_illegal_move() {
                        continue;
                    }
                    return Ok(Rest::Moves { depth: 1 });
                }
                Token::Open => self.open(draft),
                Token::Close => self.close(draft),
                Token::Nag | Token::Comment => {}
                Token::LongComment => {
                    self.notice(NoticeReason::LimitExceeded(Limit::CommentTooLong));
                }
                Token::OpenComment => {
                    let kept = Self::kept(draft);
                    self.notice_kept(NoticeReason::Defect(Defect::UnclosedComment), kept);
                    return Ok(Rest::Moves { depth: draft.outer.len() });
                }
                Token::Tag => {
                    self.has_pending_tag = true;
                    return Ok(draft.rest_at_end());
                }
                Token::End => return Ok(draft.rest_at_end()),
            }
            if self.tokens.game_bytes() > self.limits.game_bytes {
                self.reject_main_line(draft, NoticeReason::LimitExceeded(Limit::GameTooLarge));
                return Ok(Rest::Moves { depth: draft.outer.len() });
            }
            token = self.tokens.next()?;
        }
    }

    /// Skips the rest of a game that is not read, and sets its result.
    fn end_game(&mut self, draft: &mut GameBuilder, rest: Rest) -> Result<(), RecordErrorKind> {
        match rest {
            Rest::Nothing => {}
            Rest::NextGame => self.conclude_without_result(draft),
            Rest::Moves { depth } => match self.skip_to_end(depth)? {
                GameEnd::Result(result) => self.conclude(draft, result),
                GameEnd::NextGame | GameEnd::File => {
                    draft.record.result = draft.claimed.unwrap_or_default();
                }
            },
        }
        Ok(())
    }

    /// Skips text up to the end of a game. It needs no memory, so it can have any size.
    fn skip_to_end(&mut self, mut depth: usize) -> Result<GameEnd, RecordErrorKind> {
        if self.has_pending_tag {
            return Ok(GameEnd::NextGame);
        }
        loop {
            match self.tokens.next()? {
                Token::Tag => {
                    self.has_pending_tag = true;
                    return Ok(GameEnd::NextGame);
                }
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                Token::Symbol if depth == 0 && !self.tokens.is_continuation() => {
                    if let Some(result) = read_result(self.tokens.text()) {
                        return Ok(GameEnd::Result(result));
                    }
                }
                Token::End => return Ok(GameEnd::File),
                Token::Symbol
                | Token::Nag
                | Token::Comment
                | Token::LongComment
                | Token::OpenComment => {}
            }
        }
    }

    fn conclude(&mut self, draft: &mut GameBuilder, result: GameResult) {
        draft.record.result = result;
        if let Some(claimed) = draft.claimed
            && claimed != result
        {
            // Many files end every game with `*` and have the result only in the tag.
            if result == GameResult::Unknown {
                draft.record.result = claimed;
            }
            self.notice(NoticeReason::Defect(Defect::Contradiction { text: "Result".to_owned() }));
        }
    }

    fn conclude_without_result(&mut self, draft: &mut GameBuilder) {
        draft.record.result = draft.claimed.unwrap_or_default();
        self.notice(NoticeReason::Defect(Defect::MissingResult));
    }

    fn open(&mut self, draft: &mut GameBuilder) {
        if draft.skipping > 0 {
            draft.skipping += 1;
            return;
        }
        let reason = if draft.outer.len() >= self.limits.depth {
            Some(NoticeReason::LimitExceeded(Limit::NestingTooDeep))
        } else if draft.line.before.is_none() {
            // There is no move to replace.
            Some(NoticeReason::Defect(Defect::TextSkipped { text: "(".to_owned() }))
        } else {
            None
        };
        if let Some(reason) = reason {
            self.notice(reason);
            draft.skipping = 1;
        }
        let line = Line {
            last: draft.line.parent,
            parent: draft.line.parent,
            ply: draft.line.ply.saturating_sub(1),
            before: None,
            after: draft.line.before.as_ref().unwrap_or(&draft.line.after).clone(),
            comments: Vec::new(),
            nags: Vec::new(),
            illegal: None,
        };
        draft.outer.push(mem::replace(&mut draft.line, line));
    }

    fn close(&mut self, draft: &mut GameBuilder) {
        if draft.skipping > 1 {
            draft.skipping -= 1;
            return;
        }
        draft.skipping = 0;
        let Some(outer) = draft.outer.pop() else {
            return self.notice(NoticeReason::Defect(Defect::TextSkipped { text: ")".to_owned() }));
        };
        let Line { comments, nags, .. } = mem::replace(&mut draft.line, outer);
        // A variation without a move.
        if let Some(nag) = nags.first() {
            self.notice(NoticeReason::Defect(Defect::TextSkipped { text: format!("${}", nag.0) }));
        }
        draft.add_texts(comments);
    }

    fn read_nag(&mut self, draft: &mut GameBuilder) {
        let digits = std::str::from_utf8(self.tokens.text()).ok();
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(number) if draft.add_nag(number) => {}
            Some(_) | None => self.notice_skipped(),
        }
    }

    /// Reads a move, a number or a sign. False if the main line ends here.
    fn read_symbol(&mut self, draft: &mut GameBuilder) -> bool {
        let symbol = self.tokens.text();
        let position = &draft.line.after;
        if symbol.first().is_some_and(u8::is_ascii_digit)
            && symbol.iter().all(u8::is_ascii_digit)
            && !moves::is_null_move(symbol)
        {
            return true;
        }
        // A single letter is no move.
        if symbol.len() > 1
            && let Some(mv) = moves::read_exact_move(position, symbol, &mut draft.languages)
        {
            return self.play(draft, mv);
        }
        if !moves::resembles_move(symbol) {
            self.read_sign(draft);
            return true;
        }
        if let Some((mv, length)) =
            moves::read_before_separator(position, symbol, &mut draft.languages)
        {
            let is_played = self.play(draft, mv);
            self.skip_rest(length);
            return is_played;
        }
        let was_foreign = draft.languages.name();
        if let Some(mv) = moves::read_move(position, symbol, &mut draft.languages) {
            if was_foreign.is_none()
                && let Some(language) = draft.languages.name()
            {
                self.notice(NoticeReason::Defect(Defect::PieceLetters {
                    language: language.to_owned(),
                }));
            }
            return self.play(draft, mv);
        }
        if moves::is_null_move(symbol)
            && let Some(after) = after_null(position)
        {
            if let Err(limit) = self.attach(draft, RecordMove::Null) {
                return self.reject_line(draft, NoticeReason::LimitExceeded(limit));
            }
            draft.line.before = Some(mem::replace(&mut draft.line.after, after));
            return true;
        }
        let text = decoded(symbol).into_owned();
        self.read_other_symbol(draft, &text)
    }

    /// Reads a sign such as `±`, or a token without meaning.
    fn read_sign(&mut self, draft: &mut GameBuilder) {
        if !moves::can_begin_sign(self.tokens.text()) {
            return self.notice_skipped();
        }
        let text = decoded(self.tokens.text());
        let is_known = match moves::nag_of(&text, draft.annotated_side()) {
            Some(nag) => draft.add_nag(nag),
            // The signs of an en passant capture are `e.p.`, and those of some programs for Black's
            // move `…`.
            None => {
                matches!(&*text, "e" | "p" | "ep")
                    || text.trim_end_matches('…').bytes().all(|byte| byte.is_ascii_digit())
            }
        };
        if !is_known {
            self.notice_skipped();
        }
    }

    fn read_other_symbol(&mut self, draft: &mut GameBuilder, text: &str) -> bool {
        if let Some((mv, rest)) = moves::read_prefix(&draft.line.after, text, &mut draft.languages)
        {
            let is_played = self.play(draft, mv);
            self.read_rest(draft, text.len() - rest.len(), rest);
            return is_played;
        }
        if let Some((mv, sign)) = moves::split_sign(text)
            && let Some(nag) = moves::nag_of(sign, draft.line.after.turn())
            && let Some(mv) =
                moves::read_move(&draft.line.after, mv.as_bytes(), &mut draft.languages)
        {
            let is_played = self.play(draft, mv);
            draft.add_nag(nag);
            return is_played;
        }
        if let Some(mv) = moves::read_lenient(&draft.line.after, text) {
            return self.play(draft, mv);
        }
        let error = moves::why_not(&draft.line.after, text);
        if let Some(error) = &error
            && draft.resolved < MAX_RESOLVED
            && let Some(mv) =
                moves::resolve(&draft.line.after, error, self.tokens.upcoming(LOOKAHEAD))
        {
            draft.resolved += 1;
            self.notice(NoticeReason::Defect(Defect::MoveResolved {
                text: error.text.clone(),
                candidates: error.candidates.join(", "),
                chosen: Move::Chess(mv).to_uci(draft.record.game().castling_form()),
            }));
            return self.play(draft, mv);
        }
        match error {
            None => {
                self.notice_skipped();
                true
            }
            Some(error) if draft.outer.is_empty() => {
                self.reject_main_line(draft, NoticeReason::Move(error));
                moves::illegal_move(&draft.line.after, text)
                    .is_some_and(|mv| self.attach_illegal(draft, mv, None))
            }
            Some(error) => self.reject_line(draft, NoticeReason::Move(error)),
        }
    }

    /// Reads the text after a move in the same symbol: a result, a sign, or text that is reported.
    fn read_rest(&mut self, draft: &mut GameBuilder, start: usize, rest: &str) {
        if read_result(rest.as_bytes()).is_some() {
            return self.tokens.narrow(0..start);
        }
        let sign = moves::sign_at_start(rest).unwrap_or_default();
        if let Some(nag) = moves::nag_of(sign, draft.annotated_side()) {
            draft.add_nag(nag);
        }
        if sign.len() < rest.len() {
            self.skip_rest(start + sign.len());
        }
    }

    /// Skips the text of the symbol from an offset. A move can follow a comma: `1. e4,e5`. After another
    /// sign, such as in `Nf3/Nc3`, the text is an alternative.
    fn skip_rest(&mut self, start: usize) {
        let text = self.tokens.text();
        let rest = text.get(start..).unwrap_or_default();
        let commas = rest.iter().take_while(|byte| **byte == b',').count();
        let end = if commas > 0 { start + commas } else { text.len() };
        self.tokens.narrow(start..end);
        self.notice_skipped();
    }

    /// Whether the symbol can follow an illegal move that ended the game: a result, a number or a sign.
    fn is_final(&self) -> bool {
        let symbol = self.tokens.text();
        read_result(symbol).is_some()
            || symbol.iter().all(u8::is_ascii_digit)
            || moves::nag_of(&decoded(symbol), Color::White).is_some()
    }

    /// Adds an illegal move, which is not played. False if there is no room.
    fn attach_illegal(
        &self,
        draft: &mut GameBuilder,
        mv: shakmaty::Move,
        comment: Option<String>,
    ) -> bool {
        let parent = draft.line.parent;
        if self.attach(draft, RecordMove::Illegal(Move::Chess(mv))).is_err() {
            return false;
        }
        draft.line.illegal = Some(Illegal { parent, comment });
        true
    }

    /// Adds a comment, or the illegal move in it.
    fn read_comment(&self, draft: &mut GameBuilder, text: &[u8]) {
        if !draft.has_illegal_move()
            && let Some(uci) = text.trim_ascii().strip_prefix(ILLEGAL_MOVE.as_bytes())
            && let Ok(uci) = std::str::from_utf8(uci)
            && let Some(mv) = moves::illegal_move(&draft.line.after, uci)
        {
            let comment = format!("{ILLEGAL_MOVE}{uci}");
            if self.attach_illegal(draft, mv, Some(comment)) {
                return;
            }
        }
        draft.add_comment(text);
    }

    /// Adds a legal move. False if the main line ends here.
    fn play(&mut self, draft: &mut GameBuilder, mv: shakmaty::Move) -> bool {
        if let Err(limit) = self.attach(draft, Move::Chess(mv).into()) {
            return self.reject_line(draft, NoticeReason::LimitExceeded(limit));
        }
        draft.line.before = Some(draft.line.after.clone());
        draft.line.after.play_unchecked(mv);
        true
    }

    /// Adds a node for a move, which is then played.
    fn attach(&self, draft: &mut GameBuilder, mv: RecordMove) -> Result<(), Limit> {
        if draft.line.ply as usize >= self.limits.plies {
            return Err(Limit::LineTooLong);
        }
        if draft.record.len() >= self.limits.moves {
            return Err(Limit::TooManyMoves);
        }
        let id = draft.record.attach(draft.line.last, mv).ok_or(Limit::TooManyMoves)?;
        draft.line.parent = mem::replace(&mut draft.line.last, id);
        draft.line.ply += 1;
        if !(draft.line.comments.is_empty() && draft.line.nags.is_empty())
            && let Some(annotations) = draft.record.annotations_mut(id)
        {
            annotations.before = mem::take(&mut draft.line.comments);
            annotations.nags = mem::take(&mut draft.line.nags);
        }
        Ok(())
    }

    /// Ends the current line. False if it is the main line.
    fn reject_line(&mut self, draft: &mut GameBuilder, reason: NoticeReason) -> bool {
        if draft.outer.is_empty() {
            self.reject_main_line(draft, reason);
            return false;
        }
        let kept = Self::kept(draft);
        self.notice_kept(reason, kept);
        draft.skipping = 1;
        true
    }

    fn reject_main_line(&mut self, draft: &GameBuilder, reason: NoticeReason) {
        let ply = draft.outer.first().map_or(draft.line.ply, |main| main.ply);
        self.notice_kept(reason, ReadExtent::MainLine(ply));
    }

    fn kept(draft: &GameBuilder) -> ReadExtent {
        if draft.outer.is_empty() {
            ReadExtent::MainLine(draft.line.ply)
        } else {
            ReadExtent::Variation(draft.line.ply)
        }
    }
}

impl GameBuilder {
    fn has_illegal_move(&self) -> bool {
        self.line.illegal.is_some()
    }

    /// Removes an illegal move that did not end the line. False if the rest of the line cannot be read.
    fn remove_illegal_move(&mut self) -> bool {
        let Some(Illegal { parent, comment }) = self.line.illegal.take() else { return true };
        let notes = self.record.detach(self.line.last);
        self.line.last = mem::replace(&mut self.line.parent, parent);
        self.line.ply = self.line.ply.saturating_sub(1);
        let Some(comment) = comment else { return false };
        let begins_variation = self.begins_variation();
        let comments = notes.before.into_iter().chain([comment]).chain(notes.comments);
        if begins_variation {
            self.line.comments.extend(comments);
            self.line.nags.extend(notes.nags);
        } else if let Some(annotations) = self.record.annotations_mut(self.line.last) {
            annotations.comments.extend(comments);
        }
        true
    }

    /// What follows at the end of a game without a result.
    fn rest_at_end(&self) -> Rest {
        match &self.line.illegal {
            Some(Illegal { comment: None, .. }) => Rest::Moves { depth: 0 },
            Some(_) | None => Rest::NextGame,
        }
    }

    fn add_comment(&mut self, text: &[u8]) {
        let mut text = text.trim_ascii();
        let begins_variation = self.line.illegal.is_none() && self.begins_variation();
        let turn = side(self.line.after.turn());
        if !begins_variation && text.starts_with(b"[%") {
            let Some(annotations) = self.record.annotations_mut(self.line.last) else { return };
            while let Some(rest) = command::read_first(text, turn, annotations) {
                text = rest;
            }
        }
        if text.is_empty() {
            return;
        }
        let text = decoded(text);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let text = without_line_breaks(text);
        if begins_variation {
            self.line.comments.push(text.into_owned());
        } else if let Some(annotations) = self.record.annotations_mut(self.line.last) {
            let mover = self.line.before.as_ref().map(|before| side(before.turn()));
            command::extract(&text, mover, turn, annotations);
        }
    }

    /// Adds comments to the last move.
    fn add_texts(&mut self, comments: Vec<String>) {
        if !comments.is_empty()
            && let Some(annotations) = self.record.annotations_mut(self.line.last)
        {
            annotations.comments.extend(comments);
        }
    }

    /// Whether the line is a variation without a move so far.
    fn begins_variation(&self) -> bool {
        self.line.before.is_none() && !self.outer.is_empty()
    }

    /// The side whose move a NAG annotates.
    fn annotated_side(&self) -> Color {
        let turn = self.line.after.turn();
        if self.begins_variation() { turn } else { !turn }
    }

    /// Adds a NAG to the last move, or to the next one at the start of a variation. False if the main
    /// line has no move yet.
    fn add_nag(&mut self, number: u8) -> bool {
        if self.begins_variation() {
            self.line.nags.push(Nag(number));
            return true;
        }
        if self.line.before.is_none() {
            return false;
        }
        if let Some(annotations) = self.record.annotations_mut(self.line.last) {
            annotations.nags.push(Nag(number));
        }
        true
    }
}

fn read_result(symbol: &[u8]) -> Option<GameResult> {
    // A fast exit for moves and numbers.
    match symbol {
        [b'*' | 0xC2, ..] | [b'0' | b'1', b'-' | b'/' | 0xE2, ..] => {}
        _ => return None,
    }
    GameResult::from_text(&std::str::from_utf8(symbol).ok()?.replace(['–', '—'], "-"))
}

fn side(color: Color) -> Side {
    color.fold_wb(Side::First, Side::Second)
}

/// The game of a `Variant` tag. Capitals, blanks and signs do not matter.
fn variant_of(name: &str) -> Option<Game> {
    let name: String = name
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    // The free chess servers have numbered start positions of chess.
    let is_wild = |name: &str| {
        let number = name.strip_prefix("wild").map(|number| number.trim_end_matches('a'));
        number.is_some_and(|byte| byte.len() == 1 && byte.bytes().all(|byte| byte.is_ascii_digit()))
    };
    Some(match name.as_str() {
        "" | "chess" | "standard" | "standardchess" | "normal" | "normalchess" | "regular"
        | "regularchess" | "classical" | "classic" | "classicalchess" | "orthodox"
        | "orthochess" | "fromposition" | "setup" | "odds" | "blitz" | "rapid" | "bullet"
        | "lightning" | "nocastle" => Game::Chess,
        name if is_wild(name) => Game::Chess,
        "chess960"
        | "960"
        | "chess9lx"
        | "c960"
        | "frc"
        | "fischerandom"
        | "fischerrandom"
        | "fischerandomchess"
        | "fischerrandomchess"
        | "fischer"
        | "dfrc"
        | "doublefischerrandom"
        | "doublefischerrandomchess"
        | "doublechess960"
        | "randomfischer"
        | "wildfr"
        | "freestyle"
        | "freestylechess"
        | "chess960freestyle" => Game::Chess960,
        _ => return None,
    })
}
