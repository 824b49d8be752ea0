//! Exercises out of reports and files.

use std::io::Cursor;

use readyok_protocol::Score;
use readyok_rules::record::{GameDocument, GameRecord, Node, Tag};
use readyok_rules::{Epd, FenForm, Game, Operation, Position};

use super::{Task, is_checkmate};
use crate::errors::epd_error;
use crate::game::GameSession;
use crate::game::position_view::move_text;
use crate::import::read_each;
use crate::store::StoredReport;
use crate::wire::{ErrorInfo, ExerciseKind, ExerciseSource, Label, LineMove, Side};

/// Maximum length in plies of a missed mate that becomes a mate problem.
const MAX_MATE: usize = 15;
/// Maximum number of stored moves of a solution.
const MAX_SOLUTION: usize = 200;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 120;
/// Maximum number of reported errors.
const MAX_ERRORS: usize = 100;

/// The mistakes of some sides in a game with a report, and the mates that they missed.
pub(crate) fn mistakes(
    session: &GameSession,
    report: &StoredReport,
    (name, sides): (&str, &[Side]),
) -> Vec<Task> {
    let mut document = GameDocument::from(session.tree().to_record());
    document.engine = report.notes.clone();
    let moves = report.nodes.windows(2).filter_map(|pair| {
        // The game may have changed after the report.
        let node = document.record.node((*pair.last()?).into())?;
        (node.parent() == pair.first().map(|parent| (*parent).into())).then_some(node)
    });
    moves
        .filter_map(|node| mistake(&document, node, sides))
        .map(|task| {
            let name = shortened(name);
            let source = ExerciseSource { name, game: Some(session.id()), ..task.source };
            Task { engine: Some(report.settings.engine), source, ..task }
        })
        .collect()
}

/// The exercise of a move, if a side of these has made it and it is a mistake.
fn mistake(document: &GameDocument, node: &Node, sides: &[Side]) -> Option<Task> {
    let GameDocument { record, engine } = document;
    let (parent, played) = (node.parent()?, node.mv()?.legal()?);
    let (before, after) = (engine.get(parent)?, engine.get(node.id())?);
    let position = record.position_after(parent)?;
    if !sides.contains(&position.turn()) {
        return None;
    }
    let uci = played.to_uci(record.game().castling_form());
    let best = before.lines.iter().take(1).flat_map(|line| &line.moves);
    let (solution, end) = legal_line(&position, best.map(String::as_str));
    if solution.first().is_none_or(|first| *first == uci) {
        return None;
    }
    let missed = before.score.is_mating() && !after.score.is_mated();
    let is_mate = missed && solution.len() <= MAX_MATE && is_checkmate(&end);
    let label = document.label(node.id());
    if !is_mate && !matches!(label, Some(Label::Mistake | Label::Blunder)) {
        return None;
    }
    let played = LineMove { text: move_text(&position, played), uci };
    let source = ExerciseSource {
        node: Some(parent.into()),
        played: Some(played),
        ..ExerciseSource::default()
    };
    let kind = if is_mate { ExerciseKind::Mate } else { ExerciseKind::Mistake };
    let task = new_task(&position, kind, solution, source);
    Some(Task { score: Some(before.score), ..task })
}

fn new_task(
    position: &Position,
    kind: ExerciseKind,
    solution: Vec<String>,
    source: ExerciseSource,
) -> Task {
    let game = position.game();
    let (_, end) = legal_line(position, solution.iter().map(String::as_str));
    let mate = (kind == ExerciseKind::Mate && is_checkmate(&end)).then_some(solution.len());
    let mate = mate.map(|plies| if game == Game::Shogi { plies } else { plies.div_ceil(2) });
    Task {
        variant: game,
        position: position.text(FenForm::default()),
        side: position.turn(),
        kind,
        solution,
        best: Vec::new(),
        mate: mate.and_then(|mate| u32::try_from(mate).ok()),
        score: (kind == ExerciseKind::Mate).then_some(Score::MateInUnknown),
        engine: None,
        source,
    }
}

/// The legal moves at the start of a line, and the position after them.
fn legal_line<'a>(
    start: &Position,
    moves: impl Iterator<Item = &'a str>,
) -> (Vec<String>, Position) {
    let mut position = start.clone();
    let mut line = Vec::new();
    for uci in moves.take(MAX_SOLUTION) {
        if position.play_uci(uci).is_err() {
            break;
        }
        line.push(uci.to_owned());
    }
    (line, position)
}

fn shortened(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect()
}

/// The problems of a file, and what was wrong with it.
#[derive(Debug, Default)]
pub(crate) struct FoundExercises {
    pub(crate) tasks: Vec<Task>,
    /// The number of entries that are no problems.
    pub(crate) skipped: u32,
    pub(crate) errors: Vec<ErrorInfo>,
}

/// Reads the problems of a file: EPD with `bm`, `dm` or `pv`, or records that begin with a position, whose main line
/// is the solution. `limit` is the maximum number of problems.
pub(crate) fn read_exercises(name: &str, bytes: &[u8], limit: usize) -> FoundExercises {
    let mut found = FoundExercises::default();
    let text = String::from_utf8_lossy(bytes);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    if first.is_some_and(|line| read_epd(line).is_ok()) {
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if limit <= found.tasks.len() {
                break;
            }
            match read_epd(line) {
                Ok(epd) => match epd_task(&epd, name) {
                    Some(task) => found.tasks.push(task),
                    None => found.skipped += 1,
                },
                Err(error) if found.errors.len() < MAX_ERRORS => {
                    let error = epd_error(Some(Game::Chess), &error);
                    found.errors.push(error.with(|context| context.line = Some(number)));
                }
                Err(_) => (),
            }
        }
        return found;
    }
    let faults = read_each(name, Cursor::new(bytes), |record| {
        match record_task(record, name) {
            Some(task) => found.tasks.push(task),
            None => found.skipped += 1,
        }
        found.tasks.len() < limit
    });
    found.errors = faults.errors;
    found
}

fn read_epd(line: &str) -> Result<Epd, readyok_rules::EpdError> {
    // Castling rights that name files are those of Chess960.
    Epd::read(Game::Chess, line).or_else(|error| Epd::read(Game::Chess960, line).map_err(|_| error))
}

fn epd_task(epd: &Epd, file: &str) -> Option<Task> {
    let position = &epd.position;
    if position.outcome().is_some() {
        return None;
    }
    let form = position.game().castling_form();
    let (mut best, mut variation, mut mate, mut avoids) = (Vec::new(), Vec::new(), None, false);
    for operation in &epd.operations {
        match operation {
            Operation::BestMoves(moves) => best = moves.iter().map(|mv| mv.to_uci(form)).collect(),
            Operation::PredictedVariation(moves) => {
                variation = moves.iter().map(|mv| mv.to_uci(form)).collect();
            }
            Operation::DirectMate(moves) => {
                mate = u32::try_from(*moves).ok().filter(|moves| 0 < *moves);
            }
            Operation::AvoidMoves(_) => avoids = true,
            _ => (),
        }
    }
    if best.is_empty() && variation.is_empty() && mate.is_none() && avoids {
        return None;
    }
    let fits = variation.first().is_some_and(|first| best.is_empty() || best.contains(first));
    let solution: Vec<String> =
        if fits { variation } else { best.first().cloned().into_iter().collect() };
    let (_, end) = legal_line(position, solution.iter().map(String::as_str));
    let is_mate = mate.is_some() || solution.is_empty() || is_checkmate(&end);
    let kind = if is_mate { ExerciseKind::Mate } else { ExerciseKind::BestMove };
    let name = shortened(epd.id().unwrap_or(file));
    let source = ExerciseSource { name, ..ExerciseSource::default() };
    let task = new_task(position, kind, solution, source);
    Some(Task { best, mate: mate.or(task.mate), ..task })
}

fn record_task(record: &GameRecord, file: &str) -> Option<Task> {
    let start = record.start();
    let game = record.game();
    let is_usual = start.to_string() == Position::start(game).to_string();
    if is_usual || start.defect().is_some() || start.outcome().is_some() {
        return None;
    }
    let form = game.castling_form();
    let moves = record.mainline().map_while(|node| node.mv()?.legal());
    let moves: Vec<String> = moves.take(MAX_SOLUTION).map(|mv| mv.to_uci(form)).collect();
    let (solution, end) = legal_line(start, moves.iter().map(String::as_str));
    let is_mate = game == Game::Shogi || solution.is_empty() || is_checkmate(&end);
    let kind = if is_mate { ExerciseKind::Mate } else { ExerciseKind::BestMove };
    let event = record.header(Tag::Event).filter(|value| !value.is_empty() && *value != "?");
    let name = shortened(event.unwrap_or(file));
    let source = ExerciseSource { name, ..ExerciseSource::default() };
    Some(new_task(start, kind, solution, source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Variant;

    fn read(name: &str, text: &str) -> FoundExercises {
        read_exercises(name, text.as_bytes(), 100)
    }

    #[test]
    fn epd_has_best_moves_and_mates() {
        let found = read(
            "suite.epd",
            "# a comment\n\
             r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - bm Qxf7#; id \"scholar\";\n\
             7k/8/8/8/8/8/R7/1R5K w - - dm 2;\n\
             7k/8/8/8/8/8/R7/1R5K w - - bm Kg2 Kg1;\n\
             7k/8/8/8/8/8/R7/1R5K w - - am Kg2;\n\
             7k/8/8 w - - bm Kg2;\n",
        );
        let kinds: Vec<_> = found.tasks.iter().map(|task| (task.kind, task.mate)).collect();
        assert_eq!(
            kinds,
            [
                (ExerciseKind::Mate, Some(1)),
                (ExerciseKind::Mate, Some(2)),
                (ExerciseKind::BestMove, None),
            ]
        );
        assert_eq!(found.tasks[0].source.name, "scholar");
        assert_eq!(found.tasks[1].source.name, "suite.epd");
        assert_eq!(found.tasks[2].best, ["h1g2", "h1g1"]);
        assert_eq!((found.skipped, found.errors.len()), (1, 1));
        assert!(found.errors[0].to_string().starts_with("line 6"), "{}", found.errors[0]);
    }

    #[test]
    fn records_with_a_position_are_problems() {
        let pgn = "[FEN \"7k/8/8/8/8/8/R7/1R5K w - - 0 1\"]\n[Event \"Ladder\"]\n\n\
                   1. Ra7 Kg8 2. Rb8# *\n\n[Event \"A game\"]\n\n1. e4 e5 *\n";
        let found = read("problems.pgn", pgn);
        assert_eq!((found.tasks.len(), found.skipped), (1, 1));
        let task = &found.tasks[0];
        assert_eq!((task.mate, task.solution.len()), (Some(2), 3));
        assert_eq!(task.source.name, "Ladder");
    }

    #[test]
    fn tsume_problems_come_from_sfen_lists() {
        let found = read(
            "tsume.sfen",
            "sfen 4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\n\
             position sfen 4k4/9/4P4/9/9/9/9/9/9 b S2r2b4g3s4n4l17p 1 moves S*4b\n",
        );
        let variants: Vec<_> = found.tasks.iter().map(|task| task.variant).collect();
        assert_eq!(variants, [Variant::Shogi, Variant::Shogi], "{found:?}");
        assert!(found.tasks.iter().all(|task| task.kind == ExerciseKind::Mate));
        assert_eq!(found.tasks[1].solution, ["S*4b"]);
    }

    #[test]
    fn the_number_of_problems_is_limited() {
        let line = "7k/8/8/8/8/8/R7/1R5K w - - dm 2;\n".repeat(5);
        assert_eq!(read_exercises("a.epd", line.as_bytes(), 3).tasks.len(), 3);
    }
}
