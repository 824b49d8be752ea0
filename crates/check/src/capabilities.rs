//! The capabilities of an engine, found at the begin of a run: which searches work, and how long they take.
//!
//! Checks use searches that work. A check that needs a missing feature has no verdict, and refers to the check of this
//! feature: one defect is one finding.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use readyok_protocol::{Best, Dialect, Info, OptionKind, Reply};

use crate::change::Change;
use crate::checks::assertions;
use crate::context::{EngineInfo, handshake};
use crate::session::{EngineSession, Line, SearchResult, WaitError};
use crate::spec::Stop;
use crate::target::{Launch, Target};
use crate::timeouts::Timeouts;
use crate::transcript::Transcript;

/// A feature that many checks depend on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Feature {
    /// A reply to `isready`.
    IsReady,
    Search,
    Depth,
    Nodes,
    MoveTime,
    Clock,
    /// A search that ends at `stop`.
    Stop,
    /// A reply to `isready` in a search.
    Ready,
    SearchMoves,
    Ponder,
    /// `setoption` for a declared option.
    SetOption,
}

/// What the engine can do. Checks that need a missing feature refer to the check of the feature.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of an engine")]
pub(crate) struct Capabilities {
    missing: Vec<(Feature, &'static str)>,
    /// The greatest depth that is reached in a short time. `None` without a measurement.
    depth: Option<u32>,
    /// The longest time of a short search.
    pub(crate) search: Duration,
    /// The engine has sent a move to ponder on.
    pub(crate) ponders: bool,
    /// The engine sends `info`.
    pub(crate) reports: bool,
    /// The engine sends `info` or another `bestmove` after `bestmove`.
    pub(crate) is_late: bool,
    /// The engine searches only after a new-game command.
    pub(crate) needs_new_game: bool,
}

/// Depths of the first searches, and the time after which the next one is not tried.
const DEPTHS: [u32; 3] = [1, 3, 5];
const SHORT: Duration = Duration::from_millis(700);

/// Limits of the other searches.
const MOVE_TIME: &str = "go movetime 60";
const NODES: &str = "go nodes 600";

/// Nodes from which the limit was ignored: engines check it every few thousand nodes.
const TOO_MANY_NODES: u64 = 300_000;

impl Feature {
    const LIMITS: [Self; 5] = [Self::Depth, Self::Nodes, Self::MoveTime, Self::Clock, Self::Stop];

    /// The check of the feature.
    const fn check(self) -> &'static str {
        match self {
            Self::IsReady => "handshake.ready",
            Self::Search => "search.completes",
            Self::Depth => "search.depth",
            Self::Nodes => "search.nodes",
            Self::MoveTime => "search.movetime.ends",
            Self::Clock => "search.clock",
            Self::Stop => "search.stop",
            Self::Ready => "search.ready",
            Self::SearchMoves => "search.searchmoves",
            Self::Ponder => "search.ponder.holds-bestmove",
            Self::SetOption => "options.settable",
        }
    }

    /// Whether a check is about a limit of a `go` command.
    pub(crate) fn tested_by(check: &str, go: &str) -> bool {
        Self::of(go).into_iter().any(|feature| feature.check() == check)
    }

    /// The check of searches that end at a depth.
    pub(crate) const fn check_of_depth() -> &'static str {
        Self::Depth.check()
    }

    /// The features that a `go` command uses.
    fn of(go: &str) -> Vec<Self> {
        let mut features = vec![Self::Search];
        let mut limited = false;
        for token in go.split_ascii_whitespace() {
            let feature = match token {
                "depth" => Self::Depth,
                "nodes" => Self::Nodes,
                "movetime" => Self::MoveTime,
                "wtime" | "btime" | "byoyomi" => Self::Clock,
                "infinite" => Self::Stop,
                "ponder" => Self::Ponder,
                "mate" => {
                    limited = true;
                    continue;
                }
                "searchmoves" => {
                    features.push(Self::SearchMoves);
                    continue;
                }
                _ => continue,
            };
            limited = true;
            features.push(feature);
        }
        // The search ends at `stop` or `ponderhit`.
        if features.contains(&Self::Ponder) || !limited {
            features.push(Self::Stop);
        }
        features
    }
}

impl Capabilities {
    /// Whether this check has failed in the first searches.
    pub(crate) fn fails(&self, check: &str) -> bool {
        self.missing.iter().any(|(_, missing_check)| *missing_check == check)
    }

    /// Whether a feature is missing.
    pub(crate) fn lacks(&self, feature: Feature) -> bool {
        self.missing.iter().any(|(missing_feature, _)| *missing_feature == feature)
    }

    /// The check of the first missing feature that a `go` command uses.
    pub(crate) fn missing_for(&self, go: &str) -> Option<&'static str> {
        let used = Feature::of(go);
        self.missing.iter().find(|(feature, _)| used.contains(feature)).map(|(_, check)| *check)
    }

    /// The check of a missing feature that a transcript needs. Without a reply, any search may be the cause.
    pub(crate) fn missing_in(
        &self,
        transcript: &Transcript,
        unanswered: bool,
    ) -> Option<&'static str> {
        if let Some(check) = self.check_of(Feature::IsReady).filter(|_| unanswered) {
            return Some(check);
        }
        let commands = || transcript.commands().rev();
        let is_go = |text: &&str| text.trim_start().starts_with("go");
        let of_search = commands().filter(is_go).find_map(|go| {
            let check = self.missing_for(go)?;
            (unanswered || go.contains("ponder") && self.lacks(Feature::Ponder)).then_some(check)
        });
        let sets = || commands().any(|text| text.trim_start().starts_with("setoption"));
        of_search.or_else(|| self.check_of(Feature::SetOption).filter(|_| unanswered && sets()))
    }

    /// Changes without which the engine does not search, except for the check of this rule.
    pub(crate) fn changes_for(&self, check: &str) -> Vec<Change> {
        let change = Change::NewGameFirst;
        if self.needs_new_game && !change.rules().contains(&check) {
            vec![change]
        } else {
            Vec::new()
        }
    }

    /// The check of a missing feature.
    pub(crate) fn check_of(&self, feature: Feature) -> Option<&'static str> {
        self.missing
            .iter()
            .find(|(missing_feature, _)| *missing_feature == feature)
            .map(|(_, check)| *check)
    }

    /// A search that works, in place of one that does not or takes too long.
    pub(crate) fn substitute(&self, go: &str, dialect: Dialect) -> Option<String> {
        let mut tokens = go.split_ascii_whitespace();
        let (Some("go"), Some(limit), Some(value)) = (tokens.next(), tokens.next(), tokens.next())
        else {
            return None;
        };
        let rest: Vec<&str> = tokens.collect();
        if rest.first().is_some_and(|token| *token != "searchmoves") {
            return None;
        }
        let slow = || {
            let depth = value.parse().unwrap_or(0_u32);
            // Deeper searches of a fast engine were not measured.
            let limit = self
                .depth
                .map(|depth| if depth == DEPTHS[DEPTHS.len() - 1] { u32::MAX } else { depth });
            limit.is_some_and(|limit| limit < depth)
        };
        let replaced = match limit {
            "depth" => self.lacks(Feature::Depth) || slow(),
            "nodes" => self.lacks(Feature::Nodes),
            "movetime" => self.lacks(Feature::MoveTime),
            _ => false,
        };
        if !replaced {
            return None;
        }
        let clock = match dialect {
            Dialect::Uci => "wtime 3000 btime 3000",
            Dialect::Usi => "btime 0 wtime 0 byoyomi 300",
        };
        let depth = self.depth.unwrap_or(1);
        let (depth, stop) = (format!("depth {}", depth.min(3)), "infinite".to_owned());
        let candidates = [
            (Feature::MoveTime, "movetime 200".to_owned()),
            (Feature::Clock, clock.to_owned()),
            (Feature::Depth, depth),
            (Feature::Nodes, "nodes 5000".to_owned()),
            (Feature::Stop, stop),
        ];
        let (_, limit) = candidates.into_iter().find(|(feature, _)| !self.lacks(*feature))?;
        let rest = if rest.is_empty() { String::new() } else { format!(" {}", rest.join(" ")) };
        Some(format!("go {limit}{rest}"))
    }

    /// Whether a search without a reply may take long: in a slow engine, at a depth that was not measured, or if it has not
    /// reached its depth.
    pub(crate) fn may_be_slow(&self, go: &str, infos: &[Info<'_>]) -> bool {
        let depth = depth_limit(go);
        let deepest =
            infos.iter().filter(|info| info.pv.is_some()).filter_map(|info| info.depth).max();
        self.is_slow()
            || depth.is_some_and(|depth| DEPTHS[DEPTHS.len() - 1] < depth)
            || depth.zip(deepest).is_some_and(|(depth, deepest)| deepest < depth)
    }

    /// Whether deep searches take long.
    pub(crate) fn is_slow(&self) -> bool {
        self.depth.is_none_or(|depth| depth < DEPTHS[DEPTHS.len() - 1])
    }

    fn lose(&mut self, feature: Feature, check: &'static str) {
        if !self.lacks(feature) {
            self.missing.push((feature, check));
        }
    }
}

/// The depth of a `go` command without a time limit.
fn depth_limit(go: &str) -> Option<u32> {
    let tokens: Vec<&str> = go.split_ascii_whitespace().collect();
    if tokens.iter().any(|token| matches!(*token, "movetime" | "wtime" | "btime" | "byoyomi")) {
        return None;
    }
    let at = tokens.iter().position(|token| *token == "depth")?;
    tokens.get(at + 1)?.parse().ok()
}

/// Runs the first searches, each in a new process after a failure.
pub(crate) struct Probe<'a> {
    target: &'a Target,
    dialect: Dialect,
    timeouts: Timeouts,
    session: Option<EngineSession>,
    /// The delay of the host in the last search.
    delay: Duration,
    /// The engine has sent `info` or `bestmove` after a `bestmove`.
    is_late: bool,
    needs_new_game: bool,
}

/// The result of one of these searches.
enum Outcome {
    Done(SearchResult),
    /// The search ended only at `stop`.
    Stopped(SearchResult),
    Failed,
}

impl<'a> Probe<'a> {
    /// Continues a session after its handshake.
    pub(crate) fn new(
        target: &'a Target,
        dialect: Dialect,
        timeouts: Timeouts,
        session: EngineSession,
    ) -> Self {
        let session = Some(session);
        let delay = Duration::ZERO;
        Self { target, dialect, timeouts, session, delay, is_late: false, needs_new_game: false }
    }

    /// A ready engine.
    fn session(&mut self) -> Option<&mut EngineSession> {
        if self.session.is_none() {
            self.session = self.start().ok();
        }
        self.session.as_mut()
    }

    /// Starts an engine, which is not recorded.
    fn start(&self) -> Result<EngineSession, Stop> {
        let record = Rc::new(RefCell::new(Transcript::new(self.dialect, false)));
        let launch = Launch { check: "capabilities", undrained_stderr: false };
        let session =
            EngineSession::start(self.target, launch, self.dialect, self.timeouts, record)?;
        let changes: &[Change] = if self.needs_new_game { &[Change::NewGameFirst] } else { &[] };
        let mut session = session.with_changes(changes, self.is_late);
        handshake(&mut session, self.dialect)?;
        session.ready()?;
        Ok(session)
    }

    fn search(&mut self, go: &str, limit: Duration) -> Outcome {
        let position = assertions::middle_of(self.dialect);
        let Some(session) = self.session() else { return Outcome::Failed };
        session.send(&position);
        let (found, delay) = session.delayed_best(go, limit);
        self.delay = delay;
        let Some(session) = self.session.as_mut() else { return Outcome::Failed };
        match found {
            Ok(found) => Outcome::Done(found),
            Err(WaitError::Late(_)) => {
                session.send("stop");
                match session.best(limit) {
                    Ok(found) => Outcome::Stopped(found),
                    Err(_) => self.failed(),
                }
            }
            Err(_) => self.failed(),
        }
    }

    fn failed(&mut self) -> Outcome {
        self.session = None;
        Outcome::Failed
    }

    /// Measures all features.
    pub(crate) fn run(mut self, engine_info: &EngineInfo) -> Capabilities {
        let mut capabilities = Capabilities::default();
        if !engine_info.is_ready {
            capabilities.lose(Feature::IsReady, Feature::IsReady.check());
            return capabilities;
        }
        let limit = self.timeouts.answer();
        let mut first = self.search(MOVE_TIME, limit);
        if matches!(first, Outcome::Failed) {
            self.needs_new_game = true;
            first = self.search(MOVE_TIME, limit);
            self.needs_new_game = matches!(first, Outcome::Done(_));
            if !self.needs_new_game {
                self.session = None;
            }
        }
        match first {
            Outcome::Done(found) => {
                capabilities.ponders |= found.best.ponder.is_some();
                capabilities.reports |= !found.infos.is_empty();
                capabilities.search = capabilities.search.max(found.time);
                self.drains();
            }
            Outcome::Stopped(_) | Outcome::Failed => {
                capabilities.lose(Feature::MoveTime, Feature::MoveTime.check());
            }
        }
        self.depths(&mut capabilities, limit);
        let ignores_nodes = |found: &SearchResult| {
            found.infos.iter().filter_map(|info| info.nodes).max() > Some(TOO_MANY_NODES)
        };
        match self.search(NODES, limit) {
            Outcome::Done(found) => {
                capabilities.search = capabilities.search.max(found.time);
                self.drains();
            }
            // A slow engine.
            Outcome::Stopped(found)
                if capabilities.is_slow()
                    && !ignores_nodes(&found)
                    && found.infos.iter().any(|info| info.nodes.is_some()) => {}
            Outcome::Stopped(_) | Outcome::Failed => {
                capabilities.lose(Feature::Nodes, Feature::Nodes.check());
            }
        }
        let clock = match self.dialect {
            Dialect::Uci => "go wtime 2000 btime 2000",
            Dialect::Usi => "go btime 0 wtime 0 byoyomi 150",
        };
        if !matches!(self.search(clock, limit), Outcome::Done(_)) {
            capabilities.lose(Feature::Clock, Feature::Clock.check());
        }
        if !self.stops(&mut capabilities, limit) {
            capabilities.lose(Feature::Stop, Feature::Stop.check());
        }
        capabilities.needs_new_game = self.needs_new_game;
        capabilities.is_late = self.is_late;
        if Feature::LIMITS.into_iter().all(|feature| capabilities.lacks(feature)) {
            capabilities.missing = vec![(Feature::Search, Feature::Search.check())];
            return capabilities;
        }
        self.restricts(&mut capabilities, limit);
        self.sets(&mut capabilities, engine_info);
        let declared = |name| {
            let mut options = engine_info.options.iter();
            options.any(|option| self.dialect.same_option(&option.decl.name, name))
        };
        if declared("Ponder") || capabilities.ponders && self.dialect == Dialect::Usi {
            self.ponders(&mut capabilities, limit);
        }
        capabilities
    }

    fn depths(&mut self, capabilities: &mut Capabilities, limit: Duration) {
        for depth in DEPTHS {
            let outcome = self.search(&format!("go depth {depth}"), limit);
            let deepest = |found: &SearchResult| {
                found
                    .infos
                    .iter()
                    .filter(|info| info.pv.is_some())
                    .filter_map(|info| info.depth)
                    .max()
            };
            match outcome {
                Outcome::Done(found) => {
                    capabilities.ponders |= found.best.ponder.is_some();
                    capabilities.reports |= !found.infos.is_empty();
                    // A busy host does not make an engine slow.
                    let is_short = found.time.saturating_sub(self.delay) <= SHORT;
                    if is_short || depth == DEPTHS[0] {
                        capabilities.search = capabilities.search.max(found.time);
                        capabilities.depth = Some(depth);
                    }
                    if !is_short {
                        return;
                    }
                }
                // A slow engine has not reached the depth.
                Outcome::Stopped(found)
                    if deepest(&found).is_some_and(|deepest| deepest <= depth) =>
                {
                    capabilities.reports = true;
                    capabilities.depth = capabilities.depth.or(Some(0));
                    return;
                }
                Outcome::Stopped(_) | Outcome::Failed => {
                    capabilities.lose(Feature::Depth, Feature::Depth.check());
                    return;
                }
            }
        }
    }

    /// Whether `stop` ends an infinite search. The engine answers `isready` in it.
    fn stops(&mut self, capabilities: &mut Capabilities, limit: Duration) -> bool {
        let position = assertions::middle_of(self.dialect);
        let Some(session) = self.session() else { return false };
        session.send(&position);
        session.send("go infinite");
        session.underway();
        // `stop` has no verdict if the search has ended by itself.
        if !session.is_searching() && !session.is_closed() {
            self.session = None;
            return true;
        }
        if session.is_searching() {
            match session.until_ready() {
                Ok(lines) if lines.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) => {
                    self.session = None;
                    return true;
                }
                Err(WaitError::Late(_)) => {
                    capabilities.lose(Feature::Ready, Feature::Ready.check());
                }
                _ => (),
            }
        }
        session.send("stop");
        let stopped = session.best(limit).is_ok();
        // A late `readyok` would be taken for another one.
        if !stopped || capabilities.lacks(Feature::Ready) {
            self.session = None;
        }
        stopped
    }

    /// Detects `info` and another `bestmove` after `bestmove`.
    fn drains(&mut self) {
        let Some(session) = self.session.as_mut() else { return };
        let is_late = |line: &Line| match &line.reply {
            Reply::BestMove(_) => true,
            Reply::Info(info) => info.string.is_none(),
            _ => false,
        };
        match session.until_ready() {
            Ok(lines) if lines.iter().any(is_late) => {
                self.is_late = true;
                self.session = None;
            }
            Ok(_) => (),
            Err(_) => self.session = None,
        }
    }

    /// Sets an option to its default.
    fn sets(&mut self, capabilities: &mut Capabilities, engine_info: &EngineInfo) {
        let default = engine_info.options.iter().find_map(|option| {
            let value = match &option.decl.kind {
                OptionKind::Check { default } => default.map(|default| default.to_string()),
                OptionKind::Spin { default, .. } => default.map(|default| default.to_string()),
                _ => None,
            };
            Some((option.decl.name.clone(), value?))
        });
        let Some((name, value)) = default else { return };
        let Some(session) = self.session() else { return };
        session.send(&format!("setoption name {name} value {value}"));
        if session.ready().is_err() {
            capabilities.lose(Feature::SetOption, Feature::SetOption.check());
            self.session = None;
        }
    }

    fn restricts(&mut self, capabilities: &mut Capabilities, limit: Duration) {
        let moves = match self.dialect {
            Dialect::Uci => ["a2a3", "h2h4"],
            Dialect::Usi => ["9g9f", "1i1h"],
        };
        for mv in moves {
            self.restricts_to(mv, capabilities, limit);
        }
    }

    fn restricts_to(&mut self, mv: &str, capabilities: &mut Capabilities, limit: Duration) {
        let go = format!("go depth 1 searchmoves {mv}");
        let go = capabilities.substitute(&go, self.dialect).unwrap_or(go);
        let Some(session) = self.session() else { return };
        session.send("position startpos");
        session.send(&go);
        if go.starts_with("go infinite") {
            session.underway();
            session.send("stop");
        }
        match session.best(limit) {
            Ok(found) if matches!(&found.best.best, Best::Move(it) if it.as_str() == mv) => (),
            Ok(_) => capabilities.lose(Feature::SearchMoves, Feature::SearchMoves.check()),
            Err(_) => {
                self.session = None;
                capabilities.lose(Feature::SearchMoves, Feature::SearchMoves.check());
            }
        }
    }

    fn ponders(&mut self, capabilities: &mut Capabilities, limit: Duration) {
        let position = assertions::middle_of(self.dialect);
        let go = match self.dialect {
            Dialect::Uci => "go ponder wtime 1000 btime 1000",
            Dialect::Usi => "go ponder btime 0 wtime 0 byoyomi 150",
        };
        let stops = !capabilities.lacks(Feature::Stop);
        let Some(session) = self.session() else { return };
        if capabilities.lacks(Feature::Ready) {
            session.ignore_isready_in_search();
        }
        session.send(&position);
        session.send(go);
        match session.ends_by_itself() {
            Ok(false) => (),
            Ok(true) => {
                capabilities.lose(Feature::Ponder, Feature::Ponder.check());
                return;
            }
            Err(_) => {
                capabilities.lose(Feature::Ponder, "search.ponder.hit");
                self.session = None;
                return;
            }
        }
        session.send("ponderhit");
        if session.best(limit).is_ok() {
            return;
        }
        capabilities.lose(Feature::Ponder, "search.ponder.hit");
        if stops {
            session.send("stop");
        }
        if session.best(limit).is_err() {
            self.session = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(features: &[Feature]) -> Capabilities {
        let mut capabilities = Capabilities { depth: Some(5), ..Capabilities::default() };
        for feature in features {
            capabilities.lose(*feature, feature.check());
        }
        capabilities
    }

    #[test]
    fn missing_features_are_found_in_go_commands() {
        let capabilities = without(&[Feature::Depth, Feature::Stop]);
        assert_eq!(capabilities.missing_for("go depth 3"), Some("search.depth"));
        assert_eq!(capabilities.missing_for("go infinite"), Some("search.stop"));
        assert_eq!(capabilities.missing_for("go"), Some("search.stop"));
        assert_eq!(capabilities.missing_for("go movetime 3"), None);
        assert_eq!(capabilities.missing_for("go ponder depth 3"), Some("search.depth"));
        assert_eq!(capabilities.missing_for("go ponder movetime 3"), Some("search.stop"));
        assert_eq!(without(&[Feature::Search]).missing_for("go mate 1"), Some("search.completes"));
    }

    #[test]
    fn searches_are_replaced_by_ones_that_work() {
        let capabilities = without(&[Feature::Depth]);
        let of = |go| capabilities.substitute(go, Dialect::Uci);
        assert_eq!(of("go depth 3").as_deref(), Some("go movetime 200"));
        let moves = of("go depth 3 searchmoves e2e4 d2d4");
        assert_eq!(moves.as_deref(), Some("go movetime 200 searchmoves e2e4 d2d4"));
        assert_eq!(of("go movetime 30"), None);
        assert_eq!(of("go depth 2 nodes 100"), None);
        let capabilities =
            without(&[Feature::Depth, Feature::MoveTime, Feature::Clock, Feature::Nodes]);
        assert_eq!(
            capabilities.substitute("go depth 3", Dialect::Usi).as_deref(),
            Some("go infinite")
        );
        let slow = Capabilities { depth: Some(1), ..Capabilities::default() };
        assert_eq!(slow.substitute("go depth 1", Dialect::Uci), None);
        assert_eq!(slow.substitute("go depth 4", Dialect::Uci).as_deref(), Some("go movetime 200"));
    }

    #[test]
    fn a_search_that_has_not_reached_its_depth_may_be_slow() {
        let fast = without(&[]);
        let reached = |depth| {
            let pv = readyok_protocol::MoveList::default();
            [Info { depth: Some(depth), pv: Some(pv), ..Info::default() }]
        };
        assert!(fast.may_be_slow("go depth 4", &reached(3)));
        assert!(!fast.may_be_slow("go depth 4", &reached(4)));
        assert!(!fast.may_be_slow("go depth 4", &[]));
        assert!(fast.may_be_slow("go depth 7", &[]));
        assert!(!fast.may_be_slow("go depth 60 movetime 50", &reached(20)));
        let slow = Capabilities { depth: Some(1), ..Capabilities::default() };
        assert!(slow.may_be_slow("go nodes 3000", &[]));
    }
}
