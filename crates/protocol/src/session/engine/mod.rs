//! The engine's side: says what needs no engine by itself, and keeps the order of everything else.
//!
//! ```text
//!  client ── lines ──> EngineSession ── events: SetOption, NewGame, Prepare, Search, Stop … ──> owner
//!  client <── lines ── EngineSession <── verbs: ready, info, best_move, checkmate … ─────────── owner
//! ```
//!
//! The owner works the events off in their order, answers each [`Event::Prepare`] with
//! [`ready`](EngineSession::ready) and each [`Event::Search`] with exactly one
//! [`best_move`](EngineSession::best_move) or [`checkmate`](EngineSession::checkmate).
//!
//! What a client should not say during a search is not lost:
//! - `go`, `position`, `setoption`, `register` and the new-game command wait, in their order,
//!   until the search is answered. Of several `position`s only the last before each `go` matters.
//! - A `go` that waits ends the running search as `stop` would, so that every `go` gets its one
//!   `bestmove` and there are never two searches. `stop`, `ponderhit` and `gameover` after it are
//!   about the search that waits, and wait with it.
//! - The first `uci` or `usi` waits too, and ends the running search as well.
//! - A second `uci` or `usi` is answered between searches and ignored in one.
//!
//! `stop` and `ponderhit` without a search mean nothing and are ignored. `gameover` ends a search
//! as `stop` does, and its `bestmove` is still said. A bare `go` is a search without limits that
//! may end by itself. The end of the input is `quit`.

mod throttle;
mod waiting;

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;

use self::throttle::Throttle;
use self::waiting::Waiting;
use super::Moment;
use crate::details::Details;
use crate::dialogue::is_only_text;
use crate::{
    Best, BestMove, Checkmate, Clock, Clocks, Color, Command, Dialect, Dialogue, GameResult, Go,
    Id, Info, Note, NoteKind, OptionDecl, OptionError, OptionSet, OptionValue, Phase, Position,
    Register, Reply, Rule, SetOption, Severity, Status, UnknownOption, Violation, WriteError,
};

/// Speaks the protocol for an engine.
#[derive(Debug)]
pub struct EngineSession {
    profile: Profile,
    /// Which of the profile's options are spoken of: those of the dialect.
    spoken: usize,
    dialogue: Dialogue,
    /// The first hello came and decided which protocol is spoken.
    settled: bool,
    debug: bool,
    position: Position<'static>,
    search: Option<Search>,
    /// What has to wait for the end of the search.
    waiting: Waiting,
    details: Details,
    throttle: Throttle,
    events: VecDeque<Event>,
}

/// Who the engine is and what it can do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Profile {
    /// The name and version, for `id name`.
    pub name: String,
    /// Who wrote it, for `id author`. May be empty.
    pub author: String,
    /// The options in each dialect that the engine speaks, under their UCI names (`Hash`,
    /// `Clear Hash`): the session spells them as the dialect does. The first dialect is assumed
    /// until the client says hello.
    pub options: Vec<OptionSet>,
}

/// What the owner has to do or to know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// The greeting is over; this protocol is spoken from now on.
    Greeted(Dialect),
    /// The client wants to hear more, or no more, in `info string`s.
    Debug(bool),
    /// Take the new value of an option. It fits the declaration.
    SetOption {
        /// The name as it was declared.
        name: String,
        /// The value.
        value: OptionValue,
    },
    /// The user's answer to `registration error`. Tell with
    /// [`registration`](EngineSession::registration) whether it is right.
    Register(Register<'static>),
    /// The next search is of another game.
    NewGame,
    /// Finish all that was asked for before this, then call [`EngineSession::ready`].
    Prepare,
    /// Search, then answer exactly once.
    Search(Box<SearchRequest>),
    /// The expected move was played: the search goes on as a normal one, and its clocks and
    /// `movetime` count from now. Some shogi GUIs send the clocks only here.
    PonderHit(Clocks),
    /// Answer the search soon.
    Stop,
    /// The game is over. A running search was stopped.
    GameOver(GameResult),
    /// Leave. An answer that the client still expects may be said quickly.
    Quit,
    /// A line that is no command. It was ignored.
    Unknown(String),
    /// A command that was read with repairs.
    Odd(Vec<Note>),
    /// A message against a rule. One of [`Severity::Must`] was ignored, unless it waits.
    Violation(Violation),
    /// A `setoption` that was refused.
    BadOption(BadOption),
    /// More commands came during a search than can wait. This one was refused.
    Refused(Command<'static>),
}

/// Why a `setoption` was refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BadOption {
    /// There is no such option.
    Unknown(UnknownOption),
    /// The option has no such value.
    Value(OptionError),
}

/// What to search and how far.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SearchRequest {
    /// The protocol, which tells how moves are written.
    pub dialect: Dialect,
    /// The position. Its text is checked for syntax; whether the moves are legal is not.
    pub position: Position<'static>,
    /// The limits. With `ponder`, clocks and `movetime` count from [`Event::PonderHit`].
    pub go: Go<'static>,
}

impl SearchRequest {
    /// The side to move.
    pub fn mover(&self) -> Color {
        self.position.mover(self.dialect)
    }

    /// The clock of the side to move, if it has one.
    pub fn clock(&self) -> Option<Clock> {
        self.go.clocks.of(self.mover())
    }
}

/// The owner broke a rule, which is a bug. Nothing was said.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Misuse {
    /// The message may not be sent now.
    Violation(Violation),
    /// The search was answered before, and the answer waits until it may be said.
    AnsweredAlready,
    /// The message cannot be written.
    Unwritable(WriteError),
}

#[derive(Debug)]
struct Search {
    since: Moment,
    /// It told something about the position.
    told: bool,
    /// The answer, until it may be said.
    held: Option<Reply<'static>>,
}

impl EngineSession {
    /// A session before its first line.
    ///
    /// # Errors
    /// The name, the author or an option cannot be written on a line.
    pub fn new(profile: Profile) -> Result<Self, WriteError> {
        for spoken in 0..profile.options.len() {
            for reply in introduction(&profile, spoken) {
                reply.write(dialect_of(&profile, spoken), &mut String::new())?;
            }
        }
        Ok(Self {
            dialogue: Dialogue::new(dialect_of(&profile, 0)),
            details: profile.options.first().map(Details::of).unwrap_or_default(),
            throttle: Throttle::new(),
            profile,
            spoken: 0,
            settled: false,
            debug: false,
            position: Position::default(),
            search: None,
            waiting: Waiting::default(),
            events: VecDeque::new(),
        })
    }

    /// Takes one line of the client.
    pub fn receive_line(&mut self, line: &str, now: Moment, out: &mut String) {
        let is_first_hello = !self.settled && self.settle(line);
        let reading = Command::read(line, dialect_of(&self.profile, self.spoken));
        if let Command::Unknown(text) = &reading.value {
            return self.take_unknown(text, &reading.notes, out);
        }
        if !reading.notes.is_empty() {
            for note in &reading.notes {
                self.explain(note, out);
            }
            self.events.push_back(Event::Odd(reading.notes));
        }
        if is_first_hello && self.dialogue.is_searching() {
            self.waiting.keep_hello();
        } else {
            self.receive(reading.value, line.len(), now, out);
        }
        self.advance(now, out);
    }

    /// Takes the end of the input, which is `quit`.
    pub fn end_of_input(&mut self, out: &mut String) {
        if self.dialogue.phase() != Phase::Closed {
            self.dialogue.overhear_command(&Command::Quit);
            self.close(out);
        }
    }

    /// What the owner has to do now. Ask until it is `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Moment> {
        self.throttle.due()
    }

    /// Says what was held back until now.
    pub fn handle_timeout(&mut self, now: Moment, out: &mut String) {
        for info in self.throttle.release(now) {
            self.say(&Reply::Info(info), out);
        }
    }

    /// Answers `isready`, after [`Event::Prepare`].
    ///
    /// # Errors
    /// There was no [`Event::Prepare`] that is still open.
    pub fn ready(&mut self, out: &mut String) -> Result<(), Misuse> {
        self.try_say(&Reply::ReadyOk, out)
    }

    /// Tells something about the search, or an `info string` at any time.
    ///
    /// Not everything is said at once, and not everything at all:
    /// - What comes after the answer is dropped, but for an `info string`.
    /// - The fields `currmove`, `currmovenumber`, `currline` and `refutation` are dropped in the
    ///   first second, and the last two while their options (`UCI_ShowCurrLine`,
    ///   `UCI_ShowRefutations`) are off.
    /// - After a burst of 100 lines, 50 lines pass in a second. Of lines with a score or a
    ///   variation the latest of each `multipv` is held back until it may be said; the lines of
    ///   one iteration stay together, up to 256. An `info string` is held back too and never
    ///   replaced by another; past 1000 of them only their number is told. Other lines are dropped.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn info(&mut self, info: Info<'_>, now: Moment, out: &mut String) -> Result<(), Misuse> {
        let mut reply = Reply::Info(info);
        self.check(&reply)?;
        let Reply::Info(info) = &mut reply else { return Ok(()) };
        match self.search.as_mut().filter(|search| search.held.is_none()) {
            Some(search) => {
                let searched = now.saturating_sub(search.since);
                search.told |= throttle::tells_of_position(info);
                self.details.trim(info, searched);
            }
            None if is_only_text(info) => (),
            None => return Ok(()),
        }
        let release = self.throttle.release(now);
        let passes = self.throttle.passes(info, now);
        for info in release {
            self.say(&Reply::Info(info), out);
        }
        if passes {
            self.say(&reply, out);
        }
        Ok(())
    }

    /// Answers the search. In `go infinite` and `go ponder` the answer is held back until the
    /// client allows it, even if the game ends in mate.
    ///
    /// What was held back of `info` is said before it, and if there was nothing at all, a line
    /// with the time and the move.
    ///
    /// # Errors
    /// There is no search, it was answered before, or the answer cannot be written.
    pub fn best_move(
        &mut self,
        best: BestMove<'static>,
        now: Moment,
        out: &mut String,
    ) -> Result<(), Misuse> {
        self.answer(Reply::BestMove(best), now, out)
    }

    /// Answers a search for a mate (USI). The same rules as for [`best_move`](Self::best_move).
    ///
    /// # Errors
    /// There is no search for a mate, it was answered before, or the answer cannot be written.
    pub fn checkmate(
        &mut self,
        mate: Checkmate<'static>,
        now: Moment,
        out: &mut String,
    ) -> Result<(), Misuse> {
        self.answer(Reply::Checkmate(mate), now, out)
    }

    /// Tells whether the engine is registered.
    ///
    /// # Errors
    /// The greeting is not over.
    pub fn registration(&mut self, status: Status, out: &mut String) -> Result<(), Misuse> {
        self.try_say(&Reply::Registration(status), out)
    }

    /// Tells whether this copy of the engine is the buyer's.
    ///
    /// # Errors
    /// The greeting is not over.
    pub fn copy_protection(&mut self, status: Status, out: &mut String) -> Result<(), Misuse> {
        self.try_say(&Reply::CopyProtection(status), out)
    }

    /// The state of the conversation.
    pub fn dialogue(&self) -> &Dialogue {
        &self.dialogue
    }

    /// Whether the client wants to hear more in `info string`s.
    pub fn debug(&self) -> bool {
        self.debug
    }

    /// The first hello decides which protocol is spoken. Tells whether the line is one.
    fn settle(&mut self, line: &str) -> bool {
        let says_hello =
            |set: &OptionSet| Command::read(line, set.dialect()).value == Command::Hello;
        if let Some(spoken) = self.profile.options.iter().position(says_hello) {
            self.spoken = spoken;
            self.settled = true;
        }
        self.settled
    }

    fn take_unknown(&mut self, text: &str, notes: &[Note], out: &mut String) {
        if text.is_empty() {
            return;
        }
        let broken = notes.iter().find(|note| note.kind == NoteKind::BadPosition);
        if let Some(note) = broken {
            self.remark(format!("{note}: the position before it stays"), out);
        } else {
            let shown = shortened(text).escape_debug();
            self.explain(&format_args!("no command: `{shown}`"), out);
        }
        self.events.push_back(Event::Unknown(text.to_owned()));
    }

    /// Takes a command that is so many bytes long.
    fn receive(&mut self, command: Command<'_>, bytes: usize, now: Moment, out: &mut String) {
        if self.waiting.concerns(&command) {
            return self.keep(command, bytes, out);
        }
        match self.overhear(&command, out) {
            Some(Rule::BusyEngine) => self.keep(command, bytes, out),
            Some(rule) if rule.severity() == Severity::Must => (),
            _ => self.act(command, now, out),
        }
    }

    /// Takes note of a command unless it must not be said now, and returns the rule that it breaks.
    fn overhear(&mut self, command: &Command<'_>, out: &mut String) -> Option<Rule> {
        let violation = self.dialogue.command(command).err()?;
        if violation.rule.severity() == Severity::Should {
            self.dialogue.overhear_command(command);
        }
        self.explain(&violation, out);
        self.events.push_back(Event::Violation(violation));
        Some(violation.rule)
    }

    fn keep(&mut self, command: Command<'_>, bytes: usize, out: &mut String) {
        if let Err(refused) = self.waiting.keep(command, bytes) {
            self.remark("too many commands during a search: one was refused".to_owned(), out);
            self.events.push_back(Event::Refused(*refused));
        }
    }

    /// Takes the commands that have waited, as far as they may be taken now.
    fn advance(&mut self, now: Moment, out: &mut String) {
        loop {
            let next = match self.dialogue.phase() {
                Phase::Searching { stopped, .. } => {
                    let for_search = self.waiting.take_about_search();
                    let ends = !stopped && self.waiting.presses();
                    for_search.or_else(|| ends.then_some(Command::Stop))
                }
                Phase::Fresh | Phase::Greeting | Phase::Idle | Phase::Closed => self.waiting.take(),
            };
            let Some(command) = next else { return };
            let rule = self.overhear(&command, out);
            if rule.is_none_or(|rule| rule.severity() == Severity::Should) {
                self.act(command, now, out);
            }
        }
    }

    /// Does what a command asks for, after the dialogue has taken note of it.
    fn act(&mut self, command: Command<'_>, now: Moment, out: &mut String) {
        match command {
            Command::Hello => self.greet(out),
            Command::Debug(on) => {
                self.debug = on;
                self.events.push_back(Event::Debug(on));
            }
            // A searching engine has loaded everything already and must answer at once.
            Command::IsReady if self.dialogue.is_searching() => self.say(&Reply::ReadyOk, out),
            Command::IsReady => self.events.push_back(Event::Prepare),
            Command::SetOption(set) => self.set_option(set, out),
            Command::Register(with) => self.events.push_back(Event::Register(with.into_owned())),
            Command::NewGame => self.events.push_back(Event::NewGame),
            Command::Position(position) => self.position = position.into_owned(),
            Command::Go(go) if go.perft.is_some() => {
                self.remark("this engine does not count leaf nodes".to_owned(), out);
            }
            Command::Go(go) => self.start_search(go, now),
            Command::Stop => self.let_go(Event::Stop, out),
            Command::PonderHit(clocks) => {
                if let Some(search) = &mut self.search {
                    search.since = now;
                }
                self.let_go(Event::PonderHit(clocks), out);
            }
            Command::GameOver(result) => {
                self.events.push_back(Event::GameOver(result));
                self.let_go(Event::Stop, out);
            }
            Command::Quit => self.close(out),
            Command::Unknown(_) => (),
        }
    }

    fn greet(&mut self, out: &mut String) {
        // A client that has lost track of the engine waits for an answer. The search goes on.
        if self.dialogue.is_searching() && !self.waiting.holds_hello() {
            self.introduce(out);
        }
        if self.dialogue.phase() != Phase::Greeting {
            return;
        }
        let dialect = dialect_of(&self.profile, self.spoken);
        if dialect != self.dialogue.dialect() {
            self.dialogue.set_dialect(dialect);
            let options = self.profile.options.get(self.spoken);
            self.details = options.map(Details::of).unwrap_or_default();
            self.throttle = Throttle::new();
        }
        self.introduce(out);
        self.events.push_back(Event::Greeted(dialect));
    }

    fn introduce(&mut self, out: &mut String) {
        for reply in introduction(&self.profile, self.spoken) {
            self.say(&reply, out);
        }
    }

    fn set_option(&mut self, set: SetOption<'_>, out: &mut String) {
        let Some(options) = self.profile.options.get(self.spoken) else { return };
        let set = set.resolved(|name| options.find(name).is_some());
        let bad = match options.require(&set.name) {
            // Shogi GUIs send these two to every engine.
            Err(_) if self.dialogue.dialect().sends_undeclared(&set.name) => return,
            Err(unknown) => BadOption::Unknown(unknown),
            Ok(decl) => match decl.value(set.value.as_deref()) {
                Ok(value) => {
                    self.details.set_option(&decl.name, &value);
                    let name = decl.name.clone().into_owned();
                    return self.events.push_back(Event::SetOption { name, value });
                }
                Err(error) => BadOption::Value(error),
            },
        };
        self.remark(shortened(&bad.to_string()).to_owned(), out);
        self.events.push_back(Event::BadOption(bad));
    }

    fn start_search(&mut self, go: Go<'_>, now: Moment) {
        self.search = Some(Search { since: now, told: false, held: None });
        self.throttle.start_search();
        self.events.push_back(Event::Search(Box::new(SearchRequest {
            dialect: self.dialogue.dialect(),
            position: self.position.clone(),
            go: go.into_owned(),
        })));
    }

    /// Says the answer that was held back, or else tells the search of `event`.
    fn let_go(&mut self, event: Event, out: &mut String) {
        match self.search.as_mut().map(|search| search.held.take()) {
            None => (),
            Some(None) => self.events.push_back(event),
            Some(Some(answer)) => self.say_answer(answer, out),
        }
    }

    fn answer(
        &mut self,
        answer: Reply<'static>,
        now: Moment,
        out: &mut String,
    ) -> Result<(), Misuse> {
        if self.search.as_ref().is_some_and(|search| search.held.is_some()) {
            return Err(Misuse::AnsweredAlready);
        }
        self.check(&answer)?;
        // Asked of a copy, since the last `info` has to be said first.
        match (&self.search, self.dialogue.clone().reply(&answer)) {
            (Some(_), Err(Violation { rule: Rule::BestMoveTooEarly, .. }) | Ok(())) => (),
            (_, Err(violation)) => return Err(Misuse::Violation(violation)),
            // After `quit` the dialogue allows everything.
            (None, Ok(())) => {
                let rule = Rule::BestMoveWithoutSearch;
                return Err(Misuse::Violation(Violation { by: rule.binds(), rule }));
            }
        }
        self.say_rest_of_info(&answer, now, out);
        self.say_answer(answer, out);
        self.advance(now, out);
        Ok(())
    }

    /// Says the answer, or holds it back if it comes too early.
    fn say_answer(&mut self, answer: Reply<'static>, out: &mut String) {
        if self.try_say(&answer, out).is_ok() {
            self.search = None;
        } else if let Some(search) = &mut self.search {
            search.held = Some(answer);
        }
    }

    /// Says what was held back, so that the last word of the search comes before its answer.
    fn say_rest_of_info(&mut self, answer: &Reply<'_>, now: Moment, out: &mut String) {
        for info in self.throttle.flush() {
            self.say(&Reply::Info(info), out);
        }
        let Some(search) = self.search.as_ref().filter(|search| !search.told) else { return };
        let time = u64::try_from(now.saturating_sub(search.since).as_millis()).ok();
        let pv = match answer {
            Reply::BestMove(BestMove { best: Best::Move(it), .. }) => {
                Some([*it].into_iter().collect())
            }
            _ => None,
        };
        self.say(&Reply::Info(Info { depth: Some(0), time, pv, ..Info::default() }), out);
    }

    fn close(&mut self, out: &mut String) {
        self.waiting.clear();
        self.let_go(Event::Stop, out);
        self.events.push_back(Event::Quit);
    }

    /// Says something that concerns the client whether it debugs or not.
    fn remark(&mut self, text: String, out: &mut String) {
        self.say(&Reply::Info(Info::text(text)), out);
    }

    /// Says something to a client that debugs.
    fn explain(&mut self, what: &dyn fmt::Display, out: &mut String) {
        if self.debug {
            self.remark(what.to_string(), out);
        }
    }

    /// Says what the session has seen to be allowed and writable.
    fn say(&mut self, reply: &Reply<'_>, out: &mut String) {
        let said = self.try_say(reply, out);
        debug_assert_eq!(said, Ok(()), "the session keeps to the dialogue");
    }

    fn try_say(&mut self, reply: &Reply<'_>, out: &mut String) -> Result<(), Misuse> {
        let before = out.len();
        reply.write(self.dialogue.dialect(), out)?;
        if let Err(violation) = self.dialogue.reply(reply) {
            out.truncate(before);
            return Err(Misuse::Violation(violation));
        }
        out.push('\n');
        Ok(())
    }

    /// Checks that a reply can be written.
    fn check(&self, reply: &Reply<'_>) -> Result<(), WriteError> {
        struct Nowhere;
        impl fmt::Write for Nowhere {
            fn write_str(&mut self, _: &str) -> fmt::Result {
                Ok(())
            }
        }
        reply.write(self.dialogue.dialect(), &mut Nowhere)
    }
}

fn dialect_of(profile: &Profile, spoken: usize) -> Dialect {
    profile.options.get(spoken).map_or_else(Dialect::default, OptionSet::dialect)
}

/// Everything from `id name` to `uciok` or `usiok`.
fn introduction(profile: &Profile, spoken: usize) -> Vec<Reply<'static>> {
    let dialect = dialect_of(profile, spoken);
    let mut replies = vec![Reply::Id(Id::Name(Cow::Owned(profile.name.clone())))];
    if !profile.author.is_empty() {
        replies.push(Reply::Id(Id::Author(Cow::Owned(profile.author.clone()))));
    }
    replies.extend(profile.options.get(spoken).into_iter().flatten().map(|decl| {
        let name = Cow::Owned(dialect.option_name(&decl.name).to_string());
        Reply::Option(OptionDecl { name, kind: decl.kind.clone() })
    }));
    replies.push(Reply::HelloOk);
    replies
}

/// The start of a text, which may be as long as a line of the client.
fn shortened(text: &str) -> &str {
    const LONGEST: usize = 200;
    text.char_indices().nth(LONGEST).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

impl From<WriteError> for Misuse {
    fn from(error: WriteError) -> Self {
        Self::Unwritable(error)
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Violation(violation) => violation.fmt(f),
            Self::AnsweredAlready => f.write_str("the search was answered already"),
            Self::Unwritable(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Misuse {}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::Value(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BadOption {}
