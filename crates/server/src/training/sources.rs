//! Exercises out of reports and files.

use std::io::{self, Cursor, Read};

use readyok_protocol::Score;
use readyok_rules::record::{GameDocument, GameRecord, Node, Tag};
use readyok_rules::{Epd, FenForm, Game, Operation, Position};

use super::csv::{self, Columns, read_csv};
use super::problem::{MAX_ERRORS, Omitted, Problem, each_line, shortened};
use super::{Task, is_checkmate};
use crate::errors::{epd_error, io_error};
use crate::game::GameSession;
use crate::game::position_view::move_text;
use crate::import::{is_cut, read_each};
use crate::store::StoredReport;
use crate::wire::{ExerciseKind, ExerciseSource, Label, LineMove, Side};
use readyok_rules::record::compression::Decompressed;

/// Maximum length in plies of a missed mate that becomes a mate problem.
const MAX_MATE: usize = 15;
/// Maximum number of stored moves of a solution.
const MAX_SOLUTION: usize = 200;
/// The size of the beginning of a file, which decides its format, in bytes.
const BEGINNING: usize = 64 << 10;

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

pub(super) fn new_task(
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
        start: None,
        line: Vec::new(),
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

/// Passes the problems of a file, which can be compressed, to `visit` until it returns false: rows of CSV, EPD with `bm`,
/// `dm` or `pv`, or records that begin with a position, whose main line is the solution.
pub(crate) fn read_problems(
    name: &str,
    source: impl Read + Send,
    mut visit: impl FnMut(Problem) -> bool,
) -> Omitted {
    let mut omitted = Omitted::default();
    let mut beginning = vec![0; BEGINNING];
    let opened = Decompressed::new(source).and_then(|mut source| {
        let length = fill(&mut source, &mut beginning)?;
        beginning.truncate(length);
        Ok(source)
    });
    let source = match opened {
        Ok(source) => source,
        Err(error) => {
            omitted.error(1, io_error(&error).into());
            return omitted;
        }
    };
    let text = String::from_utf8_lossy(&beginning).into_owned();
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let source = Cursor::new(beginning).chain(source);
    if let Some(columns) = first.and_then(Columns::of) {
        read_csv(columns, source, &mut omitted, visit);
    } else if first.is_some_and(|line| read_epd(line).is_ok()) {
        each_line(source, &mut omitted, |number, line, omitted| {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                return true;
            }
            match read_epd(line) {
                Ok(epd) => {
                    match epd_task(&epd, name).and_then(|it| Problem::new(&it, None, Vec::new())) {
                        Some(problem) => return visit(problem),
                        None => omitted.skipped += 1,
                    }
                }
                Err(error) => omitted.error(number, epd_error(Some(Game::Chess), &error)),
            }
            true
        });
    } else {
        let faults = read_each(name, source, |record| {
            if let Some(problem) = record_problem(record, name) {
                return visit(problem);
            }
            omitted.skipped += 1;
            true
        });
        let cut = faults.warnings.into_iter().filter(is_cut);
        omitted.errors = faults.errors.into_iter().chain(cut).take(MAX_ERRORS).collect();
        omitted.total_errors = faults.total_errors.saturating_add(faults.total_cut);
    }
    omitted
}

/// Reads until the buffer is full or the source ends.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match source.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(length)
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

fn record_problem(record: &GameRecord, file: &str) -> Option<Problem> {
    let task = record_task(record, file)?;
    let rating = record.headers.get("Rating").and_then(|rating| rating.trim().parse().ok());
    let themes = record.headers.get("Themes").unwrap_or_default();
    Problem::new(&task, rating, csv::themes(themes))
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
    use crate::wire::{ErrorInfo, Variant};

    #[derive(Debug)]
    struct Found {
        tasks: Vec<Task>,
        problems: Vec<Problem>,
        skipped: u32,
        errors: Vec<ErrorInfo>,
    }

    fn read(name: &str, text: &str) -> Found {
        let mut problems = Vec::new();
        let omitted = read_problems(name, text.as_bytes(), |problem| {
            problems.push(problem);
            problems.len() < 100
        });
        let task = |it: &Problem| Task::restored(&it.stored, it.variant, it.kind);
        let tasks = problems.iter().map(|it| task(it).expect("it is readable")).collect();
        Found { tasks, problems, skipped: omitted.skipped, errors: omitted.errors }
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

    const HEADER: &str =
        "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n";
    const ROW: &str = "00sJ9,r3r1k1/p4ppp/2p2n2/1p6/3P1qb1/2NQR3/PPB2PP1/R1B3K1 w - - 5 18,e3g3 e8e1 g1h2 e1c1 a1c1 f4h6 h2g1 h6c1,2671,105,87,325,advantage attraction fork,https://lichess.org/gyFeQsOE#35,French_Defense\n";
    const MATE: &str = "000Zo,4r3/1k6/pp3r2/1b2P2p/3R1p2/P1R2P2/1P4PP/6K1 w - - 0 35,e5f6 e8e1 g1f2 e1f1,1353,74,94,1500,\"endgame,mate mateIn2\",,\n";

    #[test]
    fn rows_of_csv_begin_with_the_move_of_the_opponent() {
        let found = read("lichess.csv", &format!("{HEADER}{ROW}{MATE}"));
        assert_eq!(found.errors, []);
        let [first, second] = &found.tasks[..] else { panic!("{} problems", found.tasks.len()) };
        assert_eq!((first.side, first.kind), (Side::Second, ExerciseKind::BestMove));
        assert_eq!((&first.line[..], first.solution.len()), (&["e3g3".to_owned()][..], 7));
        assert_eq!(first.source.name, "00sJ9");
        assert_eq!(found.problems[0].rating, Some(2671));
        assert_eq!(found.problems[0].themes, ["advantage", "attraction", "fork"]);
        assert_eq!((second.kind, second.mate), (ExerciseKind::Mate, Some(2)));
        // A header is not necessary, and the position is the key.
        assert_eq!(read("a", ROW).problems, found.problems[..1]);
        let position = Problem::new(first, None, Vec::new()).expect("it is written");
        assert_eq!(position.key, found.problems[0].key);
    }

    #[test]
    fn bad_rows_are_errors_with_their_numbers() {
        let text = format!(
            "{HEADER}a,8/8/8 w - - 0 1,e2e4 e7e5,1500\nb,\n{ROW}c,7k/8/8/8/8/8/R7/1R5K b - - 0 1,h8h7 a2a9,1\n\
             d,7k/8/8/8/8/8/R7/1R5K b - - 0 1,h8h7,1\ne,7k/8/8/8/8/8/R7/1R5K b - - 0 1,h8h7 h1h2,high\n{}\n{MATE}",
            "x".repeat(20_000)
        );
        let found = read("bad.csv", &text);
        assert_eq!(found.tasks.len(), 3, "one without a rating");
        let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            errors,
            [
                "line 2: the board has 3 ranks; 8 are required",
                "line 3: missing column: FEN",
                "line 5: a2a9: not a move of this game",
                "line 6: no solution was found",
                "line 7: not a rating: high",
                "line 8: too long: line",
            ]
        );
    }

    #[test]
    fn tsume_problems_come_from_csv() {
        let found = read(
            "tsume.csv",
            "SFEN,Moves,Themes\n4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1,G*5b,\n",
        );
        assert_eq!((found.tasks[0].variant, found.tasks[0].mate), (Variant::Shogi, Some(1)));
        assert_eq!(found.problems[0].themes, ["mate", "mateIn1"]);
    }

    #[test]
    fn compressed_files_are_read() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut encoder, format!("{HEADER}{ROW}").as_bytes()).expect("memory");
        let bytes = encoder.finish().expect("memory");
        let mut count = 0;
        read_problems("lichess.csv.gz", &bytes[..], |_| {
            count += 1;
            true
        });
        assert_eq!(count, 1);
    }
}
