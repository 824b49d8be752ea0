//! Positions and moves, in commands and in replies.

use readyok_protocol::{Best, Dialect};
use readyok_rules::{Game, Position};

use crate::capabilities::Feature;
use crate::checks::{assertions, clause};
use crate::context::{Test, TestCase, TestContext};
use crate::format;
use crate::message::message;
use crate::session::{EngineSession, OrFail, WaitError};
use crate::spec::{Need, Profile, Severity};
use crate::spec::{Observation, Stop, TestResult};
use crate::transcript::{Transcript, canonical_move};

pub(super) const CHECKS: &[TestCase] = &[
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
        Test::Interactive(startpos),
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
        Test::Interactive(given),
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
        Test::Interactive(special_moves),
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
        Test::Interactive(shogi_moves),
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
        Test::Interactive(short_sfen),
    ),
    check!(
        "positions.short-fen",
        "the engine reads a FEN without the two move counters",
        ["UCI 2006, UCI_Chess960" => "its own example FEN has four fields"],
        Should,
        &[Profile::Uci2006],
        &[],
        "default the counters to 0 and 1",
        Test::Interactive(short_fen),
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
        Test::Interactive(random_game),
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
        Test::Interactive(illegal_move),
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
        Test::Interactive(malformed),
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
        Test::Passive(move_form),
    ),
    check!(
        "positions.castling",
        "in standard chess the engine reads and writes castling as `e1g1`",
        ["UCI 2006, move format" => "`e1g1` is White's short castling"],
        Must,
        Profile::UCI,
        &[],
        "write castling as a king move unless `UCI_Chess960` is true",
        Test::Interactive(castling),
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
        Test::Interactive(chess960),
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
        Test::Interactive(no_legal_move),
    ),
];

/// Searches a position briefly and verifies that the reply is legal.
fn plays_legally(
    session: &mut EngineSession,
    command: &str,
    position: &Position,
    go: &str,
) -> Result<String, Stop> {
    let found = session
        .search(command, go)
        .or_fail(message!("position.no-bestmove", command = shortened(command)))?;
    match &found.best.best {
        Best::Move(mv) if position.parse_move(mv.as_str()).is_ok() => Ok(mv.to_string()),
        Best::Win if position.can_declare() => Ok("win".to_owned()),
        Best::Resign => Ok("resign".to_owned()),
        answer => Err(Stop::Fail(message!(
            "position.illegal-reply",
            command = shortened(command),
            answer = format::answer(answer)
        ))),
    }
}

fn shortened(command: &str) -> String {
    format::shown(command, 90)
}

fn startpos(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let opening = assertions::test_positions(context.game()).opening;
    let start = Position::start(context.game());
    for command in ["position startpos", "position startpos moves"] {
        plays_legally(&mut session, command, &start, "go depth 2")?;
    }
    let command = format!("position startpos moves {opening}");
    let position = after(&start, opening)?;
    plays_legally(&mut session, &command, &position, "go depth 2")?;
    // The other side moves: a reply for the position before is illegal. Moves may be retracted.
    if let Some((earlier, _)) = opening.rsplit_once(' ') {
        let command = format!("position startpos moves {earlier}");
        plays_legally(&mut session, &command, &after(&start, earlier)?, "go depth 2")?;
        let command = format!("position startpos moves {opening}");
        plays_legally(&mut session, &command, &position, "go depth 2")?;
    }
    plays_legally(&mut session, "position startpos", &start, "go depth 2").map(drop)
}

fn after(start: &Position, moves: &str) -> Result<Position, Stop> {
    let played = start.clone().after(moves.split_whitespace());
    played.map_err(|error| Stop::invalid_position(&error))
}

pub(super) fn read(context: &TestContext<'_>, text: &str) -> Result<Position, Stop> {
    Position::from_text(context.game(), text).map_err(|error| Stop::invalid_position(&error))
}

fn given(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let probe = assertions::test_positions(context.game());
    // Promoted pieces and hands: the example of the USI draft, without a reply if it was misread.
    let more = (context.game() == Game::Shogi).then_some(RYUO);
    let command = format!("{} moves", context.position(probe.middle[1]));
    plays_legally(&mut session, &command, &read(context, probe.middle[1])?, "go depth 2")?;
    for text in probe.middle.into_iter().chain(probe.ahead).chain(more) {
        let position = read(context, text)?;
        let command = context.position(text);
        let token = plays_legally(&mut session, &command, &position, "go depth 2")?;
        let Ok(next) = position.after([&token]) else { continue };
        plays_legally(&mut session, &format!("{command} moves {token}"), &next, "go depth 2")?;
    }
    Ok(())
}

/// The example position of USI draft 1 §3.
const RYUO: &str = "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124";

fn from_lines(context: &TestContext<'_>, lines: &[(&str, &str)]) -> TestResult {
    let mut session = context.ready()?;
    for (text, moves) in lines {
        let position = after(&read(context, text)?, moves)?;
        let command = format!("{} moves {moves}", context.position(text));
        plays_legally(&mut session, &command, &position, "go depth 2")?;
    }
    Ok(())
}

fn special_moves(context: &TestContext<'_>) -> TestResult {
    // After each line the moved piece, or the rook, has moves that are illegal if the line was misread.
    from_lines(
        context,
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

fn shogi_moves(context: &TestContext<'_>) -> TestResult {
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    from_lines(
        context,
        &[
            (start, "7g7f 3c3d 8h2b+ 3a2b B*4e"),
            (start, "7g7f 3c3d 8h2b 3a2b"),
            ("4k4/9/4P4/9/9/9/4p4/9/4K4 b 2G2g 1", "G*6b 5a4a 5c5b+"),
        ],
    )
}

fn short_sfen(context: &TestContext<'_>) -> TestResult {
    let texts = [
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -",
        // With two bare kings an engine may report a draw.
        "4k4/9/4P4/9/9/9/4p4/9/4K4 b RB2G2S2N2L8Prb2g2s2n2l8p",
        "4k4/9/4P4/9/9/9/4p4/9/4K4 w RB2G2S2N2Lrb2g2s2n2l16p 1",
    ];
    let mut session = context.ready()?;
    for text in texts {
        plays_legally(&mut session, &context.position(text), &read(context, text)?, "go depth 1")?;
    }
    drop(session);
    // A reply after the last piece in hand is illegal if its count was misread.
    from_lines(context, &HANDS)?;
    from_lines(context, &[MANY_IN_HAND])
}

/// A count of two digits. The last drops are illegal with only one of them.
const MANY_IN_HAND: (&str, &str) =
    ("4k4/9/9/9/9/9/9/9/4K4 b 12P 1", "P*9e 5a4a P*8e 4a5a P*7e 5a4a P*6e");

/// Positions with several pieces in hand, and moves that drop all of them.
const HANDS: [(&str, &str); 2] = [
    ("4k4/9/9/9/9/9/9/9/4K4 b 2P 1", "P*5e 5a4a P*3e"),
    ("4k4/9/9/9/9/9/9/9/4K4 w 2g3p 1", "G*5e 5i4i G*6e 4i3i P*7e 3i2i P*8e 2i1i P*9e"),
];

fn short_fen(context: &TestContext<'_>) -> TestResult {
    let text = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq -";
    let mut session = context.ready()?;
    plays_legally(&mut session, &context.position(text), &read(context, text)?, "go depth 2")
        .map(drop)
}

fn random_game(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    for plies in [1, 2, 3, 7, 16, 31, 64, 101, 160] {
        let (command, position) = context.random_game(plies);
        plays_legally(&mut session, &command, &position, "go depth 1")?;
    }
    Ok(())
}

/// Verifies that the engine still plays after an invalid command.
fn survives(context: &TestContext<'_>, commands: &[&str]) -> TestResult {
    for command in commands {
        let mut session = context.ready_unchecked()?;
        session.send(command);
        // The engine must survive the invalid line.
        let first = session.ready();
        let ready = if let Err(WaitError::Late(_)) = first { session.ready() } else { first };
        ready.or_fail(message!("position.no-readyok", command))?;
        let position = context.position(assertions::test_positions(context.game()).middle[0]);
        session
            .search(&position, "go depth 1")
            .or_fail(message!("position.no-recovery", command))?;
    }
    Ok(())
}

fn illegal_move(context: &TestContext<'_>) -> TestResult {
    survives(
        context,
        match context.dialect {
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

fn malformed(context: &TestContext<'_>) -> TestResult {
    survives(
        context,
        match context.dialect {
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

fn move_form(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        let (Some(position), Some((at, best))) = (&search.position, &search.best) else { continue };
        let Best::Move(mv) = &best.best else { continue };
        let Some(usual) = canonical_move(position, mv.as_str()) else { continue };
        seen += 1;
        let reported =
            transcript.entries.get(*at).map(|entry| entry.text.as_str()).unwrap_or_default();
        let token = reported.split_ascii_whitespace().nth(1).unwrap_or_default();
        if token != usual {
            return Err((*at, message!("move.form", mv = token, usual)));
        }
    }
    Ok(seen)
}

/// Positions in which this castling move is the only mate.
const CASTLING_MATES: [(&str, &str); 2] = [
    ("e1g1", "8/8/8/4R3/4R3/5kp1/nn6/4K2R w K - 0 1"),
    ("e1c1", "8/8/8/1N1pR3/2p5/3k4/8/R3K3 w Q - 0 1"),
];

/// Restricts the search to castling.
fn castles(
    context: &TestContext<'_>,
    session: &mut EngineSession,
    text: &str,
    token: &str,
) -> TestResult {
    let command = format!("position fen {text}");
    // Without `searchmoves` castling is the only mate.
    let go = match context.depends_on(Feature::SearchMoves) {
        Ok(()) => format!("go depth 1 searchmoves {token}"),
        Err(_) if text.contains("HA") => return context.depends_on(Feature::SearchMoves),
        Err(_) => "go depth 3".to_owned(),
    };
    let found = session.search(&command, &go).or_fail(message!("castling.no-reply"))?;
    match &found.best.best {
        Best::Move(mv) if mv.as_str() == token => Ok(()),
        Best::Move(mv) => {
            let game = if text.contains("HA") { Game::Chess960 } else { Game::Chess };
            let same = Position::from_text(game, text).is_ok_and(|position| {
                matches!((position.parse_move(mv.as_str()), position.parse_move(token)),
                    (Ok(a), Ok(b)) if a == b)
            });
            if same {
                Err(Stop::Fail(message!("castling.form", expected = token, mv)))
            } else if go.contains("searchmoves") {
                // The engine obeys `searchmoves`, so it does not know this move.
                Err(Stop::Fail(message!("search.move", go, mv)))
            } else {
                Err(Stop::Inconclusive(message!("search.move", go, mv)))
            }
        }
        answer => Err(Stop::Fail(message!("castling.reply", answer = format::answer(answer)))),
    }
}

fn castling(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    if context.option("UCI_Chess960").is_some() {
        // Some engines have it on by default.
        session.send(&context.set("UCI_Chess960", "false"));
        session.ready()?;
    }
    let text = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";
    let restricts = context.depends_on(Feature::SearchMoves).is_ok();
    for (token, mate) in CASTLING_MATES {
        castles(context, &mut session, if restricts { text } else { mate }, token)?;
    }
    if restricts {
        let text = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b KQkq - 0 1";
        castles(context, &mut session, text, "e8g8")?;
        castles(context, &mut session, text, "e8c8")?;
    }
    // Without the right the move would mate.
    for (token, mate) in CASTLING_MATES {
        let fields: Vec<&str> = mate.split(' ').collect();
        let text = format!("{} w - - 0 1", fields[0]);
        let found = session
            .search(&format!("position fen {text}"), "go depth 3")
            .or_fail(message!("castling.no-reply"))?;
        if matches!(&found.best.best, Best::Move(mv) if mv.as_str() == token) {
            return Err(Stop::Fail(message!("castling.no-right", mv = token)));
        }
    }
    Ok(())
}

fn chess960(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.set("UCI_Chess960", "true"));
    session.ready()?;
    let text = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w HAha - 0 1";
    castles(context, &mut session, text, "e1h1")?;
    castles(context, &mut session, text, "e1a1")?;
    let text = "nrbkqrnb/pppppppp/8/8/8/8/PPPPPPPP/NRBKQRNB w FBfb - 0 1";
    let position = Position::from_text(Game::Chess960, text)
        .map_err(|error| Stop::invalid_position(&error))?;
    plays_legally(&mut session, &context.position(text), &position, "go depth 2")?;
    // The option can be switched off again.
    session.send(&context.set("UCI_Chess960", "false"));
    session.ready()?;
    castles(context, &mut session, "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1", "e1g1")
}

fn no_legal_move(context: &TestContext<'_>) -> TestResult {
    let mut texts = vec![assertions::test_positions(context.game()).mated];
    if context.game() == Game::Chess {
        texts.push(assertions::CHESS_STALEMATE);
    }
    let mut session = context.ready()?;
    for text in texts {
        let found = session
            .search(&context.position(text), "go depth 2")
            .or_fail(message!("no-legal-move.no-reply"))?;
        match &found.best.best {
            // In USI a side without a move has lost, and its engine resigns.
            Best::None | Best::Resign => (),
            best @ Best::Move(_) if best.to_move().is_none() => (),
            answer => {
                let answer = format::answer(answer);
                return Err(Stop::Fail(message!("no-legal-move.reply", answer)));
            }
        }
    }
    let late = session.until_ready()?;
    if late.iter().any(|line| matches!(line.reply, readyok_protocol::Reply::BestMove(_))) {
        return Err(Stop::Fail(message!("search.second-bestmove")));
    }
    Ok(())
}

pub(super) const MOVE_CHECKS: &[TestCase] = &[
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
        Test::Interactive(en_passant),
    ),
    check!(
        "positions.promotions",
        "the engine promotes to all four pieces, with a lower-case letter",
        ["UCI 2006, move format" => "the piece letter follows the squares: `e7e8q`"],
        Must,
        Profile::UCI,
        &[],
        "generate all four promotions, written in lower case",
        Test::Interactive(promotions),
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
        Test::Interactive(double_frc),
    ),
    check!(
        "positions.counters",
        "the engine accepts large move counters in a FEN",
        ["PGN specification §16.1.3.5 and §16.1.3.6" => "both are integers without a maximum"],
        Should,
        Profile::UCI,
        &[],
        "read multi-digit numbers, and do not use them as array indices",
        Test::Interactive(counters),
    ),
    check!(
        "positions.shogi-promotions",
        "the engine distinguishes drops, promotions, non-promotions and forced promotions",
        ["USI draft 1 §5.2" => "`G*5b` is a drop, `8h2b+` a promotion; most promotions are optional"],
        Must,
        Profile::USI,
        &[],
        "generate promotions and non-promotions, except non-promotions that leave the piece without moves",
        Test::Interactive(shogi_promotions),
    ),
    check!(
        "positions.pawn-drop-mate",
        "the engine does not mate with a pawn drop (uchifuzume)",
        ["USI draft 1 §5.3, bestmove" => "the move is legal by the rules of shogi"],
        Must,
        Profile::USI,
        &[],
        "reject a checking pawn drop without a legal reply",
        Test::Interactive(pawn_drop_mate),
    ),
    check!(
        "positions.two-pawns",
        "the engine does not drop a second pawn on a file (nifu)",
        ["USI draft 1 §5.3, bestmove" => "the move is legal by the rules of shogi"],
        Must,
        Profile::USI,
        &[],
        "skip files with an unpromoted pawn of the same side",
        Test::Interactive(two_pawns),
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
        Test::Interactive(random_lines),
    ),
];

/// The reply to a search restricted to one move.
fn answer(session: &mut EngineSession, command: &str, token: &str) -> Result<String, Stop> {
    let go = format!("go depth 1 searchmoves {token}");
    let found = session.search(command, &go).or_fail(message!("position.no-reply", command, go))?;
    Ok(format::answer(&found.best.best))
}

/// Verifies that the engine plays the only move of `searchmoves`. An engine that ignores `searchmoves` cannot be checked in
/// this way.
fn chooses(
    context: &TestContext<'_>,
    text: &str,
    moves: &str,
    token: &str,
    control: &str,
) -> TestResult {
    context.depends_on(Feature::SearchMoves)?;
    let mut session = context.ready_unchecked()?;
    let game = if text.contains("HA") { Game::Chess960 } else { context.game() };
    let position = Position::from_text(game, text)
        .map(|position| position.after(moves.split_whitespace()))
        .map_err(|error| Stop::invalid_position(&error))?
        .map_err(|error| Stop::invalid_position(&error))?;
    for it in [token, control] {
        position.parse_move(it).map_err(|error| Stop::invalid_position(&error))?;
    }
    if game == Game::Chess960 {
        session.send(&context.set("UCI_Chess960", "true"));
        session.ready()?;
    }
    let moves = if moves.is_empty() { String::new() } else { format!(" moves {moves}") };
    let command = format!("{}{moves}", context.position(text));
    if answer(&mut session, &command, control)? != control {
        return Err(Stop::Skip(message!("searchmoves.ignored")));
    }
    let chosen = answer(&mut session, &command, token)?;
    if chosen == token {
        return Ok(());
    }
    Err(Stop::Fail(message!("move.not-generated", mv = token, chosen)))
}

fn en_passant(context: &TestContext<'_>) -> TestResult {
    chooses(context, "4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", "a2a4", "b4a3", "b4b3")?;
    chooses(context, "4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1", "", "b4a3", "b4b3")?;
    chooses(context, "4k3/1p6/8/P7/8/8/8/4K3 w - - 0 1", "e1e2 b7b5", "a5b6", "a5a6")?;
    chooses(context, "4k3/8/8/Pp6/8/8/8/4K3 w - b6 0 1", "", "a5b6", "a5a6")
}

fn promotions(context: &TestContext<'_>) -> TestResult {
    // A passive check covers the form of the moves.
    let mut session = context.ready()?;
    let text = "8/P3k3/8/8/8/8/8/4K3 w - - 0 1";
    plays_legally(&mut session, &context.position(text), &read(context, text)?, "go depth 4")?;
    for token in ["a7a8q", "a7a8r", "a7a8b", "a7a8n"] {
        chooses(context, "8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "", token, "e1d1")?;
    }
    for token in ["h2h1q", "h2h1n"] {
        chooses(context, "4k3/8/8/8/8/8/4K2p/8 b - - 0 1", "", token, "e8d8")?;
    }
    Ok(())
}

fn double_frc(context: &TestContext<'_>) -> TestResult {
    let white = "1r1k1r2/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w HAfb - 0 1";
    let black = "1r1k1r2/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b HAfb - 0 1";
    for (text, tokens, control) in
        [(white, ["e1h1", "e1a1"], "a2a3"), (black, ["d8f8", "d8b8"], "a7a6")]
    {
        for token in tokens {
            chooses(context, text, "", token, control)?;
        }
    }
    Ok(())
}

fn counters(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    for counters in ["57 213", "99 5949", "0 0"] {
        let text =
            format!("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - {counters}");
        let position = read(context, &text)?;
        plays_legally(&mut session, &context.position(&text), &position, "go depth 2")?;
    }
    Ok(())
}

fn shogi_promotions(context: &TestContext<'_>) -> TestResult {
    let pawns = "4k4/8P/9/6S2/9/9/9/9/4K4 b P 1";
    for token in ["P*5e", "3d4c+", "3d4c", "1b1a+"] {
        chooses(context, pawns, "", token, "5i5h")?;
    }
    Ok(())
}

/// Verifies that the engine does not play or announce a move with this prefix.
fn plays_no(context: &TestContext<'_>, text: &str, start: &str) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let position = read(context, text)?;
    let command = context.position(text);
    let token = plays_legally(&mut session, &command, &position, "go depth 4")?;
    if token.starts_with(start) {
        return Err(Stop::Fail(message!("move.forbidden", mv = token)));
    }
    Ok(())
}

fn pawn_drop_mate(context: &TestContext<'_>) -> TestResult {
    plays_no(context, "7nk/9/7G1/9/9/9/9/9/4K4 b P 1", "P*1b")?;
    plays_no(context, "4k4/9/9/9/9/9/1g7/9/KN7 w p 1", "P*9h")
}

fn two_pawns(context: &TestContext<'_>) -> TestResult {
    plays_no(context, "4k4/9/9/9/9/9/PPPPPPPPP/9/4K4 b 9P 1", "P*")?;
    plays_no(context, "4k4/9/ppppppppp/9/9/9/9/9/4K4 w 9p 1", "P*")
}

fn random_lines(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let mut random = fastrand::Rng::with_seed(context.seed ^ 0x11e5);
    for _ in 0..context.effort.lines {
        let plies = random.usize(20..120);
        let (command, position) = context.random_line(&mut random, plies);
        plays_legally(&mut session, &command, &position, "go depth 1")?;
    }
    context.remark(format!("{} lines of random moves", context.effort.lines));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn castling_is_the_only_mate() {
        for (token, text) in CASTLING_MATES {
            let position = Position::from_text(Game::Chess, text).expect(text);
            let form = position.game().castling_form();
            let mates = position.legal_moves().into_iter().filter(|mv| {
                let mut next = position.clone();
                next.play(*mv).expect("legal");
                next.legal_moves().is_empty() && next.in_check()
            });
            let mates: Vec<String> = mates.map(|mv| mv.to_uci(form)).collect();
            let castling = position.parse_move(token).expect(token).to_uci(form);
            assert_eq!(mates, [castling], "{text}");
        }
    }

    #[test]
    fn all_pieces_in_hand_are_dropped() {
        for (text, moves) in HANDS {
            let position = Position::from_text(Game::Shogi, text).expect(text);
            let reached = position.after(moves.split(' ')).expect(moves);
            let fields = reached.text(readyok_rules::FenForm::XFen);
            assert_eq!(fields.split(' ').nth(2), Some("-"), "{fields}");
        }
    }
}
