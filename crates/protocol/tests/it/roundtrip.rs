//! Round trips: what is read can be written, and what is written is read unchanged.

use std::borrow::Cow;
use std::time::Duration;

use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use readyok_protocol::{
    Best, BestMove, Bound, Checkmate, Clocks, Command, CurrentLine, Dialect, Fen, GameResult, Go,
    Id, Info, MateLimit, MateUnit, Move, MoveList, MoveShape, OptionDecl, OptionKind, Position,
    Register, Reply, Root, Score, SetOption, Sfen, Square, Status, Wdl,
};

use crate::laws;

/// All keywords and similar tokens.
const TOKENS: &str = "\
    uci usi debug on off isready setoption name value register later code ucinewgame usinewgame \
    position startpos fen sfen moves go searchmoves ponder wtime btime winc binc byoyomi \
    movestogo depth nodes mate movetime infinite perft stop ponderhit gameover win lose draw \
    quit id author uciok usiok readyok bestmove checkmate nomate timeout notimplemented none \
    copyprotection registration checking ok error info option seldepth multipv score cp \
    lowerbound upperbound wdl nps eps hashfull tbhits sbhits cpuload time movesleft currmove \
    currmovenumber string refutation currline pv type check spin combo button filename default \
    min max var true false <empty> (none) NULL resign rep_draw rtime 0 1 -1 +1 + - -0 00 0000 7 \
    300 1.5 1e6 65536 2147483648 -2147483648 4294967295 4294967296 9223372036854775807 \
    -9223372036854775808 9223372036854775808 18446744073709551615 99999999999999999999 \
    -99999999999999999999 e2e4 E2E4 e7e8q e7e8Q e7e8qq a1a1 P@e4 p@E4 7g7f 7G7F 4e3c+ P*3d p*3d \
    K*3d l10l10q O-O rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR 8/8/8/8/8/8/8/8 8/8 w b KQkq \
    HAha e3 lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL RG4P2b2s3p Hash USI_Hash \
    UCI_Opponent joho ｈ 棋譜 é \u{feff} \u{2028} \u{7f} x X Type DEPTH Default Value NAME UCI Info \
    BestMove";

fn tokens() -> impl Strategy<Value = &'static str> {
    select(TOKENS.split(' ').collect::<Vec<_>>())
}

fn dialect() -> impl Strategy<Value = Dialect> {
    select(&Dialect::ALL[..])
}

/// A line of keywords and junk with irregular white space.
fn line() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        9 => tokens().prop_map(str::to_owned),
        1 => "[!-~]{1,5}",
        1 => "\\PC{1,3}",
    ];
    let space = prop_oneof![
        12 => Just(" ".to_owned()),
        2 => select(&["  ", "\t", " \t ", "\u{b}", "\u{1b}", ""][..]).prop_map(str::to_owned),
        1 => select(&["\r", "\n", "\0", "\r\n"][..]).prop_map(str::to_owned),
    ];
    let tokens = prop::collection::vec((space, token), 0..14);
    tokens.prop_map(|parts| parts.into_iter().flat_map(|(space, token)| [space, token]).collect())
}

/// Arguments of `go`: times, mostly in the usual form.
fn times() -> impl Strategy<Value = String> {
    let space = prop_oneof![
        20 => Just(" "),
        1 => select(&["", "  ", "\t", "\u{b}", "\r", "\n", "\0"][..]),
    ];
    let key = prop_oneof![
        20 => select(&["wtime", "btime", "winc", "binc", "byoyomi"][..]),
        1 => select(&["movestogo", "depth", "ponder", "WTIME", "wtim", "wtimes", "\u{663}"][..]),
    ];
    let value = prop_oneof![
        20 => "[0-9]{1,6}",
        2 => "[0-9]{7,20}",
        1 => select(&["", "-5", "+5", "5x", "-", "1.5", "\u{663}"][..]).prop_map(str::to_owned),
    ];
    let fields = prop::collection::vec((key, space.clone(), value, space), 0..6);
    fields.prop_map(|fields| {
        let parts = fields.iter().flat_map(|(key, space, value, end)| [*key, *space, value, *end]);
        parts.collect()
    })
}

/// A text of a hostile caller.
fn text() -> BoxedStrategy<Cow<'static, str>> {
    prop_oneof![
        2 => "[a-zA-Z0-9_.:;/-]{1,12}",
        2 => "[a-z]{1,6}( {1,2}[A-Za-z]{1,6}){0,3}",
        2 => prop::collection::vec(tokens(), 0..4).prop_map(|tokens| tokens.join(" ")),
        1 => "\\PC{0,6}",
        1 => any::<String>(),
        1 => "[a-z ]{0,4}[\\n\\r\\x00\\t][a-z ]{0,8}",
    ]
    .prop_map(Cow::Owned)
    .boxed()
}

/// A text of an option, where `<empty>` and the empty text are equal.
fn option_text() -> BoxedStrategy<Cow<'static, str>> {
    text().prop_map(|text| if text == "<empty>" { Cow::Borrowed("") } else { text }).boxed()
}

fn a_move(dialect: Dialect) -> BoxedStrategy<Move> {
    let (files, ranks) = match dialect {
        Dialect::Uci => (12u8, 10u8),
        Dialect::Usi => (9, 9),
    };
    let square = (1..=files, 1..=ranks).prop_map(|(file, rank)| Square::new(file, rank));
    let suffix = match dialect {
        Dialect::Uci => of(prop::char::range('a', 'z')).boxed(),
        Dialect::Usi => of(Just('+')).boxed(),
    };
    let board = (square.clone(), square.clone(), suffix)
        .prop_map(|(from, to, suffix)| MoveShape::Board { from, to, suffix });
    let drop = (select(vec!['P', 'L', 'N', 'S', 'G', 'B', 'R']), square)
        .prop_map(|(piece, to)| MoveShape::Drop { piece, to });
    prop_oneof![8 => board, 2 => drop, 1 => Just(MoveShape::Null)]
        .prop_filter_map("off the board", move |shape| Move::from_shape(shape, dialect))
        .boxed()
}

fn of_dialects() -> impl Strategy<Value = Dialect> {
    select(Dialect::ALL.to_vec())
}

/// Squares of boards, and some outside of them.
fn any_squares() -> impl Strategy<Value = [Square; 2]> {
    let number = || prop_oneof![8 => 0..14_u8, 1 => any::<u8>()];
    let square = || (number(), number()).prop_map(|(file, rank)| Square::new(file, rank));
    [square(), square()]
}

fn any_letter() -> impl Strategy<Value = char> {
    prop_oneof![8 => prop::char::range('!', '~'), 1 => any::<char>()]
}

/// Moves, sometimes with another token among them.
fn moves(dialect: Dialect) -> BoxedStrategy<MoveList<'static>> {
    let token = prop_oneof![
        12 => a_move(dialect).prop_map(String::from),
        1 => tokens().prop_map(str::to_owned),
    ];
    prop::collection::vec(token, 0..8)
        .prop_map(|tokens| {
            let mut list = MoveList::EMPTY;
            for token in tokens {
                // Keywords are rejected and skipped.
                let _ = list.push_token(&token);
            }
            list
        })
        .boxed()
}

fn clocks(dialect: Dialect) -> BoxedStrategy<Clocks> {
    let millis = || of(prop_oneof![any::<i64>(), -5i64..500_000]);
    // Mostly clocks that a dialect supports: increments or a byoyomi.
    let zero = || of(Just(0i64));
    let additions = prop_oneof![
        (zero(), zero(), millis()),
        (millis(), millis(), zero()),
        (millis(), millis(), millis()),
    ];
    (millis(), millis(), additions, of(any::<u32>()))
        .prop_map(move |fields| Clocks {
            white_time: fields.0,
            black_time: fields.1,
            white_increment: fields.2.0,
            black_increment: fields.2.1,
            byoyomi: fields.2.2,
            moves_to_go: fields.3,
            convention: dialect.clock_convention(),
        })
        .boxed()
}

fn unknown() -> BoxedStrategy<Vec<Cow<'static, str>>> {
    prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(text(), 0..3)].boxed()
}

/// Unknown tokens, sometimes with a keyword before a token that is not a move, or before a move, which is not
/// written.
fn unknown_with(keyword: &'static str) -> BoxedStrategy<Vec<Cow<'static, str>>> {
    let values = vec!["e2e4,e4f5", "xyz", "P*3d5", "PONDER", "Depth", "depth", "e2e4", "none"];
    let keyed = select(values).prop_map(move |value| vec![keyword.into(), value.into()]);
    prop_oneof![3 => unknown(), 1 => (unknown(), keyed, unknown()).prop_map(|(before, keyed, after)| [
        before, keyed, after
    ].concat())]
    .boxed()
}

fn go(dialect: Dialect) -> BoxedStrategy<Go<'static>> {
    // Messages contain whole milliseconds.
    let time = || (0..=u64::MAX / 2).prop_map(Duration::from_millis);
    let mate = prop_oneof![
        any::<u32>().prop_map(MateLimit::Moves),
        time().prop_map(MateLimit::Time),
        Just(MateLimit::Infinite),
    ];
    let times = (of(time()), of(time()));
    let limits = (of(any::<u32>()), of(any::<u64>()), of(mate), times, of(any::<u32>()));
    let flags = (any::<(bool, bool)>(), unusable());
    (of(moves(dialect)), flags, clocks(dialect), limits, unknown())
        .prop_map(|(search_moves, ((ponder, infinite), unusable), clocks, limits, unknown)| Go {
            search_moves,
            ponder,
            clocks,
            depth: limits.0,
            nodes: limits.1,
            mate: limits.2,
            move_time: limits.3.0,
            random_time: limits.3.1,
            infinite,
            perft: limits.4,
            unknown,
            unusable,
        })
        .boxed()
}

/// Limits without a usable value, and texts that are usable or no limits and are not written.
fn unusable() -> BoxedStrategy<Vec<Cow<'static, str>>> {
    let limits = vec![
        "movetime x",
        "depth",
        "nodes .5",
        "wtime DEPTH",
        "movestogo",
        "byoyomi -",
        "depth 5.5",
        "depth x y",
        "searchmoves",
        "x",
    ];
    let limit = select(limits).prop_map(Cow::Borrowed);
    prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(limit, 0..3)].boxed()
}

fn root() -> BoxedStrategy<Root<'static>> {
    let fen = select(vec![
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w AHah -",
        "rnbqkb1r/pp1p1ppp/2p5/4P3/2B5/8/PPP1NnPP/RNBQK2R[Pp] w KQkq - 0 6",
    ]);
    let sfen = select(vec![
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124",
    ]);
    prop_oneof![
        Just(Root::StartPos),
        fen.prop_filter_map("no FEN", |text| Fen::new(text).ok().map(Root::Fen)),
        sfen.prop_filter_map("no SFEN", |text| Sfen::new(text).ok().map(Root::Sfen)),
    ]
    .boxed()
}

fn command(dialect: Dialect) -> BoxedStrategy<Command<'static>> {
    let register = prop_oneof![
        Just(Register::Later),
        (of(text()), of(text())).prop_map(|(name, code)| Register::With { name, code }),
    ];
    prop_oneof![
        1 => Just(Command::Uci),
        1 => any::<bool>().prop_map(Command::Debug),
        1 => Just(Command::IsReady),
        4 => (text(), of(option_text()))
            .prop_map(|(name, value)| Command::SetOption(SetOption { name, value })),
        2 => register.prop_map(Command::Register),
        1 => Just(Command::NewGame),
        2 => (root(), moves(dialect))
            .prop_map(|(root, moves)| Command::Position(Position { root, moves })),
        6 => go(dialect).prop_map(Command::Go),
        1 => Just(Command::Stop),
        1 => clocks(dialect).prop_map(Command::PonderHit),
        1 => select(vec![GameResult::Win, GameResult::Lose, GameResult::Draw])
            .prop_map(Command::GameOver),
        1 => Just(Command::Quit),
        2 => text().prop_map(Command::Unknown),
    ]
    .boxed()
}

/// A score that the dialect can represent: in UCI the mating side moves last.
fn score(dialect: Dialect) -> BoxedStrategy<Score> {
    let distance = move |parity: u32| {
        any::<u32>().prop_map(move |plies| match dialect.mate_unit() {
            MateUnit::Moves => (plies >> 1).max(1) * 2 - parity,
            MateUnit::Plies => plies.max(1),
        })
    };
    prop_oneof![
        any::<i32>().prop_map(Score::Cp),
        distance(1).prop_map(|plies| Score::MateIn { plies }),
        distance(0).prop_map(|plies| Score::MatedIn { plies }),
        select(vec![Score::Mated, Score::MatedInUnknown, Score::MateInUnknown, Score::MateGiven]),
    ]
    .boxed()
}

fn info(dialect: Dialect) -> BoxedStrategy<Info<'static>> {
    let bound = select(vec![Bound::Exact, Bound::Lower, Bound::Upper]);
    let wdl = any::<(u16, u16, u16)>().prop_map(|(win, draw, loss)| Wdl { win, draw, loss });
    let line =
        (of(any::<u32>()), moves(dialect)).prop_map(|(cpu, moves)| CurrentLine { cpu, moves });
    let number = || of(any::<u32>());
    let counter = || of(any::<u64>());
    let numbers = (number(), number(), number(), number(), number(), number(), number());
    let counters = (counter(), counter(), counter(), counter(), counter(), counter());
    let scores = (of(score(dialect)), bound, of(wdl));
    let lists = (of(moves(dialect)), of(line), of(moves(dialect)));
    (numbers, counters, scores, of(a_move(dialect)), lists, unknown_with("currmove"), of(text()))
        .prop_map(|(numbers, counters, (score, bound, wdl), currmove, lists, unknown, string)| {
            Info {
                depth: numbers.0,
                seldepth: numbers.1.and(numbers.0),
                multipv: numbers.2,
                score,
                bound,
                wdl,
                nodes: counters.0,
                nps: counters.1,
                eps: counters.5,
                hashfull: numbers.3,
                tbhits: counters.2,
                sbhits: counters.3,
                cpuload: numbers.4,
                time: counters.4.map(Duration::from_millis),
                movesleft: numbers.5,
                currmove,
                currmovenumber: numbers.6,
                refutation: lists.0,
                currline: lists.1,
                pv: lists.2,
                unknown,
                string,
            }
        })
        .boxed()
}

fn option_decl() -> BoxedStrategy<OptionDecl<'static>> {
    let number = || of(any::<i64>());
    let kind = prop_oneof![
        of(any::<bool>()).prop_map(|default| OptionKind::Check { default }),
        (number(), number(), number()).prop_map(|(default, min, max)| OptionKind::Spin {
            default,
            min,
            max
        }),
        (of(option_text()), prop::collection::vec(option_text(), 0..4))
            .prop_map(|(default, vars)| OptionKind::Combo { default, vars }),
        Just(OptionKind::Button),
        of(option_text()).prop_map(|default| OptionKind::String { default }),
        of(option_text()).prop_map(|default| OptionKind::Filename { default }),
        (text(), text()).prop_map(|(kind, rest)| OptionKind::Other { kind, rest }),
    ];
    (text(), kind).prop_map(|(name, kind)| OptionDecl { name, kind }).boxed()
}

fn reply(dialect: Dialect) -> BoxedStrategy<Reply<'static>> {
    let best = prop_oneof![
        6 => a_move(dialect).prop_map(Best::Move),
        1 => Just(Best::None),
        1 => Just(Best::Resign),
        1 => Just(Best::Win),
        2 => text().prop_map(Best::Other),
    ];
    // The null move means that no reply is expected, and is not written.
    let ponder = of(a_move(dialect)).prop_map(|ponder| ponder.filter(|mv| *mv != Move::NULL));
    let checkmate = prop_oneof![
        moves(dialect).prop_map(Checkmate::Moves),
        Just(Checkmate::NoMate),
        Just(Checkmate::Timeout),
        Just(Checkmate::NotImplemented),
        Just(Checkmate::Unknown),
    ];
    let status = || select(vec![Status::Checking, Status::Ok, Status::Error]);
    prop_oneof![
        1 => text().prop_map(|text| Reply::Id(Id::Name(text))),
        1 => text().prop_map(|text| Reply::Id(Id::Author(text))),
        6 => option_decl().prop_map(Reply::Option),
        1 => Just(Reply::UciOk),
        1 => Just(Reply::ReadyOk),
        3 => (best, ponder, unknown_with("ponder"))
            .prop_map(|(best, ponder, unknown)| BestMove { best, ponder, unknown })
            .prop_map(Reply::BestMove),
        2 => checkmate.prop_map(Reply::Checkmate),
        1 => status().prop_map(Reply::CopyProtection),
        1 => status().prop_map(Reply::Registration),
        8 => info(dialect).prop_map(Reply::Info),
        2 => text().prop_map(Reply::Unknown),
    ]
    .boxed()
}

fn with_dialect<T: std::fmt::Debug + 'static>(
    values: impl Fn(Dialect) -> BoxedStrategy<T> + 'static,
) -> impl Strategy<Value = (Dialect, T)> {
    dialect().prop_flat_map(move |dialect| (Just(dialect), values(dialect)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn commands_survive_a_round_trip(
        (dialect, value) in with_dialect(command)
    ) {
        let mut line = String::new();
        if value.write(dialect, &mut line).is_ok() {
            let expected = laws::command_as_written(value, dialect);
            prop_assert_eq!(Some(Command::read(&line, dialect).value), expected, "{:?}", line);
        } else {
            prop_assert_eq!(line, "", "something was written before the error");
        }
    }

    #[test]
    fn replies_survive_a_round_trip((dialect, value) in with_dialect(reply)) {
        let mut line = String::new();
        if value.write(dialect, &mut line).is_ok() {
            let expected = laws::as_written(value, dialect);
            prop_assert_eq!(Reply::read(&line, dialect).value, expected, "{:?}", line);
        } else {
            prop_assert_eq!(line, "", "something was written before the error");
        }
    }

    #[test]
    fn a_written_message_is_one_line(
        (dialect, command, reply) in dialect().prop_flat_map(|dialect| (Just(dialect), command(dialect), reply(dialect)))
    ) {
        let mut out = String::new();
        let _ = command.write(dialect, &mut out);
        let _ = reply.write(dialect, &mut out);
        prop_assert!(!out.contains(['\n', '\r', '\0']), "{:?}", out);
    }

    #[test]
    fn any_line_satisfies_the_properties(line in line()) {
        for dialect in Dialect::ALL {
            laws::command(&line, dialect);
            laws::reply(&line, dialect);
        }
    }

    #[test]
    fn any_line_of_a_message_satisfies_the_properties(
        first in tokens(), line in line(), dialect in dialect()
    ) {
        let line = format!("{first} {line}");
        laws::command(&line, dialect);
        laws::reply(&line, dialect);
    }

    #[test]
    fn a_go_with_times_satisfies_the_properties(times in times(), dialect in dialect()) {
        laws::command(&format!("go {times}"), dialect);
        laws::command(&format!("go {}", times.trim_ascii_end()), dialect);
    }

    #[test]
    fn any_text_satisfies_the_properties(line in any::<String>()) {
        laws::command_bytes(line.as_bytes());
        laws::reply_bytes(line.as_bytes());
    }

    /// A shape is a move of a dialect if and only if its text is read as this shape.
    #[test]
    fn shapes_are_moves_if_their_texts_are(
        dialect in of_dialects(),
        [from, to] in any_squares(),
        letter in any_letter(),
    ) {
        let square = |square: Square| {
            let letter = |number: u8| char::from((b'a' - 1).saturating_add(number));
            match dialect {
                Dialect::Uci => format!("{}{}", letter(square.file), square.rank),
                Dialect::Usi => format!("{}{}", square.file, letter(square.rank)),
            }
        };
        let sign = match dialect {
            Dialect::Uci => '@',
            Dialect::Usi => '*',
        };
        for (shape, text) in [
            (MoveShape::Board { from, to, suffix: None }, square(from) + &square(to)),
            (
                MoveShape::Board { from, to, suffix: Some(letter) },
                format!("{}{}{letter}", square(from), square(to)),
            ),
            (MoveShape::Drop { piece: letter, to }, format!("{letter}{sign}{}", square(to))),
        ] {
            let read = Move::read(&text, dialect).ok().filter(|read| read.shape() == shape);
            prop_assert_eq!(Move::from_shape(shape, dialect), read);
        }
    }

    #[test]
    fn moves_survive_a_round_trip_through_their_shape((dialect, it) in with_dialect(a_move)) {
        prop_assert_eq!(Move::from_shape(it.shape(), dialect), Some(it));
        prop_assert_eq!(it.to_string().parse(), Ok(it));
        let upper = it.as_str().to_ascii_uppercase();
        prop_assert_eq!(Move::read_lenient(&upper, dialect), Ok(it));
    }
}
