//! The conversation of the engine, with all its faults.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::exit;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use readyok_protocol::{Command, Dialect, Go, MateLimit, Root};
use readyok_rules::{FenForm, Game, Position};

use crate::faults::Faults;
use crate::search::{Line, lines};

/// Depths beyond this are not pretended to be searched.
const DEEPEST: u32 = 20;

/// A search that is done, and whose answer waits.
struct Waiting {
    answer: String,
    /// Nothing but `stop`, or `ponderhit`, ends it.
    held: bool,
    until: Option<Instant>,
    pondering: bool,
    go: Go<'static>,
    /// `isready`s that shall be answered after it.
    pings: u32,
}

struct Engine {
    faults: Faults,
    dialect: Dialect,
    greetings: u32,
    pings: u32,
    chess960: bool,
    multipv: usize,
    threads: u32,
    wdl: bool,
    position: Option<Position>,
    fen: String,
    searches: u32,
    games: u32,
    stops: u32,
    pondered: bool,
    /// What was found in positions that were searched before, as many are time and again.
    known: HashMap<String, Vec<Line>>,
    /// The last command was a search of depth 1, which is over.
    fresh: bool,
    waiting: Option<Waiting>,
}

#[expect(clippy::disallowed_methods, reason = "it keeps time as engines do")]
fn now() -> Instant {
    Instant::now()
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.flush()).is_err() {
        exit(9);
    }
}

pub(crate) fn serve(inbox: &Receiver<String>, faults: Faults) {
    let mut engine = Engine {
        faults,
        dialect: Dialect::Uci,
        greetings: 0,
        pings: 0,
        chess960: false,
        multipv: 1,
        threads: 1,
        wdl: false,
        position: None,
        fen: String::new(),
        searches: 0,
        games: 0,
        stops: 0,
        pondered: false,
        known: HashMap::new(),
        fresh: false,
        waiting: None,
    };
    if engine.breaks("handshake.waits") {
        say("option name Early type button");
    }
    loop {
        let until = engine.waiting.as_ref().filter(|it| !it.held).and_then(|it| it.until);
        let line = match until {
            Some(until) => inbox.recv_timeout(until.saturating_duration_since(now())),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match line {
            Ok(line) => engine.hear(&line, inbox),
            Err(RecvTimeoutError::Timeout) => engine.answer(),
            Err(RecvTimeoutError::Disconnected) => {
                let kept = if engine.waiting.is_some() {
                    "ending.eof.searching"
                } else {
                    "ending.eof.idle"
                };
                if engine.breaks(kept) {
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

    /// Ends the process if this is the fault.
    fn dies(&self, id: &str) {
        if self.breaks(id) {
            exit(7);
        }
    }

    fn hear(&mut self, line: &str, inbox: &Receiver<String>) {
        let unfinished = !line.ends_with('\n');
        let text = line.trim_end_matches(['\n', '\r']);
        let deaf = (self.breaks("lexical.last-line") && unfinished)
            || (self.breaks("lexical.spaces") && text.contains("  "))
            || (self.breaks("lexical.tabs") && text.contains('\t'))
            || (self.breaks("lexical.crlf") && line.ends_with("\r\n"))
            || (self.breaks("lexical.unknown-first-word") && text.starts_with("joho "));
        if deaf {
            return;
        }
        if 1500 < line.len() {
            self.dies("lexical.long-line");
        }
        if text.trim_end() == "position startpos moves" {
            self.dies("positions.startpos");
        }
        if text.is_empty() {
            self.dies("lexical.empty-lines");
        }
        for dialect in Dialect::ALL {
            if text.trim() == dialect.hello() {
                self.dialect = dialect;
            }
        }
        let command = Command::read(text, self.dialect).value.into_owned();
        let fresh = std::mem::take(&mut self.fresh);
        match command {
            Command::Hello => self.greet(),
            Command::IsReady => self.ready(fresh, inbox),
            Command::SetOption(set) => {
                self.set(&set.name, set.value.as_deref());
            }
            Command::NewGame => {
                self.games += 1;
                if self.games == 3 && self.searches == 3 {
                    self.dies("search.new-game");
                }
                if self.breaks("handshake.ready-once") {
                    say("readyok");
                }
            }
            Command::Position(position) => self.place(&position),
            Command::Go(go) => self.go(go, text),
            Command::Stop => self.stop(),
            Command::PonderHit(_) => self.ponder_hit(),
            Command::GameOver(_) => {
                let pondering = self.waiting.as_ref().is_some_and(|it| it.pondering);
                if !(pondering && self.breaks("usi.game-over")) {
                    self.answer();
                }
            }
            Command::Debug(on) => {
                if on {
                    self.dies("search.debug");
                }
            }
            Command::Register(_) => self.dies("search.register"),
            Command::Quit => self.quit(),
            Command::Unknown(text) => {
                if text.starts_with("xyzzy") {
                    self.dies("lexical.unknown-command");
                }
                if text.starts_with("position") {
                    self.dies("positions.malformed");
                }
            }
        }
    }

    fn greet(&mut self) {
        self.greetings += 1;
        if 1 < self.greetings {
            self.dies("handshake.second-hello");
        }
        if self.breaks("handshake.quick") {
            std::thread::park_timeout(Duration::from_secs(3));
        }
        if !self.breaks("handshake.name") {
            say("id name Obedient 1.0");
        }
        if !self.breaks("handshake.author") {
            say("id author Nobody");
        }
        let uci = self.dialect == Dialect::Uci;
        let hash = if uci { "Hash" } else { "USI_Hash" };
        if !self.breaks("options.hash-offered") {
            say(&format!("option name {hash} type spin default 16 min 1 max 1024"));
        }
        say("option name Threads type spin default 1 min 1 max 4");
        let multipv = if self.breaks("options.multipv-default") { 2 } else { 1 };
        say(&format!("option name MultiPV type spin default {multipv} min 1 max 10"));
        say("option name Style type combo default Solid var Solid var Normal var Risky");
        if uci {
            say("option name Clear Hash type button");
            say("option name UCI_Chess960 type check default false");
            say("option name UCI_ShowWDL type check default false");
            say("option name UCI_LimitStrength type check default false");
            if !self.breaks("options.elo-with-limit") {
                say("option name UCI_Elo type spin default 1500 min 1000 max 2000");
            }
        } else {
            say("option name Clear_Hash type button");
        }
        let fixed = self.breaks("options.fixed-types");
        if uci && fixed {
            say("option name Ponder type string default <empty>");
        } else if uci {
            say("option name Ponder type check default false");
        }
        say("option name Book File type string default <empty>"
            .replace("Book File", if uci { "Book File" } else { "BookFile" })
            .as_str());
        for (id, line) in [
            ("options.readable", "option name Odd type slider default 1"),
            ("options.check-default", "option name Odd type check"),
            ("options.spin-range", "option name Odd type spin default 5 min 10 max 20"),
            ("options.combo-default", "option name Odd type combo default Z var A var B"),
            ("options.string-default", "option name Odd type string"),
            ("options.distinct-names", "option name STYLE type check default true"),
            ("options.plain-names", "option name Odd value type check default true"),
            ("options.no-spaces", "option name Odd Thing type check default true"),
            ("options.usi-prefix", "option name Ponder type check default true"),
            ("handshake.early-status", "copyprotection ok"),
        ] {
            if self.breaks(id) {
                say(line);
            }
        }
        say(self.dialect.hello_ok());
    }

    fn ready(&mut self, fresh: bool, inbox: &Receiver<String>) {
        self.pings += 1;
        if fresh && self.breaks("handshake.ready") {
            return;
        }
        if self.breaks("handshake.ready-each") && 1 < self.pings && self.searches == 0 {
            // Whatever has come in the same write is taken for one.
            while inbox
                .recv_timeout(Duration::from_millis(20))
                .is_ok_and(|line| line == "isready\n")
            {}
        }
        for (id, line) in [
            ("handshake.late-declaration", "option name Late type button"),
            ("handshake.ok-once", self.dialect.hello_ok()),
            ("handshake.known-words", "Good morning"),
            ("handshake.ascii", "info string na\u{ef}ve"),
            ("handshake.text", "info string a\u{1b}[2Jb"),
        ] {
            if self.breaks(id) && self.pings == 1 {
                say(line);
            }
        }
        let deaf = self.breaks("search.ready");
        match &mut self.waiting {
            Some(waiting) if deaf => waiting.pings += 1,
            _ => say("readyok"),
        }
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        if value == Some("abc") {
            self.dies("options.bad-values");
        }
        let same = |option: &str| {
            if self.breaks("options.name-ignores-case") {
                name == option
            } else {
                self.dialect.same_option(name, option)
            }
        };
        let number = value.and_then(|value| value.parse::<u32>().ok());
        let on = value.is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if same("Clear Hash") {
            self.dies("options.button");
        } else if same("MultiPV") {
            self.multipv = number.map_or(self.multipv, |it| it.clamp(1, 10) as usize);
        } else if same("Threads") {
            self.threads = number.unwrap_or(self.threads);
        } else if same("UCI_Chess960") {
            self.chess960 = on;
        } else if same("UCI_ShowWDL") {
            self.wdl = on;
        } else if same("Style") && value == Some("Risky") {
            self.dies("options.every-value");
        } else if name == "USI_Ponder" {
            self.dies("usi.undeclared-options");
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
        let game = self.game();
        let (text, start) = match &position.root {
            Root::StartPos => (String::new(), Ok(Position::start(game))),
            Root::Fen(fen) => (fen.as_str().to_owned(), Position::from_text(game, fen.as_str())),
            Root::Sfen(sfen) => {
                (sfen.as_str().to_owned(), Position::from_text(game, sfen.as_str()))
            }
        };
        let count = position.moves.len();
        let has = |word: &str| position.moves.words().any(|it| it == word);
        let fields = text.split(' ').count();
        if position.root == Root::StartPos && count == 31 {
            self.dies("positions.random-game");
        }
        if count == 1 && fields == 6 && text.contains(" b ") {
            self.dies("positions.given");
        }
        if has("a7a8n") {
            self.dies("positions.special-moves");
        }
        if has("B*4e") {
            self.dies("positions.shogi-moves");
        }
        match fields {
            3 => self.dies("positions.short-sfen"),
            4 if self.dialect == Dialect::Uci => self.dies("positions.short-fen"),
            _ => (),
        }
        let Ok(start) = start else {
            self.dies("positions.malformed");
            return;
        };
        match start.after(position.moves.words()) {
            Ok(reached) => self.position = Some(reached),
            Err(_) => self.dies("positions.illegal-move"),
        }
        self.fen = text;
    }

    fn go(&mut self, go: Go<'static>, text: &str) {
        if self.waiting.is_some() {
            return;
        }
        self.searches += 1;
        if !go.unknown.is_empty() && self.breaks("lexical.unknown-word-in-go") {
            return;
        }
        let position = self.position.clone().unwrap_or_else(|| Position::start(self.game()));
        let form = self.game().castling_form();
        let mut wanted: Vec<String> = go
            .search_moves
            .iter()
            .flat_map(readyok_protocol::MoveList::words)
            .filter_map(|word| Some(position.parse_move(word).ok()?.word(form)))
            .collect();
        if self.breaks("search.searchmoves") && go.depth == Some(2) && !text.contains("e1") {
            wanted.clear();
        }
        let key = format!("{} {}", position.text(FenForm::XFen), wanted.join(" "));
        let found =
            self.known.entry(key).or_insert_with(|| lines(&position, &wanted, form)).clone();
        let told = self.tell(&position, &go, &found);
        let answer = self.bestmove(&go, &found, told);
        self.pondered |= go.ponder;
        let mates = found.first().is_some_and(|line| line.mate == Some(1));
        let mut held = go.ponder || go.infinite;
        if mates && go.infinite && self.breaks("search.infinite")
            || mates && go.ponder && self.breaks("search.ponder.holds-bestmove")
            || go.ponder && go.clocks.white_time == Some(60) && self.breaks("search.not-too-early")
        {
            held = false;
        }
        let time = go.move_time.map(|it| Duration::from_millis(u64::try_from(it).unwrap_or(0)));
        let done = go.depth.is_some_and(|depth| depth <= DEEPEST)
            || go.nodes.is_some_and(|it| it < 1_000_000);
        let ignores_depth = time.is_some() && self.breaks("search.any-order");
        let early = self.breaks("search.movetime.uses");
        let until = match time {
            Some(time) if !done && !early || ignores_depth => Some(now() + time),
            _ => None,
        };
        if self.goes_on_for_ever(&go, text) {
            held = true;
        }
        self.waiting = Some(Waiting { answer, held, until, pondering: go.ponder, go, pings: 0 });
        if !held && until.is_none() {
            self.answer();
        }
    }

    /// Searches that have an end, and do not find it.
    fn goes_on_for_ever(&self, go: &Go<'_>, text: &str) -> bool {
        let is = |words: &str| text.contains(words);
        [
            ("search.plays", self.multipv == 3 && go.depth == Some(3)),
            ("search.movetime.ends", is("movetime 300")),
            ("search.clock", is("btime 100000")),
            ("search.clock-over", text.trim() == "go wtime 0 btime 0"),
            ("search.moves-to-go", is("movestogo 1")),
            ("search.searchmoves-first", is("searchmoves") && text.trim_end().ends_with("depth 2")),
            ("search.mate", go.mate.is_some()),
            ("search.every-size", self.threads == 4),
            ("search.interleavings", 50 < self.searches),
            ("usi.byoyomi", is("byoyomi 200")),
        ]
        .into_iter()
        .any(|(id, here)| here && self.breaks(id))
    }

    /// Tells about the search; whether there was anything to tell.
    fn tell(&mut self, position: &Position, go: &Go<'_>, found: &[Line]) -> bool {
        if go.depth == Some(5) && self.breaks("info.before-bestmove") {
            return false;
        }
        let mut deepest = go.depth.unwrap_or(8).clamp(1, DEEPEST);
        if go.nodes.is_some() {
            self.tell_oddly(found);
        }
        if go.depth == Some(4) && self.breaks("search.depth") {
            deepest = 3;
        }
        let mut nodes = 0;
        for depth in 1..=deepest {
            for (at, line) in found.iter().enumerate().take(self.multipv) {
                nodes += 10;
                let number = at + 1;
                if number == 3 && self.breaks("info.multipv") {
                    continue;
                }
                let score = self.score(position, line);
                let wdl = match (self.wdl, self.breaks("info.wdl")) {
                    (true, true) => " wdl 300 300 300",
                    (true, false) => " wdl 300 400 300",
                    (false, _) => "",
                };
                let told =
                    if go.nodes.is_some() && self.breaks("search.nodes") { 500_000 } else { nodes };
                let mut moves = line.moves.clone();
                if line.mate == Some(3) && self.breaks("info.mate-pv") {
                    moves.truncate(1);
                }
                say(&format!(
                    "info depth {depth} seldepth {depth} multipv {number} score {score}{wdl} nodes {told} \
                     nps 1000 hashfull 10 time {depth} pv {}",
                    moves.join(" ")
                ));
            }
        }
        if found.is_empty() {
            let mated = if position.in_check() { "mate -0" } else { "cp 0" };
            say(&format!("info depth 0 score {mated}"));
        }
        true
    }

    fn tell_oddly(&self, found: &[Line]) {
        let Some(head) = found.first().and_then(|line| line.moves.first()) else { return };
        for (id, line) in [
            ("info.numbers", "info nodes 1.5".to_owned()),
            ("info.complete", "info depth".to_owned()),
            ("info.once", "info depth 1 depth 2".to_owned()),
            ("info.moves", "info currmove xyz".to_owned()),
            ("info.seldepth", "info seldepth 7".to_owned()),
            ("info.legal-pv", format!("info depth 1 score cp 3 pv {head} {head}")),
            ("info.pv-with-score", format!("info depth 1 pv {head}")),
            ("info.bound-with-score", "info depth 1 lowerbound".to_owned()),
            ("info.counts-grow", "info time 900\ninfo time 800".to_owned()),
            ("info.permille", "info hashfull 1500".to_owned()),
            ("info.current-move", format!("info currmove {head} currmovenumber 0")),
        ] {
            if self.breaks(id) {
                say(&line);
            }
        }
    }

    fn score(&self, position: &Position, line: &Line) -> String {
        if let Some(plies) = line.mate {
            let in_plies = self.dialect == Dialect::Usi || self.breaks("info.mate-score");
            return format!("mate {}", if in_plies { plies } else { plies.div_ceil(2) });
        }
        let second = position.turn() == readyok_rules::Side::Second;
        let turned = second && self.breaks("info.score-side");
        format!("cp {}", if turned { -line.cp } else { line.cp })
    }

    fn bestmove(&self, go: &Go<'_>, found: &[Line], told: bool) -> String {
        if let (Some(MateLimit::Time(_) | MateLimit::Infinite), false) =
            (go.mate, self.breaks("usi.mate"))
        {
            let mate = found.first().filter(|line| line.mate.is_some());
            return mate.map_or_else(
                || "checkmate nomate".into(),
                |line| format!("checkmate {}", line.moves.join(" ")),
            );
        }
        let Some(line) = found.first() else {
            let wrong = self.breaks("positions.no-legal-move");
            return format!("bestmove {}", if wrong { "e2e4" } else { self.dialect.no_move() });
        };
        let mut answer = match line.moves.as_slice() {
            [best, ponder, ..] => format!("bestmove {best} ponder {ponder}"),
            [best] => format!("bestmove {best}"),
            [] => String::new(),
        };
        if go.depth == Some(5) && told && self.breaks("info.pv-head") {
            answer = found.get(1).map_or(answer, |it| {
                format!("bestmove {}", it.moves.concat().get(..4).unwrap_or_default())
            });
        }
        if go.nodes.is_some() && go.depth.is_none() {
            for (id, text) in [
                ("search.legal-move", "bestmove a1a8".to_owned()),
                ("search.one-answer", format!("{answer}\n{answer}")),
                ("lexical.idle-info", format!("{answer}\ninfo depth 1")),
                ("usi.mate-once", format!("{answer}\ncheckmate nomate")),
            ] {
                if self.breaks(id) {
                    answer = text;
                }
            }
        }
        for (id, good, bad) in [
            ("positions.castling", "e1c1", "e1a1"),
            ("positions.move-form", "e1g1", "e1h1"),
            ("positions.chess960", "e1h1", "e1g1"),
        ] {
            if self.breaks(id) && line.moves.first().is_some_and(|it| it == good) {
                answer = format!("bestmove {bad}");
            }
        }
        answer
    }

    fn answer(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            say(&waiting.answer);
            self.fresh = waiting.go.depth == Some(1) && !waiting.pondering && self.searches == 1;
            for _ in 0..waiting.pings {
                say("readyok");
            }
        }
    }

    fn stop(&mut self) {
        let middle = self.fen.contains("2B1P3") || self.fen.contains("2P6");
        match &self.waiting {
            None => {
                if self.searches == 0 && self.breaks("lexical.idle-stop") {
                    say("bestmove e2e4");
                }
            }
            Some(waiting) => {
                self.stops += 1;
                let long = waiting.go.move_time.is_some_and(|it| it == 100_000_000);
                let clocks = !waiting.go.clocks.is_empty();
                let deaf = (self.breaks("search.stop") && self.stops == 15 && !self.pondered)
                    || (self.breaks("search.stop-at-once") && long)
                    || (self.breaks("search.ponder.stop") && waiting.pondering && clocks && middle);
                if !deaf {
                    self.answer();
                }
            }
        }
    }

    fn ponder_hit(&mut self) {
        let Some(waiting) = &mut self.waiting else {
            if self.searches == 0 && self.breaks("lexical.idle-ponderhit") {
                say("bestmove e2e4");
            }
            return;
        };
        waiting.pondering = false;
        let clocks = !waiting.go.clocks.is_empty();
        let infinite = waiting.go.infinite;
        if !(infinite || clocks && self.breaks("search.ponder.hit")) {
            self.answer();
        }
    }

    fn quit(&self) {
        let id = match &self.waiting {
            Some(waiting) if waiting.pondering => "ending.quit.pondering",
            Some(_) => "ending.quit.searching",
            None if self.pings == 0 => "ending.quit.greeted",
            None => "ending.quit.idle",
        };
        if !self.breaks(id) {
            exit(if self.breaks("ending.status") { 3 } else { 0 });
        }
    }
}
