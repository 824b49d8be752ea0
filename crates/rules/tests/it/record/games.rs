//! Random games with all kinds of annotations.

use std::time::Duration;

use proptest::prelude::*;
use readyok_protocol::Score;
use readyok_rules::record::{Annotations, Evaluation, GameRecord, Mark, MarkColor, Nag, NodeId};
use readyok_rules::{Game, Position, Side, Square};
use readyok_rules::{GameResult, Termination};

/// A plan for a random game.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// For each move: its parent, counted back from the last node, the index of the legal move, and the
    /// annotations.
    pub(super) moves: Vec<(u8, u16, Annotations)>,
    pub(super) root: Annotations,
    pub(super) result: GameResult,
}

/// A random plan with annotations of a strategy.
pub(super) fn plan(
    notes: impl Strategy<Value = Annotations> + Clone,
    moves: std::ops::Range<usize>,
) -> impl Strategy<Value = Plan> {
    let back = prop_oneof![6 => Just(0_u8), 1 => 1..12_u8];
    let result = prop_oneof![
        Just(GameResult::Unknown),
        Just(GameResult::Draw),
        Just(GameResult::Win(Side::First)),
        Just(GameResult::Win(Side::Second)),
    ];
    (prop::collection::vec((back, any::<u16>(), notes.clone()), moves), notes, result)
        .prop_map(|(moves, root, result)| Plan { moves, root, result })
}

/// The game of a plan. Only moves that begin a variation have comments before them.
pub(super) fn build(start: &Position, plan: Plan) -> GameRecord {
    let mut record = GameRecord::new(start.clone());
    let mut nodes = vec![NodeId::ROOT];
    for (back, choice, mut notes) in plan.moves {
        let parent = nodes[nodes.len().saturating_sub(1 + usize::from(back))];
        let position = record.position_after(parent).expect("it is there");
        let moves = position.legal_moves();
        if moves.is_empty() {
            continue;
        }
        let mv = moves[usize::from(choice) % moves.len()];
        let first = record.next(parent).is_none();
        let before = record.len();
        let id = record.add(parent, mv).expect("it is legal");
        if record.len() == before {
            continue;
        }
        if first {
            notes.before.clear();
        }
        countable(start.game(), position.turn().other(), &mut notes);
        *record.annotations_mut(id).expect("it is there") = notes;
        nodes.push(id);
    }
    let mut root = Annotations { before: Vec::new(), nags: Vec::new(), ..plan.root };
    countable(start.game(), start.turn(), &mut root);
    *record.annotations_mut(NodeId::ROOT).expect("it is there") = root;
    record.result = plan.result;
    record
}

/// PGN counts the moves of a mate: plies are a multiple of two, minus one if the winner is to move.
fn countable(game: Game, turn: Side, notes: &mut Annotations) {
    let Some(evaluation) = notes.evaluation.as_mut().filter(|_| game != Game::Shogi) else {
        return;
    };
    if let Some(plies) = evaluation.score.mate_plies() {
        let mating = evaluation.score.is_mating();
        let adjustment = u32::from(mating == (turn == Side::First));
        let plies = (plies.div_ceil(2) * 2).saturating_sub(adjustment);
        evaluation.score = Score::mate(mating, Some(plies));
    }
}

/// A line of text as in comments and headers, without leading and trailing blanks.
pub(super) fn text() -> impl Strategy<Value = String> + Clone {
    "[a-zA-Z0-9 ,.:!?()/\\\\\"'äß王飛%*#;\\[\\]+-]{1,30}"
        .prop_map(|text| text.trim().to_owned())
        .prop_filter("not empty", |text| !text.is_empty())
        // PGN readers take such a comment for the evaluation and the time of a match runner.
        .prop_filter("not `+0.13/12 0.29s`", |text| {
            !text.ends_with('s') || text.chars().any(|letter| !"0123456789.,/+- s".contains(letter))
        })
}

/// A comment of one line or several.
pub(super) fn comment() -> impl Strategy<Value = String> + Clone {
    prop::collection::vec(text(), 1..3).prop_map(|lines| lines.join("\n"))
}

fn duration() -> impl Strategy<Value = Duration> + Clone {
    prop_oneof![
        (0..400_000_u64).prop_map(Duration::from_secs),
        (0..40_000_000_u64).prop_map(Duration::from_millis),
    ]
}

pub(super) fn evaluation() -> impl Strategy<Value = Evaluation> + Clone {
    let score = prop_oneof![
        (-40_000..40_000).prop_map(Score::Cp),
        (any::<bool>(), 0..200_u32).prop_map(|(mating, plies)| Score::mate(mating, Some(plies))),
    ];
    (score, prop::option::of(0..200_u32)).prop_map(|(score, depth)| Evaluation { score, depth })
}

fn marks() -> impl Strategy<Value = Vec<Mark>> + Clone {
    let color = prop_oneof![
        Just(MarkColor::Green),
        Just(MarkColor::Red),
        Just(MarkColor::Yellow),
        Just(MarkColor::Blue),
    ];
    let squares: Vec<Square> = Square::all(Game::Chess).collect();
    let square = prop::sample::select(squares);
    let mark = (color, square.clone(), prop::option::of(square))
        .prop_map(|(color, from, to)| Mark { color, from, to });
    prop::collection::vec(mark, 0..4).prop_map(|mut marks| {
        marks.sort_by_key(|mark| mark.to.is_some());
        marks
    })
}

/// All annotations that PGN supports. Its comments have no line breaks.
pub(super) fn pgn_notes() -> impl Strategy<Value = Annotations> + Clone {
    let notes = (
        prop::collection::vec(text(), 0..3),
        prop::collection::vec(text(), 0..3),
        prop::collection::vec(any::<u8>().prop_map(Nag), 0..3),
        prop::option::of(duration()),
        prop::option::of(duration()),
        prop::option::of(evaluation()),
        marks(),
    );
    let full = notes.prop_map(|(before, comments, nags, clock, elapsed, evaluation, marks)| {
        Annotations { before, comments, nags, clock, elapsed, evaluation, marks, end: None }
    });
    prop_oneof![3 => Just(Annotations::default()), 2 => full]
}

/// Start positions of chess.
pub(super) fn chess_start() -> impl Strategy<Value = Position> + Clone {
    prop::sample::select(vec![
        Position::start(Game::Chess),
        Position::start(Game::Chess960),
        super::super::position(
            Game::Chess,
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 7",
        ),
        super::super::position(
            Game::Chess960,
            "1rkr1b2/ppp1pppp/8/3pP3/8/8/PPPP1PPP/1RKR1B2 w KQkq d6 0 9",
        ),
        super::super::position(Game::Chess, "8/P3k3/8/8/8/8/4p2K/8 w - - 0 1"),
    ])
}

/// Whole seconds, which all formats support.
fn seconds() -> impl Strategy<Value = Duration> + Clone {
    (0..400_000_u64).prop_map(Duration::from_secs)
}

/// All annotations that KIF and JKF support. CSA has times in milliseconds.
pub(super) fn shogi_notes(
    time: impl Strategy<Value = Duration> + Clone,
) -> impl Strategy<Value = Annotations> + Clone {
    let comments = prop::collection::vec(comment(), 0..2);
    let notes = (comments, prop::option::of(time), prop::option::of(evaluation()));
    let full = notes.prop_map(|(comments, elapsed, evaluation)| Annotations {
        comments,
        elapsed,
        evaluation,
        ..Annotations::default()
    });
    prop_oneof![2 => Just(Annotations::default()), 3 => full]
}

pub(super) fn whole_seconds() -> impl Strategy<Value = Annotations> + Clone {
    shogi_notes(seconds())
}

pub(super) fn milliseconds() -> impl Strategy<Value = Annotations> + Clone {
    shogi_notes(duration())
}

/// Start positions of shogi.
pub(super) fn shogi_start() -> impl Strategy<Value = Position> + Clone {
    let texts = [
        "",
        // The handicaps lance and six pieces, and other positions.
        "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 34",
        "ln1g3nl/1r1sk1gs1/p2ppp2p/2p3pp1/1p2S4/2P3PP1/PPSPPP2P/2G1K2R1/LN1G3NL w Bb 25",
        "3+P+l+n+s2/9/k8/9/9/9/9/9/K1G2+R1+B1 b 2Pp 1",
    ];
    prop::sample::select(texts.map(|text| super::super::position(Game::Shogi, text)).to_vec())
}

/// Ends that have a name in all formats of shogi.
pub(super) fn end() -> impl Strategy<Value = Option<Termination>> + Clone {
    prop::option::of(prop::sample::select(vec![
        Termination::Resignation,
        Termination::Checkmate,
        Termination::Repetition,
        Termination::Impasse,
        Termination::Declaration,
        Termination::TimeForfeit,
        Termination::IllegalMove,
        Termination::DrawAgreement,
        Termination::MoveLimit,
        Termination::Aborted,
        Termination::NoMate,
        Termination::TakeBack,
        Termination::Error,
    ]))
}
