//! The tablebase result of `readyok analyse --syzygy`.

use std::io::{self, Write};

use readyok_rules::{
    Move, Position, Syzygy, TablebaseCategory, TablebaseEnd, TablebaseError, TablebaseMove,
    TablebaseResult, TablebaseValue,
};
use serde::Serialize;

/// The JSON line of a tablebase result, see `docs/readyok.md`. Missing values are omitted.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "tablebase")]
struct Record {
    #[serde(flatten)]
    value: ValueRecord,
    moves: Vec<MoveRecord>,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct ValueRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<TablebaseCategory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtz: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<TablebaseEnd>,
}

#[derive(Debug, Serialize)]
struct MoveRecord {
    #[serde(rename = "move")]
    mv: String,
    move_text: String,
    #[serde(flatten)]
    value: ValueRecord,
    zeroing: bool,
}

/// The result of a position by tablebases, ready to print.
#[derive(Debug)]
pub struct TablebaseReport<'a> {
    position: &'a Position,
    result: Result<TablebaseResult, TablebaseError>,
}

impl<'a> TablebaseReport<'a> {
    /// Probes the tables.
    pub fn new(tables: &Syzygy, position: &'a Position) -> Self {
        Self { position, result: tables.probe_moves(position) }
    }

    /// Why there is no result.
    pub fn error(&self) -> Option<TablebaseError> {
        self.result.as_ref().err().copied()
    }

    /// Prints one JSON line.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        let record = match &self.result {
            Ok(result) => Record {
                value: value_record(result.value, result.end),
                moves: result.moves.iter().map(|mv| self.move_record(mv)).collect(),
                error: None,
            },
            Err(error) => Record {
                value: value_record(TablebaseValue::default(), None),
                moves: Vec::new(),
                error: Some(error.to_string()),
            },
        };
        serde_json::to_writer(&mut out, &record)?;
        out.write_all(b"\n")
    }

    /// Prints a table of the moves.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write_table(&self, mut out: impl Write) -> io::Result<()> {
        let result = match &self.result {
            Ok(result) => result,
            Err(error) => return writeln!(out, "tablebase: {error}"),
        };
        let TablebaseValue { dtz, .. } = result.value;
        let mut title = format!("tablebase: {}", value_text(result.value, result.end));
        if let Some(dtz) = dtz.filter(|_| result.end.is_none()) {
            title = format!("{title}, DTZ {dtz}");
        }
        writeln!(out, "{title}")?;
        let rows = result.moves.iter().map(|candidate| {
            let dtz = candidate.value.dtz.filter(|_| candidate.end.is_none());
            let remark = if candidate.is_zeroing { "zeroing" } else { "" };
            [
                self.text(candidate.mv),
                value_text(candidate.value, candidate.end),
                dtz.map_or(String::new(), |dtz| dtz.to_string()),
                remark.to_owned(),
            ]
        });
        let heading = ["move", "result", "DTZ", ""].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0)
        };
        let (mv_width, result_width, dtz_width) = (width(0), width(1), width(2));
        for [mv, result, dtz, remark] in &rows {
            let row =
                format!("{mv:mv_width$}  {result:result_width$}  {dtz:>dtz_width$}  {remark}");
            writeln!(out, "{}", row.trim_end())?;
        }
        Ok(())
    }

    fn text(&self, mv: Move) -> String {
        self.position.notation(mv, readyok_rules::Notation::Western)
    }

    fn move_record(&self, candidate: &TablebaseMove) -> MoveRecord {
        MoveRecord {
            mv: candidate.mv.to_uci(self.position.game().castling_form()),
            move_text: self.text(candidate.mv),
            value: value_record(candidate.value, candidate.end),
            zeroing: candidate.is_zeroing,
        }
    }
}

fn value_record(value: TablebaseValue, end: Option<TablebaseEnd>) -> ValueRecord {
    ValueRecord { category: value.category, dtz: value.dtz, end }
}

fn value_text(value: TablebaseValue, end: Option<TablebaseEnd>) -> String {
    match (end, value.category) {
        (Some(end), _) => end.to_string(),
        (None, Some(category)) => category.to_string(),
        (None, None) => "unknown".to_owned(),
    }
}
