//! Positions and moves, as they are told and as they are answered.

use readyok_protocol::{Best, Dialect};
use readyok_rules::{Game, Position};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Heard, Need, Outcome, Profile, Severity, Stop, Test};
use crate::conversation::{Conversation, usual_word};
use crate::message::said;
use crate::talk::{Blame, Lost, Talk};
use crate::words;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "positions.startpos",
        "`position startpos` is read with moves, with an empty list of them, and without",
        [
            "UCI 2006, position" => "the start position is called `startpos`; moves are played from it",
            "The UCI Protocol, position" => "`moves` is optional",
            "USI draft 1 §5.3, position" => "`startpos` and an SFEN are both followed by moves if there are any",
        ],
        Must,
        Profile::ALL,
        &[],
        "make both `moves` and what follows it optional",
        Test::Ask(startpos),
    ),
    check!(
        "positions.given",
        "a position is read from FEN or SFEN, with either side to move, and moves are played from it",
        [
            "UCI 2006, position fen" => "the engine sets up the position of the string",
            "USI draft 1 §3 and §5.3, position sfen" => "board, side to move, hands and move number of the string",
        ],
        Must,
        Profile::ALL,
        &[],
        "read all fields, and play the moves that follow",
        Test::Ask(given),
    ),
    check!(
        "positions.special-moves",
        "castling, en passant captures and promotions to all pieces are played from the list of moves",
        [
            "UCI 2006, move format" => "castling is the king's move, and a promotion has the piece's letter",
        ],
        Must,
        Profile::UCI,
        &[],
        "compare the words of all legal moves with the word that was sent",
        Test::Ask(special_moves),
    ),
    check!(
        "positions.shogi-moves",
        "drops, promotions and moves without promotion are played from the list of moves",
        [
            "USI draft 1 §5.2" => "a drop is the piece's letter, `*` and the square; `+` is added when a piece promotes",
        ],
        Must,
        Profile::USI,
        &[],
        "compare the words of all legal moves with the word that was sent",
        Test::Ask(shogi_moves),
    ),
    check!(
        "positions.short-sfen",
        "an SFEN is read without move number, and with several pieces in hand",
        [
            "USI draft 1 §3" => "the move count is optional; a number stands before the letter of several pieces",
        ],
        Must,
        Profile::USI,
        &[],
        "take 1 for a missing move number, and numbers of two digits in hands",
        Test::Ask(short_sfen),
    ),
    check!(
        "positions.short-fen",
        "a FEN is read without the two counters at its end",
        ["UCI 2006, UCI_Chess960" => "its own example of a FEN has four fields"],
        Should,
        &[Profile::Uci2006],
        &[],
        "take 0 and 1 for missing counters",
        Test::Ask(short_fen),
    ),
    check!(
        "positions.random-game",
        "after every prefix of a random game the engine answers with a legal move",
        [
            "UCI 2006, position and bestmove" => "moves are played on the board, and the best one is found there",
            "USI draft 1 §5.3, position and bestmove" => "the moves lead to the position that is searched",
        ],
        Must,
        Profile::ALL,
        &[],
        "play all moves of the list, starting from the position before them",
        Test::Ask(random_game),
    ),
    check!(
        "positions.illegal-move",
        "an illegal move in a list does not end the engine",
        [
            "UCI 2006, general rules" => "what cannot be understood is ignored",
            "USI draft 1 §5.1" => "what is not understood is left aside, and the engine goes on",
        ],
        Should,
        Profile::ALL,
        &[],
        "stop at the first illegal move, and say so with `info string`",
        Test::Ask(illegal_move),
    ),
    check!(
        "positions.malformed",
        "a broken position does not end the engine, nor let it hang",
        [
            "UCI 2006, general rules" => "what cannot be understood is ignored",
            "USI draft 1 §5.1" => "what is not understood is left aside, and the engine goes on",
        ],
        Should,
        Profile::ALL,
        &[],
        "check a position before it is used, and keep the one before",
        Test::Ask(malformed),
    ),
    check!(
        "positions.move-form",
        "moves are written in the protocol's form: lower-case promotions, and castling as the king's move, or as king takes rook in Chess960",
        [
            "UCI 2006, move format and UCI_Chess960" => "long algebraic notation, castling as `e1g1`, or as `e1h1` in Chess960",
            "USI draft 1 §5.2" => "squares as file and rank, drops with a capital letter, `+` for a promotion",
        ],
        Must,
        Profile::ALL,
        &[],
        "write the word that the protocol has for the move",
        Test::Hear(move_form),
    ),
    check!(
        "positions.castling",
        "castling is taken and answered as `e1g1` in normal chess",
        ["UCI 2006, move format" => "`e1g1` is white short castling"],
        Must,
        Profile::UCI,
        &[],
        "write castling as the king's move unless `UCI_Chess960` is true",
        Test::Ask(castling),
    ),
    check!(
        "positions.chess960",
        "in Chess960 castling is taken and answered as king takes rook",
        [
            "UCI 2006, UCI_Chess960" => "castling moves are sent as king takes own rook, and rights as files of rooks",
        ],
        Must,
        &[Profile::Uci2006],
        &[Need::Option("UCI_Chess960")],
        "write castling as king takes rook while `UCI_Chess960` is true",
        Test::Ask(chess960),
    ),
    check!(
        "positions.no-legal-move",
        "without a legal move there is one `bestmove` all the same, and it is no move",
        [
            "UCI 2006, bestmove and move format" => "each `go` is answered; the null move is `0000`",
            "practice" => "engines of UCI send `(none)`, those of USI `resign`",
        ],
        Must,
        Profile::ALL,
        &[],
        "answer with `bestmove (none)` or `bestmove 0000`, in USI with `bestmove resign`",
        Test::Ask(no_legal_move),
    ),
];

/// Has a position searched a little, and looks whether the answer is a move there.
pub(super) fn plays_legally(
    talk: &mut Talk,
    command: &str,
    position: &Position,
    go: &str,
) -> Result<String, Stop> {
    let found = talk.search(command, go).or_fail(said!(
        "`{command}` was not followed by `bestmove`",
        command = shortened(command)
    ))?;
    match &found.best.best {
        Best::Move(mv) if position.parse_move(mv.as_str()).is_ok() => Ok(mv.to_string()),
        Best::Win if position.can_declare() => Ok("win".to_owned()),
        Best::Resign => Ok("resign".to_owned()),
        answer => Err(Stop::Fail(said!(
            "after `{command}` the answer is no legal move: `{answer}`",
            command = shortened(command),
            answer = words::answer(answer)
        ))),
    }
}

fn shortened(command: &str) -> String {
    words::shown(command, 90)
}

fn startpos(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let opening = probe::of(bench.game()).opening;
    let start = Position::start(bench.game());
    for command in ["position startpos", "position startpos moves"] {
        plays_legally(&mut talk, command, &start, "go depth 2")?;
    }
    let command = format!("position startpos moves {opening}");
    let position = after(&start, opening)?;
    plays_legally(&mut talk, &command, &position, "go depth 2").map(drop)
}

fn after(start: &Position, moves: &str) -> Result<Position, Stop> {
    let played = start.clone().after(moves.split_whitespace());
    played.map_err(|error| Stop::unplayable(&error))
}

pub(super) fn read(bench: &Bench<'_>, text: &str) -> Result<Position, Stop> {
    Position::from_text(bench.game(), text).map_err(|error| Stop::unplayable(&error))
}

fn given(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let probe = probe::of(bench.game());
    for text in probe.middle.into_iter().chain(probe.ahead) {
        let position = read(bench, text)?;
        let command = bench.position(text);
        let word = plays_legally(&mut talk, &command, &position, "go depth 2")?;
        let Ok(next) = position.after([&word]) else { continue };
        plays_legally(&mut talk, &format!("{command} moves {word}"), &next, "go depth 2")?;
    }
    Ok(())
}

fn from_lines(bench: &Bench<'_>, lines: &[(&str, &str)]) -> Outcome {
    let mut talk = bench.ready()?;
    for (text, moves) in lines {
        let position = after(&read(bench, text)?, moves)?;
        let command = format!("{} moves {moves}", bench.position(text));
        plays_legally(&mut talk, &command, &position, "go depth 2")?;
    }
    Ok(())
}

fn special_moves(bench: &Bench<'_>) -> Outcome {
    // After each line the piece that moved, or the rook, can be moved in ways that it could not if the
    // line was misread; wherever the engine moves otherwise the answer says less.
    from_lines(
        bench,
        &[
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1 e8c8"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1 e8g8"),
            ("4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", "a2a4 b4a3"),
            ("4k3/P7/8/8/8/8/7p/4K3 w - - 0 1", "a7a8q e8e7 a8a7 e7e6 e1d1 h2h1q"),
            ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n"),
            ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8b"),
            ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8r e8e7"),
        ],
    )
}

fn shogi_moves(bench: &Bench<'_>) -> Outcome {
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    from_lines(
        bench,
        &[
            (start, "7g7f 3c3d 8h2b+ 3a2b B*4e"),
            (start, "7g7f 3c3d 8h2b 3a2b"),
            ("4k4/9/4P4/9/9/9/4p4/9/4K4 b 2G2g 1", "G*6b 5a4a 5c5b+"),
        ],
    )
}

fn short_sfen(bench: &Bench<'_>) -> Outcome {
    let texts = [
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -",
        // With two bare kings on the board an engine may call it a draw.
        "4k4/9/4P4/9/9/9/4p4/9/4K4 b RB2G2S2N2L8Prb2g2s2n2l8p",
        "4k4/9/4P4/9/9/9/4p4/9/4K4 w RB2G2S2N2Lrb2g2s2n2l16p 1",
    ];
    let mut talk = bench.ready()?;
    for text in texts {
        plays_legally(&mut talk, &bench.position(text), &read(bench, text)?, "go depth 1")?;
    }
    Ok(())
}

fn short_fen(bench: &Bench<'_>) -> Outcome {
    let text = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq -";
    let mut talk = bench.ready()?;
    plays_legally(&mut talk, &bench.position(text), &read(bench, text)?, "go depth 2").map(drop)
}

fn random_game(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for plies in [1, 2, 3, 7, 16, 31, 64, 101, 160] {
        let (command, position) = bench.random_game(plies);
        plays_legally(&mut talk, &command, &position, "go depth 1")?;
    }
    Ok(())
}

/// The engine is alive and plays after what no client should say.
fn survives(bench: &Bench<'_>, commands: &[&str]) -> Outcome {
    for command in commands {
        let mut talk = bench.provoked()?;
        talk.say(command);
        // A line that is lost on the way does not end the engine.
        let first = talk.ready();
        let ready = if let Err(Lost::Late(_)) = first { talk.ready() } else { first };
        ready.or_fail(said!("after `{command}` `isready` was not answered", command))?;
        let position = bench.position(probe::of(bench.game()).middle[0]);
        talk.search(&position, "go depth 1").or_fail(said!(
            "after `{command}` and a good position there was no `bestmove`",
            command
        ))?;
    }
    Ok(())
}

fn illegal_move(bench: &Bench<'_>) -> Outcome {
    survives(
        bench,
        match bench.dialect {
            Dialect::Uci => &[
                "position startpos moves e2e5",
                "position startpos moves e2e4 xyz e7e5",
                "position startpos moves e7e5",
            ],
            Dialect::Usi => &[
                "position startpos moves 7g7e",
                "position startpos moves 7g7f xyz 3c3d",
                "position startpos moves P*5e",
            ],
        },
    )
}

fn malformed(bench: &Bench<'_>) -> Outcome {
    survives(
        bench,
        match bench.dialect {
            Dialect::Uci => &[
                "position fen foo",
                "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
                "position fen rnbqkbnr/ppppppppp/8/8 w KQkq - 0 1",
                "position",
            ],
            Dialect::Usi => &[
                "position sfen foo",
                "position sfen 9/9/9/9/9/9/9/9/9 b - 1",
                "position sfen lnsgkgsnl/10/9 b - 1",
                "position",
            ],
        },
    )
}

fn move_form(talk: &Conversation) -> Heard {
    let mut seen = 0;
    for search in talk.searches() {
        let (Some(position), Some((at, best))) = (&search.position, &search.best) else { continue };
        let Best::Move(mv) = &best.best else { continue };
        let Some(usual) = usual_word(position, mv.as_str()) else { continue };
        seen += 1;
        let said = talk.entries.get(*at).map(|it| it.text.as_str()).unwrap_or_default();
        let word = said.split_ascii_whitespace().nth(1).unwrap_or_default();
        if word != usual {
            return Err((*at, said!("`{word}` is written `{usual}` here", word, usual)));
        }
    }
    Ok(seen)
}

/// Has the engine choose from castling alone.
fn castles(talk: &mut Talk, text: &str, word: &str) -> Outcome {
    let command = format!("position fen {text}");
    let go = format!("go depth 1 searchmoves {word}");
    let found = talk.search(&command, &go).or_fail(said!("castling was not answered"))?;
    match &found.best.best {
        Best::Move(mv) if mv.as_str() == word => Ok(()),
        Best::Move(mv) => {
            let game = if text.contains("HA") { Game::Chess960 } else { Game::Chess };
            let same = Position::from_text(game, text).is_ok_and(|position| {
                matches!((position.parse_move(mv.as_str()), position.parse_move(word)),
                    (Ok(a), Ok(b)) if a == b)
            });
            if same {
                Err(Stop::Fail(said!("castling is written `{word}` here, not `{mv}`", word, mv)))
            } else {
                Err(Stop::Inconclusive(said!("`{go}` is answered with `{mv}`", go, mv)))
            }
        }
        answer => Err(Stop::Fail(said!(
            "castling was answered with `{answer}`",
            answer = words::answer(answer)
        ))),
    }
}

fn castling(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    if bench.option("UCI_Chess960").is_some() {
        // Some engines have it on by default.
        talk.say(&bench.set("UCI_Chess960", "false"));
        talk.ready()?;
    }
    let text = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";
    castles(&mut talk, text, "e1g1")?;
    castles(&mut talk, text, "e1c1")
}

fn chess960(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("UCI_Chess960", "true"));
    talk.ready()?;
    let text = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w HAha - 0 1";
    castles(&mut talk, text, "e1h1")?;
    castles(&mut talk, text, "e1a1")?;
    let text = "nrbkqrnb/pppppppp/8/8/8/8/PPPPPPPP/NRBKQRNB w FBfb - 0 1";
    let position =
        Position::from_text(Game::Chess960, text).map_err(|error| Stop::unplayable(&error))?;
    plays_legally(&mut talk, &bench.position(text), &position, "go depth 2").map(drop)
}

fn no_legal_move(bench: &Bench<'_>) -> Outcome {
    let mut texts = vec![probe::of(bench.game()).mated];
    if bench.game() == Game::Chess {
        texts.push(probe::CHESS_STALEMATE);
    }
    let mut talk = bench.ready()?;
    for text in texts {
        let found = talk
            .search(&bench.position(text), "go depth 2")
            .or_fail(said!("a position without a legal move was not answered"))?;
        match &found.best.best {
            // In USI a side without a move has lost, and its engine resigns.
            Best::None | Best::Resign => (),
            best @ Best::Move(_) if best.to_move().is_none() => (),
            answer => {
                let answer = words::answer(answer);
                return Err(Stop::Fail(said!(
                    "where no move is legal the answer is `{answer}`",
                    answer
                )));
            }
        }
    }
    let late = talk.until_ready()?;
    if late.iter().any(|line| matches!(line.reply, readyok_protocol::Reply::BestMove(_))) {
        return Err(Stop::Fail(said!("there was a second `bestmove`")));
    }
    Ok(())
}
