//! Single moves that an engine has to know: each is the only one that it may choose from.

use readyok_rules::{Game, Position};

use super::{clause, positions};
use crate::bench::Bench;
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::said;
use crate::talk::{Blame, Talk};
use crate::words;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "positions.en-passant",
        "a pawn can be captured en passant, after its move and where the FEN says so",
        [
            "UCI 2006, position and move format" => "moves are played by the rules; a capture is from square to square",
            "PGN specification §16.1.3.4" => "the fourth field is the square that the pawn has passed",
        ],
        Must,
        Profile::UCI,
        &[],
        "read the square of the FEN, and set it after each double step",
        Test::Ask(en_passant),
    ),
    check!(
        "positions.promotions",
        "a pawn promotes to each of the four pieces, written with a lower-case letter",
        ["UCI 2006, move format" => "the letter of the piece follows the squares: `e7e8q`"],
        Must,
        Profile::UCI,
        &[],
        "generate all four promotions, and write them in lower case",
        Test::Ask(promotions),
    ),
    check!(
        "positions.double-frc",
        "in Chess960 the two sides may start from different arrays",
        [
            "practice" => "match runners play double Fischer random as Chess960, without another option",
        ],
        May,
        &[Profile::Uci2006],
        &[Need::Option("UCI_Chess960")],
        "keep the files of kings and rooks for each side",
        Test::Ask(double_frc),
    ),
    check!(
        "positions.counters",
        "the two counters of a FEN may be large",
        ["PGN specification §16.1.3.5 and §16.1.3.6" => "both are whole numbers without a largest value"],
        Should,
        Profile::UCI,
        &[],
        "read numbers of several digits, and set no array by them",
        Test::Ask(counters),
    ),
    check!(
        "positions.shogi-words",
        "drops, promotions, moves without promotion and forced promotions are known",
        ["USI draft 1 §5.2" => "`G*5b` is a drop, `8h2b+` a move with promotion; a piece that may promote need not"],
        Must,
        Profile::USI,
        &[],
        "generate moves with and without promotion, and no move without one to where the piece could not move on",
        Test::Ask(shogi_words),
    ),
    check!(
        "positions.pawn-drop-mate",
        "an engine does not give mate with the drop of a pawn",
        ["USI draft 1 §5.3, bestmove" => "the move is one that the rules of shogi allow"],
        Must,
        Profile::USI,
        &[],
        "look whether a pawn drop that checks leaves a move",
        Test::Ask(pawn_drop_mate),
    ),
    check!(
        "positions.two-pawns",
        "an engine drops no pawn on a file where it has one",
        ["USI draft 1 §5.3, bestmove" => "the move is one that the rules of shogi allow"],
        Must,
        Profile::USI,
        &[],
        "leave out the files with an own pawn that is not promoted",
        Test::Ask(two_pawns),
    ),
    check!(
        "positions.many-lines",
        "after hundreds of random lines the engine answers with legal moves",
        [
            "UCI 2006, position and bestmove" => "the position after the moves is the one that is searched",
            "USI draft 1 §5.3, position" => "the moves are played one after the other",
        ],
        Must,
        Profile::ALL,
        &[],
        "compare the generator of moves with known counts (perft)",
        Test::Ask(many_lines),
    ),
];

/// The answer to a search restricted to one move.
fn answer(talk: &mut Talk, command: &str, word: &str) -> Result<String, Stop> {
    let go = format!("go depth 1 searchmoves {word}");
    let found = talk.search(command, &go).or_fail(said!(
        "`{command}` and `{go}` were not answered",
        command,
        go
    ))?;
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
        return Err(Stop::Skip(said!("`searchmoves` has no effect")));
    }
    let chosen = answer(&mut talk, &command, word)?;
    if chosen == word {
        return Ok(());
    }
    Err(Stop::Fail(said!(
        "`{word}` is the only move to choose from, and the answer is `{chosen}`",
        word,
        chosen
    )))
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
        return Err(Stop::Fail(said!("it plays `{word}`", word)));
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
