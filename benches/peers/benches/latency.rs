//! The time from `go` and from `stop` to `bestmove` with an engine that replies immediately, and the CPU time per ply.
//! The clients alternate in short rounds, so that other load affects all of them. The output is one line of JSON for each
//! client, with the ratio to bare pipes in the same run.
//!
//! python-chess is included if `PYTHON` is the path of an interpreter that has it; see `latency.sh`.

use std::error::Error;
use std::future::Future;
use std::io::{BufRead, BufReader, Write};
use std::pin::pin;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use readyok_client::{Builder, Dialect, Engine, Game, Limit};
use rustix::time::{ClockId, clock_gettime};

const INSTANT: &str = env!("CARGO_BIN_EXE_instant");
/// Plies of a client in a round.
const ROUND: usize = 250;
const ROUNDS: usize = 40;
/// A cycle of moves, repeated to a game of 80 plies.
const MOVES: [&str; 4] = ["g1f3", "g8f6", "f3g1", "f6g8"];
const REPETITIONS: usize = 20;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    // Arguments select clients by parts of their names.
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_selected =
        |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter));
    let plain = Engine::builder().dialect(Dialect::Uci);
    let matches = plain.clone().sync_between_searches(false);
    let mut clients: Vec<(&str, Box<dyn Client>, Samples)> = Vec::new();
    let mut add = |name, client| clients.push((name, client, Samples::default()));
    add("bare pipes", Box::new(Pipes::start()?));
    for (name, builder, mode) in [
        ("readyok", &plain, Mode::Play),
        ("readyok, begun", &plain, Mode::Begin),
        ("readyok, task", &plain, Mode::Task),
        ("readyok for matches", &matches, Mode::Play),
        ("readyok for matches, begun", &matches, Mode::Begin),
        ("readyok for matches, task", &matches, Mode::Task),
    ] {
        if is_selected(name) {
            add(name, Box::new(Readyok::start(builder.clone(), mode)?));
        }
    }
    for round in 0..=ROUNDS {
        for (_, client, samples) in &mut clients {
            let (go, cpu) = measure(|| client.go())?;
            let (stop, _) = measure(|| client.stop())?;
            // The first round is a warm-up.
            if round != 0 {
                samples.add(go, cpu, stop);
            }
        }
    }
    let bare = clients.first().map(|(_, _, samples)| samples.best_go()).ok_or("no client")?;
    for (name, _, samples) in &clients {
        println!("{}", samples.report(name, bare));
    }
    if let Some(python) = std::env::var_os("PYTHON").filter(|_| is_selected("python-chess")) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/latency.py");
        let samples = (ROUND * ROUNDS / 2).to_string();
        Command::new(python).args([script, INSTANT, &samples]).status()?;
    }
    Ok(())
}

/// A client under test. Both methods return nanoseconds.
trait Client {
    /// Time from `go` to `bestmove`.
    fn go(&mut self) -> Outcome<u128>;
    /// Time from `stop` to `bestmove` in a running search.
    fn stop(&mut self) -> Outcome<u128>;
}

/// Nanoseconds of each ply of a round, and the CPU time per ply.
fn measure(mut sample: impl FnMut() -> Outcome<u128>) -> Outcome<(Vec<u128>, f64)> {
    let before = cpu();
    let samples = (0..ROUND).map(|_| sample()).collect::<Outcome<Vec<_>>>()?;
    Ok((samples, (cpu() - before) / ROUND as f64 / 1e3))
}

/// CPU time of this process in nanoseconds, in user and kernel mode.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[derive(Default)]
struct Samples {
    go: Vec<u128>,
    stop: Vec<u128>,
    /// The median of each round.
    medians: Vec<u128>,
    /// The CPU time of each round.
    cpu: Vec<f64>,
}

impl Samples {
    fn add(&mut self, mut go: Vec<u128>, cpu: f64, stop: Vec<u128>) {
        go.sort_unstable();
        self.medians.push(go[go.len() / 2]);
        self.cpu.push(cpu);
        self.go.extend(go);
        self.stop.extend(stop);
    }

    /// The lowest median of all rounds, in microseconds.
    fn best_go(&self) -> f64 {
        self.medians.iter().min().map_or(0.0, |&median| median as f64 / 1e3)
    }

    fn report(&self, name: &str, bare: f64) -> String {
        let best = self.best_go();
        let cpu = self.cpu.iter().copied().fold(f64::MAX, f64::min);
        format!(
            r#"{{"client": "{name}", "unit": "us", "samples": {}, "best_go": {best:.1}, "of_bare": {:.2}, "cpu_per_ply": {cpu:.1}, "go": {}, "stop": {}}}"#,
            self.go.len(),
            best / bare,
            percentiles(&self.go),
            percentiles(&self.stop),
        )
    }
}

/// Percentiles in microseconds, without interpolation.
fn percentiles(samples: &[u128]) -> String {
    let mut samples = samples.to_vec();
    samples.sort_unstable();
    let at = |part: f64| {
        let rank = (samples.len() as f64 * part) as usize;
        samples[rank.min(samples.len() - 1)] as f64 / 1e3
    };
    format!(
        r#"{{"p50": {}, "p90": {}, "p99": {}, "p99.9": {}, "max": {}}}"#,
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    )
}

/// The lower bound: pipes without a client.
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
        let moves = MOVES.repeat(REPETITIONS).join(" ");
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
        // Fails if the engine has already exited.
        let _ = self.engine.kill();
        let _ = self.engine.wait();
    }
}

/// How the caller waits for a search.
#[derive(Clone, Copy)]
enum Mode {
    /// In the call that starts it.
    Play,
    /// By a handle.
    Begin,
    /// In a task.
    Task,
}

struct Readyok {
    engine: Engine,
    game: Game,
    mode: Mode,
}

impl Readyok {
    fn start(builder: Builder, mode: Mode) -> Outcome<Self> {
        let mut game = Game::startpos();
        for text in MOVES.repeat(REPETITIONS) {
            game.play(text.parse()?);
        }
        let command = Command::new(INSTANT);
        let engine = match mode {
            Mode::Play | Mode::Begin => builder.spawn(command)?,
            Mode::Task => block_on(builder.spawn_async(command))?,
        };
        Ok(Self { engine, game, mode })
    }
}

impl Client for Readyok {
    fn go(&mut self) -> Outcome<u128> {
        let start = Instant::now();
        let (engine, game, limit) = (&mut self.engine, &self.game, Limit::Nodes(1));
        let result = match self.mode {
            Mode::Play => engine.play(game, limit)?,
            Mode::Begin => engine.begin(game, limit)?.wait()?,
            Mode::Task => block_on(engine.begin(game, limit)?.into_future())?,
        };
        let time = start.elapsed().as_nanos();
        assert!(result.best_move().is_some());
        Ok(time)
    }

    fn stop(&mut self) -> Outcome<u128> {
        let mut analysis = self.engine.analyse(&self.game, Limit::Infinite)?;
        // The first `info` shows that the search is running.
        analysis.next().ok_or("no info")?;
        let start = Instant::now();
        analysis.stop();
        let result = match self.mode {
            Mode::Play | Mode::Begin => analysis.wait()?,
            Mode::Task => block_on(analysis.into_future())?,
        };
        let time = start.elapsed().as_nanos();
        assert!(result.best_move().is_some());
        Ok(time)
    }
}

/// A minimal runtime: polls a future in this thread, and parks the thread meanwhile.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
