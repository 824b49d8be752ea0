//! The state machine of the protocols: decides whether a message may be sent now.
//!
//! All rules about the order of messages are implemented here, independent of the side. An engine, a
//! client, a tap and a conformance checker use the same [`ProtocolState`].
//!
//! ```text
//!          uci              uciok               go
//!  Fresh ───────> Handshake ──────> Idle ───────────────> Searching
//!                                    ^                        │ stop, ponderhit, gameover:
//!                                    │                        │ still searching
//!                                    └── bestmove, checkmate ─┘
//!  `quit` leads to Closed from everywhere; `isready` and `readyok` only move the count of pings.
//! ```
//!
//! Outstanding answers are independent of the phase: `go` before `uciok` leads to Searching with
//! the `uciok` outstanding, and `bestmove` then leads back to Handshake.
//!
//! Messages may cross: a `stop` or `gameover` that crosses a `bestmove` violates no rule.

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
    /// A `position` was sent.
    positioned: bool,
    /// `uciok` or `usiok` was sent.
    introduced: bool,
    /// `id name` was sent.
    named: bool,
    /// Searches that the client requested during another one, and that may still be answered.
    extra_searches: u32,
    /// Additional handshake commands that may still be answered.
    extra_handshakes: u32,
}

/// The handshake, independent of the phase: a client may send `go` before `uciok`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Handshake {
    /// `uci` or `usi` was not sent yet.
    Expected,
    /// The engine owes `uciok` or `usiok`.
    Pending,
    /// `uciok` or `usiok` was sent.
    Complete,
}

/// The pings, independent of the phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Readiness {
    /// Number of `isready` without `readyok`.
    pings: u32,
    /// Number of pings before the latest end or start of a game: their `readyok` does not count for
    /// the next search.
    stale_pings: u32,
    /// `readyok` was sent, and no later message requires another ping before the next search.
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
    /// Neither `register` nor `registration error` was sent.
    Unneeded,
    /// `registration error` was sent before any `register`.
    Due,
    /// `register` was sent. If it fails, no other one is required.
    Sent,
}

/// The phase of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// Nothing was sent yet.
    Fresh,
    /// The client sent `uci` or `usi`, and the engine declares its name and options.
    Handshake,
    /// The engine waits for work.
    Idle,
    /// The engine owes exactly one answer to `go`.
    Searching {
        /// The kind of the search.
        goal: Goal,
        /// It began as `go ponder` without a `ponderhit` yet.
        pondering: bool,
        /// The client has requested its end.
        stopped: bool,
    },
    /// After `quit`.
    Closed,
}

/// The end of a search.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Goal {
    /// A clock or another limit ends it, with `bestmove`.
    Move,
    /// Only `stop` ends it, with `bestmove`.
    Infinite,
    /// A mate search: `checkmate` or `bestmove` ends it (USI as deployed, and draft 1).
    Mate,
}

/// The next state with the violated rule, or the rule that forbids the step.
type Step = Result<(ProtocolState, Option<Rule>), Rule>;

impl ProtocolState {
    /// A session before its first line.
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
            extra_handshakes: 0,
        }
    }

    /// Handles a message of the client.
    ///
    /// # Errors
    /// It violates a rule. The state is unchanged.
    pub fn command(&mut self, command: &Command<'_>) -> Result<(), Violation> {
        self.strict(Party::Client, self.after_command(command))
    }

    /// Handles a message of the engine.
    ///
    /// # Errors
    /// It violates a rule. The state is unchanged.
    pub fn reply(&mut self, reply: &Reply<'_>) -> Result<(), Violation> {
        self.strict(Party::Engine, self.after_reply(reply))
    }

    /// Handles a message of the client even if it violates a rule. After the violation of a rule whose message
    /// [is ignored](Rule::is_ignored) the state is unchanged, except that an additional `go` or `register` may
    /// be answered. After another violation the session continues.
    pub fn apply_command_lenient(&mut self, command: &Command<'_>) -> Option<Violation> {
        self.tolerant(Party::Client, self.after_command(command))
    }

    /// Handles a message of the engine even if it violates a rule. See
    /// [`apply_command_lenient`](Self::apply_command_lenient).
    pub fn apply_reply_lenient(&mut self, reply: &Reply<'_>) -> Option<Violation> {
        self.tolerant(Party::Engine, self.after_reply(reply))
    }

    /// The phase.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Continues in another protocol. The state remains.
    pub const fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// Continues in another protocol whose handshake follows. The rest of the state remains.
    pub const fn expect_handshake(&mut self, dialect: Dialect) {
        // The engine may support both protocols, or be slow.
        if self.is_handshake_pending() {
            self.extra_handshakes = self.extra_handshakes.saturating_add(1);
        }
        self.return_to(dialect);
        self.phase = Phase::Fresh;
        self.handshake = Handshake::Expected;
    }

    /// Continues in the protocol of an earlier handshake. The answer to an early `go` depends on the
    /// protocol, so any answer to it is accepted, or none.
    pub(crate) const fn return_to(&mut self, dialect: Dialect) {
        self.dialect = dialect;
        if self.is_searching() {
            self.extra_searches = self.extra_searches.saturating_add(1);
            self.phase = self.after_search();
        }
    }

    /// Whether the engine owes the answer to `uci` or `usi`. A `go` may have been sent meanwhile.
    pub const fn is_handshake_pending(&self) -> bool {
        matches!(self.handshake, Handshake::Pending)
    }

    /// Whether `uciok` or `usiok` was sent.
    pub(crate) const fn is_introduced(&self) -> bool {
        self.introduced
    }

    /// The protocol of the session.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Number of `isready`s without `readyok`.
    pub const fn pings(&self) -> u32 {
        self.readiness.pings
    }

    /// Whether `isready` and `readyok` are required before the next `go`.
    pub const fn needs_ready(&self) -> bool {
        !self.readiness.ready
    }

    /// Whether `register` is required before the next search.
    pub const fn needs_register(&self) -> bool {
        matches!(self.registration, Registration::Due)
    }

    /// Whether the engine owes an answer to `go`.
    pub const fn is_searching(&self) -> bool {
        matches!(self.phase, Phase::Searching { .. })
    }

    /// Whether the engine may answer a `go` that was sent during a search: it is unknown to which one an answer belongs.
    pub const fn may_owe_more_answers(&self) -> bool {
        0 < self.extra_searches
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
            // Unknown lines violate no rule about order.
            (_, Command::Unknown(text)) => {
                // Engines that implement both protocols answer the other handshake anyway.
                if Dialect::ALL.iter().any(|dialect| dialect.handshake() == text) {
                    next.extra_handshakes = self.extra_handshakes.saturating_add(1);
                }
                rule = None;
            }
            (Phase::Closed, _) => return Err(Rule::AfterQuit),
            (_, Command::Quit) => {
                next.phase = Phase::Closed;
                rule = None;
            }
            (Phase::Fresh | Phase::Idle, Command::Uci) => {
                next.phase = Phase::Handshake;
                next.handshake = Handshake::Pending;
                rule = self.has_hello().then_some(Rule::RepeatedUci);
            }
            // Most engines answer it anyway, which is not their violation.
            (Phase::Handshake | Phase::Searching { .. }, Command::Uci) => {
                next.extra_handshakes = self.extra_handshakes.saturating_add(1);
                rule = self.has_hello().then_some(Rule::RepeatedUci);
            }
            (_, Command::IsReady) => {
                next.readiness.pings = self.readiness.pings.saturating_add(1);
            }
            // Most engines answer it anyway, which is not their violation.
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
            (Phase::Fresh | Phase::Handshake | Phase::Idle, Command::Register(_)) => {
                next.registration = Registration::Sent;
            }
            (Phase::Fresh | Phase::Handshake | Phase::Idle, Command::NewGame) => {
                if self.dialect.ready_after_new_game() {
                    next.readiness.reset();
                }
            }
            (Phase::Fresh | Phase::Handshake | Phase::Idle, Command::Position(_)) => {
                next.positioned = true;
            }
            (Phase::Fresh | Phase::Handshake | Phase::Idle, Command::Go(go)) => {
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
            // A `stop` may have crossed the `bestmove`, and then has no effect.
            (_, Command::Debug(_))
            | (
                Phase::Fresh | Phase::Handshake | Phase::Idle,
                Command::SetOption(_) | Command::Stop,
            ) => (),
            (Phase::Searching { goal, pondering, .. }, Command::Stop) => {
                next.phase = Phase::Searching { goal, pondering, stopped: true };
            }
            (Phase::Searching { goal, pondering: true, stopped }, Command::PonderHit(_)) => {
                next.phase = Phase::Searching { goal, pondering: false, stopped };
            }
            (_, Command::PonderHit(_)) => return Err(Rule::PonderHitWithoutPonder),
            (Phase::Fresh | Phase::Handshake | Phase::Idle, Command::GameOver(_)) => {
                next.readiness.reset();
            }
            // Some shogi GUIs end a game during a search. It counts as `stop`.
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
        if self.is_handshake_pending() { Phase::Handshake } else { Phase::Idle }
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
            // After `quit`, answers may still arrive.
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
                if self.phase == Phase::Handshake {
                    next.phase = Phase::Idle;
                }
                rule = (!self.named).then_some(Rule::NoName);
            }
            (Phase::Fresh, Reply::Id(_) | Reply::Option(_)) => rule = Some(Rule::ReplyBeforeUci),
            (_, Reply::Id(_) | Reply::Option(_)) if 0 < self.extra_handshakes => (),
            (_, Reply::UciOk) if 0 < self.extra_handshakes => {
                (next.extra_handshakes, next.introduced) = (self.extra_handshakes - 1, true);
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
                // An early `register` is answered early, which is not a violation of the engine.
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
                // The additional `go` may have ended it.
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
            (Phase::Fresh | Phase::Handshake | Phase::Idle, Reply::Info(info)) => {
                let excused = 0 < self.extra_searches || is_only_text(info);
                rule = (!excused).then_some(Rule::InfoWithoutSearch);
            }
        }
        Ok((next, rule))
    }
}

/// Whether an `info` consists of a text only, and may be sent between searches.
pub(crate) fn is_only_text(info: &Info<'_>) -> bool {
    let rest = Info { string: None, unknown: Vec::new(), ..info.clone() };
    info.string.is_some() && rest == Info::default()
}
