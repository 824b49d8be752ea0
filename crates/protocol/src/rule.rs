//! The rules of sessions, declared once: id, responsible party, severity, text and clause.

use core::fmt;

use crate::{DiagnosticKind, Language};

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

/// The severity of a rule, the most severe first.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Other programs depend on it.
    Must,
    /// Some programs have trouble with a peer that violates it.
    Should,
    /// A courtesy, or a rule on which documents or practice disagree.
    May,
}

impl Severity {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What decides whether a rule is violated.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RuleKind {
    /// The order of messages: a [`ProtocolState`](crate::ProtocolState).
    Order,
    /// The contents of messages, and missing ones: an [`Observer`](crate::Observer).
    Contents,
    /// Positions, moves and clocks of the game, which `readyok_rules::session` knows.
    Game,
    /// The form of a line: see [`Rule::of_form`] and [`OptionDecl::violates`](crate::OptionDecl::violates).
    Form,
}

/// The declaration of a rule.
struct Declaration {
    kind: RuleKind,
    by: Party,
    severity: Severity,
    id: &'static str,
    text: &'static str,
    japanese: &'static str,
    clause: &'static str,
    japanese_clause: &'static str,
}

/// Declares the rules: name, kind, party, severity, id; the text in English and in Japanese; the clause, and its Japanese
/// form if it contains more than titles.
macro_rules! rules {
    ($($name:ident: $kind:ident $by:ident $severity:ident $id:literal,
        $text:literal / $japanese:literal,
        $clause:literal $(/ $japanese_clause:literal)?;)+) => {
        /// The rules. Their documentation is the text of the rule.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $text] $name,)+
        }

        impl Rule {
            /// All rules: those about order first, and of each kind those for the client first.
            pub const ALL: [Self; [$(Self::$name),+].len()] = [$(Self::$name),+];

            const fn declaration(self) -> Declaration {
                match self {
                    $(Self::$name => Declaration {
                        kind: RuleKind::$kind,
                        by: Party::$by,
                        severity: Severity::$severity,
                        id: $id,
                        text: $text,
                        japanese: $japanese,
                        clause: $clause,
                        japanese_clause: rules!(@last $clause $(, $japanese_clause)?),
                    },)+
                }
            }
        }
    };
    (@last $clause:literal) => { $clause };
    (@last $clause:literal, $japanese:literal) => { $japanese };
}

rules! {
    BeforeUciOk: Order Client Should "gui.conduct.handshake-first",
        "nothing but `quit` is sent before the engine's `uciok` or `usiok`"
        / "エンジンが `uciok` か `usiok` を返すまで、`quit` 以外は送らない",
        "UCI 2006, uci; USI draft 1 §5.3, usi";
    RepeatedUci: Order Client Should "gui.conduct.handshake-once",
        "`uci` or `usi` is sent once"
        / "`uci` や `usi` を送るのは一度だけ",
        "UCI 2006, uci; USI draft 1 §5.3, usi";
    BusyEngine: Order Client Must "gui.conduct.waits-for-bestmove",
        "`position`, `setoption`, `register`, `ucinewgame` and `go` wait for the answer to the last `go`"
        / "`position`、`setoption`、`register`、`ucinewgame`、`go` は、前の `go` への応答を待って送る",
        "UCI 2006, setoption and bestmove; USI draft 1 §5.3; The UCI Protocol, state model" / "UCI 2006, setoption と bestmove; USI draft 1 §5.3; The UCI Protocol, state model";
    SearchBeforeReady: Order Client Should "gui.conduct.waits-for-ready",
        "`isready` and `readyok` come before the first search, in UCI before that of each game"
        / "最初の探索の前に `isready` を送って `readyok` を待つ。UCI では対局ごとに行う",
        "UCI 2006, isready and ucinewgame; ShogiHome and YaneuraOu, start of a game" / "UCI 2006, isready と ucinewgame; ShogiHome と YaneuraOu の対局開始";
    SearchWithoutPosition: Order Client Should "gui.conduct.sends-position",
        "`position` comes before `go`"
        / "`go` の前に `position` を送る",
        "UCI 2006, general rules; USI draft 1 §5.1";
    PonderHitWithoutPonder: Order Client Must "gui.conduct.ponderhit",
        "`ponderhit` belongs to a running `go ponder`"
        / "`ponderhit` は `go ponder` の探索中にだけ送る",
        "UCI 2006, ponderhit; USI draft 1 §5.3; The UCI Protocol, ponderhit";
    RegistrationUnanswered: Order Client Should "gui.conduct.registers",
        "`registration error` is answered with `register`"
        / "`registration error` には `register` で応じる",
        "UCI 2006, registration; USI draft 1 §5.3";
    AfterQuit: Order Client Must "gui.conduct.after-quit",
        "nothing follows `quit`"
        / "`quit` の後には何も送らない",
        "UCI 2006, quit; USI draft 1 §5.3";
    ReplyBeforeUci: Order Engine Must "handshake.waits",
        "the engine sends nothing before `uci` or `usi`"
        / "エンジンは `uci` か `usi` を受け取るまで何も送らない",
        "UCI 2006, uci and id; USI draft 1 §5.3" / "UCI 2006, uci と id; USI draft 1 §5.3";
    UciOkWithoutUci: Order Engine Must "handshake.ok-once",
        "`uciok` or `usiok` answers `uci` or `usi`, once"
        / "`uciok` や `usiok` は、`uci` や `usi` に対して一度だけ返す",
        "UCI 2006, uciok; USI draft 1 §5.3, usiok";
    NoName: Order Engine Must "handshake.name",
        "`id name` comes before `uciok` or `usiok`"
        / "`id name` は `uciok` や `usiok` より前に送る",
        "UCI 2006, uci and id; USI draft 1 §5.3" / "UCI 2006, uci と id; USI draft 1 §5.3";
    LateDeclaration: Order Engine Must "handshake.late-declaration",
        "`id` and `option` come before `uciok` or `usiok`"
        / "`id` と `option` は `uciok` や `usiok` より前に送る",
        "UCI 2006, uciok and option; USI draft 1 §5.3" / "UCI 2006, uciok と option; USI draft 1 §5.3";
    EarlyStatus: Order Engine Should "handshake.early-status",
        "`copyprotection` and `registration` come after `uciok` or `usiok`"
        / "`copyprotection` と `registration` は `uciok` や `usiok` より後に送る",
        "UCI 2006, copyprotection and registration; USI draft 1 §5.3" / "UCI 2006, copyprotection と registration; USI draft 1 §5.3";
    ReadyOkWithoutIsReady: Order Engine Must "handshake.ready-once",
        "`readyok` answers `isready`, once"
        / "`readyok` は `isready` に対して一度だけ返す",
        "UCI 2006, readyok; USI draft 1 §5.3";
    BestMoveWithoutSearch: Order Engine Must "search.one-bestmove",
        "`bestmove` answers `go`, once"
        / "`bestmove` は `go` に対して一度だけ返す",
        "UCI 2006, bestmove; USI draft 1 §5.3";
    BestMoveTooEarly: Order Engine Must "search.no-early-bestmove",
        "`bestmove` waits for `stop` in `go infinite`, and for `ponderhit` in `go ponder`"
        / "`bestmove` を返すのは、`go infinite` では `stop`、`go ponder` では `ponderhit` を受け取ってから",
        "UCI 2006, go infinite and go ponder; USI draft 1 §5.3" / "UCI 2006, go infinite と go ponder; USI draft 1 §5.3";
    CheckmateWithoutMateSearch: Order Engine Must "usi.mate-once",
        "`checkmate` answers `go mate`, once"
        / "`checkmate` は `go mate` に対して一度だけ返す",
        "USI as deployed (YaneuraOu, ShogiHome), go mate" / "USI の実際の用法 (YaneuraOu, ShogiHome), go mate";
    InfoWithoutSearch: Order Engine Should "lexical.idle-info",
        "between searches there is no `info` but `info string`"
        / "探索していないときの `info` は `info string` だけ",
        "UCI 2006, info; USI draft 1 §5.3; The UCI Protocol, state model";
    UndeclaredOption: Contents Client Should "gui.conduct.declared-options",
        "only options that the engine has declared are set"
        / "エンジンが宣言したオプションだけを設定する",
        "UCI 2006, option and setoption; USI draft 1 §5.3" / "UCI 2006, option と setoption; USI draft 1 §5.3";
    InvalidOptionValue: Contents Client Must "gui.conduct.option-values",
        "an option is set to a value that it can have, and a button to none"
        / "オプションには取りうる値を設定し、ボタンには値を付けない",
        "UCI 2006, option and setoption; USI draft 1 §5.3" / "UCI 2006, option と setoption; USI draft 1 §5.3";
    SearchWithoutLimit: Contents Client Should "gui.conduct.search-limit",
        "`go` contains a limit or `infinite`"
        / "`go` では制限または `infinite` を指定する",
        "the specifications do not define a bare `go`: engines search forever, move immediately or never answer" / "制限のない `go` の意味を定めた文書はない。いつまでも探索する、すぐに指す、応答しないなど、エンジンにより異なる";
    InvalidClock: Contents Client Should "gui.conduct.valid-clocks",
        "`wtime` and `btime` are more than zero, in USI not negative, as no time is"
        / "`wtime` と `btime` は正の数 (USI では 0 以上)、その他の時間は 0 以上にする",
        "UCI 2006, go wtime and winc; USI draft 1 §5.3" / "UCI 2006, go wtime と winc; USI draft 1 §5.3";
    ZeroLimit: Contents Client Should "gui.conduct.positive-limits",
        "`depth`, `nodes`, `mate`, `movetime` and `movestogo` are at least 1"
        / "`depth`、`nodes`、`mate`、`movetime`、`movestogo` は 1 以上にする",
        "UCI 2006, go movestogo (“if x > 0”); USI draft 1 §5.3";
    UnknownCommand: Contents Client Must "gui.conduct.known-commands",
        "each line is a command"
        / "各行はコマンドとする",
        "UCI 2006, “GUI to engine”; USI draft 1 §5.3";
    UnrequestedDetail: Contents Engine Must "info.currline-requested",
        "`currline` and `refutation` are sent only while their options are on"
        / "`currline` と `refutation` は、対応するオプションがオンのときだけ送る",
        "UCI 2006, info currline and refutation; USI draft 1 §5.3, info" / "UCI 2006, info currline と refutation; USI draft 1 §5.3, info";
    EarlyDetail: Contents Engine May "info.late-details",
        "`currmove`, `currmovenumber`, `currline` and `refutation` are sent only after one second"
        / "`currmove`、`currmovenumber`、`currline`、`refutation` は、探索開始から 1 秒たってから送る",
        "UCI 2006, info (“only after one second”); USI draft 1 §5.3";
    UciUnanswered: Contents Engine Must "handshake.completes",
        "`uci` or `usi` is answered with `uciok` or `usiok`"
        / "`uci` や `usi` には `uciok` や `usiok` を返す",
        "UCI 2006, uci and uciok; USI draft 1 §5.3, usi and usiok" / "UCI 2006, uci と uciok; USI draft 1 §5.3, usi と usiok";
    IsReadyUnanswered: Contents Engine Must "handshake.ready",
        "`isready` is answered with `readyok`, also during a search"
        / "`isready` には、探索中でも `readyok` を返す",
        "UCI 2006, isready; USI draft 1 §5.3, isready";
    GoUnanswered: Contents Engine Must "search.completes",
        "`go` is answered before the engine exits"
        / "エンジンは `go` に応答してから終了する",
        "UCI 2006, go and bestmove; USI draft 1 §5.3" / "UCI 2006, go と bestmove; USI draft 1 §5.3";
    UnknownLine: Contents Engine Should "handshake.known-messages",
        "after the handshake each line is a message of the protocol; other text is sent as `info string`"
        / "最初の応答より後の行はすべてプロトコルのメッセージとし、その他の文は `info string` で送る",
        "UCI 2006, info string; USI draft 1 §5.3, info string";
    IllegalPosition: Game Client Must "gui.conduct.legal-positions",
        "positions and the moves in them are legal"
        / "局面とその指し手は合法とする",
        "UCI 2006, position; USI draft 1 §5.3, position";
    IllegalSearchMove: Game Client Must "gui.conduct.legal-searchmoves",
        "`searchmoves` lists legal moves"
        / "`searchmoves` には指せる手を書く",
        "UCI 2006, go searchmoves; USI draft 1 §5.3, go searchmoves";
    NoOwnClock: Game Client Must "gui.conduct.own-clock",
        "clocks include the clock of the side to move"
        / "持ち時間を伝えるときは、手番側の残り時間を含める",
        "UCI 2006, go wtime and btime; USI draft 1 §5.3" / "UCI 2006, go wtime と btime; USI draft 1 §5.3";
    PonderAfterEnd: Game Client Should "gui.conduct.ponder-position",
        "`go ponder` is sent only in a position with a legal move"
        / "`go ponder` は指せる手のある局面でだけ送る",
        "UCI 2006, go ponder; USI draft 1 §5.3";
    PonderHitAfterOtherMove: Game Client Must "gui.conduct.ponderhit-move",
        "`ponderhit` means that the expected move was played"
        / "`ponderhit` は予想した手が指されたときにだけ送る",
        "UCI 2006, ponderhit; USI draft 1 §5.3, ponderhit";
    IllegalBestMove: Game Engine Must "search.legal-move",
        "`bestmove` and the ponder move after it are legal"
        / "`bestmove` は合法手で、予想手もその後の合法手とする",
        "UCI 2006, bestmove; USI draft 1 §5.3, bestmove";
    IllegalPv: Game Engine Must "info.legal-pv",
        "every PV is legal in the searched position"
        / "読み筋はすべて、探索している局面から指せる",
        "UCI 2006, info pv; USI draft 1 §5.3, info pv";
    IllegalPonderPv: Game Engine Must "info.ponder-pv",
        "while pondering, PVs begin after the expected move"
        / "先読み中の読み筋は、予想した手の後から始まる",
        "UCI 2006, go ponder; USI draft 1 §5.3";
    PvBeyondEnd: Game Engine Should "info.pv-end",
        "no PV continues after the end of the game, except by insufficient material"
        / "読み筋は、駒不足による引き分けを除き、対局の終わりより後に続かない",
        "practice (fastchess): match runners warn about moves after mate, stalemate, repetition and fifty moves" / "実際の用法 (対局ソフト): 詰み、手詰まり、千日手、五十手の後に手が続くと警告する";
    ClockExceeded: Game Engine Must "search.clock",
        "the engine moves in time with any clock, of one side or both"
        / "持ち時間の長さや、片方だけか両方かによらず、エンジンは時間内に指す",
        "UCI 2006, go wtime and btime; USI draft 1 §5.3" / "UCI 2006, go wtime と btime; USI draft 1 §5.3";
    MoveTimeExceeded: Game Engine Must "search.movetime.ends",
        "`go movetime` ends in time"
        / "`go movetime` は時間どおりに終わる",
        "UCI 2006, go movetime; USI draft 1 §5.3, go movetime";
    MateTimeExceeded: Game Engine Should "usi.mate-time",
        "`go mate` with a time ends within that time"
        / "時間を指定した `go mate` はその時間内に終わる",
        "USI as deployed (Shogidokoro, YaneuraOu), go mate" / "USI の実際の用法 (将棋所, YaneuraOu), go mate";
    PositionForm: Form Client Must "gui.conduct.position-form",
        "`position` is well-formed"
        / "`position` を正しい形式で書く",
        "UCI 2006, position; USI draft 1 §5.3, position";
    GoForm: Form Client Must "gui.conduct.go-form",
        "`go` is well-formed"
        / "`go` を正しい形式で書く",
        "UCI 2006, go; USI draft 1 §5.3, go";
    SetOptionForm: Form Client Must "gui.conduct.setoption-form",
        "`setoption` is well-formed"
        / "`setoption` を正しい形式で書く",
        "UCI 2006, setoption; USI draft 1 §5.3, setoption";
    OptionForm: Form Engine Must "options.readable",
        "every `option` line has a name, a known type and no unknown tokens"
        / "`option` の行は名前とプロトコルで定めた型を持ち、未知の語を含まない",
        "UCI 2006, option; USI draft 1 §5.3, option";
    CheckDefault: Form Engine Must "options.check-default",
        "an option of the type `check` has the default `true` or `false`"
        / "`check` 型のオプションの既定値は `true` か `false` とする",
        "UCI 2006, option type check; USI draft 1 §5.3, option";
    SpinRange: Form Engine Must "options.spin-range",
        "an option of the type `spin` has integers: `min` is at most `default`, which is at most `max`"
        / "`spin` 型のオプションは整数の `min`、`default`、`max` を持ち、この順に大きくなる",
        "UCI 2006, option type spin; USI draft 1 §5.3, option";
    ComboDefault: Form Engine Must "options.combo-default",
        "an option of the type `combo` has choices, and its default is one of them"
        / "`combo` 型のオプションは選択肢を持ち、既定値はその一つとする",
        "UCI 2006, option type combo; USI draft 1 §5.3, option";
    StringDefault: Form Engine Should "options.string-default",
        "an option of the type `string` declares its default, `<empty>` if it is empty"
        / "`string` 型のオプションは既定値を伝え、空の場合は `<empty>` と書く",
        "UCI 2006, option type string and default; USI draft 1 §5.3, option" / "UCI 2006, option type string と default; USI draft 1 §5.3, option";
    ReplyForm: Form Engine Should "lexical.reply-form",
        "`uciok`, `readyok` and `bestmove` have no further text"
        / "`uciok`、`readyok`、`bestmove` に余分な文字列を付けない",
        "UCI 2006, general rules; USI draft 1 §5.1";
    InfoNumbers: Form Engine Must "info.numbers",
        "numbers in `info` are non-negative integers within range"
        / "`info` の数は負でない整数で、項目の範囲に収まる",
        "UCI 2006, info; USI draft 1 §5.3, info";
    InfoComplete: Form Engine Must "info.complete",
        "each field of `info` has a value"
        / "`info` の各項目には値がある",
        "UCI 2006, info; USI draft 1 §5.3, info";
    InfoOnce: Form Engine Should "info.once",
        "each field occurs once in an `info` line"
        / "`info` の行に同じ項目は一度だけ現れる",
        "UCI 2006, info; USI draft 1 §5.3, info";
    InfoMoves: Form Engine Must "info.moves",
        "move lists of `info` contain only moves in protocol notation"
        / "`info` の指し手の列にあるものは、プロトコルの形式の指し手とする",
        "UCI 2006, info; USI draft 1 §5.3, info";
    InfoSeldepth: Form Engine Must "info.seldepth",
        "`seldepth` comes with `depth`"
        / "`seldepth` は `depth` と一緒に送る",
        "UCI 2006, info seldepth; USI draft 1 §5.3, info seldepth";
}

impl Rule {
    /// The index in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The id, which is that of the conformance check of the rule.
    pub const fn id(self) -> &'static str {
        self.declaration().id
    }

    /// What decides whether it is violated.
    pub const fn kind(self) -> RuleKind {
        self.declaration().kind
    }

    /// Whether a [`ProtocolState`](crate::ProtocolState) checks it.
    pub const fn is_ordering(self) -> bool {
        matches!(self.kind(), RuleKind::Order)
    }

    /// Whether a message that violates it has no meaning: the other side ignores it, as required by the protocols.
    /// After a violation of another rule the session continues.
    ///
    /// Engines do not ignore a `go` during a search. It starts no search for the
    /// [`ProtocolState`](crate::ProtocolState), but neither an additional answer nor an early answer to the
    /// running search is a violation then.
    pub const fn is_ignored(self) -> bool {
        matches!(
            self,
            Self::BusyEngine
                | Self::PonderHitWithoutPonder
                | Self::AfterQuit
                | Self::UciOkWithoutUci
                | Self::ReadyOkWithoutIsReady
                | Self::BestMoveWithoutSearch
                | Self::CheckmateWithoutMateSearch
        )
    }

    /// The responsible party.
    pub const fn binds(self) -> Party {
        self.declaration().by
    }

    /// The severity of a violation.
    pub const fn severity(self) -> Severity {
        self.declaration().severity
    }

    /// The rule in one English sentence.
    pub const fn text(self) -> &'static str {
        self.declaration().text
    }

    /// The rule in one sentence of a language.
    pub const fn text_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.declaration().text,
            Language::Japanese => self.declaration().japanese,
        }
    }

    /// The clause of the specification.
    pub const fn clause(self) -> &'static str {
        self.declaration().clause
    }

    /// The clause in a language. Titles of documents are not translated.
    pub const fn clause_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.declaration().clause,
            Language::Japanese => self.declaration().japanese_clause,
        }
    }

    /// The rule that a diagnostic of a line violates, by the first token of the line. `None` for an unusual form that
    /// violates no rule, and for `option`, whose rules depend on the declaration: see
    /// [`OptionDecl::violates`](crate::OptionDecl::violates).
    pub fn of_form(by: Party, keyword: &str, kind: DiagnosticKind) -> Option<Self> {
        use DiagnosticKind as Kind;

        match (by, keyword) {
            (Party::Engine, "info") => Some(match kind {
                Kind::NotANumber
                | Kind::PartialNumber
                | Kind::NumberTooLarge
                | Kind::NegativeNumber => Self::InfoNumbers,
                Kind::Missing | Kind::MissingKeyword => Self::InfoComplete,
                Kind::Repeated | Kind::Conflict => Self::InfoOnce,
                Kind::NotAMove | Kind::MoveRepaired => Self::InfoMoves,
                Kind::SeldepthWithoutDepth => Self::InfoSeldepth,
                _ => return None,
            }),
            (Party::Engine, "uciok" | "usiok" | "readyok" | "bestmove" | "checkmate") => {
                matches!(kind, Kind::TrailingText | Kind::UnknownToken | Kind::Missing)
                    .then_some(Self::ReplyForm)
            }
            (Party::Client, "position") => matches!(
                kind,
                Kind::BadPosition
                    | Kind::NotAMove
                    | Kind::MoveRepaired
                    | Kind::MissingKeyword
                    | Kind::WrongOrder
                    | Kind::Missing
                    | Kind::TrailingText
                    | Kind::UnknownToken
                    | Kind::Repeated
                    | Kind::WrongCase
            )
            .then_some(Self::PositionForm),
            (Party::Client, "go") => matches!(
                kind,
                Kind::NotANumber
                    | Kind::PartialNumber
                    | Kind::NumberTooLarge
                    | Kind::NegativeNumber
                    | Kind::Missing
                    | Kind::EmptyList
                    | Kind::NotAMove
                    | Kind::UnknownToken
                    | Kind::Repeated
                    | Kind::Conflict
                    | Kind::WrongCase
            )
            .then_some(Self::GoForm),
            (Party::Client, "setoption") => matches!(
                kind,
                Kind::Missing
                    | Kind::MissingKeyword
                    | Kind::WrongOrder
                    | Kind::UnknownToken
                    | Kind::WrongCase
            )
            .then_some(Self::SetOptionForm),
            (
                Party::Client,
                "uci" | "usi" | "isready" | "ucinewgame" | "usinewgame" | "stop" | "ponderhit"
                | "quit",
            ) => matches!(kind, Kind::TrailingText | Kind::UnknownToken)
                .then_some(Self::UnknownCommand),
            _ => None,
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

impl From<Rule> for Violation {
    fn from(rule: Rule) -> Self {
        Self { by: rule.binds(), rule }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} violated a rule: {} ({})", self.by, self.rule.text(), self.rule.clause())
    }
}

impl core::error::Error for Violation {}
