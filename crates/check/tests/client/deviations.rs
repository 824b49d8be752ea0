//! Defects that contradict single sentences of the specifications, as rewrites of the commands of the conforming client.

use crate::faults::Faults;

/// The defect, the command that it affects or the begin of one, and the replacement.
const REWRITES: &[(&str, &str, &str)] = &[
    ("setoption-in-search", "go infinite", "go infinite\nsetoption name Threads value 2"),
    ("uci-new-game-in-search", "go infinite", "go infinite\nucinewgame"),
    ("usi-new-game-in-search", "go infinite", "go infinite\nusinewgame"),
    ("go-in-search", "go infinite", "go infinite\ngo depth 1"),
    ("go-after-stop", "stop", "stop\ngo depth 1"),
    ("position-while-pondering", "ponderhit", "position startpos\nponderhit"),
    ("repeated-ponderhit", "ponderhit", "ponderhit\nponderhit"),
    (
        "uci-new-game-without-isready",
        "position startpos moves",
        "ucinewgame\nposition startpos moves",
    ),
    (
        "usi-new-game-without-isready",
        "position startpos moves",
        "usinewgame\nposition startpos moves",
    ),
    ("no-moves-to-go", "go wtime 60000 btime 60000", "go wtime 60000 btime 60000 movestogo 0"),
    (
        "negative-increment",
        "go wtime 60000 btime 60000",
        "go wtime 60000 btime 60000 winc -1 binc -1",
    ),
    ("negative-byoyomi", "go wtime 60000 btime 60000", "go wtime 60000 btime 60000 byoyomi -1"),
    ("clock-without-number", "go wtime 60000 btime 60000", "go wtime btime 60000"),
    ("clock-with-unit", "go wtime 60000 btime 60000", "go wtime 60s btime 60s"),
    ("clock-with-comma", "go wtime 60000 btime 60000", "go wtime 60000, btime 60000"),
    ("repeated-depth", "go depth 3", "go depth 3 depth 4"),
    ("depth-of-zero", "go depth 3", "go depth 0"),
    ("no-searchmoves", "go infinite", "go infinite searchmoves"),
    ("depth-as-text", "go depth 3", "go depth three"),
    ("start-position-misspelled", "position startpos", "position start"),
    ("two-positions", "position startpos", "position startpos fen"),
    ("null-move", "position startpos moves", "position startpos moves 0000"),
    ("san-move", "position startpos moves", "position startpos moves Nf3"),
    (
        "fen-in-usi",
        "position startpos",
        "position fen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    ),
    ("upper-case-command", "isready", "ISREADY\nisready"),
    ("value-out-of-range", "setoption name", "setoption name Threads value 99999\nsetoption name"),
    (
        "value-of-button",
        "setoption name Hash",
        "setoption name Clear Hash value true\nsetoption name Hash",
    ),
    ("check-value-yes", "setoption name", "setoption name Ponder value yes\nsetoption name"),
    ("undeclared-choice", "setoption name", "setoption name Style value Wild\nsetoption name"),
    ("value-without-keyword", "setoption name", "setoption name Threads 2\nsetoption name"),
    ("debug-without-argument", "isready", "debug\nisready"),
    ("debug-with-unknown-argument", "isready", "debug maybe\nisready"),
    ("register-without-argument", "isready", "register\nisready"),
    ("isready-before-uci", "uci", "isready\nuci"),
    ("isready-before-usi", "usi", "isready\nusi"),
    ("option-before-uci", "uci", "setoption name Hash value 1\nuci"),
    ("option-before-usi", "usi", "setoption name USI_Hash value 1\nusi"),
    ("text-after-ponderhit", "ponderhit", "ponderhit now"),
    ("text-after-isready", "isready", "isready now"),
    ("text-after-stop", "stop", "stop now"),
    ("text-after-quit", "quit", "quit now"),
    ("xboard-command", "isready", "xboard\nisready"),
    ("uci-command-in-usi", "usinewgame", "ucinewgame"),
    ("gameover-without-result", "quit", "gameover\nquit"),
    ("gameover-with-unknown-result", "quit", "gameover lost\nquit"),
];

/// A command as a client with the defect sends it.
pub(crate) fn rewritten(faults: &Faults, line: &str) -> String {
    let is = |(defect, begin, _): &&(&str, &str, &str)| {
        let rest = line.strip_prefix(begin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            && faults.breaks(&format!("defect.{defect}"))
    };
    if let Some((_, begin, replacement)) = REWRITES.iter().find(is) {
        return line.replacen(begin, replacement, 1);
    }
    match line.split_once(" moves ") {
        Some((root, moves)) if faults.breaks("defect.upper-case-moves") => {
            format!("{root} moves {}", moves.to_uppercase())
        }
        Some((root, moves)) if faults.breaks("defect.moves-with-commas") => {
            format!("{root} moves {}", moves.replace(' ', ","))
        }
        Some((root, moves)) if faults.breaks("defect.moves-with-hyphens") && moves.is_ascii() => {
            let moves = moves.split(' ').map(|mv| mv.split_at(2));
            let moves: Vec<String> = moves.map(|(from, to)| format!("{from}-{to}")).collect();
            format!("{root} moves {}", moves.join(" "))
        }
        _ => line.to_owned(),
    }
}
