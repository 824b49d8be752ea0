//! The rules of sessions: responsible party, severity and clause.

use core::fmt;

use crate::Language;

/// A side of a session.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Party {
    /// The GUI, match runner or other driver.
    Client,
    /// The engine.
    Engine,
}

/// A violation of a rule.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Violation {
    /// The party that violated the rule.
    pub by: Party,
    /// The rule.
    pub rule: Rule,
}

/// The effect of a violation on the session.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Severity {
    /// The message is invalid now. The other side ignores it, as required by the protocols.
    ///
    /// Engines do not ignore a `go` during a search. It starts no search for the
    /// [`ProtocolState`](crate::ProtocolState), but neither an additional answer nor an early answer to the
    /// running search is a violation then.
    Must,
    /// The message is valid anyway, and the session continues.
    Should,
}

/// The rules. Their documentation is the text of the rule.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Rule {
    /// The client sends `uci` or `usi` first, and only `quit` until the engine has answered `uciok` or
    /// `usiok`.
    BeforeUciOk,
    /// The client sends `uci` or `usi` once.
    RepeatedUci,
    /// `position`, `setoption`, `register`, `ucinewgame` and `go` wait until the engine has
    /// answered the last `go`.
    BusyEngine,
    /// Before the first search, after `ucinewgame` and after `gameover`, the client sends
    /// `isready` and waits for `readyok`.
    SearchBeforeReady,
    /// There is a `position` before the first `go`.
    SearchWithoutPosition,
    /// `ponderhit` belongs to a running `go ponder`.
    PonderHitWithoutPonder,
    /// A `registration error` after the handshake is answered with `register` before any search.
    RegistrationUnanswered,
    /// Nothing follows `quit`.
    AfterQuit,
    /// The engine sends nothing before `uci` or `usi`.
    ReplyBeforeUci,
    /// `uciok` and `usiok` answer `uci` and `usi`, once.
    UciOkWithoutUci,
    /// The engine sends its name before `uciok` or `usiok`.
    NoName,
    /// `id` and `option` come before `uciok` or `usiok`.
    LateDeclaration,
    /// `copyprotection` and `registration` come after `uciok` or `usiok`.
    EarlyStatus,
    /// `readyok` answers an `isready`, once.
    ReadyOkWithoutIsReady,
    /// `bestmove` answers a `go`, once.
    BestMoveWithoutSearch,
    /// There is no `bestmove` in `go infinite` before `stop`, and none in `go ponder` before
    /// `ponderhit` or `stop`, even if the search is done.
    BestMoveTooEarly,
    /// `checkmate` answers a `go mate`, once.
    CheckmateWithoutMateSearch,
    /// Between searches the engine sends no `info` except `info string`.
    InfoWithoutSearch,
    /// The client sets options that were declared, and those of [`SetBy::Client`](crate::SetBy::Client).
    UndeclaredOption,
    /// The client sets valid values, and sends buttons without a value.
    InvalidOptionValue,
    /// `go` contains a limit or `infinite`, and a search has a limit after `ponderhit`.
    SearchWithoutLimit,
    /// The time of a clock is positive, in USI not negative, and no other time is negative.
    InvalidClock,
    /// `depth`, `nodes`, `mate`, `movetime` and `movestogo` are at least one.
    ZeroLimit,
    /// The engine sends `currline` and `refutation` only while their options are on.
    UnrequestedDetail,
    /// The engine sends `currmove`, `currmovenumber`, `currline` and `refutation` after one second
    /// of search.
    EarlyDetail,
    /// `uci` and `usi` are answered with `uciok` and `usiok`.
    UciUnanswered,
    /// `isready` is always answered with `readyok`.
    IsReadyUnanswered,
    /// The engine does not exit before it has answered `go`, unless the client disconnects.
    GoUnanswered,
}

impl Rule {
    /// All rules: those about order first, and of both kinds those for the client first.
    pub const ALL: [Self; 28] = [
        Self::BeforeUciOk,
        Self::RepeatedUci,
        Self::BusyEngine,
        Self::SearchBeforeReady,
        Self::SearchWithoutPosition,
        Self::PonderHitWithoutPonder,
        Self::RegistrationUnanswered,
        Self::AfterQuit,
        Self::ReplyBeforeUci,
        Self::UciOkWithoutUci,
        Self::NoName,
        Self::LateDeclaration,
        Self::EarlyStatus,
        Self::ReadyOkWithoutIsReady,
        Self::BestMoveWithoutSearch,
        Self::BestMoveTooEarly,
        Self::CheckmateWithoutMateSearch,
        Self::InfoWithoutSearch,
        Self::UndeclaredOption,
        Self::InvalidOptionValue,
        Self::SearchWithoutLimit,
        Self::InvalidClock,
        Self::ZeroLimit,
        Self::UnrequestedDetail,
        Self::EarlyDetail,
        Self::UciUnanswered,
        Self::IsReadyUnanswered,
        Self::GoUnanswered,
    ];

    /// Whether a [`ProtocolState`](crate::ProtocolState) checks it. An [`Observer`](crate::Observer) checks
    /// all rules, including those about contents and missing answers.
    pub const fn is_ordering(self) -> bool {
        !matches!(
            self,
            Self::UndeclaredOption
                | Self::InvalidOptionValue
                | Self::SearchWithoutLimit
                | Self::InvalidClock
                | Self::ZeroLimit
                | Self::UnrequestedDetail
                | Self::EarlyDetail
                | Self::UciUnanswered
                | Self::IsReadyUnanswered
                | Self::GoUnanswered
        )
    }

    /// The responsible party.
    pub const fn binds(self) -> Party {
        match self {
            Self::BeforeUciOk
            | Self::RepeatedUci
            | Self::BusyEngine
            | Self::SearchBeforeReady
            | Self::SearchWithoutPosition
            | Self::PonderHitWithoutPonder
            | Self::RegistrationUnanswered
            | Self::AfterQuit
            | Self::UndeclaredOption
            | Self::InvalidOptionValue
            | Self::SearchWithoutLimit
            | Self::InvalidClock
            | Self::ZeroLimit => Party::Client,
            Self::ReplyBeforeUci
            | Self::UciOkWithoutUci
            | Self::NoName
            | Self::LateDeclaration
            | Self::EarlyStatus
            | Self::ReadyOkWithoutIsReady
            | Self::BestMoveWithoutSearch
            | Self::BestMoveTooEarly
            | Self::CheckmateWithoutMateSearch
            | Self::InfoWithoutSearch
            | Self::UnrequestedDetail
            | Self::EarlyDetail
            | Self::UciUnanswered
            | Self::IsReadyUnanswered
            | Self::GoUnanswered => Party::Engine,
        }
    }

    /// The severity of a violation.
    pub const fn severity(self) -> Severity {
        match self {
            Self::BusyEngine
            | Self::PonderHitWithoutPonder
            | Self::AfterQuit
            | Self::UciOkWithoutUci
            | Self::ReadyOkWithoutIsReady
            | Self::BestMoveWithoutSearch
            | Self::CheckmateWithoutMateSearch
            | Self::UndeclaredOption
            | Self::InvalidOptionValue
            | Self::UnrequestedDetail
            | Self::UciUnanswered
            | Self::IsReadyUnanswered
            | Self::GoUnanswered => Severity::Must,
            Self::BeforeUciOk
            | Self::RepeatedUci
            | Self::SearchBeforeReady
            | Self::SearchWithoutPosition
            | Self::RegistrationUnanswered
            | Self::ReplyBeforeUci
            | Self::NoName
            | Self::LateDeclaration
            | Self::EarlyStatus
            | Self::BestMoveTooEarly
            | Self::InfoWithoutSearch
            | Self::SearchWithoutLimit
            | Self::InvalidClock
            | Self::ZeroLimit
            | Self::EarlyDetail => Severity::Should,
        }
    }

    /// The rule in one English sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::BeforeUciOk => {
                "nothing but `quit` is sent before the engine's `uciok` or `usiok`"
            }
            Self::RepeatedUci => "`uci` or `usi` is sent once",
            Self::BusyEngine => {
                "`position`, `setoption`, `register`, `ucinewgame` and `go` wait for the answer to \
                 the last `go`"
            }
            Self::SearchBeforeReady => {
                "`isready` and `readyok` come before the first search, in UCI before that of each game"
            }
            Self::SearchWithoutPosition => "`position` comes before `go`",
            Self::PonderHitWithoutPonder => "`ponderhit` belongs to a running `go ponder`",
            Self::RegistrationUnanswered => "`registration error` is answered with `register`",
            Self::AfterQuit => "nothing follows `quit`",
            Self::ReplyBeforeUci => "the engine sends nothing before `uci` or `usi`",
            Self::UciOkWithoutUci => "`uciok` or `usiok` answers `uci` or `usi`, once",
            Self::NoName => "`id name` comes before `uciok` or `usiok`",
            Self::LateDeclaration => "`id` and `option` come before `uciok` or `usiok`",
            Self::EarlyStatus => {
                "`copyprotection` and `registration` come after `uciok` or `usiok`"
            }
            Self::ReadyOkWithoutIsReady => "`readyok` answers `isready`, once",
            Self::BestMoveWithoutSearch => "`bestmove` answers `go`, once",
            Self::BestMoveTooEarly => {
                "`bestmove` waits for `stop` in `go infinite`, and for `ponderhit` in `go ponder`"
            }
            Self::CheckmateWithoutMateSearch => "`checkmate` answers `go mate`, once",
            Self::InfoWithoutSearch => "between searches there is no `info` but `info string`",
            Self::UndeclaredOption => "only options that the engine has declared are set",
            Self::InvalidOptionValue => {
                "an option is set to a value that it can have, and a button to none"
            }
            Self::SearchWithoutLimit => "`go` contains a limit or `infinite`",
            Self::InvalidClock => {
                "`wtime` and `btime` are more than zero, in USI not negative, as no time is"
            }
            Self::ZeroLimit => {
                "`depth`, `nodes`, `mate`, `movetime` and `movestogo` are at least 1"
            }
            Self::UnrequestedDetail => {
                "`currline` and `refutation` are sent only while their options are on"
            }
            Self::EarlyDetail => {
                "`currmove`, `currmovenumber`, `currline` and `refutation` are sent only after one \
                 second"
            }
            Self::UciUnanswered => "`uci` or `usi` is answered with `uciok` or `usiok`",
            Self::IsReadyUnanswered => "`isready` is answered with `readyok`, also during a search",
            Self::GoUnanswered => "`go` is answered before the engine exits",
        }
    }

    /// The rule in one sentence of a language.
    pub const fn text_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.text(),
            Language::Japanese => self.japanese(),
        }
    }

    /// The clause of the specification.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::BeforeUciOk | Self::RepeatedUci => "UCI 2006, uci; USI draft 1 §5.3, usi",
            Self::BusyEngine => {
                "UCI 2006, setoption and bestmove; USI draft 1 §5.3; The UCI Protocol, state model"
            }
            Self::SearchBeforeReady => {
                "UCI 2006, isready and ucinewgame; ShogiHome and YaneuraOu, start of a game"
            }
            Self::SearchWithoutPosition => "UCI 2006, general rules; USI draft 1 §5.1",
            Self::PonderHitWithoutPonder => {
                "UCI 2006, ponderhit; USI draft 1 §5.3; The UCI Protocol, ponderhit"
            }
            Self::RegistrationUnanswered => "UCI 2006, registration; USI draft 1 §5.3",
            Self::AfterQuit => "UCI 2006, quit; USI draft 1 §5.3",
            Self::ReplyBeforeUci | Self::NoName => "UCI 2006, uci and id; USI draft 1 §5.3",
            Self::UciOkWithoutUci => "UCI 2006, uciok; USI draft 1 §5.3, usiok",
            Self::LateDeclaration => "UCI 2006, uciok and option; USI draft 1 §5.3",
            Self::EarlyStatus => "UCI 2006, copyprotection and registration; USI draft 1 §5.3",
            Self::ReadyOkWithoutIsReady => "UCI 2006, readyok; USI draft 1 §5.3",
            Self::BestMoveWithoutSearch => "UCI 2006, bestmove; USI draft 1 §5.3",
            Self::BestMoveTooEarly => "UCI 2006, go infinite and go ponder; USI draft 1 §5.3",
            Self::CheckmateWithoutMateSearch => "USI as deployed (YaneuraOu, ShogiHome), go mate",
            Self::InfoWithoutSearch => {
                "UCI 2006, info; USI draft 1 §5.3; The UCI Protocol, state model"
            }
            Self::UndeclaredOption | Self::InvalidOptionValue => {
                "UCI 2006, option and setoption; USI draft 1 §5.3"
            }
            Self::SearchWithoutLimit => {
                "the specifications do not define a bare `go`: engines search forever, move immediately or never \
                 answer"
            }
            Self::InvalidClock => "UCI 2006, go wtime and winc; USI draft 1 §5.3",
            Self::ZeroLimit => "UCI 2006, go movestogo (“if x > 0”); USI draft 1 §5.3",
            Self::UnrequestedDetail => {
                "UCI 2006, info currline and refutation; USI draft 1 §5.3, info"
            }
            Self::EarlyDetail => "UCI 2006, info (“only after one second”); USI draft 1 §5.3",
            Self::UciUnanswered => "UCI 2006, uci and uciok; USI draft 1 §5.3, usi and usiok",
            Self::IsReadyUnanswered => "UCI 2006, isready; USI draft 1 §5.3, isready",
            Self::GoUnanswered => "UCI 2006, go and bestmove; USI draft 1 §5.3",
        }
    }

    /// The clause in a language. Titles of documents are not translated.
    pub const fn clause_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.clause(),
            Language::Japanese => self.japanese_clause(),
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Engine => "engine",
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} violated a rule: {} ({})", self.by, self.rule.text(), self.rule.clause())
    }
}

impl core::error::Error for Violation {}

impl Rule {
    pub(super) const fn japanese(self) -> &'static str {
        match self {
            Self::BeforeUciOk => "エンジンが `uciok` か `usiok` を返すまで、`quit` 以外は送らない",
            Self::RepeatedUci => "`uci` や `usi` を送るのは一度だけ",
            Self::BusyEngine => {
                "`position`、`setoption`、`register`、`ucinewgame`、`go` は、前の `go` への応答を待って送る"
            }
            Self::SearchBeforeReady => {
                "最初の探索の前に `isready` を送って `readyok` を待つ。UCI では対局ごとに行う"
            }
            Self::SearchWithoutPosition => "`go` の前に `position` を送る",
            Self::PonderHitWithoutPonder => "`ponderhit` は `go ponder` の探索中にだけ送る",
            Self::RegistrationUnanswered => "`registration error` には `register` で応じる",
            Self::AfterQuit => "`quit` の後には何も送らない",
            Self::ReplyBeforeUci => "エンジンは `uci` か `usi` を受け取るまで何も送らない",
            Self::UciOkWithoutUci => "`uciok` や `usiok` は、`uci` や `usi` に対して一度だけ返す",
            Self::NoName => "`id name` は `uciok` や `usiok` より前に送る",
            Self::LateDeclaration => "`id` と `option` は `uciok` や `usiok` より前に送る",
            Self::EarlyStatus => {
                "`copyprotection` と `registration` は `uciok` や `usiok` より後に送る"
            }
            Self::ReadyOkWithoutIsReady => "`readyok` は `isready` に対して一度だけ返す",
            Self::BestMoveWithoutSearch => "`bestmove` は `go` に対して一度だけ返す",
            Self::BestMoveTooEarly => {
                "`bestmove` を返すのは、`go infinite` では `stop`、`go ponder` では `ponderhit` を受け取ってから"
            }
            Self::CheckmateWithoutMateSearch => "`checkmate` は `go mate` に対して一度だけ返す",
            Self::InfoWithoutSearch => "探索していないときの `info` は `info string` だけ",
            Self::UndeclaredOption => "エンジンが宣言したオプションだけを設定する",
            Self::InvalidOptionValue => "オプションには取りうる値を設定し、ボタンには値を付けない",
            Self::SearchWithoutLimit => "`go` では制限または `infinite` を指定する",
            Self::InvalidClock => {
                "`wtime` と `btime` は正の数 (USI では 0 以上)、その他の時間は 0 以上にする"
            }
            Self::ZeroLimit => "`depth`、`nodes`、`mate`、`movetime`、`movestogo` は 1 以上にする",
            Self::UnrequestedDetail => {
                "`currline` と `refutation` は、対応するオプションがオンのときだけ送る"
            }
            Self::EarlyDetail => {
                "`currmove`、`currmovenumber`、`currline`、`refutation` は、探索開始から 1 秒たってから送る"
            }
            Self::UciUnanswered => "`uci` や `usi` には `uciok` や `usiok` を返す",
            Self::IsReadyUnanswered => "`isready` には、探索中でも `readyok` を返す",
            Self::GoUnanswered => "エンジンは `go` に応答してから終了する",
        }
    }

    pub(super) const fn japanese_clause(self) -> &'static str {
        match self {
            Self::BeforeUciOk
            | Self::RepeatedUci
            | Self::SearchWithoutPosition
            | Self::PonderHitWithoutPonder
            | Self::RegistrationUnanswered
            | Self::AfterQuit
            | Self::UciOkWithoutUci
            | Self::ReadyOkWithoutIsReady
            | Self::BestMoveWithoutSearch
            | Self::InfoWithoutSearch
            | Self::ZeroLimit
            | Self::EarlyDetail
            | Self::IsReadyUnanswered => self.clause(),
            Self::BusyEngine => {
                "UCI 2006, setoption と bestmove; USI draft 1 §5.3; The UCI Protocol, state model"
            }
            Self::SearchBeforeReady => {
                "UCI 2006, isready と ucinewgame; ShogiHome と YaneuraOu の対局開始"
            }
            Self::ReplyBeforeUci | Self::NoName => "UCI 2006, uci と id; USI draft 1 §5.3",
            Self::LateDeclaration => "UCI 2006, uciok と option; USI draft 1 §5.3",
            Self::EarlyStatus => "UCI 2006, copyprotection と registration; USI draft 1 §5.3",
            Self::BestMoveTooEarly => "UCI 2006, go infinite と go ponder; USI draft 1 §5.3",
            Self::CheckmateWithoutMateSearch => "USI の実際の用法 (YaneuraOu, ShogiHome), go mate",
            Self::UndeclaredOption | Self::InvalidOptionValue => {
                "UCI 2006, option と setoption; USI draft 1 §5.3"
            }
            Self::SearchWithoutLimit => {
                "制限のない `go` の意味を定めた文書はない。いつまでも探索する、すぐに指す、応答しないなど、エンジンにより異なる"
            }
            Self::InvalidClock => "UCI 2006, go wtime と winc; USI draft 1 §5.3",
            Self::UnrequestedDetail => {
                "UCI 2006, info currline と refutation; USI draft 1 §5.3, info"
            }
            Self::UciUnanswered => "UCI 2006, uci と uciok; USI draft 1 §5.3, usi と usiok",
            Self::GoUnanswered => "UCI 2006, go と bestmove; USI draft 1 §5.3",
        }
    }
}
