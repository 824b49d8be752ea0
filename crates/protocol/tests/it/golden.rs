//! Every example of the specifications, with its clause.

use std::borrow::Cow;
use std::time::Duration;

use readyok_protocol::{
    BestMove, Bound, Clock, Color, Command, Convention, Dialect, Fen, Go, Id, Info, MateLimit,
    Move, MoveToken, OptionDecl, OptionKind, Position, Register, Reply, Root, Score, SetOption,
    Status,
};

use crate::cases::{self, Case};

const TABLE: &str = include_str!("data/golden.txt");

#[test]
fn the_lines_of_the_specifications_are_read_and_written() {
    let cases = cases::read(TABLE);
    cases.iter().for_each(Case::check);
    assert!(cases.iter().all(|case| case.understood));
}

/// Checks the command of a line in the table.
#[track_caller]
fn check(line: &str, dialect: Dialect, expected: &Command<'_>) {
    assert_eq!(&Command::read(line, dialect).value, expected);
    check_is_in_table(line);
}

/// Checks the reply of a line in the table.
#[track_caller]
fn check_reply(line: &str, dialect: Dialect, expected: &Reply<'_>) {
    assert_eq!(&Reply::read(line, dialect).value, expected);
    check_is_in_table(line);
}

#[track_caller]
fn check_is_in_table(line: &str) {
    let is_in_table = cases::read(TABLE).iter().any(|case| case.line().trim_end() == line);
    assert!(is_in_table, "{line} is in no specification");
}

fn a_move(token: &str) -> Move {
    token.parse().unwrap()
}

#[test]
fn uci_2006_simple_commands() {
    let uci = Dialect::Uci;
    check("uci", uci, &Command::Uci);
    check("debug on", uci, &Command::Debug(true));
    check("debug off", uci, &Command::Debug(false));
    check("isready", uci, &Command::IsReady);
    check("ucinewgame", uci, &Command::NewGame);
    check("stop", uci, &Command::Stop);
    check("quit", uci, &Command::Quit);
    let Command::PonderHit(clocks) = Command::read("ponderhit", uci).value else { panic!() };
    assert!(clocks.is_empty());
}

#[test]
fn uci_2006_setoption_and_register() {
    let uci = Dialect::Uci;
    let set = |name: &'static str, value: Option<&'static str>| {
        Command::SetOption(SetOption { name: name.into(), value: value.map(Cow::Borrowed) })
    };
    check("setoption name Nullmove value true", uci, &set("Nullmove", Some("true")));
    check("setoption name Clear Hash", uci, &set("Clear Hash", None));
    check(
        r"setoption name NalimovPath value c:\chess\tb\4;c:\chess\tb\5",
        uci,
        &set("NalimovPath", Some(r"c:\chess\tb\4;c:\chess\tb\5")),
    );
    check("register later", uci, &Command::Register(Register::Later));
    let with = Register::With { name: Some("Stefan MK".into()), code: Some("4359874324".into()) };
    check("register name Stefan MK code 4359874324", uci, &Command::Register(with));
}

#[test]
fn uci_2006_position() {
    let line = "position startpos moves e2e4 e7e5";
    let moves = [a_move("e2e4"), a_move("e7e5")].into_iter().collect();
    let position = Position { root: Root::StartPos, moves };
    check(line, Dialect::Uci, &Command::Position(position));

    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w AHah -";
    let position = Position::from(Fen::new(fen).unwrap());
    check(&format!("position fen {fen}"), Dialect::Uci, &Command::Position(position));
}

#[test]
fn uci_2006_go() {
    let uci = Dialect::Uci;
    let moves = [a_move("e2e4"), a_move("d2d4")].into_iter().collect();
    let go = Go { search_moves: Some(moves), ..Go::infinite() };
    check("go infinite searchmoves e2e4 d2d4", uci, &Command::Go(go));
    check("go depth 12", uci, &Command::Go(Go::depth(12)));
    check("go nodes 123456", uci, &Command::Go(Go::nodes(123_456)));
    let mate = Go { mate: Some(MateLimit::Moves(3)), ..Go::default() };
    check("go mate 3", uci, &Command::Go(mate));
    let time = Go { move_time: Some(Duration::from_secs(5)), ..Go::default() };
    check("go movetime 5000", uci, &Command::Go(time));

    let line = "go ponder wtime 300000 btime 300000 winc 0 binc 0";
    check_is_in_table(line);
    let Command::Go(go) = Command::read(line, uci).value else { panic!() };
    assert!(go.ponder);
    let clock = Clock { remaining: 300_000, ..Clock::default() };
    assert_eq!(go.clocks.of(Color::White), Some(clock));
    assert_eq!((go.clocks.black_increment, go.clocks.moves_to_go), (Some(0), None));
}

#[test]
fn uci_2006_replies() {
    let uci = Dialect::Uci;
    check_reply("id name Shredder X.Y", uci, &Reply::Id(Id::Name("Shredder X.Y".into())));
    check_reply("id author Stefan MK", uci, &Reply::Id(Id::Author("Stefan MK".into())));
    check_reply("uciok", uci, &Reply::UciOk);
    check_reply("readyok", uci, &Reply::ReadyOk);
    let best = BestMove { ponder: Some(a_move("d8f6")), ..a_move("g1f3").into() };
    check_reply("bestmove g1f3 ponder d8f6", uci, &Reply::BestMove(best));
    check_reply("bestmove 0000", uci, &Reply::BestMove(Move::NULL.into()));
    check_reply("copyprotection checking", uci, &Reply::CopyProtection(Status::Checking));
    check_reply("registration error", uci, &Reply::Registration(Status::Error));
}

#[test]
fn uci_2006_info() {
    let uci = Dialect::Uci;
    let info = Info {
        depth: Some(2),
        score: Some(Score::Cp(214)),
        time: Some(Duration::from_millis(1242)),
        nodes: Some(2124),
        nps: Some(34928),
        pv: Some(["e2e4", "e7e5", "g1f3"].map(a_move).into_iter().collect()),
        ..Info::default()
    };
    let line = "info depth 2 score cp 214 time 1242 nodes 2124 nps 34928 pv e2e4 e7e5 g1f3";
    // Fractions of a millisecond are not written.
    let exact = Info { time: Some(Duration::from_micros(1_242_999)), ..info.clone() };
    let mut written = String::new();
    Reply::Info(exact).write(uci, &mut written).unwrap();
    assert!(written.contains(" time 1242 "), "{written}");
    check_reply(line, uci, &Reply::Info(info));

    let score = |score, bound| Info { score: Some(score), bound, ..Info::default() };
    let lower = score(Score::Cp(214), Bound::Lower);
    check_reply("info score cp 214 lowerbound", uci, &Reply::Info(lower));
    // Three moves of the mating side, and two of the other.
    let mate = score(Score::MateIn { plies: 5 }, Bound::Exact);
    check_reply("info score mate 3", uci, &Reply::Info(mate));
    let mated = score(Score::MatedIn { plies: 6 }, Bound::Exact);
    check_reply("info score mate -3", uci, &Reply::Info(mated));

    let current =
        Info { currmove: Some(a_move("e2e4")), currmovenumber: Some(1), ..Info::default() };
    check_reply("info currmove e2e4 currmovenumber 1", uci, &Reply::Info(current));
    check_reply("info string any string str", uci, &Reply::Info(Info::text("any string str")));

    let Reply::Info(info) = Reply::read("info currline 1 e2e4 e7e5", uci).value else { panic!() };
    let line = info.currline.unwrap();
    assert_eq!((line.cpu, line.moves.len()), (Some(1), 2));
}

#[test]
fn uci_2006_option() {
    let uci = Dialect::Uci;
    let line = "option name Nullmove type check default true";
    check_reply(line, uci, &Reply::Option(OptionDecl::check("Nullmove", true)));
    let line = "option name Selectivity type spin default 2 min 0 max 4";
    check_reply(line, uci, &Reply::Option(OptionDecl::spin("Selectivity", 2, 0, 4)));
    let line = "option name Style type combo default Normal var Solid var Normal var Risky";
    let combo = OptionDecl::combo("Style", "Normal", ["Solid", "Normal", "Risky"]);
    check_reply(line, uci, &Reply::Option(combo));
    let line = r"option name NalimovPath type string default c:\";
    check_reply(line, uci, &Reply::Option(OptionDecl::string("NalimovPath", r"c:\")));
    let line = "option name NalimovPath type string default <empty>";
    check_reply(line, uci, &Reply::Option(OptionDecl::string("NalimovPath", "")));
    let line = "option name Clear Hash type button";
    check_reply(line, uci, &Reply::Option(OptionDecl::button("Clear Hash")));
}

#[test]
fn usi_draft_1() {
    let usi = Dialect::Usi;
    check("usi", usi, &Command::Uci);
    check("usinewgame", usi, &Command::NewGame);
    check_reply("usiok", usi, &Reply::UciOk);

    // Mates are counted in plies (§4).
    let mate = Info { score: Some(Score::MateIn { plies: 5 }), ..Info::default() };
    check_reply("info score mate 5", usi, &Reply::Info(mate));

    let line = "go searchmoves 7g7f 4e3c+ P*3d";
    check_is_in_table(line);
    let Command::Go(go) = Command::read(line, usi).value else { panic!() };
    let moves = go.search_moves.unwrap();
    let expected = ["7g7f", "4e3c+", "P*3d"].map(|token| MoveToken::Move(a_move(token)));
    assert!(moves.iter().eq(expected));

    let line = "go btime 60000 wtime 60000 binc 1000 winc 1000 movestogo 40";
    check_is_in_table(line);
    let Command::Go(go) = Command::read(line, usi).value else { panic!() };
    assert_eq!(go.clocks.convention, Convention::IncrementToCome);
    let budget = go.clocks.of(Color::Black).unwrap().budget();
    assert_eq!(budget.as_millis(), 61_000, "the increment is still to come");

    let line = "option name LearningFile type filename default /shogi/my-shogi-engine/learn.bin";
    let kind = OptionKind::Filename { default: Some("/shogi/my-shogi-engine/learn.bin".into()) };
    let decl = OptionDecl { name: "LearningFile".into(), kind };
    check_reply(line, usi, &Reply::Option(decl));
}
