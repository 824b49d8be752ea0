//! Test cases, and the context of a test: the engine and its handshake information.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use readyok_protocol::{
    DiagnosticKind, Dialect, Id, OptionDecl, OptionKind, OptionType, Reply, Rule,
};
use readyok_rules::{Game, Position};

use crate::capabilities::{Capabilities, Feature};
use crate::change::Change;
use crate::mock_engine::Probe;
use crate::session::{EngineSession, WaitError};
use crate::spec::{Check, Need};
use crate::spec::{Observation, Stop, TestResult};
use crate::target::{Launch, Target};
use crate::timeouts::Timeouts;
use crate::transcript::{GameOf, Transcript};

/// A check with its test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestCase {
    pub(crate) check: Check,
    pub(crate) test: Test,
}

/// The test of a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Test {
    /// Runs in a separate session.
    Interactive(fn(&TestContext<'_>) -> TestResult),
    /// Observes all sessions.
    Passive(fn(&Transcript) -> Observation),
    /// Observes violations of a rule of the protocol in all sessions.
    Rule(Rule),
    /// A mock engine with this behavior, for clients.
    Mock(Probe),
}

impl Test {
    pub(crate) const fn is_passive(&self) -> bool {
        !matches!(self, Self::Interactive(_) | Self::Mock(_))
    }

    /// The rule of the protocol that it observes.
    pub(crate) const fn order(&self) -> Option<Rule> {
        match self {
            Self::Rule(rule) => Some(*rule),
            Self::Interactive(_) | Self::Passive(_) | Self::Mock(_) => None,
        }
    }
}

/// Information from the handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineInfo {
    pub(crate) names: Vec<String>,
    pub(crate) authors: Vec<String>,
    pub(crate) options: Vec<DeclaredOption>,
    /// Lines that begin with `option`, but declare none.
    pub(crate) invalid_options: Vec<String>,
    /// Time from the start to `uciok` or `usiok`.
    pub(crate) handshake: Duration,
    /// Time from the start of the process to `uciok` or `usiok`.
    pub(crate) startup: Duration,
    /// The engine has answered the first `isready`.
    pub(crate) is_ready: bool,
    /// Which searches work.
    pub(crate) capabilities: Capabilities,
}

/// An `option` line.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredOption {
    pub(crate) decl: OptionDecl<'static>,
    pub(crate) notes: Vec<DiagnosticKind>,
}

/// Number of repetitions of random tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Searches with random commands.
    pub(crate) searches: usize,
    /// Lines of random moves whose positions are searched.
    pub(crate) lines: usize,
    /// Games of each soak check; 0 disables these checks.
    pub(crate) soak: Option<usize>,
}

/// The context of a check.
#[derive(Debug)]
pub(crate) struct TestContext<'a> {
    pub(crate) target: &'a Target,
    pub(crate) engine_info: &'a EngineInfo,
    pub(crate) dialect: Dialect,
    pub(crate) timeouts: Timeouts,
    pub(crate) seed: u64,
    pub(crate) effort: Effort,
    check: &'static str,
    changes: Vec<Change>,
    records: RefCell<Vec<Rc<RefCell<Transcript>>>>,
    remark: RefCell<Option<String>>,
}

impl<'a> TestContext<'a> {
    pub(crate) fn new(
        target: &'a Target,
        engine_info: &'a EngineInfo,
        dialect: Dialect,
        timeouts: Timeouts,
        seed: u64,
        effort: Effort,
        check: &'static str,
    ) -> Self {
        let (records, remark) = (RefCell::default(), RefCell::default());
        // The search for capabilities has waited for the same reply.
        let is_confirmed = engine_info.capabilities.fails(check);
        let timeouts = if is_confirmed { timeouts.for_confirmation() } else { timeouts };
        let changes = engine_info.capabilities.changes_for(check);
        Self {
            target,
            engine_info,
            dialect,
            timeouts,
            seed,
            effort,
            check,
            changes,
            records,
            remark,
        }
    }

    /// Changes what all sessions of the check send and receive.
    pub(crate) fn with_changes(mut self, changes: &[Change]) -> Self {
        let more = changes.iter().filter(|change| !self.changes.contains(change));
        let more: Vec<Change> = more.copied().collect();
        self.changes.extend(more);
        self
    }

    /// Starts an engine without a handshake.
    pub(crate) fn start(&self, conforming: bool) -> Result<EngineSession, Stop> {
        self.launch(conforming, false)
    }

    /// Starts an engine for comparison. Its session is not reported or checked.
    pub(crate) fn start_separate(&self) -> Result<EngineSession, Stop> {
        let session = self.ready_unchecked()?;
        let mut records = self.records.borrow_mut();
        records.rotate_right(1);
        Ok(session)
    }

    /// Starts an engine whose stderr is a pipe that is never read.
    pub(crate) fn start_with_undrained_stderr(&self) -> Result<EngineSession, Stop> {
        self.launch(true, true)
    }

    fn launch(&self, conforming: bool, undrained_stderr: bool) -> Result<EngineSession, Stop> {
        let record = Rc::new(RefCell::new(Transcript::new(self.dialect, conforming)));
        self.records.borrow_mut().push(Rc::clone(&record));
        let launch = Launch { check: self.check, undrained_stderr };
        let session =
            EngineSession::start(self.target, launch, self.dialect, self.timeouts, record)?;
        let capabilities = &self.engine_info.capabilities;
        let session = session.with_changes(&self.changes, capabilities.is_late);
        Ok(session.with_capabilities(capabilities))
    }

    /// Starts an engine and completes the handshake.
    pub(crate) fn after_handshake(&self) -> Result<EngineSession, Stop> {
        let mut session = self.start(true)?;
        handshake(&mut session, self.dialect)?;
        Ok(session)
    }

    /// Starts an engine, completes the handshake and waits for `readyok`.
    pub(crate) fn ready(&self) -> Result<EngineSession, Stop> {
        let mut session = self.after_handshake()?;
        session.ready()?;
        Ok(session)
    }

    /// Like `ready`, but passive checks ignore the session, so that it may contain invalid commands.
    pub(crate) fn ready_unchecked(&self) -> Result<EngineSession, Stop> {
        let mut session = self.start(false)?;
        handshake(&mut session, self.dialect)?;
        session.ready()?;
        Ok(session)
    }

    /// The start position of the game that is played.
    pub(crate) fn game(&self) -> Game {
        self.dialect.game()
    }

    /// The `position` command for a FEN or SFEN.
    pub(crate) fn position(&self, text: &str) -> String {
        format!("position {} {text}", self.dialect.position_keyword())
    }

    /// `position startpos` with random moves, and the resulting position.
    pub(crate) fn random_game(&self, plies: usize) -> (String, Position) {
        self.random_line(&mut fastrand::Rng::with_seed(self.seed), plies)
    }

    /// `position startpos` with random moves, for one of several seeds.
    pub(crate) fn random_line(
        &self,
        random: &mut fastrand::Rng,
        plies: usize,
    ) -> (String, Position) {
        let mut position = Position::start(self.game());
        let mut line = Vec::new();
        for _ in 0..plies {
            let form = self.game().castling_form();
            let mut moves = position.legal_moves();
            // Sorted, so that random choices do not depend on the move generator.
            moves.sort_by_cached_key(|mv| mv.to_uci(form));
            random.shuffle(&mut moves);
            let next = moves.into_iter().find_map(|mv| {
                let mut next = position.clone();
                next.play(mv).ok()?;
                (next.outcome().is_none()).then_some((mv, next))
            });
            let Some((mv, next)) = next else { break };
            line.push(mv.to_uci(form));
            position = next;
        }
        let moves = if line.is_empty() { "" } else { " moves " };
        (format!("position startpos{moves}{}", line.join(" ")), position)
    }

    /// An option by its UCI name.
    pub(crate) fn option(&self, name: &str) -> Option<&'a OptionDecl<'static>> {
        let options = self.engine_info.options.iter().map(|option| &option.decl);
        let mut options = options.filter(|decl| self.dialect.same_option(&decl.name, name));
        options.next()
    }

    /// `setoption` for an option by its UCI name, in the engine's spelling.
    pub(crate) fn set(&self, name: &str, value: &str) -> String {
        let spelled = self.option(name).map_or(name, |decl| &decl.name);
        format!("setoption name {spelled} value {value}")
    }

    /// Whether the engine satisfies a requirement.
    pub(crate) fn has(&self, need: Need) -> bool {
        match need {
            Need::Process => self.target.is_process(),
            Need::Option(name) => self.option(name).is_some(),
            Need::Ponder => self.ponders(),
            Need::Any(kind) => {
                self.engine_info.options.iter().any(|option| option.decl.kind.keyword() == kind)
            }
        }
    }

    /// Whether the engine is able to ponder.
    pub(crate) fn ponders(&self) -> bool {
        let sends = self.dialect == Dialect::Usi && self.engine_info.capabilities.ponders;
        sends || self.option("Ponder").is_some()
    }

    /// Whether the engine lacks a feature, with the check of the feature.
    pub(crate) fn depends_on(&self, feature: Feature) -> Result<(), Stop> {
        match self.engine_info.capabilities.check_of(feature) {
            Some(check) => Err(Stop::Depends(check)),
            None => Ok(()),
        }
    }

    /// Stores a measurement for the report.
    pub(crate) fn remark(&self, text: String) {
        *self.remark.borrow_mut() = Some(text);
    }

    /// The transcripts and the measurement.
    pub(crate) fn finish(self) -> (Vec<Transcript>, Option<String>) {
        let records = self.records.into_inner().into_iter();
        let records = records.map(|record| {
            Rc::try_unwrap(record)
                .map_or_else(|shared| shared.borrow().clone(), RefCell::into_inner)
        });
        (records.collect(), self.remark.into_inner())
    }
}

/// Sends `uci` or `usi` and waits for `uciok` or `usiok`.
pub(crate) fn handshake(
    session: &mut EngineSession,
    dialect: Dialect,
) -> Result<EngineInfo, WaitError> {
    let mut engine_info = EngineInfo::default();
    session.send(dialect.handshake());
    let limit = session.timeouts().start();
    let begin = crate::timeouts::now();
    let at = session.wait_for(limit, |line| {
        match &line.reply {
            Reply::Id(Id::Name(name)) => engine_info.names.push(name.clone().into_owned()),
            Reply::Id(Id::Author(author)) => engine_info.authors.push(author.clone().into_owned()),
            Reply::Option(decl) => {
                let notes = line.notes.clone();
                engine_info.options.push(DeclaredOption { decl: decl.clone(), notes });
            }
            Reply::Unknown(text) if text.trim_start().starts_with("option") => {
                engine_info.invalid_options.push(text.clone().into_owned());
            }
            _ => (),
        }
        (line.reply == Reply::UciOk).then_some(line.at)
    })?;
    engine_info.handshake = at.saturating_duration_since(begin);
    Ok(engine_info)
}

/// Whether an option uses memory or CPU cores, so that extreme values are not tested.
pub(crate) fn is_expensive(decl: &OptionDecl<'_>) -> bool {
    let name = decl.name.to_ascii_lowercase();
    ["hash", "threads", "cache", "memory", "mb"].iter().any(|token| name.contains(token))
        && decl.kind.option_type() == Some(OptionType::Spin)
}

/// Formats durations: median, 90th percentile and maximum.
pub(crate) fn percentiles(times: &mut [Duration]) -> String {
    times.sort();
    let at = |percent: usize| {
        let time = times.get(times.len().saturating_sub(1) * percent / 100).copied();
        time.unwrap_or_default().as_secs_f64() * 1000.0
    };
    format!(
        "{:.1} ms (median), {:.1} ms (90 %), {:.1} ms (longest of {})",
        at(50),
        at(90),
        at(100),
        times.len()
    )
}

/// The largest value of a spin option.
pub(crate) fn largest(decl: &OptionDecl<'_>) -> Option<i64> {
    range(decl)?.1
}

/// The minimum and maximum of a spin option, if declared.
pub(crate) fn range(decl: &OptionDecl<'_>) -> Option<(Option<i64>, Option<i64>)> {
    match &decl.kind {
        OptionKind::Spin { min, max, .. } => Some((*min, *max)),
        OptionKind::Check { .. }
        | OptionKind::Combo { .. }
        | OptionKind::Button
        | OptionKind::String { .. }
        | OptionKind::Filename { .. }
        | OptionKind::Other { .. } => None,
    }
}
