//! Search: mates of up to three plies, otherwise moves ordered by material.

use readyok_rules::{CastlingForm, Game, Move, Position, Termination};

/// A line with its score: plies to mate for the side to move, or material.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) moves: Vec<String>,
    pub(crate) mate: Option<u32>,
    /// The reply mates.
    pub(crate) mated: bool,
    /// The move draws by repetition.
    pub(crate) drawn: bool,
    pub(crate) cp: i32,
}

/// The best lines, best first. `wanted` restricts the first moves; `plies` is the longest mate found.
pub(crate) fn lines(
    position: &Position,
    wanted: &[String],
    form: CastlingForm,
    plies: u32,
) -> Vec<Line> {
    let mut moves = position.legal_moves();
    moves.retain(|mv| wanted.is_empty() || wanted.contains(&mv.to_uci(form)));
    moves.sort_by_cached_key(|mv| mv.to_uci(form));
    let deep = moves.len() <= 40;
    let mut lines: Vec<Line> = moves
        .into_iter()
        .map(|mv| {
            let next = after(position, mv);
            let drawn = next
                .outcome()
                .is_some_and(|outcome| outcome.termination == Termination::Repetition);
            let mate = mating(position, mv, if deep { plies } else { 1 });
            let mut line = vec![mv.to_uci(form)];
            match &mate {
                Some(rest) => line.extend(rest.iter().map(|mv| mv.to_uci(form))),
                // A line ends with the game.
                None if next.outcome().is_some() => (),
                None => line.extend(reply(&next).map(|mv| mv.to_uci(form))),
            }
            let cp = if drawn { 0 } else { -material(&next) };
            Line {
                mated: false,
                drawn,
                mate: mate.map(|_| u32::try_from(line.len()).unwrap_or(u32::MAX)),
                moves: line,
                cp,
            }
        })
        .collect();
    lines.sort_by_key(|line| (line.mate.unwrap_or(u32::MAX), -line.cp));
    if lines.len() <= 3 && 3 <= plies {
        report_mated(position, &mut lines, form);
    }
    lines
}

/// Reports a position in which every move allows a mate.
fn report_mated(position: &Position, lines: &mut [Line], form: CastlingForm) {
    let answers: Option<Vec<Vec<String>>> = lines
        .iter()
        .map(|line| {
            let next = position.clone().after(line.moves.get(..1)?).ok()?;
            let mut moves = next.legal_moves().into_iter();
            let mate = moves.find(|mv| mating(&next, *mv, 1).is_some())?;
            Some(vec![line.moves.first()?.clone(), mate.to_uci(form)])
        })
        .collect();
    for (line, moves) in lines.iter_mut().zip(answers.into_iter().flatten()) {
        line.moves = moves;
        line.mated = true;
    }
}

fn after(position: &Position, mv: Move) -> Position {
    let mut next = position.clone();
    // Cannot fail for a legal move.
    let _ = next.play(mv);
    next
}

fn reply(position: &Position) -> Option<Move> {
    position.legal_moves().into_iter().next()
}

/// The rest of a mate that begins with this move, if it mates in this number of plies.
fn mating(position: &Position, mv: Move, plies: u32) -> Option<Vec<Move>> {
    let next = after(position, mv);
    let replies = next.legal_moves();
    if replies.is_empty() {
        return (next.in_check() || next.game() == Game::Shogi).then(Vec::new);
    }
    if plies < 3 {
        return None;
    }
    let mut line = None;
    for answer in replies {
        let then = after(&next, answer);
        let moves = then.legal_moves();
        let mate = moves.into_iter().find(|mv| mating(&then, *mv, 1).is_some())?;
        line = Some(vec![answer, mate]);
    }
    line
}

/// The material of the side to move, in hundredths of a pawn.
fn material(position: &Position) -> i32 {
    let setup = position.setup();
    setup
        .pieces()
        .map(|(_, piece)| {
            let value = match piece.kind.letter().to_ascii_lowercase() {
                'p' => 100,
                'n' | 'l' => 300,
                'b' | 's' | 'g' => 400,
                'r' => 600,
                'q' => 900,
                _ => 0,
            };
            if piece.side == position.turn() { value } else { -value }
        })
        .sum()
}
