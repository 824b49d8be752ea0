//! Import, size and queries of the database with generated games of chess:
//!
//! ```text
//! cargo bench -p readyok-library -- [GAMES] [annotated] [doubled] [shared] [FILE]
//! ```
//!
//! With a file with the extension `.pgn`, it only imports that and searches it, for `benches/library/peers.py`.
//!
//! Then it imports 20,000 of the games from PGN and stores versions of an open game with 90,000 moves.
//!
//! The games share their first 8 to 31 plies with others and have seven headers, ratings and a time control. With
//! `annotated` every move has a clock and an evaluation. With `doubled` each game is stored twice. With
//! `shared` another process has the file open while they are added. A FILE is kept, and used again if it exists.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark"
)]

use std::env;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use readyok_library::{
    Column, Duplicates, ImportOptions, Key, Library, NewGame, Source, StoredGame, code_of,
    decode_document, encode_document,
};
use readyok_protocol::Score;
use readyok_rules::record::{
    Condition, Evaluation, Format, GameDocument, GameRecord, Limits, NodeId, NumberRange, Records,
    Tag, TextPattern, write,
};
use readyok_rules::{Game, GameResult, Move, Position, Side};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0) % limit
    }

    fn small(&mut self, limit: u16) -> u16 {
        u16::try_from(self.below(limit.into())).expect("less than the limit")
    }
}

fn mix(mut it: u64) -> u64 {
    it = (it ^ it >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    it = (it ^ it >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    it ^ it >> 31
}

/// The moves of a position, the most popular first.
fn by_popularity(position: &Position) -> Vec<Move> {
    let mut moves = position.legal_moves();
    let key = position.key();
    moves.sort_by_cached_key(|mv| mix(key ^ u64::from(code_of(*mv))));
    moves
}

fn record(random: &mut Random, names: u64, annotated: bool) -> GameRecord {
    let mut record = GameRecord::new(Position::start(Game::Chess));
    let mut position = record.start().clone();
    let (length, opening) = (44 + random.below(80), 8 + random.below(24));
    let mut clocks = [300_u64; 2];
    let mut evaluation = 20;
    for ply in 0..length {
        let moves = if ply < opening { by_popularity(&position) } else { position.legal_moves() };
        let popular = random.below(1 << 16).trailing_zeros();
        let at = if ply < opening { popular.into() } else { random.below(1 << 16) };
        let Some(&mv) = moves.get(usize::try_from(at).expect("small") % moves.len().max(1)) else {
            break;
        };
        let id = record.add_at(record.last(), &mut position, mv).expect("a legal move");
        if annotated && let Some(annotations) = record.annotations_mut(id) {
            let clock = &mut clocks[usize::from(ply % 2 == 1)];
            *clock = (*clock + 2).saturating_sub(random.below(12));
            annotations.clock = Some(Duration::from_secs(*clock));
            evaluation += i32::from(random.small(101)) - 50;
            annotations.evaluation = Some(Evaluation { score: Score::Cp(evaluation), depth: None });
        }
    }
    record.set_header(Tag::Event, format!("Tournament {}", random.below(names / 40 + 1)));
    record.set_header(Tag::Site, format!("City {}", random.below(500)));
    let (year, month, day) = (1990 + random.small(36), 1 + random.small(12), 1 + random.small(28));
    record.set_header(Tag::Date, format!("{year}.{month:02}.{day:02}"));
    record.set_header(Tag::Round, (1 + random.below(9)).to_string());
    for side in Side::BOTH {
        record.set_player(side, format!("Surname{}, Name", random.below(names + 1)));
    }
    for name in ["WhiteElo", "BlackElo"] {
        record.headers.set(name, (1500 + random.small(1300)).to_string());
    }
    record.set_header(Tag::TimeControl, "300+2");
    record.result = match random.below(10) {
        0..4 => GameResult::Win(Side::First),
        4..7 => GameResult::Win(Side::Second),
        _ => GameResult::Draw,
    };
    record
}

/// CPU time of the process (`self`) or the thread (`thread-self`) in seconds.
fn cpu(of: &str) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{of}/stat")).unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks =
        |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn memory() -> String {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = |name| text.lines().find(|line| line.starts_with(name)).unwrap_or("").to_owned();
    format!("{} {}", line("VmHWM"), line("VmRSS"))
}

fn timed<T>(name: &str, run: impl Fn() -> T) -> T {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name}: median {:.2} ms, worst {:.2} ms", times[2], times[4]);
    run()
}

fn fill(path: &Path, count: u64, [annotated, doubled, shared]: [bool; 3]) {
    let library = Library::open(path).expect("it opens");
    let _other = shared.then(|| Library::open(path).expect("it opens"));
    let clock = Instant::now();
    let mut random = Random(7);
    let (mut generating, mut encoding, mut added, mut content) = (0.0, 0.0, 0, 0);
    let duplicates = if doubled { Duplicates::Keep } else { Duplicates::Skip };
    let options = ImportOptions { duplicates, ..ImportOptions::default() };
    let mut importer = library.importer(options);
    let begin = cpu("self");
    while added < count {
        let start = cpu("thread-self");
        let records: Vec<_> = (0..500).map(|_| record(&mut random, count / 7, annotated)).collect();
        let generated = cpu("thread-self");
        let games: Vec<_> =
            records.iter().map(|record| NewGame::from_record(record, Source::Import, 0)).collect();
        let sizes =
            games.iter().map(|game| game.moves.len() + game.tags.len() + game.annotations.len());
        content += sizes.sum::<usize>();
        generating += generated - start;
        encoding += cpu("thread-self") - generated;
        for game in games {
            if doubled {
                importer.add_game(game.clone()).expect("added");
            }
            importer.add_game(game).expect("added");
        }
        added += if doubled { 1000 } else { 500 };
    }
    importer.finish().expect("added");
    library.flush(false).expect("flushed");
    let storing = cpu("self") - begin - generating - encoding;
    let games = count as f64;
    println!(
        "{count} games, CPU time: encoding {encoding:.1} s, storage and index {storing:.1} s, \
         {:.0} games/s, without encoding {:.0}; {:.1} s by the clock; {}",
        games / (encoding + storing),
        games / storing,
        clock.elapsed().as_secs_f64(),
        memory()
    );
    println!("{:.0} bytes per game for moves, headers and annotations", content as f64 / games);
}

/// Import of a PGN with reading.
fn import_pgn(annotated: bool) {
    let mut random = Random(9);
    let mut pgn = Vec::new();
    for _ in 0..20_000 {
        write(&record(&mut random, 3000, annotated), Format::PGN, &mut pgn).expect("written");
        pgn.push(b'\n');
    }
    let start = cpu("self");
    let read = Records::new(&pgn[..], Format::PGN, Limits::default()).flatten().count();
    let reading = cpu("self") - start;
    let dir = tempfile::tempdir().expect("a directory");
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    let (start, clock) = (cpu("self"), Instant::now());
    let imported = library
        .import(&pgn[..], ImportOptions::default(), |_| ControlFlow::Continue(()))
        .expect("imported");
    library.flush(false).expect("flushed");
    let seconds = cpu("self") - start;
    println!(
        "PGN, {} MB: {} of {read} games, {:.0} games/s of CPU time (reading alone {:.0}), {:.0} by the clock",
        pgn.len() >> 20,
        imported.added_count(),
        20_000.0 / seconds,
        20_000.0 / reading,
        20_000.0 / clock.elapsed().as_secs_f64(),
    );
}

/// The time until a version of a large open game is stored in a file of its own, and until it is read again.
fn open_game() {
    let mut document = GameDocument::from(large_record());
    document.record.share();
    let dir = tempfile::tempdir().expect("a directory");
    let db = rusqlite::Connection::open(dir.path().join("app.sqlite")).expect("it opens");
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE open_game (game INTEGER PRIMARY KEY, document BLOB NOT NULL)",
    )
    .expect("a table");
    let ids: Vec<_> = document.record.ids().collect();
    let mut blob = Vec::new();
    let mut times: Vec<Duration> = (0..200)
        .map(|at| {
            let start = Instant::now();
            let notes = document.record.annotations_mut(ids[at * 17]).expect("a node");
            notes.comments = vec![format!("comment {at}")];
            blob = encode_document(&document, b"{}");
            db.execute("REPLACE INTO open_game VALUES (1, ?1)", [&blob]).expect("stored");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!(
        "version of an open game with {} moves, {} kB: median {:?}, 99 % {:?}, worst {:?}",
        document.record.len(),
        blob.len() >> 10,
        times[100],
        times[198],
        times[199]
    );
    let start = Instant::now();
    let (read, _) = decode_document(&blob).expect("it is whole");
    println!("read {} moves in {:?}", read.record.len(), start.elapsed());
}

/// A tree of 90,000 moves: variations of all legal moves, level by level.
fn large_record() -> GameRecord {
    let mut record = GameRecord::new(Position::start(Game::Chess));
    let mut level = vec![NodeId::ROOT];
    while record.len() < 90_000 {
        let mut next = Vec::new();
        for id in level {
            let position = record.position_after(id).expect("a node");
            for mv in position.legal_moves() {
                let added = record.add_at(id, &mut position.clone(), mv);
                next.push(added.expect("there is room"));
            }
            if record.len() >= 90_000 {
                break;
            }
        }
        level = next;
    }
    record
}

fn sizes(path: &Path, count: u64) {
    let connection = rusqlite::Connection::open(path).expect("it opens");
    let sum = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a sum");
    let index = sum("SELECT coalesce(sum(length(data)), 0) FROM block");
    let pages = sum("SELECT page_count FROM pragma_page_count");
    let free = sum("SELECT freelist_count FROM pragma_freelist_count");
    let per_game = |bytes: i64| bytes as f64 / count as f64;
    println!(
        "bytes per game: file {:.0}, of these free {:.0}, index {:.0}, rest {:.0}; {} runs",
        per_game(pages * 4096),
        per_game(free * 4096),
        per_game(index),
        per_game((pages - free) * 4096 - index),
        sum("SELECT count(*) FROM run")
    );
}

/// Searches for material and patterns: the first time, and again as for the next page.
fn patterns(library: &Library) {
    for pattern in [
        "material=KRPvKR",
        "bishops=opposite R=0 r=0 for=4",
        "balance=3.. for=8",
        "on=Nd5,pe6 flip=sides,files",
        "pawns=8/pp3ppp/8/8/3P4/8/PP3PPP/8",
        "on=Qa1,qa2,Kb3",
    ] {
        let filter = Condition::Pattern(pattern.parse().expect("a pattern"));
        let search = || {
            let start = Instant::now();
            let page = library.search(&filter, (Column::Added, true), 0, 50).expect("a page");
            (start.elapsed().as_secs_f64() * 1000.0, page.total)
        };
        let ((first, total), (again, _)) = (search(), search());
        println!("{pattern}: {first:.0} ms, again {again:.1} ms\n  {total} found");
    }
}

/// Imports a file and searches it. Prints the name of each step, its time in µs and the number of games.
fn peers(file: &Path) {
    let dir = tempfile::tempdir().expect("a directory");
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    let start = Instant::now();
    let options = ImportOptions { duplicates: Duplicates::Keep, ..ImportOptions::default() };
    let pgn = std::fs::File::open(file).expect("it opens");
    let imported = library
        .import(std::io::BufReader::new(pgn), options, |_| ControlFlow::Continue(()))
        .expect("imported");
    library.flush(false).expect("flushed");
    println!("import {} {}", start.elapsed().as_micros(), imported.added_count());
    let italian = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
    let italian = Position::from_text(Game::Chess, italian).expect("a position");
    let mut conditions = vec![("position", Condition::reaches(&italian))];
    for (name, pattern) in [
        ("endgame", "Q=0 q=0 R=1 r=1 B=0 b=0 N=0 n=0 P=1..8 for=2"),
        ("bishops", "bishops=opposite Q=0 q=0 R=0 r=0 N=0 n=0 for=4"),
        ("balance", "balance=3..40 for=8"),
        ("squares", "on=Nd5,pe6"),
    ] {
        conditions.push((name, Condition::Pattern(pattern.parse().expect("a pattern"))));
    }
    for (name, condition) in conditions {
        let start = Instant::now();
        let found = library.find_all(&condition).expect("found");
        println!("{name} {} {}", start.elapsed().as_micros(), found.len());
    }
}

fn main() {
    let arguments: Vec<String> =
        env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_pgn = |file: &&Path| file.extension().is_some_and(|extension| extension == "pgn");
    if let Some(file) = arguments.iter().map(Path::new).find(is_pgn) {
        return peers(file);
    }
    let count = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(50_000_u64);
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let [annotated, doubled, shared] = ["annotated", "doubled", "shared"].map(has);
    let dir = tempfile::tempdir().expect("a directory");
    let path = arguments
        .iter()
        .find(|argument| argument.ends_with(".sqlite"))
        .map_or_else(|| dir.path().join("library.sqlite"), PathBuf::from);
    if !path.exists() {
        fill(&path, count, [annotated, doubled, shared]);
    }
    let start = Instant::now();
    let library = Library::open(&path).expect("it opens");
    println!("opened in {:.0} ms; {}", start.elapsed().as_secs_f64() * 1000.0, memory());
    sizes(&path, count);
    let filter = Condition::player(TextPattern::new("name77"));
    let search = |filter: &Condition, column| {
        library.search(filter, (column, true), 0, 50).expect("a page").total
    };
    println!("  {} found", timed("player", || search(&filter, Column::Added)));
    let ratings = Condition::ratings(NumberRange { min: 2500, max: 2800 });
    println!("  {} found", timed("ratings", || search(&ratings, Column::Added)));
    let start = Instant::now();
    search(&Condition::default(), Column::First);
    println!("first sort by player: {:.2} ms", start.elapsed().as_secs_f64() * 1000.0);
    timed("all by first player", || search(&Condition::default(), Column::First));
    let mut position = Position::start(Game::Chess);
    for ply in 0..12 {
        let key = Key::of(position.key());
        for (name, filter) in [("", &Condition::default()), (" with ratings", &ratings)] {
            let explorer = timed(&format!("explorer at ply {ply}{name}"), || {
                library.explore(key, position.turn(), filter).expect("explored")
            });
            println!("  {} games, {} moves", explorer.total, explorer.moves.len());
        }
        let mv = by_popularity(&position)[0];
        position.play(mv).expect("a legal move");
    }
    patterns(&library);
    let decode = |game: &StoredGame| game.record().expect("a record").len();
    let groups = timed("duplicates", || library.duplicates().expect("found"));
    println!("  {} groups", groups.len());
    timed("100 games", || {
        (1..=100)
            .filter_map(|id| library.game(id).expect("it is read"))
            .map(|game| decode(&game))
            .sum::<usize>()
    });
    println!("{}", memory());
    drop(library);
    import_pgn(annotated);
    open_game();
}
