//! What a position of chess is worth: pieces, and the squares they stand on.

use readyok_rules::shakmaty::{Chess, Color, Position, Role, Square};

use crate::score::Value;

/// Having the move is worth something.
const TEMPO: Value = 10;

/// What a piece is worth. A king that takes is worth the most to keep back.
pub(super) fn worth(role: Role) -> Value {
    match role {
        Role::Pawn => 100,
        Role::Knight => 320,
        Role::Bishop => 335,
        Role::Rook => 500,
        Role::Queen => 950,
        Role::King => 2000,
    }
}

/// The value for the side to move.
pub(super) fn evaluate(position: &Chess) -> Value {
    let us = side(position, position.turn());
    let them = side(position, !position.turn());
    us - them + TEMPO
}

fn side(position: &Chess, color: Color) -> Value {
    let board = position.board();
    let enemies = board.by_color(!color);
    // The fewer pieces there are to attack it, the more a king belongs into the centre.
    let danger = Value::from((enemies & board.queens()).any())
        + Value::from((enemies & board.rooks()).any())
        + Value::from((enemies & (board.knights() | board.bishops())).more_than_one());
    let pieces = board.by_color(color).into_iter().filter_map(|square| {
        let role = board.role_at(square)?;
        Some(if role == Role::King { 0 } else { worth(role) } + place(role, square, color, danger))
    });
    pieces.sum()
}

/// What a square is worth to a piece; `danger` is 0 to 3.
fn place(role: Role, square: Square, color: Color, danger: Value) -> Value {
    let rank = Value::from(u8::from(color.relative_rank(square.rank())));
    let centre = centrality(square);
    match role {
        Role::Pawn => 2 * rank * rank + centre * rank / 2 - 10,
        Role::Knight => 8 * centre - 24,
        Role::Bishop => 4 * centre - 12 + if rank == 0 { -8 } else { 0 },
        Role::Rook => {
            if rank == 6 {
                20
            } else {
                centre
            }
        }
        Role::Queen => centre,
        // Under attack the corner of the first rank is best, and otherwise the centre.
        Role::King => (3 - danger) * 6 * centre - danger * (4 * centre + 8 * rank),
    }
}

/// 0 in the corners, 6 in the centre.
fn centrality(square: Square) -> Value {
    let from_edge = |index: u8| Value::from(index.min(7 - index));
    from_edge(square.file().into()) + from_edge(square.rank().into())
}
