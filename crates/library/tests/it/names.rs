//! Proposals and merges of names.

use std::ops::ControlFlow;

use readyok_library::{
    Duplicates, ImportOptions, Library, NameKind, NameProposal, ProposalReason, SpellingFile,
};
use readyok_rules::Side;
use readyok_rules::record::{Condition, PlayerCondition, Tag, TextPattern};
use tempfile::TempDir;

fn import(library: &Library, games: &str) {
    let options = ImportOptions { duplicates: Duplicates::Keep, ..Default::default() };
    library.import(games.as_bytes(), options, |_| ControlFlow::Continue(())).expect("imported");
}

fn library(players: &[(&str, &str)]) -> (TempDir, Library) {
    let dir = TempDir::new().expect("a directory");
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    let game = |(white, black): &(&str, &str)| {
        let (white, id) = white.split_once('|').unwrap_or((white, ""));
        let id = if id.is_empty() { String::new() } else { format!("[WhiteFideId \"{id}\"]\n") };
        format!("[White \"{white}\"]\n[Black \"{black}\"]\n{id}\n1. e4 e5 *\n\n")
    };
    import(&library, &players.iter().map(game).collect::<String>());
    (dir, library)
}

/// The proposals for players who play an unknown one: the kept name, the others, and the reason.
fn proposed(names: &[&str]) -> Vec<(String, Vec<String>, ProposalReason)> {
    let games: Vec<_> = names.iter().map(|name| (*name, "?")).collect();
    simple(library(&games).1.propose_names().expect("proposed"))
}

fn simple(proposals: Vec<NameProposal>) -> Vec<(String, Vec<String>, ProposalReason)> {
    let simple = |proposal: NameProposal| {
        let variants = proposal.variants.into_iter().map(|variant| variant.name).collect();
        (proposal.keep.name, variants, proposal.reason)
    };
    proposals.into_iter().map(simple).collect()
}

#[test]
fn spelling_variants_are_proposed() {
    use ProposalReason::{Form, Initials, Similar};
    let cases: [(&[&str], &str, &[&str], ProposalReason); 7] = [
        (&["Carlsen, Magnus", "Magnus Carlsen"], "Carlsen, Magnus", &["Magnus Carlsen"], Form),
        (
            &["CARLSEN,MAGNUS", "Carlsen, Magnus", "Carlsen, Magnus"],
            "Carlsen, Magnus",
            &["CARLSEN,MAGNUS"],
            Form,
        ),
        (
            &["Müller, Karsten", "Muller, Karsten", "Müller, Karsten"],
            "Müller, Karsten",
            &["Muller, Karsten"],
            Form,
        ),
        (
            &["Carlsen, M", "Carlsen, Magnus", "Carlsen, M"],
            "Carlsen, Magnus",
            &["Carlsen, M"],
            Initials,
        ),
        (&["Carlsen M.", "Carlsen, Magnus"], "Carlsen, Magnus", &["Carlsen M."], Initials),
        (
            &["Kortchnoi, Viktor", "Kortschnoi, Viktor", "Kortchnoi, Viktor"],
            "Kortchnoi, Viktor",
            &["Kortschnoi, Viktor"],
            Similar,
        ),
        (
            &["Mueller, Karsten", "Müller, Karsten", "Müller, Karsten"],
            "Müller, Karsten",
            &["Mueller, Karsten"],
            Similar,
        ),
    ];
    for (names, keep, variants, reason) in cases {
        let found = proposed(names);
        let variants: Vec<String> = variants.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(found, [(keep.to_owned(), variants, reason)], "{names:?}");
    }
}

#[test]
fn different_players_are_not_proposed() {
    let cases: [&[&str]; 8] = [
        // An initial of two names is that of neither.
        &["Carlsen, M", "Carlsen, Magnus", "Carlsen, Maria"],
        &["Carlsen, Magnus", "Carlsen, Henrik"],
        &["Carlsen, Magnus", "Carlsen, Magnus Oen"],
        &["Stockfish 16", "Stockfish 17"],
        &["Lee, A", "Lee, B"],
        &["Li, Bo", "Li, Ba"],
        &["Carlsen, Magnus|1503014", "Carlsen, Magnuss|77"],
        &["?", "NN", "Anonymous"],
    ];
    for names in cases {
        assert_eq!(proposed(names), [], "{names:?}");
    }
    let equal_ids = proposed(&["Carlsen, Magnus|1503014", "Carlsen, M|1503014"]);
    assert_eq!(equal_ids.len(), 1);
    // Players who play each other are two.
    let (_dir, library) =
        library(&[("Polgar, Zsuzsa", "Polgar, Zsuzsaa"), ("Polgar, Zsuzsa", "?")]);
    assert_eq!(library.propose_names().expect("proposed"), []);
}

fn count(library: &Library, name: &str) -> usize {
    let player = PlayerCondition { name: TextPattern::new(name), ..Default::default() };
    library.find_all(&Condition::Player(player)).expect("found").len()
}

#[test]
fn merges_change_headers_and_are_undone() {
    let games = [
        ("Carlsen, M", "Anand, V"),
        ("Anand, V", "Carlsen, M"),
        ("Carlsen, Magnus", "Anand, V"),
        ("Magnus Carlsen", "Carlsen, M"),
    ];
    let (dir, library) = library(&games);
    let names = |library: &Library, id: u32| {
        let record = library.game(id).expect("read").expect("a game").record().expect("a record");
        Side::BOTH.map(|side| record.player(side).unwrap_or_default().to_owned())
    };
    let before: Vec<_> = (1..=4).map(|id| names(&library, id)).collect();
    let from = vec!["Carlsen, M".to_owned(), "Magnus Carlsen".to_owned(), "Missing".to_owned()];
    let merged = library.merge_names(NameKind::Player, from, "Carlsen, Magnus".to_owned(), 5);
    let (merge, changed) = merged.expect("merged").expect("games have them");
    assert_eq!(changed, 3);
    assert_eq!(names(&library, 2), ["Anand, V", "Carlsen, Magnus"]);
    assert_eq!(names(&library, 4), ["Carlsen, Magnus", "Carlsen, Magnus"]);
    // Searches know it immediately.
    assert_eq!((count(&library, "carlsen, magnus"), count(&library, "magnus carlsen")), (4, 4));
    let counts = library.names(NameKind::Player).expect("read");
    let counts: Vec<_> = counts.iter().map(|it| (it.name.as_str(), it.games)).collect();
    assert_eq!(counts, [("Anand, V", 3), ("Carlsen, Magnus", 4)]);
    let log = library.name_merges().expect("read");
    assert_eq!((log[0].merge, log[0].at_ms, log[0].games, log[0].from.len()), (merge, 5, 4, 2));
    // A game that has got another name since keeps it.
    let mut new = library.game(1).expect("read").expect("a game");
    new.game.players[0] = "Another".to_owned();
    library.replace(1, new.game).expect("replaced");
    drop(library);
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    assert_eq!(library.undo_name_merge(merge).expect("undone"), Some(2));
    assert_eq!(library.undo_name_merge(merge).expect("nothing"), None);
    assert_eq!(names(&library, 1), ["Another", "Anand, V"]);
    for id in 2..=4 {
        assert_eq!(names(&library, id), before[id as usize - 1]);
    }
    let found =
        readyok_library::examine(&dir.path().join("library.sqlite"), |_| ControlFlow::Continue(()));
    assert_eq!(found.expect("examined").defects, []);
    assert_eq!(
        library
            .merge_names(NameKind::Player, vec!["X".to_owned()], "Y".to_owned(), 0)
            .expect("nothing"),
        None
    );
}

#[test]
fn events_and_sites_are_merged() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    let library = Library::open(&path).expect("it opens");
    let game = |event: &str, site: &str| {
        format!(
            "[Event \"{event}\"]\n[Site \"{site}\"]\n[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 *\n\n"
        )
    };
    import(
        &library,
        &[game("Candidates", "Zurich"), game("Candidates Tournament", "Zürich")].concat(),
    );
    let one = |kind, from: &str, to: &str| {
        let merged = library.merge_names(kind, vec![from.to_owned()], to.to_owned(), 0);
        merged.expect("merged").expect("a game")
    };
    let event = one(NameKind::Event, "Candidates Tournament", "Candidates");
    let site = one(NameKind::Site, "Zurich", "Zürich");
    assert_eq!((event.1, site.1), (1, 1));
    let headers = |id| {
        let record = library.game(id).expect("read").expect("a game").record().expect("a record");
        [Tag::Event, Tag::Site].map(|tag| record.header(tag).unwrap_or_default().to_owned())
    };
    assert_eq!(
        (headers(1), headers(2)),
        (["Candidates", "Zürich"].map(str::to_owned), ["Candidates", "Zürich"].map(str::to_owned))
    );
    // The short games are equal now.
    assert_eq!(library.duplicates().expect("found").len(), 1);
    library.undo_name_merge(event.0).expect("undone");
    library.undo_name_merge(site.0).expect("undone");
    assert_eq!(headers(2)[0], "Candidates Tournament");
    assert_eq!(headers(1)[1], "Zurich");
    assert_eq!(library.duplicates().expect("found"), []);
    library.flush(false).expect("flushed");
    let found = readyok_library::examine(&path, |_| ControlFlow::Continue(())).expect("examined");
    assert_eq!(found.defects, []);
}

#[test]
fn a_spelling_file_corrects_names() {
    let file = SpellingFile::parse(
        b"# A comment\n@PLAYER\n%Prefix \"x\" \"y\"\n\
          Carlsen, Magnus        #gm NOR [2882] 1990.11.30\n=Carlsen, M\n= Magnus C\n%Bio a player\n\
          M\xfcller, Karsten #gm GER\n=Mueller, K\n=Smith, J\n\
          Smith, John\n=Smith, J\n@SITE\nZurich\n=Zuerich\n@ROUND\n1\n=one\n",
    );
    assert_eq!(file.counts(), (4, 6));
    let (_dir, library) = library(&[
        ("carlsen m.", "Mueller, K."),
        ("Smith, J", "Magnus C"),
        ("Carlsen, Magnus", "Zuerich"),
    ]);
    let proposals = library.propose_spelling(&file, NameKind::Player).expect("proposed");
    let reason = ProposalReason::SpellingFile;
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        simple(proposals),
        [
            ("Carlsen, Magnus".to_owned(), names(&["Magnus C", "carlsen m."]), reason),
            ("Müller, Karsten".to_owned(), names(&["Mueller, K."]), reason),
        ]
    );
}
