//! Games over UCI: chess, Chess960, and shogi in the notation of Fairy-Stockfish.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write, stderr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use readyok_rules::{Game, Position, fairy};

use crate::client::Client;

#[test]
fn uci_variant_selects_the_game() {
    let castle = "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 1 searchmoves e1g1";
    let mut client = Client::with("uci", &[]);
    assert_eq!(client.best(castle), "e1g1");
    client.send("setoption name UCI_Variant value chess960");
    assert_eq!(client.best(castle), "e1h1");
    client.send("setoption name UCI_Variant value chess");
    assert_eq!(client.best(castle), "e1g1");
    client.send("setoption name UCI_Chess960 value true");
    assert_eq!(client.best(castle), "e1h1");
}

#[test]
fn plays_shogi_over_uci() {
    let mut client = Client::with("uci", &["UCI_Variant value shogi"]);
    let received = client.ask("position startpos moves c3c4 g7g6\ngo depth 2 searchmoves b2h8+");
    assert_eq!(received.last().map(|line| line.split(' ').nth(1)), Some(Some("b2h8+")));
    assert!(received.iter().any(|line| line.contains(" pv b2h8+ ")), "{received:#?}");
    let drop = "4k4/9/4P4/9/9/9/9/9/4K4[G] w - - 0 1";
    assert_eq!(client.best(&format!("position fen {drop}\ngo depth 3")), "G@e8");
    assert_eq!(client.best(&format!("position fen {drop} moves G@e8\ngo depth 3")), "(none)");
    let short = drop.replace(" - -", "");
    assert_eq!(client.best(&format!("position fen {short}\ngo depth 3")), "G@e8");
    let sfen = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
    assert_eq!(client.best(&format!("position sfen {sfen}\ngo depth 3")), "G@e8");
    // UCI has no token for a declaration.
    let entered = "K8/+R+R+B+B+P+P+P+P+P/+P+P+P+P5/9/9/9/9/9/4k4[GGGGSSSSNNNNLLLL] w - - 0 1";
    let best = client.best(&format!("position fen {entered}\ngo depth 1"));
    assert!(best != "win" && best != "(none)", "{best}");
}

#[test]
fn rejects_positions_of_the_other_game() {
    let mut client = Client::with("uci", &["UCI_Variant value shogi"]);
    assert_eq!(client.best("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 1"), "(none)");
    client.send("setoption name UCI_Variant value chess");
    assert_eq!(
        client.best("position fen 4k4/9/9/9/9/9/9/9/4K4[G] w - - 0 1\ngo depth 1"),
        "(none)"
    );
    assert_ne!(client.best("position startpos\ngo depth 1"), "(none)");
}

/// Positions with drops, forced, optional and impossible promotions, pins and checks.
const POSITIONS: [&str; 8] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "lnsgk1snl/1r4gb1/p1pppp2p/6pR1/1p7/2P6/PP1PPPP1P/1BG6/LNS1KGSNL b Pp 1",
    "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124",
    "4k4/9/4P4/9/9/9/9/9/4K4 b G 1",
    "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 147",
    "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "4k4/4r4/9/9/9/9/4B4/9/4K4 b 2P 1",
];

/// Compares the moves in UCI notation with Fairy-Stockfish.
#[test]
fn fairy_stockfish_has_the_same_moves_and_notation() {
    if env::var_os("READYOK_REAL_ENGINES").is_none() {
        let text = "not tested: fairy-stockfish, which needs READYOK_REAL_ENGINES=1\n";
        stderr().write_all(text.as_bytes()).expect("standard error is open");
        return;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut directories = env::split_paths(&path).chain([PathBuf::from("/usr/games")]);
    let program = directories.find_map(|directory| {
        Some(directory.join("fairy-stockfish")).filter(|path| path.is_file())
    });
    let mut child = Command::new(program.expect("fairy-stockfish is installed"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("its input");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    input.write_all(b"uci\nsetoption name UCI_Variant value shogi\n").expect("it listens");
    for sfen in POSITIONS {
        let position = Position::from_text(Game::Shogi, sfen).expect(sfen);
        let fen = fairy::sfen_to_fen(&position.to_string()).expect(sfen);
        let tokens = position
            .legal_moves()
            .into_iter()
            .map(|mv| fairy::usi_to_uci(&mv.to_uci(Game::Shogi.castling_form())).expect("a move"));
        let ours: BTreeSet<String> = tokens.collect();
        let back = Position::from_text(Game::Shogi, &fairy::fen_to_sfen(&fen).expect(sfen));
        assert_eq!(back.expect(sfen).key(), position.key(), "{sfen}");
        writeln!(input, "position fen {fen}\ngo perft 1").expect("it listens");
        let mut theirs = BTreeSet::new();
        for line in lines.by_ref() {
            let line = line.expect("text");
            if line.starts_with("Nodes searched") {
                break;
            }
            if let Some((token, "1")) = line.split_once(": ") {
                theirs.insert(token.to_owned());
            }
        }
        assert_eq!(ours, theirs, "{sfen}");
    }
    input.write_all(b"quit\n").expect("it listens");
    assert!(child.wait().expect("it ends").success());
}
