//! The transcript of a session, and the searches in it.

use std::sync::OnceLock;
use std::time::Duration;

use readyok_protocol::{
    BestMove, Command, DiagnosticKind, Dialect, Go, Info, OptionDecl, OptionKind, Party, Reply,
    Root, Violation,
};
use readyok_rules::{CastlingForm, Game, Position};

/// Maximum number of recorded lines.
const MAX_ENTRIES: usize = 20_000;

/// Marks the end of input.
pub(crate) const INPUT_ENDS: &str = "(the input ends)";

/// A session with an engine, from its start.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    pub(crate) dialect: Dialect,
    /// The client conformed, so that violations of the engine count.
    pub(crate) conforming: bool,
    /// The session ended normally.
    pub(crate) complete: bool,
    closed: bool,
    pub(crate) entries: Vec<Entry>,
    searches: OnceLock<Vec<Search>>,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Time since the start of the engine.
    pub(crate) at: Duration,
    pub(crate) side: Party,
    pub(crate) text: String,
    /// The sent bytes, if they are not the text and a line feed.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) violation: Option<Violation>,
    pub(crate) notes: Vec<DiagnosticKind>,
}

/// Options that affect the output.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent options of the protocol")]
pub(crate) struct Settings {
    pub(crate) lines: u32,
    /// The strength is limited.
    pub(crate) limited: bool,
    pub(crate) wdl: bool,
    pub(crate) current_line: bool,
    pub(crate) refutations: bool,
}

/// A search and its recorded output.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// The start position, if its game is supported.
    pub(crate) position: Option<Position>,
    pub(crate) go: Go<'static>,
    /// Time of `go`.
    pub(crate) begin: Duration,
    pub(crate) settings: Settings,
    /// `info` lines with the indexes of their entries.
    pub(crate) infos: Vec<(usize, Info<'static>)>,
    pub(crate) best: Option<(usize, BestMove<'static>)>,
    /// The client sent `stop`.
    pub(crate) stopped: bool,
}

impl Transcript {
    pub(crate) fn new(dialect: Dialect, conforming: bool) -> Self {
        Self {
            dialect,
            conforming,
            complete: true,
            closed: false,
            entries: Vec::new(),
            searches: OnceLock::new(),
        }
    }

    /// A transcript that may be incomplete.
    pub(crate) fn with_complete(self, complete: bool) -> Self {
        Self { complete, ..self }
    }

    /// The last `go` of the client.
    pub(crate) fn last_go(&self) -> Option<String> {
        let is_go =
            |it: &&Entry| it.side == Party::Client && it.text.trim_start().starts_with("go");
        self.entries.iter().rfind(is_go).map(|it| it.text.trim().to_owned())
    }

    /// Stops recording, because further output belongs to no test.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        if !self.closed && self.entries.len() < MAX_ENTRIES {
            self.entries.push(entry);
        }
    }

    /// The parsed lines of the engine.
    pub(crate) fn replies(&self) -> impl Iterator<Item = (usize, &Entry, Reply<'_>)> {
        let of_engine = self.entries.iter().enumerate().filter(|(_, it)| it.side == Party::Engine);
        of_engine.map(|(at, entry)| (at, entry, Reply::read(&entry.text, self.dialect).value))
    }

    /// The searches in order, without those with an unexpected `go`. Evaluated after the session.
    pub(crate) fn searches(&self) -> &[Search] {
        self.searches.get_or_init(|| self.read_searches())
    }

    fn read_searches(&self) -> Vec<Search> {
        let mut done = Vec::new();
        let mut running: Option<Search> = None;
        let mut game = self.dialect.game();
        let mut position = Some(Position::start(game));
        let mut settings = Settings {
            lines: 1,
            limited: false,
            wdl: false,
            current_line: false,
            refutations: false,
        };
        for (at, entry) in self.entries.iter().enumerate() {
            match entry.side {
                Party::Client => match Command::read(&entry.text, self.dialect).value {
                    Command::SetOption(set) => {
                        let value = set.value.as_deref().unwrap_or_default();
                        let on = value.eq_ignore_ascii_case("true");
                        let is = |name| self.dialect.same_option(&set.name, name);
                        if is("UCI_Chess960") {
                            game = if on { Game::Chess960 } else { Game::Chess };
                        } else if is("MultiPV") {
                            // The effect of an invalid value is undefined.
                            settings.lines = value.parse().unwrap_or(u32::MAX);
                        } else if is("UCI_LimitStrength") || is("USI_LimitStrength") {
                            settings.limited = on;
                        } else if is("UCI_ShowWDL") {
                            settings.wdl = on;
                        } else if is("UCI_ShowCurrLine") {
                            settings.current_line = on;
                        } else if is("UCI_ShowRefutations") {
                            settings.refutations = on;
                        }
                    }
                    Command::Position(it) => position = resolve(&it, game),
                    Command::Go(go) => {
                        running = Some(Search {
                            position: position.clone(),
                            go: go.into_owned(),
                            begin: entry.at,
                            settings,
                            infos: Vec::new(),
                            best: None,
                            stopped: false,
                        });
                    }
                    Command::Stop | Command::GameOver(_) => {
                        if let Some(search) = &mut running {
                            search.stopped = true;
                        }
                    }
                    _ => (),
                },
                Party::Engine => match Reply::read(&entry.text, self.dialect).value {
                    Reply::Info(info) => {
                        if let Some(search) = &mut running {
                            search.infos.push((at, info.into_owned()));
                        }
                    }
                    Reply::BestMove(best) => {
                        if let Some(mut search) = running.take() {
                            search.best = Some((at, best.into_owned()));
                            done.push(search);
                        }
                    }
                    Reply::Option(OptionDecl {
                        name,
                        kind: OptionKind::Check { default: Some(true) },
                    }) if self.dialect.same_option(&name, "UCI_Chess960") => {
                        game = Game::Chess960;
                    }
                    Reply::Checkmate(_) => running = None,
                    _ => (),
                },
            }
        }
        done
    }
}

impl Entry {
    /// A line without violation and diagnostics.
    pub(crate) fn new(at: Duration, side: Party, text: String) -> Self {
        Self { at, side, text, bytes: None, violation: None, notes: Vec::new() }
    }
}

pub(crate) fn resolve(position: &readyok_protocol::Position<'_>, game: Game) -> Option<Position> {
    let start = match &position.root {
        Root::StartPos => Position::start(game),
        Root::Fen(fen) => Position::from_text(game, fen.as_str()).ok()?,
        Root::Sfen(sfen) => Position::from_text(game, sfen.as_str()).ok()?,
    };
    start.after(position.moves.tokens()).ok()
}

/// The game of a dialect.
pub(crate) trait GameOf {
    /// The game of `position startpos`.
    fn game(self) -> Game;
}

impl GameOf for Dialect {
    fn game(self) -> Game {
        match self {
            Self::Uci => Game::Chess,
            Self::Usi => Game::Shogi,
        }
    }
}

/// The required notation of a move, if the engine used another one.
pub(crate) fn canonical_move(position: &Position, token: &str) -> Option<String> {
    let form = position.game().castling_form();
    let form = match position.game() {
        Game::Chess | Game::Shogi => CastlingForm::KingMove,
        Game::Chess960 => form,
    };
    Some(position.parse_move(token).ok()?.to_uci(form))
}
