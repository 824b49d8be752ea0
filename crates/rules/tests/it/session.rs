//! The judge of sessions: recorded and public reports as scripts, and its agreement with the board.

use std::fmt::Write as _;
use std::time::Duration;

use readyok_protocol::{Dialect, Rule, RuleKind};
use readyok_rules::session::{Finding, Judge, LineBoard, PvFault, SentPosition};
use readyok_rules::{Game, MoveCodec, Position, Termination};

/// Scripts: `#` names one, `+` is time in milliseconds, `>` and `<` are lines of the client and of the engine, and `!` the
/// findings about the line before: severity, id, and detail.
const SCRIPTS: &str = include_str!("data/sessions.txt");

/// The start of a session, which `use uci` and `use usi` insert.
const UCI: [&str; 7] = [
    "> uci",
    "< id name A",
    "< option name UCI_Chess960 type check default false",
    "< option name Ponder type check default false",
    "< uciok",
    "> isready",
    "< readyok",
];
const USI: [&str; 5] = ["> usi", "< id name A", "< usiok", "> isready", "< readyok"];

fn describe(finding: &Finding) -> String {
    match finding {
        Finding::Violation { rule, detail } => {
            let detail = detail.as_ref().map(|detail| format!(": {detail}"));
            format!("! {} {}{}\n", rule.severity(), rule.id(), detail.unwrap_or_default())
        }
        Finding::Note { .. } => format!("! note: {finding}\n"),
    }
}

#[test]
fn judges_the_scripts() {
    let (mut replayed, mut broken) = (String::new(), Vec::new());
    for script in SCRIPTS.trim_end().split("\n\n") {
        let mut judge = Judge::new(Dialect::Uci);
        let mut now = Duration::ZERO;
        if !replayed.is_empty() {
            replayed.push('\n');
        }
        for line in script.lines().filter(|line| !line.starts_with("! ")) {
            let _ = writeln!(replayed, "{line}");
            let parts: &[&str] = match line {
                "use uci" => &UCI,
                "use usi" => &USI,
                _ => &[line],
            };
            for part in parts {
                let found = match part.split_at(2) {
                    ("> ", text) => judge.command(text, now),
                    ("< ", text) => judge.reply(text, now),
                    ("+ ", text) => {
                        now += Duration::from_millis(text.parse().expect("a number"));
                        Vec::new()
                    }
                    _ => Vec::new(),
                };
                broken.extend(found.iter().filter_map(Finding::rule));
                replayed.extend(found.iter().map(describe));
            }
        }
    }
    if std::env::var_os("READYOK_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/sessions.txt");
        std::fs::write(path, &replayed).expect("it can be written");
        return;
    }
    assert_eq!(replayed, SCRIPTS);
    let judged = [RuleKind::Game, RuleKind::Form];
    let missing: Vec<Rule> = Rule::ALL
        .into_iter()
        .filter(|rule| judged.contains(&rule.kind()) && !broken.contains(rule))
        .collect();
    assert_eq!(missing, []);
}

/// A text of any length costs bounded time and memory.
#[test]
fn long_games_and_variations_are_bounded() {
    let cycle = ["g1f3", "g8f6", "f3g1", "f6g8"];
    let moves = |plies: usize| {
        let moves: Vec<&str> = cycle.into_iter().cycle().take(plies).collect();
        moves.join(" ")
    };
    let mut judge = Judge::new(Dialect::Uci);
    for line in ["uci", "isready"] {
        judge.command(line, Duration::ZERO);
    }
    for line in ["id name A", "uciok", "readyok"] {
        judge.reply(line, Duration::ZERO);
    }
    // A longer game is unknown, and so is whether the move is legal.
    let long = moves(SentPosition::MAX_PLIES + 1);
    assert_eq!(judge.command(&format!("position startpos moves {long}"), Duration::ZERO), []);
    assert_eq!(judge.command("go depth 1", Duration::ZERO), []);
    assert_eq!(judge.reply("bestmove a1a8", Duration::ZERO), []);
    judge.command("position startpos", Duration::ZERO);
    judge.command("go depth 1", Duration::ZERO);
    let pv = format!("info depth 1 score cp 1 pv {}", moves(LineBoard::MAX_PLIES * 4));
    let found = judge.reply(&pv, Duration::ZERO);
    assert_eq!(found.iter().filter_map(Finding::rule).collect::<Vec<_>>(), [Rule::PvBeyondEnd]);
}

/// Lines in any order have the same result as on a new board.
#[test]
fn a_board_forgets_the_line_before() {
    let codec = MoveCodec::usual(Game::Chess);
    let position = Position::start(Game::Chess).after(["e2e4"]).expect("legal moves");
    let lines = [
        "e7e5 g1f3 b8c6",
        "e7e5 g1f3 b8c6 f1b5",
        "e7e5",
        "c7c5 g1f3",
        "e7e5 e7e5",
        "",
        "f7f6 d2d4 g7g5 d1h5 a7a6",
        "f7f6 d2d4 g7g5 d1h5",
        "f7f6 d2d4 g7g5 d1h5 a7a6",
        "e7e5 g1f3 resign",
    ];
    let mut board = LineBoard::new(position.clone(), codec);
    for _ in 0..2 {
        for line in lines {
            let mut other = LineBoard::new(position.clone(), codec);
            let result = board.play(line.split_ascii_whitespace());
            assert_eq!(result, other.play(line.split_ascii_whitespace()), "{line}");
            assert_eq!(board.position().to_string(), other.position().to_string(), "{line}");
        }
    }
    let mated = board.play("f7f6 d2d4 g7g5 d1h5 a7a6".split(' '));
    let Err(PvFault::BeyondEnd { termination, .. }) = mated else { panic!("{mated:?}") };
    assert_eq!(termination, Termination::Checkmate);
}

/// Any order of any lines is judged without a panic.
#[test]
fn any_session_is_judged() {
    const COMMANDS: [&str; 18] = [
        "uci",
        "usi",
        "isready",
        "ucinewgame",
        "setoption name UCI_Chess960 value true",
        "setoption name UCI_Chess960 value false",
        "setoption name UCI_Variant value shogi",
        "position startpos",
        "position startpos moves e2e4 e7e5",
        "position startpos moves e2e4 e7e5 g1f3",
        "position startpos moves e2e4 c7c5",
        "position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1 moves e1g1",
        "position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 7g7f",
        "position nonsense",
        "go infinite",
        "go ponder wtime 1 btime -1 searchmoves e2e4",
        "ponderhit",
        "stop",
    ];
    const REPLIES: [&str; 12] = [
        "uciok",
        "usiok",
        "readyok",
        "option name UCI_Chess960 type check default true",
        "info pv e2e4 e7e5 g1f3",
        "info pv e7e5 e7e5",
        "info pv 7g7f resign",
        "bestmove",
        "bestmove e2e4 ponder e7e5",
        "bestmove 7g7f",
        "checkmate nomate",
        "nonsense",
    ];
    let mut state = 7_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize
    };
    for _ in 0..300 {
        let mut judge = Judge::new(Dialect::Uci);
        for at in 0..40 {
            let now = Duration::from_millis(at * 50);
            if random() % 2 == 0 {
                judge.command(COMMANDS[random() % COMMANDS.len()], now);
            } else {
                judge.reply(REPLIES[random() % REPLIES.len()], now);
            }
        }
        judge.end_of_output();
    }
}
