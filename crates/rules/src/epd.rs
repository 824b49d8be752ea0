//! Extended Position Description: a position of chess with operations, as in the PGN standard (section
//! 16.2).

use std::str::FromStr;

use crate::{
    FenForm, Game, Move, MoveError, Notation, Position, PositionError, Setup, error::shortened,
};

/// A position of chess with operations: a line of a test suite or of an opening book.
///
/// ```
/// use readyok_rules::{Epd, FenForm, Game, Notation, Operation};
///
/// let text = "4k3/8/8/8/8/8/4P3/4K3 w - - bm e4 Kd2; id \"two moves\"; x 1 \"a;b\";";
/// let epd = Epd::read(Game::Chess, text)?;
/// let Some(Operation::BestMoves(moves)) = epd.operations.first() else { unreachable!() };
/// let best: Vec<String> =
///     moves.iter().map(|&mv| epd.position.notation(mv, Notation::Western)).collect();
/// assert_eq!(best, ["e4", "Kd2"]);
/// assert_eq!(epd.text(FenForm::XFen)?, text);
/// # Ok::<(), readyok_rules::EpdError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Epd {
    /// The position. Its counters are those of `hmvc` and `fmvn`, or 0 and 1.
    pub position: Position,
    /// The operations, in order.
    pub operations: Vec<Operation>,
}

/// An operation of an EPD. Moves are legal in its position, and variations start there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `bm`: the best moves, any of them.
    BestMoves(Vec<Move>),
    /// `am`: moves to avoid.
    AvoidMoves(Vec<Move>),
    /// `pm`: the expected move.
    PredictedMove(Move),
    /// `sm`: the move that was played.
    SuppliedMove(Move),
    /// `pv`: the expected line.
    PredictedVariation(Vec<Move>),
    /// `id`: the name of the position.
    Id(String),
    /// `c0` to `c9`: comments.
    Comment {
        /// The number, 0 to 9.
        number: u8,
        /// The text.
        text: String,
    },
    /// `ce`: the score in centipawns from the view of the side to move.
    Centipawns(i32),
    /// `acd`: the depth of the analysis in plies.
    Depth(u32),
    /// `acn`: the nodes of the analysis.
    Nodes(u64),
    /// `acs`: the time of the analysis in seconds.
    Seconds(u64),
    /// `dm`: the number of moves to checkmate; negative if the side to move is mated.
    DirectMate(i32),
    /// `hmvc`: plies since the last capture or pawn move.
    HalfmoveClock(u32),
    /// `fmvn`: the fullmove number.
    FullmoveNumber(u32),
    /// Any other operation, unchanged.
    Other {
        /// The opcode.
        opcode: String,
        /// The operands.
        operands: Vec<Operand>,
    },
}

/// An operand of an unknown operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// A token without quotes.
    Token(String),
    /// A text in quotes.
    Text(String),
}

readyok_protocol::errors! {
    /// Why a text is not an EPD, or an EPD cannot be written.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum EpdError {
        Move { opcode: String, error: MoveError } => "`{opcode}`: {error}",
    }
    wraps {
        Position(PositionError),
        Defect(EpdDefect),
    }
}

readyok_protocol::errors! {
    /// A defect of the operations of an EPD.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    pub enum EpdDefect {
        UnclosedQuote => "a quoted text is not closed",
        TooManyOperations => "there are too many operations",
        /// Texts are shortened.
        InvalidOpcode { text: String } => "`{text}` is not an opcode",
        MissingOperand { opcode: String } => "`{opcode}` lacks an operand",
        InvalidOperand { opcode: String, text: String } =>
            "`{text}` cannot be an operand of `{opcode}`",
    }
}

impl Epd {
    /// Reads an EPD of chess or Chess960.
    ///
    /// Moves can have the lenient forms of [`Position::parse`]. The two counters of a FEN can precede the
    /// operations; they become `hmvc` and `fmvn`. Empty operations are skipped, and the last one needs no
    /// semicolon.
    pub fn read(game: Game, text: &str) -> Result<Self, EpdError> {
        read_epd(game, text)
    }

    /// Writes the EPD in one line.
    ///
    /// # Errors
    /// A text has quotes or control characters, or an opcode or token has a character that the standard
    /// does not allow.
    pub fn text(&self, form: FenForm) -> Result<String, EpdError> {
        write_epd(self, form)
    }

    /// The name of the position: its first `id`.
    pub fn id(&self) -> Option<&str> {
        self.operations.iter().find_map(|operation| match operation {
            Operation::Id(id) => Some(id.as_str()),
            _ => None,
        })
    }
}

impl Operation {
    /// The opcode: `bm`, `c0`.
    pub fn opcode(&self) -> &str {
        match self {
            Self::BestMoves(_) => "bm",
            Self::AvoidMoves(_) => "am",
            Self::PredictedMove(_) => "pm",
            Self::SuppliedMove(_) => "sm",
            Self::PredictedVariation(_) => "pv",
            Self::Id(_) => "id",
            Self::Comment { number, .. } => {
                const NAMES: [&str; 10] =
                    ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"];
                NAMES.get(usize::from(*number)).copied().unwrap_or("")
            }
            Self::Centipawns(_) => "ce",
            Self::Depth(_) => "acd",
            Self::Nodes(_) => "acn",
            Self::Seconds(_) => "acs",
            Self::DirectMate(_) => "dm",
            Self::HalfmoveClock(_) => "hmvc",
            Self::FullmoveNumber(_) => "fmvn",
            Self::Other { opcode, .. } => opcode,
        }
    }
}

/// Whether an opcode has a variant of its own.
fn is_known(opcode: &str) -> bool {
    const KNOWN: [&str; 13] =
        ["bm", "am", "pm", "sm", "pv", "id", "ce", "acd", "acn", "acs", "dm", "hmvc", "fmvn"];
    KNOWN.contains(&opcode) || comment_number(opcode).is_some()
}

fn comment_number(opcode: &str) -> Option<u8> {
    let &[b'c', digit @ b'0'..=b'9'] = opcode.as_bytes() else { return None };
    digit.checked_sub(b'0')
}

/// Whether a text is a valid opcode: a letter, then up to 14 letters, digits and underscores.
fn is_opcode(text: &str) -> bool {
    let known = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.len() <= 15
        && text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(known)
}

fn bad_operand(opcode: &str, text: &str) -> EpdError {
    let opcode = shortened(opcode);
    EpdError::Defect(match text {
        "" => EpdDefect::MissingOperand { opcode },
        text => EpdDefect::InvalidOperand { opcode, text: shortened(text) },
    })
}

fn bad_opcode(text: &str) -> EpdError {
    EpdDefect::InvalidOpcode { text: shortened(text) }.into()
}

/// Much more than any test suite has.
const MAX_OPERATIONS: usize = 256;

fn read_epd(game: Game, text: &str) -> Result<Epd, EpdError> {
    let mut rest = text;
    let fields: Vec<&str> = (0..4).filter_map(|_| next_field(&mut rest)).collect();
    let mut setup = Setup::read(game, &fields.join(" "))?;
    let mut operations = counters(&mut rest);
    while let Some((opcode, operands)) = next_operation(&mut rest)? {
        if operations.len() >= MAX_OPERATIONS {
            return Err(EpdDefect::TooManyOperations.into());
        }
        if !is_opcode(&opcode) {
            return Err(bad_opcode(&opcode));
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
            let (inner, after) = quoted.split_once('"').ok_or(EpdDefect::UnclosedQuote)?;
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
        Some(Operand::Text(text)) => return Err(bad_opcode(&text)),
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

fn write_epd(epd: &Epd, form: FenForm) -> Result<String, EpdError> {
    let fen = epd.position.text(form);
    let mut text = fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
    for operation in &epd.operations {
        let opcode = operation.opcode();
        // An operation that would be read with other operands is rejected.
        let other = matches!(operation, Operation::Other { .. });
        if !is_opcode(opcode) || (other && is_known(opcode)) {
            return Err(bad_opcode(opcode));
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
        Operation::DirectMate(number) => token(number.to_string()),
        Operation::Depth(number)
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
