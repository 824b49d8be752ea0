//! Applies changes to a session: commands before they are sent, and lines of the engine before they are recorded.
//!
//! Replies are edited as text, token by token: parsing and writing them would repair other faults of a line.

use std::sync::LazyLock;
use std::time::Duration;

use readyok_protocol::{
    Clocks, Command, Dialect, Fen, Go, Move, MoveList, Party, ProtocolState, Reply, Root, Sfen,
};
use readyok_rules::{FenForm, Game, MoveCodec, Position, Side};

use crate::change::Change;
use crate::transcript::{GameOf, INPUT_ENDS, Transcript, canonical_move};

/// A pause before a command.
const PAUSE: Duration = Duration::from_millis(60);

/// Maximum number of pauses of a session, so that long sessions end.
const MAX_PAUSES: usize = 60;

/// Length from which a `position` command counts as long, in bytes.
const LONG: usize = 500;

/// Depth of a search in place of another limit.
const DEPTH: u32 = 2;

/// One step in place of a sent line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// Bytes of one line, with its end.
    Write(Vec<u8>),
    Pause(Duration),
    /// Send `isready`, and discard the lines up to `readyok`.
    AwaitReady,
    /// Handle this line as if the engine had sent it now.
    Receive(Received),
    /// Deliver `readyok` without recording it.
    Ready,
    /// Close the input.
    Close,
}

/// A position, and how it was sent.
#[derive(Clone, Debug)]
struct Placed {
    /// The position of the check. `None` if it is invalid.
    board: Option<Position>,
    /// The colors of the sent position are exchanged.
    is_mirrored: bool,
    /// No game leads to the position, which would be sent as its moves.
    is_unreachable: bool,
}

/// A line of the engine with changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Received {
    /// The line for the check.
    pub(crate) text: String,
    /// The line for the transcript: the colors are those of the sent position.
    pub(crate) recorded: String,
}

/// The changes of a session, and its state.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent states of a session")]
pub(crate) struct Alteration {
    changes: Vec<Change>,
    /// What follows a `bestmove` is read before the next search.
    drains: bool,
    dialect: Dialect,
    game: Game,
    /// `uci` or `usi` was sent.
    is_started: bool,
    /// The engine has sent `id`.
    is_identified: bool,
    /// The engine has completed its handshake.
    is_complete: bool,
    /// A new-game command, or a search, was sent.
    has_game: bool,
    /// A search has ended since the last `isready`.
    is_undrained: bool,
    /// The last `position` as the check sends it.
    position: Option<readyok_protocol::Position<'static>>,
    /// The same line as it was sent.
    line: Option<String>,
    /// Another command has followed it.
    is_interrupted: bool,
    /// The position of the next search.
    placed: Placed,
    /// The position of the last search.
    searched: Placed,
    /// The first move of the last PV.
    best: Option<String>,
    /// The search, as the check sends it.
    go: Go<'static>,
    /// `stop` or `ponderhit` was sent in the search.
    is_released: bool,
    /// The reply of a search that has not been released.
    held: Option<Received>,
    /// The engine has not sent a line since the last command.
    is_unheard: bool,
    pauses: usize,
}

impl Alteration {
    pub(crate) fn new(changes: &[Change], dialect: Dialect) -> Self {
        let board = Some(Position::start(dialect.game()));
        let start = Placed { board, is_mirrored: false, is_unreachable: false };
        Self {
            changes: changes.to_vec(),
            drains: changes.contains(&Change::ExtraBestMove) || changes.contains(&Change::LateInfo),
            dialect,
            game: dialect.game(),
            is_started: false,
            is_identified: false,
            is_complete: false,
            has_game: false,
            is_undrained: false,
            position: None,
            line: None,
            is_interrupted: false,
            placed: start.clone(),
            searched: start,
            best: None,
            go: Go::default(),
            is_released: false,
            held: None,
            is_unheard: false,
            pauses: 0,
        }
    }

    /// Reads what follows a `bestmove` before the next search, so that it is not taken for its output.
    pub(crate) fn with_drained_searches(mut self, drains: bool) -> Self {
        self.drains |= drains;
        self
    }

    /// Whether this is one of the changes.
    pub(crate) fn has(&self, change: Change) -> bool {
        self.changes.contains(&change)
    }

    /// The steps in place of a sent line. `is_searching` is the state before it.
    pub(crate) fn outgoing(&mut self, text: &str, bytes: &[u8], is_searching: bool) -> Vec<Step> {
        let command = Command::read(text, self.dialect).value.into_owned();
        let mut steps = Vec::new();
        if self.has(Change::Pauses) && self.is_unheard && self.pauses < MAX_PAUSES {
            self.pauses += 1;
            steps.push(Step::Pause(PAUSE));
        }
        let was_unheard = std::mem::replace(&mut self.is_unheard, true);
        let mut line = Line { text: text.to_owned(), bytes: bytes.to_vec() };
        if self.has(Change::SingleSpaces) {
            let tokens: Vec<&str> = text.split_ascii_whitespace().collect();
            line.set(tokens.join(" "));
        }
        if self.has(Change::LineFeeds) {
            line.end();
        }
        match command {
            Command::Uci => {
                self.is_started = true;
                steps.push(line.write());
            }
            Command::IsReady => self.ready(line, is_searching, &mut steps),
            Command::SetOption(ref set) => {
                let on = set.value.as_deref().is_some_and(|on| on.eq_ignore_ascii_case("true"));
                if self.dialect.same_option(&set.name, "UCI_Chess960") {
                    self.game = if on { Game::Chess960 } else { Game::Chess };
                }
                self.is_interrupted = true;
                steps.push(line.write());
            }
            Command::NewGame => {
                self.has_game = true;
                self.is_interrupted = true;
                steps.push(line.write());
            }
            Command::Position(position) => self.place(position, line, is_searching, &mut steps),
            Command::Go(go) => self.search(go, line, is_searching, &mut steps),
            Command::Stop => self.release(line, was_unheard && is_searching, &mut steps),
            Command::PonderHit(_) => self.release(line, false, &mut steps),
            Command::Quit => {
                if is_searching && self.has(Change::StopBeforeQuit) {
                    steps.extend([Step::Write(b"stop\n".to_vec()), Step::Pause(PAUSE)]);
                }
                steps.push(line.write());
                if self.has(Change::EndAfterQuit) {
                    steps.push(Step::Close);
                }
            }
            Command::Unknown(unknown) => {
                let is_dropped = if unknown.is_empty() {
                    self.has(Change::NoEmptyLines)
                } else {
                    self.has(Change::NoUnknownCommands)
                };
                self.is_interrupted = true;
                if !is_dropped {
                    steps.push(line.write());
                }
            }
            Command::Debug(_) | Command::Register(_) | Command::GameOver(_) => {
                self.is_interrupted = true;
                steps.push(line.write());
            }
        }
        if self.has(Change::SingleLines) {
            steps.push(Step::Pause(PAUSE));
        }
        steps
    }

    /// The steps before the input ends.
    pub(crate) fn at_end(&self) -> Option<Step> {
        self.has(Change::QuitBeforeEnd).then(|| Step::Write(b"quit\n".to_vec()))
    }

    fn ready(&mut self, line: Line, is_searching: bool, steps: &mut Vec<Step>) {
        if self.has(Change::NoReady) || is_searching && self.has(Change::NoReadyInSearch) {
            steps.push(Step::Ready);
            return;
        }
        self.is_interrupted = true;
        steps.push(line.write());
    }

    fn place(
        &mut self,
        position: readyok_protocol::Position<'static>,
        mut line: Line,
        is_searching: bool,
        steps: &mut Vec<Step>,
    ) {
        let last = self.position.replace(position.clone());
        let is_next = last.is_some_and(|last| {
            last.root == position.root && position.moves.as_str().starts_with(last.moves.as_str())
        });
        self.new_game(!is_next && self.has(Change::NewGameEach), is_searching, steps);
        let board = MoveCodec::usual(self.game).decode_position(&position).ok();
        self.placed = Placed { board, is_mirrored: false, is_unreachable: false };
        let mut sent = position;
        if self.has(Change::MovesFromStart) && sent.root != Root::StartPos {
            match from_start(&sent).filter(|_| self.game != Game::Chess960) {
                Some(moves) => sent = moves,
                None => self.placed.is_unreachable = true,
            }
        }
        if self.has(Change::FirstPlayerMoves)
            && let Some(other) = mirrored(&sent)
        {
            sent = other;
            self.placed.is_mirrored = true;
        }
        let is_long = LONG < line.text.len() && self.has(Change::ShortLines);
        if (is_long || self.has(Change::FenAfterMoves)) && !sent.moves.is_empty() {
            sent = as_fen(&sent, self.game).unwrap_or(sent);
        }
        if self.position.as_ref() != Some(&sent) {
            line.set_command(&Command::Position(sent), self.dialect);
        }
        self.line = Some(line.text.clone());
        self.is_interrupted = false;
        steps.push(line.write());
    }

    /// Sends a new-game command and `isready`, unless the engine searches.
    fn new_game(&mut self, is_needed: bool, is_searching: bool, steps: &mut Vec<Step>) {
        let is_first = self.has(Change::NewGameFirst) && !self.has_game && self.is_complete;
        if (is_needed || is_first) && !is_searching {
            self.has_game = true;
            steps.push(Step::Write(format!("{}\n", self.dialect.new_game()).into_bytes()));
            steps.push(Step::AwaitReady);
        }
    }

    fn search(
        &mut self,
        go: Go<'static>,
        mut line: Line,
        is_searching: bool,
        steps: &mut Vec<Step>,
    ) {
        self.new_game(false, is_searching, steps);
        self.has_game = true;
        if self.drains && self.is_undrained && !is_searching {
            self.is_undrained = false;
            steps.push(Step::AwaitReady);
            self.is_interrupted = true;
        }
        if self.is_interrupted
            && self.has(Change::PositionAgain)
            && !is_searching
            && let Some(position) = &self.line
        {
            steps.push(Step::Write(format!("{position}\n").into_bytes()));
        }
        if !is_searching {
            self.searched = self.placed.clone();
            self.best = None;
        }
        let mut sent = go.clone();
        if self.placed.is_mirrored {
            sent.search_moves = sent.search_moves.as_ref().map(mirrored_moves);
            sent.clocks = exchanged(&sent.clocks);
        }
        if self.has(Change::SwappedClocks) {
            sent.clocks = exchanged(&sent.clocks);
        }
        if self.has(Change::NoMovesToGo) {
            sent.clocks.moves_to_go = None;
        }
        if self.has(Change::NoIncrement) {
            (sent.clocks.white_increment, sent.clocks.black_increment) = (None, None);
        }
        let mut is_replaced = false;
        if sent.nodes.is_some() && self.has(Change::NodesAsDepth) {
            sent.nodes = None;
            is_replaced = true;
        }
        if sent.move_time.is_some() && self.has(Change::MoveTimeAsDepth) {
            sent.move_time = None;
            is_replaced = true;
        }
        if sent.mate.is_some() && self.has(Change::MateAsDepth) {
            sent.mate = None;
            is_replaced = true;
        }
        if !sent.clocks.is_empty() && self.has(Change::ClocksAsDepth) {
            sent.clocks = Clocks::default();
            is_replaced = true;
        }
        if is_replaced {
            sent.depth = sent.depth.or(Some(DEPTH));
        }
        if sent != go {
            line.set_command(&Command::Go(sent), self.dialect);
        }
        if !is_searching {
            self.go = go;
            self.is_released = false;
            self.held = None;
        }
        steps.push(line.write());
    }

    /// `stop` or `ponderhit`.
    fn release(&mut self, line: Line, is_immediate: bool, steps: &mut Vec<Step>) {
        self.is_released = true;
        if is_immediate && self.has(Change::LaterStop) {
            steps.push(Step::Pause(PAUSE * 2));
        }
        steps.push(line.write());
        steps.extend(self.held.take().map(Step::Receive));
    }

    /// The line in place of a line of the engine, if any. `is_searching` is the state before it.
    pub(crate) fn incoming(&mut self, text: &str, is_searching: bool) -> Option<Received> {
        let text = self.edited(text, is_searching)?;
        let recorded = if self.searched.is_mirrored { mirrored_reply(&text) } else { text.clone() };
        let received = Received { text, recorded };
        let is_held = self.go.ponder && self.has(Change::HeldPonder)
            || self.go.infinite && self.has(Change::HeldInfinite);
        let is_best = |text| matches!(Reply::read(text, self.dialect).value, Reply::BestMove(_));
        if is_held && is_searching && !self.is_released && is_best(&received.text) {
            self.held = Some(received);
            return None;
        }
        Some(received)
    }

    fn edited(&mut self, text: &str, is_searching: bool) -> Option<String> {
        self.is_unheard = false;
        let text = if self.has(Change::PlainLines) { plain(text, self.dialect) } else { text };
        let reply = Reply::read(text, self.dialect).value.into_owned();
        let is_declaration = matches!(reply, Reply::Id(_) | Reply::Option(_) | Reply::UciOk);
        // An option that is sent unprompted may arrive after `uci`, but before `id`.
        let is_early = matches!(reply, Reply::Option(_)) && !self.is_identified;
        if self.has(Change::UnpromptedHandshake)
            && (!self.is_started || is_early || self.is_complete && is_declaration)
        {
            return None;
        }
        self.is_identified |= matches!(reply, Reply::Id(_));
        match &reply {
            Reply::UciOk => self.is_complete = true,
            Reply::Unknown(text) if !text.is_empty() && self.has(Change::OtherLines) => {
                return None;
            }
            Reply::BestMove(_) if !is_searching => {
                if self.has(Change::ExtraBestMove) {
                    return None;
                }
            }
            Reply::Info(info) if !is_searching && info.string.is_none() => {
                if self.has(Change::LateInfo) {
                    return None;
                }
            }
            Reply::BestMove(_) => {
                self.is_undrained = true;
                return Some(self.best_move(text));
            }
            Reply::Info(info) => {
                let first = info.pv.as_ref().and_then(|pv| pv.tokens().next());
                let first = first.or_else(|| info.currmove.as_ref().map(Move::as_str));
                if let Some(first) = first {
                    let is_forbidden = self.is_legal(first) && !self.allows(first);
                    // The PV and the reply of a search have the same cause.
                    let is_illegal = self.has(Change::LegalMoves) && !self.is_legal(first);
                    if self.has(Change::SearchMoves) && is_forbidden
                        || self.is_of_start(first)
                        || is_illegal && !self.searched.is_mirrored
                    {
                        return None;
                    }
                    if info.multipv.is_none_or(|number| number == 1) && info.pv.is_some() {
                        self.best = Some(first.to_owned());
                    }
                }
                return Some(self.info(text));
            }
            Reply::Id(_)
            | Reply::Option(_)
            | Reply::ReadyOk
            | Reply::Checkmate(_)
            | Reply::CopyProtection(_)
            | Reply::Registration(_)
            | Reply::Unknown(_) => (),
        }
        Some(text.to_owned())
    }

    /// Whether `searchmoves` allows a move.
    fn allows(&self, token: &str) -> bool {
        let moves = self.go.search_moves.as_ref().filter(|moves| !moves.is_empty());
        moves.is_none_or(|moves| moves.tokens().any(|other| other == token))
    }

    fn is_legal(&self, token: &str) -> bool {
        self.searched.board.as_ref().is_some_and(|board| board.parse_move(token).is_ok())
    }

    /// Whether a move shows that the engine has searched the start position instead of one that no game leads to.
    fn is_of_start(&self, token: &str) -> bool {
        if !self.searched.is_unreachable {
            return false;
        }
        let start = Position::start(self.dialect.game());
        let is_possible = |token: &str| start.parse_move(token).is_ok();
        let mut wanted = self.go.search_moves.iter().flat_map(MoveList::tokens);
        let is_other = !self.allows(token) && !wanted.any(is_possible);
        (is_other || !self.is_legal(token)) && is_possible(token)
    }

    /// A changed `bestmove`.
    fn best_move(&self, text: &str) -> String {
        let text = if self.searched.is_mirrored { mirrored_reply(text) } else { text.to_owned() };
        let mut tokens: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let Some(best) = tokens.get(1).cloned() else { return text };
        let mut board = self.searched.board.clone();
        for token in tokens.iter_mut().skip(1) {
            self.rewrite(token, board.as_ref());
            board = board.and_then(|board| board.after([&*token]).ok());
        }
        if self.has(Change::SearchMoves) && self.is_legal(&best) && !self.allows(&best) {
            let first = self.go.search_moves.iter().flat_map(MoveList::tokens).next();
            return format!("bestmove {}", first.unwrap_or_default());
        }
        if self.is_of_start(&best)
            && self.searched.board.as_ref().is_some_and(|board| board.legal_moves().is_empty())
        {
            return format!("bestmove {}", self.dialect.no_move());
        }
        let is_replaced = self.is_of_start(&best)
            || self.has(Change::LegalMoves) && !tokens.get(1).is_some_and(|it| self.is_legal(it));
        if is_replaced && let Some(board) = &self.searched.board {
            let moves: Vec<String> = board
                .legal_moves()
                .into_iter()
                .map(|mv| mv.to_uci(self.game.castling_form()))
                .filter(|token| self.allows(token))
                .collect();
            let best = self.best.as_ref().filter(|best| moves.contains(best));
            if let Some(first) = best.or_else(|| moves.iter().min()) {
                return format!("bestmove {first}");
            }
        }
        tokens.join(" ")
    }

    /// A changed `info` line.
    fn info(&self, text: &str) -> String {
        let text = if self.searched.is_mirrored { mirrored_reply(text) } else { text.to_owned() };
        let (fields, string) = fields(&text);
        let mut tokens: Vec<String> = fields.split(' ').map(str::to_owned).collect();
        let mut board = None;
        for at in 1..tokens.len() {
            let (before, rest) = tokens.split_at_mut(at);
            let (Some(last), Some(token)) = (before.last(), rest.first_mut()) else { break };
            match last.as_str() {
                "cp" if self.has(Change::ScoreSide) && self.is_second() => negate(token),
                "mate" => {
                    if self.has(Change::ScoreSide) && self.is_second() {
                        negate(token);
                    }
                    if self.has(Change::MateUnit) {
                        *token = in_other_unit(token, self.dialect).unwrap_or_default();
                    }
                }
                "pv" | "currmove" | "refutation" => board.clone_from(&self.searched.board),
                _ => (),
            }
            if let Some(place) = &board {
                self.rewrite(token, Some(place));
                board = place.clone().after([&*token]).ok();
            }
        }
        tokens.join(" ") + string
    }

    fn is_second(&self) -> bool {
        self.searched.board.as_ref().is_some_and(|board| board.turn() == Side::Second)
    }

    /// Rewrites a move in the form of the protocol.
    fn rewrite(&self, token: &mut String, board: Option<&Position>) {
        let Some(board) = board else { return };
        if self.has(Change::MoveForm) && board.parse_move(token).is_err() {
            let plain = token.to_lowercase().replace('=', "");
            let drop = plain.split_once('*');
            let drop = drop.map(|(piece, square)| format!("{}*{square}", piece.to_uppercase()));
            let plain = drop.unwrap_or(plain);
            let is_promotion = |token: &String| board.parse_move(token).is_ok();
            if is_promotion(&plain) {
                *token = plain;
            }
        }
        let Some(expected) = canonical_move(board, token) else { return };
        // Two forms of castling differ in the square of arrival.
        let is_castling = expected.len() == 4 && expected.get(..2) == token.get(..2);
        let is_castling = is_castling && board.game() != Game::Shogi;
        if self.has(Change::MoveForm) || is_castling && self.has(Change::CastlingForm) {
            *token = expected;
        }
    }
}

/// A sent line.
struct Line {
    text: String,
    bytes: Vec<u8>,
}

impl Line {
    /// Replaces the text, and keeps the line end.
    fn set(&mut self, text: String) {
        if text == self.text {
            return;
        }
        let ends = self.bytes.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        let end = self.bytes.split_off(self.bytes.len() - ends);
        self.bytes = [text.as_bytes(), &end].concat();
        self.text = text;
    }

    fn set_command(&mut self, command: &Command<'_>, dialect: Dialect) {
        let mut text = String::new();
        // A command that cannot be written stays as it is.
        if command.write(dialect, &mut text).is_ok() {
            self.set(text);
        }
    }

    /// Ends the line with a line feed.
    fn end(&mut self) {
        while matches!(self.bytes.last(), Some(b'\n' | b'\r')) {
            self.bytes.pop();
        }
        self.bytes.push(b'\n');
    }

    fn write(self) -> Step {
        Step::Write(self.bytes)
    }
}

fn negate(token: &mut String) {
    *token = match token.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None => format!("-{token}"),
    };
}

/// A mate distance in the other unit: moves for plies in UCI, plies for moves in USI.
fn in_other_unit(token: &str, dialect: Dialect) -> Option<String> {
    let (sign, digits) = token.strip_prefix('-').map_or(("", token), |digits| ("-", digits));
    let number: u32 = digits.parse().ok()?;
    let other = match (dialect, sign) {
        (Dialect::Uci, _) => number.div_ceil(2),
        (Dialect::Usi, "") => number.saturating_mul(2).saturating_sub(1),
        (Dialect::Usi, _) => number.saturating_mul(2),
    };
    Some(format!("{sign}{other}"))
}

/// The text from the first token that begins a message.
fn plain(text: &str, dialect: Dialect) -> &str {
    let is_message = |text: &str| {
        let token = text.split(' ').next().unwrap_or_default();
        ["id", "option", "readyok", "bestmove", "info", dialect.handshake_ok()].contains(&token)
    };
    let starts = std::iter::once(0).chain(text.match_indices(' ').map(|(at, _)| at + 1));
    let mut rests = starts.filter_map(|at| text.get(at..));
    rests.find(|rest| is_message(rest)).unwrap_or(text)
}

/// The fields of a line, and its `string`.
fn fields(text: &str) -> (&str, &str) {
    text.find(" string ").map_or((text, ""), |at| text.split_at(at))
}

/// A line of the engine with exchanged colors.
fn mirrored_reply(text: &str) -> String {
    let (fields, string) = fields(text);
    let mirrored = |token: &str| mirrored_move(token).unwrap_or_else(|| token.to_owned());
    fields.split(' ').map(mirrored).collect::<Vec<_>>().join(" ") + string
}

/// A move with exchanged colors: chess boards are reflected, shogi boards rotated.
fn mirrored_move(token: &str) -> Option<String> {
    let bytes = token.as_bytes();
    let square = |file: u8, rank: u8| match (file, rank) {
        (b'a'..=b'h', b'1'..=b'8') => Some([file, b'1' + b'8' - rank]),
        (b'1'..=b'9', b'a'..=b'i') => Some([b'1' + b'9' - file, b'a' + b'i' - rank]),
        _ => None,
    };
    let (&[a, b, c, d], rest) = bytes.split_first_chunk::<4>()?;
    let to = square(c, d)?;
    let from = if b == b'*' && a.is_ascii_uppercase() { [a, b] } else { square(a, b)? };
    if 1 < rest.len() {
        return None;
    }
    String::from_utf8([&from, &to, rest].concat()).ok()
}

fn mirrored_moves(moves: &MoveList<'_>) -> MoveList<'static> {
    let mut other = MoveList::EMPTY;
    for token in moves.tokens() {
        // A token of a list is a token of another list.
        let _ = other.push_token(&mirrored_move(token).unwrap_or_else(|| token.to_owned()));
    }
    other
}

fn exchanged(clocks: &Clocks) -> Clocks {
    let mut other = *clocks;
    std::mem::swap(&mut other.white_time, &mut other.black_time);
    std::mem::swap(&mut other.white_increment, &mut other.black_increment);
    other
}

/// A position whose root has the second player to move, with exchanged colors.
fn mirrored(
    position: &readyok_protocol::Position<'_>,
) -> Option<readyok_protocol::Position<'static>> {
    let root = match &position.root {
        Root::StartPos => return None,
        Root::Fen(fen) => {
            let fields: Vec<&str> = fen.fields().collect();
            if fields.get(1) != Some(&"b") {
                return None;
            }
            Root::Fen(Fen::new(&mirrored_fen(&fields)).ok()?.into_owned())
        }
        Root::Sfen(sfen) => {
            let fields: Vec<&str> = sfen.fields().collect();
            if fields.get(1) != Some(&"w") {
                return None;
            }
            Root::Sfen(Sfen::new(&mirrored_sfen(&fields)).ok()?.into_owned())
        }
    };
    Some(readyok_protocol::Position { root, moves: mirrored_moves(&position.moves) })
}

fn in_other_case(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}

fn mirrored_fen(fields: &[&str]) -> String {
    let field = |(at, field): (usize, &&str)| match at {
        0 => {
            let ranks: Vec<&str> = field.rsplit('/').collect();
            ranks.join("/").chars().map(in_other_case).collect()
        }
        1 => "w".to_owned(),
        2 => {
            let mut rights: Vec<char> = field.chars().map(in_other_case).collect();
            // White's rights come first.
            rights.sort_by_key(char::is_ascii_lowercase);
            rights.into_iter().collect()
        }
        3 => field
            .chars()
            .map(|c| {
                if c == '3' {
                    '6'
                } else if c == '6' {
                    '3'
                } else {
                    c
                }
            })
            .collect::<String>(),
        _ => (*field).to_owned(),
    };
    fields.iter().enumerate().map(field).collect::<Vec<_>>().join(" ")
}

fn mirrored_sfen(fields: &[&str]) -> String {
    let field = |(at, field): (usize, &&str)| match at {
        0 => {
            let mut board = String::new();
            let mut cells = field.chars().rev().peekable();
            while let Some(c) = cells.next() {
                // The sign of promotion stands before its piece.
                board.extend(cells.next_if_eq(&'+'));
                board.push(in_other_case(c));
            }
            board
        }
        1 => "b".to_owned(),
        2 => {
            let (mut first, mut second, mut count) = (String::new(), String::new(), String::new());
            for c in field.chars() {
                if c.is_ascii_digit() {
                    count.push(c);
                    continue;
                }
                let other = in_other_case(c);
                let hand = if other.is_ascii_uppercase() { &mut first } else { &mut second };
                hand.push_str(&std::mem::take(&mut count));
                hand.push(other);
            }
            first + &second
        }
        _ => (*field).to_owned(),
    };
    fields.iter().enumerate().map(field).collect::<Vec<_>>().join(" ")
}

/// The position after the moves, without them.
fn as_fen(
    position: &readyok_protocol::Position<'_>,
    game: Game,
) -> Option<readyok_protocol::Position<'static>> {
    let text = MoveCodec::usual(game).decode_position(position).ok()?.text(FenForm::XFen);
    let root = match game {
        Game::Chess | Game::Chess960 => Root::Fen(Fen::new(&text).ok()?.into_owned()),
        Game::Shogi => Root::Sfen(Sfen::new(&text).ok()?.into_owned()),
    };
    Some(readyok_protocol::Position { root, moves: MoveList::EMPTY })
}

/// Games that lead to the positions of the checks: a position without its counters, a semicolon, and the moves.
static GAMES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    include_str!("games.txt").lines().filter_map(|line| line.split_once("; ")).collect()
});

/// Pieces, hands or castling rights, and the side to move: the fields that a game has to reach.
fn placement(text: &str) -> String {
    let counters = |token: &&str| token.chars().all(|c| c.is_ascii_digit());
    let fields: Vec<&str> = text.split(' ').filter(|token| !counters(token)).collect();
    fields.join(" ")
}

/// The same position as moves from the start position, if a game is known.
fn from_start(
    position: &readyok_protocol::Position<'_>,
) -> Option<readyok_protocol::Position<'static>> {
    let text = match &position.root {
        Root::StartPos => return None,
        Root::Fen(fen) => fen.as_str(),
        Root::Sfen(sfen) => sfen.as_str(),
    };
    let wanted = placement(text);
    let (_, game) = GAMES.iter().find(|(known, _)| *known == wanted)?;
    let mut moves = MoveList::EMPTY;
    for token in game.split(' ').chain(position.moves.tokens()) {
        moves.push_token(token).ok()?;
    }
    Some(readyok_protocol::Position { root: Root::StartPos, moves })
}

/// Whether a change affects a session.
pub(crate) fn applies(change: Change, transcript: &Transcript) -> bool {
    match change {
        Change::WholeLines => return transcript.is_fragmented,
        Change::SingleLines => return transcript.is_batched,
        _ => (),
    }
    let mut alteration = Alteration::new(&[change], transcript.dialect);
    let mut protocol = ProtocolState::new(transcript.dialect);
    for entry in &transcript.entries {
        let is_searching = protocol.is_searching();
        match entry.side {
            Party::Client if entry.text == INPUT_ENDS => {
                if alteration.at_end().is_some() {
                    return true;
                }
            }
            Party::Client => {
                let plain = || [entry.text.as_bytes(), b"\n"].concat();
                let bytes = entry.bytes.clone().unwrap_or_else(plain);
                let steps = alteration.outgoing(&entry.text, &bytes, is_searching);
                if steps != [Step::Write(bytes)] {
                    return true;
                }
                let command = Command::read(&entry.text, transcript.dialect).value;
                let _ = protocol.apply_command_lenient(&command);
            }
            Party::Engine => {
                let received = alteration.incoming(&entry.text, is_searching);
                if received.is_none_or(|received| received.text != entry.text) {
                    return true;
                }
                let reply = Reply::read(&entry.text, transcript.dialect).value;
                let _ = protocol.apply_reply_lenient(&reply);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str) -> readyok_protocol::Position<'static> {
        let dialect = if text.contains("sfen") { Dialect::Usi } else { Dialect::Uci };
        match Command::read(text, dialect).value {
            Command::Position(position) => position.into_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn games_lead_to_their_positions() {
        for (text, moves) in GAMES.iter() {
            let game = if text.split(' ').count() == 4 { Game::Chess } else { Game::Shogi };
            let reached = Position::start(game).after(moves.split(' ')).expect(text);
            assert_eq!(placement(&reached.text(FenForm::XFen)), *text, "{moves}");
        }
    }

    #[test]
    fn colors_are_exchanged() {
        for (text, expected) in [
            (
                "position fen 4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1 moves b4a3 e1d2",
                Some("position fen 4k3/8/8/pP6/8/8/8/4K3 w - a6 0 1 moves b5a6 e8d7"),
            ),
            (
                "position fen r3k2r/8/8/8/8/8/8/R3K3 b Qkq - 3 3",
                Some("position fen r3k3/8/8/8/8/8/8/R3K2R w KQq - 3 3"),
            ),
            ("position fen r3k2r/8/8/8/8/8/8/R3K3 w Qkq - 3 3", None),
            (
                "position sfen 4k4/9/9/9/9/2+r6/9/9/1K7 w R2g10p 1 moves G*8h",
                Some("position sfen 7k1/9/9/6+R2/9/9/9/9/4K4 b 2G10Pr 1 moves G*2b"),
            ),
            ("position startpos moves e2e4", None),
        ] {
            let found = mirrored(&position(text));
            assert_eq!(found, expected.map(position), "{text}");
        }
    }

    #[test]
    fn replies_are_edited_without_repairs_of_other_faults() {
        let mut alteration = Alteration::new(&[Change::ScoreSide, Change::MateUnit], Dialect::Uci);
        let sent = "position fen 4k3/8/8/8/8/8/8/4K2R b - - 0 1";
        alteration.outgoing(sent, format!("{sent}\n").as_bytes(), false);
        alteration.outgoing("go depth 1", b"go depth 1\n", false);
        let edited = alteration.incoming("info depth x score cp -35  nodes 1 string cp 3", true);
        assert_eq!(
            edited.map(|it| it.text).as_deref(),
            Some("info depth x score cp 35  nodes 1 string cp 3")
        );
        let edited = alteration.incoming("info score mate -3", true);
        assert_eq!(edited.map(|it| it.text).as_deref(), Some("info score mate 2"));
    }
}
