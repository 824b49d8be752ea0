//! How safe a king is.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, HandPiece},
};

use super::{
    effects::{Effects, ring},
    layout::{ATTACKED, BREACH, ESCAPE, HOLD},
    scene::{COLORS, LEVELS, Scene, sign},
    walk::{Sink, count},
};

/// Looks around both kings.
pub(super) fn walk(position: &Position, scene: &Scene, effects: &Effects, sink: &mut impl Sink) {
    let Effects([black, white]) = effects;
    let sides = [(black, white), (white, black)];
    for (index, (color, (own, other))) in COLORS.into_iter().zip(sides).enumerate() {
        let (king, level) = (scene.kings[index], scene.levels[index]);
        if !king.is_on_board() {
            continue;
        }
        let around = ring(king);
        let attacked = around & other.any();
        let breach = count(attacked & !own.any()).min(5);
        let escapes = around & !attacked & !position.pieces_by_color(color).packed_bits();
        let sign = sign(color);
        sink.term(ATTACKED.start + count(attacked).min(6) * LEVELS + level, sign);
        sink.term(BREACH.start + breach * LEVELS + level, sign);
        sink.term(ESCAPE.start + count(escapes) * LEVELS + level, sign);
        hold(position, color, breach, sink);
    }
}

/// Pieces in the opponent's hand are the more dangerous the less is defended.
fn hold(position: &Position, color: Color, breach: usize, sink: &mut impl Sink) {
    let hand = position.hand(color.flip());
    for (index, piece) in HandPiece::iter().enumerate() {
        if hand.count(piece) > 0 {
            sink.term(HOLD.start + index * 6 + breach, sign(color));
        }
    }
}
