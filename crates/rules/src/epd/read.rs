//! Reads an EPD.

use std::str::FromStr;

use super::{
    Epd, EpdError, Game, Move, Notation, Operand, Operation, Position, bad_operand, comment_number,
    is_opcode, shortened,
};
use crate::Setup;

/// Much more than any test suite has.
const MAX_OPERATIONS: usize = 256;

pub(super) fn epd(game: Game, text: &str) -> Result<Epd, EpdError> {
    let mut rest = text;
    let fields: Vec<&str> = (0..4).filter_map(|_| next_field(&mut rest)).collect();
    let mut setup = Setup::read(game, &fields.join(" "))?;
    let mut operations = counters(&mut rest);
    while let Some((opcode, operands)) = next_operation(&mut rest)? {
        if operations.len() >= MAX_OPERATIONS {
            return Err(EpdError::TooManyOperations);
        }
        if !is_opcode(&opcode) {
            return Err(EpdError::Opcode { text: shortened(&opcode) });
        }
        // Moves need the position, and the position needs the counters, so the counters are first.
        operations.push(match opcode.as_str() {
            "hmvc" => Operation::HalfmoveClock(number(&opcode, &operands)?),
            "fmvn" => Operation::FullmoveNumber(number(&opcode, &operands)?),
            _ => Operation::Other { opcode, operands },
        });
    }
    for operation in &operations {
        match operation {
            Operation::HalfmoveClock(half_moves) => setup.set_halfmove_clock(*half_moves),
            Operation::FullmoveNumber(number) => setup.set_move_number(*number),
            _ => {}
        }
    }
    let position = setup.position()?;
    let operations = operations
        .into_iter()
        .map(|operation| match operation {
            Operation::Other { opcode, operands } => known(&position, opcode, operands),
            counter => Ok(counter),
        })
        .collect::<Result<_, _>>()?;
    Ok(Epd { position, operations })
}

fn next_field<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (field, after) = text.split_at_checked(end)?;
    *rest = after;
    (!field.is_empty()).then_some(field)
}

/// The two counters of a FEN, which precede the operations in many files.
fn counters(rest: &mut &str) -> Vec<Operation> {
    let mut after = *rest;
    let number = |field: Option<&str>| {
        let field = field?.trim_end_matches(';');
        let digits = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
        if digits { field.parse().ok() } else { None }
    };
    let Some(halfmoves) = number(next_field(&mut after)) else { return Vec::new() };
    let Some(moves) = number(next_field(&mut after)) else { return Vec::new() };
    *rest = after;
    vec![Operation::HalfmoveClock(halfmoves), Operation::FullmoveNumber(moves)]
}

/// The next non-empty operation and its semicolon.
fn next_operation(rest: &mut &str) -> Result<Option<(String, Vec<Operand>)>, EpdError> {
    let mut tokens: Vec<Operand> = Vec::new();
    loop {
        let text = rest.trim_start();
        if let Some(after) = text.strip_prefix(';') {
            *rest = after;
            if !tokens.is_empty() {
                break;
            }
        } else if let Some(quoted) = text.strip_prefix('"') {
            let (inner, after) = quoted.split_once('"').ok_or(EpdError::OpenQuote)?;
            tokens.push(Operand::Text(inner.to_owned()));
            *rest = after;
        } else if text.is_empty() {
            *rest = text;
            break;
        } else {
            let ends = |letter: char| letter.is_whitespace() || letter == ';' || letter == '"';
            let end = text.find(ends).unwrap_or(text.len());
            let (token, after) = text.split_at_checked(end).unwrap_or((text, ""));
            tokens.push(Operand::Token(token.to_owned()));
            *rest = after;
        }
    }
    let mut tokens = tokens.into_iter();
    Ok(match tokens.next() {
        None => None,
        Some(Operand::Token(opcode)) => Some((opcode, tokens.collect())),
        Some(Operand::Text(text)) => return Err(EpdError::Opcode { text: shortened(&text) }),
    })
}

fn known(
    position: &Position,
    opcode: String,
    operands: Vec<Operand>,
) -> Result<Operation, EpdError> {
    let name = opcode.as_str();
    Ok(match name {
        "bm" => Operation::BestMoves(moves(position, name, &operands)?),
        "am" => Operation::AvoidMoves(moves(position, name, &operands)?),
        "pm" => Operation::PredictedMove(one_move(position, name, &operands)?),
        "sm" => Operation::SuppliedMove(one_move(position, name, &operands)?),
        "pv" => Operation::PredictedVariation(line(position, name, &operands)?),
        "id" => Operation::Id(text(name, &operands)?),
        "ce" => Operation::Centipawns(number(name, &operands)?),
        "acd" => Operation::Depth(number(name, &operands)?),
        "acn" => Operation::Nodes(number(name, &operands)?),
        "acs" => Operation::Seconds(number(name, &operands)?),
        "dm" => Operation::DirectMate(number(name, &operands)?),
        _ => match comment_number(name) {
            Some(number) => Operation::Comment { number, text: text(name, &operands)? },
            None => Operation::Other { opcode, operands },
        },
    })
}

fn tokens<'a>(
    opcode: &'a str,
    operands: &'a [Operand],
) -> impl Iterator<Item = Result<&'a str, EpdError>> {
    operands.iter().map(move |operand| match operand {
        Operand::Token(token) => Ok(token.as_str()),
        Operand::Text(text) => Err(bad_operand(opcode, text)),
    })
}

fn one_move(position: &Position, opcode: &str, operands: &[Operand]) -> Result<Move, EpdError> {
    match moves(position, opcode, operands)?.as_slice() {
        &[mv] => Ok(mv),
        _ => Err(bad_operand(opcode, &all(operands))),
    }
}

fn moves(position: &Position, opcode: &str, operands: &[Operand]) -> Result<Vec<Move>, EpdError> {
    if operands.is_empty() {
        return Err(bad_operand(opcode, ""));
    }
    tokens(opcode, operands).map(|token| read_move(position, opcode, token?)).collect()
}

fn line(position: &Position, opcode: &str, operands: &[Operand]) -> Result<Vec<Move>, EpdError> {
    let mut position = position.clone();
    let mut line = Vec::new();
    for token in tokens(opcode, operands) {
        let mv = read_move(&position, opcode, token?)?;
        position.play(mv).map_err(|error| EpdError::Move { opcode: opcode.to_owned(), error })?;
        line.push(mv);
    }
    Ok(line)
}

fn read_move(position: &Position, opcode: &str, token: &str) -> Result<Move, EpdError> {
    let failed = |error| EpdError::Move { opcode: opcode.to_owned(), error };
    position.parse(token, Notation::Western).map_err(failed)
}

fn number<N: FromStr>(opcode: &str, operands: &[Operand]) -> Result<N, EpdError> {
    match operands {
        [] => Err(bad_operand(opcode, "")),
        [Operand::Token(token)] => token.parse().map_err(|_| bad_operand(opcode, token)),
        _ => Err(bad_operand(opcode, &all(operands))),
    }
}

/// The standard requires quotes around texts; tokens are accepted too.
fn text(opcode: &str, operands: &[Operand]) -> Result<String, EpdError> {
    if operands.is_empty() { Err(bad_operand(opcode, "")) } else { Ok(all(operands)) }
}

fn all(operands: &[Operand]) -> String {
    let tokens: Vec<&str> = operands
        .iter()
        .map(|operand| match operand {
            Operand::Token(text) | Operand::Text(text) => text.as_str(),
        })
        .collect();
    tokens.join(" ")
}
