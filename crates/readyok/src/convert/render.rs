//! Games as bytes of an output format.

use std::fmt;
use std::path::Path;

use readyok_rules::record::{
    self, Encoding, Feature, Format, GameRecord, Losses, Node, PgnOptions, RecordMove, WriteError,
};
use readyok_rules::{Epd, FenForm, Game, Operation, Position};

use super::compression::Compression;
use super::input::InputFormat;
use super::json;

/// A format of converted games.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OutputFormat {
    Record(Format),
    /// A position of chess per line.
    Fen,
    /// A position of shogi per line.
    Sfen,
    /// A position of chess per line, with the next move.
    Epd,
    /// A JSON object per line and game.
    Json,
}

impl OutputFormat {
    /// The format of a file extension, also before that of a compressed file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let path = Compression::of(path).map_or(path, |(_, stem)| stem);
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "fen" => Self::Fen,
            "sfen" => Self::Sfen,
            "epd" => Self::Epd,
            "json" | "jsonl" | "ndjson" => Self::Json,
            extension => Self::Record(Format::from_extension(extension)?),
        })
    }

    /// The file extension.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Record(Format::Pgn) => "pgn",
            Self::Record(Format::Kif) => "kif",
            Self::Record(Format::Ki2) => "ki2",
            Self::Record(Format::Csa) => "csa",
            Self::Record(Format::Jkf) => "jkf",
            Self::Record(Format::Uci) => "uci",
            Self::Record(Format::Usi) => "usi",
            Self::Fen => "fen",
            Self::Sfen => "sfen",
            Self::Epd => "epd",
            Self::Json => "jsonl",
        }
    }

    /// The text between two games. `None` if a file holds only one.
    pub(super) fn separator(self) -> Option<&'static str> {
        match self {
            Self::Record(format) => format.separator(),
            Self::Fen | Self::Sfen | Self::Epd | Self::Json => Some(""),
        }
    }
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(format) => format.fmt(f),
            Self::Fen => f.write_str("FEN"),
            Self::Sfen => f.write_str("SFEN"),
            Self::Epd => f.write_str("EPD"),
            Self::Json => f.write_str("JSON"),
        }
    }
}

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
    pub(crate) format: Option<OutputFormat>,
    pub(crate) pgn: PgnOptions,
    pub(crate) positions: PositionChoice,
    pub(crate) encoding: Encoding,
}

impl Renderer {
    /// The format of a game that was read from an input format.
    pub(crate) fn format_of(
        &self,
        record: &GameRecord,
        input: Option<InputFormat>,
    ) -> OutputFormat {
        self.format.unwrap_or_else(|| match (input, record.game()) {
            (Some(InputFormat::Json), _) => OutputFormat::Json,
            (Some(InputFormat::Epd), Game::Chess | Game::Chess960) => OutputFormat::Epd,
            (Some(InputFormat::Fen), Game::Chess | Game::Chess960) => OutputFormat::Fen,
            (_, Game::Chess | Game::Chess960) => OutputFormat::Record(Format::Pgn),
            (Some(InputFormat::Fen | InputFormat::Epd), Game::Shogi) => OutputFormat::Sfen,
            (Some(InputFormat::Record(Format::Pgn | Format::Uci)), Game::Shogi) => {
                OutputFormat::Record(Format::Usi)
            }
            (Some(InputFormat::Record(format)), Game::Shogi) => OutputFormat::Record(format),
            (None, Game::Shogi) => OutputFormat::Record(Format::Kif),
        })
    }

    /// Writes a game. Returns its bytes, and what the format cannot hold of it.
    pub(crate) fn render(
        &self,
        record: &GameRecord,
        format: OutputFormat,
    ) -> Result<(Vec<u8>, Losses), RenderError> {
        let mut out = Vec::new();
        let is_shogi = record.game() == Game::Shogi;
        let losses = match format {
            OutputFormat::Fen | OutputFormat::Epd if is_shogi => {
                return Err(RenderError::WrongGame(format));
            }
            OutputFormat::Sfen if !is_shogi => return Err(RenderError::WrongGame(format)),
            OutputFormat::Fen | OutputFormat::Sfen | OutputFormat::Epd => {
                self.positions(record, format, &mut out)
            }
            // JSON and JKF are always UTF-8.
            OutputFormat::Json => {
                json::write(record, &mut out)
                    .map_err(|error| RenderError::Write(WriteError::Io(error.into())))?;
                return Ok((out, Losses::of_annotations(record, &[Feature::Marks])));
            }
            OutputFormat::Record(Format::Pgn) => {
                record::write_pgn(record, &self.pgn, &mut out).map_err(RenderError::Write)?
            }
            OutputFormat::Record(format) => {
                let format = match format {
                    Format::Usi if !is_shogi => Format::Uci,
                    format => format,
                };
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
    pub(crate) fn loses_characters(&self, record: &GameRecord, format: OutputFormat) -> bool {
        let is_utf8 = matches!(format, OutputFormat::Json | OutputFormat::Record(Format::Jkf));
        if is_utf8 || self.encoding == Encoding::Utf8 {
            return false;
        }
        let renderer = Self { encoding: Encoding::Utf8, ..self.clone() };
        renderer.render(record, format).is_ok_and(|(bytes, _)| {
            std::str::from_utf8(&bytes).is_ok_and(|text| !self.encoding.has_all(text))
        })
    }

    /// Writes the chosen positions. Their moves are not asked for, so they are not lost.
    fn positions(&self, record: &GameRecord, format: OutputFormat, out: &mut Vec<u8>) -> Losses {
        // The operations of an EPD are those of the start position.
        let is_epd = format == OutputFormat::Epd;
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
#[derive(Debug)]
pub(crate) enum RenderError {
    Write(WriteError),
    /// The format does not support the game.
    WrongGame(OutputFormat),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(error) => error.fmt(f),
            Self::WrongGame(OutputFormat::Sfen) => f.write_str("SFEN does not support chess"),
            Self::WrongGame(format) => write!(f, "{format} does not support shogi"),
        }
    }
}
