//! Corrects messages of an engine that a client would reject.

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{
    Best, BestMove, CastlingForm, Dialect, Info, Move, MoveList, MoveShape, Square,
};

use crate::board::Board;
use crate::error::Failure;

/// The kinds of corrections.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Correction {
    /// Castling was written in the notation of the client.
    Castling,
    /// A ponder move was omitted.
    PonderMove,
    /// `seldepth` was omitted.
    Seldepth,
    /// An illegal move was replaced.
    IllegalMove,
}

/// Corrections with their explanations.
pub(crate) type Corrections = Vec<(Correction, String)>;

/// Corrects the answer of a search. `None` if its move is illegal. Nothing is checked if the position is
/// invalid for the board.
pub(crate) fn correct_answer<B: Board>(
    mut answer: BestMove<'static>,
    request: &SearchRequest,
) -> (Option<BestMove<'static>>, Corrections) {
    let mut corrections = Vec::new();
    let Best::Move(best) = answer.best else { return (Some(answer), corrections) };
    let illegal = |reason: Failure| {
        let text = format!("`bestmove {best}` is replaced: {reason}");
        (None, vec![(Correction::IllegalMove, text)])
    };
    if let Err(error) = Move::read(best.as_str(), request.dialect) {
        return illegal(error.into());
    }
    let mut board = B::from_position(&request.position).ok();
    let mut played = best;
    if let Some(board) = &mut board {
        let encoded = board.decode_move(best.as_str()).and_then(|mv| {
            let encoded = board.encode_move(&mv, request.castling)?;
            board.play_move(&mv).map(|()| encoded)
        });
        match encoded {
            Ok(encoded) => played = encoded,
            Err(error) => return illegal(error),
        }
    }
    let wanted = answer.ponder.filter(|mv| *mv != Move::NULL);
    let ponder = wanted.and_then(|mv| possible_ponder_move(mv, best, board.as_ref(), request));
    let unreadable = answer.unknown.first().is_some_and(|token| token == "ponder");
    if unreadable {
        answer.unknown.clear();
    }
    if unreadable || wanted.is_some() && ponder.is_none() {
        let text = match wanted {
            Some(wanted) => format!("the ponder move `{wanted}` is impossible after `{best}`"),
            None => "the ponder move is not a move".to_owned(),
        };
        corrections.push((Correction::PonderMove, format!("{text} and is omitted")));
    }
    for (before, after) in [(Some(best), Some(played)), (wanted, ponder)] {
        corrections.extend(castling_correction(before, after));
    }
    answer.best = Best::Move(played);
    answer.ponder = ponder;
    (Some(answer), corrections)
}

/// The ponder move in the notation of the client, if it is possible after `best`.
fn possible_ponder_move<B: Board>(
    wanted: Move,
    best: Move,
    board_after: Option<&B>,
    request: &SearchRequest,
) -> Option<Move> {
    // The origin of a move is empty after it, and the square of a drop is occupied.
    Move::read(wanted.as_str(), request.dialect).ok().filter(|_| wanted != best)?;
    let Some(board) = board_after else { return Some(wanted) };
    board.encode_move(&board.decode_move(wanted.as_str()).ok()?, request.castling).ok()
}

/// Explains a move that is written in another notation.
fn castling_correction(before: Option<Move>, after: Option<Move>) -> Option<(Correction, String)> {
    let (before, after) = before.zip(after).filter(|(before, after)| before != after)?;
    Some((Correction::Castling, format!("castling `{before}` is sent as `{after}`")))
}

/// Corrects a line of a search.
pub(crate) fn correct_info<B: Board>(
    info: &mut Info<'static>,
    request: &SearchRequest,
) -> Corrections {
    let mut corrections = Vec::new();
    if info.depth.is_none() && info.seldepth.take().is_some() {
        let text = "`seldepth` without `depth` is omitted".to_owned();
        corrections.push((Correction::Seldepth, text));
    }
    let has_candidate = |line: &MoveList<'_>| {
        request.dialect == Dialect::Uci
            && line.moves().any(|mv| may_be_castling(mv, request.castling))
    };
    let currline = info.currline.as_mut().map(|currline| &mut currline.moves);
    let lines = [info.pv.as_mut(), info.refutation.as_mut(), currline];
    let mut candidates: Vec<_> =
        lines.into_iter().flatten().filter(|line| has_candidate(line)).collect();
    let currmove = info.currmove.as_mut().filter(|mv| may_be_castling(**mv, request.castling));
    if candidates.is_empty() && currmove.is_none() {
        return corrections;
    }
    let Ok(board) = B::from_position(&request.position) else { return corrections };
    for line in &mut candidates {
        corrections.extend(correct_line(line, board.clone(), request.castling));
    }
    if let Some(mv) = currmove {
        let encoded = board.decode_move(mv.as_str());
        let encoded = encoded.and_then(|mv| board.encode_move(&mv, request.castling));
        let encoded = encoded.unwrap_or(*mv);
        corrections.extend(castling_correction(Some(*mv), Some(encoded)));
        *mv = encoded;
    }
    corrections
}

/// Whether a move looks like castling in the other notation, to set up a board only for such lines.
fn may_be_castling(mv: Move, castling: CastlingForm) -> bool {
    let MoveShape::Board { from, to, suffix: None } = mv.shape() else { return false };
    let on_back_rank = |square: Square| matches!(square.rank, 1 | 8);
    let files = match castling {
        // In standard chess the king starts on the e-file.
        CastlingForm::KingMove => from.file == 5 && matches!(to.file, 1 | 8),
        CastlingForm::KingTakesRook => matches!(to.file, 3 | 7),
    };
    files && from.rank == to.rank && on_back_rank(from)
}

/// Writes castling of a variation in a notation, up to the first move that is not legal.
fn correct_line<B: Board>(
    line: &mut MoveList<'static>,
    mut board: B,
    castling: CastlingForm,
) -> Option<(Correction, String)> {
    let mut first = None;
    let mut is_legal = true;
    let mut corrected = MoveList::EMPTY;
    for token in line.tokens() {
        // A token that is not a move ends the variation.
        let mv: Move = token.parse().ok()?;
        let encoded = Some(mv).filter(|_| is_legal).and_then(|mv| {
            let decoded = board.decode_move(mv.as_str()).ok()?;
            let encoded = board.encode_move(&decoded, castling).ok()?;
            board.play_move(&decoded).ok().map(|()| encoded)
        });
        is_legal = encoded.is_some();
        first = first.or_else(|| castling_correction(Some(mv), encoded));
        corrected.push(encoded.unwrap_or(mv));
    }
    if first.is_some() {
        *line = corrected;
    }
    first
}

/// Whether nothing is left of a line.
pub(crate) fn is_empty(info: &Info<'_>) -> bool {
    *info == Info::default()
}
