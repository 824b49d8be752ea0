//! Links to boards of web sites: the position or the moves that their addresses contain.
//!
//! Nothing is downloaded, so a link to a game or a study by its number has no content.

use crate::Game;

/// What a link contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// A board with the fields that follow it, or `startpos`; then moves in any notation.
    Line { game: Option<Game>, start: String, moves: String },
    /// A game in PGN.
    Pgn(String),
    /// A game of shogi in USEN, the notation of Shogi Playground.
    Usen(String),
}

/// Whether a text is a link.
pub(super) fn is_link(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.unwrap_or(text).split(['/', '?', '#']).next().unwrap_or_default();
    let known = ["lichess.org", "lishogi.org", "chess.com", "mogproject.com", "shogi-extend.com"];
    rest.is_some() && !text.contains(char::is_whitespace)
        || known.iter().any(|name| {
            host.strip_suffix(name).is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
        })
}

/// The content of a link. `None` if it has neither a position nor moves.
pub(super) fn content(link: &str) -> Option<Content> {
    let (rest, fragment) = link.split_once('#').unwrap_or((link, ""));
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    let game = game_of(path);
    let pairs = || {
        let pairs = query.split('&').chain(fragment.split('&'));
        pairs.filter_map(|pair| pair.split_once('='))
    };
    let named = |names: &[&str]| {
        let mut found =
            pairs().filter(|(name, _)| names.contains(&name.to_ascii_lowercase().as_str()));
        found.next().map(|(_, value)| value)
    };
    let moves = named(&["moves", "line"]).map(|value| spaced(&decoded(value, true)));
    // A `+` is a blank, or a promoted piece that was not encoded.
    for plus_is_blank in [true, false] {
        for (_, value) in pairs() {
            let value = decoded(value, plus_is_blank);
            if is_usen(&value) {
                return Some(Content::Usen(value));
            }
            if let Some((start, own)) = line(&value) {
                let moves = if own.is_empty() { moves.unwrap_or_default() } else { own };
                return Some(Content::Line { game, start, moves });
            }
        }
    }
    if let Some(pgn) = named(&["pgn"]) {
        return Some(Content::Pgn(spaced_moves(&decoded(pgn, true))));
    }
    let path = decoded(path, false);
    if let Some((_, pgn)) = path.split_once("/pgn/") {
        return Some(Content::Pgn(spaced_moves(&decoded(pgn, true))));
    }
    if let Some((start, own)) = line(&path) {
        let moves = if own.is_empty() { moves.unwrap_or_default() } else { own };
        return Some(Content::Line { game, start, moves });
    }
    let start = "startpos".to_owned();
    moves.map(|moves| Content::Line { game, start, moves })
}

/// The game that a path names.
fn game_of(path: &str) -> Option<Game> {
    let mut parts = path.split('/').map(str::to_ascii_lowercase);
    let host = parts.next().unwrap_or_default();
    if parts.any(|part| matches!(part.as_str(), "chess960" | "fischerandom" | "fischerrandom")) {
        return Some(Game::Chess960);
    }
    ["shogi", "sfen"].iter().any(|name| host.contains(name)).then_some(Game::Shogi)
}

/// Finds a board with fields and moves in a text, in which `_` can stand for blanks. After `position`, `.` can too.
fn line(text: &str) -> Option<(String, String)> {
    let text = if text.contains(' ') {
        text.to_owned()
    } else if text.starts_with("position.") {
        text.replace('.', " ")
    } else {
        text.replace('_', " ")
    };
    let (before, moves) = text.split_once(" moves ").unwrap_or((&text, ""));
    if before.split(' ').any(|token| token == "startpos") {
        return Some(("startpos".to_owned(), moves.trim().to_owned()));
    }
    // In a path, other parts precede the board.
    let starts = std::iter::once(0).chain(before.match_indices(['/', ' ']).map(|(at, _)| at + 1));
    for start in starts {
        let rest = before.get(start..)?;
        let mut fields = rest.split_whitespace();
        let board = fields.next()?.split('/').take(9).collect::<Vec<_>>();
        let width = match board.len() {
            8 => 8,
            9 => 9,
            _ => continue,
        };
        if board.iter().all(|rank| width_of(rank) == Some(width)) {
            let fields: Vec<&str> = fields.take(5).collect();
            let start = format!("{} {}", board.join("/"), fields.join(" "));
            return Some((start.trim_end().to_owned(), moves.trim().to_owned()));
        }
    }
    None
}

/// The number of squares of a rank. `None` if the text is not a rank.
fn width_of(rank: &str) -> Option<u32> {
    let square = |letter: char| match letter {
        '1'..='9' => letter.to_digit(10),
        '+' | '~' => Some(0),
        _ => "pnbrqkgsl".contains(letter.to_ascii_lowercase()).then_some(1),
    };
    rank.chars().map(square).sum()
}

/// Whether a text is in USEN: `~0.7ku2jm.r`, after a board unless it is the usual one.
fn is_usen(text: &str) -> bool {
    let Some((board, rest)) = text.split_once('~') else { return false };
    let is_board = board.is_empty() || board.contains('_') && board.contains('.');
    is_board
        && rest.split('~').all(|line| {
            let mut parts = line.split('.');
            let number = parts.next().unwrap_or_default();
            let moves = parts.next();
            number.bytes().all(|byte| byte.is_ascii_digit())
                && moves.is_some_and(|moves| moves.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        })
}

/// Moves whose separators are `_` or `,`.
fn spaced(moves: &str) -> String {
    moves.replace(['_', ','], " ").trim().to_owned()
}

/// PGN, or moves whose separators are `_`.
fn spaced_moves(pgn: &str) -> String {
    if pgn.contains(char::is_whitespace) { pgn.to_owned() } else { spaced(pgn) }
}

/// Decodes `%20` and, in a query, `+`.
fn decoded(text: &str, plus_is_blank: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', _) if plus_is_blank => bytes.push(b' '),
            _ => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_content_of_links() {
        let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        let shogi = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
        let drop = "4k4/9/9/9/9/9/9/9/4K2+R1 b G 1";
        for (link, game, start, moves) in [
            (
                "https://lichess.org/analysis/rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR_b_KQkq_-_0_1",
                None,
                after_e4,
                "",
            ),
            (
                "lichess.org/analysis/standard/rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR%20b%20KQkq%20-%200%201?color=black#1",
                None,
                after_e4,
                "",
            ),
            (
                "https://lichess.org/editor/chess960/rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR_b_KQkq_-_0_1",
                Some(Game::Chess960),
                after_e4,
                "",
            ),
            (
                "https://lichess.org/editor?fen=rnbqkbnr%2Fpppppppp%2F8%2F8%2F4P3%2F8%2FPPPP1PPP%2FRNBQKBNR+b+KQkq+-+0+1",
                None,
                after_e4,
                "",
            ),
            (
                "https://www.chess.com/analysis?fen=rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR%20b%20KQkq%20-%200%201&flip=true",
                None,
                after_e4,
                "",
            ),
            (
                "https://lichess.org/study/embed/abcdefgh/ijklmnop?fen=rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR_b_KQkq_-_0_1",
                None,
                after_e4,
                "",
            ),
            (
                "https://lishogi.org/analysis/standard/lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL_b_-_1",
                Some(Game::Shogi),
                shogi,
                "",
            ),
            (
                "http://sfenreader.appspot.com/sfen?sfen=4k4%2F9%2F9%2F9%2F9%2F9%2F9%2F9%2F4K2%2BR1%20b%20G%201",
                Some(Game::Shogi),
                drop,
                "",
            ),
            ("https://example.org/board?sfen=4k4/9/9/9/9/9/9/9/4K2+R1%20b%20G%201", None, drop, ""),
            (
                "https://www.shogi-extend.com/share-board?body=position+startpos+moves+7g7f+3c3d&turn=2",
                Some(Game::Shogi),
                "startpos",
                "7g7f 3c3d",
            ),
            (
                "https://example.org/?sfen=position%20sfen%204k4/9/9/9/9/9/9/9/4K2%2BR1%20b%20G%201%20moves%20G*5b",
                None,
                drop,
                "G*5b",
            ),
            ("https://example.org/?moves=e2e4,e7e5", None, "startpos", "e2e4 e7e5"),
        ] {
            assert!(is_link(link), "{link}");
            let (start, moves) = (start.to_owned(), moves.to_owned());
            assert_eq!(content(link), Some(Content::Line { game, start, moves }), "{link}");
        }
        for (link, pgn) in [
            ("https://lichess.org/analysis/pgn/e4_e5_Nf3", "e4 e5 Nf3"),
            ("https://lichess.org/analysis/pgn/1.+e4+e5+2.+Nf3", "1. e4 e5 2. Nf3"),
            ("https://www.chess.com/analysis?pgn=1.%20e4%20e5%20%7Bgood%7D", "1. e4 e5 {good}"),
        ] {
            assert_eq!(content(link), Some(Content::Pgn(pgn.to_owned())), "{link}");
        }
        let usen = "~0.7ku2jm9uw.r";
        let link = format!("https://play.mogproject.com/?u={usen}&move=2&flip=false&bn=&wn=");
        assert_eq!(content(&link), Some(Content::Usen(usen.to_owned())));
        for link in [
            "https://lichess.org/abcdefgh",
            "https://lichess.org/study/abcdefgh",
            "https://example.org/?fen=8/8",
            "https://example.org/%E3%81",
            "http://",
        ] {
            assert_eq!(content(link), None, "{link}");
        }
        assert!(!is_link("hello") && !is_link("1. e4 https://example.org"));
        assert!(!is_link("https://example.org a"));
    }
}
