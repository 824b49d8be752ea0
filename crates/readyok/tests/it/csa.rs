//! `readyok csa`: clients and a server against each other, and a client against scripted and hostile servers.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use readyok_rules::record::{self, Format, GameRecord};
use readyok_rules::{GameResult, Side, Termination};

use crate::program::{
    Dir, Output, Signal, TIMEOUT, finish, readyok, scripted_engine, signal, wait,
};

const SUMMARY: &str = include_str!("data/csa/summary.txt");

/// An engine that answers one search.
fn engine(dir: &Dir, clocks: &str, answer: &str) -> String {
    engine_with(dir, false, &format!("> go {clocks}\n{answer}"))
}

/// An engine with these steps after the first position of a game.
fn engine_with(dir: &Dir, ponders: bool, steps: &str) -> String {
    let script = format!(
        "> usi\n< id name Scripted\n< usiok\n> isready\n< readyok\n> isready\n< readyok\n\
         > setoption name USI_Hash value 32\n> setoption name USI_Ponder value {ponders}\n\
         > usinewgame\n> position startpos moves 7g7f 3c3d\n{steps}"
    );
    let script = dir.write("script", &script);
    format!("{} {}", scripted_engine().display(), script.display())
}

fn client(dir: &Dir, address: &str, engine: &str) -> Command {
    client_for(1, dir, address, engine)
}

/// A client for a number of games.
fn client_for(games: u32, dir: &Dir, address: &str, engine: &str) -> Command {
    let mut command = readyok(dir);
    command.args(["csa", address, "--engine", engine, "--user", "me"]);
    command.args(["--games", &games.to_string(), "--no-ponder", "--margin", "0", "-o"]);
    command.arg(dir.path().join("games"));
    command
}

/// A server for one connection: `> ` expects a line, `< ` sends one, `! ` sends raw text without a line end, `- ` waits
/// for a file and removes it.
fn serve(steps: &str) -> (String, JoinHandle<()>) {
    serve_all(vec![steps.to_owned()])
}

/// A server with the steps of each connection.
fn serve_all(connections: Vec<String>) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let serve = move || {
        for steps in connections {
            let steps: Vec<String> = steps.lines().map(str::to_owned).collect();
            let (stream, _) = listener.accept().expect("a client");
            stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
            play_script(stream, &steps);
        }
    };
    (address, thread::spawn(serve))
}

fn play_script(mut stream: TcpStream, steps: &[String]) {
    let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
    for step in steps {
        match step.split_at(2) {
            ("> ", expected) => {
                let line = lines.next().expect("a line").expect("a line");
                assert_eq!(line, expected);
            }
            ("< ", line) => writeln!(stream, "{line}").expect("sent"),
            ("- ", file) => {
                wait("the file does not exist", || Path::new(file).exists());
                fs::remove_file(file).expect("a file");
            }
            // The client may close the connection before all is sent.
            (_, text) => _ = stream.write_all(text.repeat(10_000).as_bytes()),
        }
    }
}

fn summary() -> String {
    SUMMARY.lines().flat_map(|line| ["< ", line, "\n"]).collect()
}

/// The steps up to the start of the game.
fn begin() -> String {
    let summary = summary();
    format!(
        "> LOGIN me x\n< LOGIN:me OK\n{summary}> AGREE ../test+me+you\n< START:../test+me+you\n"
    )
}

/// The steps after the other player resigned.
const WON: &str = "< %TORYO,T1\n< #RESIGN\n< #WIN\n> LOGOUT\n< LOGOUT:completed";

/// The resignation of the client, and the steps after it.
const LOST: &str = "> %TORYO\n< %TORYO,T0\n< #RESIGN\n< #LOSE\n> LOGOUT\n< LOGOUT:completed";

fn records(directory: &Path) -> Vec<GameRecord> {
    let files =
        fs::read_dir(directory).into_iter().flatten().map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let read = |path| {
        let file = fs::File::open(path).expect("a file");
        let mut games = record::read(file, Format::CSA);
        let game = games.next().expect("a game").expect("a valid game");
        assert_eq!(games.notices(), []);
        game
    };
    files.iter().map(read).collect()
}

/// Waits for an error message, and interrupts the client, which would connect again.
fn error_of(mut child: Child) -> String {
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    errors.read_line(&mut line).expect("a line");
    signal(child.id(), Signal::INT);
    finish(child);
    line
}

#[test]
fn two_clients_play_on_a_local_server() {
    let dir = Dir::new();
    let games = dir.path().join("games");
    let mut server = readyok(&dir);
    server.args([
        "csa",
        "--serve",
        "127.0.0.1:0",
        "--games",
        "2",
        "--time",
        "4",
        "--max-moves",
        "12",
    ]);
    let mut server = server.arg("-o").arg(&games).spawn().expect("the server starts");
    let mut output = BufReader::new(server.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("an address");
    let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
    let start = |user: &str| {
        let mut client = readyok(&dir);
        client.args(["csa", &address, "--engine", "narikin", "--user", user, "--games", "2"]);
        client.args(["--floodgate", "--option", "USI_Hash=16"]).stdout(Stdio::null());
        client.spawn().expect("a client starts")
    };
    let clients = ["a", "b"].map(start);
    for child in clients.into_iter().chain([server]) {
        let output = finish(child);
        assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    }
    let games = records(&games);
    let firsts: Vec<_> = games.iter().filter_map(|game| game.player(Side::First)).collect();
    assert!(firsts == ["a", "b"] || firsts == ["b", "a"], "{firsts:?}");
    for game in games {
        assert_eq!((game.plies(), game.termination()), (12, Some(Termination::MoveLimit)));
        let has_evaluation = |node: &record::Node| game.annotations(node.id()).evaluation.is_some();
        assert!(game.mainline().all(has_evaluation), "without evaluations");
    }
}

#[test]
fn continues_a_game_with_its_clocks_and_saves_the_record() {
    let dir = Dir::new();
    let answer = "< info depth 3 score cp 40 pv 2g2f 8c8d\n< bestmove 2g2f";
    let engine = engine(&dir, "btime 80000 wtime 97000 byoyomi 10000", answer);
    let (address, server) =
        serve(&format!("{}> +2726FU,'* 40 -8384FU\n< +2726FU,T2\n{WON}", begin()));
    let output =
        finish(client(&dir, &address, &engine).arg("--floodgate").spawn().expect("a client"));
    server.join().expect("the expected messages");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let games = records(&dir.path().join("games"));
    let [game] = games.as_slice() else { panic!("one record") };
    assert_eq!(game.result, GameResult::Win(Side::First));
    assert_eq!((game.plies(), game.termination()), (3, Some(Termination::Resignation)));
    let times: Vec<_> = game
        .mainline()
        .filter_map(|node| game.annotations(node.id()).elapsed)
        .map(|duration| duration.as_secs())
        .collect();
    assert_eq!(times, [20, 3, 2]);
}

/// The connection is lost after a move that the server has not received. It continues the game after the next login, while
/// it still has the old one once. The move is sent again, without another search.
#[test]
fn connects_again_after_a_lost_connection() {
    let dir = Dir::new();
    let go = "> go btime 80000 wtime 97000 byoyomi 10000\n";
    let steps = format!("{go}< bestmove 2g2f");
    let engine = engine_with(&dir, false, &steps);
    let begin = begin();
    let (address, server) = serve_all(vec![
        format!("{begin}> +2726FU"),
        "> LOGIN me x\n< LOGIN:incorrect".to_owned(),
        format!("{begin}> +2726FU\n{WON}"),
    ]);
    let output = finish(client(&dir, &address, &engine).spawn().expect("a client"));
    server.join().expect("the expected messages");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let errors: Vec<_> = output.stderr.lines().collect();
    assert_eq!(
        errors,
        [
            "readyok: the server has closed the connection; next connection in 1 s",
            "readyok: the server rejected the login of `me`; next connection in 2 s",
        ]
    );
    let ends: Vec<_> = records(&dir.path().join("games"))
        .iter()
        .map(|game| (game.result, game.termination()))
        .collect();
    let won = (GameResult::Win(Side::First), Some(Termination::Resignation));
    let lost = (GameResult::Unknown, Some(Termination::Aborted));
    assert!(ends == [lost, won] || ends == [won, lost], "{ends:?}");
}

#[test]
fn searches_on_the_time_of_the_opponent() {
    let dir = Dir::new();
    // A reply before `go ponder` makes pondering needless.
    let ponders = dir.path().join("ponders").display().to_string();
    let steps = format!(
        "> go btime 80000 wtime 97000 byoyomi 10000\n< bestmove 2g2f ponder 8c8d\n\
         > position startpos moves 7g7f 3c3d 2g2f 8c8d\n\
         ~ go ponder btime \n+ {ponders}\n~ ponderhit\n\
         < bestmove 2f2e ponder 8d8e\n\
         > position startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e\n\
         ~ go ponder btime \n+ {ponders}\n> stop\n< bestmove 6i7h\n\
         > position startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 4a3b\n\
         > go btime 80000 wtime 97000 byoyomi 10000\n< bestmove resign"
    );
    let engine = engine_with(&dir, true, &steps);
    let (address, server) = serve(&format!(
        "{}\
         > +2726FU\n< +2726FU,T0\n- {ponders}\n< -8384FU,T0\n\
         > +2625FU\n< +2625FU,T0\n- {ponders}\n< -4132KI,T0\n\
         {LOST}",
        begin()
    ));
    let mut command = readyok(&dir);
    command.args(["csa", &address, "--engine", &engine, "--user", "me", "--games", "1"]);
    let output = finish(command.args(["--margin", "0"]).spawn().expect("a client"));
    server.join().expect("the expected messages");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn serves_games_despite_hostile_players() {
    let dir = Dir::new();
    let mut server = readyok(&dir);
    server.args(["csa", "--serve", "127.0.0.1:0", "--games", "1", "--max-moves", "4"]);
    server.args(["--time", "20"]);
    let mut server = server.spawn().expect("the server starts");
    let mut output = BufReader::new(server.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("an address");
    let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
    let connect = || TcpStream::connect(&address).expect("a connection");
    // Silent connections, binary data, endless lines, and a flood of lines.
    let silent: Vec<_> = (0..20).map(|_| connect()).collect();
    for text in ["\0\u{7f}\n", "LOGIN\n", "LOGIN \u{202e} x\n", "GET / HTTP/1.1\r\n\r\n"] {
        let mut stream = connect();
        stream.write_all(text.as_bytes()).expect("sent");
        // The server closes the connection.
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let mut answer = String::new();
        let _ = BufReader::new(stream).read_to_string(&mut answer);
        assert!(answer.is_empty() || answer == "LOGIN:incorrect\n", "{answer}");
    }
    for text in ["x".repeat(1 << 20), "LOGIN hostile x\n".to_owned() + &"\n".repeat(1 << 18)] {
        // Fails when the server closes the connection.
        let _ = connect().write_all(text.as_bytes());
    }
    let clients = ["a", "b"].map(|user| {
        let mut client = readyok(&dir);
        client.args(["csa", &address, "--engine", "narikin", "--user", user, "--games", "1"]);
        client.args(["--no-ponder", "--option", "USI_Hash=16"]).stdout(Stdio::null());
        client.spawn().expect("a client starts")
    });
    for child in clients.into_iter().chain([server]) {
        let output = finish(child);
        assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    }
    drop(silent);
}

#[test]
fn restarts_an_engine_that_crashes_after_a_game() {
    let dir = Dir::new();
    let go = "> go btime 80000 wtime 97000 byoyomi 10000\n";
    let engine = engine_with(&dir, false, &format!("{go}< bestmove 2g2f\n> gameover win\n= 3"));
    let game = format!("{}> +2726FU\n< +2726FU,T2\n{WON}", begin());
    let (address, server) = serve_all(vec![game.clone(), game]);
    let output = finish(client_for(2, &dir, &address, &engine).spawn().expect("a client"));
    server.join().expect("the expected messages");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert_eq!(records(&dir.path().join("games")).len(), 2);
}

#[test]
fn resigns_if_a_crashed_engine_cannot_be_restarted() {
    let dir = Dir::new();
    let engine = engine(&dir, "btime 80000 wtime 97000 byoyomi 10000", "= 3");
    let (address, server) =
        serve(&format!("- {}\n{}{LOST}", dir.path().join("script").display(), begin()));
    let output = finish(client(&dir, &address, &engine).spawn().expect("a client"));
    server.join().expect("the expected messages");
    output.reports(0, "the engine resigns");
}

#[test]
fn resigns_after_an_illegal_move_of_the_engine() {
    let dir = Dir::new();
    let engine = engine(&dir, "btime 80000 wtime 97000 byoyomi 10000", "< bestmove 2g2e");
    let (address, server) = serve(&format!("{}{LOST}", begin()));
    let output = finish(client(&dir, &address, &engine).spawn().expect("a client"));
    server.join().expect("the expected messages");
    output.reports(0, "illegal move: `2g2e`");
}

#[test]
fn reports_rejected_logins_and_unreachable_servers() {
    let dir = Dir::new();
    let run = |address: &str| -> Output {
        finish(client(&dir, address, "narikin").spawn().expect("a client"))
    };
    let (address, server) = serve("> LOGIN me x\n< LOGIN:incorrect");
    let output = run(&address);
    server.join().expect("the expected messages");
    assert_eq!(output.code(), Some(1));
    assert_eq!(output.stderr, "readyok: the server rejected the login of `me`\n");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let output = run(&free.to_string());
    assert_eq!(output.code(), Some(1));
    assert!(
        output.stderr.starts_with(&format!("readyok: cannot connect to {free}: ")),
        "{}",
        output.stderr
    );
}

#[test]
fn survives_hostile_servers() {
    let dir = Dir::new();
    let login = "> LOGIN me x\n< LOGIN:me OK\n";
    let begun = begin();
    for (steps, error) in [
        (format!("{login}! x"), "a line that is too long"),
        (login.to_owned(), "closed the connection"),
        (format!("{login}< BEGIN Game_Summary\n< END Game_Summary"), "no `Your_Turn`"),
        (format!("{login}{}", summary().replace("-3334FU", "-3335FU")), "invalid position"),
        (format!("{begun}< +5958HI,T0"), "the server sent an illegal move"),
        (format!("{begun}< -8384FU,T0"), "the server sent an illegal move"),
        (begun, "closed the connection"),
    ] {
        let (address, server) = serve(&steps);
        let child = client(&dir, &address, "narikin").spawn().expect("a client");
        let line = error_of(child);
        assert!(line.contains(error), "{steps}: {line}");
        server.join().expect("the expected messages");
    }
}

/// A server that is killed during games keeps the records of all games whose end it has announced, each once and complete.
#[test]
fn a_killed_server_keeps_complete_records_only() {
    const KILLS: usize = 4;
    let seed = std::env::var("READYOK_KILLS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| fastrand::u64(..));
    let mut random = fastrand::Rng::with_seed(seed);
    let dir = Dir::new();
    let games = dir.path().join("games");
    let mut complete = 0;
    for kill in 0..KILLS {
        let mut server = readyok(&dir);
        server.args([
            "csa",
            "--serve",
            "127.0.0.1:0",
            "--games",
            "1000",
            "--time",
            "20",
            "--max-moves",
            "2",
        ]);
        let mut server = server.arg("-o").arg(&games).spawn().expect("the server starts");
        let mut output = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("an address");
        let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
        let mut clients = ["a", "b"].map(|user| {
            let mut client = readyok(&dir);
            client
                .args(["csa", &address, "--engine", "narikin", "--user", user, "--games", "1000"]);
            // The records of the server count.
            client.arg("-o").arg(dir.path().join(user));
            client.args(["--option", "USI_Hash=1", "--no-ponder"]);
            client.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a client starts")
        });
        let count = || {
            fs::read_dir(&games).map_or(0, |files| {
                files
                    .flatten()
                    .filter(|file| file.path().extension().is_some_and(|it| it == "csa"))
                    .count()
            })
        };
        let wanted = complete + random.usize(1..=3);
        wait("no game ends", || wanted <= count());
        thread::sleep(Duration::from_micros(random.u64(0..50_000)));
        signal(server.id(), Signal::KILL);
        server.wait().expect("the server ends");
        for client in &mut clients {
            signal(client.id(), Signal::KILL);
            client.wait().expect("the client ends");
        }
        let mut log = String::new();
        output.read_to_string(&mut log).expect("text");
        let announced = log.lines().filter(|line| line.ends_with("1/2-1/2 move-limit")).count();
        let after = count();
        assert!(wanted <= after, "kill {kill}, seed {seed}: {after} of {wanted} records");
        // A result is announced when its record is stored.
        assert!(
            (announced..=announced + 1).contains(&(after - complete)),
            "kill {kill}, seed {seed}: {} records of {announced} games",
            after - complete
        );
        complete = after;
        // Each file is a whole record of one game.
        let read: Vec<_> = fs::read_dir(&games)
            .expect("a directory")
            .flatten()
            .filter(|file| file.path().extension().is_some_and(|it| it == "csa"))
            .map(|file| {
                let file = fs::File::open(file.path()).expect("a file");
                record::read(file, Format::CSA)
                    .map(|game| game.expect("a valid game"))
                    .collect::<Vec<_>>()
            })
            .collect();
        for game in &read {
            let [game] = game.as_slice() else {
                panic!("kill {kill}, seed {seed}: {} games", game.len())
            };
            assert_eq!(
                game.termination(),
                Some(Termination::MoveLimit),
                "kill {kill}, seed {seed}"
            );
            assert_eq!(game.plies(), 2, "kill {kill}, seed {seed}");
        }
    }
}
