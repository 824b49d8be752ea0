//! How long a client takes from `go` and from `stop` to `bestmove`, with an engine that answers at
//! once. One line of JSON for each client, two rounds.
//!
//! python-chess takes part if `PYTHON` names an interpreter that has it; see `latency.sh`.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use readyok_client::{Engine, Game, Limit};

const INSTANT: &str = env!("CARGO_BIN_EXE_instant");
const SAMPLES: usize = 5_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    for _ in 0..2 {
        report("bare pipes", &mut Pipes::start()?)?;
        report("readyok", &mut Readyok::start()?)?;
        if let Some(python) = std::env::var_os("PYTHON") {
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
    let go = percentiles(|| client.go())?;
    let stop = percentiles(|| client.stop())?;
    println!(
        r#"{{"client": "{name}", "unit": "us", "samples": {SAMPLES}, "go": {go}, "stop": {stop}}}"#
    );
    Ok(())
}

/// Microseconds. The sample at a rank, without interpolation.
fn percentiles(mut sample: impl FnMut() -> Outcome<u128>) -> Outcome<String> {
    for _ in 0..SAMPLES / 10 {
        sample()?;
    }
    let mut samples = (0..SAMPLES).map(|_| sample()).collect::<Outcome<Vec<_>>>()?;
    samples.sort_unstable();
    let at = |part: f64| {
        let rank = (SAMPLES as f64 * part) as usize;
        samples[rank.min(SAMPLES - 1)] as f64 / 1e3
    };
    Ok(format!(
        r#"{{"p50": {}, "p90": {}, "p99": {}, "p99.9": {}, "max": {}}}"#,
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    ))
}

/// What the machine needs without any client.
struct Pipes {
    engine: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Pipes {
    fn start() -> Outcome<Self> {
        let piped = Stdio::piped;
        let mut engine = Command::new(INSTANT).stdin(piped()).stdout(piped()).spawn()?;
        let input = engine.stdin.take().ok_or("no input")?;
        let output = BufReader::new(engine.stdout.take().ok_or("no output")?);
        Ok(Self { engine, input, output, line: String::new() })
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
        self.answer_to("position startpos\ngo nodes 1\n", "bestmove")
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
    fn start() -> Outcome<Self> {
        Ok(Self { engine: Engine::spawn(Command::new(INSTANT))?, game: Game::startpos() })
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
