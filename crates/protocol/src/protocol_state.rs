//! The one state machine of the protocols: may this be sent now?
//!
//! Everything that depends on the order of messages is decided here, and nothing here knows which
//! side we are. An engine, a client, a tap and a conformance checker all ask the same
//! [`ProtocolState`], so none of them can be lenient with itself.
//!
//! ```text
//!          uci              uciok               go
//!  Fresh ───────> Greeting ───────> Idle ───────────────> Searching
//!                                    ^                        │ stop, ponderhit, gameover:
//!                                    │                        │ still searching
//!                                    └── bestmove, checkmate ─┘
//!  `quit` leads to Closed from everywhere; `isready` and `readyok` only move the count of pings.
//! ```
//!
//! Answers that are still owed do not depend on the phase: a client that sends `go` before `uciok`
//! leads to Searching with the `uciok` still owed, and `bestmove` then leads back to Greeting.
//!
//! Messages cross on the wire. A `stop` or `gameover` that meets a `bestmove` halfway is nobody's
//! fault, and no rule is against it.

use alloc::vec::Vec;

use crate::{Command, Dialect, Info, Party, Reply, Rule, Status, Violation};

/// Follows one session from its first line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProtocolState {
    dialect: Dialect,
    phase: Phase,
    handshake: Handshake,
    readiness: Readiness,
    registration: Registration,
    /// There was a `position`.
    positioned: bool,
    /// There was a `uciok` or `usiok`.
    introduced: bool,
    /// There was an `id name`.
    named: bool,
    /// The searches that the client asked for during another one, and that may still be answered.
    extra_searches: u32,
    /// The times that the client sent hello out of turn, and that may still be answered.
    extra_hellos: u32,
}

/// The handshake, in any phase: a client may send `go` before `uciok`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Handshake {
    /// There was no `uci` or `usi`.
    Expected,
    /// The engine has to send `uciok` or `usiok`.
    Pending,
    /// There was a `uciok` or `usiok`.
    Complete,
}

/// The pings, in any phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Readiness {
    /// The number of `isready` without `readyok`.
    pings: u32,
    /// Those of the pings that were sent before the latest end or start of a game: their `readyok`
    /// does not concern the next search.
    stale_pings: u32,
    /// There was a `readyok`, and no reason since then to ping before the next search.
    ready: bool,
}

impl Readiness {
    const fn reset(&mut self) {
        self.ready = false;
        self.stale_pings = self.pings;
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Registration {
    /// There was no `register` and no `registration error`.
    Unneeded,
    /// There was a `registration error` before any `register`.
    Due,
    /// There was a `register`. If it fails, no other one is necessary.
    Sent,
}

/// The phase of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// Nothing was sent yet.
    Fresh,
    /// The client sent `uci` or `usi`; the engine identifies itself.
    Greeting,
    /// The engine waits for work.
    Idle,
    /// The engine owes exactly one answer to `go`.
    Searching {
        /// What kind of search it is.
        goal: Goal,
        /// It began as `go ponder`, and there was no `ponderhit` yet.
        pondering: bool,
        /// The client asked for its end.
        stopped: bool,
    },
    /// After `quit`.
    Closed,
}

/// When a search may end by itself, and with what.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Goal {
    /// A clock or another limit ends it, with `bestmove`.
    Move,
    /// Only `stop` ends it, with `bestmove`.
    Infinite,
    /// A mate is looked for; `checkmate` or `bestmove` ends it (USI as deployed, and draft 1).
    Mate,
}

/// The next state, and the rule that was broken on the way; or the rule that forbids the step.
type Step = Result<(ProtocolState, Option<Rule>), Rule>;

impl ProtocolState {
    /// A session before its first token.
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            phase: Phase::Fresh,
            handshake: Handshake::Expected,
            readiness: Readiness { pings: 0, stale_pings: 0, ready: false },
            registration: Registration::Unneeded,
            positioned: false,
            introduced: false,
            named: false,
            extra_searches: 0,
            extra_hellos: 0,
        }
    }

    /// Takes note of a message of the client.
    ///
    /// # Errors
    /// It breaks a rule. Nothing has changed.
    pub fn command(&mut self, command: &Command<'_>) -> Result<(), Violation> {
        self.strict(Party::Client, self.after_command(command))
    }

    /// Takes note of a message of the engine.
    ///
    /// # Errors
    /// It breaks a rule. Nothing has changed.
    pub fn reply(&mut self, reply: &Reply<'_>) -> Result<(), Violation> {
        self.strict(Party::Engine, self.after_reply(reply))
    }

    /// Takes note of a message of the client that was sent whatever the rules say. A rule of
    /// [`Severity::Should`](crate::Severity::Should) is reported and the session continues; one of
    /// [`Severity::Must`](crate::Severity::Must) is reported and nothing has changed, but that the
    /// engine may answer a `go` or `register` out of turn.
    pub fn apply_command_lenient(&mut self, command: &Command<'_>) -> Option<Violation> {
        self.tolerant(Party::Client, self.after_command(command))
    }

    /// Takes note of a message of the engine that was sent whatever the rules say. See
    /// [`apply_command_lenient`](Self::apply_command_lenient).
    pub fn apply_reply_lenient(&mut self, reply: &Reply<'_>) -> Option<Violation> {
        self.tolerant(Party::Engine, self.after_reply(reply))
    }

    /// Where the session stands.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// continues in another protocol. What was sent before stays sent.
    pub const fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// Continues in another protocol, whose hello is still to come. The rest of the state remains.
    pub const fn expect_handshake(&mut self, dialect: Dialect) {
        // The engine may speak both protocols, or be slow.
        if self.is_handshake_pending() {
            self.extra_hellos = self.extra_hellos.saturating_add(1);
        }
        self.return_to(dialect);
        self.phase = Phase::Fresh;
        self.handshake = Handshake::Expected;
    }

    /// Continues in the protocol of an earlier hello. What an early `go` asks for depends on the
    /// protocol, so its answer may be any, or missing.
    pub(crate) const fn return_to(&mut self, dialect: Dialect) {
        self.dialect = dialect;
        if self.is_searching() {
            self.extra_searches = self.extra_searches.saturating_add(1);
            self.phase = self.after_search();
        }
    }

    /// Whether the engine owes the answer to `uci` or `usi`. The client may have sent `go` meanwhile.
    pub const fn is_handshake_pending(&self) -> bool {
        matches!(self.handshake, Handshake::Pending)
    }

    /// Whether there was a `uciok` or `usiok`.
    pub(crate) const fn is_introduced(&self) -> bool {
        self.introduced
    }

    /// Which protocol is spoken.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The number of `isready`s that have no `readyok` yet.
    pub const fn pings(&self) -> u32 {
        self.readiness.pings
    }

    /// Whether the next `go` is due to be preceded by `isready` and `readyok`.
    pub const fn needs_ready(&self) -> bool {
        !self.readiness.ready
    }

    /// Whether a `register` is due before the next search.
    pub const fn needs_register(&self) -> bool {
        matches!(self.registration, Registration::Due)
    }

    /// Whether the engine owes an answer to `go`.
    pub const fn is_searching(&self) -> bool {
        matches!(self.phase, Phase::Searching { .. })
    }

    fn strict(&mut self, by: Party, step: Step) -> Result<(), Violation> {
        match step {
            Ok((next, None)) => {
                *self = next;
                Ok(())
            }
            Ok((_, Some(rule))) | Err(rule) => Err(Violation { by, rule }),
        }
    }

    fn tolerant(&mut self, by: Party, step: Step) -> Option<Violation> {
        let rule = match step {
            Ok((next, rule)) => {
                *self = next;
                rule
            }
            Err(rule) => Some(rule),
        };
        rule.map(|rule| Violation { by, rule })
    }

    fn after_command(&self, command: &Command<'_>) -> Step {
        let mut next = self.clone();
        let mut rule = self.is_before_handshake_ok().then_some(Rule::BeforeUciOk);
        match (self.phase, command) {
            // A line that is no message means nothing and breaks no rule about order.
            (_, Command::Unknown(text)) => {
                // Engines that speak both protocols answer the other hello anyway.
                if Dialect::ALL.iter().any(|it| it.handshake() == text) {
                    next.extra_hellos = self.extra_hellos.saturating_add(1);
                }
                rule = None;
            }
            (Phase::Closed, _) => return Err(Rule::AfterQuit),
            (_, Command::Quit) => {
                next.phase = Phase::Closed;
                rule = None;
            }
            (Phase::Fresh | Phase::Idle, Command::Uci) => {
                next.phase = Phase::Greeting;
                next.handshake = Handshake::Pending;
                rule = self.has_hello().then_some(Rule::RepeatedUci);
            }
            // Most engines answer it anyway, which is not their fault.
            (Phase::Greeting | Phase::Searching { .. }, Command::Uci) => {
                next.extra_hellos = self.extra_hellos.saturating_add(1);
                rule = self.has_hello().then_some(Rule::RepeatedUci);
            }
            (_, Command::IsReady) => {
                next.readiness.pings = self.readiness.pings.saturating_add(1);
            }
            // Most engines answer it anyway, which is not their fault.
            (Phase::Searching { .. }, Command::Go(go)) => {
                next.extra_searches =
                    self.extra_searches.saturating_add(u32::from(go.perft.is_none()));
                rule = Some(Rule::BusyEngine);
            }
            (Phase::Searching { .. }, Command::Register(_)) => {
                next.registration = Registration::Sent;
                rule = Some(Rule::BusyEngine);
            }
            (
                Phase::Searching { .. },
                Command::SetOption(_) | Command::NewGame | Command::Position(_),
            ) => return Err(Rule::BusyEngine),
            (Phase::Fresh | Phase::Greeting | Phase::Idle, Command::Register(_)) => {
                next.registration = Registration::Sent;
            }
            (Phase::Fresh | Phase::Greeting | Phase::Idle, Command::NewGame) => {
                if self.dialect.ready_after_new_game() {
                    next.readiness.reset();
                }
            }
            (Phase::Fresh | Phase::Greeting | Phase::Idle, Command::Position(_)) => {
                next.positioned = true;
            }
            (Phase::Fresh | Phase::Greeting | Phase::Idle, Command::Go(go)) => {
                // Engines that count leaf nodes print a table, and no `bestmove`.
                if go.perft.is_none() {
                    next.phase = Phase::Searching {
                        goal: self.goal(go),
                        pondering: go.ponder,
                        stopped: false,
                    };
                }
                rule = match rule {
                    None if !self.positioned => Some(Rule::SearchWithoutPosition),
                    None if self.needs_ready() => Some(Rule::SearchBeforeReady),
                    None if self.needs_register() => Some(Rule::RegistrationUnanswered),
                    rule => rule,
                };
            }
            // A `stop` may have met the `bestmove` on its way, and then stops nothing.
            (_, Command::Debug(_))
            | (
                Phase::Fresh | Phase::Greeting | Phase::Idle,
                Command::SetOption(_) | Command::Stop,
            ) => (),
            (Phase::Searching { goal, pondering, .. }, Command::Stop) => {
                next.phase = Phase::Searching { goal, pondering, stopped: true };
            }
            (Phase::Searching { goal, pondering: true, stopped }, Command::PonderHit(_)) => {
                next.phase = Phase::Searching { goal, pondering: false, stopped };
            }
            (_, Command::PonderHit(_)) => return Err(Rule::PonderHitWithoutPonder),
            (Phase::Fresh | Phase::Greeting | Phase::Idle, Command::GameOver(_)) => {
                next.readiness.reset();
            }
            // Shogi GUIs were seen to end a game in the middle of a search. It counts as `stop`.
            (Phase::Searching { goal, pondering, .. }, Command::GameOver(_)) => {
                next.phase = Phase::Searching { goal, pondering, stopped: true };
                next.readiness.reset();
            }
        }
        Ok((next, rule))
    }

    const fn is_before_handshake_ok(&self) -> bool {
        matches!(self.phase, Phase::Fresh) || self.is_handshake_pending()
    }

    fn has_hello(&self) -> bool {
        self.handshake != Handshake::Expected
    }

    /// The phase after the answer to `go`.
    const fn after_search(&self) -> Phase {
        if self.is_handshake_pending() { Phase::Greeting } else { Phase::Idle }
    }

    fn goal(&self, go: &crate::Go<'_>) -> Goal {
        if go.mate.is_some() && self.dialect.mate_search_is_timed() {
            Goal::Mate
        } else if go.infinite {
            Goal::Infinite
        } else {
            Goal::Move
        }
    }

    fn after_reply(&self, reply: &Reply<'_>) -> Step {
        let mut next = self.clone();
        let mut rule = None;
        match (self.phase, reply) {
            // After `quit` answers may still be on their way.
            (Phase::Closed, Reply::UciOk) if self.is_handshake_pending() => {
                next.handshake = Handshake::Complete;
            }
            (Phase::Closed, _)
            | (_, Reply::Unknown(_))
            | (Phase::Searching { .. }, Reply::Info(_)) => (),
            (_, Reply::Id(_) | Reply::Option(_)) if self.is_handshake_pending() => {
                next.named |= matches!(reply, Reply::Id(crate::Id::Name(_)));
            }
            (_, Reply::UciOk) if self.is_handshake_pending() => {
                (next.handshake, next.introduced) = (Handshake::Complete, true);
                if self.phase == Phase::Greeting {
                    next.phase = Phase::Idle;
                }
                rule = (!self.named).then_some(Rule::NoName);
            }
            (Phase::Fresh, Reply::Id(_) | Reply::Option(_)) => rule = Some(Rule::ReplyBeforeUci),
            (_, Reply::Id(_) | Reply::Option(_)) if 0 < self.extra_hellos => (),
            (_, Reply::UciOk) if 0 < self.extra_hellos => {
                (next.extra_hellos, next.introduced) = (self.extra_hellos - 1, true);
            }
            (_, Reply::Id(_) | Reply::Option(_)) => rule = Some(Rule::LateDeclaration),
            (_, Reply::UciOk) => return Err(Rule::UciOkWithoutUci),
            (_, Reply::CopyProtection(_)) => {
                let early = self.is_before_handshake_ok() && !self.introduced;
                rule = early.then_some(Rule::EarlyStatus);
            }
            (_, Reply::Registration(status)) => {
                let sent = self.registration == Registration::Sent;
                if !sent {
                    next.registration = match status {
                        Status::Error => Registration::Due,
                        Status::Ok | Status::Checking => Registration::Unneeded,
                    };
                }
                // An early `register` is answered early, which is not the engine's fault.
                let early = self.is_before_handshake_ok() && !self.introduced && !sent;
                rule = early.then_some(Rule::EarlyStatus);
            }
            (_, Reply::ReadyOk) => {
                let Readiness { pings, stale_pings, ready } = self.readiness;
                next.readiness = Readiness {
                    pings: pings.checked_sub(1).ok_or(Rule::ReadyOkWithoutIsReady)?,
                    stale_pings: stale_pings.saturating_sub(1),
                    ready: ready || stale_pings == 0,
                };
            }
            (Phase::Searching { goal, pondering, stopped, .. }, Reply::BestMove(_)) => {
                next.phase = self.after_search();
                let too_early = !stopped && (pondering || goal == Goal::Infinite);
                // The `go` out of turn may have ended it.
                rule = (too_early && self.extra_searches == 0).then_some(Rule::BestMoveTooEarly);
            }
            (Phase::Searching { goal: Goal::Mate, .. }, Reply::Checkmate(_)) => {
                next.phase = self.after_search();
            }
            (_, Reply::BestMove(_) | Reply::Checkmate(_)) if 0 < self.extra_searches => {
                next.extra_searches -= 1;
            }
            (_, Reply::BestMove(_)) => return Err(Rule::BestMoveWithoutSearch),
            (_, Reply::Checkmate(_)) => return Err(Rule::CheckmateWithoutMateSearch),
            (Phase::Fresh | Phase::Greeting | Phase::Idle, Reply::Info(info)) => {
                let excused = 0 < self.extra_searches || is_only_text(info);
                rule = (!excused).then_some(Rule::InfoWithoutSearch);
            }
        }
        Ok((next, rule))
    }
}

/// Whether a line of `info` is nothing but a text, and may be sent between searches.
pub(crate) fn is_only_text(info: &Info<'_>) -> bool {
    let rest = Info { string: None, unknown: Vec::new(), ..info.clone() };
    info.string.is_some() && rest == Info::default()
}
