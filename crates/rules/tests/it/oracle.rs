//! Compares move generation of shogi with another, slower generator: `shogi_legality_lite`.

use readyok_rules::{
    CastlingForm, Game, IllegalReason, Move, Piece, PieceKind, Position, Setup, Side, Square,
};
use shogi_core::{PartialPosition, PieceKind as ReferenceKind, ToUsi};
use shogi_legality_lite::all_legal_moves_partial;

use crate::{hostile::Rng, position};

/// Converts a position for the other generator.
fn converted(setup: &Setup) -> PartialPosition {
    let mut other = PartialPosition::empty();
    for (square, piece) in setup.pieces() {
        other.piece_set(their_square(square), Some(their_piece(piece)));
    }
    for side in Side::BOTH {
        let hand = other.hand_of_a_player_mut(color(side));
        for kind in PieceKind::IN_HAND {
            for _ in 0..setup.hand(side, kind) {
                *hand = hand.added(their_kind(kind)).expect("a piece for the hand");
            }
        }
    }
    other.side_to_move_set(color(setup.turn()));
    other
}

fn color(side: Side) -> shogi_core::Color {
    match side {
        Side::First => shogi_core::Color::Black,
        Side::Second => shogi_core::Color::White,
    }
}

fn their_square(square: Square) -> shogi_core::Square {
    shogi_core::Square::new(9 - square.column(), square.row() + 1).expect("a square")
}

fn their_piece(piece: Piece) -> shogi_core::Piece {
    shogi_core::Piece::new(their_kind(piece.kind), color(piece.side))
}

fn their_kind(kind: PieceKind) -> ReferenceKind {
    match kind {
        PieceKind::King => ReferenceKind::King,
        PieceKind::Rook => ReferenceKind::Rook,
        PieceKind::Bishop => ReferenceKind::Bishop,
        PieceKind::Gold => ReferenceKind::Gold,
        PieceKind::Silver => ReferenceKind::Silver,
        PieceKind::Knight => ReferenceKind::Knight,
        PieceKind::Lance => ReferenceKind::Lance,
        PieceKind::Pawn => ReferenceKind::Pawn,
        PieceKind::Dragon => ReferenceKind::ProRook,
        PieceKind::Horse => ReferenceKind::ProBishop,
        PieceKind::PromotedSilver => ReferenceKind::ProSilver,
        PieceKind::PromotedKnight => ReferenceKind::ProKnight,
        PieceKind::PromotedLance => ReferenceKind::ProLance,
        PieceKind::Tokin => ReferenceKind::ProPawn,
        PieceKind::Queen => panic!("shogi has no queen"),
    }
}

#[track_caller]
fn check_same_moves(position: &Position) -> usize {
    let ours = position.legal_moves().into_iter().filter(|&mv| !stalemates_by_drop(position, mv));
    let mut ours: Vec<String> = ours.map(|mv| mv.to_uci(CastlingForm::KingMove)).collect();
    let theirs = all_legal_moves_partial(&converted(&position.setup()));
    let mut theirs: Vec<String> = theirs.iter().map(ToUsi::to_usi_owned).collect();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs, "{position}");
    ours.len()
}

/// Whether a dropped pawn leaves the opponent without a move, but not in check. The other generator
/// wrongly rejects it like a checkmate.
fn stalemates_by_drop(position: &Position, mv: Move) -> bool {
    if !mv.to_uci(CastlingForm::KingMove).starts_with("P*") {
        return false;
    }
    let mut after = position.clone();
    after.play(mv).expect("a legal move");
    !after.in_check() && after.legal_moves().is_empty()
}

/// Plays random moves and compares the moves of each position.
fn check_random_games(text: &str, games: u64, plies: usize) {
    for seed in 1..=games {
        let mut rng = Rng::new(seed);
        let mut position = position(Game::Shogi, text);
        for _ in 0..plies {
            check_same_moves(&position);
            let moves = position.legal_moves();
            let Some(&mv) = moves.get(rng.below(moves.len())) else { break };
            position.play(mv).expect("a legal move");
        }
    }
}

#[test]
fn generators_agree_in_random_games() {
    check_random_games("", 12, 150);
    check_random_games("4k4/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", 3, 60);
    check_random_games(
        "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
        6,
        60,
    );
}

/// Few pieces near the kings and a pawn in hand: checks, pins, and pawn drops that would be checkmate.
#[test]
fn generators_agree_in_random_problems() {
    let mut rng = Rng::new(27);
    let mut drops_rejected = 0;
    let mut in_check = 0;
    let mut compared = 0;
    while compared < 1_000 {
        let setup = problem(&mut rng);
        let Ok(position) = setup.position() else { continue };
        compared += 1;
        check_same_moves(&position);
        let rejected = before_the_king(&setup).is_some_and(|square| {
            let reason = position.parse_move(&format!("P*{square}")).map_err(|error| error.reason);
            reason == Err(IllegalReason::PawnDropMate)
        });
        drops_rejected += usize::from(rejected);
        in_check += usize::from(position.in_check());
    }
    assert!(drops_rejected > 5 && in_check > 100, "{drops_rejected} {in_check}");
}

/// The square from which a pawn of the first player gives check.
fn before_the_king(setup: &Setup) -> Option<String> {
    let king = Piece { side: Side::Second, kind: PieceKind::King };
    let (king, _) = setup.pieces().find(|&(_, piece)| piece == king)?;
    let square = Square::new(Game::Shogi, king.column(), king.row() + 1)?;
    Some(square.name(Game::Shogi))
}

/// A position with kings near the upper edge and random pieces around them.
fn problem(rng: &mut Rng) -> Setup {
    let game = Game::Shogi;
    let mut setup = Setup::empty(game);
    let mut anywhere = |rows: usize| {
        let (column, row) = (rng.below(5) + 4, rng.below(rows));
        let [column, row] = [column, row].map(|index| u8::try_from(index).expect("small"));
        Square::new(game, column, row).expect("a square")
    };
    let squares: Vec<Square> = (0..12).map(|_| anywhere(5)).collect();
    let (kings, others) = squares.split_at(2);
    for &square in others {
        const KINDS: [PieceKind; 11] = [
            PieceKind::Gold,
            PieceKind::Silver,
            PieceKind::Knight,
            PieceKind::Lance,
            PieceKind::Rook,
            PieceKind::Bishop,
            PieceKind::Dragon,
            PieceKind::Horse,
            PieceKind::Tokin,
            PieceKind::Gold,
            PieceKind::Silver,
        ];
        let kind = KINDS[rng.below(KINDS.len())];
        let side = if rng.below(3) == 0 { Side::Second } else { Side::First };
        setup.put(square, Piece { side, kind }).expect("a piece of shogi");
    }
    for (&square, side) in kings.iter().zip(Side::BOTH) {
        setup.put(square, Piece { side, kind: PieceKind::King }).expect("a king");
    }
    setup.set_hand(Side::First, PieceKind::Pawn, 1).expect("a pawn in hand");
    setup
}
