//! Positions and moves, as they are told and as they are answered.

use readyok_protocol::{Best, Dialect};
use readyok_rules::{Game, Position};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Heard, Need, Outcome, Profile, Severity, Stop, Test};
use crate::conversation::{Conversation, usual_word};
use crate::message::message;
use crate::talk::{Blame, Lost, Talk};
use crate::words;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "positions.startpos",
        "the engine reads `position startpos` with moves, with an empty list, and without `moves`",
        [
            "UCI 2006, position" => "the start position is called `startpos`; moves are played from it",
            "The UCI Protocol, position" => "`moves` is optional",
            "USI draft 1 §5.3, position" => "moves optionally follow both `startpos` and an SFEN",
        ],
        Must,
        Profile::ALL,
        &[],
        "make both `moves` and its list optional",
        Test::Ask(startpos),
    ),
    check!(
        "positions.fen-sfen",
        "the engine reads a FEN or SFEN with either side to move, and plays moves from it",
        [
            "UCI 2006, position fen" => "the engine sets up the position of the string",
            "USI draft 1 §3 and §5.3, position sfen" => "board, side to move, hands and move number of the string",
        ],
        Must,
        Profile::ALL,
        &[],
        "read all fields, then play the moves",
        Test::Ask(given),
    ),
    check!(
        "positions.special-moves",
        "the engine plays castling, en passant and all promotions from the move list",
        [
            "UCI 2006, move format" => "castling is the king's move, and a promotion has the piece's letter",
        ],
        Must,
        Profile::UCI,
        &[],
        "compare the received move with the notation of each legal move",
        Test::Ask(special_moves),
    ),
    check!(
        "positions.shogi-moves",
        "the engine plays drops, promotions and non-promotions from the move list",
        [
            "USI draft 1 §5.2" => "a drop is the piece's letter, `*` and the square; `+` marks a promotion",
        ],
        Must,
        Profile::USI,
        &[],
        "compare the received move with the notation of each legal move",
        Test::Ask(shogi_moves),
    ),
    check!(
        "positions.short-sfen",
        "the engine reads an SFEN without a move number and with several pieces in hand",
        [
            "USI draft 1 §3" => "the move count is optional; a count precedes the letter of several pieces",
        ],
        Must,
        Profile::USI,
        &[],
        "default the move number to 1, and accept two-digit counts in hand",
        Test::Ask(short_sfen),
    ),
    check!(
        "positions.short-fen",
        "the engine reads a FEN without the two move counters",
        ["UCI 2006, UCI_Chess960" => "its own example FEN has four fields"],
        Should,
        &[Profile::Uci2006],
        &[],
        "default the counters to 0 and 1",
        Test::Ask(short_fen),
    ),
    check!(
        "positions.random-game",
        "the engine replies with a legal move after every prefix of a random game",
        [
            "UCI 2006, position and bestmove" => "the engine plays the moves and searches the resulting position",
            "USI draft 1 §5.3, position and bestmove" => "the moves lead to the searched position",
        ],
        Must,
        Profile::ALL,
        &[],
        "play all moves of the list from the given position",
        Test::Ask(random_game),
    ),
    check!(
        "positions.illegal-move",
        "the engine survives an illegal move in the list",
        [
            "UCI 2006, general rules" => "invalid input is ignored",
            "USI draft 1 §5.1" => "invalid input is ignored, and the engine continues",
        ],
        Should,
        Profile::ALL,
        &[],
        "stop at the first illegal move, and report it with `info string`",
        Test::Ask(illegal_move),
    ),
    check!(
        "positions.malformed",
        "the engine neither crashes nor hangs on a malformed position",
        [
            "UCI 2006, general rules" => "invalid input is ignored",
            "USI draft 1 §5.1" => "invalid input is ignored, and the engine continues",
        ],
        Should,
        Profile::ALL,
        &[],
        "validate a position before use, and keep the previous one",
        Test::Ask(malformed),
    ),
    check!(
        "positions.move-form",
        "moves have the form of the protocol: lower-case promotions; castling as a king move, in Chess960 as king takes rook",
        [
            "UCI 2006, move format and UCI_Chess960" => "long algebraic notation, castling as `e1g1`, or as `e1h1` in Chess960",
            "USI draft 1 §5.2" => "squares as file and rank, drops with an upper-case letter, `+` for a promotion",
        ],
        Must,
        Profile::ALL,
        &[],
        "write moves in the notation of the protocol",
        Test::Hear(move_form),
    ),
    check!(
        "positions.castling",
        "in standard chess the engine reads and writes castling as `e1g1`",
        ["UCI 2006, move format" => "`e1g1` is White's short castling"],
        Must,
        Profile::UCI,
        &[],
        "write castling as a king move unless `UCI_Chess960` is true",
        Test::Ask(castling),
    ),
    check!(
        "positions.chess960",
        "in Chess960 the engine reads and writes castling as king takes rook",
        [
            "UCI 2006, UCI_Chess960" => "castling is sent as king takes own rook, castling rights as files of rooks",
        ],
        Must,
        &[Profile::Uci2006],
        &[Need::Option("UCI_Chess960")],
        "write castling as king takes rook while `UCI_Chess960` is true",
        Test::Ask(chess960),
    ),
    check!(
        "positions.no-legal-move",
        "without a legal move the engine sends one `bestmove` without a move",
        [
            "UCI 2006, bestmove and move format" => "each `go` gets a reply; the null move is `0000`",
            "practice" => "UCI engines send `(none)`, USI engines `resign`",
        ],
        Must,
        Profile::ALL,
        &[],
        "send `bestmove (none)` or `bestmove 0000`, in USI `bestmove resign`",
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
    let found = talk
        .search(command, go)
        .or_fail(message!("position.no-bestmove", command = shortened(command)))?;
    match &found.best.best {
        Best::Move(mv) if position.parse_move(mv.as_str()).is_ok() => Ok(mv.to_string()),
        Best::Win if position.can_declare() => Ok("win".to_owned()),
        Best::Resign => Ok("resign".to_owned()),
        answer => Err(Stop::Fail(message!(
            "position.illegal-reply",
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
        ready.or_fail(message!("position.no-readyok", command))?;
        let position = bench.position(probe::of(bench.game()).middle[0]);
        talk.search(&position, "go depth 1").or_fail(message!("position.no-recovery", command))?;
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
            return Err((*at, message!("move.form", mv = word, usual)));
        }
    }
    Ok(seen)
}

/// Has the engine choose from castling alone.
fn castles(talk: &mut Talk, text: &str, word: &str) -> Outcome {
    let command = format!("position fen {text}");
    let go = format!("go depth 1 searchmoves {word}");
    let found = talk.search(&command, &go).or_fail(message!("castling.no-reply"))?;
    match &found.best.best {
        Best::Move(mv) if mv.as_str() == word => Ok(()),
        Best::Move(mv) => {
            let game = if text.contains("HA") { Game::Chess960 } else { Game::Chess };
            let same = Position::from_text(game, text).is_ok_and(|position| {
                matches!((position.parse_move(mv.as_str()), position.parse_move(word)),
                    (Ok(a), Ok(b)) if a == b)
            });
            if same {
                Err(Stop::Fail(message!("castling.form", expected = word, mv)))
            } else {
                Err(Stop::Inconclusive(message!("search.move", go, mv)))
            }
        }
        answer => Err(Stop::Fail(message!("castling.reply", answer = words::answer(answer)))),
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
            .or_fail(message!("no-legal-move.no-reply"))?;
        match &found.best.best {
            // In USI a side without a move has lost, and its engine resigns.
            Best::None | Best::Resign => (),
            best @ Best::Move(_) if best.to_move().is_none() => (),
            answer => {
                let answer = words::answer(answer);
                return Err(Stop::Fail(message!("no-legal-move.reply", answer)));
            }
        }
    }
    let late = talk.until_ready()?;
    if late.iter().any(|line| matches!(line.reply, readyok_protocol::Reply::BestMove(_))) {
        return Err(Stop::Fail(message!("search.second-bestmove")));
    }
    Ok(())
}
