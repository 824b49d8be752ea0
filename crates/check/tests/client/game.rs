//! What the client asks its engine: a few searches of all kinds.

use std::time::Duration;

use readyok_protocol::Dialect;
use readyok_rules::{Game, Position};

use crate::engine::{Engine, State, TIMEOUT, Trouble};
use crate::faults::Faults;

/// Minimum duration of an infinite search without output.
const THINK: Duration = Duration::from_millis(100);

/// Maximum output of one search that the client can read.
const MANY: u32 = 4000;

pub(crate) fn play(program: &str, dialect: Dialect, faults: &Faults) -> Result<(), Trouble> {
    let mut client = Client {
        engine: Engine::start(program, faults)?,
        dialect,
        game: if dialect == Dialect::Uci { Game::Chess } else { Game::Shogi },
        options: 0,
        moves: Vec::new(),
        answer: None,
        searches: 0,
    };
    let done = client.all();
    if !client.engine.lost {
        client.engine.quit();
    }
    done
}

struct Client {
    engine: Engine,
    dialect: Dialect,
    game: Game,
    options: u32,
    moves: Vec<String>,
    /// The tokens of the last reply.
    answer: Option<Vec<String>>,
    searches: u32,
}

impl Client {
    fn breaks(&self, id: &str) -> bool {
        self.engine.faults.breaks(id)
    }

    fn all(&mut self) -> Result<(), Trouble> {
        self.handshake()?;
        self.set_up()?;
        let clocks = match self.dialect {
            Dialect::Uci if self.breaks("conduct.own-clock") => "btime 60000",
            Dialect::Usi if self.breaks("conduct.own-clock") => "wtime 60000",
            _ if self.breaks("conduct.valid-clocks") => "wtime 60000 btime 60000 winc -1 binc -1",
            _ if self.breaks("conduct.positive-limits") => "wtime 60000 btime 60000 movestogo 0",
            _ => "wtime 60000 btime 60000",
        };
        let first = match () {
            () if self.breaks("conduct.go-form") => "go movetime 1.5",
            () if self.breaks("conduct.search-limit") => "go",
            () => "",
        };
        self.position(None);
        self.go(if first.is_empty() { format!("go {clocks}") } else { first.into() }.as_str());
        self.best()?;
        self.ready(State::Again)?;
        self.search_among()?;
        self.ready(State::Again)?;
        self.search_for_ever()?;
        self.ready(State::Again)?;
        if self.breaks("defect.second-game-without-new-game") {
            self.position(None);
            self.go(&format!("go {clocks}"));
            self.best()?;
            self.begin_another_game()?;
            self.go(&format!("go {clocks}"));
            return self.best();
        }
        self.ponder(clocks)?;
        if self.breaks("conduct.ponderhit") {
            self.engine.send("ponderhit");
        }
        self.ready(State::Again)
    }

    fn handshake(&mut self) -> Result<(), Trouble> {
        self.engine.enter(State::Handshake);
        self.engine.send(self.dialect.handshake());
        if self.breaks("conduct.handshake-first") {
            self.engine.send("isready");
        }
        let mut named = false;
        loop {
            let tokens = self.engine.next()?;
            match tokens.first().map(String::as_str) {
                Some("id") => named = true,
                Some("option") => self.options += 1,
                Some("info") => self.engine.faults.stumbles("start.early-info"),
                Some(token) if token == self.dialect.handshake_ok() => break,
                _ => (),
            }
        }
        if !named {
            self.engine.faults.stumbles("start.no-name");
        }
        if self.options == 0 && named {
            self.engine.faults.stumbles("start.no-options");
        }
        if self.breaks("conduct.handshake-once") {
            self.engine.send(self.dialect.handshake());
            while self
                .engine
                .next()?
                .first()
                .is_none_or(|token| token != self.dialect.handshake_ok())
            {}
        }
        Ok(())
    }

    fn set_up(&mut self) -> Result<(), Trouble> {
        if self.options > 0 {
            let hash = if self.dialect == Dialect::Uci { "Hash" } else { "USI_Hash" };
            let form = if self.breaks("conduct.setoption-form") { "" } else { "name " };
            self.engine.send(&format!("setoption {form}{hash} value 32"));
        }
        if self.breaks("conduct.declared-options") {
            self.engine.send("setoption name Nonsense value 1");
        }
        if self.breaks("conduct.option-values") && self.options > 0 {
            let hash = if self.dialect == Dialect::Uci { "Hash" } else { "USI_Hash" };
            self.engine.send(&format!("setoption name {hash} value 0"));
        }
        if self.breaks("conduct.known-commands") {
            self.engine.send("hello");
        }
        if !self.breaks("conduct.new-game") {
            self.engine.send(self.dialect.new_game());
        }
        if self.breaks("conduct.waits-for-ready") { Ok(()) } else { self.ready(State::Ready) }
    }

    fn ready(&mut self, state: State) -> Result<(), Trouble> {
        self.engine.enter(state);
        self.engine.send("isready");
        loop {
            let tokens = self.engine.next()?;
            match tokens.first().map(String::as_str) {
                Some("readyok") => return Ok(()),
                Some("registration")
                    if tokens.get(1).is_some_and(|token| token == "error")
                        && !self.breaks("conduct.registers") =>
                {
                    self.engine.send("register later");
                }
                Some("option") => self.engine.faults.stumbles("options.late"),
                Some("bestmove") if state == State::Ready => {
                    self.engine.faults.stumbles("ready.unsolicited-move");
                }
                Some("bestmove") if self.answer.as_ref() == Some(&tokens) => {
                    self.engine.faults.stumbles("search.repeated-bestmove");
                }
                Some("bestmove") => self.engine.faults.stumbles("search.two-moves"),
                Some("info") if state == State::Again => {
                    self.engine.faults.stumbles("search.info-after");
                }
                Some("usiok") if state == State::Again => {
                    self.engine.faults.stumbles("lines.unsolicited");
                }
                Some(token) if token == self.dialect.handshake_ok() && state == State::Ready => {
                    self.engine.faults.stumbles("start.repeated-uciok");
                }
                _ => (),
            }
        }
    }

    fn reached(&self) -> Result<Position, Trouble> {
        Position::start(self.game).after(&self.moves).map_err(|error| error.to_string())
    }

    fn position(&mut self, more: Option<&str>) {
        if !self.breaks("conduct.sends-position") {
            let line = self.position_line(more);
            self.engine.send(&line);
        }
    }

    fn position_line(&self, more: Option<&str>) -> String {
        let illegal = self.breaks("conduct.legal-positions").then_some("a1h8");
        let illegal = illegal.map(|mv| if self.game == Game::Shogi { "1i9a" } else { mv });
        let tokens: Vec<&str> =
            self.moves.iter().map(String::as_str).chain(more).chain(illegal).collect();
        let moves = match tokens[..] {
            [] => "",
            _ if self.breaks("conduct.position-form") => " ",
            _ => " moves ",
        };
        format!("position startpos{moves}{}", tokens.join(" "))
    }

    fn go(&mut self, line: &str) {
        self.engine.enter(State::Searching);
        self.searches += 1;
        self.engine.send(line);
    }

    /// Waits for the answer, and plays it.
    fn best(&mut self) -> Result<(), Trouble> {
        let tokens = self.wait_for_best()?;
        let token = tokens.get(1).cloned().unwrap_or_default();
        let unchecked = self.breaks("search.illegal-move");
        if self.reached()?.parse_move(&token).is_err() && !unchecked {
            return Err(format!("`{token}` is illegal"));
        }
        let expected = tokens.get(3).cloned();
        self.moves.push(token);
        self.answer = Some(tokens);
        if unchecked && self.reached().is_err() {
            self.position(None);
            return Err("it was played".into());
        }
        // Its expected move is played, too.
        let next = self.reached()?;
        if let Some(token) = expected.clone().filter(|mv| next.parse_move(mv).is_err())
            && self.breaks("search.illegal-ponder")
        {
            self.position(Some(&token));
            return Err("it was pondered on".into());
        }
        let form = next.game().castling_form();
        let any = || next.legal_moves().into_iter().map(|mv| mv.to_uci(form)).min();
        self.moves.extend(expected.filter(|mv| next.parse_move(mv).is_ok()).or_else(any));
        Ok(())
    }

    fn wait_for_best(&mut self) -> Result<Vec<String>, Trouble> {
        let mut reported = false;
        loop {
            let tokens = self.engine.next()?;
            match tokens.first().map(String::as_str) {
                Some("bestmove") => {
                    if !reported {
                        self.engine.faults.stumbles("search.no-info");
                    }
                    return Ok(tokens);
                }
                Some("readyok") => self.engine.faults.stumbles("ready.repeated"),
                Some("info") => {
                    reported = true;
                    self.verify_pv(&tokens)?;
                }
                _ => (),
            }
        }
    }

    fn verify_pv(&self, tokens: &[String]) -> Result<(), Trouble> {
        if MANY < self.engine.count {
            self.engine.faults.stumbles("search.flood");
        }
        let pv = tokens.iter().skip_while(|token| *token != "pv").skip(1);
        if self.breaks("search.illegal-pv") && self.reached()?.after(pv).is_err() {
            self.engine.faults.stumbles("search.illegal-pv");
        }
        Ok(())
    }

    /// Starts a game with another first move.
    fn begin_another_game(&mut self) -> Result<(), Trouble> {
        let start = Position::start(self.game);
        let form = start.game().castling_form();
        let moves = start.legal_moves().into_iter().map(|mv| mv.to_uci(form));
        let other = moves.filter(|mv| Some(mv) != self.moves.first()).min();
        self.moves = other.into_iter().collect();
        self.position(None);
        self.ready(State::Again)
    }

    fn search_among(&mut self) -> Result<(), Trouble> {
        let position = self.reached()?;
        let form = position.game().castling_form();
        let mut moves: Vec<String> =
            position.legal_moves().into_iter().map(|mv| mv.to_uci(form)).collect();
        moves.sort();
        moves.truncate(3);
        if self.breaks("conduct.legal-searchmoves") {
            moves.push(if self.game == Game::Shogi { "1i9a".into() } else { "a1h8".into() });
        }
        self.position(None);
        self.go(&format!("go depth 3 searchmoves {}", moves.join(" ")));
        self.best()
    }

    fn search_for_ever(&mut self) -> Result<(), Trouble> {
        self.position(None);
        self.go("go infinite");
        if let Some(tokens) = self.engine.next_within(THINK)?
            && tokens.first().is_some_and(|token| token == "info")
        {
            self.verify_pv(&tokens)?;
            // One that ends by itself.
            let time = if self.breaks("search.ends-early") { TIMEOUT } else { THINK };
            if let Some(tokens) = self.engine.next_within(time)?
                && tokens.first().is_some_and(|token| token == "bestmove")
            {
                self.engine.faults.crashes("search.ends-early");
                return Ok(());
            }
        }
        if self.breaks("conduct.waits-for-bestmove") {
            // One write: otherwise `bestmove` may arrive before the second line is sent.
            let line = self.position_line(None);
            self.engine.send(&format!("stop\n{line}"));
        } else {
            self.engine.send("stop");
        }
        self.best()
    }

    /// Has the engine think on the opponent's time, and then play that move.
    fn ponder(&mut self, clocks: &str) -> Result<(), Trouble> {
        self.position(None);
        self.go(&format!("go {clocks}"));
        let tokens = self.wait_for_best()?;
        let (Some(best), Some(expected)) = (tokens.get(1), tokens.get(3)) else { return Ok(()) };
        let next = self.reached()?.after([best]).map_err(|error| error.to_string())?;
        if next.parse_move(expected).is_err() {
            return Ok(());
        }
        self.moves.push(best.clone());
        let expected = expected.clone();
        self.ready(State::Again)?;
        self.position(Some(&expected));
        self.go(&format!("go ponder {clocks}"));
        self.engine.send("ponderhit");
        let tokens = self.wait_for_best()?;
        let other = if self.breaks("conduct.ponderhit-move") {
            self.other_move(&expected, &tokens)?
        } else {
            None
        };
        self.moves.push(other.unwrap_or(expected));
        self.position(tokens.get(1).map(String::as_str));
        if self.breaks("conduct.ponder-position") {
            self.ponder_after_mate(clocks)?;
        }
        Ok(())
    }

    /// Another move than the expected one, after which the answer to that is possible.
    fn other_move(&self, expected: &str, answer: &[String]) -> Result<Option<String>, Trouble> {
        let Some(answer) = answer.get(1) else { return Ok(None) };
        let position = self.reached()?;
        let form = position.game().castling_form();
        let others = position.legal_moves().into_iter().map(|mv| mv.to_uci(form));
        let is_possible =
            |mv: &String| mv != expected && position.clone().after([mv.as_str(), answer]).is_ok();
        Ok(others.filter(is_possible).min())
    }

    /// Has the engine think on a move that mates.
    fn ponder_after_mate(&mut self, clocks: &str) -> Result<(), Trouble> {
        self.engine.send(self.dialect.new_game());
        self.ready(State::Again)?;
        let keyword = self.dialect.position_keyword();
        let text = match self.game {
            Game::Shogi => "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1",
            Game::Chess | Game::Chess960 => "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",
        };
        self.engine.send(&format!("position {keyword} {text}"));
        self.go(&format!("go ponder {clocks}"));
        self.engine.send("stop");
        self.wait_for_best().map(drop)
    }
}
