//! Games out of files and texts, one at a time.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use readyok_rules::Game;
use readyok_rules::record::{Format, GameRecord, RecordError, read};

use crate::errors::{notice, record_error};
use crate::wire::ErrorInfo;
use readyok_rules::record::compression::{Compression, Decompressed};

/// Maximum number of reported errors, of games that were read in part, and of other warnings.
const MAX_FAULTS: u32 = 100;

/// What was wrong with a file, with line and column.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// The first errors.
    pub(crate) errors: Vec<ErrorInfo>,
    /// The first warnings of each kind.
    pub(crate) warnings: Vec<ErrorInfo>,
    pub(crate) total_errors: u32,
    /// Warnings about games that were read in part.
    pub(crate) total_cut: u32,
    /// Other warnings.
    pub(crate) total_notices: u32,
}

/// Whether a warning is about a game that was read in part.
pub(crate) fn is_cut(warning: &ErrorInfo) -> bool {
    warning.context.as_ref().is_some_and(|context| context.kept.is_some())
}

impl Faults {
    pub(crate) fn error(&mut self, error: ErrorInfo) {
        if self.total_errors < MAX_FAULTS {
            self.errors.push(error);
        }
        self.total_errors = self.total_errors.saturating_add(1);
    }

    /// Warnings about missing results must not take the place of those about lost moves.
    fn warning(&mut self, warning: ErrorInfo) {
        let total = if is_cut(&warning) { &mut self.total_cut } else { &mut self.total_notices };
        if *total < MAX_FAULTS {
            self.warnings.push(warning);
        }
        *total = total.saturating_add(1);
    }
}

/// A source whose bytes are counted.
pub(crate) struct Counting<'a, R> {
    pub(crate) source: R,
    pub(crate) read: &'a AtomicU64,
}

impl<R: Read> Read for Counting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Whether the name of a file is one of records. Only its extension must be Unicode.
pub(crate) fn is_record(path: &Path) -> bool {
    extension(path).is_some_and(|extension| Format::from_extension(&extension).is_some())
}

/// The name of a file without its extensions.
pub(crate) fn file_title(name: &str) -> String {
    let path = Path::new(name);
    let path = Compression::of(path).map_or(path, |(_, path)| path);
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The extension of a name, before that of a compressed file.
fn extension(path: &Path) -> Option<String> {
    let path = Compression::of(path).map_or(path, |(_, path)| path);
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// Passes all games of a file or text, which can be compressed, to `visit` until it returns false.
pub(crate) fn read_each(
    name: impl AsRef<Path>,
    source: impl Read + Send,
    mut visit: impl FnMut(&GameRecord) -> bool,
) -> Faults {
    let mut faults = Faults::default();
    let extension = extension(name.as_ref());
    let by_name = extension.as_deref().and_then(Format::from_extension);
    // The game by the format. PGN states it for each game.
    let games = [Game::Chess, Game::Shogi];
    let game = by_name.and_then(|format| games.into_iter().find(|game| format.supports(*game)));
    let source = match Decompressed::new(source) {
        Ok(source) => source,
        Err(error) => {
            let error = RecordError { game: 1, line: 1, column: 1, kind: error.into() };
            faults.error(record_error(game, &error));
            return faults;
        }
    };
    let mut records = read(source, by_name);
    while let Some(record) = records.next() {
        let continues = match record {
            Ok(record) => visit(&record),
            Err(error) => {
                faults.error(record_error(game, &error));
                true
            }
        };
        for it in records.notices() {
            faults.warning(notice(game, it));
        }
        if !continues {
            break;
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use readyok_protocol::Score;

    use crate::game::{ROOT, Tree};

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
        // A defective game is kept in part.
        assert_eq!(count("a.pgn", "1. e4 e4 *\n\n1. d4 *\n"), (2, 0));
        assert!(is("A.PGN") && is("b.kif") && is("c.fen"));
        assert!(!is("library.sqlite") && !is("pgn"));
    }

    fn is(name: &str) -> bool {
        is_record(Path::new(name))
    }

    /// A game that loses moves is listed although many others end without a result.
    #[test]
    fn cut_games_are_listed_before_other_warnings() {
        let text =
            format!("{}[White \"B\"]\n\n1. e4 Ke7 *\n", "[White \"A\"]\n\n1. e4\n\n".repeat(300));
        let faults = read_each("a.pgn", text.as_bytes(), |_| true);
        assert_eq!((faults.total_cut, faults.total_notices), (1, 300));
        assert_eq!(faults.warnings.len(), MAX_FAULTS as usize + 1);
        assert_eq!(faults.warnings.iter().filter(|warning| is_cut(warning)).count(), 1);
    }

    #[test]
    fn compressed_files_are_read() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"1. e4 *\n\n1. d4 *\n").unwrap();
        let compressed = encoder.finish().unwrap();
        for name in ["a.pgn.gz", "a.gz", ""] {
            let mut games = 0;
            let faults = read_each(name, &compressed[..], |_| {
                games += 1;
                true
            });
            assert_eq!((games, faults.errors.len()), (2, 0), "{name}");
        }
        assert!(is("a.pgn.gz") && is("b.KIF.ZST") && is("c.epd.bz2"));
        assert!(!is("a.gz") && !is("a.tar.gz"));
    }

    #[test]
    fn a_line_without_a_keyword_is_of_the_game_in_which_its_moves_are_legal() {
        for (text, expected) in [
            ("startpos moves e2e4 e7e5", Some(Game::Chess)),
            ("startpos", Some(Game::Chess)),
            ("startpos moves 7g7f 3c3d", Some(Game::Shogi)),
            ("position startpos moves 7g7f", Some(Game::Shogi)),
        ] {
            let mut games = Vec::new();
            read_each("pasted.txt", text.as_bytes(), |record| {
                games.push(record.game());
                true
            });
            assert_eq!(games, Vec::from_iter(expected), "{text}");
        }
    }

    /// The errors and warnings of a text.
    fn faults(name: &str, text: &str) -> (Vec<String>, Vec<String>) {
        let faults = read_each(name, text.as_bytes(), |_| true);
        let texts = |all: Vec<ErrorInfo>| all.iter().map(ErrorInfo::to_string).collect();
        (texts(faults.errors), texts(faults.warnings))
    }

    #[test]
    fn a_bad_line_of_chess_is_reported_and_the_next_one_read() {
        for (text, expected) in [
            ("startpos moves e2e4 e2e5", "line 1, column 21: e2e5: "),
            ("8/8/8/8/8/8/8/K7 w - - 0 1", "line 1, column 1: "),
            ("8/8/8/8/8/8/K6k w - - 0 1", "game 1, line 1, column 1: "),
            ("fen 8/8/8/8/8/8/8/K7 w - - 0 1", "line 1, column 5: "),
            ("startpos e2e4", "line 1, column 10: "),
            ("\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e7e5", "line 2, column 39: e7e5: "),
        ] {
            let (errors, warnings) = faults("", text);
            let all: Vec<String> = errors.into_iter().chain(warnings).collect();
            assert!(all.len() == 1 && all[0].starts_with(expected), "{text}: {all:?}");
        }
        let file =
            "4k3/8/8/8/8/8/4P3/4K3 w - - bm e4;\nrubbish\n# no line\n4k3/8/8/8/8/8/8/4K3 b - -\n";
        assert_eq!(count("suite.epd", file), (2, 1));
        let (errors, _) = faults("suite.epd", file);
        assert!(errors[0].starts_with("game 2, line 2, column 1: "), "{errors:?}");
    }

    #[test]
    fn operations_of_an_epd_are_imported() {
        let mut trees = Vec::new();
        let text = concat!(
            "4k3/8/8/8/8/8/4P3/4K3 b - - bm Kd7; id \"an end\"; c0 \"hold it\"; ce -120; acd 9; x y;\n",
            "4k3/8/8/8/8/8/4P3/4K3 w - - 7 30 bm Ka9;\n",
        );
        let faults = read_each("suite.epd", text.as_bytes(), |record| {
            trees.push(Tree::from_record(record));
            true
        });
        let notes = trees[0].annotations_mut(ROOT).unwrap().clone();
        assert_eq!(trees[0].headers.get("Event"), Some("an end"));
        assert_eq!(notes.comments, ["hold it", "bm Kd7; x y;"]);
        let evaluation = notes.evaluation.unwrap();
        assert_eq!((evaluation.score, evaluation.depth), (Score::Cp(120), Some(9)));
        // An unreadable operation is a warning; the position is imported.
        assert_eq!(trees[1].start().to_string(), "4k3/8/8/8/8/8/4P3/4K3 w - - 7 30");
        assert!(faults.errors.is_empty());
        let warning = faults.warnings[0].to_string();
        assert_eq!(warning, "line 2, column 34: unexpected `bm Ka9;`");
    }

    #[test]
    fn reading_stops_when_the_callback_returns_false() {
        let mut games = 0;
        read_each("a.pgn", "1. d4 *\n\n".repeat(9).as_bytes(), |_| {
            games += 1;
            games < 3
        });
        assert_eq!(games, 3);
    }
}
