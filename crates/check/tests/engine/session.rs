//! The session of the engine, with all faults.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use readyok_protocol::{Clocks, Command, Dialect, Go, MateLimit, Root};
use readyok_rules::{FenForm, Game, Position};

use crate::deviations::{self, Memory};
use crate::faults::{Faults, be_busy};
use crate::input::{self, End};
use crate::search::{Line, lines};

/// Maximum reported depth.
const DEEPEST: u32 = 20;

/// Time per depth of a slow engine.
const SLOW: Duration = Duration::from_millis(900);

/// Number of reports of a search.
const TICK: Duration = Duration::from_millis(500);

/// The output is closed, which the engine ignores.
static UNHEARD: AtomicBool = AtomicBool::new(false);

/// Lines end with a carriage return.
static RETURNS: AtomicBool = AtomicBool::new(false);

/// A completed search whose reply is deferred.
struct Waiting {
    answer: String,
    /// Only `stop` or `ponderhit` ends the search.
    held: bool,
    until: Option<Instant>,
    pondering: bool,
    /// The search is pondering.
    hit: bool,
    begin: Instant,
    /// Number of reports so far.
    ticks: u32,
    head: Option<String>,
    go: Go<'static>,
    /// Number of `isready` commands to answer after the search.
    pings: u32,
}

#[expect(clippy::struct_excessive_bools, reason = "independent options of the protocol")]
struct Engine {
    faults: Faults,
    dialect: Dialect,
    handshakes: u32,
    pings: u32,
    chess960: bool,
    multipv: usize,
    threads: u32,
    wdl: bool,
    position: Option<Position>,
    fen: String,
    searches: u32,
    games: u32,
    /// The last command was a new-game command.
    new: bool,
    /// `gameover` arrived while the engine pondered.
    over_pondering: bool,
    stops: u32,
    pondered: bool,
    /// The last command was a `stop` that ended a search.
    stopped: bool,
    /// The option.
    may_ponder: bool,
    /// The move that was played in the current position.
    played: Option<String>,
    /// Leaked memory.
    kept: Vec<Vec<u8>>,
    /// The hash table, which is never used.
    table: Vec<u8>,
    /// Cached results of earlier searches.
    known: HashMap<String, Vec<Line>>,
    /// Moves of the last `position` command.
    plies: usize,
    line: Vec<String>,
    /// The last search was a ponder search that ended at `stop`.
    missed: bool,
    limited: bool,
    has_elo: bool,
    book_off: bool,
    analysing: bool,
    shows_lines: bool,
    /// The last command was a completed search of depth 1.
    fresh: bool,
    waiting: Option<Waiting>,
    memory: Memory,
}

#[expect(clippy::disallowed_methods, reason = "it keeps time as engines do")]
fn now() -> Instant {
    Instant::now()
}

/// Starts the clock of the search after `ponderhit`.
fn waiting_time(waiting: &mut Waiting) {
    waiting.hit = true;
    waiting.held = false;
    waiting.until = waiting.go.move_time.map(|time| now() + time);
}

fn send(text: &str) {
    let rewritten = deviations::output(text);
    let text = rewritten.as_deref().unwrap_or(text);
    let mut out = std::io::stdout().lock();
    let end = if RETURNS.load(Ordering::Relaxed) { '\r' } else { '\n' };
    if out.write_all(format!("{text}{end}").as_bytes()).and_then(|()| out.flush()).is_err()
        && !UNHEARD.load(Ordering::Relaxed)
    {
        exit(9);
    }
}

pub(crate) fn serve(inbox: &Receiver<input::Line>, faults: Faults) {
    let mut engine = Engine {
        faults,
        dialect: Dialect::Uci,
        handshakes: 0,
        pings: 0,
        chess960: false,
        multipv: 1,
        threads: 1,
        wdl: false,
        position: None,
        fen: String::new(),
        searches: 0,
        games: 0,
        new: false,
        over_pondering: false,
        stops: 0,
        pondered: false,
        stopped: false,
        may_ponder: false,
        played: None,
        kept: Vec::new(),
        table: vec![0; 16 << 20],
        known: HashMap::new(),
        plies: 0,
        line: Vec::new(),
        missed: false,
        limited: false,
        has_elo: false,
        book_off: false,
        analysing: false,
        shows_lines: false,
        fresh: false,
        waiting: None,
        memory: Memory::new(),
    };
    UNHEARD.store(engine.breaks("exit.closed-output"), Ordering::Relaxed);
    if engine.breaks("defect.unprompted-handshake") {
        std::thread::sleep(Duration::from_millis(400));
        engine.handshake(inbox);
        engine.handshakes = 0;
    }
    if engine.breaks("handshake.waits") {
        send("option name Early type button");
    }
    loop {
        let until = engine.waiting.as_ref().filter(|it| !it.held).and_then(|it| it.until);
        let tick = engine.waiting.as_ref().map(|it| it.begin + TICK * (it.ticks + 1));
        let next = until.into_iter().chain(tick).min();
        let line = match next {
            Some(until) => inbox.recv_timeout(until.saturating_duration_since(now())),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match line {
            Ok(line) => engine.handle_line(&line, inbox),
            Err(RecvTimeoutError::Timeout) if until.is_some_and(|until| until <= now()) => {
                engine.finish();
            }
            Err(RecvTimeoutError::Timeout) => engine.tick(),
            Err(RecvTimeoutError::Disconnected) => {
                let kept =
                    if engine.waiting.is_some() { "exit.eof.searching" } else { "exit.eof.idle" };
                if engine.breaks(kept) || engine.breaks("defect.ignores-eof") {
                    loop {
                        std::thread::park();
                    }
                }
                return;
            }
        }
    }
}

impl Engine {
    fn breaks(&self, id: &str) -> bool {
        self.faults.breaks(id)
    }

    /// Exits if this is the fault.
    fn exits_if(&self, id: &str) {
        if self.breaks(id) {
            exit(7);
        }
    }

    fn handle_line(&mut self, line: &input::Line, inbox: &Receiver<input::Line>) {
        let rewritten = deviations::input(&line.text);
        let mut text = rewritten.as_deref().unwrap_or(&line.text);
        if 4096 < text.len() && self.breaks("defect.short-buffer") {
            text = text.get(..4096).unwrap_or_default();
        }
        let is_ignored = (line.end == End::Nothing && self.breaks("lexical.last-line"))
            || (line.end == End::Both && self.breaks("lexical.crlf"))
            || (line.end == End::Return && self.breaks("lexical.lone-cr"))
            || (text.contains("  ") && self.breaks("lexical.spaces"))
            || (text.contains('\t') && self.breaks("lexical.tabs"))
            || (text == "isready joho" && self.breaks("lexical.trailing-tokens"))
            || (text.starts_with("joho ") && self.breaks("lexical.leading-token"));
        if is_ignored {
            return;
        }
        if (text.contains("  ") || text.contains('\t') || text.starts_with(' '))
            && self.breaks("defect.splits-at-single-spaces")
        {
            return;
        }
        if text.contains('\u{fffd}') {
            self.exits_if("lexical.undecodable");
        }
        if 1500 < text.len() {
            self.exits_if("lexical.long-line");
        }
        if text.trim_end() == "position startpos moves" {
            self.exits_if("positions.startpos");
        }
        if text.contains(" moves") && text.trim_end().ends_with(" moves") && text.contains("fen ") {
            self.exits_if("defect.exits-at-empty-moves-after-fen");
        }
        if text.is_empty() {
            self.exits_if("lexical.empty-lines");
        }
        for dialect in Dialect::ALL {
            if text.trim() == dialect.handshake() {
                self.dialect = dialect;
            }
        }
        let command = Command::read(text, self.dialect).value.into_owned();
        let fresh = std::mem::take(&mut self.fresh);
        let stopped = std::mem::take(&mut self.stopped);
        match command {
            Command::Uci => self.handshake(inbox),
            Command::IsReady => self.ready(fresh, inbox),
            Command::SetOption(set) => {
                self.set(&set.name, set.value.as_deref());
            }
            Command::NewGame => {
                if std::mem::take(&mut self.over_pondering) {
                    self.exits_if("usi.game-over");
                }
                self.new_game();
                if self.games == 3 && self.searches == 3 {
                    self.exits_if("search.new-game");
                }
                if self.breaks("handshake.ready-once") {
                    send("readyok");
                }
            }
            Command::Position(mut position) => {
                if self.breaks("defect.ignores-moves") {
                    position.moves = readyok_protocol::MoveList::default();
                }
                if self.breaks("defect.ignores-fen") {
                    position.root = Root::StartPos;
                }
                self.place(&position);
            }
            Command::Go(go) => self.go(go, text),
            Command::Stop => self.stop(stopped, inbox),
            Command::PonderHit(clocks) => self.ponder_hit(clocks),
            Command::GameOver(result) => {
                match result {
                    readyok_protocol::GameResult::Draw => self.exits_if("defect.exits-at-draw"),
                    readyok_protocol::GameResult::Lose => self.exits_if("defect.exits-at-loss"),
                    readyok_protocol::GameResult::Win => (),
                }
                if self.breaks("defect.readyok-at-game-over") {
                    send("readyok");
                }
                if self.waiting.is_none() && self.searches == 0 && self.breaks("usi.idle-game-over")
                {
                    send("bestmove resign");
                }
                let pondering = self.waiting.as_ref().is_some_and(|it| it.pondering);
                self.over_pondering = pondering;
                if pondering && self.breaks("usi.game-over-stops") {
                    self.waiting = None;
                }
                self.answer();
            }
            Command::Debug(on) => {
                if on {
                    self.exits_if("search.debug");
                }
            }
            Command::Register(_) => {
                self.exits_if("search.register");
                if text.contains("code") {
                    self.exits_if("defect.exits-at-registration");
                }
            }
            Command::Quit => self.quit(),
            Command::Unknown(text) => {
                if !text.is_empty() && self.handshakes == 0 {
                    self.exits_if("lexical.before-handshake");
                }
                if !text.is_empty() {
                    self.exits_if("defect.exits-at-unknown-command");
                    if self.breaks("defect.comments-unknown-commands") {
                        send(&format!("Unknown command: {text}"));
                    }
                }
                if text.starts_with("xyzzy") {
                    self.exits_if("lexical.unknown-command");
                }
                if text.starts_with("position") {
                    self.exits_if("positions.malformed");
                }
            }
        }
    }

    fn new_game(&mut self) {
        self.games += 1;
        self.new = true;
        self.memory.is_new = true;
        if self.waiting.is_some() {
            self.exits_if("state.new-game-in-search");
        }
        if self.breaks("state.options-persist") {
            self.multipv = 1;
        }
        if self.breaks("soak.memory") {
            self.kept.push(vec![1; 4 << 20]);
        }
        if self.breaks("soak.threads") {
            std::thread::spawn(std::thread::park);
        }
    }

    /// Discards the lines that have arrived.
    fn discard_lines(inbox: &Receiver<input::Line>) {
        while inbox.recv_timeout(Duration::from_millis(20)).is_ok() {}
    }

    fn handshake(&mut self, inbox: &Receiver<input::Line>) {
        self.handshakes += 1;
        if 1 < self.handshakes {
            self.exits_if("handshake.second-uci");
        }
        if self.breaks("handshake.quick") {
            std::thread::park_timeout(Duration::from_secs(3));
        }
        if self.breaks("handshake.id-first") {
            send("option name Early type button");
        }
        if !self.breaks("handshake.name") {
            send("id name Obedient 1.0");
        }
        if self.breaks("defect.two-names") {
            send("id name Obedient");
        }
        if !self.breaks("handshake.author") && !self.breaks("defect.no-author") {
            send("id author Readyok");
        }
        let uci = self.dialect == Dialect::Uci;
        let hash = if uci { "Hash" } else { "USI_Hash" };
        if !self.breaks("options.hash-offered") {
            let usual = if self.breaks("options.hash-default") { 1024 } else { 16 };
            send(&format!("option name {hash} type spin default {usual} min 1 max 1024"));
        }
        let prefix = if uci { "UCI_" } else { "USI_" };
        for name in ["AnalyseMode", "ShowCurrLine", "ShowRefutations"] {
            let on = name == "ShowCurrLine" && self.breaks("options.off-by-default");
            send(&format!("option name {prefix}{name} type check default {on}"));
        }
        send(&format!("option name {prefix}Opponent type string default <empty>"));
        let book = if uci { "OwnBook" } else { "USI_OwnBook" };
        send(&format!("option name {book} type check default true"));
        send("option name Threads type spin default 1 min 1 max 4");
        let multipv = if self.breaks("options.multipv-default") { 2 } else { 1 };
        if self.breaks("defect.multipv-as-check") {
            send("option name MultiPV type check default false");
        } else {
            send(&format!("option name MultiPV type spin default {multipv} min 1 max 10"));
        }
        let risky = match () {
            () if self.breaks("usi.translation") => "",
            () if self.breaks("defect.choices-with-spaces") => " var Very Risky",
            () => " var Risky",
        };
        send(&format!("option name Style type combo default Solid var Solid var Normal{risky}"));
        if uci {
            send("option name Clear Hash type button");
            if self.breaks("defect.about-as-check") {
                send("option name UCI_EngineAbout type check default true");
            }
            send("option name UCI_Chess960 type check default false");
            send("option name UCI_ShowWDL type check default false");
            send("option name UCI_LimitStrength type check default false");
            if !self.breaks("options.elo-with-limit") {
                send("option name UCI_Elo type spin default 1500 min 1000 max 2000");
            }
        } else {
            send("option name Clear_Hash type button");
        }
        let fixed = self.breaks("options.fixed-types");
        if uci && fixed {
            send("option name Ponder type string default <empty>");
        } else if uci && !self.breaks("defect.ponder-not-declared") {
            let default = if self.breaks("defect.capital-default") { "False" } else { "false" };
            send(&format!("option name Ponder type check default {default}"));
        }
        send(
            "option name Book File type string default <empty>"
                .replace("Book File", if uci { "Book File" } else { "BookFile" })
                .as_str(),
        );
        for (id, line) in [
            ("options.readable", "option name Bad type slider default 1"),
            ("options.check-default", "option name Bad type check"),
            ("options.spin-range", "option name Bad type spin default 5 min 10 max 20"),
            ("options.combo-default", "option name Bad type combo default Z var A var B"),
            ("options.string-default", "option name Bad type string"),
            ("options.button-plain", "option name Bad type button default 1"),
            ("options.distinct-choices", "option name Bad type combo default A var A var a var B"),
            ("options.distinct-names", "option name STYLE type check default true"),
            ("options.plain-names", "option name Bad value type check default true"),
            ("options.no-spaces", "option name Bad Thing type check default true"),
            ("options.usi-prefix", "option name Ponder type check default true"),
            ("handshake.early-status", "copyprotection checking"),
            ("defect.spin-without-range", "option name Contempt type spin default 0"),
            ("defect.number-as-check-default", "option name Fast type check default 0"),
            ("defect.option-without-type", "option name Fast"),
        ] {
            if self.breaks(id) {
                send(line);
            }
        }
        if self.handshakes == 1 && self.breaks("lexical.batch") {
            Self::discard_lines(inbox);
        }
        if self.breaks("defect.text-after-handshake") {
            send(&format!("{} Obedient", self.dialect.handshake_ok()));
        } else {
            send(self.dialect.handshake_ok());
        }
    }

    fn ready(&mut self, fresh: bool, inbox: &Receiver<input::Line>) {
        self.new = false;
        if self.breaks("defect.no-readyok") {
            return;
        }
        self.pings += 1;
        let pondering = |it: &Waiting| it.pondering && it.go.clocks.white_time == Some(61_000);
        if self.waiting.as_ref().is_some_and(pondering)
            && self.breaks("state.ready-while-pondering")
        {
            return;
        }
        if fresh && self.breaks("handshake.ready") {
            return;
        }
        if self.breaks("handshake.ready-each") && 1 < self.pings && self.searches == 0 {
            // Everything of the same write is discarded.
            while inbox
                .recv_timeout(Duration::from_millis(20))
                .is_ok_and(|line| line.text == "isready")
            {}
        }
        for (id, line) in [
            ("handshake.late-declaration", "option name Late type button"),
            ("handshake.ok-once", self.dialect.handshake_ok()),
            ("handshake.known-messages", "Good morning"),
            ("handshake.ascii", "info string na\u{ef}ve"),
            ("handshake.text", "info string a\u{1b}[2Jb"),
        ] {
            if self.pings == 2 && self.breaks(id) {
                send(line);
            }
        }
        if self.pings == 3 {
            for (id, token) in [
                ("handshake.copy-protection", "copyprotection"),
                ("handshake.registration", "registration"),
            ] {
                if !self.breaks(id) {
                    send(&format!("{token} checking"));
                }
                send(&format!("{token} ok"));
            }
        }
        let is_ignored = self.breaks("search.ready") || self.breaks("defect.no-readyok-in-search");
        if let Some(waiting) = &mut self.waiting
            && self.faults.breaks("defect.isready-stops-later")
        {
            waiting.held = false;
            waiting.until = Some(now() + Duration::from_millis(60));
        }
        let endless = self.waiting.as_ref().is_some_and(|it| it.go.infinite);
        if endless && self.breaks("defect.isready-stops") {
            self.answer();
        }
        let is_numbered = self.fen.ends_with(" 7 9") || self.fen.ends_with(" 41");
        if is_numbered && self.breaks("state.position-kept")
            || self.breaks("defect.forgets-position-at-isready")
        {
            self.position = None;
        }
        if self.breaks("defect.describes-itself") {
            send("info string evaluation: network of 2 layers");
        }
        let has_text = self.breaks("defect.text-after-readyok");
        if self.breaks("defect.isready-resets-options") {
            self.multipv = 1;
        }
        if self.waiting.is_some() && self.breaks("defect.late-readyok-in-search") {
            std::thread::sleep(deviations::NOTICEABLE);
        }
        match &mut self.waiting {
            Some(waiting) if is_ignored => waiting.pings += 1,
            _ => send(if has_text { "readyok 1" } else { "readyok" }),
        }
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        if self.breaks("defect.names-without-spaces") {
            let first = name.split(' ').next().unwrap_or_default();
            if name.contains(' ') {
                send(&format!("info string unknown option {first}"));
                return;
            }
        }
        if name == "Style" && self.breaks("defect.warns-about-options") {
            send("info string setting Style failed: option not found");
        }
        self.memory.sets += 1;
        let is_late = 1 < self.memory.sets && self.breaks("defect.first-setoption-only")
            || 0 < self.searches && self.breaks("defect.options-only-before-search");
        if is_late {
            return;
        }
        if name == "Style" && value == Some("sOLID") {
            self.exits_if("options.choice-ignores-case");
        }
        if value == Some("abc") {
            self.exits_if("options.invalid-values");
        }
        if (name == "No Such Option" || name == "Style") && self.breaks("options.settable") {
            send(&format!("info string no such option: {name}"));
        }
        if self.waiting.is_some() {
            self.exits_if("state.option-in-search");
        }
        self.exits_if("defect.exits-at-setoption");
        let number = value.and_then(|value| value.parse::<u32>().ok());
        let on = value.is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let dialect = self.dialect;
        let is = |option: &str| dialect.same_option(name, option);
        if is("MultiPV") && self.pings == 0 && self.breaks("options.before-ready") {
            return;
        }
        if name.starts_with("Book") && value.is_none_or(str::is_empty) {
            self.exits_if("options.empty-string");
        }
        if is("UCI_Opponent") && value.is_some_and(|value| value.contains(' ')) {
            self.exits_if("options.opponent");
        }
        for (option, field) in [
            ("UCI_LimitStrength", &mut self.limited),
            ("UCI_AnalyseMode", &mut self.analysing),
            ("UCI_ShowCurrLine", &mut self.shows_lines),
        ] {
            if is(option) {
                *field = on;
            }
        }
        if is("OwnBook") {
            self.book_off = !on;
        }
        self.has_elo |= is("UCI_Elo");
        let same = |option: &str| {
            is(option) && (name == option || !self.breaks("options.name-ignores-case"))
        };
        if same("Clear Hash") {
            self.exits_if("options.button");
        } else if same("MultiPV") {
            let before =
                if self.breaks("defect.multipv-never-decreases") { self.multipv } else { 1 };
            let number = number.map_or(self.multipv, |it| it.clamp(1, 10) as usize);
            self.multipv = number.max(before);
        } else if same("Threads") {
            self.threads = number.unwrap_or(self.threads);
        } else if same("UCI_Chess960") {
            self.chess960 = self.chess960 && self.breaks("defect.chess960-stays-on")
                || on && (value == Some("true") || !self.breaks("options.value-ignores-case"));
        } else if same("UCI_ShowWDL") {
            self.wdl = on;
        } else if same("Style") && value == Some("Risky") {
            self.exits_if("options.every-value");
        } else if same("Hash") {
            if let Some(megabytes) = number.filter(|_| !self.breaks("resources.hash-follows")) {
                let shift = if self.breaks("defect.hash-in-kilobytes") { 10 } else { 20 };
                self.table = vec![0; (megabytes as usize) << shift];
            }
            match number {
                Some(17) => self.exits_if("resources.hash-resize"),
                Some(64) if self.breaks("resources.hash-memory") => {
                    self.kept.push(vec![1; 200 << 20]);
                }
                _ => (),
            }
        } else if same("Ponder") {
            self.may_ponder = on;
        }
        if name == "USI_Ponder" {
            self.exits_if("usi.undeclared-options");
        }
    }

    fn game(&self) -> Game {
        match self.dialect {
            Dialect::Uci if self.chess960 => Game::Chess960,
            Dialect::Uci => Game::Chess,
            Dialect::Usi => Game::Shogi,
        }
    }

    fn place(&mut self, position: &readyok_protocol::Position<'_>) {
        if self.waiting.is_some() && self.breaks("defect.position-stops") {
            self.answer();
        }
        if position.root == Root::StartPos
            && position.moves.is_empty()
            && 0 < self.plies
            && self.breaks("defect.bare-startpos-keeps-moves")
        {
            return;
        }
        if std::mem::take(&mut self.missed)
            && self.breaks("defect.keeps-position-after-ponder-miss")
        {
            return;
        }
        if self.breaks("defect.thinks-after-position") {
            be_busy();
        }
        let line: Vec<String> = position.moves.tokens().map(str::to_owned).collect();
        let is_other = !line.starts_with(&self.line);
        if is_other && !self.memory.is_new && self.breaks("defect.needs-new-game") {
            return;
        }
        let is_earlier = position.root == Root::StartPos
            && !line.is_empty()
            && line.len() < self.line.len()
            && self.line.starts_with(&line);
        if is_earlier && self.breaks("defect.no-takeback") {
            return;
        }
        self.line = line;
        if self.waiting.is_some() {
            self.exits_if("state.position-in-search");
        }
        if std::mem::take(&mut self.new) && self.breaks("state.new-game-unready") {
            return;
        }
        self.played = None;
        let game = self.game();
        let (text, start) = match &position.root {
            Root::StartPos => (String::new(), Ok(Position::start(game))),
            Root::Fen(fen) => (fen.as_str().to_owned(), Position::from_text(game, fen.as_str())),
            Root::Sfen(sfen) => {
                let mut text = sfen.as_str().to_owned();
                if self.breaks("defect.no-promoted-pieces") {
                    text = text.replace('+', "");
                }
                if self.breaks("defect.one-piece-in-hand") {
                    let mut fields: Vec<String> = text.split(' ').map(str::to_owned).collect();
                    if let Some(hands) = fields.get_mut(2) {
                        hands.retain(|c| !c.is_ascii_digit());
                    }
                    text = fields.join(" ");
                }
                let read = Position::from_text(game, &text);
                (text, read)
            }
        };
        let count = position.moves.len();
        let has = |token: &str| position.moves.tokens().any(|it| it == token);
        let fields = text.split(' ').count();
        if position.root == Root::StartPos && count == 31 && self.searches == 5 {
            self.exits_if("positions.random-game");
        }
        if position.root == Root::StartPos && 20 <= count && self.searches == 4 {
            self.exits_if("positions.random-lines");
        }
        if text.ends_with(" 213") {
            self.exits_if("positions.counters");
        }
        if count == 1 && fields == 6 && text.contains(" b ") {
            self.exits_if("positions.fen-sfen");
        }
        if has("a7a8n") {
            self.exits_if("positions.special-moves");
        }
        if has("B*4e") {
            self.exits_if("positions.shogi-moves");
        }
        match fields {
            3 => self.exits_if("positions.short-sfen"),
            4 if self.dialect == Dialect::Uci => self.exits_if("positions.short-fen"),
            _ => (),
        }
        let Ok(start) = start else {
            self.exits_if("positions.malformed");
            return;
        };
        let known = match &self.position {
            Some(reached)
                if 0 < self.plies
                    && self.plies < count
                    && self.fen == text
                    && self.breaks("defect.appends-moves") =>
            {
                Some(reached.clone().after(position.moves.tokens().skip(self.plies)))
            }
            _ => None,
        };
        match known.unwrap_or_else(|| start.after(position.moves.tokens())) {
            Ok(reached) => self.position = Some(reached),
            Err(_) => self.exits_if("positions.illegal-move"),
        }
        self.fen = text;
        self.plies = count;
    }

    /// Applies a defect that affects every search. Returns whether the search is dropped.
    fn degrade(&mut self, go: &mut Go<'static>) -> bool {
        let unlimited = |go: &Go<'_>| {
            go.depth.is_none()
                && go.nodes.is_none()
                && go.move_time.is_none()
                && go.clocks.is_empty()
        };
        let ponder = go.ponder;
        for (name, used) in [
            ("go", true),
            ("depth", go.depth.is_some()),
            ("nodes", go.nodes.is_some()),
            ("movetime", go.move_time.is_some()),
            ("clock", !go.clocks.is_empty() && !ponder),
            ("infinite", go.infinite),
            ("ponder", ponder),
            ("searchmoves", go.search_moves.is_some()),
        ] {
            if used {
                self.exits_if(&format!("defect.exits-at-{name}"));
            }
        }
        if self.breaks("defect.silent-at-go") {
            return true;
        }
        if self.breaks("defect.floods-at-go") {
            loop {
                send("info depth 1 nodes 1");
            }
        }
        if !ponder {
            let limited = !unlimited(go);
            if self.breaks("defect.ignores-depth") {
                go.depth = None;
            }
            if self.breaks("defect.ignores-nodes") {
                go.nodes = None;
            }
            if self.breaks("defect.ignores-movetime") {
                go.move_time = None;
            }
            if self.breaks("defect.ignores-clock") {
                go.clocks = Clocks::default();
            }
            go.infinite |= limited && unlimited(go);
        }
        if go.infinite && self.breaks("defect.infinite-without-searchmoves") {
            go.search_moves = None;
        }
        if go.search_moves.is_some()
            && (self.breaks("defect.ignores-searchmoves")
                || self.breaks("defect.castling-takes-rook"))
        {
            go.search_moves = None;
        }
        if ponder
            && (self.breaks("defect.ponder-not-declared")
                || self.breaks("defect.ponder-like-search"))
        {
            go.ponder = false;
        }
        false
    }

    fn go(&mut self, mut go: Go<'static>, text: &str) {
        self.memory.influence(&self.faults, &mut go);
        if self.degrade(&mut go) {
            return;
        }
        if self.waiting.is_some() {
            self.exits_if("state.second-go");
            return;
        }
        self.searches += 1;
        if self.position.is_none() {
            self.exits_if("search.without-position");
        }
        if go.depth == Some(0) {
            self.exits_if("limits.zero");
        }
        if go.clocks.moves_to_go == Some(0) {
            self.exits_if("defect.exits-at-movestogo-zero");
        }
        if text.trim() == "go" {
            self.exits_if("limits.none");
        }
        if go.nodes.is_some_and(|it| 1_000_000_000_000_000 < it) {
            self.exits_if("limits.large");
        }
        if go.depth == Some(4) && self.breaks("resources.undrained-stderr") {
            // It blocks if the output is not read.
            let _ = std::io::stderr().write_all(&vec![b'x'; 1 << 18]);
        }
        if !go.unknown.is_empty() && self.breaks("lexical.unknown-token-in-go") {
            return;
        }
        let mut position = self.position.clone().unwrap_or_else(|| Position::start(self.game()));
        if let Some(played) = self.played.take()
            && self.breaks("state.same-position")
            && let Ok(next) = position.clone().after([played])
        {
            position = next;
        }
        let form = self.game().castling_form();
        let mut wanted: Vec<String> = go
            .search_moves
            .iter()
            .flat_map(readyok_protocol::MoveList::tokens)
            .filter_map(|token| Some(position.parse_move(token).ok()?.to_uci(form)))
            .collect();
        if go.depth == Some(2) && !wanted.is_empty() && self.breaks("search.searchmoves") {
            wanted.clear();
        }
        if self.breaks("defect.first-searchmove-only") {
            wanted.truncate(1);
        }
        if self.breaks("defect.last-searchmove-only") {
            wanted.drain(..wanted.len().saturating_sub(1));
        }
        let unknown_move = [
            ("positions.en-passant", "b4a3"),
            ("defect.no-en-passant-for-white", "a5b6"),
            ("positions.promotions", "a7a8n"),
            ("positions.double-frc", "d8b8"),
            ("positions.shogi-promotions", "P*5e"),
        ]
        .into_iter()
        .find(|(id, token)| wanted.as_slice() == [*token] && self.breaks(id));
        if unknown_move.is_some() {
            wanted.clear();
        }
        let one_mate = go.depth.is_some_and(|depth| depth < 3);
        let plies = if one_mate { 1 } else { 3 };
        let before = self.plies;
        let fen = position.text(FenForm::XFen);
        let key = format!("{plies} {before} {fen} {}", wanted.join(" "));
        let mut found =
            self.known.entry(key).or_insert_with(|| lines(&position, &wanted, form, plies)).clone();
        if 1 < self.multipv && !wanted.is_empty() && self.breaks("search.searchmoves-lines") {
            let others = lines(&position, &[], form, plies).into_iter();
            found.extend(
                others.filter(|it| it.moves.first().is_some_and(|mv| !wanted.contains(mv))),
            );
        }
        self.played = found.first().and_then(|line| line.moves.first()).cloned();
        if let Some((_, token)) = unknown_move {
            found.retain(|line| line.moves.first().is_none_or(|it| it != token));
        }
        if self.breaks_score(&go) {
            for line in &mut found {
                line.cp += 1;
            }
        }
        if found.iter().any(|line| line.drawn) && self.breaks("scores.repetition") {
            for line in &mut found {
                line.cp = -500;
            }
        }
        let head = found.first().and_then(|line| line.moves.first()).cloned();
        if let Some(head) = head.as_ref().filter(|_| go.ponder && self.breaks("info.ponder-pv")) {
            send(&format!("info depth 1 score cp 3 pv {head} {head}"));
        }
        let booked = self.book_off
            && go.move_time == Some(Duration::from_millis(150))
            && self.breaks("options.own-book-off");
        let reported = !booked && self.report(&position, &go, &found);
        let answer = self.bestmove(&position, &go, &found, reported);
        self.pondered |= go.ponder;
        let mates = found.first().is_some_and(|line| line.mate == Some(1));
        let mut held = go.ponder || go.infinite && !self.breaks("defect.ends-infinite");
        if mates && go.infinite && self.breaks("search.infinite")
            || mates && go.ponder && self.breaks("search.ponder.holds-bestmove")
            || go.ponder
                && go.clocks.white_time == Some(60)
                && self.breaks("search.no-early-bestmove")
        {
            held = false;
        }
        if go.ponder && go.nodes == Some(2) && self.breaks("limits.ponder") {
            held = false;
        }
        let mut time = go.move_time;
        if let Some(long) = self.late_move(&position, &go) {
            time = Some(long);
        }
        if go.clocks.white_time == Some(400)
            && go.clocks.moves_to_go.is_none()
            && self.breaks("limits.low-time")
        {
            time = Some(Duration::from_secs(4));
        }
        let is_game = go.clocks.white_increment == Some(25) || go.clocks.byoyomi == Some(250);
        if is_game && !go.ponder && self.plies == 6 && self.breaks("limits.game") {
            time = Some(Duration::from_secs(4));
        }
        if go.clocks.byoyomi == Some(300) && self.breaks("usi.byoyomi-time") {
            time = Some(Duration::from_secs(4));
        }
        if booked {
            time = None;
        }
        if mates && go.infinite && self.breaks("info.flood") {
            for _ in 0..2000 {
                send("info depth 8 nodes 80 time 8");
            }
        }
        if go.depth == Some(3)
            && self.searches == 1
            && self.multipv == 1
            && self.breaks("resources.idle")
            || self.may_ponder && self.breaks("resources.no-own-ponder")
        {
            be_busy();
        }
        let done = go.depth.is_some_and(|depth| depth <= DEEPEST)
            || go.nodes.is_some_and(|it| it < 1_000_000);
        let ignores_depth = done && time.is_some() && self.breaks("search.any-order");
        let early = time.is_some() && self.breaks("search.movetime.uses");
        let until = match time {
            Some(time) if !done && !early || ignores_depth => Some(now() + time),
            _ => None,
        };
        let finds_mate = found.iter().any(|it| it.mate.is_some());
        if self.never_ends(&go, text)
            || go.mate.is_some() && !finds_mate && self.breaks("defect.endless-mate-search")
        {
            held = true;
        }
        let by_depth = !held && go.move_time.is_none();
        let slow = go.depth.filter(|_| by_depth && self.breaks("defect.slow"));
        let mut until = slow.map_or(until, |depth| Some(now() + SLOW * depth));
        if go.infinite && self.breaks("defect.infinite-ends-later") {
            held = false;
            until = Some(now() + deviations::ENDS_LATER);
        }
        self.waiting = Some(Waiting {
            answer,
            held,
            until,
            pondering: go.ponder,
            hit: false,
            begin: now(),
            ticks: 0,
            head,
            go,
            pings: 0,
        });
        if !held && until.is_none() {
            self.answer();
        }
    }

    /// The time of a search with clocks that a defect extends.
    fn late_move(&self, position: &Position, go: &Go<'_>) -> Option<Duration> {
        let clocks = &go.clocks;
        let long = Some(Duration::from_secs(3));
        if go.ponder || clocks.is_empty() {
            return None;
        }
        if clocks.white_increment.is_some() && self.breaks("defect.late-with-increment")
            || clocks.black_time.is_none() && self.breaks("defect.late-with-one-clock")
            || clocks.moves_to_go == Some(1) && self.breaks("defect.late-before-control")
        {
            return long;
        }
        if clocks.byoyomi.is_some() && self.breaks("defect.late-in-byoyomi") {
            let byoyomi = u64::try_from(clocks.byoyomi?).ok()?;
            return Some(Duration::from_millis(byoyomi + 222));
        }
        if self.breaks("defect.swapped-clocks") {
            let first_is_white = self.dialect == Dialect::Uci;
            let first = position.turn() == readyok_rules::Side::First;
            let own = if first == first_is_white { clocks.black_time } else { clocks.white_time };
            return Some(Duration::from_millis(u64::try_from(own?).ok()? / 40));
        }
        None
    }

    /// Whether a finite search never ends because of the fault.
    fn never_ends(&self, go: &Go<'_>, text: &str) -> bool {
        let is = |part: &str| text.contains(part);
        [
            ("search.completes", self.multipv == 3 && go.depth == Some(3)),
            ("search.movetime.ends", is("movetime 300")),
            ("search.clock", is("btime 100000")),
            ("search.clock-over", text.trim() == "go wtime 0 btime 0"),
            ("search.moves-to-go", is("movestogo 1")),
            ("search.searchmoves-first", is("searchmoves") && text.trim_end().ends_with("depth 2")),
            ("search.mate", go.mate.is_some()),
            ("defect.no-mate-in-two", go.mate == Some(MateLimit::Moves(2))),
            ("search.every-thread-count", self.threads == 4),
            ("search.interleavings", 20 < self.searches && text.trim() == "go movetime 1"),
            ("options.limit-strength", self.limited && go.depth == Some(4)),
            ("options.analyse-mode", self.analysing && go.depth == Some(3)),
            ("usi.new-game-order", go.clocks.white_time == Some(900) && self.games == 2),
            ("usi.clocks", is("binc 150")),
            ("usi.mate-time", is("mate 300")),
            ("usi.mate-infinite", is("mate infinite")),
            ("usi.byoyomi", is("byoyomi 200")),
            ("soak.replies", self.searches == 150),
        ]
        .into_iter()
        .any(|(id, here)| here && self.breaks(id))
    }

    /// Reports the search. Returns whether there was a report.
    fn report(&mut self, position: &Position, go: &Go<'_>, found: &[Line]) -> bool {
        if go.depth == Some(5) && self.breaks("info.before-bestmove") {
            return false;
        }
        let mut deepest = go.depth.unwrap_or(8).clamp(1, DEEPEST);
        if self.breaks("defect.slow") {
            deepest = 1;
        }
        let is_forced = found.len() == 1;
        if self.breaks("defect.reports-nothing")
            || is_forced && self.breaks("defect.no-info-of-forced-move")
        {
            return false;
        }
        if go.nodes.is_some() && !go.ponder {
            self.report_faults(found);
        }
        if go.depth == Some(7)
            && found.iter().any(|line| line.mate == Some(3))
            && self.breaks("scores.mate-distance")
        {
            send("info depth 7 score mate 1");
        }
        if go.depth == Some(4) && self.breaks("search.depth") {
            deepest = 3;
        }
        let mut nodes = 0;
        for depth in 1..=deepest {
            let mut shown: Vec<_> = found.iter().enumerate().take(self.multipv).collect();
            if let ([only], 3) = (shown.as_slice(), self.multipv)
                && self.breaks("info.multipv-forced")
            {
                shown.push((1, only.1));
            }
            if 2 < shown.len() && depth == 2 && self.breaks("info.multipv-order") {
                shown.swap(0, 1);
            }
            for (at, line) in shown {
                nodes += 10;
                let number = if self.breaks("defect.multipv-from-zero") { at } else { at + 1 };
                if number == 3 && self.breaks("info.multipv") {
                    continue;
                }
                let score = self.score(position, go, line);
                let wdl = match self.wdl {
                    true if self.breaks("info.wdl") => " wdl 300 300 300",
                    true if 300 < line.cp && self.breaks("scores.wdl-side") => " wdl 100 100 800",
                    true => " wdl 300 400 300",
                    false => "",
                };
                let reported =
                    if go.nodes.is_some() && self.breaks("search.nodes") { 500_000 } else { nodes };
                let mut moves = line.moves.clone();
                if line.mate == Some(3) && self.breaks("info.mate-pv") {
                    moves.truncate(1);
                }
                send(&format!(
                    "info depth {depth} seldepth {depth} multipv {number} score {score}{wdl} nodes {reported} \
                     nps 1000 hashfull 10 time {depth} pv {}",
                    moves.join(" ")
                ));
            }
        }
        if found.is_empty() {
            let mated = if position.in_check() { "mate -0" } else { "cp 0" };
            send(&format!("info depth 0 score {mated}"));
        }
        true
    }

    fn report_faults(&self, found: &[Line]) {
        let Some(head) = found.first().and_then(|line| line.moves.first()) else { return };
        let far = if self.dialect == Dialect::Uci { "a1a8" } else { "1a1i" };
        for (id, line) in [
            ("info.numbers", "info nodes 1.5".to_owned()),
            ("info.complete", "info depth".to_owned()),
            ("info.once", "info depth 1 depth 2".to_owned()),
            ("info.moves", "info currmove xyz".to_owned()),
            ("info.seldepth", "info seldepth 7".to_owned()),
            ("info.legal-pv", format!("info depth 1 score cp 3 pv {head} {head}")),
            ("info.pv-with-score", format!("info depth 1 pv {head}")),
            ("info.bound-with-score", "info depth 1 lowerbound".to_owned()),
            ("info.monotonic-counts", "info time 9\ninfo time 8".to_owned()),
            ("info.permille", "info hashfull 1500".to_owned()),
            ("info.monotonic-depth", format!("info depth 30 score cp 1 pv {head}")),
            ("info.late-details", format!("info currmove {head} currmovenumber 1")),
            ("info.string-last", format!("info string depth 3 score cp 5 pv {head}")),
            ("info.multipv-limit", format!("info depth 1 multipv 2 score cp 3 pv {head}")),
            ("info.currline-requested", format!("info currline {head}")),
            ("info.refutation-requested", format!("info refutation {head}")),
            ("scores.wdl-requested", "info depth 1 score cp 1 wdl 300 400 300".to_owned()),
            ("info.one-bound", format!("info depth 1 score cp 3 lowerbound upperbound pv {head}")),
            ("defect.string-middle", format!("info depth 2 string x score cp 0 nodes 1 pv {head}")),
            ("info.current-move", format!("info currmove {head} currmovenumber 0")),
            ("defect.cpuload-over-permille", "info cpuload 5000".to_owned()),
            ("defect.negative-tbhits", "info tbhits -1".to_owned()),
            ("defect.score-without-unit", format!("info depth 1 score 35 pv {head}")),
            ("defect.illegal-currmove", format!("info currmove {far} currmovenumber 1")),
            ("defect.large-currmovenumber", format!("info currmove {head} currmovenumber 900")),
            ("defect.pv-of-best-move-twice", format!("info depth 1 score cp 1 pv {head} {head}")),
        ] {
            if self.breaks(id) {
                send(&line);
            }
        }
    }

    /// Whether the fault changes scores by earlier games or options.
    fn breaks_score(&self, go: &Go<'_>) -> bool {
        go.depth == Some(6)
            && (self.games == 2 && self.breaks("state.new-game-clears")
                || self.has_elo && self.breaks("options.elo-without-limit"))
    }

    fn score(&self, position: &Position, go: &Go<'_>, line: &Line) -> String {
        if line.mated {
            let plies = if self.dialect == Dialect::Usi { 2 } else { 1 };
            let wrong = go.depth == Some(6) && self.breaks("scores.mated");
            return format!("mate {}{plies}", if wrong { "" } else { "-" });
        }
        if line.mate == Some(1) && go.depth == Some(4) && self.breaks("scores.mate-not-cp") {
            return "cp 29999".into();
        }
        if let Some(plies) = line.mate {
            let plies_unit = self.dialect == Dialect::Usi
                || self.breaks("info.mate-score")
                || self.breaks("defect.mates-in-plies");
            return format!("mate {}", if plies_unit { plies } else { plies.div_ceil(2) });
        }
        let second = position.turn() == readyok_rules::Side::Second;
        let turned =
            second && (self.breaks("info.score-side") || self.breaks("defect.scores-of-white"));
        format!("cp {}", if turned { -line.cp } else { line.cp })
    }

    fn bestmove(&self, position: &Position, go: &Go<'_>, found: &[Line], reported: bool) -> String {
        if matches!(go.mate, Some(MateLimit::Time(_) | MateLimit::Infinite))
            && !self.breaks("usi.mate")
        {
            if go.mate == Some(MateLimit::Time(Duration::from_secs(1)))
                && self.breaks("usi.mate-moves")
            {
                let line = found.last().map(|line| line.moves.join(" "));
                return format!("checkmate {}", line.unwrap_or_default());
            }
            let mate = found.first().filter(|line| line.mate.is_some());
            if mate.is_some() && self.breaks("defect.checkmate-without-moves") {
                return "checkmate".into();
            }
            return mate.map_or_else(
                || "checkmate nomate".into(),
                |line| format!("checkmate {}", line.moves.join(" ")),
            );
        }
        let Some(line) = found.first() else {
            if go.depth == Some(3) && self.breaks("usi.resign") {
                return "bestmove (none)".into();
            }
            self.exits_if("defect.exits-without-legal-move");
            let wrong = self.breaks("positions.no-legal-move");
            return format!("bestmove {}", if wrong { "e2e4" } else { self.dialect.no_move() });
        };
        if position.can_declare() && !self.breaks("usi.declaration") {
            return "bestmove win".into();
        }
        for (id, start, token) in [
            ("usi.false-declaration", "5K3/GG7", "win"),
            ("positions.pawn-drop-mate", "7nk", "P*1b"),
            ("positions.two-pawns", "4k4/9/9/9/9/9/PPP", "P*5e"),
        ] {
            if self.fen.starts_with(start) && self.breaks(id) {
                return format!("bestmove {token}");
            }
        }
        let mut answer = match line.moves.as_slice() {
            [best, ponder, ..] => format!("bestmove {best} ponder {ponder}"),
            [best] => format!("bestmove {best}"),
            [] => String::new(),
        };
        // With limited strength it reports the best line, and plays another.
        let is_second = self.limited && go.depth == Some(4) && go.search_moves.is_none();
        if is_second || go.depth == Some(5) && reported && self.breaks("info.pv-bestmove") {
            answer = found
                .get(1)
                .and_then(|it| it.moves.first())
                .map_or(answer, |it| format!("bestmove {it}"));
        }
        if go.nodes.is_some() && go.depth.is_none() && !go.ponder {
            for (id, text) in [
                ("search.legal-move", "bestmove a1a8".to_owned()),
                ("search.one-bestmove", format!("{answer}\n{answer}")),
                ("lexical.idle-info", format!("{answer}\ninfo depth 1")),
                ("usi.mate-once", format!("{answer}\ncheckmate nomate")),
                ("lexical.reply-form", format!("{answer} ok")),
            ] {
                if self.breaks(id) {
                    answer = text;
                }
            }
        }
        let answer = self.altered(answer, position, go, found);
        let mut answer = answer;
        for (id, good, bad) in [
            ("positions.castling", "e1c1", "e1a1"),
            ("positions.move-form", "e1g1", "e1h1"),
            ("defect.castling-takes-rook", "e1g1", "e1h1"),
            ("defect.black-castling-takes-rook", "e8g8", "e8h8"),
            ("positions.chess960", "e1h1", "e1g1"),
        ] {
            if line.moves.first().is_some_and(|it| it == good) && self.breaks(id) {
                answer = format!("bestmove {bad}");
            }
        }
        answer
    }

    /// The reply with a defect of its form.
    fn altered(&self, answer: String, position: &Position, go: &Go<'_>, found: &[Line]) -> String {
        let is_promotion = |token: &str| token.len() == 5 && !token.contains(['*', '+']);
        let tokens: Vec<&str> = answer.split(' ').collect();
        let best = tokens.get(1).copied().unwrap_or_default();
        let rest = answer.get("bestmove ".len() + best.len()..).unwrap_or_default();
        let head: Vec<&str> = self.fen.split(' ').collect();
        let no_rights = head.len() == 6 && head.get(2) == Some(&"-");
        if is_promotion(best) && self.breaks("defect.upper-case-promotions") {
            let (squares, piece) = best.split_at(4);
            return format!("bestmove {squares}{}{rest}", piece.to_uppercase());
        }
        if best.contains('*') && self.breaks("defect.lower-case-drops") {
            return format!("bestmove {}{rest}", best.to_lowercase());
        }
        if self.breaks("defect.upper-case-squares") {
            return format!("bestmove {}{rest}", best.to_uppercase());
        }
        if self.breaks("defect.text-after-bestmove") {
            return format!("{answer} score cp 3");
        }
        if self.breaks("defect.ponder-without-move") {
            return format!("bestmove {best} ponder");
        }
        if self.breaks("defect.null-move") {
            return "bestmove 0000".to_owned();
        }
        if no_rights
            && head.first().is_some_and(|it| it.ends_with("/4K2R"))
            && go.depth == Some(3)
            && position.parse_move("e1g1").is_err()
            && self.breaks("defect.castles-without-right")
        {
            return "bestmove e1g1".to_owned();
        }
        let longest = found.last().and_then(|line| line.moves.first());
        match longest {
            Some(mv)
                if go.mate == Some(MateLimit::Moves(2)) && self.breaks("defect.mate-in-plies") =>
            {
                format!("bestmove {mv}")
            }
            _ => answer,
        }
    }

    /// A search of a certain time is over.
    fn finish(&mut self) {
        if let Some(waiting) = &self.waiting {
            let time = now().saturating_duration_since(waiting.begin);
            if Duration::from_millis(90) < time {
                let mut time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                if self.breaks("info.time-limit") {
                    time += 900;
                }
                if self.breaks("info.time") {
                    time /= 10;
                }
                // As many as fill a hash table.
                let nodes = 4_000_000;
                let nps = if self.breaks("info.nps") { 5 } else { nodes * 1000 / time.max(1) };
                send(&format!("info nodes {nodes} nps {nps} time {time}"));
            }
        }
        self.answer();
    }

    /// Continues a search.
    fn tick(&mut self) {
        let Some(waiting) = &mut self.waiting else { return };
        waiting.ticks += 1;
        let (ticks, head) = (waiting.ticks, waiting.head.clone());
        let time = now().saturating_duration_since(waiting.begin).as_millis();
        if self.breaks("info.regular") {
            return;
        }
        send(&format!("info nodes {} time {time}", 1000 + ticks));
        if let Some(head) = head.filter(|_| 1 < ticks) {
            send(&format!("info currmove {head} currmovenumber 1"));
            if self.shows_lines {
                let more = if self.breaks("info.currline") { head.as_str() } else { "" };
                send(&format!("info currline 1 {head} {more}"));
            }
        }
    }

    fn answer(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            self.missed = waiting.pondering;
            let is_nodes = waiting.go.nodes.is_some() && !waiting.pondering;
            RETURNS.store(is_nodes && self.breaks("lexical.line-feed"), Ordering::Relaxed);
            send(&waiting.answer);
            // The next line follows.
            RETURNS.store(false, Ordering::Relaxed);
            if waiting.answer.starts_with("checkmate") && self.breaks("usi.mate-alone") {
                send("bestmove resign");
            }
            if self.breaks("defect.repeats-bestmove") {
                send(&waiting.answer);
            }
            if self.breaks("defect.info-after-bestmove") {
                send("info nodes 1");
            }
            self.fresh = waiting.go.depth == Some(1) && !waiting.pondering && self.searches == 1;
            for _ in 0..waiting.pings {
                send("readyok");
            }
        }
    }

    fn stop(&mut self, stopped: bool, inbox: &Receiver<input::Line>) {
        if self.breaks("defect.ignores-stop") {
            return;
        }
        if stopped && self.breaks("state.second-stop") {
            send("bestmove (none)");
        }
        if self.waiting.is_some() && self.breaks("state.go-stop-go") {
            Self::discard_lines(inbox);
        }
        let middle = self.fen.contains("2B1P3") || self.fen.contains("2P6");
        match &self.waiting {
            None => {
                self.memory.is_stale |= self.breaks("defect.stale-stop");
                if self.searches == 0 && self.breaks("lexical.idle-stop") {
                    send("bestmove e2e4");
                }
            }
            Some(waiting) => {
                self.stops += 1;
                let long = waiting.go.move_time == Some(Duration::from_secs(100_000));
                let clocks = waiting.go.clocks.white_time == Some(60);
                let mate = waiting.go.mate == Some(MateLimit::Infinite);
                let is_ignored = (mate && self.breaks("usi.mate-infinite"))
                    || (self.stops == 15 && !self.pondered && self.breaks("search.stop"))
                    || (long && waiting.hit && self.breaks("state.hit-and-stop"))
                    || (long && !waiting.hit && self.breaks("search.immediate-stop"))
                    || (waiting.pondering && clocks && middle && self.breaks("search.ponder.stop"));
                if !is_ignored {
                    self.stopped = true;
                    self.answer();
                }
            }
        }
    }

    fn ponder_hit(&mut self, clocks: Clocks) {
        let given = self.waiting.as_ref().map(|it| it.go.clocks).unwrap_or_default();
        let byoyomi = given.byoyomi == Some(250);
        let is_ignored = given.white_time == Some(60) && self.breaks("search.ponder.hit")
            || byoyomi && clocks.is_empty() && self.breaks("usi.ponder-byoyomi")
            || !clocks.is_empty() && self.breaks("usi.ponderhit-clocks");
        let forgets_limits = self.breaks("defect.no-limits-after-ponderhit");
        let Some(waiting) = &mut self.waiting else {
            self.memory.is_stale |= self.breaks("defect.stale-ponderhit");
            if self.searches == 0 && self.breaks("lexical.idle-ponderhit") {
                send("bestmove e2e4");
            }
            return;
        };
        waiting.pondering = false;
        let is_counted = waiting.go.depth.is_some() || waiting.go.nodes.is_some();
        if waiting.go.infinite || is_ignored || is_counted && forgets_limits {
            return;
        }
        waiting_time(waiting);
        if waiting.until.is_none() {
            self.answer();
        }
    }

    fn quit(&self) {
        if self.handshakes == 0 {
            if self.breaks("exit.quit.before-handshake") {
                return;
            }
            exit(0);
        }
        if self.breaks("defect.late-quit") {
            std::thread::sleep(deviations::NOTICEABLE);
        }
        let id = match &self.waiting {
            Some(waiting) if waiting.pondering => "exit.quit.pondering",
            Some(_) => "exit.quit.searching",
            None if self.pings == 0 => "exit.quit.after-handshake",
            None if self.searches == 0 => "exit.quit.loading",
            None => "exit.quit.idle",
        };
        if !self.breaks(id) && !self.breaks("defect.ignores-quit") {
            exit(if self.breaks("exit.status") { 3 } else { 0 });
        }
    }
}
