//! The mock engine: its replies to commands, and the one behavior that a check tests.

use std::time::Duration;

use readyok_protocol::{Command, Dialect, Go};
use readyok_rules::session::SentPosition;

/// Moves of which at least one is illegal in every position.
const UNLIKELY: [&str; 3] = ["a1h8", "h8a1", "b1g8"];
const UNLIKELY_IN_SHOGI: [&str; 3] = ["1i9a", "9a1i", "5e5a+"];

/// Maximum number of lines per search.
const MAX_LINES: usize = 64;

/// An action of the mock engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    /// Write these bytes.
    Write(Vec<u8>),
    /// Write these bytes and wait until the client has read them, if that can be detected.
    WriteAndWait(Vec<u8>),
    /// Wait before the next action.
    Wait(Duration),
    /// The tested behavior begins.
    Mark,
    /// Write this number of bytes to stderr.
    WriteStderr(usize),
    CloseOutput,
    /// Exit with this code.
    Exit(u8),
    /// Abort by a signal.
    Abort,
}

/// The state of a mock engine.
#[derive(Debug)]
pub(crate) struct MockEngine {
    dialect: Dialect,
    probe: Option<Probe>,
    /// The tested behavior has occurred.
    done: bool,
    silent: bool,
    ignores_input: bool,
    lines: usize,
    position: SentPosition,
    /// The reply of an infinite search.
    held: Option<String>,
    random: fastrand::Rng,
}

/// The moves of a reply.
struct Choice {
    best: Vec<String>,
    reply: Option<String>,
}

impl MockEngine {
    /// A conforming engine, except for one behavior. Moves are random.
    pub(crate) fn new(dialect: Dialect, probe: Option<Probe>, seed: u64) -> Self {
        Self {
            dialect,
            probe,
            done: false,
            silent: false,
            ignores_input: false,
            lines: 1,
            position: SentPosition::new(dialect),
            held: None,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Actions before the first command.
    pub(crate) fn start(&mut self) -> Vec<Action> {
        let begins =
            self.probe.is_some_and(|probe| matches!(probe.behavior, Behavior::LineFormat(_)));
        let mut actions = if begins { vec![Action::Mark] } else { Vec::new() };
        actions.extend(self.emit(Trigger::Start, &[]));
        actions
    }

    /// Switches to the protocol of the client.
    pub(crate) fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
        self.position = SentPosition::new(dialect);
    }

    /// Actions at the end of input.
    pub(crate) fn input_ended(&self) -> Vec<Action> {
        if self.ignores_input { Vec::new() } else { vec![Action::Exit(0)] }
    }

    /// Actions in reply to a command.
    pub(crate) fn handle_command(&mut self, command: &Command<'_>) -> Vec<Action> {
        if self.silent {
            return Vec::new();
        }
        match command {
            Command::Uci => self.handshake(),
            Command::IsReady => self.emit(Trigger::Ready, &["readyok".into()]),
            Command::SetOption(set) => {
                let value = set.value.as_deref().unwrap_or_default();
                self.position.set_option(set);
                if self.dialect.same_option(&set.name, "MultiPV") {
                    self.lines = value.parse().unwrap_or(1).clamp(1, MAX_LINES);
                }
                Vec::new()
            }
            Command::Position(position) => {
                // The judge reports an illegal position.
                let _ = self.position.set(position);
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

    fn handshake(&mut self) -> Vec<Action> {
        let names = ["id name Readyok mock engine 1.0", "id author the Readyok authors"];
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
        let identification: Vec<String> = lines.map(|line| (*line).to_owned()).collect();
        let ok = [self.dialect.handshake_ok().to_owned()];
        let mut actions = self.emit(Trigger::Identification, &identification);
        actions.extend(self.emit(Trigger::HandshakeOk, &ok));
        actions.extend(self.emit(Trigger::AfterHandshake, &[]));
        actions
    }

    fn search(&mut self, go: &Go<'_>) -> Vec<Action> {
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
        let mut actions = self.emit(Trigger::Go, &infos);
        if go.infinite || go.ponder {
            self.held = Some(answer);
            actions.extend(self.emit(Trigger::Infinite, &[]));
        } else {
            actions.extend(self.answer(answer));
        }
        actions
    }

    fn answer(&mut self, answer: String) -> Vec<Action> {
        let mut actions = self.emit(Trigger::BestMove, &[answer]);
        actions.extend(self.emit(Trigger::AfterBestMove, &[]));
        actions
    }

    fn quit(&mut self) -> Vec<Action> {
        let mut actions = self.emit(Trigger::Quit, &[]);
        if !self.silent {
            actions.push(Action::Exit(0));
        }
        actions
    }

    /// Legal moves in random order, the first one with a reply.
    fn choose(&mut self, go: &Go<'_>) -> Choice {
        let none = Choice { best: Vec::new(), reply: None };
        let Some(position) = self.position.position() else { return none };
        let format = position.game().castling_form();
        let wanted = |token: &String| match &go.search_moves {
            Some(only) => {
                only.tokens().any(|other| other == *token) || only.tokens().next().is_none()
            }
            None => true,
        };
        let moves = position.legal_moves().into_iter();
        let mut best: Vec<String> = moves.map(|mv| mv.to_uci(format)).filter(wanted).collect();
        // Sorted, so that random choices do not depend on the move generator.
        best.sort();
        self.random.shuffle(&mut best);
        let after = best.first().and_then(|token| position.clone().after([token]).ok());
        let reply = after
            .filter(|next| next.outcome().is_none())
            .and_then(|next| next.legal_moves().into_iter().map(|mv| mv.to_uci(format)).min());
        Choice { best, reply }
    }

    /// Output at a trigger, modified by the tested behavior.
    fn emit(&mut self, moment: Trigger, lines: &[String]) -> Vec<Action> {
        if self.silent {
            return Vec::new();
        }
        let now = self.probe.filter(|probe| probe.when == moment && !self.done);
        let Some(probe) = now.filter(|probe| !matches!(probe.behavior, Behavior::LineFormat(_)))
        else {
            return self.write_all(lines);
        };
        self.done = true;
        let mut actions = vec![Action::Mark];
        match probe.behavior {
            Behavior::Before(first) => {
                let first: Vec<String> = first.iter().map(|line| self.substituted(line)).collect();
                actions.extend(self.write_all(&first));
            }
            Behavior::Instead(those) => {
                let those: Vec<String> = those.iter().map(|line| self.substituted(line)).collect();
                actions.extend(self.write_all(&those));
                if moment == Trigger::Infinite {
                    self.held = None;
                }
                return actions;
            }
            Behavior::Often(line, count) => {
                let line = self.substituted(line);
                let all: Vec<String> =
                    (1..=count).map(|n| line.replace("{n}", &n.to_string())).collect();
                // One write for each line would test the system instead of the client.
                actions.push(Action::Write((all.join("\n") + "\n").into_bytes()));
            }
            Behavior::Long(bytes) => {
                let line = format!("info string {}\n", "x".repeat(bytes));
                actions.push(Action::Write(line.into_bytes()));
            }
            Behavior::Bytes(bytes) => actions.push(Action::Write(bytes.to_vec())),
            Behavior::Late(time) => actions.push(Action::Wait(time)),
            Behavior::Twice => actions.extend(self.write_all(lines)),
            Behavior::Silence | Behavior::IgnoreInput => {
                self.silent = true;
                self.ignores_input = matches!(probe.behavior, Behavior::IgnoreInput);
                return actions;
            }
            Behavior::Exit => actions.push(Action::Exit(1)),
            Behavior::Abort => actions.push(Action::Abort),
            Behavior::HalfLine(text) => {
                actions.push(Action::Write(text.as_bytes().to_vec()));
                actions.push(Action::Exit(1));
            }
            Behavior::CloseOutput => {
                self.silent = true;
                actions.push(Action::CloseOutput);
                return actions;
            }
            Behavior::WriteStderr(bytes) => actions.push(Action::WriteStderr(bytes)),
            Behavior::LineFormat(_) => (),
        }
        actions.extend(self.write_all(lines));
        actions
    }

    /// A line of a probe, with moves for its placeholders.
    fn substituted(&mut self, line: &str) -> String {
        if !line.contains('{') {
            return line.to_owned();
        }
        let choice = self.choose(&Go::default());
        let unlikely = match self.dialect {
            Dialect::Uci => UNLIKELY,
            Dialect::Usi => UNLIKELY_IN_SHOGI,
        };
        let position = self.position.position();
        let cannot =
            |token: &&str| position.is_none_or(|position| position.parse_move(token).is_err());
        let illegal = unlikely.into_iter().find(cannot).unwrap_or_default();
        let best = choice.best.first().map_or_else(|| self.dialect.no_move(), String::as_str);
        let other = choice.best.get(1).map_or(best, String::as_str);
        let reply = choice.reply.as_deref().unwrap_or(illegal);
        let fill =
            [("{best}", best), ("{other}", other), ("{reply}", reply), ("{illegal}", illegal)];
        fill.into_iter().fold(line.to_owned(), |line, (name, token)| line.replace(name, token))
    }

    fn write_all(&self, lines: &[String]) -> Vec<Action> {
        let format = match self.probe.map(|probe| probe.behavior) {
            Some(Behavior::LineFormat(format)) => format,
            _ => LineFormat::Plain,
        };
        lines.iter().flat_map(|line| formatted(format, line)).collect()
    }
}

fn formatted(format: LineFormat, line: &str) -> Vec<Action> {
    let output = |text: String| vec![Action::Write(text.into_bytes())];
    match format {
        LineFormat::Plain => output(format!("{line}\n")),
        LineFormat::Crlf => output(format!("{line}\r\n")),
        LineFormat::Spaced => output(format!(" \t{} \t\n", line.replace(' ', " \t "))),
        LineFormat::UnknownLines => output(format!("xyzzy plugh 17\n{line}\n")),
        LineFormat::EmptyLines => output(format!("\n\n{line}\n")),
        LineFormat::Fragments => {
            let bytes = format!("{line}\n").into_bytes();
            bytes.chunks(7).map(|chunk| Action::WriteAndWait(chunk.to_vec())).collect()
        }
    }
}

/// A behavior of the mock engine that a check tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    pub(crate) when: Trigger,
    pub(crate) behavior: Behavior,
    pub(crate) expect: Expect,
    /// The protocols permit the behavior, so that the client must conform.
    pub(crate) conforming: bool,
}

/// The trigger of a behavior.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Trigger {
    /// Before the first output.
    Start,
    /// After `uci` or `usi`: name, author and options are due.
    Identification,
    /// After the options: `uciok` or `usiok` is due.
    HandshakeOk,
    /// After `uciok` or `usiok`.
    AfterHandshake,
    /// After `isready`: `readyok` is due.
    Ready,
    /// After `go`: `info` is due.
    Go,
    /// After the `info` of a finite search: `bestmove` is due.
    BestMove,
    /// After the start of an infinite search or of pondering.
    Infinite,
    /// After `bestmove`.
    AfterBestMove,
    /// After `quit`: the exit is due.
    Quit,
}

/// The behavior. Placeholders: `{best}` is a legal move, `{reply}` a legal reply to it, `{other}` another legal move and
/// `{illegal}` an illegal move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Behavior {
    /// Sends these lines first.
    Before(&'static [&'static str]),
    /// Sends these lines instead.
    Instead(&'static [&'static str]),
    /// Sends this line repeatedly first, with the count for `{n}`.
    Often(&'static str, u32),
    /// Sends one line of this length first.
    Long(usize),
    /// Sends these bytes first.
    Bytes(&'static [u8]),
    /// Waits first.
    Late(Duration),
    /// Sends the due lines twice.
    Twice,
    /// Sends no more output, and exits at the end of input.
    Silence,
    /// Sends no more output, and does not exit.
    IgnoreInput,
    /// Exits with code 1.
    Exit,
    /// Aborts by a signal.
    Abort,
    /// Sends a partial line, and exits with code 1.
    HalfLine(&'static str),
    /// Closes its output, and exits at the end of input.
    CloseOutput,
    /// Writes this number of bytes to stderr first.
    WriteStderr(usize),
    /// Writes all lines in this format.
    LineFormat(LineFormat),
}

/// The format of lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LineFormat {
    /// Normal.
    Plain,
    /// With carriage return and line feed.
    Crlf,
    /// With tabs and more spaces than needed.
    Spaced,
    /// With an unknown line before each.
    UnknownLines,
    /// With an empty line before each.
    EmptyLines,
    /// In many small pieces.
    Fragments,
}

/// The expected reaction of the client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expect {
    /// The client continues normally.
    Works,
    /// The client drops the engine or continues. It does not crash, hang or orphan the engine.
    Copes,
}

#[cfg(test)]
mod tests {
    use super::super::script::Expect;
    use super::*;

    fn output(actions: &[Action]) -> String {
        let bytes = actions.iter().filter_map(|action| match action {
            Action::Write(bytes) | Action::WriteAndWait(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        String::from_utf8(bytes.collect::<Vec<_>>().concat()).expect("UTF-8")
    }

    fn send(engine: &mut MockEngine, line: &str) -> Vec<Action> {
        engine.handle_command(&Command::read(line, Dialect::Uci).value)
    }

    #[test]
    fn without_a_probe_it_obeys() {
        let mut engine = MockEngine::new(Dialect::Uci, None, 1);
        assert_eq!(engine.start(), []);
        assert!(output(&send(&mut engine, "uci")).ends_with("uciok\n"));
        assert_eq!(output(&send(&mut engine, "isready")), "readyok\n");
        send(&mut engine, "position fen k7/8/1K6/8/8/8/8/7R b - - 0 1");
        assert!(output(&send(&mut engine, "go infinite")).starts_with("info depth 1 "));
        assert!(output(&send(&mut engine, "stop")).starts_with("bestmove a8b8 ponder "));
        assert_eq!(output(&send(&mut engine, "stop")), "");
        assert_eq!(send(&mut engine, "quit"), [Action::Exit(0)]);
    }

    #[test]
    fn a_probe_is_done_once() {
        let behavior = Behavior::Instead(&["bestmove {illegal}"]);
        let probe =
            Probe { when: Trigger::BestMove, behavior, expect: Expect::Copes, conforming: false };
        let mut engine = MockEngine::new(Dialect::Uci, Some(probe), 1);
        let first = send(&mut engine, "go depth 1");
        assert!(first.contains(&Action::Mark) && output(&first).ends_with("bestmove a1h8\n"));
        let next = send(&mut engine, "go depth 1");
        assert!(!next.contains(&Action::Mark) && !output(&next).contains("a1h8"));
    }
}
