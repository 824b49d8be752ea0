//! Scripted engines, for games with a planned end.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use readyok_arena::game::{Cancel, GameSettings, Player, play_game};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{EngineId, EnginePlan, Limits, Protocol};
use readyok_arena::result::MatchGame;
use readyok_client::{Timeouts, WaitLimit};
use readyok_rules::Game;

/// Long enough for a loaded host.
const LONG: Duration = Duration::from_mins(1);
/// A timeout that is expected to expire.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

/// The answers of an engine, one for each `go` of a game.
///
/// A plain token is a `bestmove`. Otherwise, output lines are separated by `|`, and those that start with `!` are
/// actions: `!hang`, `!flood`, `!leave`, `!wait 50`, `!ponder` (waits until an engine ponders), `!part bestmove e2`
/// (without a line end), `!long 3000000`. After `go ponder`, the answer waits for the next command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) handshake: String,
    pub(crate) acts: Vec<String>,
    /// Prefix and suffix of each line.
    pub(crate) frame: (&'static str, &'static str),
    /// Output that is repeated at the end of each game, before the next one.
    pub(crate) farewell: &'static str,
    /// Whether an engine received `go ponder`. Shared by the scripts of a game.
    pub(crate) ponders: Arc<AtomicBool>,
}

pub(crate) fn script(acts: &str) -> Script {
    let acts = acts.split(',').map(str::trim).filter(|act| !act.is_empty());
    Script {
        handshake: "option name Hash type spin default 16 min 1 max 64".to_owned(),
        acts: acts.map(str::to_owned).collect(),
        frame: ("", "\n"),
        farewell: "",
        ponders: Arc::default(),
    }
}

pub(crate) fn plan(name: &str, limits: Limits) -> EnginePlan {
    EnginePlan { name: name.to_owned(), limits, ..EnginePlan::default() }
}

pub(crate) fn timeouts() -> Timeouts {
    let long = WaitLimit::fixed(LONG);
    Timeouts {
        handshake: long,
        ready: long,
        stop: long,
        overrun: LONG,
        stall: LONG,
        quit: long,
        ..Timeouts::default()
    }
}

/// Parses a script whose engine may hang.
fn timeouts_with(script: &Script) -> Timeouts {
    if script.acts.iter().any(|act| act.contains("!hang") || act.contains("!flood")) {
        let short = WaitLimit::fixed(SHORT);
        Timeouts { stop: short, quit: short, ..timeouts() }
    } else {
        timeouts()
    }
}

/// A player that follows a script, and the lines it receives.
pub(crate) fn player(
    game: Game,
    id: u32,
    plan: &EnginePlan,
    script: Script,
) -> (Player, Receiver<String>) {
    let (received, lines) = channel();
    let timeouts = timeouts_with(&script);
    let start = move |builder: readyok_client::Builder| {
        let (script, received) = (script.clone(), received.clone());
        builder.in_process(move |input, output| obey(&script, input, output, &received))
    };
    (Player::with_start(game, EngineId(id), plan, timeouts, start), lines)
}

/// The settings of short games.
pub(crate) fn setting(game: Game) -> GameSettings {
    GameSettings { stall: WaitLimit::fixed(LONG), ..GameSettings::new(game) }
}

/// Settings with a short stall timeout.
pub(crate) fn impatient(game: Game) -> GameSettings {
    let stall = WaitLimit { silence: SHORT, total: SHORT * 4 };
    GameSettings { stall, ..GameSettings::new(game) }
}

/// Plays a game of two scripts without clocks.
pub(crate) fn game(setting: &GameSettings, opening: &Opening, scripts: [Script; 2]) -> MatchGame {
    let plans =
        ["first", "second"].map(|name| plan(name, Limits { nodes: Some(1), ..Limits::default() }));
    game_of(setting, opening, &plans, scripts)
}

/// Plays a game of two scripts.
pub(crate) fn game_of(
    setting: &GameSettings,
    opening: &Opening,
    plans: &[EnginePlan; 2],
    scripts: [Script; 2],
) -> MatchGame {
    let [first, second] = scripts;
    let (mut first, _received) = player(setting.game, 0, &plans[0], first);
    let (mut second, _second_received) = player(setting.game, 1, &plans[1], second);
    play(setting, opening, &mut first, &mut second)
}

pub(crate) fn play(
    setting: &GameSettings,
    opening: &Opening,
    first: &mut Player,
    second: &mut Player,
) -> MatchGame {
    let cancel = Cancel::default();
    let mut reported = 0;
    let mut count = |_: &_, _: &_| reported += 1;
    let result = play_game(setting, opening, [first, second], &cancel, &mut count);
    let result = result.expect("an opening");
    assert_eq!(reported, result.moves.len());
    result
}

/// A plan with this protocol.
pub(crate) fn speaking(protocol: Protocol, plan: EnginePlan) -> EnginePlan {
    EnginePlan { protocol: Some(protocol), ..plan }
}

/// The output of a script.
struct Voice {
    output: PipeWriter,
    frame: (&'static str, &'static str),
    ponders: Arc<AtomicBool>,
}

impl Voice {
    fn lines(&mut self, text: &str) {
        let (before, after) = self.frame;
        let lines = text.split('|').map(|line| format!("{before}{}{after}", line.trim()));
        self.raw(&lines.collect::<String>());
    }

    fn raw(&mut self, text: &str) {
        // The pipe may be closed.
        let _ = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush());
    }

    /// Writes until the pipe is closed.
    fn flood(&mut self) {
        let lines = "info depth 9 score cp 1 nodes 99 pv e2e4\n".repeat(99);
        while self.output.write_all(lines.as_bytes()).is_ok() {}
    }

    /// Executes the answer to one `go`. Returns whether the engine continues.
    fn act(&mut self, act: &str) -> bool {
        if !act.contains(['|', ' ', '!']) {
            self.lines(&format!("bestmove {act}"));
            return true;
        }
        // Consecutive lines are written together.
        let mut lines = Vec::new();
        for part in act.split('|').map(str::trim).chain(["!"]) {
            let (what, value) = part.split_once(' ').unwrap_or((part, ""));
            if !what.starts_with('!') {
                lines.push(part);
                continue;
            }
            if !lines.is_empty() {
                self.lines(&std::mem::take(&mut lines).join("|"));
            }
            match what {
                "!hang" => loop {
                    thread::park();
                },
                "!flood" => self.flood(),
                "!leave" => return false,
                "!wait" => thread::park_timeout(Duration::from_millis(number(value))),
                "!ponder" => {
                    while !self.ponders.load(Ordering::SeqCst) {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
                "!part" => self.raw(value),
                "!long" => {
                    let long = "x".repeat(usize::try_from(number(value)).unwrap_or(0));
                    self.lines(&format!("info string {long}"));
                }
                "!" => (),
                what => panic!("{what} is nothing to do"),
            }
        }
        true
    }
}

fn number(text: &str) -> u64 {
    text.parse().expect(text)
}

fn obey(script: &Script, input: PipeReader, output: PipeWriter, received: &Sender<String>) {
    let mut acts = script.acts.iter();
    let mut voice = Voice { output, frame: script.frame, ponders: script.ponders.clone() };
    let lines = BufReader::new(input).lines().map_while(Result::ok);
    // The receiver may be closed.
    let mut lines = lines.inspect(|line| drop(received.send(line.clone())));
    while let Some(line) = lines.next() {
        match line.split(' ').next().unwrap_or_default() {
            command @ ("uci" | "usi") => {
                voice.lines(&format!("id name Script|{}|{command}ok", script.handshake));
            }
            "isready" => voice.lines("readyok"),
            "ucinewgame" | "usinewgame" => {
                acts = script.acts.iter();
                if !script.farewell.is_empty() {
                    voice.lines(script.farewell);
                }
            }
            "go" => {
                let Some(act) = acts.next() else { return };
                voice.ponders.fetch_or(line.contains("ponder"), Ordering::SeqCst);
                if line.contains("ponder") && lines.next().as_deref() != Some("ponderhit") {
                    voice.lines("bestmove e2e4");
                } else if !voice.act(act) {
                    return;
                }
            }
            "quit" => return,
            _ => (),
        }
    }
}
