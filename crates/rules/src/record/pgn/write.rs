//! Writes PGN in the export format: roster first, lines of up to 80 columns.

use std::io::{self, Write};

use shakmaty::{Chess, Color, Position as _, san::SanPlus, uci::UciMove};

use crate::{
    BoardRef, CastlingForm, FenForm, Game, Move, Notation,
    chess::{after_null, long_notation},
};

use super::super::{Annotations, Format, GameRecord, Node, NodeId, RecordMove, WriteError};
use super::{ROSTER, command, unknown_value};

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

/// Writes a record of chess as PGN in a style, with an empty line after it.
///
/// # Errors
/// The record is of another game, or the output fails.
pub fn write_pgn<W: Write>(
    record: &GameRecord,
    options: &PgnOptions,
    out: &mut W,
) -> Result<(), WriteError> {
    let BoardRef::Chess(board) = record.start().board() else {
        return Err(WriteError::WrongGame { format: Format::Pgn, game: record.game() });
    };
    write_headers(record, *options, out)?;
    writeln!(out)?;
    let castling = record.game().castling_form();
    let mut text = Movetext { options, castling, out, column: 0, glued: true };
    if let Some(root) = record.root() {
        write_comments(root.annotations(), &mut text)?;
    }
    write_moves(record, board.position().clone(), &mut text)?;
    text.token(record.result.as_str())?;
    writeln!(text.out, "\n")?;
    Ok(())
}

fn write_headers<W: Write>(
    record: &GameRecord,
    options: PgnOptions,
    out: &mut W,
) -> io::Result<()> {
    for name in ROSTER {
        let value = match name {
            "Result" => record.result.as_str(),
            _ => record
                .headers
                .get(name)
                .filter(|it| !it.is_empty())
                .unwrap_or_else(|| unknown_value(name)),
        };
        write_header(name, value, out)?;
    }
    let start = record.start();
    let is_chess960 = start.game() == Game::Chess960;
    if is_chess960 {
        write_header("Variant", "Chess960", out)?;
    }
    let text = start.text(options.fen);
    if is_chess960 || text != crate::Position::start(Game::Chess).to_string() {
        write_header("SetUp", "1", out)?;
        write_header("FEN", &text, out)?;
    }
    let mut written = Vec::new();
    for (name, value) in record.headers.iter() {
        // The first header of each roster name is already written.
        if ROSTER.contains(&name) && !written.contains(&name) {
            written.push(name);
        } else if !matches!(name, "Result" | "FEN" | "SetUp" | "Variant") {
            write_header(name, value, out)?;
        }
    }
    if record.headers.get("Termination").is_none()
        && let Some(end) = record.end()
    {
        let tag = end.text.as_deref().unwrap_or_else(|| end.outcome.termination.pgn_tag());
        write_header("Termination", tag, out)?;
    }
    Ok(())
}

fn write_header<W: Write>(name: &str, value: &str, out: &mut W) -> io::Result<()> {
    let name: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
        .collect();
    if name.is_empty() {
        return Ok(());
    }
    let value = value.replace(char::is_control, " ").replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(out, "[{name} \"{value}\"]")
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

fn write_moves<W: Write>(
    record: &GameRecord,
    start: Chess,
    text: &mut Movetext<'_, W>,
) -> io::Result<()> {
    let mut tasks = vec![Task::Line { after: NodeId::ROOT, position: start, numbered: true }];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Close => text.close()?,
            Task::Variation { first, position } => {
                text.open()?;
                let (next, _) = write_move(record, first, position, true, text)?;
                tasks.push(Task::Close);
                tasks.push(next);
            }
            Task::Line { after, position, numbered } => {
                let mut variations = record.children(after).map(Node::id);
                let Some(first) = variations.next() else { continue };
                let (next, commented) =
                    write_move(record, first, position.clone(), numbered, text)?;
                let has_variations = variations.clone().next().is_some();
                tasks.push(match next {
                    Task::Line { after, position, .. } => {
                        Task::Line { after, position, numbered: commented || has_variations }
                    }
                    other => other,
                });
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
    Ok(())
}

/// Writes a move and its annotations. Returns the next task, and whether there was a comment.
fn write_move<W: Write>(
    record: &GameRecord,
    id: NodeId,
    mut position: Chess,
    numbered: bool,
    text: &mut Movetext<'_, W>,
) -> io::Result<(Task, bool)> {
    let node = record.node(id);
    let mut commented = false;
    if let Some(node) = node
        && let Some(mv) = node.mv()
    {
        for comment in &node.annotations().before {
            commented |= write_comment("", comment, text)?;
        }
        match mv {
            RecordMove::Legal(Move::Chess(mv)) => {
                text.number(&position, numbered || commented)?;
                text.move_token(&mut position, mv)?;
            }
            RecordMove::Null => {
                text.number(&position, numbered || commented)?;
                text.token("--")?;
                // The move was added here, so it is possible.
                position = after_null(&position).unwrap_or(position);
            }
            // Readers would reject it.
            RecordMove::Illegal(mv) => {
                let uci = mv.to_uci(text.castling);
                write_comment("", &format!("illegal move: {uci}"), text)?;
            }
            RecordMove::Legal(Move::Shogi(_)) => {}
        }
        let nags = if mv.is_illegal() { &[][..] } else { &node.annotations().nags };
        for nag in nags {
            text.token(&format!("${}", nag.0))?;
        }
        commented = write_comments(node.annotations(), text)?;
    }
    let renumber = commented && text.options.renumber;
    Ok((Task::Line { after: id, position, numbered: renumber }, renumber))
}

/// Writes the commands and comments after a move. False if there was nothing to write.
fn write_comments<W: Write>(notes: &Annotations, text: &mut Movetext<'_, W>) -> io::Result<bool> {
    let commands = command::commands(notes);
    let end = notes.end.iter().flat_map(|end| &end.comments);
    let mut comments = notes.comments.iter().chain(end);
    let first = comments.next().map_or("", String::as_str);
    let mut commented = write_comment(&commands, first, text)?;
    for comment in comments {
        commented |= write_comment("", comment, text)?;
    }
    Ok(commented)
}

fn write_comment<W: Write>(
    commands: &str,
    comment: &str,
    text: &mut Movetext<'_, W>,
) -> io::Result<bool> {
    // A carriage return would be read as a line end.
    let comment = comment.replace("\r\n", "\n").replace(['\r', '\0'], " ");
    // Readers take this text for the next game.
    let comment = comment.replace("\n[Event \"", "\n [Event \"");
    let comment = comment.trim();
    if commands.is_empty() && comment.is_empty() {
        return Ok(false);
    }
    if !comment.contains('}') {
        text.comment(format!("{commands}{comment}").trim())?;
        return Ok(true);
    }
    if !commands.is_empty() {
        text.comment(commands.trim())?;
    }
    for line in comment.lines() {
        text.rest_of_line(line.trim())?;
    }
    Ok(true)
}

/// Writes the moves and comments of a game in lines.
struct Movetext<'a, W> {
    options: &'a PgnOptions,
    castling: CastlingForm,
    out: &'a mut W,
    column: usize,
    /// Whether the next token follows without a space.
    glued: bool,
}

impl<W: Write> Movetext<'_, W> {
    fn token(&mut self, token: &str) -> io::Result<()> {
        let first = token.split('\n').next().unwrap_or(token).chars().count();
        if self.column > 0 {
            let space = usize::from(!self.glued);
            if self.column + space + first > WIDTH {
                self.out.write_all(b"\n")?;
                self.column = 0;
            } else if space > 0 {
                self.out.write_all(b" ")?;
                self.column += 1;
            }
        }
        self.glued = false;
        self.out.write_all(token.as_bytes())?;
        let last = token.rsplit('\n').next().unwrap_or(token).chars().count();
        self.column = if token.contains('\n') { last } else { self.column + first };
        Ok(())
    }

    /// Writes the number of the next move. Black's is written where readers expect it.
    fn number(&mut self, position: &Chess, for_black: bool) -> io::Result<()> {
        match position.turn() {
            Color::White => self.token(&format!("{}.", position.fullmoves())),
            Color::Black if for_black => self.token(&format!("{}...", position.fullmoves())),
            Color::Black => Ok(()),
        }
    }

    /// Writes a move and plays it.
    fn move_token(&mut self, position: &mut Chess, mv: shakmaty::Move) -> io::Result<()> {
        match self.options.notation {
            Notation::Western | Notation::WesternDigits | Notation::Japanese => {
                let san = SanPlus::from_move_and_play_unchecked(position, mv);
                return self.token(&san.to_string());
            }
            Notation::Long => self.token(&long_notation(position, mv))?,
            Notation::Uci | Notation::Csa => self.token(&match self.castling {
                CastlingForm::KingMove => UciMove::from_standard(mv).to_string(),
                CastlingForm::KingTakesRook => UciMove::from_chess960(mv).to_string(),
            })?,
        }
        position.play_unchecked(mv);
        Ok(())
    }

    fn comment(&mut self, comment: &str) -> io::Result<()> {
        let space = if self.options.padded_comments { " " } else { "" };
        let text = format!("{{{space}{comment}{space}}}");
        if self.options.wrap_comments {
            return text.split(' ').try_for_each(|part| self.token(part));
        }
        self.token(&text)
    }

    fn open(&mut self) -> io::Result<()> {
        self.token("(")?;
        self.glued = true;
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        self.glued = true;
        self.token(")")
    }

    fn rest_of_line(&mut self, line: &str) -> io::Result<()> {
        if line.is_empty() {
            return Ok(());
        }
        self.token(&format!("; {line}\n"))?;
        self.glued = true;
        Ok(())
    }
}
