//! Errors: a category, a code with its parameters, and the context.
//!
//! [`ErrorCode`] has the English texts, and the enums that it wraps have theirs, which the terminal prints. From them,
//! the test `typescript` generates `web/src/api/errors.ts`. The Japanese texts are in `web/src/i18n/ja.ts`.

use std::fmt;

use readyok_arena::openings::OpeningDefect;
use readyok_arena::result::{WarningKind, rule_text};
use readyok_arena::schedule::PairingError;
use readyok_arena::stats::SprtError;
use readyok_arena::store::StoreDefect;
use readyok_client::{EngineFailureDetail, EngineFailureKind, ExitDescription};
use readyok_library::LibraryDefect;
use readyok_protocol::translation::display_text;
use readyok_protocol::{Language, OptionError, errors, texts};
use readyok_rules::record::{Defect, Limit, PatternDefect};
use readyok_rules::{EpdDefect, IllegalReason, PositionError};
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::Value;
#[cfg(test)]
use ts_rs::TS;

use super::{OnlineService, Variant};
use crate::errors::engine_failure;
use readyok_rules::record::compression::DecompressionError;

/// Why a request failed. Nothing has changed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ApiError {
    pub category: ErrorCategory,
    pub error: ErrorInfo,
}

/// The categories of failed requests.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    /// The request is malformed or contradictory.
    InvalidRequest,
    /// The game, node, engine, process, match or entry does not exist.
    NotFound,
    /// The move is illegal, or its text is unreadable.
    IllegalMove,
    /// Several moves match the text.
    AmbiguousMove,
    /// The position is invalid, or its text is unreadable.
    InvalidPosition,
    /// The game record cannot be read or written.
    InvalidRecord,
    /// The current state does not allow the request: not this player's turn, the game is over, no search runs.
    Conflict,
    /// The engine does not support the request, or has failed.
    Engine,
    /// A limit of the server is reached.
    Limit,
    /// The path is outside of the allowed directories, or has another file type.
    InvalidPath,
    /// The disk or the library failed.
    Storage,
    /// An online service has no usable answer.
    Online,
}

/// An error: its code and its context.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ErrorInfo {
    #[serde(flatten, deserialize_with = "stored_code")]
    pub code: ErrorCode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub context: Option<Box<ErrorContext>>,
}

/// Reads a code. One of another version, which jobs and games in the library can have, becomes a text.
fn stored_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ErrorCode, D::Error> {
    let stored = Value::deserialize(deserializer)?;
    let name = stored["code"].as_str().map(|code| code.replace('_', " "));
    Ok(serde_json::from_value(stored).unwrap_or_else(|_| ErrorCode::System {
        text: name.unwrap_or_else(|| "unknown".to_owned()),
    }))
}

/// The object and the location of an error.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
#[cfg_attr(test, ts(optional_fields))]
pub struct ErrorContext {
    /// The variant of the sides, squares and pieces in the parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The name of the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of the game in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<u64>,
    /// The number of the entry in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The text of the rejected move.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub mv: Option<String>,
    /// The part of a defective game that was read; absent if nothing else is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptMoves>,
    /// The details of an engine failure. In games and jobs of earlier versions, this is the last stderr line.
    #[serde(
        alias = "stderr",
        deserialize_with = "stored_details",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[cfg_attr(test, ts(as = "Option<Vec<EngineFailureDetail>>"))]
    pub details: Vec<EngineFailureDetail>,
}

fn stored_details<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<EngineFailureDetail>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Details(Vec<EngineFailureDetail>),
        Stderr(String),
    }
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Details(details) => details,
        Stored::Stderr(line) => vec![EngineFailureDetail::Stderr { line }],
    })
}

/// The part of a defective game that was read.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum KeptMoves {
    /// The main line up to a ply.
    Main { plies: u32 },
    /// The variation up to a ply, and the other lines.
    Variation { plies: u32 },
}

impl ApiError {
    pub(crate) fn new(category: ErrorCategory, error: impl Into<ErrorInfo>) -> Self {
        Self { category, error: error.into() }
    }

    pub(crate) fn invalid_request(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::InvalidRequest, error)
    }

    pub(crate) fn conflict(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::Conflict, error)
    }

    pub(crate) fn engine(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::Engine, error)
    }

    pub(crate) fn storage(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::Storage, error)
    }

    pub(crate) fn limit(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::Limit, error)
    }

    pub(crate) fn not_found(subject: ErrorSubject, name: impl ToString) -> Self {
        Self::new(ErrorCategory::NotFound, ErrorCode::unknown(subject, name))
    }

    pub(crate) fn too_many(subject: ErrorSubject) -> Self {
        Self::limit(ErrorCode::TooMany { subject })
    }

    /// Rejects a text that is empty, too long, or contains control characters.
    pub(crate) fn invalid_text(subject: ErrorSubject) -> Self {
        Self::invalid_request(ErrorCode::InvalidText { subject })
    }
}

impl ErrorCode {
    /// An error of the system or of a library, which has no code.
    pub(crate) fn system(error: &(impl ToString + ?Sized)) -> Self {
        Self::System { text: error.to_string() }
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers pass numbers and texts")]
    pub(crate) fn unknown(subject: ErrorSubject, name: impl ToString) -> Self {
        Self::UnknownName { subject, name: name.to_string() }
    }

    /// An error with a context.
    pub(crate) fn with(self, set: impl FnOnce(&mut ErrorContext)) -> ErrorInfo {
        ErrorInfo::from(self).with(set)
    }
}

impl ErrorInfo {
    pub(crate) fn with(mut self, set: impl FnOnce(&mut ErrorContext)) -> Self {
        set(self.context.get_or_insert_default());
        self
    }
}

impl From<ErrorCode> for ErrorInfo {
    fn from(code: ErrorCode) -> Self {
        Self { code, context: None }
    }
}

impl From<EngineFailureKind> for ErrorInfo {
    fn from(kind: EngineFailureKind) -> Self {
        ErrorCode::from(kind).into()
    }
}

impl From<ApiError> for ErrorInfo {
    fn from(error: ApiError) -> Self {
        error.error
    }
}

/// The English text: engine, location and move, then the text of the code.
impl fmt::Display for ErrorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(context) = &self.context else { return self.code.fmt(f) };
        let ErrorContext { variant: _, engine, path, game, entry, line, column, mv, kept, details } =
            &**context;
        if let Some(engine) = engine {
            write!(f, "{engine}: ")?;
        }
        let numbers = [("game", game), ("entry", entry), ("line", line), ("column", column)];
        let numbers = numbers
            .into_iter()
            .filter_map(|(name, number)| number.map(|number| format!("{name} {number}")));
        let location: Vec<String> = path.clone().into_iter().chain(numbers).collect();
        if !location.is_empty() {
            write!(f, "{}: ", location.join(", "))?;
        }
        if let Some(mv) = mv {
            write!(f, "{mv}: ")?;
        }
        self.code.fmt(f)?;
        details.iter().try_for_each(|detail| detail.fmt(f))?;
        match kept {
            Some(KeptMoves::Main { plies }) => write!(f, "; read up to ply {plies}"),
            Some(KeptMoves::Variation { plies }) => {
                write!(f, "; variation read up to ply {plies}")
            }
            None => Ok(()),
        }
    }
}

errors! {
    /// An error code with its parameters.
    #[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
    #[cfg_attr(test, derive(TS))]
    #[serde(tag = "code", rename_all = "snake_case")]
    pub enum ErrorCode {
        DeclarationRejected => "the win declaration was rejected",
        InvalidBestMove { answer: String } => "answered `{answer}` although legal moves exist",
        NoOutput { time: u64 } => "no output for {time} ms",
        DrawAdjudication => "by the scores of both engines",
        ResignAdjudication => "by score",
        MateAdjudication => "by a trusted mate score",
        TablebaseAdjudication => "by tablebases",

        KilledByUser => "killed by the user",
        EngineStopped => "stopped",
        CheckFailed { text: LocalizedText } => "conformance check failed to run: {text}",
        NullMoveNotAllowed => "the side to move cannot pass here",
        NoScore => "reports no score",
        TooManyProcesses => "too many engines are running",
        ShuttingDown => "the server is shutting down",
        GameChanged => "the game was changed",
        GameClosed => "the game was closed",
        OpenGameNotReplaced => "an open game is not replaced: close it first",

        System { text: String } => "system error: {text}",
        NotFound { subject: ErrorSubject } => "{subject} not found",
        UnknownName { subject: ErrorSubject, name: String } => "{subject} not found: {name}",
        TooMany { subject: ErrorSubject } => "too many: {subject}",
        TooLong { subject: ErrorSubject } => "too long: {subject}",
        InvalidText { subject: ErrorSubject } =>
            "{subject} is empty, too long or contains control characters",
        PermissionDenied => "no permission to read it",
        PathNotAllowed => "outside the directories that the server shows",
        NotExecutable { name: String } => "not an executable program: {name}",
        UnknownEngineList =>
            "not an engine list of Cute Chess, En Croissant, Arena or ShogiHome",
        OtherProtocol { text: String } => "uses the protocol {text}, not UCI or USI",
        IncompleteCommand => "missing command or unclosed quote",
        PathNotAbsolute => "enter the absolute path of the program",
        InvalidAddress => "enter the address as host:port",
        BuiltInEngine => "the built-in engine cannot be changed",
        NotLoggedIn => "not logged in: open the link printed by Readyok",
        ForeignOrigin => "the request does not come from this page",
        UnknownHost => "the request names another host",
        CrossSiteRequest => "the request comes from another site",
        NoResponse => "the server does not respond",
        TooManyImports => "too many imports at the same time",
        TooManyDownloads => "too many downloads at the same time",
        Unreadable => "unreadable",
        GameDamaged => "the stored game is damaged",
        OtherPosition => "the games have no common position",
        NothingToMerge => "no games are selected",
        NothingToSplit => "the position has less than two continuations",
        GameTreeFull => "the game has the maximum number of moves",
        ShapeOffBoard => "an arrow or circle is outside the board",
        StartPositionNotDeletable => "the start position cannot be deleted",
        ReorderDuringGame => "moves cannot be reordered during play",
        NothingToUndo => "there is nothing to undo",
        NothingToRedo => "there is nothing to redo",
        UndoDuringGame => "use “Takeback” during play",
        NoPlayers => "the game has no players",
        GameInProgress => "the game is in progress",
        GameNotInProgress => "the game is not in progress",
        GameOver => "the game is over",
        GameNotOver => "the game is not over",
        EngineTurn => "it is the engine’s turn",
        NotYourTurn => "it is not your turn",
        NoHumanPlayer => "the game has no human player",
        NoEngineOnSide => "no engine plays this side",
        NoEngineThinking => "no engine is thinking about its move",
        NoDrawOffer => "there is no draw offer",
        DrawDeclined => "the engine declined the draw",
        NothingToClaim => "there is nothing to claim",
        NothingToTakeBack => "there is no move to take back",
        InvalidTimeControl => "invalid time control",
        StartOfOtherVariant => "the start position belongs to another variant",
        BookRequiresStandardStart => "an opening book requires the standard start position",
        LineCount { limit: u32 } => "the number of lines must be 0 to {limit}",
        NotAnalyzing => "the engine is not analyzing this game",
        CheckRunning => "a conformance check is running",
        InputNotAccepted => "accepts no input",
        DirectoryNotImported => "the directory must be imported first",
        NoGames => "no games found",
        ReportRunning => "a report on this game is running",
        NoReportRunning => "no report is running",
        NoEvaluation => "the report has no evaluation of this position",
        AttemptReplaced => "another move was tried in the meantime",
        NoSolution => "no solution was found",
        MissingColumn { name: String } => "missing column: {name}",
        InvalidRating { text: String } => "not a rating: {text}",
        NoRepertoireMoves => "no moves of this side to train",
        JobRunning => "the job is running",
        JobNotRunning => "the job is not running",

        NoTablebases => "no Syzygy tablebases in this directory",
        NoTablebaseDirectory => "no directory of Syzygy tablebases is set",
        TablebaseCastling => "tablebases contain no positions with castling rights",
        TablebasePieces { pieces: usize, limit: usize } =>
            "the position has {pieces} pieces; the largest table has {limit}",
        NotABook => "not an opening book",
        UnsortedBook => "the positions of the book are not sorted, and the file is too large to load",

        ServiceOff { host: OnlineService } => "{host} is switched off in the settings",
        TokenRequired { host: OnlineService } => "{host} requires an API token: see the settings",
        TokenRejected { host: OnlineService } => "{host} denies access, with the API token if there is one",
        ServiceUnreachable { host: OnlineService, text: String } => "no connection to {host}: {text}",
        ServiceInterrupted { host: OnlineService } => "{host} ended the connection before the end of the answer",
        ServiceTimeout { host: OnlineService } => "{host} did not answer in time",
        ServiceStatus { host: OnlineService, status: u16 } => "{host} answered with status {status}",
        RateLimited { host: OnlineService, seconds: u64 } => "{host} accepts no request for {seconds} s",
        AnswerTooLarge { host: OnlineService } => "the answer of {host} is too large",
        AnswerMalformed { host: OnlineService } => "the answer of {host} is malformed",

        UnsupportedFormat => "the format does not support this variant",

        MatchTooLarge { rounds: u32, pairs: u32, engines: usize, concurrency: u32 } =>
            "limits: {rounds} rounds, {pairs} game pairs, {engines} engines and {concurrency} concurrent games; at least one of each",
        AuthorsTestCommits => "authors test commits of Git repositories, with openings of the farm",
        RepositoryNotPermitted { repository: String } => "commits of `{repository}` may not be tested here",
        AuthorsNameNoFiles { option: String } => "the option `{option}` names a file, which authors cannot",
        SourceUnavailable { cause: String } => "the commit is not available: {cause}",
        DuplicateName { name: String } => "duplicate engine name: {name}",
        MissingLimit => "an engine requires a time control or a limit",
        ZeroTime => "the time is zero",
        TimeTooLong => "the time is too long",
        MissingMoveCount => "an adjudication rule requires a number of moves",
        MatchRunning => "the match is running",
        MatchNotRunning => "the match is not running",
        MatchFinished => "the match is finished",
        MatchFailed => "the match has failed",
        AcceptedH0 => "SPRT finished: H0 accepted",
        AcceptedH1 => "SPRT finished: H1 accepted",
        TakeAccepted => "the take is accepted",
        TakesDropped => "all takes are dropped",
        EngineFailures { count: u64 } => "failed games: {count}",
        EngineFailuresBy { count: u64, cause: Box<ErrorInfo> } => "failed games: {count}; the last: {cause}",
        GamesReplayed => "interrupted games are replayed",
        OpeningSkipped { cause: Box<ErrorInfo> } => "opening skipped: {cause}",
        OpeningsSkipped { count: u64, cause: Box<ErrorInfo> } =>
            "{count} openings skipped; the first: {cause}",
    }
    wraps {
        #[serde(untagged)]
        Position(PositionError),
        #[serde(untagged)]
        Move(Code<IllegalReason>),
        #[serde(untagged)]
        Record(Defect),
        #[serde(untagged)]
        Pattern(PatternDefect),
        #[serde(untagged)]
        RecordLimit(Code<Limit>),
        #[serde(untagged)]
        Epd(EpdDefect),
        #[serde(untagged)]
        Decompression(DecompressionError),
        #[serde(untagged)]
        Opening(OpeningDefect),
        #[serde(untagged)]
        Pairing(PairingError),
        #[serde(untagged)]
        Store(StoreDefect),
        #[serde(untagged)]
        Library(LibraryDefect),
        #[serde(untagged)]
        Sprt(SprtError),
        #[serde(untagged)]
        #[cfg_attr(test, ts(as = "EngineFailureKind"))]
        Engine(Coded<EngineFailureKind>),
        #[serde(untagged)]
        Exit(ExitDescription),
        #[serde(untagged)]
        CausedWarning(CausedWarning),
        #[serde(untagged)]
        #[cfg_attr(test, ts(as = "WarningKind"))]
        Warning(Box<Coded<WarningKind>>),
    }
}

/// A code without parameters.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Code<T> {
    pub code: T,
}

impl<T: fmt::Display> fmt::Display for Code<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.fmt(f)
    }
}

/// An error whose stored form has the tag `kind` instead of `code`, and names in kebab case. Texts of engines and users,
/// which can have any length and content, are made safe for display.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Coded<T>(pub T);

impl<T: Serialize> Serialize for Coded<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = serde_json::to_value(&self.0).map_err(ser::Error::custom)?;
        retagged(stored, ("kind", "code"), ('-', "_")).serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Coded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = retagged(Value::deserialize(deserializer)?, ("code", "kind"), ('_', "-"));
        serde_json::from_value(stored).map(Self).map_err(de::Error::custom)
    }
}

fn retagged(mut value: Value, tags: (&str, &str), separators: (char, &str)) -> Value {
    if let Some(fields) = value.as_object_mut() {
        let name = fields.remove(tags.0);
        fields.values_mut().for_each(displayed);
        if let Some(Value::String(name)) = name {
            fields.insert(tags.1.to_owned(), name.replace(separators.0, separators.1).into());
        }
    }
    value
}

/// Truncates texts and lists, and makes texts safe for display.
fn displayed(value: &mut Value) {
    const MAX_CHARS: usize = 1000;
    const MAX_ITEMS: usize = 50;
    match value {
        Value::String(text) => {
            let short: String = text.chars().take(MAX_CHARS).collect();
            *text = display_text(&short).into_owned();
        }
        Value::Array(items) => {
            items.truncate(MAX_ITEMS);
            items.iter_mut().for_each(displayed);
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl<T: fmt::Display> fmt::Display for Coded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<IllegalReason> for ErrorCode {
    fn from(code: IllegalReason) -> Self {
        Self::Move(Code { code })
    }
}

impl From<EngineFailureKind> for ErrorCode {
    fn from(kind: EngineFailureKind) -> Self {
        Self::Engine(Coded(kind))
    }
}

impl From<OptionError> for ErrorCode {
    fn from(error: OptionError) -> Self {
        EngineFailureKind::from(error).into()
    }
}

impl From<&WarningKind> for ErrorCode {
    fn from(kind: &WarningKind) -> Self {
        match kind {
            WarningKind::OptionNotSet { name, value, cause } => CausedWarning::OptionNotSet {
                name: display_text(name).into_owned(),
                value: display_text(value).into_owned(),
                cause: Box::new(Self::from(cause.clone()).into()),
            }
            .into(),
            WarningKind::Restarted { cause } => {
                CausedWarning::Restarted { cause: Box::new(engine_failure(cause)) }.into()
            }
            WarningKind::ProtocolViolation { cause } => {
                let text = |language| rule_text(*cause, language);
                let cause = LocalizedText {
                    english: text(Language::English),
                    japanese: text(Language::Japanese),
                };
                CausedWarning::ProtocolViolation { cause }.into()
            }
            kind => Self::Warning(Box::new(Coded(kind.clone()))),
        }
    }
}

impl From<Limit> for ErrorCode {
    fn from(code: Limit) -> Self {
        Self::RecordLimit(Code { code })
    }
}

/// A [`WarningKind`] with its cause as the page shows it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CausedWarning {
    OptionNotSet { name: String, value: String, cause: Box<ErrorInfo> },
    Restarted { cause: Box<ErrorInfo> },
    ProtocolViolation { cause: LocalizedText },
}

/// The text of the [`WarningKind`].
impl fmt::Display for CausedWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OptionNotSet { name, value, cause } => {
                fill(f, "OptionNotSet", &[("name", name), ("value", value), ("cause", cause)])
            }
            Self::Restarted { cause } => fill(f, "Restarted", &[("cause", cause)]),
            Self::ProtocolViolation { cause } => fill(f, "ProtocolViolation", &[("cause", cause)]),
        }
    }
}

/// Fills the text of a [`WarningKind`], like the page.
fn fill(
    f: &mut fmt::Formatter<'_>,
    variant: &str,
    values: &[(&str, &dyn fmt::Display)],
) -> fmt::Result {
    let text = WarningKind::TEXTS.iter().find(|(name, _)| *name == variant);
    let parts = text.map_or(variant, |(_, text)| text).split(['{', '}']).enumerate();
    for (index, part) in parts {
        match values.iter().find(|(name, _)| index % 2 == 1 && *name == part) {
            Some((_, value)) => value.fmt(f)?,
            None => f.write_str(part)?,
        }
    }
    Ok(())
}

texts! {
    /// The object of an error: not found, too many, too long, or invalid.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
    #[cfg_attr(test, derive(TS))]
    #[serde(rename_all = "snake_case")]
    pub enum ErrorSubject {
        Account => "account",
        Argument => "argument or variable",
        Book => "opening book",
        Button => "button",
        Chapter => "chapter",
        ChapterName => "chapter name",
        Collection => "study",
        CollectionName => "study name",
        Comment => "comment",
        Date => "date",
        Engine => "engine",
        EngineName => "engine name",
        Exercise => "exercise",
        File => "file",
        Game => "game",
        Handicap => "handicap",
        Header => "header",
        Job => "job",
        Line => "line",
        Match => "match",
        MatchName => "match name",
        Move => "move",
        Node => "move or position",
        Note => "note",
        OpenGame => "open game",
        Option => "option",
        PlayerName => "player name",
        Position => "position",
        Preset => "preset",
        Process => "process",
        Query => "query",
        Registration => "registration name or code",
        Result => "result",
        Settings => "settings",
        StartNumber => "start position number",
        TablebaseDirectory => "tablebase directory",
        Text => "text",
        Theme => "theme",
        Token => "API token",
        Topic => "topic",
        TrainingSet => "training set",
        TrainingSetName => "name of a training set",
    }
}

/// A text in both languages, from a library with texts of its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LocalizedText {
    pub english: String,
    pub japanese: String,
}

impl fmt::Display for LocalizedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.english)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_another_version_is_read_as_a_text() {
        let read = |json: &str| serde_json::from_str::<ErrorInfo>(json).expect("it is stored");
        let known = r#"{"code":"too_many","subject":"job","context":{"path":"a.pgn"}}"#;
        assert_eq!(serde_json::to_string(&read(known)).expect("it is stored"), known);
        for (old, text) in [
            (
                r#"{"code":"invalid_epd_operation","text":"x","context":{"line":7}}"#,
                "line 7: system error: invalid epd operation",
            ),
            (r#"{"code":"not_polyglot"}"#, "system error: not polyglot"),
            (
                r#"{"code":"output_closed","context":{"stderr":"no net"}}"#,
                "closed its output or the connection; last stderr line: `no net`",
            ),
            (r#"{"text":"x"}"#, "system error: unknown"),
        ] {
            assert_eq!(read(old).to_string(), text);
        }
    }

    #[test]
    fn the_context_precedes_the_text() {
        let code = ErrorCode::from(Defect::UnexpectedText { text: "x".to_owned() });
        assert_eq!(ErrorInfo::from(code.clone()).to_string(), "unexpected `x`");
        let error = code.with(|context| {
            context.path = Some("a.pgn".to_owned());
            (context.game, context.line) = (Some(2), Some(7));
        });
        assert_eq!(error.to_string(), "a.pgn, game 2, line 7: unexpected `x`");
    }

    #[test]
    fn errors_keep_their_parameters_in_json() {
        let cause = ErrorCode::from(PositionError::RankCount { count: 7, expected: 8 })
            .with(|context| context.line = Some(3));
        let error = ErrorInfo::from(ErrorCode::OpeningSkipped { cause: Box::new(cause) });
        let json = serde_json::to_value(&error).expect("it is serializable");
        let cause = serde_json::json!({
            "code": "rank_count", "count": 7, "expected": 8, "context": { "line": 3 }
        });
        assert_eq!(json, serde_json::json!({ "code": "opening_skipped", "cause": cause }));
        assert_eq!(serde_json::from_value::<ErrorInfo>(json).expect("it is an error"), error);
    }

    #[test]
    fn errors_of_options_have_codes_and_are_stored_with_kinds() {
        // The name in earlier results of matches.
        let earlier = serde_json::json!({ "kind": "no-value", "option": "Hash" });
        let error: OptionError = serde_json::from_value(earlier).expect("it is an error");
        assert_eq!(error, OptionError::MissingValue { option: "Hash".to_owned() });
        let stored = serde_json::to_value(&error).expect("it is serializable");
        assert_eq!(stored, serde_json::json!({ "kind": "missing-value", "option": "Hash" }));
        let info = ErrorInfo::from(ErrorCode::from(error));
        let json = serde_json::to_value(&info).expect("it is serializable");
        assert_eq!(json, serde_json::json!({ "code": "missing_value", "option": "Hash" }));
        assert_eq!(serde_json::from_value::<ErrorInfo>(json).expect("it is an error"), info);
    }
}
