//! USI positions: `position startpos moves 7g7f`, `sfen … moves …`, or an SFEN.
//!
//! Every line is a game of shogi; empty lines and those that begin with `#` are skipped.
//!
//! # Limitations
//! Only the start position and the moves of the main line are written, up to a null move or an illegal
//! one.

use std::io::BufRead;

use rsshogi::types::Move;

use crate::{Game, Position, error::shortened};

use super::{
    Bookmark, Format, GameRecord, Limits, Notice, RecordError, RecordErrorKind, WriteError,
    encoding::Transcoder,
    input::{Line, Lines, Location},
    shogi::Draft,
};

/// Reads lines until the source ends.
#[derive(Debug)]
pub(super) struct Reader<R> {
    lines: Lines<R>,
    location: Location,
    game: u64,
    over: bool,
}

impl<R: BufRead> Reader<R> {
    pub(super) fn new(input: Transcoder<R>, limits: Limits, from: Bookmark) -> Self {
        let lines = Lines::new(input, limits, from);
        Self { lines, location: Location::START, game: from.games, over: false }
    }

    /// The location of the next line.
    pub(super) fn bookmark(&self) -> Bookmark {
        self.lines.bookmark(Format::Usi, self.game)
    }

    /// A line is a game or an error.
    #[expect(clippy::unused_self, reason = "every reader has this method")]
    pub(super) fn notices(&self) -> &[Notice] {
        &[]
    }

    pub(super) fn next(&mut self) -> Option<Result<GameRecord, RecordError>> {
        if self.over {
            return None;
        }
        self.lines.begin_game();
        let read = self.read_line();
        if !matches!(read, Ok(None)) {
            self.game += 1;
        }
        let read = read.map_err(|kind| {
            let Location { line, column } = self.location.max(self.lines.location());
            self.over = matches!(kind, RecordErrorKind::Io(_));
            RecordError { game: self.game, line, column, kind }
        });
        self.over |= matches!(read, Ok(None));
        read.transpose()
    }

    fn read_line(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        while let Some(line) = self.lines.next()? {
            self.location = Location { line: line.number, column: 1 };
            let text = line.text.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return self.read_game(&line, text).map(Some);
            }
        }
        Ok(None)
    }

    fn read_game(&mut self, line: &Line, text: &str) -> Result<GameRecord, RecordErrorKind> {
        let mut tokens = text.split_whitespace().peekable();
        tokens.next_if_eq(&"position");
        let start = if tokens.next_if_eq(&"startpos").is_some() {
            Position::start(Game::Shogi)
        } else {
            tokens.next_if_eq(&"sfen");
            let mut fields = Vec::new();
            while fields.len() < 4
                && let Some(token) = tokens.next_if(|token| *token != "moves")
            {
                // The move number can be missing before the moves.
                if fields.len() == 3 && !token.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(RecordErrorKind::Unexpected(shortened(token)));
                }
                fields.push(token);
            }
            Position::from_text(Game::Shogi, &fields.join(" ")).map_err(RecordErrorKind::Start)?
        };
        let mut draft = Draft::new(start, self.lines.limits())?;
        if let Some(token) = tokens.next()
            && token != "moves"
        {
            self.location = line.location(token);
            return Err(RecordErrorKind::Unexpected(shortened(token)));
        }
        for token in tokens {
            self.location = line.location(token);
            let mv = Move::from_usi(token).ok_or_else(|| draft.illegal(token))?;
            draft.play(mv)?;
        }
        Ok(draft.finish())
    }
}

/// The line of a record.
pub(super) fn write(record: &GameRecord) -> Result<String, WriteError> {
    if record.game() != Game::Shogi {
        return Err(WriteError::WrongGame { format: Format::Usi, game: record.game() });
    }
    let start = record.start().to_string();
    let mut line = if start == Position::start(Game::Shogi).to_string() {
        "position startpos".to_owned()
    } else {
        format!("position sfen {start}")
    };
    let moves = record.mainline().map_while(|node| node.mv()?.legal());
    for (index, mv) in moves.enumerate() {
        line.push_str(if index == 0 { " moves " } else { " " });
        line.push_str(&mv.to_uci(crate::CastlingForm::KingMove));
    }
    line.push('\n');
    Ok(line)
}
