//! Games out of files and texts, one at a time.

use std::io::Cursor;

use readyok_protocol::{Command, Dialect, Root};
use readyok_rules::record::{Format, read};
use readyok_rules::{Epd, Game, Position};

use crate::game::{ROOT, Tree, oddity_failure, record_failure};
use crate::wire::{Failure, Problem, ProblemKind};

/// So many games of one file are taken.
const MOST_GAMES: u32 = 100_000;
/// So many faults are told.
const MOST_FAULTS: usize = 100;

/// What was wrong with a file, with line and column.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) errors: Vec<Failure>,
    pub(crate) oddities: Vec<Failure>,
}

/// Whether the name of a file is one of records.
pub(crate) fn is_record(name: &str) -> bool {
    extension(name).is_some_and(|it| is_epd(&it) || Format::from_extension(&it).is_some())
}

fn extension(name: &str) -> Option<String> {
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
}

fn is_epd(extension: &str) -> bool {
    matches!(extension, "epd" | "fen")
}

/// Hands over all games of a file or text, until `take` says that it has enough.
pub(crate) fn read_each(name: &str, bytes: &[u8], mut take: impl FnMut(Tree) -> bool) -> Faults {
    let mut faults = Faults::default();
    let extension = extension(name);
    let by_name = extension.as_deref().and_then(Format::from_extension);
    if extension.as_deref().is_some_and(is_epd) || by_name.is_none() {
        let text = String::from_utf8_lossy(bytes);
        if let Some(trees) = lines_of_chess(&text) {
            // Whoever has enough takes no more.
            let _ = trees.into_iter().all(take);
            return faults;
        }
    }
    // What its format tells: records of PGN say it game by game.
    let game = by_name.map(|format| if format == Format::Pgn { Game::Chess } else { Game::Shogi });
    let mut records = read(Cursor::new(bytes), by_name);
    let mut games: u32 = 0;
    while let Some(record) = records.next() {
        let mut goes_on = true;
        match record {
            Ok(record) => {
                games += 1;
                goes_on = take(Tree::from_record(&record));
            }
            Err(error) if faults.errors.len() < MOST_FAULTS => {
                faults.errors.push(record_failure(game, &error));
            }
            Err(_) => (),
        }
        let room = MOST_FAULTS.saturating_sub(faults.oddities.len());
        faults.oddities.extend(records.oddities().iter().take(room).map(oddity_failure));
        if MOST_GAMES <= games {
            let why = Problem::new(ProblemKind::RestLeftOut).with("count", &MOST_GAMES);
            let text = format!("more than {MOST_GAMES} games: the rest was left out");
            faults.errors.push(Failure::new(why, text));
            break;
        }
        if !goes_on {
            break;
        }
    }
    faults
}

/// Lines of FEN, EPD or `position …` of chess, that word or not; none if one of them is something else.
fn lines_of_chess(text: &str) -> Option<Vec<Tree>> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    if lines.is_empty() || 10_000 < lines.len() {
        return None;
    }
    lines.into_iter().map(|line| played(line).or_else(|| placed(line).map(Tree::new))).collect()
}

/// The position of a FEN or EPD.
fn placed(line: &str) -> Option<Position> {
    let read = |game| Epd::read(game, line).ok().map(|epd| epd.position);
    read(Game::Chess).or_else(|| read(Game::Chess960))
}

/// The game of a line of UCI, or of what follows `position` there.
fn played(line: &str) -> Option<Tree> {
    let whole = match line.split_whitespace().next() {
        Some("startpos" | "fen") => &format!("position {line}"),
        _ => line,
    };
    let Command::Position(said) = Command::read(whole, Dialect::Uci).value else { return None };
    let mut position = match &said.root {
        Root::StartPos => Position::start(Game::Chess),
        Root::Fen(fen) => placed(fen.as_str())?,
        Root::Sfen(_) => return None,
    };
    let mut tree = Tree::new(position.clone());
    let mut node = ROOT;
    for word in said.moves.words() {
        let mv = position.parse_move(word).ok()?;
        node = tree.add(node, mv).ok()?;
        position.play(mv).ok()?;
    }
    Some(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &str, text: &str) -> (usize, usize) {
        let mut games = 0;
        let faults = read_each(name, text.as_bytes(), |_| {
            games += 1;
            true
        });
        (games, faults.errors.len())
    }

    #[test]
    fn every_kind_of_file_is_read() {
        assert_eq!(count("a.pgn", "1. e4 *\n\n1. d4 *\n"), (2, 0));
        assert_eq!(count("a.epd", "8/8/8/4k3/8/8/4P3/4K3 w - - bm e4;\n"), (1, 0));
        assert_eq!(count("", "position startpos moves e2e4 e7e5\n"), (1, 0));
        assert_eq!(count("", "position fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e4\n"), (1, 0));
        assert_eq!(count("", "fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e4\n"), (1, 0));
        assert_eq!(
            count("", "4k3/8/8/8/8/8/4P3/4K3 w - - 3 9\n4k3/8/8/8/8/8/4P3/4K3 b - -\n"),
            (2, 0)
        );
        assert_eq!(count("a.pgn", "1. e4 e4 *\n\n1. d4 *\n"), (1, 1));
        assert!(is_record("A.PGN") && is_record("b.kif") && is_record("c.fen"));
        assert!(!is_record("library.sqlite") && !is_record("pgn"));
    }

    #[test]
    fn a_line_without_its_first_word_is_of_the_game_in_which_its_moves_are_legal() {
        for (text, expected) in [
            ("startpos moves e2e4 e7e5", Some(Game::Chess)),
            ("startpos", Some(Game::Chess)),
            ("startpos moves 7g7f 3c3d", Some(Game::Shogi)),
            ("position startpos moves 7g7f", Some(Game::Shogi)),
            ("startpos moves e2e5", None),
        ] {
            let mut games = Vec::new();
            read_each("pasted.txt", text.as_bytes(), |tree| {
                games.push(tree.game());
                true
            });
            assert_eq!(games, Vec::from_iter(expected), "{text}");
        }
    }

    #[test]
    fn whoever_has_enough_gets_no_more() {
        let mut games = 0;
        read_each("a.pgn", "1. d4 *\n\n".repeat(9).as_bytes(), |_| {
            games += 1;
            games < 3
        });
        assert_eq!(games, 3);
    }
}
