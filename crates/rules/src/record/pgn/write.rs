//! Writes PGN in the export format: roster first, lines of up to 80 columns.

use std::{fmt::Write as _, io::Write};

use memchr::memchr;
use shakmaty::{Chess, Color, Position as _, uci::UciMove};

use crate::{
    BoardRef, CastlingForm, FenForm, Game, Move, Notation,
    chess::{after_null, long_notation, write_san},
};

use super::super::{
    Annotations, Feature, Format, GameRecord, Loss, Losses, Node, NodeId, RecordMove, WriteError,
    loss::Written,
};
use super::{ILLEGAL_MOVE, ROSTER, command, unknown_value, without_line_breaks};

/// Columns of a line, without its end.
const WIDTH: usize = 79;

/// The style of PGN. The default is the export format of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PgnOptions {
    /// The notation of moves: SAN, long algebraic notation ([`Notation::Long`]), or UCI
    /// ([`Notation::Uci`]).
    pub notation: Notation,
    /// The form of the start position.
    pub fen: FenForm,
    /// Whether Black's move has a number after a comment: `1. e4 { best } 1... e5`. Readers do not
    /// require it.
    pub renumber: bool,
    /// Whether a space separates comments from their braces.
    pub padded_comments: bool,
    /// Whether lines can break at the spaces of comments. Otherwise a line with a comment can be longer
    /// than 79 columns.
    pub wrap_comments: bool,
}

impl Default for PgnOptions {
    fn default() -> Self {
        Self {
            notation: Notation::Western,
            fen: FenForm::XFen,
            renumber: true,
            padded_comments: true,
            wrap_comments: false,
        }
    }
}

/// Writes a record of chess as PGN in a style, with an empty line after it. Returns what PGN cannot hold of the
/// record.
///
/// # Errors
/// The record is of another game, or the output fails.
pub fn write_pgn<W: Write>(
    record: &GameRecord,
    options: &PgnOptions,
    out: &mut W,
) -> Result<Losses, WriteError> {
    let game = record.game();
    if !Format::PGN.supports(game) {
        return Err(WriteError::WrongGame { format: Format::PGN, game });
    }
    // One write per game: the output may be unbuffered.
    let Written { text, losses } = write(record, *options);
    out.write_all(text.as_bytes())?;
    Ok(losses)
}

pub(in super::super) fn write(record: &GameRecord, options: PgnOptions) -> Written {
    let mut text = String::with_capacity(USUAL_SIZE.max(record.len() * 8));
    write_headers(record, options, &mut text);
    text.push('\n');
    let castling = record.game().castling_form();
    let mut text = Movetext {
        options: &options,
        castling,
        text,
        scratch: String::new(),
        column: 0,
        glued: true,
    };
    write_comments(record.annotations(NodeId::ROOT), &mut text);
    // No moves follow a diagram.
    if let BoardRef::Chess(board) = record.start().board() {
        write_moves(record, board.position().clone(), &mut text);
    }
    text.token(record.result.as_str());
    text.text.push_str("\n\n");
    Written { text: text.text, losses: losses(record) }
}

/// PGN holds everything except times of ends, the ends of variations, and variations of an illegal move.
fn losses(record: &GameRecord) -> Losses {
    let mut losses = Losses::default();
    let mut ends = 0;
    for end in record.all_annotations().filter_map(|notes| notes.end.as_ref()) {
        ends += 1;
        losses.add_if(end.elapsed.is_some(), Loss::Annotations(Feature::Clocks));
    }
    losses.add_if(ends > usize::from(record.end().is_some()), Loss::Result);
    let has_variations = record.len() > record.plies();
    let is_illegal_variation = |node: &Node| {
        let mut variations = record.children(node.id()).skip(1);
        variations.any(|first| first.mv().is_some_and(RecordMove::is_illegal))
    };
    let has_illegal = has_variations && record.any_node(is_illegal_variation);
    losses.add_if(has_illegal, Loss::Annotations(Feature::Variations));
    losses
}

/// Bytes of most games.
const USUAL_SIZE: usize = 2048;

fn write_headers(record: &GameRecord, options: PgnOptions, out: &mut String) {
    for name in ROSTER {
        let value = match name {
            "Result" => record.result.as_str(),
            _ => record
                .headers
                .get(name)
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| unknown_value(name)),
        };
        write_header(name, value, out);
    }
    let start = record.start();
    let is_chess960 = start.game() == Game::Chess960;
    if is_chess960 {
        write_header("Variant", "Chess960", out);
    }
    let is_start = match start.board() {
        BoardRef::Chess(board) => *board.position() == Chess::default(),
        BoardRef::Shogi(_) | BoardRef::Diagram(_) => false,
    };
    if is_chess960 || !is_start {
        write_header("SetUp", "1", out);
        write_header("FEN", &start.text(options.fen), out);
    }
    let mut written = Vec::new();
    for (name, value) in record.headers.iter() {
        // The first header of each roster name is already written.
        if ROSTER.contains(&name) && !written.contains(&name) {
            written.push(name);
        } else if !matches!(name, "Result" | "FEN" | "SetUp" | "Variant") {
            write_header(name, value, out);
        }
    }
    if record.headers.get("Termination").is_none()
        && let Some(end) = record.end()
    {
        let tag = end.text.as_deref().unwrap_or_else(|| end.outcome.termination.pgn_tag());
        write_header("Termination", tag, out);
    }
}

fn write_header(name: &str, value: &str, out: &mut String) {
    if name.is_empty() {
        return;
    }
    out.push('[');
    out.extend(
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }),
    );
    out.push_str(" \"");
    if value.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'\\' | b'"')) {
        out.push_str(value);
    } else {
        for letter in value.chars() {
            match letter {
                '\\' | '"' => out.extend(['\\', letter]),
                letter if letter.is_control() => out.push(' '),
                letter => out.push(letter),
            }
        }
    }
    out.push_str("\"]\n");
}

/// Remaining work, as a stack: recursion would let a record determine the depth of the call stack.
enum Task {
    /// The first move after a node, its variations, and the rest of the line.
    Line {
        after: NodeId,
        position: Chess,
        numbered: bool,
    },
    /// A variation that begins with this node.
    Variation {
        first: NodeId,
        position: Chess,
    },
    Close,
}

fn write_moves(record: &GameRecord, start: Chess, text: &mut Movetext<'_>) {
    let mut tasks = vec![Task::Line { after: NodeId::ROOT, position: start, numbered: true }];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Close => text.close(),
            Task::Variation { first, position } => {
                text.open();
                let (next, _) = write_move(record, first, position, true, text);
                tasks.push(Task::Close);
                tasks.push(next);
            }
            Task::Line { after, position, numbered } => {
                let mut variations = record.children(after).map(Node::id);
                let Some(first) = variations.next() else { continue };
                let has_variations = variations.clone().next().is_some();
                let before = has_variations.then(|| position.clone());
                let (next, commented) = write_move(record, first, position, numbered, text);
                tasks.push(match next {
                    Task::Line { after, position, .. } => {
                        Task::Line { after, position, numbered: commented || has_variations }
                    }
                    other => other,
                });
                let Some(position) = before else { continue };
                let count = tasks.len();
                tasks.extend(
                    variations.map(|first| Task::Variation { first, position: position.clone() }),
                );
                if let Some(new) = tasks.get_mut(count..) {
                    new.reverse();
                }
            }
        }
    }
}

/// Writes a move and its annotations. Returns the next task, and whether there was a comment.
fn write_move(
    record: &GameRecord,
    id: NodeId,
    mut position: Chess,
    numbered: bool,
    text: &mut Movetext<'_>,
) -> (Task, bool) {
    let node = record.node(id);
    let mut commented = false;
    if let Some(node) = node
        && let Some(mv) = node.mv()
    {
        let notes = record.annotations(node.id());
        for comment in &notes.before {
            commented |= write_comment("", comment, text);
        }
        match mv {
            RecordMove::Legal(Move::Chess(mv)) => {
                text.number(&position, numbered || commented);
                text.move_token(&mut position, mv);
            }
            RecordMove::Null => {
                text.number(&position, numbered || commented);
                text.token("--");
                // The move was added here, so it is possible.
                position = after_null(&position).unwrap_or(position);
            }
            // Readers would reject it.
            RecordMove::Illegal(mv) => {
                let uci = mv.uci(text.castling);
                write_comment("", &format!("{ILLEGAL_MOVE}{uci}"), text);
            }
            RecordMove::Legal(Move::Shogi(_)) => {}
        }
        if !mv.is_illegal() {
            for nag in &notes.nags {
                text.built_token(|token| push(token, format_args!("${}", nag.0)));
            }
        }
        commented = write_comments(notes, text);
    }
    let renumber = commented && text.options.renumber;
    (Task::Line { after: id, position, numbered: renumber }, renumber)
}

/// Writes the commands and comments after a move. False if there was nothing to write.
fn write_comments(notes: &Annotations, text: &mut Movetext<'_>) -> bool {
    if notes.is_empty() {
        return false;
    }
    let mut commands = std::mem::take(&mut text.scratch);
    commands.clear();
    command::write_commands(notes, &mut commands);
    let end = notes.end.iter().flat_map(|end| &end.comments);
    let mut comments = notes.comments.iter().chain(end);
    let first = comments.next().map_or("", String::as_str);
    let mut commented = write_comment(&commands, first, text);
    for comment in comments {
        commented |= write_comment("", comment, text);
    }
    text.scratch = commands;
    commented
}

fn write_comment(commands: &str, comment: &str, text: &mut Movetext<'_>) -> bool {
    let commands = commands.trim_end();
    if comment.is_empty() {
        if !commands.is_empty() {
            text.comment(&[commands]);
        }
        return !commands.is_empty();
    }
    let comment = without_line_breaks(comment);
    let comment = if comment.contains('\0') { comment.replace('\0', " ").into() } else { comment };
    let comment = comment.trim();
    if commands.is_empty() && comment.is_empty() {
        return false;
    }
    if !comment.contains('}') {
        text.comment(&[commands, comment]);
        return true;
    }
    if !commands.is_empty() {
        text.comment(&[commands]);
    }
    text.rest_of_line(comment);
    true
}

/// Writes the moves and comments of a game in lines.
struct Movetext<'a> {
    options: &'a PgnOptions,
    castling: CastlingForm,
    text: String,
    /// Memory for commands in comments.
    scratch: String,
    /// Characters of the current line.
    column: usize,
    /// Whether the next token follows without a space.
    glued: bool,
}

impl Movetext<'_> {
    fn token(&mut self, token: &str) {
        self.built_token(|text| text.push_str(token));
    }

    /// Adds a token in the same line, or in the next one if there is no room.
    fn built_token(&mut self, build: impl FnOnce(&mut String)) {
        let is_spaced = self.column > 0 && !self.glued;
        if is_spaced {
            self.text.push(' ');
        }
        let start = self.text.len();
        build(&mut self.text);
        let token = self.text.get(start..).unwrap_or_default();
        let lines = memchr(b'\n', token.as_bytes());
        let first = width(token.get(..lines.unwrap_or(token.len())).unwrap_or_default());
        let last = lines.map(|_| width(token.rsplit('\n').next().unwrap_or_default()));
        let column = self.column + usize::from(is_spaced) + first;
        self.glued = false;
        if self.column > 0 && column > WIDTH {
            if is_spaced {
                self.text.replace_range(start - 1..start, "\n");
            } else {
                self.text.insert(start, '\n');
            }
            self.column = last.unwrap_or(first);
        } else {
            self.column = last.unwrap_or(column);
        }
    }

    /// Writes the number of the next move. Black's is written where readers expect it.
    fn number(&mut self, position: &Chess, for_black: bool) {
        let dots = match position.turn() {
            Color::White => ".",
            Color::Black if for_black => "...",
            Color::Black => return,
        };
        let number = position.fullmoves().get();
        self.built_token(|text| {
            push_number(number, text);
            text.push_str(dots);
        });
    }

    /// Writes a move and plays it.
    fn move_token(&mut self, position: &mut Chess, mv: shakmaty::Move) {
        match self.options.notation {
            Notation::Western | Notation::WesternDigits | Notation::Japanese => {
                return self.built_token(|text| write_san(position, mv, text));
            }
            Notation::Long => self.token(&long_notation(position, mv)),
            Notation::Uci | Notation::Csa => {
                let uci = match self.castling {
                    CastlingForm::KingMove => UciMove::from_standard(mv),
                    CastlingForm::KingTakesRook => UciMove::from_chess960(mv),
                };
                self.built_token(|text| push(text, format_args!("{uci}")));
            }
        }
        position.play_unchecked(mv);
    }

    /// Writes texts as one comment.
    fn comment(&mut self, parts: &[&str]) {
        let space = if self.options.padded_comments { " " } else { "" };
        let parts = parts.iter().filter(|part| !part.is_empty());
        let build = |text: &mut String| {
            text.push('{');
            text.push_str(space);
            for (index, part) in parts.enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                text.push_str(part);
            }
            text.push_str(space);
            text.push('}');
        };
        if self.options.wrap_comments {
            let mut text = String::new();
            build(&mut text);
            text.split(' ').for_each(|part| self.token(part));
        } else {
            self.built_token(build);
        }
    }

    fn open(&mut self) {
        self.token("(");
        self.glued = true;
    }

    fn close(&mut self) {
        self.glued = true;
        self.token(")");
    }

    fn rest_of_line(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        self.built_token(|text| text.extend(["; ", line, "\n"]));
        self.glued = true;
    }
}

/// The number of characters.
fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

fn push_number(number: u32, text: &mut String) {
    if number >= 10 {
        push_number(number / 10, text);
    }
    text.extend(char::from_digit(number % 10, 10));
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(more);
}
