//! What a check works with: the engine, as often as it needs one, and what is known about it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use readyok_protocol::{DiagnosticKind, Dialect, Id, OptionDecl, OptionKind, OptionType, Reply};
use readyok_rules::{Game, Position};

use crate::check::{Need, Stop};
use crate::conversation::{Conversation, GameOf};
use crate::pace::Pace;
use crate::subject::{Launch, Subject};
use crate::talk::{Lost, Talk};

/// What an engine has told about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) names: Vec<String>,
    pub(crate) authors: Vec<String>,
    pub(crate) options: Vec<Declared>,
    /// From the start to `uciok` or `usiok`.
    pub(crate) greeting: Duration,
    /// It does not survive `go depth`: what is about something else has to search otherwise.
    pub(crate) ends_at_depth: bool,
}

/// An `option` line.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) decl: OptionDecl<'static>,
    pub(crate) notes: Vec<DiagnosticKind>,
}

/// How often what is drawn by lot is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Searches with random commands in them.
    pub(crate) searches: usize,
    /// Lines of random moves that are searched from.
    pub(crate) lines: usize,
    /// Games in a row of each check that is about long runs; none without being asked.
    pub(crate) soak: Option<usize>,
}

/// The workplace of one check.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) facts: &'a Facts,
    pub(crate) dialect: Dialect,
    pub(crate) pace: Pace,
    pub(crate) seed: u64,
    pub(crate) effort: Effort,
    check: &'static str,
    records: RefCell<Vec<Rc<RefCell<Conversation>>>>,
    remark: RefCell<Option<String>>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        subject: &'a Subject,
        facts: &'a Facts,
        dialect: Dialect,
        pace: Pace,
        seed: u64,
        effort: Effort,
        check: &'static str,
    ) -> Self {
        let (records, remark) = (RefCell::default(), RefCell::default());
        Self { subject, facts, dialect, pace, seed, effort, check, records, remark }
    }

    /// Starts an engine, and says nothing.
    pub(crate) fn start(&self, fair: bool) -> Result<Talk, Stop> {
        self.launch(fair, false)
    }

    /// Starts an engine beside the conversation that is judged, to see what it does otherwise. What is said
    /// there is no part of what is shown, and nobody listens to it.
    pub(crate) fn aside(&self) -> Result<Talk, Stop> {
        let talk = self.provoked()?;
        let mut records = self.records.borrow_mut();
        records.rotate_right(1);
        Ok(talk)
    }

    /// Starts an engine whose error output nobody reads.
    pub(crate) fn start_with_unread_errors(&self) -> Result<Talk, Stop> {
        self.launch(true, true)
    }

    fn launch(&self, fair: bool, deaf_to_errors: bool) -> Result<Talk, Stop> {
        let record = Rc::new(RefCell::new(Conversation::new(self.dialect, fair)));
        self.records.borrow_mut().push(Rc::clone(&record));
        let launch = Launch { check: self.check, deaf_to_errors };
        let talk = Talk::start(self.subject, launch, self.dialect, self.pace, record)?;
        Ok(if self.facts.ends_at_depth { talk.by_the_clock() } else { talk })
    }

    /// Starts an engine and greets it.
    pub(crate) fn greeted(&self) -> Result<Talk, Stop> {
        let mut talk = self.start(true)?;
        greet(&mut talk, self.dialect)?;
        Ok(talk)
    }

    /// Starts an engine, greets it and waits until it is ready.
    pub(crate) fn ready(&self) -> Result<Talk, Stop> {
        let mut talk = self.greeted()?;
        talk.ready()?;
        Ok(talk)
    }

    /// The same, for things that no client may say: such a talk is not listened to by other checks.
    pub(crate) fn provoked(&self) -> Result<Talk, Stop> {
        let mut talk = self.start(false)?;
        greet(&mut talk, self.dialect)?;
        talk.ready()?;
        Ok(talk)
    }

    /// The start position of the game that is played.
    pub(crate) fn game(&self) -> Game {
        self.dialect.game()
    }

    /// The `position` command for a FEN or SFEN.
    pub(crate) fn position(&self, text: &str) -> String {
        format!("position {} {text}", self.dialect.position_keyword())
    }

    /// `position startpos` after moves chosen by lot, and what is reached.
    pub(crate) fn random_game(&self, plies: usize) -> (String, Position) {
        self.random_line(&mut fastrand::Rng::with_seed(self.seed), plies)
    }

    /// The same for one of many.
    pub(crate) fn random_line(
        &self,
        random: &mut fastrand::Rng,
        plies: usize,
    ) -> (String, Position) {
        let mut position = Position::start(self.game());
        let mut words = Vec::new();
        for _ in 0..plies {
            let form = self.game().castling_form();
            let mut moves = position.legal_moves();
            // Where lots are drawn, the order must not depend on the library.
            moves.sort_by_cached_key(|mv| mv.word(form));
            random.shuffle(&mut moves);
            let next = moves.into_iter().find_map(|mv| {
                let mut next = position.clone();
                next.play(mv).ok()?;
                (next.ending().is_none()).then_some((mv, next))
            });
            let Some((mv, next)) = next else { break };
            words.push(mv.word(form));
            position = next;
        }
        let moves = if words.is_empty() { "" } else { " moves " };
        (format!("position startpos{moves}{}", words.join(" ")), position)
    }

    /// An option by its UCI name.
    pub(crate) fn option(&self, name: &str) -> Option<&'a OptionDecl<'static>> {
        let options = self.facts.options.iter().map(|it| &it.decl);
        let mut options = options.filter(|it| self.dialect.same_option(&it.name, name));
        options.next()
    }

    /// `setoption` for an option by its UCI name, in the engine's spelling.
    pub(crate) fn set(&self, name: &str, value: &str) -> String {
        let spelled = self.option(name).map_or(name, |decl| &decl.name);
        format!("setoption name {spelled} value {value}")
    }

    /// Whether the engine has what is needed.
    pub(crate) fn has(&self, need: Need) -> bool {
        match need {
            Need::Process => self.subject.is_process(),
            Need::Option(name) => self.option(name).is_some(),
            Need::Any(kind) => self.facts.options.iter().any(|it| it.decl.kind.word() == kind),
        }
    }

    /// Keeps something for the report that is worth knowing whatever the verdict is.
    pub(crate) fn remark(&self, text: String) {
        *self.remark.borrow_mut() = Some(text);
    }

    /// What was said, and the remark.
    pub(crate) fn finish(self) -> (Vec<Conversation>, Option<String>) {
        let records = self.records.into_inner().into_iter();
        let records = records.map(|it| {
            Rc::try_unwrap(it).map_or_else(|it| it.borrow().clone(), RefCell::into_inner)
        });
        (records.collect(), self.remark.into_inner())
    }
}

/// Says hello and waits for the end of the greeting.
pub(crate) fn greet(talk: &mut Talk, dialect: Dialect) -> Result<Facts, Lost> {
    let mut facts = Facts::default();
    talk.say(dialect.handshake());
    let limit = talk.pace().start();
    let begin = crate::time::now();
    let at = talk.hear(limit, |line| {
        match &line.reply {
            Reply::Id(Id::Name(name)) => facts.names.push(name.clone().into_owned()),
            Reply::Id(Id::Author(author)) => facts.authors.push(author.clone().into_owned()),
            Reply::Option(decl) => {
                let notes = line.notes.clone();
                facts.options.push(Declared { decl: decl.clone(), notes });
            }
            _ => (),
        }
        (line.reply == Reply::UciOk).then_some(line.at)
    })?;
    facts.greeting = at.saturating_duration_since(begin);
    Ok(facts)
}

/// Whether an option costs memory or processors, so that it is not set to whatever it allows.
pub(crate) fn is_costly(decl: &OptionDecl<'_>) -> bool {
    let name = decl.name.to_ascii_lowercase();
    ["hash", "threads", "cache", "memory", "mb"].iter().any(|word| name.contains(word))
        && decl.kind.option_type() == Some(OptionType::Spin)
}

/// How long something took, time and again: the median, the ninth tenth and the longest.
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

/// The smallest and the largest value of a spin option, as far as it tells them.
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
