//! CPU time of reading PGN with positions and comments: `readyok-rules` and `pgn-reader` with `shakmaty`.
//!
//! Without arguments the input is generated: 40 MB of random games, without and with clocks. Otherwise
//! the arguments are files. `garbage` compares text that is not PGN with the generated games, per byte.
//! `generate DIRECTORY` writes the generated games, and `read N FILES`
//! only reads files N times, both for `peers.py`. `positions` measures moves and texts of positions. Both readers run
//! alternately in one process, and the best pass of each counts.

mod positions;

use std::{fmt::Write as _, hint::black_box, ops::ControlFlow};

use pgn_reader::{RawComment, Reader, SanPlus, Skip, Visitor};
use readyok_rules::record::{self, Format, GameRecord, PgnOptions};
use rustix::time::{ClockId, clock_gettime};
use shakmaty::{Chess, Move, Position as _};

const PASSES: usize = 9;
const BYTES: usize = 40 << 20;
const GARBAGE_BYTES: usize = 8 << 20;

/// Keeps the moves and comments of a game, and plays its main line.
struct Keep;

#[derive(Default)]
struct ParsedGame {
    position: Chess,
    moves: Vec<Move>,
    comments: Vec<Box<[u8]>>,
}

impl Visitor for Keep {
    type Tags = ();
    type Movetext = ParsedGame;
    type Output = ParsedGame;

    fn begin_tags(&mut self) -> ControlFlow<ParsedGame, ()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<ParsedGame, ParsedGame> {
        ControlFlow::Continue(ParsedGame::default())
    }

    fn san(&mut self, kept: &mut ParsedGame, san: SanPlus) -> ControlFlow<ParsedGame> {
        if let Ok(mv) = san.san.to_move(&kept.position) {
            kept.position.play_unchecked(mv);
            kept.moves.push(mv);
        }
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        kept: &mut ParsedGame,
        comment: RawComment<'_>,
    ) -> ControlFlow<ParsedGame> {
        kept.comments.push(comment.as_bytes().into());
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut ParsedGame) -> ControlFlow<ParsedGame, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, kept: ParsedGame) -> ParsedGame {
        kept
    }
}

fn seconds(work: impl FnOnce() -> (usize, usize)) -> (f64, (usize, usize)) {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let start = now();
    let count = work();
    (now() - start, count)
}

fn pgn_reader(text: &[u8]) -> (usize, usize) {
    let mut reader = Reader::new(text);
    let (mut games, mut moves) = (0, 0);
    while let Some(kept) = reader.read_game(&mut Keep).expect("memory can be read") {
        games += 1;
        moves += kept.moves.len();
        black_box(kept.comments);
    }
    (games, moves)
}

fn readyok(text: &[u8]) -> (usize, usize) {
    let (mut games, mut moves) = (0, 0);
    for game in record::read(text, Format::PGN) {
        let game = game.expect("a readable game");
        games += 1;
        moves += game.len();
        black_box(game);
    }
    (games, moves)
}

/// Random games with the headers of an online game.
fn generated(with_clocks: bool) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |count: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % count as u64) as usize
    };
    let mut text = String::new();
    let mut number = 0;
    while text.len() < BYTES {
        number += 1;
        let _ = write!(
            text,
            "[Event \"Rated game\"]\n[Site \"https://example.org/{number}\"]\n\
             [Date \"2024.01.{:02}\"]\n[Round \"-\"]\n[White \"player{}\"]\n[Black \"player{}\"]\n\
             [Result \"1/2-1/2\"]\n[WhiteElo \"{}\"]\n[BlackElo \"{}\"]\n[ECO \"C50\"]\n\
             [TimeControl \"180+2\"]\n[Termination \"Normal\"]\n\n",
            number % 28 + 1,
            random(5000),
            random(5000),
            1000 + random(1500),
            1000 + random(1500),
        );
        let mut position = Chess::default();
        for ply in 0..84 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = moves[random(moves.len())];
            if ply % 2 == 0 {
                let _ = write!(text, "{}. ", ply / 2 + 1);
            }
            let san = shakmaty::san::SanPlus::from_move_and_play_unchecked(&mut position, mv);
            let _ = write!(text, "{san} ");
            if with_clocks {
                let _ = write!(text, "{{ [%clk 0:{:02}:{:02}] }} ", random(60), random(60));
                if ply % 2 == 0 {
                    let _ = write!(text, "{}... ", ply / 2 + 1);
                }
            }
        }
        text.push_str("1/2-1/2\n\n");
    }
    text.into_bytes()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => {
            compare("moves only", &generated(false));
            compare("moves with clocks", &generated(true));
        }
        [command] if command == "garbage" => compare_garbage(),
        [command] if command == "positions" => positions::measure(),
        [command, directory] if command == "generate" => {
            for (name, with_clocks) in [("moves.pgn", false), ("clocks.pgn", true)] {
                let path = std::path::Path::new(directory).join(name);
                std::fs::write(path, generated(with_clocks)).expect("a writable directory");
            }
        }
        // For `peers.py`, which measures whole processes.
        [command, repeat, paths @ ..] if command == "read" => {
            let repeat: usize = repeat.parse().expect("a number");
            let texts: Vec<_> =
                paths.iter().map(|path| std::fs::read(path).expect("a readable file")).collect();
            let (mut games, mut moves) = (0, 0);
            for text in texts.iter().cycle().take(texts.len() * repeat) {
                for game in record::read(&text[..], None).flatten() {
                    games += 1;
                    moves += game.len();
                }
            }
            println!("{games} games, {moves} moves");
        }
        paths => {
            for path in paths {
                compare(path, &std::fs::read(path).expect("a readable file"));
            }
        }
    }
}

fn compare(name: &str, text: &[u8]) {
    let mut best = [f64::INFINITY; 2];
    let mut counts = [(0, 0); 2];
    for _ in 0..PASSES {
        for (index, reader) in [pgn_reader, readyok].into_iter().enumerate() {
            let (time, count) = seconds(|| reader(text));
            best[index] = best[index].min(time);
            counts[index] = count;
        }
    }
    let size = text.len() as f64 / 1e6;
    for (name, time, (games, moves)) in
        [("pgn-reader", best[0], counts[0]), ("readyok", best[1], counts[1])]
    {
        println!("{name}: {time:.3} s for {size:.1} MB, {games} games, {moves} moves");
    }
    println!("{name}: ratio {:.2}", best[1] / best[0]);
    measure_writing(name, text);
}

/// Text between the headers and the result of games, which is not PGN.
fn garbage(kind: &str) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move |count: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % count as u64) as usize
    };
    let mut text = String::new();
    while text.len() < GARBAGE_BYTES {
        text.push_str("[Event \"garbage\"]\n\n");
        let end = text.len() + 100_000;
        while text.len() < end {
            match kind {
                "text" => {
                    let length = 1 + random(9);
                    text.extend((0..length).map(|_| char::from(b'a' + random(26) as u8)));
                    text.push(' ');
                }
                "bytes" => text.push(char::from(b' ' + random(95) as u8)),
                "signs" => text.push(char::from(b"]>}\"&^,|~"[random(9)])),
                "glyphs" => text.push_str("$999 "),
                "one token" => text.push('x'),
                "text after moves" => text.push_str("1. Nf3, Nf6/Nc6 2. Ng1' Ng8, "),
                _ => text.push_str("1. Nf3= Nf6= 2. Ng1= Ng8= "),
            }
        }
        text.push_str(" *\n\n");
    }
    text.into_bytes()
}

/// CPU time per byte of garbage, as a ratio to that of games. All are read alternately.
fn compare_garbage() {
    const KINDS: [&str; 7] =
        ["text", "bytes", "signs", "glyphs", "one token", "text after moves", "signs after moves"];
    let games = generated(false);
    let games = &games[..GARBAGE_BYTES];
    let texts = KINDS.map(garbage);
    let mut best = [f64::INFINITY; KINDS.len() + 1];
    for _ in 0..PASSES {
        let all = std::iter::once(games).chain(texts.iter().map(Vec::as_slice));
        for (best, text) in best.iter_mut().zip(all) {
            let (time, _) = seconds(|| (record::read(text, Format::PGN).flatten().count(), 0));
            *best = best.min(time / text.len() as f64);
        }
    }
    let [games, garbage @ ..] = best;
    println!("games: {:.1} ns per byte", games * 1e9);
    for (kind, time) in KINDS.iter().zip(garbage) {
        println!("{kind}: {:.1} ns per byte, ratio {:.2}", time * 1e9, time / games);
    }
}

/// CPU time of writing the games of a file.
fn measure_writing(name: &str, text: &[u8]) {
    let games = record::read(text, Format::PGN).take(20_000);
    let games: Vec<GameRecord> = games.map(|game| game.expect("a readable game")).collect();
    let mut best = f64::INFINITY;
    for _ in 0..PASSES {
        let (time, _) = seconds(|| {
            let mut bytes = Vec::new();
            for game in &games {
                bytes.clear();
                record::write_pgn(game, &PgnOptions::default(), &mut bytes).expect("a PGN game");
                black_box(&bytes);
            }
            (games.len(), 0)
        });
        best = best.min(time);
    }
    println!("{name}: writing {:.0} games per second", games.len() as f64 / best);
}
