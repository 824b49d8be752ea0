//! The part of the engine: what it says to each line of the client, and the one thing that it does on
//! the way.

use std::time::Duration;

use readyok_protocol::{Command, Dialect, Go};
use readyok_rules::{Game, Position};

use super::probe::{Act, Form, Moment, Probe};
use crate::conversation::{GameOf, resolve};

/// Moves that can seldom be played: one of them never can.
const UNLIKELY: [&str; 3] = ["a1h8", "h8a1", "b1g8"];
const UNLIKELY_IN_SHOGI: [&str; 3] = ["1i9a", "9a1i", "5e5a+"];

/// More lines of a search than this are not told.
const MOST_LINES: usize = 64;

/// What is to be done.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Deed {
    /// Write these bytes.
    Say(Vec<u8>),
    /// Write these bytes, and nothing more until the client has read them, if that can be known.
    SayApart(Vec<u8>),
    /// Wait before the next deed.
    Wait(Duration),
    /// What is tested begins here.
    Mark,
    /// Write so many bytes to the error output.
    Complain(usize),
    /// Close the output.
    Close,
    /// End with this code.
    Exit(u8),
    /// End by a signal.
    Abort,
}

/// An engine that a client has started.
#[derive(Debug)]
pub(crate) struct Part {
    dialect: Dialect,
    probe: Option<Probe>,
    /// The one thing was done.
    done: bool,
    silent: bool,
    deaf: bool,
    game: Game,
    lines: usize,
    position: Option<Position>,
    /// The answer of an endless search.
    held: Option<String>,
    random: fastrand::Rng,
}

/// The moves of one answer.
struct Choice {
    best: Vec<String>,
    reply: Option<String>,
}

impl Part {
    /// An engine that obeys, but for one thing. Moves are drawn by lot from `seed`.
    pub(crate) fn new(dialect: Dialect, probe: Option<Probe>, seed: u64) -> Self {
        Self {
            dialect,
            probe,
            done: false,
            silent: false,
            deaf: false,
            game: dialect.game(),
            lines: 1,
            position: Some(Position::start(dialect.game())),
            held: None,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// What it does before it hears anything.
    pub(crate) fn start(&mut self) -> Vec<Deed> {
        let begins = self.probe.is_some_and(|probe| matches!(probe.act, Act::Form(_)));
        let mut deeds = if begins { vec![Deed::Mark] } else { Vec::new() };
        deeds.extend(self.due(Moment::Start, &[]));
        deeds
    }

    /// Goes over to the protocol that the client speaks.
    pub(crate) fn speak(&mut self, dialect: Dialect) {
        self.dialect = dialect;
        self.game = dialect.game();
        self.position = Some(Position::start(self.game));
    }

    /// What it does when its input has ended.
    pub(crate) fn input_ended(&self) -> Vec<Deed> {
        if self.deaf { Vec::new() } else { vec![Deed::Exit(0)] }
    }

    /// What it does when it has heard this.
    pub(crate) fn hear(&mut self, command: &Command<'_>) -> Vec<Deed> {
        if self.silent {
            return Vec::new();
        }
        match command {
            Command::Uci => self.greet(),
            Command::IsReady => self.due(Moment::Ready, &["readyok".into()]),
            Command::SetOption(set) => {
                let value = set.value.as_deref().unwrap_or_default();
                if set.name.eq_ignore_ascii_case("UCI_Chess960") {
                    let on = value.eq_ignore_ascii_case("true");
                    self.game = if on { Game::Chess960 } else { Game::Chess };
                } else if self.dialect.same_option(&set.name, "MultiPV") {
                    self.lines = value.parse().unwrap_or(1).clamp(1, MOST_LINES);
                }
                Vec::new()
            }
            Command::Position(position) => {
                self.position = resolve(position, self.game);
                Vec::new()
            }
            Command::Go(go) if go.perft.is_none() && self.held.is_none() => self.search(go),
            Command::Stop | Command::PonderHit(_) | Command::GameOver(_) => {
                let Some(answer) = self.held.take() else { return Vec::new() };
                self.answer(answer)
            }
            Command::Quit => self.quit(),
            Command::Go(_)
            | Command::Debug(_)
            | Command::Register(_)
            | Command::NewGame
            | Command::Unknown(_) => Vec::new(),
        }
    }

    fn greet(&mut self) -> Vec<Deed> {
        let names = ["id name Scripted partner 1.0", "id author the Readyok authors"];
        let options: &[&str] = match self.dialect {
            Dialect::Uci => &[
                "option name Hash type spin default 16 min 1 max 1024",
                "option name Threads type spin default 1 min 1 max 4",
                "option name MultiPV type spin default 1 min 1 max 8",
                "option name Ponder type check default false",
                "option name UCI_Chess960 type check default false",
                "option name Clear Hash type button",
                "option name Style type combo default Normal var Solid var Normal var Risky",
                "option name Book File type string default <empty>",
            ],
            Dialect::Usi => &[
                "option name USI_Hash type spin default 16 min 1 max 1024",
                "option name USI_Ponder type check default false",
                "option name USI_MultiPV type spin default 1 min 1 max 8",
                "option name Threads type spin default 1 min 1 max 4",
                "option name ClearHash type button",
                "option name Style type combo default Normal var Solid var Normal var Risky",
                "option name BookFile type filename default <empty>",
            ],
        };
        let lines = names.iter().chain(options);
        let greeting: Vec<String> = lines.map(|line| (*line).to_owned()).collect();
        let ok = [self.dialect.handshake_ok().to_owned()];
        let mut deeds = self.due(Moment::Greeting, &greeting);
        deeds.extend(self.due(Moment::Declared, &ok));
        deeds.extend(self.due(Moment::Greeted, &[]));
        deeds
    }

    fn search(&mut self, go: &Go<'_>) -> Vec<Deed> {
        let choice = self.choose(go);
        let infos = choice.best.iter().enumerate().map(|(at, best)| {
            let reply = choice.reply.iter().filter(|_| at == 0).map(String::as_str);
            let pv: Vec<&str> = [best.as_str()].into_iter().chain(reply).collect();
            format!(
                "info depth 1 seldepth 1 multipv {} score cp {} nodes 20 nps 20000 time 1 pv {}",
                at + 1,
                12 - 5 * i64::try_from(at).unwrap_or_default(),
                pv.join(" ")
            )
        });
        let infos: Vec<String> = infos.take(self.lines).collect();
        let answer = if go.mate.is_some() && self.dialect.mate_search_is_timed() {
            "checkmate nomate".to_owned()
        } else {
            let best = choice.best.first().map(String::as_str);
            let best = best.unwrap_or_else(|| self.dialect.no_move());
            let reply = choice.reply.iter().map(|reply| format!(" ponder {reply}"));
            format!("bestmove {best}{}", reply.collect::<String>())
        };
        let mut deeds = self.due(Moment::Go, &infos);
        if go.infinite || go.ponder {
            self.held = Some(answer);
            deeds.extend(self.due(Moment::Endless, &[]));
        } else {
            deeds.extend(self.answer(answer));
        }
        deeds
    }

    fn answer(&mut self, answer: String) -> Vec<Deed> {
        let mut deeds = self.due(Moment::Answer, &[answer]);
        deeds.extend(self.due(Moment::Answered, &[]));
        deeds
    }

    fn quit(&mut self) -> Vec<Deed> {
        let mut deeds = self.due(Moment::Quit, &[]);
        if !self.silent {
            deeds.push(Deed::Exit(0));
        }
        deeds
    }

    /// Legal moves by lot, the first of them with a move after it.
    fn choose(&mut self, go: &Go<'_>) -> Choice {
        let none = Choice { best: Vec::new(), reply: None };
        let Some(position) = &self.position else { return none };
        let form = position.game().castling_form();
        let wanted = |word: &String| match &go.search_moves {
            Some(only) => only.words().any(|it| it == *word) || only.words().next().is_none(),
            None => true,
        };
        let moves = position.legal_moves().into_iter();
        let mut best: Vec<String> = moves.map(|mv| mv.word(form)).filter(wanted).collect();
        // Where lots are drawn, the order must not depend on the library.
        best.sort();
        self.random.shuffle(&mut best);
        let after = best.first().and_then(|word| position.clone().after([word]).ok());
        let reply = after
            .filter(|next| next.ending().is_none())
            .and_then(|next| next.legal_moves().into_iter().map(|mv| mv.word(form)).min());
        Choice { best, reply }
    }

    /// What is said when something is due, with the one thing that is done on the way.
    fn due(&mut self, moment: Moment, lines: &[String]) -> Vec<Deed> {
        if self.silent {
            return Vec::new();
        }
        let now = self.probe.filter(|probe| probe.when == moment && !self.done);
        let Some(probe) = now.filter(|probe| !matches!(probe.act, Act::Form(_))) else {
            return self.say_all(lines);
        };
        self.done = true;
        let mut deeds = vec![Deed::Mark];
        match probe.act {
            Act::Before(first) => {
                let first: Vec<String> = first.iter().map(|line| self.filled(line)).collect();
                deeds.extend(self.say_all(&first));
            }
            Act::Instead(those) => {
                let those: Vec<String> = those.iter().map(|line| self.filled(line)).collect();
                deeds.extend(self.say_all(&those));
                if moment == Moment::Endless {
                    self.held = None;
                }
                return deeds;
            }
            Act::Often(line, count) => {
                let line = self.filled(line);
                let all: Vec<String> =
                    (1..=count).map(|n| line.replace("{n}", &n.to_string())).collect();
                // One write for each would be a test of the system.
                deeds.push(Deed::Say((all.join("\n") + "\n").into_bytes()));
            }
            Act::Long(bytes) => {
                let line = format!("info string {}\n", "x".repeat(bytes));
                deeds.push(Deed::Say(line.into_bytes()));
            }
            Act::Bytes(bytes) => deeds.push(Deed::Say(bytes.to_vec())),
            Act::Late(time) => deeds.push(Deed::Wait(time)),
            Act::Twice => deeds.extend(self.say_all(lines)),
            Act::Silence | Act::Deaf => {
                self.silent = true;
                self.deaf = matches!(probe.act, Act::Deaf);
                return deeds;
            }
            Act::Exit => deeds.push(Deed::Exit(1)),
            Act::Abort => deeds.push(Deed::Abort),
            Act::HalfLine(text) => {
                deeds.push(Deed::Say(text.as_bytes().to_vec()));
                deeds.push(Deed::Exit(1));
            }
            Act::CloseOutput => {
                self.silent = true;
                deeds.push(Deed::Close);
                return deeds;
            }
            Act::Complain(bytes) => deeds.push(Deed::Complain(bytes)),
            Act::Form(_) => (),
        }
        deeds.extend(self.say_all(lines));
        deeds
    }

    /// A line of a probe with moves in it.
    fn filled(&mut self, line: &str) -> String {
        if !line.contains('{') {
            return line.to_owned();
        }
        let choice = self.choose(&Go::default());
        let unlikely = match self.game {
            Game::Chess | Game::Chess960 => UNLIKELY,
            Game::Shogi => UNLIKELY_IN_SHOGI,
        };
        let position = self.position.as_ref();
        let cannot = |word: &&str| position.is_none_or(|it| it.parse_move(word).is_err());
        let illegal = unlikely.into_iter().find(cannot).unwrap_or_default();
        let best = choice.best.first().map_or_else(|| self.dialect.no_move(), String::as_str);
        let other = choice.best.get(1).map_or(best, String::as_str);
        let reply = choice.reply.as_deref().unwrap_or(illegal);
        let fill =
            [("{best}", best), ("{other}", other), ("{reply}", reply), ("{illegal}", illegal)];
        fill.into_iter().fold(line.to_owned(), |line, (name, word)| line.replace(name, word))
    }

    fn say_all(&self, lines: &[String]) -> Vec<Deed> {
        let form = match self.probe.map(|probe| probe.act) {
            Some(Act::Form(form)) => form,
            _ => Form::Plain,
        };
        lines.iter().flat_map(|line| written(form, line)).collect()
    }
}

/// A line in a form.
fn written(form: Form, line: &str) -> Vec<Deed> {
    let said = |text: String| vec![Deed::Say(text.into_bytes())];
    match form {
        Form::Plain => said(format!("{line}\n")),
        Form::Crlf => said(format!("{line}\r\n")),
        Form::Spaced => said(format!(" \t{} \t\n", line.replace(' ', " \t "))),
        Form::Noisy => said(format!("xyzzy plugh 17\n{line}\n")),
        Form::Loose => said(format!("\n\n{line}\n")),
        Form::Pieces => {
            let bytes = format!("{line}\n").into_bytes();
            bytes.chunks(7).map(|it| Deed::SayApart(it.to_vec())).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::probe::Expect;
    use super::*;

    fn said(deeds: &[Deed]) -> String {
        let bytes = deeds.iter().filter_map(|deed| match deed {
            Deed::Say(bytes) | Deed::SayApart(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        String::from_utf8(bytes.collect::<Vec<_>>().concat()).expect("UTF-8")
    }

    fn heard(part: &mut Part, line: &str) -> Vec<Deed> {
        part.hear(&Command::read(line, Dialect::Uci).value)
    }

    #[test]
    fn without_a_probe_it_obeys() {
        let mut part = Part::new(Dialect::Uci, None, 1);
        assert_eq!(part.start(), []);
        assert!(said(&heard(&mut part, "uci")).ends_with("uciok\n"));
        assert_eq!(said(&heard(&mut part, "isready")), "readyok\n");
        heard(&mut part, "position fen k7/8/1K6/8/8/8/8/7R b - - 0 1");
        assert!(said(&heard(&mut part, "go infinite")).starts_with("info depth 1 "));
        assert!(said(&heard(&mut part, "stop")).starts_with("bestmove a8b8 ponder "));
        assert_eq!(said(&heard(&mut part, "stop")), "");
        assert_eq!(heard(&mut part, "quit"), [Deed::Exit(0)]);
    }

    #[test]
    fn a_probe_is_done_once() {
        let act = Act::Instead(&["bestmove {illegal}"]);
        let probe = Probe { when: Moment::Answer, act, expect: Expect::Copes, fair: false };
        let mut part = Part::new(Dialect::Uci, Some(probe), 1);
        let first = heard(&mut part, "go depth 1");
        assert!(first.contains(&Deed::Mark) && said(&first).ends_with("bestmove a1h8\n"));
        let next = heard(&mut part, "go depth 1");
        assert!(!next.contains(&Deed::Mark) && !said(&next).contains("a1h8"));
    }
}
