//! How long a client takes from `go` and from `stop` to `bestmove`, with an engine that answers at
//! once, and what a ply of a match costs its processor. One line of JSON for each client, two rounds.
//!
//! python-chess takes part if `PYTHON` names an interpreter that has it; see `latency.sh`.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use readyok_client::{Builder, Dialect, Engine, Game, Limit};
use rustix::time::{ClockId, clock_gettime};

const INSTANT: &str = env!("CARGO_BIN_EXE_instant");
const SAMPLES: usize = 5_000;
/// A game of 80 plies that ends where it began.
const MOVES: [&str; 4] = ["g1f3", "g8f6", "f3g1", "f6g8"];
const ROUNDS: usize = 20;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    // Only clients whose name has one of these words, if there are any.
    let words: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let plain = Engine::builder().dialect(Dialect::Uci);
    let matches = plain.clone().separate_searches(false);
    for _ in 0..2 {
        if wanted("bare pipes") {
            report("bare pipes", &mut Pipes::start()?)?;
        }
        for (name, builder) in [
            ("readyok", &plain),
            ("readyok, inline", &plain.clone().inline()),
            ("readyok for matches", &matches),
            ("readyok for matches, inline", &matches.clone().inline()),
        ] {
            if wanted(name) {
                report(name, &mut Readyok::start(builder.clone())?)?;
            }
        }
        if let Some(python) = std::env::var_os("PYTHON").filter(|_| wanted("python-chess")) {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/latency.py");
            let samples = SAMPLES.to_string();
            Command::new(python).args([script, INSTANT, &samples]).status()?;
        }
    }
    Ok(())
}

/// Somebody who plays and analyses. Both methods return nanoseconds.
trait Client {
    /// From `go` to `bestmove`.
    fn go(&mut self) -> Outcome<u128>;
    /// From `stop` to `bestmove`, in a search that has begun.
    fn stop(&mut self) -> Outcome<u128>;
}

fn report(name: &str, client: &mut impl Client) -> Outcome<()> {
    let (go, cpu) = percentiles(|| client.go())?;
    let (stop, _) = percentiles(|| client.stop())?;
    println!(
        r#"{{"client": "{name}", "unit": "us", "samples": {SAMPLES}, "cpu_per_ply": {cpu:.1}, "go": {go}, "stop": {stop}}}"#
    );
    Ok(())
}

/// The nanoseconds that all threads of this process have used, for themselves and in the kernel.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Microseconds. The sample at a rank, without interpolation; and what one costs the processor.
fn percentiles(mut sample: impl FnMut() -> Outcome<u128>) -> Outcome<(String, f64)> {
    for _ in 0..SAMPLES / 10 {
        sample()?;
    }
    let before = cpu();
    let mut samples = (0..SAMPLES).map(|_| sample()).collect::<Outcome<Vec<_>>>()?;
    let cpu = (cpu() - before) / SAMPLES as f64 / 1e3;
    samples.sort_unstable();
    let at = |part: f64| {
        let rank = (SAMPLES as f64 * part) as usize;
        samples[rank.min(SAMPLES - 1)] as f64 / 1e3
    };
    let text = format!(
        r#"{{"p50": {}, "p90": {}, "p99": {}, "p99.9": {}, "max": {}}}"#,
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    Ok((text, cpu))
}

/// What the machine needs without any client.
struct Pipes {
    engine: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    go: String,
}

impl Pipes {
    fn start() -> Outcome<Self> {
        let piped = Stdio::piped;
        let mut engine = Command::new(INSTANT).stdin(piped()).stdout(piped()).spawn()?;
        let input = engine.stdin.take().ok_or("no input")?;
        let output = BufReader::new(engine.stdout.take().ok_or("no output")?);
        let moves = MOVES.repeat(ROUNDS).join(" ");
        let go = format!("position startpos moves {moves}\ngo nodes 1\n");
        Ok(Self { engine, input, output, line: String::new(), go })
    }

    fn answer_to(&mut self, lines: &str, start_of_answer: &str) -> Outcome<u128> {
        let start = Instant::now();
        self.input.write_all(lines.as_bytes())?;
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        let time = start.elapsed().as_nanos();
        assert!(self.line.starts_with(start_of_answer), "`{}` to `{lines}`", self.line);
        Ok(time)
    }
}

impl Client for Pipes {
    fn go(&mut self) -> Outcome<u128> {
        let go = std::mem::take(&mut self.go);
        let time = self.answer_to(&go, "bestmove");
        self.go = go;
        time
    }

    fn stop(&mut self) -> Outcome<u128> {
        self.answer_to("position startpos\ngo infinite\n", "info")?;
        self.answer_to("stop\n", "bestmove")
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.engine.kill();
        let _ = self.engine.wait();
    }
}

struct Readyok {
    engine: Engine,
    game: Game,
}

impl Readyok {
    fn start(builder: Builder) -> Outcome<Self> {
        let mut game = Game::startpos();
        for word in MOVES.repeat(ROUNDS) {
            game.play(word.parse()?);
        }
        Ok(Self { engine: builder.spawn(Command::new(INSTANT))?, game })
    }
}

impl Client for Readyok {
    fn go(&mut self) -> Outcome<u128> {
        let start = Instant::now();
        let played = self.engine.play(&self.game, Limit::Nodes(1))?;
        let time = start.elapsed().as_nanos();
        assert!(played.best_move().is_some());
        Ok(time)
    }

    fn stop(&mut self) -> Outcome<u128> {
        let mut analysis = self.engine.analyse(&self.game, Limit::Infinite)?;
        // The engine searches once it has told something.
        analysis.next().ok_or("no info")?;
        let start = Instant::now();
        let played = analysis.finish()?;
        let time = start.elapsed().as_nanos();
        assert!(played.best_move().is_some());
        Ok(time)
    }
}
