//! The effects of options.

use readyok_engine::Dialect;
use readyok_engine::protocol::translation::{Problem, Translation};

use crate::client::Client;

fn declared(hello: &str) -> Vec<String> {
    let lines = Client::handshake(hello).receive_until(&format!("{hello}ok"));
    let names = lines.iter().filter_map(|line| line.strip_prefix("option name "));
    names.filter_map(|line| Some(line.split_once(" type ")?.0.to_owned())).collect()
}

#[test]
fn each_protocol_declares_the_options_of_its_games() {
    let (uci, usi) = (declared("uci"), declared("usi"));
    let names = "Hash, Clear Hash, Threads, MultiPV, Ponder, Move Overhead, OwnBook, Book File, Book Depth, \
         Best Book Move, EvalFile, Contempt, UCI_Opponent, UCI_SetPositionValue, UCI_LimitStrength, \
         UCI_Elo, UCI_AnalyseMode, UCI_ShowWDL, UCI_ShowCurrLine, UCI_ShowRefutations, UCI_Chess960, \
         UCI_Variant, UCI_EngineAbout, Debug Log File";
    for name in names.split(", ") {
        assert!(uci.iter().any(|other| other == name), "{name} in {uci:?}");
    }
    let names = "USI_Hash, Clear_Hash, Threads, MultiPV, USI_Ponder, Move_Overhead, USI_OwnBook, Book_File, \
         Book_Depth, Best_Book_Move, EvalFile, USI_LimitStrength, USI_Strength, USI_AnalyseMode, \
         USI_ShowCurrLine, USI_ShowRefutations, EnteringKingRule, MaxMovesToDraw, Contempt, ResignValue, \
         RoundUpToFullSecond, Debug_Log_File";
    for name in names.split(", ") {
        assert!(usi.iter().any(|other| other == name), "{name} in {usi:?}");
    }
    for token in ["960", "Variant", "Elo", "Syzygy", "UCI"] {
        assert!(!usi.iter().any(|name| name.contains(token)), "{token} in {usi:?}");
    }
    for token in ["Entering", "Resign", "MaxMoves", "RoundUp", "USI"] {
        assert!(!uci.iter().any(|name| name.contains(token)), "{token} in {uci:?}");
    }
}

/// Shogi GUIs support one name or the other, and store a value for each declared option.
#[test]
fn both_names_of_the_number_of_lines_set_one_option_in_usi() {
    let usi = declared("usi");
    assert_eq!(usi.iter().filter(|name| name.contains("MultiPV")).count(), 1, "{usi:?}");
    let mut client = Client::with("usi", &[]);
    for (name, lines) in [("USI_MultiPV", 3), ("MultiPV", 2), ("USI_MultiPV", 4)] {
        client.send(&format!("setoption name {name} value {lines}"));
        assert!(client.remarks().is_empty());
        let received = client.ask("position startpos\ngo depth 1");
        let ranks = values(&received, "multipv").len();
        assert_eq!(ranks, lines, "{name}: {received:#?}");
    }
}

#[test]
fn a_failed_hash_allocation_is_reported_once_and_ignored() {
    let mut client = Client::with("uci", &["Hash value 33554432"]);
    assert_eq!(client.remarks(), ["not enough memory for 33554432 MB of hash, keeping 16 MB"]);
    assert!(client.remarks().is_empty());
    assert_ne!(client.best("position startpos\ngo depth 2"), "(none)");
    client.send("setoption name Hash value 1\nsetoption name Clear Hash");
    assert!(client.remarks().is_empty());
    client.send("setoption name Hash value 33554432");
    assert_eq!(client.remarks(), ["not enough memory for 33554432 MB of hash, keeping 1 MB"]);
    assert_ne!(client.best("go depth 2"), "(none)");
}

#[test]
fn a_mate_search_respects_the_hash_size() {
    let mut client = Client::with("usi", &["USI_Hash value 33554432"]);
    client.send("position sfen 4k4/9/4P4/9/9/9/9/9/9 b G 1\ngo mate infinite");
    let received = client.receive_until("checkmate");
    let remark = "info string not enough memory for 33554432 MB of hash, keeping 16 MB";
    assert_eq!(received.first().map(String::as_str), Some(remark), "{received:#?}");
    assert_eq!(received.last().map(String::as_str), Some("checkmate G*5b"));
}

#[test]
fn clearing_the_hash_table_removes_results() {
    let mut client = Client::with("uci", &["Hash value 4"]);
    let nodes = |received: &[String]| -> u64 {
        let last = received.iter().rev().find_map(|line| line.split_once(" nodes "));
        last.and_then(|(_, rest)| rest.split(' ').next()?.parse().ok()).expect("nodes")
    };
    let first = nodes(&client.ask("position startpos\ngo depth 8"));
    let again = nodes(&client.ask("go depth 8"));
    client.send("setoption name Clear Hash");
    let cleared = nodes(&client.ask("go depth 8"));
    assert!(again < first, "{again} and {first}");
    assert_eq!(cleared, first);
}

#[test]
fn reports_wdl_on_request() {
    let wdl = |received: Vec<String>| received.iter().any(|line| line.contains(" wdl "));
    let mut client = Client::with("uci", &[]);
    assert!(!wdl(client.ask("position startpos\ngo depth 1")));
    client.send("setoption name UCI_ShowWDL value true");
    assert!(wdl(client.ask("go depth 1")));
}

/// The values of a field in the search output.
fn values<'a>(received: &'a [String], key: &str) -> Vec<&'a str> {
    let key = format!(" {key} ");
    received.iter().filter_map(|line| line.split_once(&key)?.1.split(' ').next()).collect()
}

#[test]
fn a_search_reports_depth_nodes_and_hash_usage() {
    for hello in ["uci", "usi"] {
        let received = Client::with(hello, &[]).ask("position startpos\ngo nodes 60000");
        for key in ["depth", "seldepth", "nodes", "nps", "hashfull", "time"] {
            assert!(!values(&received, key).is_empty(), "{key} in {received:#?}");
        }
        #[cfg(unix)]
        assert!(
            values(&received, "cpuload")
                .iter()
                .any(|value| value.parse().is_ok_and(|load: u32| load > 0)),
            "{received:#?}"
        );
        // A single line is numbered, too, as programs for Stockfish expect.
        assert!(values(&received, "multipv").iter().all(|rank| *rank == "1"), "{received:#?}");
        assert!(!values(&received, "multipv").is_empty(), "{received:#?}");
    }
}

#[test]
fn reports_currmove_after_a_second() {
    let mut client = Client::with("uci", &[]);
    client.send("position startpos\ngo infinite");
    let received = client.receive_up_to(|line| line.contains(" currmove "));
    assert_eq!(values(&received, "currmovenumber").len(), 1);
    client.ask("stop");
}

#[test]
fn limited_strength_searches_less_and_varies_moves() {
    for (hello, weakest) in [("uci", "UCI_Elo value 800"), ("usi", "USI_Strength value -15")] {
        let limit = format!("{}_LimitStrength value true", hello.to_uppercase());
        let mut client = Client::with(hello, &[&limit, weakest]);
        let mut moves = Vec::new();
        for _ in 0..12 {
            let new_game = format!("{hello}newgame");
            let received = client.ask(&format!("{new_game}\nposition startpos\ngo movetime 60000"));
            let nodes =
                values(&received, "nodes").iter().filter_map(|value| value.parse().ok()).max();
            assert!(nodes.is_none_or(|nodes: u64| nodes < 5_000), "{received:#?}");
            // Internal candidate lines are not reported.
            assert!(values(&received, "multipv").iter().all(|rank| *rank == "1"), "{received:#?}");
            moves.extend(received.last().cloned());
        }
        moves.sort();
        moves.dedup();
        assert!(moves.len() > 1, "each game is another one: {moves:?}");
        // Analysis and infinite searches have full strength.
        client.send(&format!("setoption name {}_AnalyseMode value true", hello.to_uppercase()));
        let received = client.ask("position startpos\ngo nodes 20000");
        let nodes = values(&received, "nodes").iter().filter_map(|value| value.parse().ok()).max();
        assert!(nodes.is_some_and(|nodes: u64| nodes > 10_000), "{received:#?}");
    }
}

#[test]
fn the_weakest_level_searches_every_legal_move() {
    let options = ["USI_LimitStrength value true", "USI_Strength value -15"];
    let mut client = Client::with("usi", &options);
    for sfen in [
        "lnsgk1snl/1r4gb1/p1pppp2p/6pR1/1p7/2P6/PP1PPPP1P/1BG6/LNS1KGSNL b Pp 1",
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 147",
    ] {
        let mut moves = Vec::new();
        for _ in 0..12 {
            let go = format!("usinewgame\nposition sfen {sfen}\ngo movetime 60000");
            let received = client.ask(&go);
            assert!(!values(&received, "depth").contains(&"0"), "{received:#?}");
            moves.extend(received.last().cloned());
        }
        moves.sort();
        moves.dedup();
        assert!(moves.len() > 1, "each game is another one: {moves:?}");
    }
}

#[test]
fn a_weak_level_still_mates_in_one() {
    let mut client = Client::with("uci", &["UCI_LimitStrength value true", "UCI_Elo value 800"]);
    for _ in 0..5 {
        let mate = "ucinewgame\nposition fen 6k1/5ppp/8/8/8/8/8/R6K w - - 0 1\ngo movetime 60000";
        assert_eq!(client.best(mate), "a1a8");
    }
}

#[test]
fn resigns_at_the_configured_score() {
    let lost = "position sfen 4k4/9/9/9/9/9/9/9/4K4 b 2r2b4g4s4n4l18p 1\ngo depth 1";
    let mut client = Client::with("usi", &[]);
    assert_ne!(client.best(lost), "resign");
    client.send("setoption name ResignValue value 2000");
    assert_eq!(client.best(lost), "resign");
    assert_ne!(client.best(&format!("{lost} searchmoves 5i5h")), "resign");
    assert_ne!(client.best("position startpos\ngo depth 2"), "resign");
    client.send("setoption name USI_AnalyseMode value true");
    assert_ne!(client.best(lost), "resign");
}

#[test]
fn declares_by_the_configured_entering_king_rule() {
    let entered = "K8/+R+R+B+B+P+P+P+P+P/+P+P+P+P5/9/9/9/9/9/4k4 b GGGGSSSSNNNNLLLL";
    let entered = format!("position sfen {entered}\ngo depth 1");
    let mut client = Client::with("usi", &[]);
    let received = client.ask(&entered);
    assert_eq!(received.last().map(String::as_str), Some("bestmove win"));
    assert_eq!(score(&received), Some(20_000), "{received:#?}");
    for (rule, wins) in [
        ("NoEnteringKing", false),
        ("CSARule24", true),
        ("CSARule24H", true),
        ("CSARule27", true),
        ("CSARule27H", true),
        ("TryRule", false),
    ] {
        client.send(&format!("setoption name EnteringKingRule value {rule}"));
        assert_eq!(client.best(&entered) == "win", wins, "{rule}");
    }
}

/// The second player gave a handicap of rook and bishop, and enters with 26 points.
#[test]
fn search_and_declaration_count_a_handicap_equally() {
    let before = "K8/9/9/9/9/7k1/9/2ssssggg/4g+b+r2 w 18P4n4l 1";
    let entered = "K8/9/9/9/9/9/7k1/2ssssggg/4g+b+r2 w 18P4n4l 1";
    let mut client = Client::with("usi", &[]);
    for (rule, wins) in
        [("CSARule24", false), ("CSARule24H", true), ("CSARule27", false), ("CSARule27H", true)]
    {
        client.send(&format!("usinewgame\nsetoption name EnteringKingRule value {rule}"));
        let best = client.best(&format!("position sfen {entered}\ngo depth 1"));
        assert_eq!(best == "win", wins, "{rule}");
        let search = format!("position sfen {before}\ngo depth 3 searchmoves 2f2g");
        let seen = score(&client.ask(&search));
        assert_eq!(seen.is_some_and(|score| score >= 19_000), wins, "{rule}: {seen:?}");
    }
}

#[test]
fn plays_for_the_try_rule() {
    let mut client = Client::with("usi", &["EnteringKingRule value TryRule"]);
    let near = "position sfen 9/3K5/9/9/9/9/9/9/4k4 b - 1\ngo depth 1";
    let received = client.ask(near);
    assert_eq!(received.last().map(String::as_str), Some("bestmove 6b5a"));
    assert_eq!((score(&received), values(&received, "pv")), (Some(20_000), vec!["6b5a"]));
    client.send("setoption name EnteringKingRule value NoEnteringKing");
    assert_ne!(client.best("position sfen 9/3K5/9/9/9/9/9/9/4k4 b R 1\ngo depth 1"), "win");
}

#[test]
fn the_translation_file_covers_the_options_of_both_protocols() {
    let file = Translation::read(narikin::TRANSLATION.as_bytes()).expect("a translation file");
    let runner = narikin::runner().expect("memory for the table");
    for dialect in Dialect::ALL {
        let others =
            runner.declared(if dialect == Dialect::Uci { Dialect::Usi } else { Dialect::Uci });
        // One file covers both protocols, so it also has options of the other.
        let is_other = |problem: &Problem| match problem {
            Problem::UnknownOption { option } => others.find(option).is_some(),
            _ => false,
        };
        let findings = file.lint(&runner.declared(dialect)).into_iter();
        let findings: Vec<_> = findings.filter(|finding| !is_other(&finding.problem)).collect();
        assert_eq!(findings, []);
        for language in ["en", "ja"] {
            let language = language.parse().expect("a language");
            let texts = file.lookup(dialect, &[language]);
            for decl in &runner.declared(dialect) {
                assert!(texts.help(&decl.name).is_some(), "{} has no help", decl.name);
            }
        }
    }
}

/// The last score, in centipawns.
fn score(received: &[String]) -> Option<i32> {
    values(received, "cp").last().and_then(|score| score.parse().ok())
}

#[test]
fn contempt_and_opponent_determine_the_draw_score() {
    let drawn = "position fen 8/8/8/8/8/8/8/K1k5 w - - 0 1\ngo depth 3";
    let mut client = Client::with("uci", &["Contempt value 40"]);
    assert_eq!(score(&client.ask(drawn)), Some(-40));
    client.send("setoption name UCI_Opponent value none 2300 human Smith");
    assert_eq!(score(&client.ask(drawn)), Some(-90));
    client.send("setoption name UCI_AnalyseMode value true");
    assert_eq!(score(&client.ask(drawn)), Some(0));
}

#[test]
fn shogi_is_drawn_at_the_move_limit() {
    let ahead =
        |number: u32| format!("position sfen 4k4/9/9/9/9/9/9/9/4K4 b 2R2B {number}\ngo depth 2");
    let mut client = Client::with("usi", &["MaxMovesToDraw value 100"]);
    assert_eq!(score(&client.ask(&ahead(100))), Some(0));
    assert!(score(&client.ask(&ahead(10))).is_none_or(|score| score > 1_000));
    client.send("setoption name MaxMovesToDraw value 0");
    assert!(score(&client.ask(&ahead(100))).is_none_or(|score| score > 1_000));
}

#[test]
fn position_values_apply_until_they_are_removed() {
    let after_a4 = "rnbqkbnr/pppppppp/8/8/P7/8/1PPPPPPP/RNBQKBNR b KQkq - 0 1";
    let mut client = Client::with("uci", &[]);
    let search = "position startpos\ngo depth 5";
    assert!(score(&client.ask(search)).is_some_and(|score| score < 200));
    client.send(&format!("setoption name UCI_SetPositionValue value 700 + {after_a4}"));
    assert!(client.remarks().is_empty());
    let taught = client.ask(search);
    assert_eq!(score(&taught), Some(700), "{taught:#?}");
    assert_eq!(taught.last().map(String::as_str), Some("bestmove a2a4"));
    client.send(&format!("setoption name UCI_SetPositionValue value clear + {after_a4}"));
    assert!(score(&client.ask(search)).is_some_and(|score| score < 200));
    client.send("setoption name UCI_SetPositionValue value much + 8/8/8/8/8/8/8/K1k5 w - - 0 1");
    let remarks = client.remarks();
    assert!(
        remarks.iter().any(|remark| remark.starts_with("invalid position value: `much`")),
        "{remarks:?}"
    );
}

#[test]
fn the_position_value_of_the_root_is_its_score() {
    let after_a4 = "rnbqkbnr/pppppppp/8/8/P7/8/1PPPPPPP/RNBQKBNR b KQkq - 0 1";
    let mut client = Client::with("uci", &["MultiPV value 3"]);
    client.send(&format!("setoption name UCI_SetPositionValue value 321 + {after_a4}"));
    let reported = |received: &[String]| -> Vec<i32> {
        let scores: Vec<i32> =
            values(received, "cp").iter().filter_map(|score| score.parse().ok()).collect();
        scores.get(scores.len() - 3..).expect("three lines").to_vec()
    };
    // The value is from White's view, and Black is to move.
    let here = format!("position fen {after_a4}");
    assert_eq!(reported(&client.ask(&format!("{here}\ngo depth 3"))), [-321; 3]);
    client.send(&format!("setoption name UCI_SetPositionValue value -900 + {after_a4}"));
    let lines = reported(&client.ask("go depth 3"));
    assert_eq!(lines.first(), Some(&900));
    assert!(lines.iter().skip(1).all(|score| score.abs() < 200), "{lines:?}");
    // The value does not apply to `searchmoves`, nor after its removal.
    let of_some = client.ask("go depth 3 searchmoves e7e5 d7d5 g8f6");
    assert!(reported(&of_some).iter().all(|score| score.abs() < 200), "{of_some:#?}");
    client.send(&format!("setoption name UCI_SetPositionValue value clear + {after_a4}"));
    let lines = reported(&client.ask("go depth 3"));
    assert!(lines.iter().all(|score| score.abs() < 200), "{lines:?}");
}

#[test]
fn position_values_apply_in_every_game_and_survive_a_new_one() {
    for (variant, fen) in [
        ("chess", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
        ("chess960", "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"),
        ("shogi", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL[-] w - - 0 1"),
    ] {
        let mut client = Client::with("uci", &[&format!("UCI_Variant value {variant}")]);
        client.send(&format!("setoption name UCI_SetPositionValue value 432 + {fen}"));
        let here = format!("position fen {fen}\ngo depth 2");
        assert_eq!(score(&client.ask(&here)), Some(432), "{variant}");
        assert_eq!(score(&client.ask(&format!("ucinewgame\n{here}"))), Some(432), "{variant}");
        client.send("setoption name UCI_SetPositionValue value clearall");
        assert_ne!(score(&client.ask(&here)), Some(432), "{variant}");
    }
}

#[test]
fn several_threads_search_together() {
    for hello in ["uci", "usi"] {
        let mut client = Client::with(hello, &["Threads value 4", "MultiPV value 2"]);
        let received = client.ask("position startpos\ngo depth 6");
        assert!(values(&received, "depth").contains(&"6"), "{received:#?}");
        client.ask("go nodes 20000");
        client.send("go infinite\nstop");
        client.receive_until("bestmove");
    }
}

/// With this number of threads, replies would be delayed by minutes.
#[test]
fn limits_threads_to_the_cpus_and_reports_it_once() {
    let useful = 4 * std::thread::available_parallelism().map_or(1, usize::from);
    if useful >= 1024 {
        return;
    }
    let mut client = Client::with("uci", &["Threads value 1024", "UCI_ShowCurrLine value true"]);
    let sent = client.remarks();
    let expected = format!("using {useful} threads instead of 1024");
    assert!(sent.iter().any(|line| line.starts_with(&expected)), "{sent:?}");
    assert!(client.remarks().is_empty());
    client.send("position startpos\ngo infinite");
    let last = format!(" currline {useful} ");
    client.receive_up_to(|line| line.contains(&last));
    let received = client.ask("stop");
    assert!(!received.iter().any(|line| line.contains("threads search")), "{received:#?}");
    client.send(&format!("setoption name Threads value {useful}"));
    assert!(client.remarks().is_empty());
}

#[test]
fn reports_currline_and_refutations_on_request() {
    let options = ["UCI_ShowCurrLine value true", "UCI_ShowRefutations value true"];
    let mut client = Client::with("uci", &options);
    client.send("position startpos\ngo infinite");
    client.receive_up_to(|line| line.contains(" currline "));
    // UCI: without a known refutation, the engine sends the move alone.
    client.receive_up_to(|line| {
        line.split_once(" refutation ").is_some_and(|(_, moves)| moves.contains(' '))
    });
    client.ask("stop");
}

#[test]
fn reports_the_refutation_of_a_former_best_move() {
    let mut client = Client::with("uci", &["UCI_ShowRefutations value true"]);
    client.send("position startpos\ngo infinite");
    let first_after = |line: &str, token: &str| {
        let (_, rest) = line.split_once(token)?;
        rest.split(' ').next().map(str::to_owned)
    };
    let mut received = Vec::new();
    let reported = (0..400).any(|_| {
        received.extend(client.receive_up_to(|line| line.contains(" refutation ")));
        let refuted = received.last().and_then(|line| first_after(line, " refutation "));
        received.iter().any(|line| first_after(line, " pv ") == refuted)
    });
    assert!(reported, "no former best move among the refuted: {received:#?}");
    client.ask("stop");
}

#[test]
fn the_lines_of_all_threads_are_reported_together() {
    let mut client = Client::with("uci", &["UCI_ShowCurrLine value true", "Threads value 3"]);
    client.send("position startpos\ngo infinite");
    // A thread without CPU time may be missing.
    let complete = (0..20).any(|_| {
        let received = client.receive_up_to(|line| line.contains(" currline 3 "));
        values(&received, "currline").ends_with(&["1", "2", "3"])
    });
    assert!(complete);
    client.ask("stop");
}
