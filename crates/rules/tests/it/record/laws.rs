//! Properties of every file. The fuzz targets and the replay of their seeds check them.

use readyok_rules::Game;
use readyok_rules::record::{
    self, Feature, Format, GameRecord, Limits, Losses, Node, NoticeReason, RecordMove, Records,
};

/// Any bytes, as PGN.
pub fn pgn(bytes: &[u8]) {
    check(bytes, Format::PGN, &[Format::PGN]);
}

/// Any bytes, as KIF or KI2, which have the same reader.
pub fn kif(bytes: &[u8]) {
    check(bytes, Format::KIF, &[Format::KIF, Format::KI2, Format::USI]);
}

/// Any bytes, as CSA.
pub fn csa(bytes: &[u8]) {
    check(bytes, Format::CSA, &[Format::CSA, Format::KIF]);
}

/// Any bytes, as JKF.
pub fn jkf(bytes: &[u8]) {
    check(bytes, Format::JKF, &[Format::JKF, Format::KIF]);
}

/// Any bytes, as lines of FEN, EPD and moves.
pub fn uci(bytes: &[u8]) {
    check(bytes, Format::UCI, &[Format::UCI, Format::USI]);
}

/// Any bytes, as lines of SFEN with moves.
pub fn usi(bytes: &[u8]) {
    check(bytes, Format::USI, &[Format::UCI, Format::USI, Format::KIF]);
}

/// Reads games and writes each twice. The first pass may lose what a format does not support; the second
/// loses nothing.
fn check(bytes: &[u8], format: Format, targets: &[Format]) {
    let limits = Limits { moves: 2000, plies: 500, ..Limits::default() };
    for game in Records::new(bytes, format, limits).flatten() {
        assert!(game.positions().count() == game.mainline().count() + 1, "{game:?}");
        for &target in targets {
            let is_chess = target.supports(Game::Chess);
            // Lines of text can be of any game.
            if is_chess == (game.game() == Game::Shogi) {
                continue;
            }
            let (once, losses) = rewritten(&game, target);
            let (twice, none) = rewritten(&once, target);
            let lost = [Feature::Variations, Feature::Nags, Feature::Marks, Feature::Clocks];
            let mut lost = lost.iter().filter(|loss| loss.is_in(&game) && !loss.is_in(&once));
            let is_reported = !losses.is_empty();
            assert!(is_reported || lost.next().is_none(), "{target} lost {lost:?}: {game:?}");
            assert!(is_reported || game.len() <= once.len(), "{target}: {game:?}");
            assert!(none.is_empty() || !losses.is_empty(), "{target}: {none:?} {once:?}");
            assert!(once == twice, "{target}: {once:?}\n{twice:?}");
            // Only PGN has null moves; the other formats end before one.
            let ends = |mv: &RecordMove| target != Format::PGN && *mv == RecordMove::Null;
            let moves = |game: &GameRecord| {
                let moves = game.mainline().filter_map(Node::mv).take_while(|mv| !ends(mv));
                moves.filter_map(RecordMove::legal).count()
            };
            assert!(moves(&once) == moves(&game), "{target}: {game:?}");
        }
    }
}

/// The record after it is written and read, and what the writer omitted.
fn rewritten(game: &GameRecord, format: Format) -> (GameRecord, Losses) {
    let mut text = Vec::new();
    let losses = record::write(game, format, &mut text).expect("it is the right game");
    let mut games = record::read(&text[..], format);
    let shown = || String::from_utf8_lossy(&text).into_owned();
    let read = games.next().unwrap_or_else(|| panic!("no game in {}", shown()));
    let read = read.unwrap_or_else(|error| panic!("{error} in {}", shown()));
    // A start position that is only for viewing remains so.
    let reasons = games.notices().iter().map(|notice| &notice.reason);
    let mut defects = reasons.filter(|reason| !matches!(reason, NoticeReason::Start(_)));
    assert!(defects.next().is_none(), "{:?} in {}", games.notices(), shown());
    assert!(games.next().is_none(), "more than one game in {}", shown());
    (read, losses)
}
