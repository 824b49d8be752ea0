//! What writers report that a format cannot hold.

use std::time::Duration;

use readyok_protocol::Score;
use readyok_rules::record::{
    self, Evaluation, Feature, Format, GameRecord, Loss, Nag, NodeId, RecordMove,
};
use readyok_rules::{Game, Position, Side, Termination};

/// A game of shogi with content of every kind.
fn annotated() -> GameRecord {
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    record.set_player(Side::First, "A");
    let mv = |position: &Position, text: &str| position.parse_move(text).expect("legal");
    let start = record.start().clone();
    record.play(mv(&start, "7g7f")).expect("legal");
    record.add(NodeId::ROOT, mv(&start, "2g2f")).expect("legal");
    let notes = record.annotations_mut(record.last()).expect("a node");
    notes.comments.push("comment".to_owned());
    notes.nags.push(Nag(1));
    notes.clock = Some(Duration::from_mins(1));
    notes.elapsed = Some(Duration::from_millis(1500));
    notes.evaluation = Some(Evaluation { score: Score::Cp(30), depth: None });
    record.finish(Termination::Resignation);
    record
}

#[track_caller]
fn losses(record: &GameRecord, format: Format) -> Vec<String> {
    let losses = record::write(record, format, &mut Vec::new()).expect("written");
    losses.iter().map(|loss| loss.to_string()).collect()
}

/// The limitations that the modules of the formats document.
#[test]
fn writers_report_what_a_format_cannot_hold() {
    let record = annotated();
    let kif = ["glyphs", "remaining times", "fractions of seconds"];
    assert_eq!(losses(&record, Format::KIF), kif);
    assert_eq!(losses(&record, Format::JKF), kif);
    assert_eq!(losses(&record, Format::KI2), ["glyphs", "times"]);
    assert_eq!(losses(&record, Format::CSA), ["variations", "glyphs", "remaining times"]);
    let usi = ["variations", "comments", "glyphs", "evaluations", "times", "headers", "results"];
    assert_eq!(losses(&record, Format::USI), usi);
    let plain = GameRecord::new(Position::start(Game::Shogi));
    for format in [Format::KIF, Format::KI2, Format::CSA, Format::JKF, Format::USI] {
        assert!(losses(&plain, format).is_empty(), "{format}");
    }
}

#[test]
fn pgn_holds_annotations_of_every_kind() {
    let pgn = "1. e4 $1 { [%clk 0:01:00.5] [%emt 0:00:01] [%cal Ge2e4] [%eval 0.3] best } ( { or } 1. d4 ) 1... -- *";
    let record = record::read(pgn.as_bytes(), Format::PGN).next().expect("a game").expect("read");
    for feature in Feature::ALL {
        assert!(feature.is_in(&record), "{feature:?}");
    }
    assert!(losses(&record, Format::PGN).is_empty());
    let losses = record::write(&record, Format::UCI, &mut Vec::new()).expect("written");
    assert!(losses.contains(Loss::Moves), "a null move: {losses:?}");
}

/// The formats of shogi end a line before a null move.
#[test]
fn null_moves_of_the_main_line_are_lost_moves() {
    let mut record = annotated();
    record.play(RecordMove::Null).expect("it passes");
    for format in [Format::KIF, Format::KI2, Format::CSA, Format::JKF, Format::USI] {
        assert!(losses(&record, format).contains(&"moves".to_owned()), "{format}");
    }
}
