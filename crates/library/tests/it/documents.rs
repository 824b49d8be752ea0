//! Documents as blobs and as games of the library.

use proptest::prelude::*;
use readyok_library::{
    Error, Library, LibraryDefect, NewGame, Source, decode_document, encode_document,
};
use readyok_protocol::Score;
use readyok_rules::record::{EngineNote, EngineNotes, GameDocument, NodeId};
use tempfile::TempDir;

use crate::collections::WITHOUT_COLLECTIONS;
use crate::duplicates::WITHOUT_ONLINE_GAMES;
use crate::generate::Random;
use crate::records::random_record;

/// A record whose nodes were deleted, promoted and annotated by an engine.
fn random_document(seed: u64) -> GameDocument {
    let mut random = Random(seed);
    let mut document = GameDocument::from(random_record(seed));
    let mut notes = EngineNotes::new("engine");
    for _ in 0..random.below(12) {
        let ids: Vec<NodeId> = document.record.ids().collect();
        let id = ids[usize::try_from(random.below(ids.len() as u64)).expect("small")];
        match random.below(4) {
            0 => drop(document.record.delete(id)),
            1 => drop(document.record.promote(id, true)),
            2 => document.record.reserve_ids((u32::from(document.record.next_id()) + 3).into()),
            _ => notes.set(id, EngineNote::new(Score::Cp(31), 20)),
        }
    }
    // The name of an engine without notes is not stored.
    if !notes.is_empty() {
        document.engine = notes;
    }
    document
}

fn assert_equal(found: &GameDocument, expected: &GameDocument) {
    assert!(found.record == expected.record);
    assert!(found.record.ids().eq(expected.record.ids()));
    assert_eq!(found.record.next_id(), expected.record.next_id());
    assert!(found.engine == expected.engine);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_stored_document_is_equal(seed in 0..1_u64 << 40) {
        let document = random_document(seed);
        let blob = encode_document(&document, b"{}");
        let (found, data) = decode_document(&blob).expect("it is whole");
        assert_equal(&found, &document);
        prop_assert_eq!(data, b"{}");
        let dir = TempDir::new().expect("a directory");
        let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
        let new = NewGame::from_document(&document, Source::Play, 1);
        let id = library.add(vec![new]).expect("added")[0];
        let game = library.game(id).expect("read").expect("a game");
        assert_equal(&game.document().expect("it is whole"), &document);
        // Without the ids, the record has the same content.
        let record = game.record().expect("it is whole");
        let [stored, expected] =
            [&record, &document.record].map(|record| NewGame::from_record(record, Source::Play, 1));
        prop_assert_eq!((stored.moves, stored.tags), (expected.moves, expected.tags));
        prop_assert_eq!(stored.annotations, expected.annotations);
    }

    #[test]
    fn damage_of_a_blob_is_found(seed in 0..1_u64 << 40, at in any::<prop::sample::Index>(), bit in 0_u32..8) {
        let blob = encode_document(&random_document(seed), b"{}");
        let at = at.index(blob.len());
        prop_assert!(matches!(decode_document(&blob[..at]), Err(Error::Defect(LibraryDefect::LibraryDamaged))), "truncated");
        let mut damaged = blob;
        damaged[at] ^= 1_u8 << bit;
        prop_assert!(matches!(decode_document(&damaged), Err(Error::Defect(LibraryDefect::LibraryDamaged))), "a changed bit");
    }

    /// A checksum does not protect against a forged file.
    #[test]
    fn no_blob_causes_a_panic(mut content in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(version) = content.first_mut() {
            *version = 1;
        }
        let mut blob = crc32fast::hash(&content).to_le_bytes().to_vec();
        blob.extend(content);
        let _ = decode_document(&blob);
    }
}

#[test]
fn a_library_of_version_3_is_extended() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    let document = GameDocument::from(random_record(5));
    let add = |library: &Library| {
        let new = NewGame::from_document(&document, Source::Play, 1);
        library.add(vec![new]).expect("added")[0]
    };
    let id = add(&Library::open(&path).expect("it opens"));
    let connection = rusqlite::Connection::open(&path).expect("it opens");
    connection.execute_batch(WITHOUT_COLLECTIONS).expect("changed");
    connection.execute_batch(WITHOUT_ONLINE_GAMES).expect("changed");
    connection.execute_batch("ALTER TABLE game DROP COLUMN layer").expect("changed");
    connection.pragma_update(None, "user_version", 3).expect("set");
    drop(connection);
    let library = Library::open(&path).expect("it opens");
    let game = library.game(id).expect("read").expect("a game");
    assert_equal(&game.document().expect("it is whole"), &document);
    add(&library);
}
