//! How a search is shown.

use readyok::analyse::{Screen, Scribe, View, line, table};
use readyok_client::Info;
use readyok_protocol::{Dialect, Reply};
use readyok_rules::{Game, Notation, Position};

use crate::terminal::Terminal;

fn info(text: &str, dialect: Dialect) -> Info<'static> {
    match Reply::read(text, dialect).value {
        Reply::Info(info) => info.into_owned(),
        other => panic!("{other:?}"),
    }
}

fn chess() -> Scribe {
    Scribe::new(Position::start(Game::Chess), Notation::Western)
}

#[track_caller]
fn check_table(infos: &[&str], width: usize, rows: &[&str]) {
    let infos: Vec<_> = infos.iter().map(|text| info(text, Dialect::Uci)).collect();
    let infos: Vec<_> = infos.iter().collect();
    assert_eq!(table(&infos, &chess(), width), rows);
}

const FIRST: &str = "info depth 12 seldepth 20 multipv 1 score cp 31 wdl 90 880 30 nodes 1234567 \
                     nps 98765 hashfull 45 time 12500 pv e2e4 e7e5 g1f3";
const SECOND: &str =
    "info depth 9 multipv 2 score mate -3 upperbound nodes 999 time 3723000 pv a2a3";

#[test]
fn a_table_has_a_row_for_each_variation() {
    check_table(
        &[FIRST, SECOND],
        100,
        &[
            "#  depth  score    w/d/l ‰  nodes    nps  hash     time  line",
            "1  12/20  +0.31  90/880/30  1.23M  98.7k  4.5%   0:12.5  e4 e5 Nf3",
            "2      9   ≤#-3               999               1:02:03  a3",
        ],
    );
}

#[test]
fn what_no_variation_has_gets_no_column() {
    check_table(&["info depth 1 pv e2e4"], 100, &["depth  line", "    1  e4"]);
    check_table(&[], 100, &[]);
}

#[test]
fn rows_fit_the_terminal_and_end_with_whole_moves() {
    check_table(&["info depth 1 pv e2e4 e7e5 g1f3 b8c6"], 17, &["depth  line", "    1  e4 e5 …"]);
    check_table(&["info depth 1 pv e2e4"], 8, &["depth  …", "    1  …"]);
}

#[test]
fn wide_characters_count_twice() {
    let info = info("info depth 1 pv 7g7f 3c3d 2g2f", Dialect::Usi);
    let scribe = Scribe::new(Position::start(Game::Shogi), Notation::Japanese);
    assert_eq!(table(&[&info], &scribe, 80), ["depth  line", "    1  ▲７六歩 △３四歩 ▲２六歩"]);
    assert_eq!(table(&[&info], &scribe, 24), ["depth  line", "    1  ▲７六歩 △３四歩 …"]);
    assert_eq!(table(&[&info], &scribe, 23), ["depth  line", "    1  ▲７六歩 …"]);
}

#[test]
fn a_line_names_its_parts() {
    let info = info(FIRST, Dialect::Uci);
    assert_eq!(
        line(&info, &chess()),
        "# 1  depth 12/20  score +0.31  w/d/l ‰ 90/880/30  nodes 1.23M  nps 98.7k  hash 4.5%  time \
         0:12.5  e4 e5 Nf3"
    );
}

#[test]
fn a_screen_draws_over_what_it_has_drawn() {
    let terminal = Terminal::default();
    let mut screen = Screen::new(terminal.clone(), || (40, 24), "Engine", chess());
    screen.frame(&[]).expect("a frame");
    assert_eq!(terminal.take(), "\r\x1b[JEngine\n");
    let first = info("info depth 1 pv e2e4", Dialect::Uci);
    screen.update(&first).expect("an update");
    screen.frame(&[&first]).expect("a frame");
    assert_eq!(terminal.take(), "\x1b[1A\r\x1b[JEngine\ndepth  line\n    1  e4\n");
    screen.frame(&[&first]).expect("a frame");
    assert_eq!(terminal.take(), "", "nothing has changed");
    screen.update(&first).expect("an update");
    screen.frame(&[&first]).expect("a frame");
    assert!(terminal.take().starts_with("\x1b[3A\r\x1b[J"));
}

#[test]
fn a_screen_draws_no_more_rows_than_the_terminal_has() {
    let terminal = Terminal::default();
    let mut screen = Screen::new(terminal.clone(), || (40, 3), "Engine", chess());
    let first = info("info depth 1 pv e2e4", Dialect::Uci);
    screen.frame(&[&first, &first, &first]).expect("a frame");
    assert_eq!(terminal.take(), "\r\x1b[JEngine\ndepth  line\n");
}

#[test]
fn an_engine_cannot_steer_the_terminal() {
    let terminal = Terminal::default();
    let mut screen = Screen::new(terminal.clone(), || (80, 24), "Evil\x1b]0;x\x07", chess());
    let evil = info("info depth 1 pv e2e4 \x1b[2J string \u{9b}2J \u{202e}x", Dialect::Uci);
    screen.update(&evil).expect("an update");
    screen.frame(&[&evil]).expect("a frame");
    let shown = terminal.take();
    let shown = shown.strip_prefix("\r\x1b[J").expect("a frame");
    let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!shown.contains(steers), "{shown:?}");
    assert!(!line(&evil, &chess()).contains(steers));
}
