//! Move numbers have the same meaning for the rules and for the boards of the tuner.

use narikin::network::Features;
use narikin_train::games::{Chess, GameKind, Shogi, TrainGame, number};
use readyok_rules::{FenForm, Move, Position};

/// Plays random games on both boards and compares them. `text` is the FEN or SFEN of the tuner's board,
/// whose en passant square can be one where no capture is possible.
fn check<G: TrainGame>(starts: impl IntoIterator<Item = u16>, text: impl Fn(&G::Board) -> String) {
    let mut rng = fastrand::Rng::with_seed(1);
    for start in starts {
        let mut position = G::KIND.start(start).expect("a start");
        let mut board = G::start(start).expect("a start");
        for _ in 0..120 {
            assert_eq!(fields(&text(&board)), fields(&position.text(FenForm::Shredder)));
            assert_eq!(Features::turn(&board), position.turn());
            assert_eq!(G::in_check(&board), position.in_check());
            let legal = position.legal_moves();
            let numbers: Vec<u16> = legal.iter().filter_map(|&mv| number(mv)).collect();
            assert_eq!(numbers.len(), legal.len());
            for (&mv, &number) in legal.iter().zip(&numbers) {
                assert_eq!(G::is_quiet(&board, number), is_quiet(&position, mv), "{mv:?}");
            }
            let illegal = rng.u16(..);
            if !numbers.contains(&illegal) {
                assert!(!G::play(&mut board, illegal), "{illegal} in {position}");
            }
            let Some((&mv, &number)) = rng.choice(legal.iter().zip(&numbers)) else { break };
            position.play(mv).expect("a legal move");
            assert!(G::play(&mut board, number), "{mv:?}");
        }
    }
}

/// The fields of a FEN without the en passant square.
fn fields(text: &str) -> Vec<&str> {
    let is_chess = text.split(' ').count() == 6;
    let fields = text.split(' ').enumerate();
    fields.filter(|&(index, _)| !(is_chess && index == 3)).map(|(_, field)| field).collect()
}

fn is_quiet(position: &Position, mv: Move) -> bool {
    match mv {
        Move::Chess(mv) => !mv.is_capture() && !mv.is_promotion(),
        Move::Shogi(mv) => {
            let setup = position.setup();
            let to = mv.to_usi();
            let pieces = setup.pieces().count();
            let mut after = position.clone();
            after.play(Move::Shogi(mv)).expect("a legal move");
            let kept = after.setup().pieces().count() >= pieces;
            kept && !to.ends_with('+')
        }
    }
}

#[test]
fn boards_of_chess_agree() {
    check::<Chess>((0..960).step_by(24).chain([518; 20]), |board| format!("{board:#}"));
}

#[test]
fn boards_of_shogi_agree() {
    check::<Shogi>([0; 6], |board| board.to_sfen(None));
}

#[test]
fn start_positions_agree() {
    for start in 0..GameKind::Chess.starts() {
        let position = GameKind::Chess.start(start).expect("a start");
        let board = Chess::start(start).expect("a start");
        assert_eq!(format!("{board:#}"), position.text(FenForm::Shredder));
    }
    assert!(Chess::start(960).is_none() && GameKind::Chess.start(960).is_none());
    assert!(Shogi::start(1).is_none() && GameKind::Shogi.start(1).is_none());
}
