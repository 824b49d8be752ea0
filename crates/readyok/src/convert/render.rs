//! Games as bytes of an output format.

use readyok_rules::record::{
    self, Encoding, Feature, Format, GameRecord, Losses, Node, PgnOptions, RecordMove, WriteError,
};
use readyok_rules::{Epd, FenForm, Game, Operation, Position};

use super::format::FileFormat;

/// The positions of a game that are written as FEN, SFEN or EPD.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum PositionChoice {
    First,
    #[default]
    Last,
    All,
    /// The position after this number of plies. Shorter games have none.
    Ply(usize),
}

impl std::str::FromStr for PositionChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "first" => Self::First,
            "last" => Self::Last,
            "all" => Self::All,
            text => Self::Ply(text.parse().map_err(|_| "expected first, last, all or a ply")?),
        })
    }
}

/// Writes games in a format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renderer {
    /// The format; that of the input if `None`.
    pub(crate) format: Option<FileFormat>,
    pub(crate) pgn: PgnOptions,
    pub(crate) positions: PositionChoice,
    pub(crate) encoding: Encoding,
}

impl Renderer {
    /// The format of a game that was read from an input format.
    pub(crate) fn format_of(&self, record: &GameRecord, input: Option<FileFormat>) -> FileFormat {
        let game = record.game();
        self.format.unwrap_or_else(|| match (input, game) {
            (Some(format @ (FileFormat::Epd | FileFormat::Fen)), _) if format.supports(game) => {
                format
            }
            (_, Game::Chess | Game::Chess960) => FileFormat::Record(Format::PGN),
            (Some(FileFormat::Record(format)), Game::Shogi) => {
                FileFormat::Record(if format.supports(game) { format } else { Format::USI })
            }
            (Some(_), Game::Shogi) => FileFormat::Sfen,
            (None, Game::Shogi) => FileFormat::Record(Format::KIF),
        })
    }

    /// Writes a game. Returns its bytes, and what the format cannot hold of it.
    pub(crate) fn render(
        &self,
        record: &GameRecord,
        format: FileFormat,
    ) -> Result<(Vec<u8>, Losses), RenderError> {
        let mut out = Vec::new();
        let losses = match format {
            FileFormat::Fen | FileFormat::Sfen | FileFormat::Epd => {
                if !format.supports(record.game()) {
                    return Err(RenderError::WrongGame(format));
                }
                self.positions(record, format, &mut out)
            }
            FileFormat::Record(format) if format == Format::PGN => {
                record::write_pgn(record, &self.pgn, &mut out).map_err(RenderError::Write)?
            }
            FileFormat::Record(format) => {
                let is_usi = format == Format::USI && !format.supports(record.game());
                let format = if is_usi { Format::UCI } else { format };
                // These formats declare their encoding.
                let losses = record::write_encoded(record, format, self.encoding, &mut out)
                    .map_err(RenderError::Write)?;
                return Ok((out, losses));
            }
        };
        let out = match (self.encoding, std::str::from_utf8(&out)) {
            (Encoding::Utf8, _) | (_, Err(_)) => out,
            (encoding, Ok(text)) => encoding.encode(text).into_owned(),
        };
        Ok((out, losses))
    }

    /// Whether the output encoding lacks characters of a game.
    pub(crate) fn loses_characters(&self, record: &GameRecord, format: FileFormat) -> bool {
        if format.is_utf8() || self.encoding == Encoding::Utf8 {
            return false;
        }
        let renderer = Self { encoding: Encoding::Utf8, ..self.clone() };
        renderer.render(record, format).is_ok_and(|(bytes, _)| {
            std::str::from_utf8(&bytes).is_ok_and(|text| !self.encoding.has_all(text))
        })
    }

    /// Writes the chosen positions. Their moves are not asked for, so they are not lost.
    fn positions(&self, record: &GameRecord, format: FileFormat, out: &mut Vec<u8>) -> Losses {
        // The operations of an EPD are those of the start position.
        let is_epd = format == FileFormat::Epd;
        let is_complete = is_epd && record.is_empty();
        let omitted: &[Feature] = if is_complete { &[] } else { &Feature::ALL };
        let mut losses = Losses::of_annotations(record, omitted);
        let last = record.plies();
        let mut moves = record.mainline();
        for (ply, position) in record.positions().enumerate() {
            let next = moves.next().and_then(Node::mv).and_then(RecordMove::legal);
            let is_chosen = match self.positions {
                PositionChoice::First => ply == 0,
                PositionChoice::Last => ply == last,
                PositionChoice::All => true,
                PositionChoice::Ply(chosen) => ply == chosen,
            };
            if !is_chosen {
                continue;
            }
            let text = if is_epd {
                let mut operations = record.epd_operations();
                operations.extend(next.map(Operation::SuppliedMove));
                let epd = Epd { position, operations };
                epd.text(FenForm::XFen).unwrap_or_else(|_| {
                    // A text with quotes cannot be written.
                    losses = Losses::of_annotations(record, &Feature::ALL);
                    epd_of_position(epd.position)
                })
            } else {
                position.to_string()
            };
            out.extend_from_slice(text.as_bytes());
            out.push(b'\n');
        }
        losses
    }
}

fn epd_of_position(position: Position) -> String {
    Epd { position, operations: Vec::new() }.text(FenForm::XFen).unwrap_or_default()
}

/// Why a game could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RenderError {
    #[error(transparent)]
    Write(WriteError),
    /// The format does not support the game: only SFEN supports no chess.
    #[error("{} does not support {}", .0, if *.0 == FileFormat::Sfen { "chess" } else { "shogi" })]
    WrongGame(FileFormat),
}
