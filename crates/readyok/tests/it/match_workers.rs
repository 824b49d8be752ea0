//! What the workers of OpenBench and fishtest read in the output of `readyok match --fastchess` about faulty engines.
//!
//! Their parsers are stated here as facts, with the functions that contain them:
//! - OpenBench, commit `9906bad`: `Client/worker.py`, `run_and_parse_runner`, `MatchRunner.update_results`,
//!   `PGNHelper.get_error_reason`.
//! - fishtest, commit `b8eecff`: `worker/games.py`, `parse_fastchess_output`.
//!
//! The expected results are those of fastchess, which prints these lines for the same engines. The engines are shell
//! scripts and Narikin. With `READYOK_MATCH_WORKERS=target/match-workers` the parsers of both workers read each output,
//! too; `scripts/install-match-workers.sh` installs them.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::process::{Command, Stdio};

use regex::Regex;
use serde_json::{Value, json};

use crate::program::{Dir, readyok, run};

/// The arguments of both workers that affect the output.
const COMMON: &str = "-recover -testEnv -variant standard -games 2 -ratinginterval 1 -crc32 pgn=true \
                      -pgnout file=games.pgn append=false seldepth=true nodes=true";

/// What the worker of OpenBench sends to its server.
#[derive(Debug, Default, PartialEq)]
struct OpenBench {
    /// Losses, draws and wins.
    trinomial: [u32; 3],
    pentanomial: [u32; 5],
    crashes: u32,
    time_losses: u32,
    illegal: u32,
}

impl OpenBench {
    /// Reads the output until the first empty line.
    fn read(output: &str) -> Self {
        let (mut results, mut games) = (Self::default(), BTreeMap::new());
        for line in output.lines().map(str::trim).take_while(|line| !line.is_empty()) {
            // It decodes each line as ASCII, and an exception ends it.
            assert!(line.is_ascii(), "{line}");
            if !line.contains("Finished game") {
                continue;
            }
            let reason = line.split(':').nth(1).expect(line);
            let has = |text: &str| u32::from(reason.contains(text));
            results.crashes += u32::from(has("disconnect") + has("stalls") > 0);
            results.time_losses += has("on time");
            results.illegal += has("illegal");
            let tokens: Vec<&str> = line.split_whitespace().collect();
            let number: u32 = tokens[2].parse().expect(line);
            // Draws count one half point each.
            let points = ["0-1", "1/2-1/2", "1-0"].iter().position(|score| *score == tokens[6]);
            games.insert(number, points.expect(line));
            let first = number - (number + 1) % 2;
            if let (Some(&one), Some(&other)) = (games.get(&first), games.get(&(first + 1))) {
                results.trinomial[one] += 1;
                results.trinomial[2 - other] += 1;
                results.pentanomial[one + 2 - other] += 1;
            }
        }
        results
    }
}

/// The errors that OpenBench reports about the games of a PGN file.
fn pgn_errors(games: &str) -> Vec<&'static str> {
    let tags = games.lines().filter_map(|line| line.strip_prefix("[Termination \""));
    let known = [("abandoned", "Disconnect"), ("stalled", "Stalled"), ("illegal", "Illegal Move")];
    let error =
        |tag: &str| known.iter().find(|(text, _)| tag.contains(text)).map(|(_, name)| *name);
    tags.filter_map(error).collect()
}

/// What the worker of fishtest sends to its server.
#[derive(Debug, Default, PartialEq)]
struct Fishtest {
    wins: u32,
    losses: u32,
    draws: u32,
    pentanomial: [u32; 5],
    crashes: u32,
    time_losses: u32,
    /// The line that ends the task as a fault of an engine.
    error: Option<String>,
    /// The lines of the first warnings, which it reports and continues.
    warnings: Vec<String>,
    /// The checksum of the PGN file.
    checksum: Option<String>,
}

const ERRORS: [&str; 17] = [
    "Warning;.*doesn't have option",
    "Warning; Invalid value for option",
    "Warning; Failed to set.*option",
    "Warning; No info line available to extract score from engine",
    "Warning; Illegal move",
    "Warning; Could not extract score from engine",
    "Warning; Illegal PV move",
    "Warning; Move does not match uci move format",
    "Warning; PV continues after checkmate",
    "Warning; PV continues after stalemate",
    "Warning; PV continues after threefold",
    "Warning; PV continues after fifty-move rule",
    "Warning; Incomplete mating PV",
    "Warning; Too long mating PV",
    "Warning; Mating PV does not end with checkmate",
    "Warning; Bestmove does not match beginning of last PV",
    "Warning; Sign mismatch in mate scores",
];
const WARNINGS: [&str; 4] = [
    "Warning; Engine .* is not responsive",
    "Warning; Engine .* didn't respond",
    "Warning; No output from",
    "Warning; No bestmove found from",
];
const GAMES: &str =
    r"Games: ([0-9]+), Wins: ([0-9]+), Losses: ([0-9]+), Draws: ([0-9]+), Points: ([0-9.]+) \(";
const PAIRS: &str = r"Ptnml\(0-2\): \[([0-9]+), ([0-9]+), ([0-9]+), ([0-9]+), ([0-9]+)\]";

impl Fishtest {
    /// Reads the output of a match of this number of games, with a batch of a pair. The parsers of both workers must
    /// read the same, if they are installed.
    fn read(output: &str, games: u32) -> Self {
        let results = Self::parse(output, games);
        if let Some(read) = read_by_workers(output, games) {
            let OpenBench { trinomial, pentanomial, crashes, time_losses, illegal } =
                OpenBench::read(output);
            let counted = json!({
                "trinomial": trinomial, "pentanomial": pentanomial, "crashes": crashes,
                "timelosses": time_losses, "illegals": illegal,
            });
            // It sends the counts with complete pairs.
            if pentanomial != [0; 5] {
                assert_eq!(read["openbench"], counted, "{output}");
            }
            let Self { wins, losses, draws, pentanomial, crashes, time_losses, .. } = &results;
            let counted = json!([wins, losses, draws, pentanomial, crashes, time_losses]);
            let names = ["wins", "losses", "draws", "pentanomial", "crashes", "time_losses"];
            let counts = names.map(|name| read["fishtest"][name].clone());
            assert_eq!(json!(counts), counted, "{output}");
            assert_eq!(read["fishtest"]["error"], json!(results.error), "{output}");
            assert_eq!(
                read["fishtest"]["warnings"][0],
                json!(results.warnings.first()),
                "{output}"
            );
            assert_eq!(read["fishtest"]["checksum"], json!(results.checksum), "{output}");
        }
        results
    }

    fn parse(output: &str, games: u32) -> Self {
        let expressions = |list: &[&str]| -> Vec<Regex> {
            list.iter().map(|text| Regex::new(text).expect(text)).collect()
        };
        let (errors, warnings) = (expressions(&ERRORS), expressions(&WARNINGS));
        let [games_line, pairs_line] = [GAMES, PAIRS].map(|text| Regex::new(text).expect(text));
        let number = |text: &str| text.parse::<u32>().expect(text);
        let (mut results, mut updated, mut is_over) = (Self::default(), 0, false);
        let mut counts = None;
        for line in output.lines().map(str::trim) {
            if line.contains("has CRC32:") {
                results.checksum = line.split_whitespace().last().map(str::to_owned);
            }
            if line.contains("Finished match") {
                assert_eq!(updated, games, "finished match uncleanly: {output}");
                is_over = true;
            }
            if errors.iter().any(|error| error.is_match(line)) {
                results.error = Some(line.to_owned());
                return results;
            }
            if warnings.iter().any(|warning| warning.is_match(line)) {
                results.warnings.push(line.to_owned());
            }
            let has = |text: &str| u32::from(line.contains(text));
            results.crashes += u32::from(has("disconnect") + has("stall") > 0);
            results.time_losses += u32::from(has("on time") + has("timeout") > 0);
            if let Some(found) = games_line.captures(line) {
                let (_, [all, wins, losses, draws, points]) = found.extract();
                points.parse::<f64>().expect(points);
                counts = Some(number(all));
                (results.wins, results.losses, results.draws) =
                    (number(wins), number(losses), number(draws));
            }
            if let (Some(found), Some(all)) = (pairs_line.captures(line), counts) {
                results.pentanomial = found.extract::<5>().1.map(number);
                counts = None;
                let Self { wins, losses, draws, .. } = results;
                let pairs: u32 = results.pentanomial.iter().sum();
                assert_eq!((2 * pairs, all), (wins + losses + draws, 2 * pairs), "{output}");
                assert!(all <= updated + 2 && all <= games, "{output}");
                updated = all;
            }
        }
        assert!(is_over, "{output}");
        results
    }
}

/// What the parsers of OpenBench and fishtest count, if `READYOK_MATCH_WORKERS` names the directory of
/// `scripts/install-match-workers.sh`.
fn read_by_workers(output: &str, games: u32) -> Option<Value> {
    let directory = env::var_os("READYOK_MATCH_WORKERS")?;
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/match_workers.py")).arg(directory);
    command.arg(games.to_string()).env("PYTHONDONTWRITEBYTECODE", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let read = run(&mut command, output.as_bytes());
    assert_eq!(read.code(), Some(0), "{}", read.stderr);
    Some(serde_json::from_slice(&read.stdout).expect("JSON"))
}

/// An engine that answers each `go` by these shell commands, and `isready` after a time in seconds. `$first` is a legal
/// first move of its side.
fn engine(dir: &Dir, name: &str, on_go: &str) -> String {
    let script = format!(
        "#!/bin/sh\nready=0\nwhile read -r command rest; do case $command in \
         uci) echo 'id name Faulty'; echo uciok;; \
         isready) sleep $ready; echo readyok;; \
         position) case $rest in *moves*) first=e7e5;; *) first=e2e4;; esac;; go) {on_go};; quit) exit;; esac; done\n"
    );
    dir.write_program(name, &script).display().to_string()
}

/// The output of matches of `faulty` against `healthy`, and the games.
struct MatchOutput {
    output: String,
    games: String,
}

fn play(dir: &Dir, faulty: &str, healthy: &str, options: &str) -> MatchOutput {
    let line = format!(
        "match --fastchess {COMMON} -engine cmd={faulty} name=New-0123456789 \
         -engine cmd={healthy} name=Base-0123456789 {options}"
    );
    let args: Vec<&str> = line.split_whitespace().collect();
    let output = run(readyok(dir).current_dir(dir.path()).args(args), b"");
    assert_eq!(output.code(), Some(0), "{}{}", output.text(), output.stderr);
    let games = fs::read_to_string(dir.path().join("games.pgn")).expect("games");
    MatchOutput { output: output.text().to_owned(), games }
}

const NAME: &str = "New-0123456789";

/// What both workers count for each game of an engine with a fault.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Crash,
    TimeLoss,
    Illegal,
}

use Fault::{Crash, Illegal, TimeLoss};

/// A failure ends each game with the first move of the engine. `message` is the first warning that fishtest reports, or
/// the error that ends its task.
#[test]
fn failures_are_counted_as_those_of_fastchess() {
    let check = |on_go: &str, options: &str, fault: Fault, message: &str| {
        let dir = Dir::new();
        let faulty = engine(&dir, "faulty", on_go);
        let options = format!("nodes=10 -rounds 2 -concurrency 2 -each {options}");
        let MatchOutput { output, games } = play(&dir, &faulty, "narikin", &options);
        let count = |kind| if fault == kind { 4 } else { 0 };
        let (crashes, time_losses, illegal) = (count(Crash), count(TimeLoss), count(Illegal));
        let (trinomial, pentanomial) = ([4, 0, 0], [2, 0, 0, 0, 0]);
        let expected = OpenBench { trinomial, pentanomial, crashes, time_losses, illegal };
        assert_eq!(OpenBench::read(&output), expected, "{on_go}: {output}");
        // fastchess marks a stall like a crash, and OpenBench reports no losses on time.
        let errors = match fault {
            Crash => vec!["Disconnect"; 4],
            Illegal => vec!["Illegal Move"; 4],
            TimeLoss => vec![],
        };
        assert_eq!(pgn_errors(&games), errors, "{on_go}: {games}");

        let found = Fishtest::read(&output, 4);
        if fault == Illegal {
            assert_eq!(found.error.as_deref(), Some(message), "{on_go}");
            return;
        }
        assert!(found.checksum.is_some(), "{output}");
        assert_eq!(found.warnings.first().map_or("", String::as_str), message, "{on_go}");
        let (warnings, checksum) = (found.warnings.clone(), found.checksum.clone());
        let counted =
            Fishtest { losses: 4, pentanomial, crashes, time_losses, ..Fishtest::default() };
        assert_eq!(found, Fishtest { warnings, checksum, ..counted }, "{on_go}: {output}");
    };
    let clock = "tc=10+0.1";
    check("exit 3", clock, Crash, "");
    check("echo 'info string on time, stalls'; kill -9 $$", clock, Crash, "");
    // The process lives on without an output.
    check("exec >&-; sleep 0.5", clock, Crash, "");
    let stall = format!("Warning; Engine {NAME} is not responsive");
    let stalls = "ready=1; echo info score cp 0; echo bestmove $first";
    check(stalls, "nodes=1 -ping-ms 50", Crash, &stall);
    check("sleep 0.5; echo bestmove $first", "tc=0.05", TimeLoss, "");
    check("sleep 0.5", "tc=0.05", TimeLoss, "");
    let illegal = |mv: &str| format!("Warning; Illegal move {mv} played by {NAME}");
    let notation = |mv: &str| {
        let why = "Move does not match uci move format, lowercase and 4/5 chars.";
        format!("Warning; {why} Move {mv} played by {NAME}")
    };
    check("echo bestmove e2e5", clock, Illegal, &illegal("e2e5"));
    // A move of the opponent, and texts outside ASCII.
    let black = "echo info depth 1 score cp 0; echo 'info string §'; echo bestmove a7a6 ponder é";
    check(&black.replace("a7a6", "a3a4"), clock, Illegal, &illegal("a3a4"));
    check("echo bestmove é", clock, Illegal, &notation("?"));
    check("echo bestmove '(none)'", clock, Illegal, &notation("(none)"));
    check("echo bestmove 0000", clock, Illegal, &notation("0000"));
    check("echo bestmove", clock, Illegal, &illegal("<none>"));
}

/// Both engines fail with the first move: White loses each game, by another fault in each game of a pair.
#[test]
fn each_failure_counts_for_its_engine() {
    let dir = Dir::new();
    let one = engine(&dir, "one", "exit 3");
    let other = engine(&dir, "other", "sleep 0.5");
    let MatchOutput { output, games } = play(&dir, &one, &other, "-rounds 2 -each tc=0.05");
    let pentanomial = [0, 0, 2, 0, 0];
    let (crashes, time_losses) = (2, 2);
    let expected =
        OpenBench { trinomial: [2, 0, 2], pentanomial, crashes, time_losses, illegal: 0 };
    assert_eq!(OpenBench::read(&output), expected, "{output}");
    assert_eq!(pgn_errors(&games), ["Disconnect"; 2], "{games}");
    let found = Fishtest::read(&output, 4);
    let Fishtest { wins, losses, draws, .. } = found;
    assert_eq!((wins, losses, draws), (2, 2, 0), "{output}");
    let counts = (found.pentanomial, found.crashes, found.time_losses, found.error);
    assert_eq!(counts, (pentanomial, crashes, time_losses, None), "{output}");
}

/// A PV that continues after the end of the game, of each kind, and other invalid PVs end the task of fishtest. The
/// result is that of the game.
#[test]
fn invalid_variations_are_reported_as_by_fastchess() {
    let play = |position: &str, info: &str, mv: &str| {
        let dir = Dir::new();
        fs::write(dir.path().join("book.epd"), format!("{position}\n")).expect("space");
        let faulty =
            engine(&dir, "faulty", &format!("echo info depth 1 {info}; echo bestmove {mv}"));
        let line = "-rounds 1 -games 1 -maxmoves 1 -check-mate-pvs -each nodes=1 \
                    -openings file=book.epd format=epd order=sequential";
        play(&dir, &faulty, "narikin", line).output
    };
    let check = |position: &str, info: &str, mv: &str, result: &str, message: &str| {
        let output = play(position, info, mv);
        let found = Fishtest::read(&output, 1).error.unwrap_or_default();
        // The rest has the line and the position, in one line.
        let (warning, rest) = found.split_once(" :: ").unwrap_or((&found, ""));
        assert_eq!(warning, format!("Warning; {message} from {NAME}"), "{output}");
        assert!(
            rest.starts_with(&format!("Info; info depth 1 {info} :: Position; fen ")),
            "{output}"
        );
        let finished = output.lines().find(|line| line.starts_with("Finished game 1 "));
        assert!(finished.is_some_and(|line| line.ends_with(result)), "{output}");
        let read = OpenBench::read(&output);
        assert_eq!((read.crashes, read.time_losses, read.illegal), (0, 0, 0), "{output}");
    };
    let mate = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1";
    let stalemate = "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1";
    let fifty = "8/8/4k3/8/8/4K3/4R3/8 w - - 99 100";
    let rooks = "r5k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
    let (mates, drawn) = ("{White mates}", "{Draw by adjudication}");
    let beyond = |end: &str, mv: &str| format!("PV continues after {end} - move {mv}");
    let pv = "score cp 900 pv a1a8 g8h8";
    check(mate, pv, "a1a8", mates, &beyond("checkmate", "g8h8"));
    let pv = "score cp 0 pv f1f7 h8g8";
    check(stalemate, pv, "f1f7", "{Draw by stalemate}", &beyond("stalemate", "h8g8"));
    let pv = "score cp 0 pv e3d3 e6d6 e2e1";
    check(fifty, pv, "e3d3", "{Draw by fifty moves rule}", &beyond("fifty-move rule", "e6d6"));
    let pv = "score cp 0 pv g1f1 g8f8 f1g1 f8g8 g1f1 g8f8 f1g1 f8g8 g1h1";
    check(rooks, pv, "g1f1", drawn, &beyond("threefold repetition", "g1h1"));
    let pv = "score cp 9 pv g1f1 g1f1";
    check(rooks, pv, "g1f1", drawn, "Illegal PV move - move g1f1");
    let pv = "score cp 9 pv g1f1";
    check(rooks, pv, "g1h1", drawn, "Bestmove does not match beginning of last PV - move g1h1");
    check(mate, "score mate 2 pv a1a8", "a1a8", mates, "Incomplete mating PV -");
    check(rooks, "score mate 1 pv g1f1 g8f8", "g1f1", drawn, "Too long mating PV -");
    check(rooks, "score mate 1 pv g1f1", "g1f1", drawn, "Mating PV does not end with checkmate -");

    // As in fastchess, a PV may continue after insufficient material.
    let output = play("8/8/4k3/8/8/4Kp2/8/8 w - - 0 1", "score cp 0 pv e3f3 e6e5", "e3f3");
    assert!(output.contains("{Draw by insufficient mating material}"), "{output}");
    assert!(!output.contains("Warning; "), "{output}");
}
