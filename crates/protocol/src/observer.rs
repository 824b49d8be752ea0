//! Observes both sides of a session and reports violations of the rules: those of the
//! [`ProtocolState`], and those about options and details.

use alloc::vec::Vec;
use core::time::Duration;

use crate::reply::info::{Details, is_too_soon};
use crate::session::SessionTime;
use crate::{
    Clocks, Command, Dialect, Go, Info, MateLimit, OptionDecl, OptionError, OptionSet, OptionValue,
    Phase, ProtocolState, Reply, Rule, SetOption, Violation,
};

/// Tolerance for delays between the engine and the observer, and for coarse clocks.
const DISTANCE: Duration = Duration::from_millis(100);

/// Follows one session from its first line, without sending anything.
///
/// If the responsible side is unknown, no violation is reported.
#[derive(Clone, Debug)]
pub struct Observer {
    protocol_state: ProtocolState,
    options: OptionSet,
    /// `false` if the engine declared more options than can be stored.
    knows_all_options: bool,
    details: Details,
    search: Option<Search>,
    /// The other protocol, if its handshake was sent first and is not answered either.
    other_pending: Option<Dialect>,
    /// Number of unanswered `isready`s. Those before the handshake are not counted, as engines may
    /// ignore them.
    owes_ready: u32,
    /// The client has sent `go` while a search may have been running: an answer can belong to any of
    /// them.
    confused_searches: bool,
    text: Text,
    forbids_text: bool,
    end: End,
}

/// Whether the client has requested text that is no message: by `go perft`, or by a command of this engine only.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Text {
    Unexpected,
    Expected,
    /// A search was requested afterwards: its answer shows that the text is complete.
    ExpectedUntilAnswer,
}

/// How far the end of the session has progressed. Decides which answers are still owed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    /// Both sides are connected.
    Open,
    /// The client sent `quit` or disconnected: its search needs no answer.
    ClientLeft,
    /// The engine has disconnected. Later messages of the client need no answer.
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Search {
    since: SessionTime,
    /// The search has no limit.
    is_bare: bool,
    /// Details enabled at any time during the search: an option may be set in the middle of it.
    details: Details,
    /// Each of these rules is reported once per search: thousands of lines may violate it.
    reported_unrequested: bool,
    reported_early: bool,
}

impl Observer {
    /// A session before its first line.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            protocol_state: ProtocolState::new(dialect),
            options: OptionSet::new(dialect),
            knows_all_options: true,
            details: Details::new(dialect),
            search: None,
            other_pending: None,
            owes_ready: 0,
            confused_searches: false,
            text: Text::Unexpected,
            forbids_text: false,
            end: End::Open,
        }
    }

    /// States that the client sends no commands of this engine only: text that is no message is never requested.
    pub fn forbid_text(&mut self) {
        self.forbids_text = true;
    }

    /// The state of the session.
    pub fn protocol_state(&self) -> &ProtocolState {
        &self.protocol_state
    }

    /// The other protocol, if this line is its handshake command and no engine has answered yet.
    pub fn other_handshake(&self, line: &str) -> Option<Dialect> {
        let phase = self.protocol_state.phase();
        let is_open = phase == Phase::Fresh || self.protocol_state.is_handshake_pending();
        if !is_open || phase == Phase::Closed {
            return None;
        }
        let mut others =
            Dialect::ALL.into_iter().filter(|dialect| *dialect != self.protocol_state.dialect());
        others.find(|dialect| Command::read(line, *dialect).value == Command::Uci)
    }

    /// Continues in another protocol whose handshake follows. See [`ProtocolState::expect_handshake`].
    pub fn expect_handshake(&mut self, dialect: Dialect) {
        let previous = self.protocol_state.dialect();
        self.other_pending = self.protocol_state.is_handshake_pending().then_some(previous);
        self.confused_searches |= self.protocol_state.is_searching();
        self.protocol_state.expect_handshake(dialect);
        self.options = OptionSet::new(dialect);
        self.knows_all_options = true;
        self.details = Details::new(dialect).or(self.details);
    }

    /// The other protocol, if this line is the answer to its handshake: the client sent both, and the
    /// engine implements the first one.
    pub fn other_handshake_ok(&self, line: &str) -> Option<Dialect> {
        self.other_pending.filter(|dialect| Reply::read(line, *dialect).value == Reply::UciOk)
    }

    /// Continues in the protocol of [`other_handshake_ok`](Self::other_handshake_ok). Declared options
    /// remain, and the other handshake may still be answered.
    pub fn return_to(&mut self, dialect: Dialect) {
        self.other_pending = Some(self.protocol_state.dialect());
        self.confused_searches |= self.protocol_state.is_searching();
        self.protocol_state.return_to(dialect);
        self.details = Details::new(dialect).or(self.details);
        let declared = core::mem::replace(&mut self.options, OptionSet::new(dialect));
        for decl in &declared {
            self.declare(decl);
        }
    }

    /// Handles a message of the client and returns the violations.
    pub fn observe_command(&mut self, command: &Command<'_>, now: SessionTime) -> Vec<Violation> {
        let before = self.protocol_state.phase();
        let handshake_done = self.protocol_state.is_introduced();
        let order = self.protocol_state.apply_command_lenient(command);
        let mut broken: Vec<Violation> = order.into_iter().collect();
        if before == Phase::Closed {
            return broken;
        }
        match command {
            Command::IsReady if handshake_done => {
                self.owes_ready = self.owes_ready.saturating_add(1);
            }
            Command::SetOption(set) if handshake_done => {
                broken.extend(self.after_option(set).map(Violation::from));
            }
            // It is unknown whether the engine has the option and accepts it this early.
            Command::SetOption(_) => self.details = Details::all(self.protocol_state.dialect()),
            Command::Go(go) => {
                self.text = match self.text {
                    _ if go.perft.is_some() => Text::Expected,
                    Text::Expected => Text::ExpectedUntilAnswer,
                    text => text,
                };
                broken.extend(self.broken_by_go(go).map(Violation::from));
                self.confused_searches |= matches!(before, Phase::Searching { .. });
                let dialect = self.protocol_state.dialect();
                let details = if handshake_done { self.details } else { Details::all(dialect) };
                if !matches!(before, Phase::Searching { .. }) && self.protocol_state.is_searching()
                {
                    self.search = Some(Search {
                        since: now,
                        is_bare: go.is_bare(),
                        details,
                        reported_unrequested: false,
                        reported_early: false,
                    });
                }
            }
            Command::PonderHit(clocks)
                if matches!(before, Phase::Searching { pondering: true, .. }) =>
            {
                let is_bare = self.search.is_some_and(|search| search.is_bare);
                let endless = is_bare && clocks.is_empty();
                broken.extend(endless.then_some(Rule::SearchWithoutLimit).map(Violation::from));
                broken.extend(self.broken_by_clocks(clocks).map(Violation::from));
            }
            Command::Quit => self.end_of_input(),
            Command::Unknown(text) if !text.is_empty() => {
                self.text = Text::Expected;
                // A client may try both protocols.
                let is_handshake = |dialect: Dialect| dialect.handshake() == text;
                if !Dialect::ALL.into_iter().any(is_handshake) {
                    broken.push(Rule::UnknownCommand.into());
                }
            }
            _ => (),
        }
        broken
    }

    /// Handles a message of the engine and returns the violations.
    pub fn observe_reply(&mut self, reply: &Reply<'_>, now: SessionTime) -> Vec<Violation> {
        let searching = self.protocol_state.is_searching();
        let order = self.protocol_state.apply_reply_lenient(reply);
        let mut broken: Vec<Violation> = order.into_iter().collect();
        match reply {
            Reply::Option(decl) => self.declare(decl),
            Reply::BestMove(_)
                if self.text == Text::ExpectedUntilAnswer
                    && !self.protocol_state.may_owe_more_answers() =>
            {
                self.text = Text::Unexpected;
            }
            // Before the handshake an engine may print a banner.
            Reply::Unknown(text)
                if !text.is_empty()
                    && self.protocol_state.is_introduced()
                    && (self.forbids_text || self.text == Text::Unexpected) =>
            {
                let is_known =
                    |dialect| !matches!(Reply::read(text, dialect).value, Reply::Unknown(_));
                let is_unknown = !Dialect::ALL.into_iter().any(is_known);
                broken.extend(is_unknown.then_some(Rule::UnknownLine).map(Violation::from));
            }
            Reply::ReadyOk => self.owes_ready = self.owes_ready.saturating_sub(1),
            Reply::Info(info) if searching => {
                broken.extend(
                    self.broken_by_info(info, now).into_iter().flatten().map(Violation::from),
                );
            }
            _ => (),
        }
        broken
    }

    /// The client has closed its output, which is equivalent to `quit`.
    pub fn end_of_input(&mut self) {
        if self.end == End::Open {
            self.end = End::ClientLeft;
        }
    }

    /// The session is interrupted from outside: missing answers are no violations from now on.
    pub fn interrupt(&mut self) {
        self.end = End::Over;
    }

    /// The engine has closed its output. Returns the violations for missing answers.
    pub fn end_of_output(&mut self) -> Vec<Violation> {
        let end = core::mem::replace(&mut self.end, End::Over);
        let owed = [
            (self.protocol_state.is_handshake_pending() && end != End::Over, Rule::UciUnanswered),
            (0 < self.owes_ready && end != End::Over, Rule::IsReadyUnanswered),
            (self.owes_answer() && end == End::Open, Rule::GoUnanswered),
        ];
        owed.into_iter().filter(|(owes, _)| *owes).map(|(_, rule)| rule.into()).collect()
    }

    fn owes_answer(&self) -> bool {
        self.protocol_state.is_searching() && !self.confused_searches
    }

    fn declare(&mut self, decl: &OptionDecl<'_>) {
        // A second handshake neither resets options to their defaults nor undoes an early
        // `setoption`.
        if self.options.find(&decl.name).is_none() {
            let mut default = Details::new(self.protocol_state.dialect());
            default.declare(decl);
            self.details = self.details.or(default);
        }
        self.options.declare(decl.clone().into_owned());
        self.knows_all_options &= self.options.find(&decl.name).is_some();
    }

    /// Applies options that enable details.
    fn after_option(&mut self, set: &SetOption<'_>) -> Option<Rule> {
        let set = set.clone().resolved(|name| self.options.find(name).is_some());
        let text = set.value.as_deref();
        if let Some(on) = text.and_then(|text| text.to_ascii_lowercase().parse().ok()) {
            self.details.set_option(&set.name, &OptionValue::Check(on));
        }
        if let Some(search) = &mut self.search {
            search.details = search.details.or(self.details);
        }
        if let Some(decl) = self.options.find(&set.name) {
            return (!can_be(decl, text)).then_some(Rule::InvalidOptionValue);
        }
        let is_fault = self.knows_all_options
            && !self.protocol_state.dialect().tolerates_undeclared(&set.name);
        is_fault.then_some(Rule::UndeclaredOption)
    }

    fn broken_by_go(&self, go: &Go<'_>) -> impl Iterator<Item = Rule> + use<> {
        // An unknown token may be a limit, and shogi GUIs send the clocks with `ponderhit`.
        let is_bare = go.is_bare() && !go.ponder && go.unknown.is_empty();
        let is_empty = [
            go.depth == Some(0),
            go.nodes == Some(0),
            go.move_time.is_some_and(|time| time.is_zero()),
            go.random_time.is_some_and(|time| time.is_zero()),
            go.clocks.moves_to_go == Some(0),
            match go.mate {
                Some(MateLimit::Moves(moves)) => moves == 0,
                Some(MateLimit::Time(time)) => time.is_zero(),
                Some(MateLimit::Infinite) | None => false,
            },
        ]
        .contains(&true);
        // An infinite search ignores the clock.
        let clocks = if go.infinite { None } else { self.broken_by_clocks(&go.clocks) };
        let rules = [
            is_bare.then_some(Rule::SearchWithoutLimit),
            clocks,
            is_empty.then_some(Rule::ZeroLimit),
        ];
        rules.into_iter().flatten()
    }

    fn broken_by_clocks(&self, clocks: &Clocks) -> Option<Rule> {
        let least = self.protocol_state.dialect().min_clock();
        let left = [clocks.white_time, clocks.black_time];
        let added = [clocks.white_increment, clocks.black_increment, clocks.byoyomi];
        let run_out = left.into_iter().flatten().any(|time| time < least)
            || added.into_iter().flatten().any(|time| time < 0);
        run_out.then_some(Rule::InvalidClock)
    }

    fn broken_by_info(&mut self, info: &Info<'_>, now: SessionTime) -> [Option<Rule>; 2] {
        let Some(search) = &mut self.search else { return [None; 2] };
        let unrequested = !search.reported_unrequested && search.details.exceeded_by(info);
        search.reported_unrequested |= unrequested;
        let searched = now.saturating_sub(search.since);
        let early = !search.reported_early && is_too_soon(info, searched, DISTANCE);
        search.reported_early |= early;
        [unrequested.then_some(Rule::UnrequestedDetail), early.then_some(Rule::EarlyDetail)]
    }
}

/// Whether the text is a valid value. The default is always valid.
fn can_be(decl: &OptionDecl<'_>, text: Option<&str>) -> bool {
    match decl.value(text) {
        Ok(_) => true,
        Err(OptionError::OutOfRange { value, .. }) => {
            decl.default_value() == Some(OptionValue::Spin(value))
        }
        // The values of unknown types are unknown.
        Err(_) => decl.kind.option_type().is_none(),
    }
}
