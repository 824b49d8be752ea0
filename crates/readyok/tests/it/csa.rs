//! `readyok csa`: clients and a server against each other, and a client against scripted and hostile servers.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use readyok_rules::record::{self, Format, GameRecord};
use readyok_rules::{GameResult, Side, Termination};
use rustix::process::Signal;

use crate::program::{Dir, Output, TIMEOUT, finish, readyok, scripted_engine, signal};

const SUMMARY: &str = "\
BEGIN Game_Summary
Protocol_Version:1.2
Protocol_Mode:Server
Format:Shogi 1.0
Declaration:Jishogi 1.1
Game_ID:../test+me+you
Name+:me
Name-:you
Your_Turn:+
Rematch_On_Draw:NO
To_Move:+
BEGIN Time
Time_Unit:1sec
Total_Time:100
Byoyomi:10
Least_Time_Per_Move:0
END Time
BEGIN Position
PI
+
+7776FU,T20
-3334FU,T3
END Position
END Game_Summary
";

/// An engine that answers one search.
fn engine(dir: &Dir, clocks: &str, answer: &str) -> String {
    let script = format!(
        "> usi\n< id name Scripted\n< usiok\n> isready\n< readyok\n> isready\n< readyok\n\
         > setoption name USI_Hash value 32\n> setoption name USI_Ponder value false\n\
         > usinewgame\n> position startpos moves 7g7f 3c3d\n> go {clocks}\n{answer}"
    );
    let script = dir.write("script", &script);
    format!("{} {}", scripted_engine().display(), script.display())
}

fn client(dir: &Dir, address: &str, engine: &str) -> Command {
    let mut command = readyok(dir);
    command.args(["csa", address, "--engine", engine, "--user", "me", "--games", "1"]);
    command.args(["--no-ponder", "--margin", "0", "-o"]).arg(dir.path().join("games"));
    command
}

/// A server for one connection: `> ` expects a line, `< ` sends one, `! ` sends raw text without a line end.
fn serve(steps: &str) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let steps: Vec<String> = steps.lines().map(str::to_owned).collect();
    let serve = move || {
        let (stream, _) = listener.accept().expect("a client");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        play_script(stream, &steps);
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
            // The client may close the connection before all is sent.
            (_, text) => _ = stream.write_all(text.repeat(10_000).as_bytes()),
        }
    }
}

fn summary() -> String {
    SUMMARY.lines().flat_map(|line| ["< ", line, "\n"]).collect()
}

fn records(directory: &Path) -> Vec<GameRecord> {
    let files =
        fs::read_dir(directory).into_iter().flatten().map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let read = |path| {
        let file = fs::File::open(path).expect("a file");
        let mut games = record::read(file, Format::Csa);
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
    let (address, server) = serve(&format!(
        "> LOGIN me x\n< LOGIN:me OK\n{}> AGREE ../test+me+you\n< START:../test+me+you\n\
         > +2726FU,'* 40 -8384FU\n< +2726FU,T2\n< %TORYO,T1\n< #RESIGN\n< #WIN\n> LOGOUT\n< LOGOUT:completed",
        summary()
    ));
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
        .map(|it| it.as_secs())
        .collect();
    assert_eq!(times, [20, 3, 2]);
}

#[test]
fn resigns_after_an_illegal_move_of_the_engine() {
    let dir = Dir::new();
    let engine = engine(&dir, "btime 80000 wtime 97000 byoyomi 10000", "< bestmove 2g2e");
    let (address, server) = serve(&format!(
        "> LOGIN me x\n< LOGIN:me OK\n{}> AGREE ../test+me+you\n< START:../test+me+you\n\
         > %TORYO\n< %TORYO,T0\n< #RESIGN\n< #LOSE\n> LOGOUT\n< LOGOUT:completed",
        summary()
    ));
    let output = finish(client(&dir, &address, &engine).spawn().expect("a client"));
    server.join().expect("the expected messages");
    assert_eq!(output.code(), Some(0));
    assert!(output.stderr.contains("illegal move: `2g2e`"), "{}", output.stderr);
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
    let begun = format!("{login}{}> AGREE ../test+me+you\n< START:../test+me+you\n", summary());
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
