//! Writes an EPD.

use super::{
    Epd, EpdError, Move, Notation, Operand, Operation, Position, bad_operand, is_known, is_opcode,
    shortened,
};
use crate::FenForm;

pub(super) fn epd(epd: &Epd, form: FenForm) -> Result<String, EpdError> {
    let fen = epd.position.text(form);
    let mut text = fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
    for operation in &epd.operations {
        let opcode = operation.opcode();
        // An operation that would be read with other operands is rejected.
        let other = matches!(operation, Operation::Other { .. });
        if !is_opcode(opcode) || (other && is_known(opcode)) {
            return Err(EpdError::Opcode { text: shortened(opcode) });
        }
        text.push(' ');
        text.push_str(opcode);
        for operand in operands(&epd.position, operation)? {
            text.push(' ');
            write_operand(opcode, &operand, &mut text)?;
        }
        text.push(';');
    }
    Ok(text)
}

fn operands(position: &Position, operation: &Operation) -> Result<Vec<Operand>, EpdError> {
    let opcode = operation.opcode();
    let token = |text: String| vec![Operand::Token(text)];
    Ok(match operation {
        Operation::BestMoves(moves) | Operation::AvoidMoves(moves) => {
            if moves.is_empty() {
                return Err(bad_operand(opcode, ""));
            }
            moves.iter().map(|&mv| san(position, opcode, mv)).collect::<Result<_, _>>()?
        }
        Operation::PredictedMove(mv) | Operation::SuppliedMove(mv) => {
            vec![san(position, opcode, *mv)?]
        }
        Operation::PredictedVariation(line) => {
            let mut position = position.clone();
            let mut tokens = Vec::new();
            for &mv in line {
                tokens.push(san(&position, opcode, mv)?);
                let failed = |error| EpdError::Move { opcode: opcode.to_owned(), error };
                position.play(mv).map_err(failed)?;
            }
            tokens
        }
        Operation::Id(text) | Operation::Comment { text, .. } => vec![Operand::Text(text.clone())],
        Operation::Centipawns(value) => token(value.to_string()),
        Operation::Nodes(number) | Operation::Seconds(number) => token(number.to_string()),
        Operation::Depth(number)
        | Operation::DirectMate(number)
        | Operation::HalfmoveClock(number)
        | Operation::FullmoveNumber(number) => token(number.to_string()),
        Operation::Other { operands, .. } => operands.clone(),
    })
}

/// Rejects an illegal move, because it would be read as another one.
fn san(position: &Position, opcode: &str, mv: Move) -> Result<Operand, EpdError> {
    let mut after = position.clone();
    let failed = |error| EpdError::Move { opcode: opcode.to_owned(), error };
    after.play(mv).map_err(failed)?;
    Ok(Operand::Token(position.notation(mv, Notation::Western)))
}

fn write_operand(opcode: &str, operand: &Operand, line: &mut String) -> Result<(), EpdError> {
    match operand {
        Operand::Token(token) => {
            let breaks = |letter: char| {
                letter.is_whitespace() || letter.is_control() || matches!(letter, ';' | '"')
            };
            if token.is_empty() || token.contains(breaks) {
                return Err(bad_operand(opcode, token));
            }
            line.push_str(token);
        }
        Operand::Text(text) => {
            if text.contains(|letter: char| letter.is_control() || letter == '"') {
                return Err(bad_operand(opcode, text));
            }
            line.push('"');
            line.push_str(text);
            line.push('"');
        }
    }
    Ok(())
}
