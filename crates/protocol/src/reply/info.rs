//! `info`: search information, and when its optional details may be reported.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::diagnostic::DiagnosticKind;
use crate::moves::{Move, MoveList};
use crate::parser::{MessageReader, in_any_case};
use crate::score::{Bound, Score, Wdl};
use crate::serializer::WriteError;
use crate::tokenizer::Token;
use crate::{Dialect, OptionDecl, OptionSet, OptionValue, parser, serializer};

/// An `info` line. Fields that were not sent are `None`.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Info<'a> {
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// Selective depth in plies.
    pub seldepth: Option<u32>,
    /// Rank of the variation with MultiPV; 1 is the best.
    #[doc(alias = "MultiPV")]
    pub multipv: Option<u32>,
    /// Score from the point of view of the side to move.
    pub score: Option<Score>,
    /// Whether the score is exact or a bound.
    pub bound: Bound,
    /// Probabilities of win, draw and loss (`UCI_ShowWDL`).
    pub wdl: Option<Wdl>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes per second.
    pub nps: Option<u64>,
    /// Evaluations per second (lc0, `UCI_ShowEPS`).
    pub eps: Option<u64>,
    /// Hash usage in permille.
    pub hashfull: Option<u32>,
    /// Tablebase hits.
    pub tbhits: Option<u64>,
    /// Hits in the Shredder endgame databases.
    pub sbhits: Option<u64>,
    /// CPU usage in permille.
    pub cpuload: Option<u32>,
    /// Time since the search started. It is written in whole milliseconds, rounded down.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::parser::elapsed"))]
    pub time: Option<Duration>,
    /// Estimated moves until the end of the game (lc0, `UCI_ShowMovesLeft`).
    pub movesleft: Option<u32>,
    /// The move being searched. A token that is not a move is stored in `unknown`, after `currmove`.
    pub currmove: Option<Move>,
    /// Its number, from 1.
    pub currmovenumber: Option<u32>,
    /// A move and its refutation (`UCI_ShowRefutations`).
    pub refutation: Option<MoveList<'a>>,
    /// The line being searched (`UCI_ShowCurrLine`).
    pub currline: Option<CurrentLine<'a>>,
    /// The principal variation.
    pub pv: Option<MoveList<'a>>,
    /// Unknown tokens in their order, and `currmove` with a token that is not a move.
    pub unknown: Vec<Cow<'a, str>>,
    /// The text after `string` and one white space, up to the end of the line.
    pub string: Option<Cow<'a, str>>,
}

/// `currline`: the line that a CPU is searching.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CurrentLine<'a> {
    /// Number of the CPU, from 1. `None` if it was not sent.
    pub cpu: Option<u32>,
    /// The moves.
    pub moves: MoveList<'a>,
}

impl<'a> Info<'a> {
    /// `info string …`.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self { string: Some(text.into()), ..Self::default() }
    }

    /// [`time`](Self::time) in whole milliseconds, as it is written.
    pub fn time_ms(&self) -> Option<u64> {
        self.time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    /// The same without borrows.
    pub fn into_owned(self) -> Info<'static> {
        Info {
            refutation: self.refutation.map(MoveList::into_owned),
            currline: self
                .currline
                .map(|line| CurrentLine { cpu: line.cpu, moves: line.moves.into_owned() }),
            pv: self.pv.map(MoveList::into_owned),
            unknown: parser::into_owned(self.unknown),
            string: self.string.map(|text| Cow::Owned(text.into_owned())),
            depth: self.depth,
            seldepth: self.seldepth,
            multipv: self.multipv,
            score: self.score,
            bound: self.bound,
            wdl: self.wdl,
            nodes: self.nodes,
            nps: self.nps,
            eps: self.eps,
            hashfull: self.hashfull,
            tbhits: self.tbhits,
            sbhits: self.sbhits,
            cpuload: self.cpuload,
            time: self.time,
            movesleft: self.movesleft,
            currmove: self.currmove,
            currmovenumber: self.currmovenumber,
        }
    }

    pub(super) fn write(
        &self,
        dialect: Dialect,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> Result<(), WriteError> {
        if let Some(text) = &self.string {
            serializer::check_line("text of `info string`", text)?;
        }
        let is_move = |token: &str| Move::read_lenient(token, dialect).is_ok();
        serializer::check_unknown_moves(&self.unknown, CURRMOVE, Key::is_token, is_move)?;
        if let Some(it) = self.currmove {
            serializer::check_move(it, dialect)?;
        }
        let current = self.currline.as_ref().map(|line| &line.moves);
        if let Some(line) = self.currline.as_ref().filter(|line| line.cpu.is_none())
            && line.moves.tokens().next().is_some_and(|token| cpu_number(token).is_some())
        {
            return Err(WriteError::Misread { field: "current line" });
        }
        let has_field =
            |line: Option<&MoveList<'_>>| line.is_some_and(|line| line.has_field(dialect));
        if has_field(self.pv.as_ref()) || has_field(self.refutation.as_ref()) || has_field(current)
        {
            return Err(WriteError::Misread { field: "line of moves" });
        }
        out.write_str("info")?;
        serializer::field(out, " depth ", self.depth)?;
        serializer::field(out, " seldepth ", self.seldepth)?;
        serializer::field(out, " multipv ", self.multipv)?;
        self.write_score(dialect, out)?;
        serializer::field(out, " nodes ", self.nodes)?;
        serializer::field(out, " nps ", self.nps)?;
        serializer::field(out, " eps ", self.eps)?;
        serializer::field(out, " hashfull ", self.hashfull)?;
        serializer::field(out, " tbhits ", self.tbhits)?;
        serializer::field(out, " sbhits ", self.sbhits)?;
        serializer::field(out, " cpuload ", self.cpuload)?;
        serializer::field(out, " time ", self.time_ms())?;
        serializer::field(out, " movesleft ", self.movesleft)?;
        if let Some(it) = &self.currmove {
            out.write_str(" currmove ")?;
            out.write_str(it.as_str())?;
        }
        serializer::field(out, " currmovenumber ", self.currmovenumber)?;
        serializer::unknown(&self.unknown, out)?;
        write_moves(" refutation", self.refutation.as_ref(), out)?;
        if let Some(line) = &self.currline {
            out.write_str(" currline")?;
            serializer::field(out, " ", line.cpu)?;
            write_moves("", Some(&line.moves), out)?;
        }
        write_moves(" pv", self.pv.as_ref(), out)?;
        if let Some(text) = &self.string {
            out.write_str(" string ")?;
            out.write_str(text)?;
        }
        Ok(())
    }

    fn write_score(&self, dialect: Dialect, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
        if let Some(score) = self.score {
            match (score, score.mate_number(dialect)) {
                (Score::Cp(cp), _) => serializer::signed(out, " score cp ", Some(cp))?,
                (_, Some((sign, count))) => {
                    out.write_str(" score mate ")?;
                    out.write_str(sign)?;
                    if let Some(count) = count {
                        serializer::integer(out, count.into())?;
                    }
                }
                (_, None) => (),
            }
        } else if self.bound != Bound::Exact {
            out.write_str(" score")?;
        }
        if self.bound != Bound::Exact {
            out.write_str(" ")?;
            out.write_str(self.bound.keyword())?;
        }
        if let Some(wdl) = self.wdl {
            serializer::field(out, " wdl ", Some(wdl.win))?;
            serializer::field(out, " ", Some(wdl.draw))?;
            serializer::field(out, " ", Some(wdl.loss))?;
        }
        Ok(())
    }
}

fn write_moves(
    key: &str,
    moves: Option<&MoveList<'_>>,
    out: &mut (impl fmt::Write + ?Sized),
) -> fmt::Result {
    let Some(moves) = moves else { return Ok(()) };
    out.write_str(key)?;
    if !moves.is_empty() {
        out.write_str(" ")?;
        out.write_str(moves.as_str())?;
    }
    Ok(())
}

const CURRMOVE: &str = "currmove";

#[derive(Clone, Copy, PartialEq)]
enum Key {
    Depth,
    Seldepth,
    Multipv,
    Score,
    Cp,
    Mate,
    Lowerbound,
    Upperbound,
    Wdl,
    Nodes,
    Nps,
    Eps,
    Hashfull,
    Tbhits,
    Sbhits,
    Cpuload,
    Time,
    Movesleft,
    Currmove,
    Currmovenumber,
    Refutation,
    Currline,
    Pv,
    String,
}

impl Key {
    fn from_token(token: &str) -> Option<Self> {
        Some(match token.as_bytes() {
            b"depth" => Self::Depth,
            b"seldepth" => Self::Seldepth,
            b"multipv" => Self::Multipv,
            b"score" => Self::Score,
            b"cp" => Self::Cp,
            b"mate" => Self::Mate,
            b"lowerbound" => Self::Lowerbound,
            b"upperbound" => Self::Upperbound,
            b"wdl" => Self::Wdl,
            b"nodes" => Self::Nodes,
            b"nps" => Self::Nps,
            b"eps" => Self::Eps,
            b"hashfull" => Self::Hashfull,
            b"tbhits" => Self::Tbhits,
            b"sbhits" => Self::Sbhits,
            b"cpuload" => Self::Cpuload,
            b"time" => Self::Time,
            b"movesleft" => Self::Movesleft,
            b"currmove" => Self::Currmove,
            b"currmovenumber" => Self::Currmovenumber,
            b"refutation" => Self::Refutation,
            b"currline" => Self::Currline,
            b"pv" => Self::Pv,
            b"string" => Self::String,
            _ => return None,
        })
    }

    fn is_token(token: &str) -> bool {
        Self::from_token(token).is_some()
    }

    /// Fields that may be repeated: they are parts of the score.
    fn may_repeat(self) -> bool {
        matches!(self, Self::Score | Self::Cp | Self::Mate)
    }
}

/// Reads the rest of `info`.
pub(super) fn read<'a>(reader: &mut MessageReader<'a>) -> Info<'a> {
    let mut info = Info::default();
    let mut seen = 0u32;
    let mut seldepth = None;
    while let Some(token) = reader.tokens.next() {
        let exact = Key::from_token(token.text);
        let Some(key) = exact.or_else(|| in_any_case(token.text, Key::from_token)) else {
            reader.report(token, DiagnosticKind::UnknownToken);
            info.unknown.push(Cow::Borrowed(token.text));
            continue;
        };
        if exact.is_none() {
            reader.report(token, DiagnosticKind::WrongCase);
        }
        let bit = 1 << key as u32;
        if seen & bit != 0 && !key.may_repeat() {
            reader.report(token, DiagnosticKind::Repeated);
        }
        seen |= bit;
        if key == Key::Seldepth {
            seldepth = Some(token);
        }
        read_field(key, token, reader, &mut info);
    }
    if info.bound != Bound::Exact && info.score.is_none() {
        reader.report_missing(DiagnosticKind::Missing);
    }
    if let (Some(token), None) = (seldepth, info.depth) {
        reader.report(token, DiagnosticKind::SeldepthWithoutDepth);
    }
    info
}

fn read_field<'a>(key: Key, token: Token<'a>, reader: &mut MessageReader<'a>, info: &mut Info<'a>) {
    // A field with a missing or invalid value does not change an earlier field of its kind.
    match key {
        Key::Depth | Key::Seldepth if let Some((depth, seldepth)) = read_depths(reader) => {
            (info.depth, info.seldepth) = (Some(depth), Some(seldepth));
        }
        Key::Depth => info.depth = reader.small(Key::is_token).or(info.depth),
        Key::Seldepth => info.seldepth = reader.small(Key::is_token).or(info.seldepth),
        Key::Multipv => info.multipv = reader.small(Key::is_token).or(info.multipv),
        Key::Nodes => info.nodes = reader.unsigned(Key::is_token).or(info.nodes),
        Key::Nps => info.nps = reader.unsigned(Key::is_token).or(info.nps),
        Key::Eps => info.eps = reader.unsigned(Key::is_token).or(info.eps),
        Key::Hashfull => info.hashfull = reader.small(Key::is_token).or(info.hashfull),
        Key::Tbhits => info.tbhits = reader.unsigned(Key::is_token).or(info.tbhits),
        Key::Sbhits => info.sbhits = reader.unsigned(Key::is_token).or(info.sbhits),
        Key::Cpuload => info.cpuload = reader.small(Key::is_token).or(info.cpuload),
        Key::Time => {
            let time = reader.unsigned(Key::is_token).map(Duration::from_millis);
            info.time = time.or(info.time);
        }
        Key::Movesleft => info.movesleft = reader.small(Key::is_token).or(info.movesleft),
        Key::Currmovenumber => {
            info.currmovenumber = reader.small(Key::is_token).or(info.currmovenumber);
        }
        // The number follows `cp` or `mate`, which are read as separate fields.
        Key::Score => {
            let next = reader.tokens.peek();
            if let Some(number) = next.filter(|token| reader.leading_integer(token.text).is_some())
            {
                reader.report_at(number.start..number.start, DiagnosticKind::MissingKeyword);
                let score = reader.small_signed(Key::is_token).map(Score::Cp);
                return set_score(score, token, reader, info);
            }
            if next.is_none_or(|token| in_any_case(token.text, score_part).is_none()) {
                reader.report(token, DiagnosticKind::Missing);
            }
        }
        Key::Cp => {
            let score = reader.small_signed(Key::is_token).map(Score::Cp);
            set_score(score, token, reader, info);
        }
        Key::Mate => {
            let score = read_mate(reader);
            set_score(score, token, reader, info);
        }
        Key::Lowerbound => info.bound = Bound::Lower,
        Key::Upperbound => info.bound = Bound::Upper,
        Key::Wdl => info.wdl = read_wdl(reader).or(info.wdl),
        Key::Currmove => match reader.one_move(Key::is_token) {
            Some(Ok(it)) => info.currmove = Some(it),
            Some(Err(token)) => info.unknown.extend([CURRMOVE, token].map(Cow::Borrowed)),
            None => (),
        },
        Key::Refutation => info.refutation = Some(reader.variation()),
        Key::Currline => info.currline = Some(read_current_line(reader)),
        Key::Pv => info.pv = Some(reader.variation()),
        Key::String => info.string = Some(Cow::Borrowed(read_string(reader))),
    }
}

/// `12/20`: the depth and the selective depth in one token.
fn read_depths(reader: &mut MessageReader<'_>) -> Option<(u32, u32)> {
    let token = reader.tokens.peek()?;
    let (depth, seldepth) = token.text.split_once('/')?;
    let depths = (depth.parse().ok()?, seldepth.parse().ok()?);
    let at = token.end() - seldepth.len();
    reader.report_at(at..at, DiagnosticKind::MissingKeyword);
    reader.tokens.next();
    Some(depths)
}

fn score_part(token: &str) -> Option<()> {
    matches!(token, "cp" | "mate" | "lowerbound" | "upperbound").then_some(())
}

/// A mate takes precedence over a centipawn estimate in the same line.
fn set_score(
    score: Option<Score>,
    token: Token<'_>,
    reader: &mut MessageReader<'_>,
    info: &mut Info<'_>,
) {
    let Some(score) = score else { return };
    match info.score {
        None => (),
        Some(old) if old.is_mate() == score.is_mate() => {
            reader.report(token, DiagnosticKind::Repeated);
        }
        Some(_) => reader.report(token, DiagnosticKind::Conflict),
    }
    if score.is_mate() || info.score.is_none_or(|old| !old.is_mate()) {
        info.score = Some(score);
    }
}

fn read_mate(reader: &mut MessageReader<'_>) -> Option<Score> {
    let token = reader.tokens.peek().filter(|token| !Key::is_token(token.text));
    let Some(token) = token else {
        reader.report_missing(DiagnosticKind::Missing);
        return None;
    };
    reader.tokens.next();
    let score = Score::from_mate_token(token.text, reader.dialect);
    if score.is_none() {
        reader.report(token, DiagnosticKind::NotANumber);
    }
    score
}

fn read_wdl(reader: &mut MessageReader<'_>) -> Option<Wdl> {
    let mut number = || {
        let token = reader.tokens.peek();
        let number = reader.small(Key::is_token)?;
        if let (true, Some(token)) = (u32::from(u16::MAX) < number, token) {
            reader.report(token, DiagnosticKind::NumberTooLarge);
        }
        Some(u16::try_from(number).unwrap_or(u16::MAX))
    };
    Some(Wdl { win: number()?, draw: number()?, loss: number()? })
}

fn read_current_line<'a>(reader: &mut MessageReader<'a>) -> CurrentLine<'a> {
    let cpu = reader.tokens.peek().and_then(|token| cpu_number(token.text));
    if cpu.is_some() {
        reader.tokens.next();
    }
    CurrentLine { cpu, moves: reader.variation() }
}

/// `0000` is the null move.
fn cpu_number(token: &str) -> Option<u32> {
    token.parse().ok().filter(|_| token != "0000")
}

/// The rest of the line after one white space, without the line end.
fn read_string<'a>(reader: &mut MessageReader<'a>) -> &'a str {
    let line = reader.tokens.line();
    let text = line.get(reader.tokens.at() + 1..).unwrap_or_default();
    while reader.tokens.next().is_some() {}
    text.trim_end_matches(['\r', '\n', '\0'])
}

/// UCI 2006, info: current moves and lines are reported only after one second.
const QUIET: Duration = Duration::from_secs(1);

/// Details that the client has enabled by options.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Details {
    dialect: Dialect,
    current_line: bool,
    refutations: bool,
}

impl Details {
    /// The state before any option is set.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, ..Self::default() }
    }

    pub(crate) fn all(dialect: Dialect) -> Self {
        Self { dialect, current_line: true, refutations: true }
    }

    /// The state after the defaults of an engine.
    pub(crate) fn of(options: &OptionSet) -> Self {
        let mut details = Self::new(options.dialect());
        for decl in options {
            details.declare(decl);
        }
        details
    }

    /// Applies a default.
    pub(crate) fn declare(&mut self, decl: &OptionDecl<'_>) {
        if let Some(value) = decl.default_value() {
            self.set_option(&decl.name, &value);
        }
    }

    /// Applies an option that enables details.
    pub(crate) fn set_option(&mut self, name: &str, value: &OptionValue) {
        let OptionValue::Check(on) = *value else { return };
        if self.dialect.same_option(name, "UCI_ShowCurrLine") {
            self.current_line = on;
        } else if self.dialect.same_option(name, "UCI_ShowRefutations") {
            self.refutations = on;
        }
    }

    /// The union of two sets of details.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            current_line: self.current_line || other.current_line,
            refutations: self.refutations || other.refutations,
            ..self
        }
    }

    /// Removes the details that may not be reported after this search time.
    pub(crate) fn trim(self, info: &mut Info<'_>, searched: Duration) {
        if searched < QUIET {
            info.currmove = None;
            info.currmovenumber = None;
            info.currline = None;
            info.refutation = None;
        }
        if !self.current_line {
            info.currline = None;
        }
        if !self.refutations {
            info.refutation = None;
        }
    }

    /// Whether a line contains a detail that is not enabled.
    pub(crate) fn exceeded_by(self, info: &Info<'_>) -> bool {
        info.currline.is_some() && !self.current_line
            || info.refutation.is_some() && !self.refutations
    }
}

/// Whether a line contains details that are too early for this search time, measured with the
/// given tolerance.
pub(crate) fn is_too_soon(info: &Info<'_>, searched: Duration, distance: Duration) -> bool {
    let has_details = info.currmove.is_some()
        || info.currmovenumber.is_some()
        || info.currline.is_some()
        || info.refutation.is_some();
    has_details && searched.saturating_add(distance) < QUIET
}
