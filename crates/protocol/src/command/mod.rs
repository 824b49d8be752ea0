//! Messages from a client (GUI, match runner) to an engine.

mod go;
pub(crate) mod setoption;

pub use go::{Go, Limitation, MateLimit};
pub(crate) use setoption::{EmptyText, decoded, encoded};
pub use setoption::{OptionName, SetOption};

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::str::FromStr;

use crate::clock::Clocks;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Parsed};
use crate::parser::{MessageReader, Start};
use crate::position::{Fen, Position, Root, Sfen};
use crate::serializer::{self, OneLine, WriteError};
use crate::tokenizer::Token;
use crate::{Dialect, Move, MoveList, dialect};

/// A message from a client to an engine.
///
/// ```
/// use readyok_protocol::{Command, Dialect};
/// let reading = Command::read("joho debug on", Dialect::Uci);
/// assert_eq!(reading.value, Command::Debug(true));
/// assert_eq!(reading.diagnostics[0].span, 0..4);
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command<'a> {
    /// `uci` or `usi`: asks the engine for its name and options.
    Uci,
    /// `debug on` or `debug off`.
    Debug(bool),
    /// `isready`: the engine answers `readyok` after it has processed all earlier messages.
    IsReady,
    /// `setoption name … value …`.
    SetOption(SetOption<'a>),
    /// `register …`.
    Register(Register<'a>),
    /// `ucinewgame` or `usinewgame`: the next search belongs to another game.
    NewGame,
    /// `position …`.
    Position(Position<'a>),
    /// `go …`.
    Go(Go<'a>),
    /// `stop`: the search ends as soon as possible, with `bestmove`.
    Stop,
    /// `ponderhit`: the expected move was played and the clock is running. The clocks are an
    /// extension of YaneuraOu and ShogiHome.
    PonderHit(Clocks),
    /// `gameover win`, `lose` or `draw` (USI as deployed).
    GameOver(GameResult),
    /// `quit`.
    Quit,
    /// Any other line, without white space at its ends.
    Unknown(Cow<'a, str>),
}

/// `register …`: the answer to `registration error`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Register<'a> {
    /// The user does not want to register now.
    Later,
    /// The user's name and code; either may be missing.
    With {
        /// `name …`, which may contain spaces.
        name: Option<Cow<'a, str>>,
        /// `code …`, which may contain spaces.
        code: Option<Cow<'a, str>>,
    },
}

/// The result of a game from the engine's point of view.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum GameResult {
    /// The engine won.
    Win,
    /// The engine lost.
    Lose,
    /// The game was drawn or aborted.
    Draw,
}

/// The name of a command without its arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CommandKind {
    Uci,
    Debug,
    IsReady,
    SetOption,
    Register,
    NewGame,
    Position,
    Go,
    Stop,
    PonderHit,
    GameOver,
    Quit,
}

impl CommandKind {
    fn uci(token: &str) -> Option<Self> {
        Some(match token.as_bytes() {
            b"uci" => Self::Uci,
            b"ucinewgame" => Self::NewGame,
            _ => return Self::any(token),
        })
    }

    fn usi(token: &str) -> Option<Self> {
        Some(match token.as_bytes() {
            b"usi" => Self::Uci,
            b"usinewgame" => Self::NewGame,
            b"gameover" => Self::GameOver,
            _ => return Self::any(token),
        })
    }

    fn any(token: &str) -> Option<Self> {
        Some(match token.as_bytes() {
            b"debug" => Self::Debug,
            b"isready" => Self::IsReady,
            b"setoption" => Self::SetOption,
            b"register" => Self::Register,
            b"position" => Self::Position,
            b"go" => Self::Go,
            b"stop" => Self::Stop,
            b"ponderhit" => Self::PonderHit,
            b"quit" => Self::Quit,
            _ => return None,
        })
    }
}

impl<'a> Command<'a> {
    /// Reads one line. Never fails: unreadable parts are skipped or stored as text, with a
    /// diagnostic.
    ///
    /// Any white space and control characters at either end are ignored.
    pub fn read(line: &'a str, dialect: Dialect) -> Parsed<Self> {
        Self::read_named(line, dialect, &mut None)
    }

    /// Like [`read`](Self::read). Where the value is [`Unknown`](Self::Unknown) because the
    /// arguments of a known command are unusable, `malformed` is set to that command.
    pub(crate) fn read_named(
        line: &'a str,
        dialect: Dialect,
        malformed: &mut Option<CommandKind>,
    ) -> Parsed<Self> {
        // Fast path for the most frequent command.
        if line.starts_with("go ") {
            Self::read_go(line, dialect)
        } else {
            Self::read_any(line, dialect, malformed)
        }
    }

    #[inline(never)]
    fn read_any(
        line: &'a str,
        dialect: Dialect,
        malformed: &mut Option<CommandKind>,
    ) -> Parsed<Self> {
        let mut reader = MessageReader::new(line, dialect);
        let known = match dialect {
            Dialect::Uci => CommandKind::uci,
            Dialect::Usi => CommandKind::usi,
        };
        let whole = reader.tokens.clone();
        match reader.start(known, dialect::is_reply) {
            Start::Known(CommandKind::Go, _) => {
                return Self::read_limits(&mut reader, &go::Times::default());
            }
            Start::Known(kind, _) => {
                // The value is constructed in place, because copies of it are slow.
                if let Some(value) = Self::read_kind(kind, &mut reader) {
                    return reader.done(value);
                }
                *malformed = Some(kind);
            }
            Start::Unknown(Some(kind)) => reader.report(whole.rest(), kind),
            Start::Unknown(None) => (),
        }
        reader.done(Self::Unknown(Cow::Borrowed(whole.rest().text)))
    }

    /// Reads a line that starts with `go`. In nearly all games only times follow.
    #[inline(never)]
    fn read_go(line: &'a str, dialect: Dialect) -> Parsed<Self> {
        let times = go::Times::read(line);
        if times.end == line.len() {
            let clocks = times.clocks(dialect);
            return Parsed { value: Self::Go(Go::clocks(clocks)), diagnostics: Vec::new() };
        }
        let mut reader = MessageReader::new(line, dialect);
        reader.tokens.go_to(times.end);
        Self::read_limits(&mut reader, &times)
    }

    /// Reads the rest of `go` after the usual times.
    #[inline(never)]
    fn read_limits(reader: &mut MessageReader<'a>, times: &go::Times) -> Parsed<Self> {
        let go = go::read(reader, times);
        Parsed { value: Self::Go(go), diagnostics: mem::take(&mut reader.diagnostics) }
    }

    /// Reads the arguments. `None` if a required part is missing.
    fn read_kind(kind: CommandKind, reader: &mut MessageReader<'a>) -> Option<Self> {
        let command = match kind {
            CommandKind::Uci => Self::Uci,
            CommandKind::IsReady => Self::IsReady,
            CommandKind::NewGame => Self::NewGame,
            CommandKind::Stop => Self::Stop,
            CommandKind::Quit => Self::Quit,
            CommandKind::Debug => Self::Debug(reader.choose(|token| match token {
                "on" => Some(true),
                "off" => Some(false),
                _ => None,
            })?),
            CommandKind::GameOver => Self::GameOver(reader.choose(GameResult::from_token)?),
            CommandKind::SetOption => return setoption::read(reader).map(Self::SetOption),
            CommandKind::Register => return Register::read(reader).map(Self::Register),
            CommandKind::Position => return read_position(reader).map(Self::Position),
            CommandKind::Go => return Some(Self::Go(go::read(reader, &go::Times::default()))),
            CommandKind::PonderHit => return Some(Self::PonderHit(go::read_clocks(reader))),
        };
        reader.expect_end();
        Some(command)
    }

    /// Writes the line, without a line end.
    ///
    /// # Errors
    /// A text in the command would break the line or be read differently, or the dialect has no such
    /// command: nothing was written. Or the sink failed.
    pub fn write(
        &self,
        dialect: Dialect,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> Result<(), WriteError> {
        match self {
            Self::Uci => out.write_str(dialect.handshake())?,
            Self::Debug(true) => out.write_str("debug on")?,
            Self::Debug(false) => out.write_str("debug off")?,
            Self::IsReady => out.write_str("isready")?,
            Self::SetOption(it) => return it.write(out),
            Self::Register(it) => return it.write(out),
            Self::NewGame => out.write_str(dialect.new_game())?,
            Self::Position(it) => write_position(it, out)?,
            Self::Go(it) => return it.write(dialect, out),
            Self::Stop => out.write_str("stop")?,
            Self::PonderHit(clocks) => {
                clocks.check(dialect)?;
                out.write_str("ponderhit")?;
                go::write_clocks(clocks, dialect, out)?;
            }
            Self::GameOver(result) => {
                if !dialect.has_game_over() {
                    return Err(WriteError::NotInDialect { what: "`gameover`" });
                }
                out.write_str("gameover ")?;
                out.write_str(result.keyword())?;
            }
            Self::Quit => out.write_str("quit")?,
            Self::Unknown(text) => {
                serializer::check_line("command", text)?;
                if Command::read(text, dialect).value != *self {
                    return Err(WriteError::Misread { field: "unknown command" });
                }
                out.write_str(text)?;
            }
        }
        Ok(())
    }

    /// The same command without borrows.
    pub fn into_owned(self) -> Command<'static> {
        match self {
            Self::Uci => Command::Uci,
            Self::Debug(on) => Command::Debug(on),
            Self::IsReady => Command::IsReady,
            Self::SetOption(it) => Command::SetOption(it.into_owned()),
            Self::Register(it) => Command::Register(it.into_owned()),
            Self::NewGame => Command::NewGame,
            Self::Position(it) => Command::Position(it.into_owned()),
            Self::Go(it) => Command::Go(it.into_owned()),
            Self::Stop => Command::Stop,
            Self::PonderHit(clocks) => Command::PonderHit(clocks),
            Self::GameOver(result) => Command::GameOver(result),
            Self::Quit => Command::Quit,
            Self::Unknown(text) => Command::Unknown(Cow::Owned(text.into_owned())),
        }
    }
}

impl Dialect {
    /// The dialect of a handshake command (`uci` or `usi`), in any case and after unknown tokens,
    /// as tolerated by [`Command::read`].
    ///
    /// ```
    /// use readyok_protocol::Dialect;
    /// assert_eq!(Dialect::of_handshake("usi"), Some(Dialect::Usi));
    /// assert_eq!(Dialect::of_handshake("isready"), None);
    /// ```
    pub fn of_handshake(line: &str) -> Option<Self> {
        /// The first command of a line.
        enum First {
            Handshake(Dialect),
            Other,
        }
        fn known(token: &str) -> Option<First> {
            let dialect = Dialect::ALL.into_iter().find(|dialect| dialect.handshake() == token);
            dialect.map(First::Handshake).or_else(|| {
                CommandKind::uci(token).or_else(|| CommandKind::usi(token)).map(|_| First::Other)
            })
        }
        match MessageReader::new(line, Self::default()).start(known, dialect::is_reply) {
            Start::Known(First::Handshake(dialect), _) => Some(dialect),
            Start::Known(First::Other, _) | Start::Unknown(_) => None,
        }
    }
}

impl GameResult {
    /// The token of the result: `win`, `lose` or `draw`.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Lose => "lose",
            Self::Draw => "draw",
        }
    }

    fn from_token(token: &str) -> Option<Self> {
        [Self::Win, Self::Lose, Self::Draw].into_iter().find(|result| result.keyword() == token)
    }
}

impl<'a> Register<'a> {
    fn read(reader: &mut MessageReader<'a>) -> Option<Self> {
        let first = reader.tokens.peek();
        if first.is_some_and(|token| token.text.eq_ignore_ascii_case("later")) {
            reader.tokens.next();
            reader.expect_end();
            return Some(Self::Later);
        }
        let (mut name, mut code) = (None, None);
        while let Some(key) = reader.tokens.next() {
            let slot = match key.text {
                "name" => &mut name,
                "code" => &mut code,
                _ => {
                    reader.report(key, DiagnosticKind::UnknownToken);
                    continue;
                }
            };
            let start = reader.tokens.next_start();
            let mut end = start;
            while let Some(token) = reader.tokens.peek() {
                // A second `name` belongs to the text.
                let starts_other = match token.text {
                    "name" => key.text == "code",
                    "code" => key.text == "name",
                    _ => false,
                };
                if starts_other {
                    break;
                }
                reader.tokens.next();
                end = token.end();
            }
            if end == start {
                reader.report_at(start..start, DiagnosticKind::Missing);
                continue;
            }
            if slot.is_some() {
                reader.report(key, DiagnosticKind::Repeated);
            }
            *slot = Some(Cow::Borrowed(reader.tokens.slice(start, end).text));
        }
        if name.is_none() && code.is_none() {
            reader.report_missing(DiagnosticKind::Missing);
            return None;
        }
        Some(Self::With { name, code })
    }

    fn write(&self, out: &mut (impl fmt::Write + ?Sized)) -> Result<(), WriteError> {
        let Self::With { name, code } = self else {
            out.write_str("register later")?;
            return Ok(());
        };
        if let Some(name) = name {
            serializer::check_text("name", name, &["code"])?;
        }
        if let Some(code) = code {
            serializer::check_text("code", code, &["name"])?;
        }
        if name.is_none() && code.is_none() {
            return Err(WriteError::Blank { field: "registration" });
        }
        out.write_str("register")?;
        for (key, text) in [(" name ", name), (" code ", code)] {
            if let Some(text) = text {
                out.write_str(key)?;
                out.write_str(text)?;
            }
        }
        Ok(())
    }

    /// The same answer without borrows.
    pub fn into_owned(self) -> Register<'static> {
        let owned = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Later => Register::Later,
            Self::With { name, code } => {
                Register::With { name: name.map(owned), code: code.map(owned) }
            }
        }
    }
}

fn is(token: Token<'_>, keyword: &str) -> bool {
    token.text.eq_ignore_ascii_case(keyword)
}

fn note_case(token: Token<'_>, keyword: &str, reader: &mut MessageReader<'_>) {
    if token.text != keyword {
        reader.report(token, DiagnosticKind::WrongCase);
    }
}

/// Reads the rest of `position`. `None` if the position is missing or invalid.
fn read_position<'a>(reader: &mut MessageReader<'a>) -> Option<Position<'a>> {
    let root = loop {
        let Some(token) = reader.tokens.peek() else {
            reader.report_missing(DiagnosticKind::Missing);
            return None;
        };
        // A FEN without its keyword is recognized by the rank separators.
        let bare = token.text.contains('/');
        if !bare {
            reader.tokens.next();
        }
        if bare {
            reader.report_missing(DiagnosticKind::MissingKeyword);
            break read_root(reader, reader.dialect.position_keyword() == "sfen")?;
        }
        let Some(keyword) =
            ["startpos", "fen", "sfen"].into_iter().find(|keyword| is(token, keyword))
        else {
            reader.report(token, DiagnosticKind::UnknownToken);
            continue;
        };
        note_case(token, keyword, reader);
        match keyword {
            "startpos" => break Root::StartPos,
            _ => break read_root(reader, keyword == "sfen")?,
        }
    };
    let mut moves = MoveList::EMPTY;
    while let Some(token) = reader.tokens.peek() {
        if is(token, "moves") {
            reader.tokens.next();
            note_case(token, "moves", reader);
            // `position startpos moves` without moves is common.
            if reader.tokens.peek().is_none() {
                break;
            }
        } else if Move::read_lenient(token.text, reader.dialect).is_ok() {
            reader.report_missing(DiagnosticKind::MissingKeyword);
        } else {
            reader.tokens.next();
            reader.report(token, DiagnosticKind::UnknownToken);
            continue;
        }
        let more = reader.moves();
        if moves.is_empty() {
            moves = more;
        } else {
            reader.report(token, DiagnosticKind::Repeated);
            more.tokens().for_each(|token| moves.push_checked(token));
        }
    }
    Some(Position { root, moves })
}

fn read_root<'a>(reader: &mut MessageReader<'a>, is_sfen: bool) -> Option<Root<'a>> {
    let start = reader.tokens.next_start();
    let mut end = start;
    while let Some(token) = reader.tokens.peek().filter(|token| !is(*token, "moves")) {
        reader.tokens.next();
        end = token.end();
    }
    let text = reader.tokens.slice(start, end).text;
    let root = if is_sfen {
        Sfen::new(text).map(|sfen| (sfen.is_usual(), Root::Sfen(sfen)))
    } else {
        Fen::new(text).map(|fen| (fen.is_usual(), Root::Fen(fen)))
    };
    match root {
        Ok((usual, root)) => {
            if !usual {
                reader.report_at(start..end, DiagnosticKind::UnusualPosition);
            }
            Some(root)
        }
        Err(error) => {
            let span = start + error.span.start..start + error.span.end;
            reader.report_at(span, DiagnosticKind::BadPosition);
            None
        }
    }
}

fn write_position(
    position: &Position<'_>,
    out: &mut (impl fmt::Write + ?Sized),
) -> Result<(), WriteError> {
    match &position.root {
        Root::StartPos => out.write_str("position startpos")?,
        Root::Fen(fen) => {
            out.write_str("position fen ")?;
            out.write_str(fen.as_str())?;
        }
        Root::Sfen(sfen) => {
            out.write_str("position sfen ")?;
            out.write_str(sfen.as_str())?;
        }
    }
    if !position.moves.is_empty() {
        out.write_str(" moves ")?;
        out.write_str(position.moves.as_str())?;
    }
    Ok(())
}

/// A line that is not a UCI command, or a malformed one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommandError {
    /// The line.
    pub line: String,
    /// The diagnostics of the line.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a command", self.line.escape_debug())?;
        match self.diagnostics.first() {
            Some(diagnostic) => write!(f, ": {}", diagnostic.in_line(&self.line)),
            None => Ok(()),
        }
    }
}

impl core::error::Error for CommandError {}

impl FromStr for Command<'static> {
    type Err = CommandError;

    /// Reads a UCI line leniently. For the diagnostics, and for USI, see [`Command::read`].
    ///
    /// # Errors
    /// The line is not a command, or it is malformed.
    fn from_str(line: &str) -> Result<Self, CommandError> {
        let reading = Command::read(line, Dialect::Uci);
        match reading.value {
            Command::Unknown(_) => {
                Err(CommandError { line: line.into(), diagnostics: reading.diagnostics })
            }
            command => Ok(command.into_owned()),
        }
    }
}

impl fmt::Display for Command<'_> {
    /// The UCI line. Line ends in a text are replaced by spaces; to send a command, use
    /// [`Command::write`], which rejects them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.write(Dialect::Uci, &mut OneLine(f)) {
            Ok(()) => Ok(()),
            Err(WriteError::Sink) => Err(fmt::Error),
            Err(_) => fmt::Write::write_fmt(&mut OneLine(f), format_args!("{self:?}")),
        }
    }
}
