//! Searches of the library, compared with conditions on the records of the same games.

use std::collections::BTreeSet;

use readyok_library::{Library, NewGame, Source};
use readyok_rules::record::{
    self, Condition, EcoRange, Feature, GameRecord, HeaderTest, NumberRange, PlayerColor,
    PlayerCondition, PlayerResult, PositionPattern, Speed, Tag, TextPattern,
};
use readyok_rules::{Game, GameResult, Position, Side, Termination};
use tempfile::TempDir;

use crate::records::random_record;

/// Headers that sources write in different ways, and moves.
const GAMES: &[(&str, &str)] = &[
    // Parts of dates are unknown, or the date is in another header or form.
    (
        "Date 2020.??.??|White Polgár, Judit|Black Carlsen, Magnus|Result 0-1",
        "1. e4 c5 2. Nf3 d6 0-1",
    ),
    ("Date 2020.05.??|White Polgar, J|Black CARLSEN,M|Result 1-0", "1. Nf3 d6 2. e4 c5 1-0"),
    ("Date ????.??.??|UTCDate 2020.06.01|White ?|Black Magnus Carlsen", "1. d4 *"),
    ("Date 31.12.2019|Event \u{ff34}\u{ff49}\u{ff54}\u{ff4c}\u{ff45}\u{ff44} Tuesday", "*"),
    ("Date ????.05.06|Event titled tuesday, late|Site https://example.org/1", "1. e4 *"),
    // Ratings with decimals, of no player, out of range.
    ("WhiteElo 2500.5|BlackElo 2600|Site Oslo", "1. e4 e5 *"),
    ("WhiteElo 0|BlackElo -", "1. e4 e5 *"),
    ("", "1. e4 e5 *"),
    ("WhiteElo 70000|BlackElo 65535", "1. e4 e5 *"),
    // Openings of moves and headers, which disagree.
    ("ECO A00|Opening Grob", "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 *"),
    ("ECO ?|Opening ?", "1. e4 e5 2. Nf3 *"),
    ("ECO B90|FEN 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1|SetUp 1", "1. e4 *"),
    ("Opening Ending|FEN 4k3/8/8/8/8/8/8/R3K3 w Q - 0 1|SetUp 1", "1. Ra8+ *"),
    // Ends of the record, of the header and of the position.
    ("Termination Time forfeit|Result 1-0", "1. f3 e5 2. g4 Qh4# 1-0"),
    ("Termination Normal|Result 0-1", "1. f3 e5 2. g4 Qh4# 0-1"),
    ("Result 0-1", "1. f3 e5 2. g4 Qh4# 0-1"),
    // Time controls and kinds of players.
    (
        "TimeControl 180+2|White Stockfish 17|Black Anna|WhiteType program|BlackType human",
        "1. e4 *",
    ),
    ("TimeControl -|White Anna|Black Stockfish fan|BlackType human", "1. e4 *"),
    ("TimeControl 1/86400|White stockfish|Round 3.1", "1. e4 *"),
    // Annotations.
    (
        "",
        "1. e4 { [%clk 0:10:00] } e5 { [%eval 0.3,10] [%cal Ge2e4] } 2. Nf3 $1 (2. f4 { best }) *",
    ),
    ("", "1. e4 (1. d4) *"),
    // Endings, and null moves.
    ("FEN 8/8/4k3/8/8/4K3/4P3/4R2r w - - 0 1|SetUp 1", "1. Rxh1 Kd5 2. Rh5+ *"),
    ("", "1. e4 -- 2. d4 c5 *"),
    (
        "Variant Chess960|FEN bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1|SetUp 1",
        "1. e4 *",
    ),
];

const KIF: &str = "開始日時：2020/05/03 10:00:00\n棋戦：竜王戦\n戦型：四間飛車\n先手：羽生・善治\n後手：藤井 聡太\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n";

const CSA: &str = "V2.2\nN+engine\nN-human\nPI\n+\n'black_rate:engine:2510.0\n'white_rate:human:1500.0\n+7776FU\n%TORYO\n";

fn records() -> Vec<GameRecord> {
    let header = |header: &str| {
        let (name, value) = header.split_once(' ').expect("a header");
        format!("[{name} \"{value}\"]\n")
    };
    let game = |(headers, moves): &(&str, &str)| {
        let headers = headers.split('|').filter(|text| !text.is_empty()).map(header);
        format!("{}\n{moves}\n\n", headers.collect::<String>())
    };
    let pgn: String = GAMES.iter().map(game).collect();
    let read = |text: &str| -> Vec<GameRecord> {
        let all = record::read(std::io::Cursor::new(text.to_owned()), None);
        all.map(|game| game.expect("a game")).collect()
    };
    let mut records = read(&pgn);
    assert_eq!(records.len(), GAMES.len());
    records.extend(read(KIF));
    records.extend(read(CSA));
    records.extend((0..40).map(random_record));
    records
}

fn conditions() -> Vec<Condition> {
    let text = TextPattern::new;
    let number = |min, max| NumberRange { min, max };
    let mut all = Vec::new();
    all.extend([Game::Chess, Game::Chess960, Game::Shogi].map(Condition::Game));
    let results = [
        GameResult::Win(Side::First),
        GameResult::Win(Side::Second),
        GameResult::Draw,
        GameResult::Unknown,
    ];
    all.extend(results.map(Condition::Result));
    for range in
        ["2020", "2020-05..", "..2020-05", "2019-12-31", "2020-05-03..2020-05-04", "..2021"]
    {
        all.push(Condition::Date(range.parse().expect("a range")));
    }
    for range in [number(2500, 2510), number(1, i64::MAX), number(0, 2000), number(70_000, 70_000)]
    {
        all.push(Condition::ratings(range));
        all.extend(Side::BOTH.map(|side| Condition::Rating { side, range }));
        all.push(Condition::Player(PlayerCondition { rating: Some(range), ..Default::default() }));
        all.push(Condition::Plies(range));
    }
    all.push(Condition::Plies(number(2, 4)));
    for name in ["polgár", "polgar", "magnus carlsen", "?", "羽生善治", "聡太", "", "stockfish"]
    {
        all.extend([Condition::player(text(name)), Condition::Engine(text(name))]);
        for color in [PlayerColor::White, PlayerColor::Black, PlayerColor::Side(Side::Second)] {
            let player = PlayerCondition {
                name: text(name),
                color: Some(color),
                opponent: text("CARLSEN"),
                result: Some(PlayerResult::Loss),
                rating: None,
            };
            all.push(Condition::Player(PlayerCondition { opponent: text(""), ..player.clone() }));
            all.push(Condition::Player(PlayerCondition { result: None, ..player.clone() }));
            all.push(Condition::Player(player));
        }
        all.extend(Side::BOTH.map(|side| Condition::Tag(Tag::Player(side), text(name))));
    }
    for tag in [Tag::Event, Tag::Site, Tag::Round, Tag::Date] {
        all.extend(
            ["tuesday titled", "oslo", "3", "2020", "竜王戦", ""]
                .map(|value| Condition::Tag(tag, text(value))),
        );
    }
    all.extend(Speed::ALL.map(Condition::Speed));
    for name in ["Date", "WhiteElo>=2000", "Site~oslo", "ECO=A00", "Result=1-0", "Date<2020"] {
        all.push(Condition::header(name));
    }
    for eco in ["B90", "B", "A00-B20", "C40"] {
        all.push(Condition::Eco(eco.parse::<EcoRange>().expect("a range")));
    }
    for name in ["najdorf", "sicilian b", "grob", "ending", "四間", "", "?"] {
        all.push(Condition::Opening(text(name)));
    }
    for moves in ["1. e4 c5 2. Nf3 d6", "e4", "d4", "7g7f", ""] {
        all.push(Condition::moves(moves).expect("moves"));
    }
    let start = Position::start(Game::Chess).to_string();
    let transposed = "rnbqkbnr/pp2pppp/3p4/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -";
    for position in [
        &start,
        transposed,
        "????????/????????/8/8/4P3/8/????????/????????",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w",
    ] {
        all.push(Condition::Position(position.parse::<PositionPattern>().expect("a position")));
    }
    for material in ["KRPvK", "KRPvKR", "KQ*vK*"] {
        all.push(Condition::Material(material.parse().expect("material")));
    }
    for pattern in [
        "on=Nf3,nc6",
        "on=pd5 flip=sides,files",
        "P=0..6 for=3",
        "balance=1..",
        "bishops=opposite",
        "material=KRPvKR",
        "pawns=8/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/8 ply=2..",
        "B*=1.. game=shogi",
        "on=P7f game=shogi",
        "on=Ae4 turn=b",
    ] {
        all.push(Condition::Pattern(pattern.parse().expect("a pattern")));
    }
    let pattern = || Condition::Pattern("on=-e2,Pe4".parse().expect("a pattern"));
    all.push(Condition::Not(Box::new(pattern())));
    all.push(Condition::Any(vec![pattern(), site_of("oslo")]));
    all.push(Condition::all(vec![pattern(), site_of("oslo")]));
    all.extend(Termination::ALL.iter().copied().map(Condition::Termination));
    all.extend(Feature::ALL.map(Condition::Has));
    all.push(Condition::Label("none".to_owned()));
    all.push(Condition::Source(Source::Match));
    // Combinations of what the summary knows with what only the record has.
    let site = || site_of("oslo");
    let chess = || Condition::Game(Game::Chess);
    all.push(Condition::Not(Box::new(site())));
    all.push(Condition::Any(vec![site(), Condition::Game(Game::Shogi)]));
    all.push(Condition::all(vec![
        chess(),
        Condition::Not(Box::new(Condition::Any(vec![site(), chess()]))),
    ]));
    all.push(Condition::all(vec![site(), chess(), Condition::ratings(number(2500, 2600))]));
    all.push(Condition::default());
    all
}

fn site_of(name: &str) -> Condition {
    Condition::Tag(Tag::Site, TextPattern::new(name))
}

/// One number for each kind: a new kind needs an example here.
fn kind(condition: &Condition) -> u8 {
    match condition {
        Condition::All(_) => 0,
        Condition::Any(_) => 1,
        Condition::Not(_) => 2,
        Condition::Game(_) => 3,
        Condition::Player(_) => 4,
        Condition::Result(_) => 5,
        Condition::Date(_) => 6,
        Condition::Rating { .. } => 7,
        Condition::Speed(_) => 8,
        Condition::Engine(_) => 9,
        Condition::Header { test: HeaderTest::Present, .. } => 10,
        Condition::Header { .. } => 11,
        Condition::Tag(..) => 12,
        Condition::Eco(_) => 13,
        Condition::Opening(_) => 14,
        Condition::Moves(_) => 15,
        Condition::Position(_) => 16,
        Condition::Material(_) => 17,
        Condition::Plies(_) => 18,
        Condition::Termination(_) => 19,
        Condition::Has(_) => 20,
        Condition::Label(_) => 21,
        Condition::Source(_) => 22,
        Condition::Pattern(_) => 23,
    }
}

#[test]
fn searches_and_conditions_on_records_agree() {
    let records = records();
    let conditions = conditions();
    let kinds: BTreeSet<u8> = conditions.iter().map(kind).collect();
    assert_eq!(kinds.len(), 24, "every kind has an example: {kinds:?}");
    // Games that were begun in the app are not in the index of positions.
    for source in [Source::Import, Source::Play] {
        let dir = TempDir::new().expect("a directory");
        let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
        let games = records.iter().map(|record| NewGame::from_record(record, source, 0));
        library.add(games.collect()).expect("added");
        for condition in &conditions {
            let matching = (1..).zip(&records).filter(|(_, record)| condition.matches(record));
            let expected: Vec<u32> = matching.map(|(id, _)| id).collect();
            assert_eq!(library.find_all(condition).expect("found"), expected, "{condition:?}");
            let again = library.find_all(condition).expect("found");
            assert_eq!(again, expected, "cached: {condition:?}");
        }
    }
}

/// Where sources write one thing in different ways, a condition finds all of them.
#[test]
fn conditions_find_all_spellings() {
    let records = records();
    let found = |condition: Condition| -> Vec<usize> {
        (1..)
            .zip(&records[..GAMES.len() + 2])
            .filter(|(_, game)| condition.matches(game))
            .map(|(at, _)| at)
            .collect()
    };
    let text = TextPattern::new;
    let date = |range: &str| Condition::Date(range.parse().expect("a range"));
    assert_eq!(found(date("2020-05")), [1, 2, 25], "parts of dates are unknown");
    assert_eq!(found(date("..2020-04")), [1, 4], "a date without a year is in no range");
    assert_eq!(found(Condition::player(text("magnus carlsen"))), [1, 3]);
    assert_eq!(found(Condition::player(text("polgár"))), [1], "accents are letters");
    assert_eq!(found(Condition::player(text("羽生善治"))), [25]);
    assert_eq!(found(Condition::Tag(Tag::Event, text("tuesday titled"))), [4, 5]);
    assert_eq!(found(Condition::Engine(text("stockfish"))), [17, 19], "humans are no engines");
    assert_eq!(found(Condition::ratings(NumberRange { min: 1, max: 2600 })), [6, 26]);
    let eco = |code: &str| Condition::Eco(code.parse().expect("a code"));
    assert_eq!(found(eco("B90")), [10, 12], "the moves, or else the header");
    assert_eq!(found(Condition::Opening(text("grob"))), [0_usize; 0]);
    assert_eq!(found(Condition::Termination(Termination::Checkmate)), [15, 16]);
}

#[test]
fn games_are_found_by_their_origin_and_list_what_they_contain() {
    let dir = TempDir::new().expect("a directory");
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    let read = |moves: &str| {
        let pgn = format!("[White \"A\"]\n\n{moves} *\n");
        record::read(pgn.as_bytes(), None).next().expect("a game").expect("it is valid")
    };
    let games = [
        (Source::Play, "1. e4 {[%clk 0:01:00]} e5"),
        (Source::Import, "1. e4 {[%eval 0.3]} e5"),
        (Source::Match, "1. e4 {a comment} e5"),
    ];
    let added = games.map(|(source, moves)| NewGame::from_record(&read(moves), source, 0));
    assert_eq!(
        added.each_ref().map(NewGame::contents),
        [(false, false), (true, false), (false, true)]
    );
    library.add(added.to_vec()).expect("added");
    for (id, (source, _)) in (1..).zip(games) {
        let found = library.find_all(&Condition::Source(source)).expect("found");
        assert_eq!(found, [id], "{source:?}");
    }
    let entries = library.entries(&[1, 2, 3]).expect("entries");
    let contents: Vec<_> = entries.iter().map(|game| (game.evaluated, game.commented)).collect();
    assert_eq!(contents, [(false, false), (true, false), (false, true)]);
}
