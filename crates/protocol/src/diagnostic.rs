//! Diagnostics: parts of a line that were skipped or repaired.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::language::Language;

/// A value read from a line, and the diagnostics of the line.
///
/// Reading never fails. Use [`strict`](Self::strict) to reject malformed lines, or
/// [`value`](Self::value) to ignore diagnostics.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Parsed<T> {
    /// The message, without the unreadable parts.
    pub value: T,
    /// Skipped or repaired parts in their order, at most [`Diagnostic::MAX_PER_LINE`].
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Parsed<T> {
    /// The value, if nothing was skipped or repaired.
    ///
    /// # Errors
    /// The diagnostics, if there are any.
    pub fn strict(self) -> Result<T, Vec<Diagnostic>> {
        if self.diagnostics.is_empty() { Ok(self.value) } else { Err(self.diagnostics) }
    }
}

/// One diagnostic of a line.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Diagnostic {
    /// The affected bytes of the decoded line: see [`decode`](crate::decode), which replaces invalid
    /// bytes by U+FFFD (three bytes). Empty at the position of a missing part.
    pub span: Range<usize>,
    /// The kind of the diagnostic.
    pub kind: DiagnosticKind,
}

impl Diagnostic {
    /// Maximum number of diagnostics per line. It bounds the memory that a hostile line allocates.
    pub const MAX_PER_LINE: usize = 256;
}

/// The kinds of diagnostics.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A token without a meaning here. It was skipped, or stored as text if the message has a field
    /// for it.
    UnknownToken,
    /// A message that only the other side sends.
    WrongDirection,
    /// Text after the end of a complete message. It was skipped.
    TrailingText,
    /// A keyword in another case. It was accepted.
    WrongCase,
    /// A missing part. The field that it belongs to was skipped.
    Missing,
    /// A missing keyword (`moves`, `fen`, `name` …). It was assumed.
    MissingKeyword,
    /// Parts of the message in the wrong order. They were accepted.
    WrongOrder,
    /// A limit after the moves of `searchmoves`. It was accepted; engines read it as a move.
    AfterSearchMoves,
    /// Not a number. The field was skipped.
    NotANumber,
    /// An integer followed by other characters, such as `100.5`, or `100ms` in `go`. The leading integer
    /// was used.
    PartialNumber,
    /// A number out of range. The nearest value was used.
    NumberTooLarge,
    /// A negative number where the minimum is zero. Zero was used.
    NegativeNumber,
    /// A repeated field. The last one was used; the moves of a position were joined.
    Repeated,
    /// Two mutually exclusive fields, such as `score cp` and `score mate`. The stronger one was
    /// used.
    Conflict,
    /// A token in a list of moves that is not a move of this dialect. It was stored as text.
    NotAMove,
    /// A move in an unusual form, such as `e7e8Q`. The usual form was used.
    MoveRepaired,
    /// An empty list of moves.
    EmptyList,
    /// Invalid FEN or SFEN syntax. The command was stored as raw text.
    BadPosition,
    /// A valid but unusual form of a position: a missing move number, pieces in hand in another
    /// order, a board of another size. It was not changed.
    UnusualPosition,
    /// A default that is not a value of the option. It was skipped, stored if the type allows it,
    /// or converted if it is unambiguous (`default 1` of a check).
    BadDefault,
    /// An unknown option type.
    UnknownType,
    /// A space in the name of an option of a USI engine.
    SpaceInName,
    /// A name or type of an option longer than
    /// [`OptionDecl::MAX_NAME`](crate::OptionDecl::MAX_NAME) bytes. The message was stored as text.
    NameTooLong,
    /// A text in the declaration of an option longer than
    /// [`OptionDecl::MAX_TEXT`](crate::OptionDecl::MAX_TEXT) bytes. It was skipped.
    TextTooLong,
    /// More choices than [`OptionDecl::MAX_VARS`](crate::OptionDecl::MAX_VARS). The others were
    /// skipped.
    TooManyChoices,
    /// `seldepth` without `depth`.
    SeldepthWithoutDepth,
    /// A byte order mark, NUL or another control character. It was read as white space.
    ControlCharacter,
    /// Bytes that are not UTF-8. They were replaced by U+FFFD.
    InvalidUtf8,
}

impl DiagnosticKind {
    /// All kinds.
    pub const ALL: [Self; 28] = [
        Self::UnknownToken,
        Self::WrongDirection,
        Self::TrailingText,
        Self::WrongCase,
        Self::Missing,
        Self::MissingKeyword,
        Self::WrongOrder,
        Self::AfterSearchMoves,
        Self::NotANumber,
        Self::PartialNumber,
        Self::NumberTooLarge,
        Self::NegativeNumber,
        Self::Repeated,
        Self::Conflict,
        Self::NotAMove,
        Self::MoveRepaired,
        Self::EmptyList,
        Self::BadPosition,
        Self::UnusualPosition,
        Self::BadDefault,
        Self::UnknownType,
        Self::SpaceInName,
        Self::NameTooLong,
        Self::TextTooLong,
        Self::TooManyChoices,
        Self::SeldepthWithoutDepth,
        Self::ControlCharacter,
        Self::InvalidUtf8,
    ];

    /// The clause of the specification that the line violates.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::UnknownToken | Self::TrailingText => {
                "UCI 2006, general rules, and USI draft 1 §5.1: a token that is not known is \
                 skipped, and the rest of the line is read"
            }
            Self::WrongDirection => {
                "UCI 2006, “GUI to engine” and “Engine to GUI”: each side has its own messages"
            }
            Self::WrongCase => "UCI 2006: the keywords are written in lower case",
            Self::Missing => "UCI 2006: this token is followed by a value",
            Self::MissingKeyword => "UCI 2006: this token introduces what follows",
            Self::WrongOrder => "UCI 2006: the parts of this message have a fixed order",
            Self::AfterSearchMoves => {
                "as deployed (Stockfish): the moves of `searchmoves` are the last part of `go`"
            }
            Self::NotANumber | Self::PartialNumber | Self::NumberTooLarge => {
                "UCI 2006: `<x>` is a whole number"
            }
            Self::NegativeNumber => "UCI 2006: counts and times are not negative",
            Self::Repeated => "UCI 2006, go and info: each field has one value",
            Self::Conflict => "The UCI Protocol, info score: no cp if a mate was found",
            Self::NotAMove => "UCI 2006, move format; USI draft 1 §5.2",
            Self::MoveRepaired => {
                "UCI 2006, move format, and USI draft 1 §5.2: a move is written in one form"
            }
            Self::EmptyList => "UCI 2006: `<move1> … <movei>` is at least one move",
            Self::BadPosition => "PGN specification §16.1 (FEN); USI draft 1 §3 (SFEN)",
            Self::UnusualPosition => {
                "PGN specification §16.1 (FEN: six fields); USI draft 1 §3 (SFEN: order of hands)"
            }
            Self::BadDefault => "UCI 2006, option: the default is a value of the option",
            Self::UnknownType => {
                "UCI 2006, option type: check, spin, combo, button or string; USI adds filename"
            }
            Self::SpaceInName => "USI draft 1 §4: spaces are not allowed in option names",
            Self::NameTooLong | Self::TextTooLong | Self::TooManyChoices => {
                "A limit of this reader: no protocol has one"
            }
            Self::SeldepthWithoutDepth => "UCI 2006, info seldepth: depth is in the same line",
            Self::ControlCharacter => "UCI 2006, general rules: tokens are divided by white space",
            Self::InvalidUtf8 => "USI draft 1 §2: 7-bit ASCII; UTF-8 as deployed today",
        }
    }

    /// The clause in a language. Titles of documents are not translated.
    pub const fn clause_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.clause(),
            Language::Japanese => self.japanese_clause(),
        }
    }

    /// A short English description of the kind.
    pub const fn text(self) -> &'static str {
        match self {
            Self::UnknownToken => "unknown token",
            Self::WrongDirection => "message of the other side",
            Self::TrailingText => "text after the end of the message",
            Self::WrongCase => "keyword that is not in lower case",
            Self::Missing => "missing value",
            Self::MissingKeyword => "missing keyword",
            Self::WrongOrder => "parts in the wrong order",
            Self::AfterSearchMoves => "limit after `searchmoves`",
            Self::NotANumber => "not a number",
            Self::PartialNumber => "number that is not an integer",
            Self::NumberTooLarge => "number too large",
            Self::NegativeNumber => "negative number",
            Self::Repeated => "repeated field",
            Self::Conflict => "mutually exclusive fields",
            Self::NotAMove => "not a move",
            Self::MoveRepaired => "move in an unusual form",
            Self::EmptyList => "empty list of moves",
            Self::BadPosition => "invalid position",
            Self::UnusualPosition => "unusual form of a position",
            Self::BadDefault => "default that is not a value of the option",
            Self::UnknownType => "unknown option type",
            Self::SpaceInName => "space in the name of an option",
            Self::NameTooLong => "name or type of an option too long",
            Self::TextTooLong => "text of an option too long",
            Self::TooManyChoices => "too many choices of an option",
            Self::SeldepthWithoutDepth => "`seldepth` without `depth`",
            Self::ControlCharacter => "control character",
            Self::InvalidUtf8 => "bytes that are not UTF-8",
        }
    }

    /// A short description of the kind in a language.
    pub const fn text_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.text(),
            Language::Japanese => self.japanese(),
        }
    }
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at ", self.kind)?;
        write_range(f, "byte", &self.span)
    }
}

impl Diagnostic {
    /// The diagnostic with the text that it affects: ``unknown token: `joho` at characters 1 to 4``. A long
    /// text is shortened.
    ///
    /// `line` is the line that was read.
    pub fn in_line<'a>(&'a self, line: &'a str) -> impl fmt::Display + 'a {
        InLine { diagnostic: self, line }
    }
}

struct InLine<'a> {
    diagnostic: &'a Diagnostic,
    line: &'a str,
}

impl fmt::Display for InLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Maximum number of characters of the line that are shown.
        const MAX_SHOWN: usize = 60;
        let Diagnostic { span, kind } = self.diagnostic;
        let (Some(before), Some(text)) = (self.line.get(..span.start), self.line.get(span.clone()))
        else {
            return self.diagnostic.fmt(f);
        };
        write!(f, "{kind}")?;
        if !text.is_empty() {
            f.write_str(": `")?;
            text.chars().take(MAX_SHOWN).try_for_each(|c| write!(f, "{}", c.escape_debug()))?;
            f.write_str(if text.chars().nth(MAX_SHOWN).is_some() { "…`" } else { "`" })?;
        }
        f.write_str(" at ")?;
        let start = before.chars().count();
        write_range(f, "character", &(start..start.saturating_add(text.chars().count())))
    }
}

/// Writes a range of units for a reader who counts from 1.
pub(crate) fn write_range(
    f: &mut fmt::Formatter<'_>,
    unit: &str,
    range: &Range<usize>,
) -> fmt::Result {
    let first = range.start.saturating_add(1);
    if range.len() <= 1 {
        write!(f, "{unit} {first}")
    } else {
        write!(f, "{unit}s {first} to {}", range.end)
    }
}

impl DiagnosticKind {
    pub(super) const fn japanese(self) -> &'static str {
        match self {
            Self::UnknownToken => "未知の語",
            Self::WrongDirection => "相手側が送るべきメッセージ",
            Self::TrailingText => "メッセージの後の余分な文字列",
            Self::WrongCase => "小文字ではないキーワード",
            Self::Missing => "値がない",
            Self::MissingKeyword => "キーワードがない",
            Self::WrongOrder => "順序の誤り",
            Self::AfterSearchMoves => "`searchmoves` より後にある制限",
            Self::NotANumber => "数ではない",
            Self::PartialNumber => "整数ではない数",
            Self::NumberTooLarge => "大きすぎる数",
            Self::NegativeNumber => "負の数",
            Self::Repeated => "同じ項目の重複",
            Self::Conflict => "両立しない項目",
            Self::NotAMove => "指し手ではない",
            Self::MoveRepaired => "標準的でない指し手の表記",
            Self::EmptyList => "空の指し手リスト",
            Self::BadPosition => "局面の書式の誤り",
            Self::UnusualPosition => "標準的でない局面の書式",
            Self::BadDefault => "オプションの値になりえない既定値",
            Self::UnknownType => "未知のオプションの型",
            Self::SpaceInName => "オプション名に含まれる空白",
            Self::NameTooLong => "長すぎるオプション名または型",
            Self::TextTooLong => "長すぎるオプションの文字列",
            Self::TooManyChoices => "多すぎるオプションの選択肢",
            Self::SeldepthWithoutDepth => "`depth` のない `seldepth`",
            Self::ControlCharacter => "制御文字",
            Self::InvalidUtf8 => "UTF-8 ではないバイト列",
        }
    }

    pub(super) const fn japanese_clause(self) -> &'static str {
        match self {
            Self::UnknownToken | Self::TrailingText => {
                "UCI 2006, general rules と USI draft 1 §5.1: 未知の語は読み飛ばし、行の残りを読む"
            }
            Self::WrongDirection => {
                "UCI 2006, “GUI to engine” と “Engine to GUI”: それぞれの側に固有のメッセージがある"
            }
            Self::WrongCase => "UCI 2006: プロトコルの語は小文字で書く",
            Self::Missing => "UCI 2006: この語には値が続く",
            Self::MissingKeyword => "UCI 2006: 続く部分はこの語で始まる",
            Self::WrongOrder => "UCI 2006: このメッセージの各部分の順序は決まっている",
            Self::AfterSearchMoves => {
                "実際の用法 (Stockfish): `searchmoves` は `go` の最後の語で、後に続くのは指し手だけ"
            }
            Self::NotANumber | Self::PartialNumber | Self::NumberTooLarge => {
                "UCI 2006: `<x>` は整数"
            }
            Self::NegativeNumber => "UCI 2006: 個数や時間は負にならない",
            Self::Repeated => "UCI 2006, go と info: 各項目の値は一つ",
            Self::Conflict => "The UCI Protocol, info score: 詰みを見つけたときは cp を送らない",
            Self::NotAMove => "UCI 2006, move format; USI draft 1 §5.2",
            Self::MoveRepaired => {
                "UCI 2006, move format と USI draft 1 §5.2: 指し手の書き方は一通り"
            }
            Self::EmptyList => "UCI 2006: `<move1> … <movei>` は一手以上",
            Self::BadPosition => "PGN specification §16.1 (FEN); USI draft 1 §3 (SFEN)",
            Self::UnusualPosition => {
                "PGN specification §16.1 (FEN: 六つの欄); USI draft 1 §3 (SFEN: 持ち駒の順序)"
            }
            Self::BadDefault => "UCI 2006, option: 既定値はそのオプションの値の一つ",
            Self::UnknownType => {
                "UCI 2006, option type: check, spin, combo, button, string。USI ではさらに filename"
            }
            Self::SpaceInName => "USI draft 1 §4: オプション名に空白は使えない",
            Self::NameTooLong | Self::TextTooLong | Self::TooManyChoices => {
                "読み取る側の上限。どのプロトコルにも上限はない"
            }
            Self::SeldepthWithoutDepth => "UCI 2006, info seldepth: 同じ行に depth も送る",
            Self::ControlCharacter => "UCI 2006, general rules: 語は空白で区切る",
            Self::InvalidUtf8 => "USI draft 1 §2: 7 ビットの ASCII。現在は UTF-8",
        }
    }
}
