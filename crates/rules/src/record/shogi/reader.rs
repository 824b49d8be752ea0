//! Reads the formats of shogi whose games are lines: headers and a board, then moves.

use std::io::BufRead;

use crate::{Game, Position, Setup, Side};

use super::super::{
    Defect, GameRecord, Headers, RecordErrorKind,
    input::{Line, LineReader, ReadLines},
};
use super::RecordBuilder;

/// The lines before the moves.
#[derive(Debug, Default)]
pub(in super::super) struct Head {
    pub(in super::super) headers: Headers,
    /// The comment on the start position.
    pub(in super::super) comment: String,
    /// The board, and the number of its rows that were read.
    pub(in super::super) setup: Option<Setup>,
    pub(in super::super) rows: u32,
    pub(in super::super) turn: Option<Side>,
    /// The first unexpected line.
    pub(in super::super) unexpected: Option<String>,
    /// Whether a line begins a game.
    pub(in super::super) seen: bool,
}

impl Head {
    pub(in super::super) fn setup(&mut self) -> &mut Setup {
        self.setup.get_or_insert_with(|| Setup::empty(Game::Shogi))
    }
}

/// Ranks of a board.
pub(in super::super) const RANKS: u32 = 9;

/// What a line before the moves is.
pub(in super::super) enum Part {
    Head,
    /// The last line before the moves.
    LastOfHead,
    /// The first line of moves.
    Moves,
    /// The line after a game.
    End,
}

/// The lines of a format of shogi.
pub(in super::super) trait ReadShogi {
    /// Whether a line begins a game, or is between two games.
    fn begins_a_game(line: &str) -> bool;

    /// Whether a line follows a game.
    fn is_next(_: &RecordBuilder, line: &str) -> bool {
        Self::begins_a_game(line)
    }

    fn head_line(&mut self, head: &mut Head, line: &Line) -> Result<Part, RecordErrorKind>;

    /// The start position. It can change the headers.
    fn start(&mut self, head: &mut Head) -> Result<Position, RecordErrorKind>;

    fn body_line(&mut self, draft: &mut RecordBuilder, line: &Line) -> Result<(), RecordErrorKind>;
}

impl<R: BufRead, S: Default> ReadLines for LineReader<R, S>
where
    Self: ReadShogi,
{
    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        self.game = S::default();
        let mut head = Head::default();
        let mut draft = None;
        while let Some(line) = self.next_line()? {
            if let Some(draft) = &mut draft {
                if Self::is_next(draft, &line.text) {
                    self.lines.push_back(line);
                    break;
                }
                self.body_line(draft, &line)?;
                continue;
            }
            match self.head_line(&mut head, &line)? {
                Part::Head => {}
                Part::LastOfHead => draft = Some(self.begin(&mut head)?),
                Part::Moves => {
                    let draft = draft.insert(self.begin(&mut head)?);
                    self.body_line(draft, &line)?;
                }
                Part::End => break,
            }
        }
        let draft = match (draft, head.unexpected.take()) {
            (Some(draft), _) => draft,
            (None, _) if head.seen => self.begin(&mut head)?,
            (None, Some(text)) => {
                return Err(RecordErrorKind::Defect(Defect::UnexpectedText { text }));
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(draft.finish(self.state.notices_mut())))
    }

    fn skip_game(&mut self) -> bool {
        loop {
            self.lines.begin_game();
            match self.lines.next() {
                Ok(Some(line)) if Self::begins_a_game(&line.text) => {
                    self.lines.push_back(line);
                    return true;
                }
                Ok(None) | Err(RecordErrorKind::Io(_)) => return false,
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }
}

impl<R: BufRead, S: Default> LineReader<R, S>
where
    Self: ReadShogi,
{
    fn begin(&mut self, head: &mut Head) -> Result<RecordBuilder, RecordErrorKind> {
        let start = self.start(head)?;
        let mut draft = RecordBuilder::new(start, self.lines.limits(), self.location)?;
        draft.record.headers = std::mem::take(&mut head.headers);
        draft.comment = std::mem::take(&mut head.comment);
        Ok(draft)
    }
}
