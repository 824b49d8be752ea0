//! Single moves that an engine has to know: each is the only one that it may choose from.

use readyok_rules::{Game, Position};

use super::{clause, positions};
use crate::bench::Bench;
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::message;
use crate::talk::{Blame, Talk};
use crate::words;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "positions.en-passant",
        "the engine captures en passant after a double step and by the FEN field",
        [
            "UCI 2006, position and move format" => "moves follow the rules; a capture is written from square to square",
            "PGN specification §16.1.3.4" => "the fourth field is the square behind the pawn",
        ],
        Must,
        Profile::UCI,
        &[],
        "read the square from the FEN, and set it after each double step",
        Test::Ask(en_passant),
    ),
    check!(
        "positions.promotions",
        "the engine promotes to all four pieces, with a lower-case letter",
        ["UCI 2006, move format" => "the piece letter follows the squares: `e7e8q`"],
        Must,
        Profile::UCI,
        &[],
        "generate all four promotions, written in lower case",
        Test::Ask(promotions),
    ),
    check!(
        "positions.double-frc",
        "in Chess960 the engine accepts different starting arrays of the two sides",
        [
            "practice" => "match runners play Double Fischer Random as Chess960",
        ],
        May,
        &[Profile::Uci2006],
        &[Need::Option("UCI_Chess960")],
        "store king and rook files separately for each side",
        Test::Ask(double_frc),
    ),
    check!(
        "positions.counters",
        "the engine accepts large move counters in a FEN",
        ["PGN specification §16.1.3.5 and §16.1.3.6" => "both are integers without a maximum"],
        Should,
        Profile::UCI,
        &[],
        "read multi-digit numbers, and do not use them as array indices",
        Test::Ask(counters),
    ),
    check!(
        "positions.shogi-promotions",
        "the engine distinguishes drops, promotions, non-promotions and forced promotions",
        ["USI draft 1 §5.2" => "`G*5b` is a drop, `8h2b+` a promotion; most promotions are optional"],
        Must,
        Profile::USI,
        &[],
        "generate promotions and non-promotions, except non-promotions that leave the piece without moves",
        Test::Ask(shogi_words),
    ),
    check!(
        "positions.pawn-drop-mate",
        "the engine does not mate with a pawn drop (uchifuzume)",
        ["USI draft 1 §5.3, bestmove" => "the move is legal by the rules of shogi"],
        Must,
        Profile::USI,
        &[],
        "reject a checking pawn drop without a legal reply",
        Test::Ask(pawn_drop_mate),
    ),
    check!(
        "positions.two-pawns",
        "the engine does not drop a second pawn on a file (nifu)",
        ["USI draft 1 §5.3, bestmove" => "the move is legal by the rules of shogi"],
        Must,
        Profile::USI,
        &[],
        "skip files with an unpromoted pawn of the same side",
        Test::Ask(two_pawns),
    ),
    check!(
        "positions.random-lines",
        "the engine replies with legal moves after hundreds of random lines",
        [
            "UCI 2006, position and bestmove" => "the position after the moves is searched",
            "USI draft 1 §5.3, position" => "the moves are played in order",
        ],
        Must,
        Profile::ALL,
        &[],
        "compare the move generator with known perft counts",
        Test::Ask(many_lines),
    ),
];

/// The answer to a search restricted to one move.
fn answer(talk: &mut Talk, command: &str, word: &str) -> Result<String, Stop> {
    let go = format!("go depth 1 searchmoves {word}");
    let found = talk.search(command, &go).or_fail(message!("position.no-reply", command, go))?;
    Ok(words::answer(&found.best.best))
}

/// The engine chooses a move if it is the only one that it may choose. An engine that does not restrict
/// itself with another move as well cannot be judged so.
fn chooses(bench: &Bench<'_>, text: &str, moves: &str, word: &str, control: &str) -> Outcome {
    let mut talk = bench.provoked()?;
    let game = if text.contains("HA") { Game::Chess960 } else { bench.game() };
    let position = Position::from_text(game, text)
        .map(|it| it.after(moves.split_whitespace()))
        .map_err(|error| Stop::unplayable(&error))?
        .map_err(|error| Stop::unplayable(&error))?;
    for it in [word, control] {
        position.parse_move(it).map_err(|error| Stop::unplayable(&error))?;
    }
    if game == Game::Chess960 {
        talk.say(&bench.set("UCI_Chess960", "true"));
        talk.ready()?;
    }
    let moves = if moves.is_empty() { String::new() } else { format!(" moves {moves}") };
    let command = format!("{}{moves}", bench.position(text));
    if answer(&mut talk, &command, control)? != control {
        return Err(Stop::Skip(message!("searchmoves.ignored")));
    }
    let chosen = answer(&mut talk, &command, word)?;
    if chosen == word {
        return Ok(());
    }
    Err(Stop::Fail(message!("move.not-generated", mv = word, chosen)))
}

fn en_passant(bench: &Bench<'_>) -> Outcome {
    chooses(bench, "4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", "a2a4", "b4a3", "b4b3")?;
    chooses(bench, "4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1", "", "b4a3", "b4b3")
}

fn promotions(bench: &Bench<'_>) -> Outcome {
    for word in ["a7a8q", "a7a8r", "a7a8b", "a7a8n"] {
        chooses(bench, "8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "", word, "e1d1")?;
    }
    for word in ["h2h1q", "h2h1n"] {
        chooses(bench, "4k3/8/8/8/8/8/4K2p/8 b - - 0 1", "", word, "e8d8")?;
    }
    Ok(())
}

fn double_frc(bench: &Bench<'_>) -> Outcome {
    let white = "1r1k1r2/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w HAfb - 0 1";
    let black = "1r1k1r2/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b HAfb - 0 1";
    for (text, words, control) in
        [(white, ["e1h1", "e1a1"], "a2a3"), (black, ["d8f8", "d8b8"], "a7a6")]
    {
        for word in words {
            chooses(bench, text, "", word, control)?;
        }
    }
    Ok(())
}

fn counters(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for counters in ["57 213", "99 5949", "0 0"] {
        let text =
            format!("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - {counters}");
        let position = positions::read(bench, &text)?;
        positions::plays_legally(&mut talk, &bench.position(&text), &position, "go depth 2")?;
    }
    Ok(())
}

fn shogi_words(bench: &Bench<'_>) -> Outcome {
    let pawns = "4k4/8P/9/6S2/9/9/9/9/4K4 b P 1";
    for word in ["P*5e", "3d4c+", "3d4c", "1b1a+"] {
        chooses(bench, pawns, "", word, "5i5h")?;
    }
    Ok(())
}

/// The engine plays no move that begins so, and no mate is announced with it.
fn plays_no(bench: &Bench<'_>, text: &str, start: &str) -> Outcome {
    let mut talk = bench.provoked()?;
    let position = positions::read(bench, text)?;
    let command = bench.position(text);
    let word = positions::plays_legally(&mut talk, &command, &position, "go depth 4")?;
    if word.starts_with(start) {
        return Err(Stop::Fail(message!("move.forbidden", mv = word)));
    }
    Ok(())
}

fn pawn_drop_mate(bench: &Bench<'_>) -> Outcome {
    plays_no(bench, "7nk/9/7G1/9/9/9/9/9/4K4 b P 1", "P*1b")?;
    plays_no(bench, "4k4/9/9/9/9/9/1g7/9/KN7 w p 1", "P*9h")
}

fn two_pawns(bench: &Bench<'_>) -> Outcome {
    plays_no(bench, "4k4/9/9/9/9/9/PPPPPPPPP/9/4K4 b 9P 1", "P*")?;
    plays_no(bench, "4k4/9/ppppppppp/9/9/9/9/9/4K4 w 9p 1", "P*")
}

fn many_lines(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let mut random = fastrand::Rng::with_seed(bench.seed ^ 0x11e5);
    for _ in 0..bench.effort.lines {
        let plies = random.usize(20..120);
        let (command, position) = bench.random_line(&mut random, plies);
        positions::plays_legally(&mut talk, &command, &position, "go depth 1")?;
    }
    bench.remark(format!("{} lines of random moves", bench.effort.lines));
    Ok(())
}
