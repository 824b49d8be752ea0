//! Problems in CSV: the public format of Lichess, or other files with columns of the same names.
//!
//! ```text
//!  PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags
//! ```
//! The first move of a `FEN` is the opponent's. A column `SFEN` has problems of shogi, whose first move is the solver's.

use std::borrow::Cow;
use std::io::Read;

use readyok_rules::Position;

use super::problem::{Omitted, Problem, each_line, shortened};
use super::{Task, is_checkmate, key};
use crate::errors::{move_error, position_error};
use crate::wire::{ErrorCode, ErrorInfo, ExerciseKind, Variant};

/// Maximum number of moves of a solution.
const MAX_MOVES: usize = 200;
/// Maximum number of themes of a problem, and their maximum length in bytes.
const MAX_THEMES: usize = 40;
const MAX_THEME: usize = 40;
/// Maximum number of columns.
const MAX_COLUMNS: usize = 100;

/// The columns of Lichess.
const LICHESS: &str = "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes";

/// The indices of the columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    variant: Variant,
    /// Whether the first line names the columns.
    has_header: bool,
    position: usize,
    moves: usize,
    name: Option<usize>,
    rating: Option<usize>,
    themes: Option<usize>,
}

impl Columns {
    /// The columns that a first line names, or those of Lichess if it is a row. None if the file is not CSV.
    pub(super) fn of(line: &str) -> Option<Self> {
        Self::named(line, true).or_else(|| {
            let columns = Self::named(LICHESS, false)?;
            let fields = fields(line);
            let position = fields.get(columns.position)?;
            let is_row = 2 < fields.len() && position.split('/').count() == 8;
            is_row.then_some(columns)
        })
    }

    fn named(line: &str, has_header: bool) -> Option<Self> {
        let names = fields(line);
        let find = |name: &str| names.iter().position(|it| it.trim().eq_ignore_ascii_case(name));
        let (variant, position) = match find("FEN") {
            Some(position) => (Variant::Chess, position),
            None => (Variant::Shogi, find("SFEN")?),
        };
        Some(Self {
            variant,
            has_header,
            position,
            moves: find("Moves")?,
            name: find("PuzzleId").or_else(|| find("Id")).or_else(|| find("Name")),
            rating: find("Rating"),
            themes: find("Themes"),
        })
    }
}

/// Passes the problems of rows to `visit` until it returns false.
pub(super) fn read_csv(
    columns: Columns,
    source: impl Read,
    omitted: &mut Omitted,
    mut visit: impl FnMut(Problem) -> bool,
) {
    let mut is_header = columns.has_header;
    each_line(source, omitted, |number, line, omitted| {
        let line = line.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
        if line.trim().is_empty() || line.starts_with('#') || std::mem::take(&mut is_header) {
            return true;
        }
        match problem(columns, &fields(line)) {
            Ok((problem, warning)) => {
                if let Some(warning) = warning {
                    omitted.error(number, warning);
                }
                visit(problem)
            }
            Err(error) => {
                omitted.error(number, error);
                true
            }
        }
    });
}

/// The fields of a line. A field in quotes can contain commas and doubled quotes.
fn fields(line: &str) -> Vec<Cow<'_, str>> {
    if !line.contains('"') {
        return line.split(',').take(MAX_COLUMNS).map(Cow::Borrowed).collect();
    }
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if !quoted || letters.peek() != Some(&'"') => {
                quoted = !quoted;
                continue;
            }
            // A doubled quote.
            '"' => drop(letters.next()),
            ',' if !quoted && fields.len() < MAX_COLUMNS => {
                fields.push(String::new());
                continue;
            }
            _ => (),
        }
        fields.last_mut().into_iter().for_each(|field| field.push(letter));
    }
    fields.into_iter().map(Cow::Owned).collect()
}

/// The themes of a field, which are separated by spaces, commas or semicolons.
pub(super) fn themes(text: &str) -> Vec<String> {
    let is_theme = |theme: &&str| {
        !theme.is_empty() && theme.len() <= MAX_THEME && !theme.chars().any(char::is_control)
    };
    let themes = text.split([' ', ',', ';']).filter(is_theme);
    themes.take(MAX_THEMES).map(str::to_owned).collect()
}

/// The problem of a row, and why its rating is not used.
fn problem(
    columns: Columns,
    fields: &[Cow<'_, str>],
) -> Result<(Problem, Option<ErrorInfo>), ErrorInfo> {
    let field = |index: Option<usize>| {
        fields.get(index?).map(|field| field.trim()).filter(|field| !field.is_empty())
    };
    let required = |index: usize, name: &str| {
        field(Some(index)).ok_or_else(|| ErrorCode::MissingColumn { name: name.to_owned() })
    };
    let is_shogi = columns.variant == Variant::Shogi;
    let text = required(columns.position, if is_shogi { "SFEN" } else { "FEN" })?;
    let moves: Vec<&str> =
        required(columns.moves, "Moves")?.split_whitespace().take(MAX_MOVES).collect();
    let read = |variant| Position::from_text(variant, text);
    let position = match read(columns.variant) {
        // Castling rights that name files are those of Chess960.
        Err(error) if columns.variant == Variant::Chess => {
            read(Variant::Chess960).map_err(|_| error)
        }
        read => read,
    };
    let mut position = position.map_err(|error| position_error(Some(columns.variant), &error))?;
    let (line, solution) = moves.split_at(usize::from(!is_shogi).min(moves.len()));
    if solution.is_empty() {
        return Err(ErrorCode::NoSolution.into());
    }
    let play = |position: &mut Position, moves: &[&str]| {
        moves
            .iter()
            .try_for_each(|mv| position.play_uci(mv).map(drop))
            .map_err(|it| move_error(&it))
    };
    play(&mut position, line)?;
    let key = key(&position);
    play(&mut position, solution)?;
    let is_mate = is_shogi || is_checkmate(&position);
    let kind = if is_mate { ExerciseKind::Mate } else { ExerciseKind::BestMove };
    let mut themes = themes(field(columns.themes).unwrap_or_default());
    if themes.is_empty() && is_mate {
        let plies = solution.len();
        let mate = if is_shogi { plies } else { plies.div_ceil(2) };
        themes = vec!["mate".to_owned(), format!("mateIn{mate}")];
    }
    let name = shortened(field(columns.name).unwrap_or_default());
    let (rating, warning) = match field(columns.rating).map(|text| (text, text.parse::<u16>())) {
        None => (None, None),
        Some((_, Ok(rating))) => (Some(rating).filter(|rating| 0 < *rating), None),
        Some((text, Err(_))) => {
            (None, Some(ErrorCode::InvalidRating { text: shortened(text) }.into()))
        }
    };
    let variant = position.game();
    // The separator of the short form.
    let text = text.replace(char::is_whitespace, " ");
    let stored = Task::short_form(&text, [line, solution], &name);
    Ok((Problem { key, variant, kind, stored, rating, themes }, warning))
}
