//! `go` and its limits.

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::clock::{Clocks, Color};
use crate::diagnostic::DiagnosticKind;
use crate::moves::MoveList;
use crate::parser::round_up;
use crate::parser::{self, MessageReader, in_any_case};
use crate::serializer::{self, WriteError};
use crate::tokenizer::{Token, Tokens, key};
use crate::{Command, Dialect, dialect};

/// `go` and its fields. A field that was not sent does not limit the search; the first limit
/// reached ends it.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Go<'a> {
    /// Search only these moves. `Some` and empty if `searchmoves` has no moves.
    #[doc(alias = "searchmoves")]
    pub search_moves: Option<MoveList<'a>>,
    /// Think on the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// The clocks of both sides.
    pub clocks: Clocks,
    /// Search this many plies.
    pub depth: Option<u32>,
    /// Search this many nodes.
    pub nodes: Option<u64>,
    /// Search for a mate.
    pub mate: Option<MateLimit>,
    /// Search for this time, from `ponderhit` if pondering. It is written in whole milliseconds,
    /// rounded up.
    #[doc(alias = "movetime")]
    #[cfg_attr(feature = "serde", serde(default, with = "crate::parser::optional_limit"))]
    pub move_time: Option<Duration>,
    /// Search for this time, or longer by a random part of it, so that self-play games differ
    /// (YaneuraOu, `go rtime`). It is written in whole milliseconds, rounded up.
    #[doc(alias = "rtime")]
    #[cfg_attr(feature = "serde", serde(default, with = "crate::parser::optional_limit"))]
    pub random_time: Option<Duration>,
    /// Search until `stop`.
    pub infinite: bool,
    /// Count the leaf nodes of the legal move tree at this depth (Stockfish and others).
    pub perft: Option<u32>,
    /// Unknown tokens in their order.
    pub unknown: Vec<Cow<'a, str>>,
    /// Limits without a usable value in their order: `movetime x`, or only the keyword.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub unusable: Vec<Cow<'a, str>>,
}

/// How a search ends.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Limitation {
    /// A bare `go`. Its end is the choice of the engine.
    None,
    /// `infinite`, or a mate search without a time.
    Infinite,
    /// At a limit.
    Limited,
    /// Limits were sent, but none of them is usable for the side to move.
    Unusable,
}

/// The limit of a mate search.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MateLimit {
    /// A mate in this number of moves (UCI `go mate 3`).
    Moves(u32),
    /// For this time (USI as deployed, `go mate 30000`). It is written in whole milliseconds,
    /// rounded up.
    Time(#[cfg_attr(feature = "serde", serde(with = "crate::parser::limit"))] Duration),
    /// Until the answer is known (USI, `go mate infinite` or `go mate`).
    Infinite,
}

impl Go<'_> {
    /// `go infinite`.
    pub fn infinite() -> Self {
        Self { infinite: true, ..Self::default() }
    }

    /// `go depth …`.
    pub fn depth(plies: u32) -> Self {
        Self { depth: Some(plies), ..Self::default() }
    }

    /// `go nodes …`.
    pub fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// `go movetime …`.
    pub fn move_time(time: Duration) -> Self {
        Self { move_time: Some(time), ..Self::default() }
    }

    /// `go wtime … btime …`.
    pub fn clocks(clocks: Clocks) -> Self {
        Self { clocks, ..Self::default() }
    }

    /// How the search of this side ends, apart from `stop` and, with `ponder`, before `ponderhit`.
    ///
    /// ```
    /// use readyok_protocol::{Color, Command, Dialect, Limitation};
    /// let limitation = |line| match Command::read(line, Dialect::Uci).value {
    ///     Command::Go(go) => go.limitation(Color::White),
    ///     _ => panic!("not `go`"),
    /// };
    /// assert_eq!(limitation("go"), Limitation::None);
    /// assert_eq!(limitation("go movetime 100.5"), Limitation::Limited);
    /// assert_eq!(limitation("go movetime x"), Limitation::Unusable);
    /// assert_eq!(limitation("go btime 1000"), Limitation::Unusable);
    /// ```
    pub fn limitation(&self, mover: Color) -> Limitation {
        let is_limited = self.depth.is_some()
            || self.nodes.is_some()
            || matches!(self.mate, Some(MateLimit::Moves(_) | MateLimit::Time(_)))
            || self.move_time.is_some()
            || self.random_time.is_some()
            || self.perft.is_some()
            || self.clocks.of(mover).is_some();
        let has_others =
            !self.clocks.is_empty() || !self.unknown.is_empty() || !self.unusable.is_empty();
        if self.infinite {
            Limitation::Infinite
        } else if is_limited {
            Limitation::Limited
        } else if has_others {
            Limitation::Unusable
        } else if self.mate.is_some() {
            Limitation::Infinite
        } else {
            Limitation::None
        }
    }

    /// Whether no usable value limits the search of any side. Engines differ in their reaction to a bare
    /// `go`: some search forever, some move immediately, some never answer.
    pub fn is_bare(&self) -> bool {
        let limits = [
            !self.clocks.is_empty(),
            self.depth.is_some(),
            self.nodes.is_some(),
            self.mate.is_some(),
            self.move_time.is_some(),
            self.random_time.is_some(),
            self.infinite,
            self.perft.is_some(),
        ];
        !limits.contains(&true)
    }

    /// The same search without borrows.
    pub fn into_owned(self) -> Go<'static> {
        Go {
            search_moves: self.search_moves.map(MoveList::into_owned),
            ponder: self.ponder,
            clocks: self.clocks,
            depth: self.depth,
            nodes: self.nodes,
            mate: self.mate,
            move_time: self.move_time,
            random_time: self.random_time,
            infinite: self.infinite,
            perft: self.perft,
            unknown: parser::into_owned(self.unknown),
            unusable: parser::into_owned(self.unusable),
        }
    }

    pub(super) fn write(
        &self,
        dialect: Dialect,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> Result<(), WriteError> {
        let mate_fits = match self.mate {
            None => true,
            Some(MateLimit::Moves(_)) => !dialect.mate_search_is_timed(),
            Some(MateLimit::Time(_) | MateLimit::Infinite) => dialect.mate_search_is_timed(),
        };
        if !mate_fits {
            return Err(WriteError::NotInDialect { what: "such a limit for `go mate`" });
        }
        serializer::check_unknown(&self.unknown, dialect::is_go_key)?;
        self.unusable.iter().try_for_each(|text| check_unusable(text, dialect))?;
        self.clocks.check(dialect)?;
        out.write_str("go")?;
        if self.ponder {
            out.write_str(" ponder")?;
        }
        write_clocks(&self.clocks, dialect, out)?;
        if self.has_only_clocks() { Ok(()) } else { self.write_limits(out) }
    }

    /// Whether only clocks limit the search, as in nearly all games.
    #[inline]
    fn has_only_clocks(&self) -> bool {
        let rest = (&self.search_moves, self.depth, self.nodes, self.mate, self.move_time);
        matches!(rest, (None, None, None, None, None))
            && matches!((self.infinite, self.perft, self.random_time), (false, None, None))
            && self.unknown.is_empty()
            && self.unusable.is_empty()
    }

    /// Writes what follows the clocks.
    fn write_limits(&self, out: &mut (impl fmt::Write + ?Sized)) -> Result<(), WriteError> {
        serializer::field(out, " depth ", self.depth)?;
        serializer::field(out, " nodes ", self.nodes)?;
        match self.mate {
            None => (),
            Some(MateLimit::Moves(moves)) => serializer::field(out, " mate ", Some(moves))?,
            Some(MateLimit::Time(time)) => serializer::signed(out, " mate ", Some(round_up(time)))?,
            // Read from the unusable text again.
            Some(MateLimit::Infinite) if self.unusable.iter().any(|text| is_mate(text)) => (),
            Some(MateLimit::Infinite) => out.write_str(" mate infinite")?,
        }
        serializer::signed(out, " movetime ", self.move_time.map(round_up))?;
        serializer::signed(out, " rtime ", self.random_time.map(round_up))?;
        serializer::field(out, " perft ", self.perft)?;
        if self.infinite {
            out.write_str(" infinite")?;
        }
        serializer::unknown(&self.unknown, out)?;
        // After the unknown tokens, which would be read as values of keywords.
        serializer::unknown(&self.unusable, out)?;
        // Stockfish reads every token after `searchmoves` as a move, so it comes last.
        if let Some(moves) = &self.search_moves {
            out.write_str(" searchmoves")?;
            if !moves.is_empty() {
                out.write_str(" ")?;
                out.write_str(moves.as_str())?;
            }
        }
        Ok(())
    }
}

/// Checks that a limit without a usable value is read back as one.
fn check_unusable(text: &str, dialect: Dialect) -> Result<(), WriteError> {
    serializer::check_line("unusable limit", text)?;
    match Command::read(&format!("go {text}"), dialect).value {
        Command::Go(Go { unknown, unusable, .. }) if unknown.is_empty() && unusable == [text] => {
            Ok(())
        }
        _ => Err(WriteError::Misread { field: "unusable limit" }),
    }
}

fn is_mate(unusable: &str) -> bool {
    Key::from_token(unusable.split(' ').next().unwrap_or_default()) == Some(Key::Mate)
}

/// Writes the clock fields of the dialect, in its convention and order.
pub(super) fn write_clocks(
    clocks: &Clocks,
    dialect: Dialect,
    out: &mut (impl fmt::Write + ?Sized),
) -> fmt::Result {
    let convention = dialect.clock_convention();
    if clocks.convention != convention {
        return write_clocks(&clocks.in_convention(convention), dialect, out);
    }
    // The first mover's clock comes first; some shogi engines rely on it.
    match dialect {
        Dialect::Uci => {
            serializer::signed(out, " wtime ", clocks.white_time)?;
            serializer::signed(out, " btime ", clocks.black_time)?;
            serializer::signed(out, " winc ", clocks.white_increment)?;
            serializer::signed(out, " binc ", clocks.black_increment)?;
        }
        Dialect::Usi => {
            serializer::signed(out, " btime ", clocks.black_time)?;
            serializer::signed(out, " wtime ", clocks.white_time)?;
            if clocks.byoyomi.is_some() && !clocks.has_increments() {
                serializer::signed(out, " byoyomi ", clocks.byoyomi)?;
            } else {
                serializer::signed(out, " binc ", clocks.black_increment)?;
                serializer::signed(out, " winc ", clocks.white_increment)?;
            }
        }
    }
    serializer::field(out, " movestogo ", clocks.moves_to_go)
}

#[derive(Clone, Copy, PartialEq)]
enum Key {
    SearchMoves,
    Ponder,
    WhiteTime,
    BlackTime,
    WhiteIncrement,
    BlackIncrement,
    Byoyomi,
    MovesToGo,
    Depth,
    Nodes,
    Mate,
    MoveTime,
    RandomTime,
    Infinite,
    Perft,
}

impl Key {
    fn from_token(token: &str) -> Option<Self> {
        Some(match token.as_bytes() {
            b"searchmoves" => Self::SearchMoves,
            b"ponder" => Self::Ponder,
            b"wtime" => Self::WhiteTime,
            b"btime" => Self::BlackTime,
            b"winc" => Self::WhiteIncrement,
            b"binc" => Self::BlackIncrement,
            b"byoyomi" => Self::Byoyomi,
            b"movestogo" => Self::MovesToGo,
            b"depth" => Self::Depth,
            b"nodes" => Self::Nodes,
            b"mate" => Self::Mate,
            b"movetime" => Self::MoveTime,
            b"rtime" => Self::RandomTime,
            b"infinite" => Self::Infinite,
            b"perft" => Self::Perft,
            _ => return None,
        })
    }

    const fn keyword(self) -> &'static str {
        match self {
            Self::SearchMoves => "searchmoves",
            Self::Ponder => "ponder",
            Self::WhiteTime => "wtime",
            Self::BlackTime => "btime",
            Self::WhiteIncrement => "winc",
            Self::BlackIncrement => "binc",
            Self::Byoyomi => "byoyomi",
            Self::MovesToGo => "movestogo",
            Self::Depth => "depth",
            Self::Nodes => "nodes",
            Self::Mate => "mate",
            Self::MoveTime => "movetime",
            Self::RandomTime => "rtime",
            Self::Infinite => "infinite",
            Self::Perft => "perft",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Reads the rest of `ponderhit`.
pub(super) fn read_clocks(reader: &mut MessageReader<'_>) -> Clocks {
    let all = reader.tokens.rest();
    let go = read(reader, &Times::default());
    let clocks = go.clocks;
    // Diagnostics for unknown tokens were added above.
    let rest = Go { clocks: Clocks::default(), unknown: Vec::new(), unusable: Vec::new(), ..go };
    if rest != Go::default() {
        reader.report(all, DiagnosticKind::TrailingText);
    }
    clocks
}

/// The usual times after `go`: unsigned numbers without overflow, each sent once.
///
/// Converted to [`Clocks`] only in the function that returns them, because copying just-written
/// smaller fields takes as long as reading two times.
#[derive(Default)]
pub(super) struct Times {
    /// In the order of [`TIMES`].
    values: [u64; TIMES.len()],
    /// Bit set of the keys that were read.
    seen: u16,
    /// Start of the rest of the line.
    pub(super) end: usize,
}

const TIMES: [(u64, Key); 5] = [
    (key("wtime"), Key::WhiteTime),
    (key("btime"), Key::BlackTime),
    (key("winc"), Key::WhiteIncrement),
    (key("binc"), Key::BlackIncrement),
    (key("byoyomi"), Key::Byoyomi),
];

impl Times {
    /// Reads a line that starts with `go`.
    #[inline]
    pub(super) fn read(line: &str) -> Self {
        let (mut values, mut seen) = ([0; TIMES.len()], 0);
        let mut tokens = Tokens::of(line);
        tokens.go_to("go".len());
        tokens.plain_fields(|token, number| {
            let mut slots = TIMES.iter().zip(&mut values);
            let Some(((_, key), value)) =
                slots.find(|((slot_keyword, _), _)| *slot_keyword == token)
            else {
                return false;
            };
            let is_first = seen & key.bit() == 0;
            if is_first {
                seen |= key.bit();
                *value = number;
            }
            is_first
        });
        Self { values, seen, end: tokens.at() }
    }

    #[inline]
    pub(super) fn clocks(&self, dialect: Dialect) -> Clocks {
        let [white_time, black_time, white_increment, black_increment, byoyomi] = self.values;
        let time =
            |key: Key, value: u64| (self.seen & key.bit() != 0).then_some(value.cast_signed());
        Clocks {
            white_time: time(Key::WhiteTime, white_time),
            black_time: time(Key::BlackTime, black_time),
            white_increment: time(Key::WhiteIncrement, white_increment),
            black_increment: time(Key::BlackIncrement, black_increment),
            byoyomi: time(Key::Byoyomi, byoyomi),
            moves_to_go: None,
            convention: dialect.clock_convention(),
        }
    }
}

/// Reads the rest of `go` after the usual times.
#[inline(never)]
pub(super) fn read<'a>(reader: &mut MessageReader<'a>, times: &Times) -> Go<'a> {
    let mut go = Go::clocks(times.clocks(reader.dialect));
    let mut seen = times.seen;
    let mut noted_order = false;
    reader.ignores_units = true;
    while let Some(token) = reader.tokens.next() {
        let exact = Key::from_token(token.text);
        let Some(key) = exact.or_else(|| in_any_case(token.text, Key::from_token)) else {
            reader.report(token, DiagnosticKind::UnknownToken);
            go.unknown.push(Cow::Borrowed(token.text));
            continue;
        };
        if exact.is_none() {
            reader.report(token, DiagnosticKind::WrongCase);
        }
        let bit = key.bit();
        if seen & bit != 0 {
            reader.report(token, DiagnosticKind::Repeated);
        }
        if seen & Key::SearchMoves.bit() & !bit != 0 && !noted_order {
            noted_order = true;
            reader.report(token, DiagnosticKind::AfterSearchMoves);
        }
        seen |= bit;
        let is_key = dialect::is_go_key;
        let value = reader.tokens.peek().filter(|token| !is_key(token.text));
        // A field with a missing or invalid value does not change an earlier field of its kind.
        // Clocks are read at a single call site below, where inlining pays off.
        let time = match key {
            Key::WhiteTime => &mut go.clocks.white_time,
            Key::BlackTime => &mut go.clocks.black_time,
            Key::WhiteIncrement => &mut go.clocks.white_increment,
            Key::BlackIncrement => &mut go.clocks.black_increment,
            Key::Byoyomi => &mut go.clocks.byoyomi,
            Key::SearchMoves => {
                go.search_moves = Some(reader.moves());
                continue;
            }
            Key::Ponder => {
                go.ponder = true;
                continue;
            }
            Key::Infinite => {
                go.infinite = true;
                continue;
            }
            Key::MovesToGo => {
                let moves = reader.small(is_key);
                set(&mut go.clocks.moves_to_go, moves, key, value, &mut go.unusable);
                continue;
            }
            Key::MoveTime => {
                set(&mut go.move_time, reader.limit(is_key), key, value, &mut go.unusable);
                continue;
            }
            Key::RandomTime => {
                set(&mut go.random_time, reader.limit(is_key), key, value, &mut go.unusable);
                continue;
            }
            Key::Depth => {
                set(&mut go.depth, reader.small(is_key), key, value, &mut go.unusable);
                continue;
            }
            Key::Perft => {
                set(&mut go.perft, reader.small(is_key), key, value, &mut go.unusable);
                continue;
            }
            Key::Nodes => {
                set(&mut go.nodes, reader.unsigned(is_key), key, value, &mut go.unusable);
                continue;
            }
            Key::Mate => {
                set(&mut go.mate, read_mate(reader), key, value, &mut go.unusable);
                continue;
            }
        };
        set(time, reader.signed(is_key), key, value, &mut go.unusable);
    }
    if go.mate.is_none()
        && reader.dialect.mate_search_is_timed()
        && go.unusable.iter().any(|text| is_mate(text))
    {
        // The answer is `checkmate`, regardless of the time.
        go.mate = Some(MateLimit::Infinite);
    }
    go
}

/// Sets a field to a usable value, or else stores the text.
#[inline]
fn set<'a, T>(
    field: &mut Option<T>,
    usable: Option<T>,
    key: Key,
    value: Option<Token<'a>>,
    unusable: &mut Vec<Cow<'a, str>>,
) {
    match usable {
        Some(_) => *field = usable,
        None => unusable.push(match value {
            Some(token) => Cow::Owned(format!("{} {}", key.keyword(), token.text)),
            None => Cow::Borrowed(key.keyword()),
        }),
    }
}

fn read_mate(reader: &mut MessageReader<'_>) -> Option<MateLimit> {
    if !reader.dialect.mate_search_is_timed() {
        return reader.small(dialect::is_go_key).map(MateLimit::Moves);
    }
    match reader.tokens.peek() {
        Some(token) if token.text == "infinite" => {
            reader.tokens.next();
            Some(MateLimit::Infinite)
        }
        Some(token) if !dialect::is_go_key(token.text) => {
            reader.limit(dialect::is_go_key).map(MateLimit::Time)
        }
        _ => Some(MateLimit::Infinite),
    }
}
