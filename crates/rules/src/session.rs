//! The judge of a session: all rules for the session of a client with an engine.
//!
//! An [`Observer`] of `readyok_protocol` judges the order and the contents of messages. The [`Judge`] adds what needs the
//! game: positions, moves, variations and clocks. The conformance checks, `readyok tap` and matches use it.
//!
//! ```
//! use std::time::Duration;
//! use readyok_protocol::{Dialect, Rule};
//! use readyok_rules::session::Judge;
//!
//! let mut judge = Judge::new(Dialect::Uci);
//! for line in ["uci", "isready", "position startpos moves e2e4", "go depth 1"] {
//!     judge.command(line, Duration::ZERO);
//!     for answer in match line {
//!         "uci" => &["id name Example", "uciok"][..],
//!         "isready" => &["readyok"],
//!         _ => &[],
//!     } {
//!         assert!(judge.reply(answer, Duration::ZERO).is_empty());
//!     }
//! }
//! let found = judge.reply("bestmove e2e4", Duration::ZERO);
//! assert_eq!(found[0].rule(), Some(Rule::IllegalBestMove));
//! assert_eq!(found[0].detail().map(ToString::to_string).as_deref(),
//!     Some("illegal move `e2e4`: the origin square is empty"));
//! ```

mod finding;
mod line;
mod sent;

use std::time::Duration;

use readyok_protocol::session::SessionTime;
use readyok_protocol::{
    Best, BestMove, Clocks, Color, Command, Diagnostic, DiagnosticKind, Dialect, Go, Info,
    MateLimit, Observer, Party, Reply, Root, Rule, Violation,
};

pub use finding::{Detail, Finding};
pub use line::{LineBoard, PvFault};
pub use sent::SentPosition;

use crate::{MoveError, Side};

/// Tolerance of clocks: delays between the engine and the judge.
const CLOCK_TOLERANCE: Duration = Duration::from_millis(100);

/// Tolerance of mate searches, which are not played on a clock.
pub const MATE_TOLERANCE: Duration = Duration::from_millis(500);

/// Judges one session from its first line, without sending anything.
///
/// If the responsible side or the position is unknown, nothing is reported. A rule about variations is reported once per
/// search.
#[derive(Clone, Debug)]
pub struct Judge {
    observer: Observer,
    sent: SentPosition,
    search: Option<Search>,
    hit: Option<Hit>,
    judged: [u32; Rule::ALL.len()],
}

/// A search whose position and answer belong together.
#[derive(Clone, Debug)]
struct Search {
    since: SessionTime,
    /// It began as `go ponder`.
    ponders: bool,
    limit: Option<Limit>,
    /// What limits it after `ponderhit`.
    clocks: Clocks,
    move_time: Option<Duration>,
    reported: [bool; 2],
}

/// The time of a search, and the rule for it.
#[derive(Clone, Copy, Debug)]
struct Limit {
    time: Duration,
    rule: Rule,
}

/// A `ponderhit`, until the next `position` shows which move was played.
#[derive(Clone, Debug)]
struct Hit {
    root: Root<'static>,
    /// The moves to the position of the search. The last one was expected.
    moves: Vec<String>,
    /// The answer to the search.
    answer: Option<String>,
}

impl Judge {
    /// A session before its first line.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            observer: Observer::new(dialect),
            sent: SentPosition::new(dialect),
            search: None,
            hit: None,
            judged: [0; Rule::ALL.len()],
        }
    }

    /// The protocol. The first `uci` or `usi` selects it.
    pub fn dialect(&self) -> Dialect {
        self.observer.protocol_state().dialect()
    }

    /// The number of messages to which a rule applied.
    pub fn judged(&self, rule: Rule) -> u32 {
        self.judged.get(rule.index()).copied().unwrap_or_default()
    }

    fn count(&mut self, rules: &[Rule]) {
        for rule in rules {
            if let Some(count) = self.judged.get_mut(rule.index()) {
                *count = count.saturating_add(1);
            }
        }
    }

    /// Judges a line of the client.
    pub fn command(&mut self, line: &str, now: SessionTime) -> Vec<Finding> {
        if let Some(dialect) = self.observer.other_handshake(line) {
            self.observer.expect_handshake(dialect);
            self.sent = SentPosition::new(dialect);
            self.search = None;
        }
        let reading = Command::read(line, self.dialect());
        let was_searching = self.observer.protocol_state().is_searching();
        let violations = self.observer.observe_command(&reading.value, now);
        let mut found = form(Party::Client, line, &reading.diagnostics);
        let is_unknown = matches!(reading.value, Command::Unknown(_));
        if !is_unknown && line.trim_start().starts_with(|c: char| c.is_ascii_uppercase()) {
            // Parsers of engines distinguish upper and lower case.
            found.push(Finding::new(Rule::UnknownCommand));
        }
        add(&mut found, violations, |rule| match (&reading.value, rule) {
            (Command::SetOption(set), Rule::UndeclaredOption | Rule::InvalidOptionValue) => {
                Some(Detail::Option(crate::error::shortened(&set.name)))
            }
            _ => None,
        });
        self.count(rules_for(Party::Client, keyword(line)));
        self.count(&[Rule::UnknownCommand]);
        match &reading.value {
            Command::SetOption(set) => self.sent.set_option(set),
            Command::NewGame | Command::GameOver(_) => self.hit = None,
            Command::Position(_) if was_searching => self.sent.forget(),
            Command::Position(position) => {
                found.extend(self.position(position));
            }
            Command::Unknown(_) if keyword(line) == "position" => self.sent.forget(),
            Command::Go(_) if was_searching => self.search = None,
            Command::Go(go) => self.go(go, now, &mut found),
            Command::PonderHit(clocks) => self.ponder_hit(clocks, now),
            _ => (),
        }
        found
    }

    /// Judges a line of the engine.
    pub fn reply(&mut self, line: &str, now: SessionTime) -> Vec<Finding> {
        if let Some(dialect) = self.observer.other_handshake_ok(line) {
            self.observer.return_to(dialect);
            self.sent = SentPosition::new(dialect);
            self.search = None;
        }
        let reading = Reply::read(line, self.dialect());
        let was_searching = self.observer.protocol_state().is_searching();
        let violations = self.observer.observe_reply(&reading.value, now);
        let mut found = match &reading.value {
            Reply::Option(decl) => {
                self.sent.declare(decl);
                let notes: Vec<DiagnosticKind> =
                    reading.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect();
                let name = crate::error::shortened(&decl.name);
                let broken = OPTION_RULES.into_iter().filter(|rule| decl.violates(*rule, &notes));
                let broken: Vec<_> = broken
                    .map(|rule| {
                        let detail = Detail::Option(name.clone());
                        Finding::new(rule).with(detail)
                    })
                    .collect();
                // A note about the same line adds nothing.
                if broken.is_empty() {
                    form(Party::Engine, line, &reading.diagnostics)
                } else {
                    broken
                }
            }
            Reply::Unknown(text) if keyword(text) == "option" => {
                vec![Finding::new(Rule::OptionForm)]
            }
            _ => form(Party::Engine, line, &reading.diagnostics),
        };
        add(&mut found, violations, |_| None);
        self.count(rules_for(Party::Engine, keyword(line)));
        match &reading.value {
            Reply::Info(info) if was_searching => {
                self.count(&[Rule::UnrequestedDetail, Rule::EarlyDetail]);
                found.extend(self.variation(info));
            }
            Reply::BestMove(best) if was_searching => self.answer(best, now, &mut found),
            Reply::Checkmate(_) if was_searching => {
                let search = self.search.take();
                found.extend(search.and_then(|search| self.late(&search, now)));
            }
            Reply::UciOk | Reply::Option(_) | Reply::Id(_) | Reply::Info(_) => (),
            _ => self.count(&[Rule::UnknownLine]),
        }
        found
    }

    /// States that the client sends no commands of this engine only, see [`Observer::forbid_text`].
    pub fn forbid_text(&mut self) {
        self.observer.forbid_text();
    }

    /// The client has closed its output, which is equivalent to `quit`.
    pub fn end_of_input(&mut self) {
        self.observer.end_of_input();
    }

    /// The session is interrupted from outside: missing answers are no violations from now on.
    pub fn interrupt(&mut self) {
        self.observer.interrupt();
    }

    /// The engine has closed its output. Returns the violations for missing answers.
    pub fn end_of_output(&mut self) -> Vec<Finding> {
        let owed = self.observer.end_of_output().into_iter();
        owed.map(|violation| Finding::new(violation.rule)).collect()
    }
}

impl Judge {
    fn position(&mut self, position: &readyok_protocol::Position<'_>) -> Option<Finding> {
        self.count(&[Rule::IllegalPosition]);
        let hit = self.hit.take();
        let result = self.sent.set(position);
        if let Err(error) = result {
            return Some(Finding::new(Rule::IllegalPosition).with(Detail::Position(error)));
        }
        let Hit { root, moves, answer: Some(answer) } = hit? else { return None };
        self.count(&[Rule::PonderHitAfterOtherMove]);
        let (expected, before) = moves.split_last()?;
        if root != position.root {
            return None;
        }
        let mut sent = position.moves.tokens();
        let continues = before.iter().all(|text| sent.next() == Some(text.as_str()));
        let (played, next) = (sent.next()?, sent.next()?);
        // After a takeback the answer was not played.
        let is_other = continues && played != expected && next == answer;
        let detail = || Detail::OtherMove {
            expected: expected.clone(),
            played: crate::error::shortened(played),
        };
        is_other.then(|| Finding::new(Rule::PonderHitAfterOtherMove).with(detail()))
    }

    fn go(&mut self, go: &Go<'_>, now: SessionTime, found: &mut Vec<Finding>) {
        self.count(&[Rule::SearchWithoutLimit, Rule::ZeroLimit]);
        if !go.clocks.is_empty() {
            self.count(&[Rule::InvalidClock]);
        }
        let codec = self.sent.codec();
        let mut mover = None;
        let mut judged = Vec::new();
        if let Some(position) = self.sent.position() {
            mover = Some(position.turn());
            if let (Some(only), Some(codec)) = (&go.search_moves, codec) {
                judged.push(Rule::IllegalSearchMove);
                let illegal = only.tokens().find_map(|text| codec.decode(position, text).err());
                found.extend(
                    illegal.map(|error| {
                        Finding::new(Rule::IllegalSearchMove).with(Detail::Move(error))
                    }),
                );
            }
            if go.ponder {
                judged.push(Rule::PonderAfterEnd);
                if position.legal_moves().is_empty() {
                    found.push(Finding::new(Rule::PonderAfterEnd));
                }
            }
        }
        let mover = mover.map(|side: Side| side.color_in(self.dialect()));
        if let Some(own) = mover
            && (go.clocks.white_time.is_some() || go.clocks.black_time.is_some())
        {
            judged.push(Rule::NoOwnClock);
            let time = match own {
                Color::White => go.clocks.white_time,
                Color::Black => go.clocks.black_time,
            };
            found.extend(time.is_none().then(|| Finding::new(Rule::NoOwnClock)));
        }
        self.count(&judged);
        let state = self.observer.protocol_state();
        // It is unknown to which `go` the next answer belongs.
        let is_judged = state.is_searching() && !state.may_owe_more_answers();
        let limit = Self::limit(go, mover);
        self.search = is_judged.then(|| Search {
            since: now,
            ponders: go.ponder,
            limit: limit.filter(|_| !go.ponder),
            clocks: go.clocks,
            move_time: go.move_time,
            reported: [false; 2],
        });
    }

    /// The time in which a search must end.
    fn limit(go: &Go<'_>, mover: Option<Color>) -> Option<Limit> {
        if go.infinite {
            return None;
        }
        if let Some(MateLimit::Time(time)) = go.mate {
            return Some(Limit { time, rule: Rule::MateTimeExceeded });
        }
        Self::limit_of(&go.clocks, go.move_time, mover)
    }

    fn limit_of(
        clocks: &Clocks,
        move_time: Option<Duration>,
        mover: Option<Color>,
    ) -> Option<Limit> {
        let clock = mover.and_then(|color| clocks.of(color)).map(|clock| clock.budget());
        // A side without time has lost in any case.
        let clock = clock.filter(|time| !time.is_zero());
        let clock = clock.map(|time| Limit { time, rule: Rule::ClockExceeded });
        let move_time = move_time.filter(|time| !time.is_zero());
        let move_time = move_time.map(|time| Limit { time, rule: Rule::MoveTimeExceeded });
        clock.into_iter().chain(move_time).min_by_key(|limit| limit.time)
    }

    fn ponder_hit(&mut self, clocks: &Clocks, now: SessionTime) {
        let dialect = self.dialect();
        let mover = self.sent.position().map(|position| position.turn().color_in(dialect));
        let Some(search) = self.search.as_mut().filter(|search| search.ponders) else { return };
        search.since = now;
        let clocks = if clocks.is_empty() { search.clocks } else { *clocks };
        search.limit = Self::limit_of(&clocks, search.move_time, mover);
        self.hit = self.sent.moves().map(|(root, moves)| Hit {
            root: root.clone(),
            moves: moves.map(str::to_owned).collect(),
            answer: None,
        });
    }

    fn variation(&mut self, info: &Info<'_>) -> Option<Finding> {
        let search = self.search.as_mut()?;
        let (pv, board) = (info.pv.as_ref()?, self.sent.board()?);
        let illegal = if search.ponders { Rule::IllegalPonderPv } else { Rule::IllegalPv };
        let fault = board.play(pv.tokens()).err();
        let found = fault.and_then(|fault| {
            let (rule, reported) = match (&fault, &mut search.reported) {
                (PvFault::Illegal(_), [reported, _]) => (illegal, reported),
                (PvFault::BeyondEnd { .. }, [_, reported]) => (Rule::PvBeyondEnd, reported),
            };
            let is_new = !std::mem::replace(reported, true);
            is_new.then(|| Finding::new(rule).with(Detail::Pv(fault)))
        });
        self.count(&[illegal, Rule::PvBeyondEnd]);
        found
    }

    fn answer(&mut self, best: &BestMove<'_>, now: SessionTime, found: &mut Vec<Finding>) {
        let Some(search) = self.search.take() else { return };
        found.extend(self.late(&search, now));
        if let (Some(hit), Best::Move(mv)) = (&mut self.hit, &best.best) {
            hit.answer = Some(mv.as_str().to_owned());
        }
        if self.sent.board().is_some() {
            self.count(&[Rule::IllegalBestMove]);
            let illegal = self.illegal_answer(best);
            found.extend(illegal.map(|detail| Finding::new(Rule::IllegalBestMove).with(detail)));
        }
    }

    fn illegal_answer(&mut self, best: &BestMove<'_>) -> Option<Detail> {
        let (dialect, codec) = (self.dialect(), self.sent.codec()?);
        let position = self.sent.position()?;
        let mv = match &best.best {
            // Without a legal move engines answer in different ways.
            _ if position.legal_moves().is_empty() => return None,
            Best::Resign if dialect == Dialect::Usi => return None,
            Best::Win if position.can_declare() => return None,
            Best::Move(mv) if best.best.to_move().is_some() => mv,
            other => {
                let text = match other {
                    Best::Move(mv) => mv.as_str(),
                    Best::None => dialect.no_move(),
                    Best::Resign => "resign",
                    Best::Win => "win",
                    Best::Other(text) => text,
                };
                return Some(Detail::NoMove(crate::error::shortened(text)));
            }
        };
        let legal = match codec.decode(position, mv.as_str()) {
            Ok(legal) => legal,
            Err(error) => return Some(Detail::Move(error)),
        };
        let ponder = best.ponder?;
        let mut next = position.clone();
        let played: Result<(), MoveError> = next.play(legal);
        let expected = played.and_then(|()| codec.decode(&next, ponder.as_str()));
        expected.err().map(Detail::PonderMove)
    }

    fn late(&mut self, search: &Search, now: SessionTime) -> Option<Finding> {
        let Limit { time, rule } = search.limit?;
        self.count(&[rule]);
        let took = now.saturating_sub(search.since);
        let tolerance =
            if rule == Rule::MateTimeExceeded { MATE_TOLERANCE } else { CLOCK_TOLERANCE };
        let is_late = time.saturating_add(tolerance) < took;
        is_late.then(|| Finding::new(rule).with(Detail::Late { took, limit: time }))
    }
}

const OPTION_RULES: [Rule; 5] = [
    Rule::OptionForm,
    Rule::CheckDefault,
    Rule::SpinRange,
    Rule::ComboDefault,
    Rule::StringDefault,
];

/// The rules for the form of lines, and for options, by the first token.
fn rules_for(by: Party, keyword: &str) -> &'static [Rule] {
    match (by, keyword) {
        (Party::Client, "position") => &[Rule::PositionForm],
        (Party::Client, "go") => &[Rule::GoForm],
        (Party::Client, "setoption") => {
            &[Rule::SetOptionForm, Rule::UndeclaredOption, Rule::InvalidOptionValue]
        }
        (Party::Engine, "info") => &[
            Rule::InfoNumbers,
            Rule::InfoComplete,
            Rule::InfoOnce,
            Rule::InfoMoves,
            Rule::InfoSeldepth,
        ],
        (Party::Engine, "option") => &OPTION_RULES,
        (Party::Engine, "uciok" | "usiok" | "readyok" | "bestmove" | "checkmate") => {
            &[Rule::ReplyForm]
        }
        _ => &[],
    }
}

fn keyword(line: &str) -> &str {
    line.split_ascii_whitespace().next().unwrap_or_default()
}

/// The findings for the diagnostics of a line.
fn form(by: Party, line: &str, diagnostics: &[Diagnostic]) -> Vec<Finding> {
    let first = keyword(line);
    let finding = |Diagnostic { kind, span }: &Diagnostic| {
        let tokens = crate::error::shortened(line.get(span.clone()).unwrap_or_default());
        match Rule::of_form(by, first, *kind) {
            Some(rule) => Finding::new(rule).with(Detail::Form { kind: *kind, tokens }),
            None => Finding::Note { kind: *kind, tokens },
        }
    };
    diagnostics.iter().map(finding).collect()
}

/// Adds violations with their details. A line whose form is wrong is not unknown, too.
fn add(
    found: &mut Vec<Finding>,
    violations: Vec<Violation>,
    detail: impl Fn(Rule) -> Option<Detail>,
) {
    let is_malformed = found.iter().any(|finding| finding.rule().is_some());
    for Violation { rule, .. } in violations {
        if matches!(rule, Rule::UnknownCommand | Rule::UnknownLine) {
            if is_malformed {
                continue;
            }
            found.clear();
        }
        found.push(Finding::Violation { rule, detail: detail(rule) });
    }
}
