//! Properties of every text: if it can be read, then it can be written, and is read as the same value.
//! The fuzz targets and the replay of their seeds check them.

use std::io::Cursor;

use readyok_rules::{
    Epd, FenForm, Game, Move, MoveError, Notation, PolyglotBook, Position, Setup, fairy,
};

const FORMS: [FenForm; 3] = [FenForm::Fen, FenForm::XFen, FenForm::Shredder];

/// Any bytes as a FEN or an EPD of chess and Chess960.
pub fn fen(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for game in [Game::Chess, Game::Chess960] {
        setup(game, &text);
        epd(game, &text);
    }
}

/// Any bytes as an SFEN.
pub fn sfen(bytes: &[u8]) {
    setup(Game::Shogi, &String::from_utf8_lossy(bytes));
}

/// Any bytes as EPDs of chess and Chess960, one on each line.
pub fn epds(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).split('\n').take(64) {
        epd(Game::Chess, line);
        epd(Game::Chess960, line);
    }
}

/// Any bytes as a position on the first line and moves in SAN on the others.
pub fn san(bytes: &[u8]) {
    for game in [Game::Chess, Game::Chess960] {
        notation(game, bytes, Notation::Western);
    }
}

/// Any bytes as a position on the first line and moves in Japanese notation on the others.
pub fn japanese(bytes: &[u8]) {
    notation(Game::Shogi, bytes, Notation::Japanese);
}

/// Any bytes as a position on the first line and moves in the Western notation of shogi, and in that
/// of CSA, on the others.
pub fn western(bytes: &[u8]) {
    notation(Game::Shogi, bytes, Notation::Western);
    notation(Game::Shogi, bytes, Notation::Csa);
}

/// Any bytes as a position on the first line and moves of UCI on the others.
pub fn uci(bytes: &[u8]) {
    uci_moves(Game::Chess, bytes);
    uci_moves(Game::Chess960, bytes);
}

/// Any bytes as a position on the first line and moves of USI on the others.
pub fn usi(bytes: &[u8]) {
    uci_moves(Game::Shogi, bytes);
}

/// Any bytes as a position of shogi on the first line, in the form of UCI or USI, and moves of either on
/// the others. Conversion there and back returns the same text.
pub fn fairy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n');
    let Some(start) = lines.next() else { return };
    let sfen = fairy::fen_to_sfen(start).unwrap_or_else(|| start.to_owned());
    let mut position = Position::from_text(Game::Shogi, &sfen).ok();
    position.iter().for_each(check_uci_round_trip);
    for line in lines.take(64) {
        if let Some(usi) = fairy::uci_to_usi(line) {
            assert_eq!(fairy::usi_to_uci(&usi).as_deref(), Some(line), "{usi}");
        }
        let usi = match fairy::usi_to_uci(line) {
            Some(uci) => {
                assert_eq!(fairy::uci_to_usi(&uci).as_deref(), Some(line), "{uci}");
                line.to_owned()
            }
            None => fairy::uci_to_usi(line).unwrap_or_default(),
        };
        let Some(position) = &mut position else { continue };
        let Ok(mv) = position.parse_move(&usi) else { continue };
        position.play(mv).unwrap_or_else(|error| panic!("{position}: {error}"));
        check_uci_round_trip(position);
    }
}

/// Checks that a position of shogi and its moves survive conversion to UCI and back.
fn check_uci_round_trip(position: &Position) {
    let same = |sfen: &str| Position::from_text(Game::Shogi, sfen).map(|read| read.key());
    let fen = fairy::sfen_to_fen(&position.to_string()).unwrap_or_else(|| panic!("{position}"));
    let sfen = fairy::fen_to_sfen(&fen).unwrap_or_else(|| panic!("{fen}"));
    assert_eq!(same(&sfen), Ok(position.key()), "{fen}");
    // Only the parity of the move number can be lost.
    assert_eq!(fairy::sfen_to_fen(&sfen), Some(fen));
    for mv in position.legal_moves() {
        let usi = mv.to_uci(Game::Shogi.castling_form());
        let uci = fairy::usi_to_uci(&usi).unwrap_or_else(|| panic!("{usi}"));
        assert_eq!(fairy::uci_to_usi(&uci), Some(usi));
    }
}

/// Any bytes as a Polyglot book: only the size decides whether it is one, and its moves are legal.
pub fn polyglot(bytes: &[u8]) {
    const ENTRY: usize = 16;
    let (entries, rest) = bytes.as_chunks::<ENTRY>();
    assert_eq!(PolyglotBook::new(Cursor::new(bytes)).is_ok(), rest.is_empty());
    let book = PolyglotBook::new(Cursor::new(entries.as_flattened()));
    let mut book = book.unwrap_or_else(|error| panic!("{error}"));
    for game in [Game::Chess, Game::Chess960] {
        let mut position = Position::start(game);
        for _ in 0..64 {
            let moves = book.moves(&position).unwrap_or_else(|error| panic!("{error}"));
            assert!(moves.len() <= entries.len(), "{position}");
            let legal = position.legal_moves();
            assert!(moves.iter().all(|(mv, _)| legal.contains(mv)), "{position}");
            let Some(&(mv, _)) = moves.first() else { break };
            position.play(mv).unwrap_or_else(|error| panic!("{position}: {error}"));
        }
    }
}

fn setup(game: Game, text: &str) {
    let Ok(setup) = Setup::read(game, text) else { return };
    for form in FORMS {
        assert_eq!(Setup::read(game, &setup.text(form)).as_ref(), Ok(&setup), "{text:?}");
    }
    if let Ok(position) = setup.position() {
        self::position(&position);
    }
}

/// Checks that a position and its successors survive writing and reading.
pub fn position(position: &Position) {
    let game = position.game();
    for form in FORMS {
        let text = position.text(form);
        let read = Position::from_text(game, &text).map_err(|error| (text.clone(), error));
        let read = read.unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!((read.text(form), read.key()), (text, position.key()));
    }
    assert_eq!(Position::from_setup(&position.setup()).map(|read| read.key()), Ok(position.key()));
    for mv in position.legal_moves().into_iter().take(4) {
        let mut after = position.clone();
        after.play(mv).unwrap_or_else(|error| panic!("{position}: {error}"));
        let read = Position::from_text(game, &after.to_string()).map(|read| read.key());
        assert_eq!(read, Ok(after.key()), "{position}");
    }
}

fn epd(game: Game, text: &str) {
    let Ok(epd) = Epd::read(game, text) else { return };
    // Texts with control characters can be read, but not written.
    let Ok(written) = epd.text(FenForm::XFen) else { return };
    let again = Epd::read(game, &written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(again.text(FenForm::XFen), Ok(written));
    assert_eq!(again.operations, epd.operations);
}

fn notation(game: Game, bytes: &[u8], notation: Notation) {
    moves(
        game,
        bytes,
        |position, text| position.parse(text, notation),
        |position, mv| position.notation(mv, notation),
    );
}

fn uci_moves(game: Game, bytes: &[u8]) {
    moves(game, bytes, Position::parse_move, |_, mv| mv.to_uci(game.castling_form()));
}

fn moves(
    game: Game,
    bytes: &[u8],
    read: impl Fn(&Position, &str) -> Result<Move, MoveError>,
    write: impl Fn(&Position, Move) -> String,
) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n');
    let Some(Ok(mut position)) = lines.next().map(|text| Position::from_text(game, text)) else {
        return;
    };
    for line in lines.take(64) {
        let legal = position.legal_moves();
        match read(&position, line) {
            Ok(mv) => {
                assert!(legal.contains(&mv), "{position}: {line:?}");
                let written = write(&position, mv);
                assert_eq!(read(&position, &written), Ok(mv), "{position}: {written}");
                position.play(mv).unwrap_or_else(|error| panic!("{position}: {error}"));
            }
            Err(error) => {
                assert!(error.text.chars().count() <= 41, "{error}");
                assert!(
                    error.candidates.len() != 1 && error.candidates.len() <= legal.len(),
                    "{error}"
                );
            }
        }
    }
}
