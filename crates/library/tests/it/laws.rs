//! Properties of any bytes in a database. The fuzz targets and the tests check them.

use readyok_library::{NewGame, Source, Summary};
use readyok_rules::Game;

/// Any bytes as moves, headers and annotations: variant, number of moves, number of bytes of the headers, then the
/// parts. A record that can be read is stored as an equal one. The annotations are also read as ids and notes of
/// engines.
pub fn stored_game(bytes: &[u8]) {
    let &[variant, moves, tags, ref rest @ ..] = bytes else { return };
    let variant = [Game::Chess, Game::Chess960, Game::Shogi][usize::from(variant % 3)];
    let (moves, rest) = rest.split_at((2 * usize::from(moves)).min(rest.len()));
    let (tags, annotations) = rest.split_at(usize::from(tags).min(rest.len()));
    let game = NewGame {
        summary: Summary::new(variant, Source::Import),
        players: ["A".to_owned(), String::new()],
        event: "E".to_owned(),
        site: "S".to_owned(),
        opening: Some(("A00".to_owned(), "O".to_owned())),
        start: None,
        moves: moves.to_vec(),
        tags: tags.to_vec(),
        annotations: annotations.to_vec(),
        layer: Vec::new(),
        play: None,
        postings: Vec::new(),
        added_ms: 0,
    };
    let layered = NewGame { layer: annotations.to_vec(), annotations: Vec::new(), ..game.clone() };
    if let Ok(document) = layered.document() {
        let again = NewGame::from_document(&document, Source::Import, 0).document();
        assert!(again.is_ok_and(
            |decoded| decoded.record == document.record && decoded.engine == document.engine
        ));
    }
    let Ok(record) = game.record() else { return };
    let again = NewGame::from_record(&record, Source::Import, 0).record();
    assert!(again.is_ok_and(|decoded| decoded == record));
}
