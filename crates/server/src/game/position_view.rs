//! Positions and moves of the rules for the page.

use readyok_rules::shakmaty;
use readyok_rules::{FenForm, Game, Move, Notation, PieceKind, Position};

use crate::wire::{LastMove, LegalMove, LineMove, MoveText, OutcomeView, PositionView};

/// A move in the notations of the page.
pub(crate) fn move_text(position: &Position, mv: Move) -> MoveText {
    let japanese =
        (position.game() == Game::Shogi).then(|| position.notation(mv, Notation::Japanese));
    MoveText { western: position.notation(mv, Notation::Western), japanese }
}

/// A line in the notations of the page; from the first illegal move on, unchanged. `known` is a line from the
/// same position that was formatted before: its common prefix is reused.
pub(crate) fn line(position: &Position, moves: &[String], known: &[LineMove]) -> Vec<LineMove> {
    let mut position = Some(position.clone());
    let mut line = Vec::with_capacity(moves.len());
    let alike = known.iter().zip(moves).take_while(|(known, uci)| known.uci == **uci);
    let mut known = alike.map(|(known, _)| known).fuse();
    for uci in moves {
        let known = known.next();
        let text = position.as_mut().and_then(|position| {
            let mv = position.parse_move(uci).ok()?;
            let text = known.map_or_else(|| move_text(position, mv), |known| known.text.clone());
            position.play(mv).ok().map(|()| text)
        });
        if text.is_none() {
            position = None;
        }
        let text = text.unwrap_or_else(|| MoveText { western: uci.clone(), japanese: None });
        line.push(LineMove { uci: uci.clone(), text });
    }
    line
}

/// The squares of castling: the king's target and the rook's origin.
fn castling_squares(mv: Move) -> Option<[String; 2]> {
    let Move::Chess(shakmaty::Move::Castle { king, rook }) = mv else { return None };
    let file = if king.file() < rook.file() { shakmaty::File::G } else { shakmaty::File::C };
    let goal = shakmaty::Square::from_coords(file, king.rank());
    Some([goal.to_string(), rook.to_string()])
}

/// The parts of a move in UCI or USI notation.
struct Parts<'a> {
    from: Option<&'a str>,
    drop: Option<&'a str>,
    to: &'a str,
    promotion: Option<&'a str>,
}

fn parts(uci: &str) -> Option<Parts<'_>> {
    let (start, to) = (uci.get(..2)?, uci.get(2..4)?);
    let promotion = uci.get(4..).filter(|rest| !rest.is_empty());
    Some(match start.strip_suffix('*') {
        Some(piece) => Parts { from: None, drop: Some(piece), to, promotion },
        None => Parts { from: Some(start), drop: None, to, promotion },
    })
}

fn legal(position: &Position) -> Vec<LegalMove> {
    let form = position.game().castling_form();
    let moves = position.legal_moves();
    let texts: Vec<String> = moves.iter().map(|mv| mv.to_uci(form)).collect();
    let mut all: Vec<LegalMove> = Vec::with_capacity(moves.len());
    for (mv, uci) in moves.iter().zip(&texts) {
        let Some(parts) = parts(uci) else { continue };
        let to = match castling_squares(*mv) {
            None => vec![parts.to.to_owned()],
            Some([goal, rook]) => {
                let from = parts.from.unwrap_or_default();
                let plain = format!("{from}{goal}");
                let means_another = moves
                    .iter()
                    .zip(&texts)
                    .any(|(other, uci)| castling_squares(*other).is_none() && *uci == plain);
                if goal == from || goal == rook || means_another {
                    vec![rook]
                } else {
                    vec![goal, rook]
                }
            }
        };
        all.push(LegalMove {
            uci: uci.clone(),
            from: parts.from.map(str::to_owned),
            drop: parts.drop.map(str::to_owned),
            to,
            promotion: parts.promotion.map(str::to_owned),
            text: move_text(position, *mv),
        });
    }
    all.sort_by(|a, b| a.uci.cmp(&b.uci));
    all
}

/// The squares of a move.
pub(crate) fn last_move(game: Game, mv: Move) -> Option<LastMove> {
    let uci = mv.to_uci(game.castling_form());
    let parts = parts(&uci)?;
    let to = castling_squares(mv).map_or_else(|| parts.to.to_owned(), |[goal, _]| goal);
    Some(LastMove { from: parts.from.map(str::to_owned), to })
}

/// The square of the king of the side to move.
fn king(position: &Position) -> Option<String> {
    let setup = position.setup();
    let turn = position.turn();
    let mut pieces = setup.pieces();
    let found = pieces.find(|(_, piece)| piece.kind == PieceKind::King && piece.side == turn);
    found.map(|(square, _)| square.name(position.game()))
}

/// A position for the board; `last` is the move before it.
pub(crate) fn position_view(position: &Position, last: Option<Move>) -> PositionView {
    let ending = position.outcome();
    PositionView {
        text: position.text(FenForm::default()),
        turn: position.turn(),
        legal: legal(position),
        check: position.in_check().then(|| king(position)).flatten(),
        last: last.and_then(|mv| last_move(position.game(), mv)),
        ending: ending.map(OutcomeView::from),
    }
}

#[cfg(test)]
mod tests {
    use readyok_rules::Termination;

    use super::*;

    fn at(game: Game, text: &str) -> PositionView {
        position_view(&Position::from_text(game, text).expect("it can be played"), None)
    }

    fn find<'a>(view: &'a PositionView, uci: &str) -> &'a LegalMove {
        view.legal.iter().find(|mv| mv.uci == uci).expect("it is legal")
    }

    #[test]
    fn castling_has_two_target_squares() {
        let usual = at(Game::Chess, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
        assert_eq!(find(&usual, "e1g1").to, ["g1", "h1"]);
        assert_eq!(find(&usual, "e1c1").text.western, "O-O-O");
        let next_to_rook = at(Game::Chess960, "4k3/8/8/8/8/8/8/4KR2 w F - 0 1");
        assert_eq!(find(&next_to_rook, "e1f1").to, ["g1", "f1"]);
        // The king's own step to g1 is another move.
        let next_to_king = at(Game::Chess960, "4k3/8/8/8/8/8/8/5K1R w H - 0 1");
        assert_eq!(find(&next_to_king, "f1h1").to, ["h1"]);
        let king_there = at(Game::Chess960, "4k3/8/8/8/8/8/8/6KR w H - 0 1");
        assert_eq!(find(&king_there, "g1h1").to, ["h1"]);
    }

    #[test]
    fn shogi_moves_have_parts() {
        let drops = at(Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 b P 1");
        let drop = find(&drops, "P*5e");
        assert_eq!((drop.from.as_deref(), drop.drop.as_deref()), (None, Some("P")));
        assert_eq!(drop.text.japanese.as_deref(), Some("▲５五歩"));
        let promotes = at(Game::Shogi, "4k4/9/9/P8/9/9/9/9/4K4 b - 1");
        assert_eq!(find(&promotes, "9d9c+").promotion.as_deref(), Some("+"));
        assert_eq!(find(&promotes, "9d9c").promotion, None);
    }

    #[test]
    fn a_checked_king_is_highlighted_and_mate_ends_the_game() {
        let mated =
            at(Game::Chess, "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3");
        assert_eq!(mated.check.as_deref(), Some("e1"));
        let ending = mated.ending.expect("it is over");
        assert_eq!((ending.result.as_str(), ending.termination), ("0-1", Termination::Checkmate));
        assert!(mated.legal.is_empty());
    }

    #[test]
    fn a_line_is_formatted_up_to_the_first_illegal_move() {
        let texts = ["e2e4", "e7e5", "a1a8", "b8c6"].map(str::to_owned);
        let line = line(&Position::start(Game::Chess), &texts, &[]);
        let texts: Vec<_> = line.iter().map(|line| line.text.western.as_str()).collect();
        assert_eq!(texts, ["e4", "e5", "a1a8", "b8c6"]);
    }
}
