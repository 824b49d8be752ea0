//! The lines, and their parsing and writing with each crate.

use std::fmt::{Display, Write as _};
use std::hint::black_box;
use std::str::FromStr;

use readyok_protocol::{Command, Dialect, Move, MoveList, Parsed, Position, Reply};
use uci_parser::{UciCommand, UciInfo, UciOption, UciResponse, UciScore};
use usi::{EngineCommand, GuiCommand, InfoParams, ThinkParams};
use vampirc_uci::Serializable as _;

use crate::{Case, Contender};

const CHESS: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 \
                     f1e1 b7b5 a4b3 d7d6 c2c3 e8g8 h2h3 c6b8 d2d4 b8d7";
const SHOGI: &str = "7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d \
                     2h2d P*2c 2d3d 2b3c 5i5h 5a5b 3g3f 7a7b 3d3e 8b8d";
const OPTION: &str = "option name Style type combo default Normal var Solid var Normal var Risky";

/// All cases: reading and writing of four lines in two dialects.
pub fn cases() -> Vec<Case> {
    [uci_position(), uci_go(), uci_info(), uci_option()]
        .into_iter()
        .chain([usi_position(), usi_go(), usi_info(), usi_option()])
        .flat_map(|line| [line.read, line.write])
        .collect()
}

fn uci_position() -> Line {
    let moves = [CHESS; 5].join(" ");
    let mut line = Line::new("UCI position, 100 moves", format!("position startpos moves {moves}"))
        .our_position(Dialect::Uci)
        .ours(Command::read, Command::write, Dialect::Uci)
        .chess::<ruci::gui::Message<'static>>();
    line.both("uci-parser", parsed::<UciCommand>, display);
    line
}

fn uci_go() -> Line {
    let text = "go wtime 300000 btime 298500 winc 2000 binc 2000";
    let mut line = Line::new("UCI go, clocks", text)
        .ours(Command::read, Command::write, Dialect::Uci)
        .chess::<ruci::gui::Message<'static>>();
    line.both("uci-parser", parsed::<UciCommand>, display);
    line
}

fn uci_info() -> Line {
    let text = format!(
        "info depth 24 seldepth 33 multipv 2 score cp -31 nodes 14820361 nps 1402881 \
         hashfull 412 tbhits 7 time 10564 pv {CHESS}"
    );
    let built = UciInfo::new()
        .depth(24)
        .seldepth(33)
        .multipv(2)
        .score(UciScore::cp(-31))
        .nodes(14_820_361)
        .nps(1_402_881)
        .hashfull(412)
        .tbhits(7)
        .time(10_564)
        .pv(CHESS.split(' '));
    let mut line = Line::new("UCI info, 20 moves", text)
        .ours(Reply::read, Reply::write, Dialect::Uci)
        .chess::<ruci::engine::Message<'static>>();
    // It stores every number as a string, so that only strings are copied here.
    line.write("uci-parser", UciResponse::<String>::info(built), display);
    line
}

fn uci_option() -> Line {
    let built = UciOption::combo("Style", "Normal", ["Solid", "Normal", "Risky"]);
    let mut line = Line::new("UCI option, combo", OPTION)
        .ours(Reply::read, Reply::write, Dialect::Uci)
        .chess::<ruci::engine::Message<'static>>();
    line.write("uci-parser", UciResponse::<String>::Option(built), display);
    line
}

fn usi_position() -> Line {
    let moves = [SHOGI; 5].join(" ");
    Line::new("USI position, 100 moves", format!("position startpos moves {moves}"))
        .our_position(Dialect::Usi)
        .ours(Command::read, Command::write, Dialect::Usi)
        .shogi()
}

fn usi_go() -> Line {
    let built = ThinkParams::new()
        .btime(std::time::Duration::from_millis(300_000))
        .wtime(std::time::Duration::from_millis(298_500))
        .byoyomi(std::time::Duration::from_millis(10_000));
    let mut line = Line::new("USI go, clocks", "go btime 300000 wtime 298500 byoyomi 10000")
        .ours(Command::read, Command::write, Dialect::Usi)
        .shogi();
    line.write("usi", GuiCommand::Go(built), display);
    line
}

fn usi_info() -> Line {
    let text = format!(
        "info depth 24 seldepth 33 time 10564 nodes 14820361 nps 1402881 hashfull 412 \
         multipv 2 score cp -31 pv {SHOGI}"
    );
    let mut line =
        Line::new("USI info, 20 moves", text).ours(Reply::read, Reply::write, Dialect::Usi).shogi();
    line.read(
        "usi",
        |text| EngineCommand::parse(text).unwrap(),
        |command| {
            let EngineCommand::Info(fields) = command else { return false };
            fields.len() == 8
                && fields
                    .iter()
                    .any(|field| matches!(field, InfoParams::Pv(moves) if moves.len() == 20))
        },
    );
    line
}

fn usi_option() -> Line {
    // `usi` parses each token after the first `var`, including `var`, as a separate choice.
    Line::new("USI option, combo", OPTION).ours(Reply::read, Reply::write, Dialect::Usi).shogi()
}

/// A line with its two cases.
struct Line {
    text: &'static str,
    read: Case,
    write: Case,
}

impl Line {
    fn new(name: &str, text: impl Into<String>) -> Self {
        let case = |verb| Case { name: format!("{verb} {name}"), contenders: Vec::new() };
        Self { text: text.into().leak(), read: case("read"), write: case("write") }
    }

    /// Adds a crate that only reads. `is_correct` checks that it has read everything.
    fn read<M: 'static>(
        &mut self,
        name: &'static str,
        read: fn(&'static str) -> M,
        is_correct: fn(&M) -> bool,
    ) {
        let text = self.text;
        assert!(is_correct(&read(text)), "{name} does not parse `{text}`");
        self.read.contenders.push(Contender::new(name, move || read(black_box(text))));
    }

    /// Adds a crate that writes this message, with any order of fields.
    fn write<M: 'static>(
        &mut self,
        name: &'static str,
        message: M,
        write: impl Fn(&M, &mut String) + 'static,
    ) {
        let mut out = String::new();
        write(&message, &mut out);
        assert_eq!(sorted_tokens(&out), sorted_tokens(self.text), "{name} writes `{out}`");
        // Reuses the buffer, like an engine.
        let work = move || {
            out.clear();
            write(black_box(&message), &mut out);
            black_box(out.as_str());
        };
        self.write.contenders.push(Contender::new(name, work));
    }

    /// Adds a crate that reads and writes. If it writes all tokens, it has read them.
    fn both<M: 'static>(
        &mut self,
        name: &'static str,
        read: fn(&'static str) -> M,
        write: fn(&M, &mut String),
    ) {
        self.write(name, read(self.text), write);
        self.read(name, read, |_| true);
    }

    fn ours<M: 'static, E: std::fmt::Debug + 'static>(
        mut self,
        read: fn(&'static str, Dialect) -> Parsed<M>,
        write: fn(&M, Dialect, &mut String) -> Result<(), E>,
        dialect: Dialect,
    ) -> Self {
        let text = self.text;
        let reading = read(text, dialect);
        assert!(reading.diagnostics.is_empty(), "diagnostics of `{text}`");
        let write = move |message: &M, out: &mut String| write(message, dialect, out).unwrap();
        self.write("readyok", reading.value, write);
        let work = move || read(black_box(text), dialect);
        self.read.contenders.push(Contender::new("readyok", work));
        self
    }

    /// Adds conversions of all moves to and from values.
    fn our_position(mut self, dialect: Dialect) -> Self {
        let text = self.text;
        let read = move || -> Vec<Move> {
            let Command::Position(it) = Command::read(black_box(text), dialect).value else {
                return Vec::new();
            };
            collected(&it.moves)
        };
        let moves = read();
        assert_eq!(moves.len(), 100);
        self.read.contenders.push(Contender::new("readyok, to Vec<Move>", read));
        self.write("readyok, from Vec<Move>", moves, move |moves, out| {
            let moves: MoveList<'_> = moves.iter().copied().collect();
            let position = Position { moves, ..Position::default() };
            Command::Position(position).write(dialect, out).unwrap();
        });
        self
    }

    /// Adds the chess crates that read and write everything; `M` is the type of `ruci`.
    fn chess<M: FromStr<Err: std::fmt::Debug> + Display + 'static>(mut self) -> Self {
        self.both("ruci", parsed::<M>, display);
        self.both("shakmaty-uci", parsed::<shakmaty_uci::UciMessage>, display);
        self.both("vampirc-uci", vampirc_uci::parse_one, |message, out| *out = message.serialize());
        self
    }

    fn shogi(mut self) -> Self {
        let read = |text| rsshogi_usi::parse_line(text).unwrap();
        self.both("rsshogi-usi", read, |command, out| *out = rsshogi_usi::format_command(command));
        self
    }
}

/// The moves as a vector with one allocation.
fn collected(list: &MoveList<'_>) -> Vec<Move> {
    let mut moves = Vec::with_capacity(list.len());
    moves.extend(list.moves());
    moves
}

fn parsed<M: FromStr<Err: std::fmt::Debug>>(text: &str) -> M {
    text.parse().unwrap()
}

fn display<M: Display>(message: &M, out: &mut String) {
    write!(out, "{message}").unwrap();
}

fn sorted_tokens(line: &str) -> Vec<&str> {
    let mut tokens: Vec<_> = line.split_ascii_whitespace().collect();
    tokens.sort_unstable();
    tokens
}
