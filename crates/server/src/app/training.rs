//! Exercises: made of reports and files, solved with the judgement of an engine, and scheduled.

use std::sync::Arc;

use readyok_library::Source;
use readyok_protocol::Score;
use readyok_rules::{Move, Position};

use super::App;
use super::saving::{Deferred, blocking};
use super::searches::found;
use crate::engine::BUILT_IN;
use crate::errors::illegal;
use crate::game::position_view::{line, move_text, position_view};
use crate::game::{EngineLine, GameSession, parse_move};
use crate::search::{Owner, Wanted};
use crate::store::{StoreError, StoredExercise, Times, storage};
use crate::time::{date, midnight, now};
use crate::training::{Lead, Memory, Task, Verdict, mistakes, no_solution};
use crate::wire::{
    Answer, ApiError, EngineId, ErrorCode, ErrorSubject, Exercise, ExerciseAttempt, ExerciseGrade,
    ExerciseId, ExerciseKind, GameId, LineMove, SearchInfo, SearchLimits, Side, TrainingQuery,
    TrainingView, Variant,
};

/// Number of moves of a line in the list.
const LISTED_MOVES: usize = 4;
/// Maximum number of exercises in one deletion.
const MAX_DELETED: usize = 10_000;
/// Time to evaluate a move, in milliseconds.
const JUDGE_TIME: u64 = 1500;
/// Additional depth of the search for a mate of a known length.
const MATE_DEPTH: u32 = 6;
/// Time to search for the solution of a problem, in milliseconds.
const SOLVE_TIME: u64 = 10_000;

const BOTH: [Side; 2] = [Side::First, Side::Second];

fn times() -> Times {
    let now = now();
    Times { now: date(now), midnight: midnight(now) }
}

impl App {
    /// The exercises of today, a part of all exercises, and statistics.
    pub(super) async fn training(&self, query: TrainingQuery) -> Result<TrainingView, ApiError> {
        let set = query.set;
        let new_per_day = self.state().settings.training.new_per_day;
        let found = self.writer.call(move |store| store.training(&query, new_per_day, times()));
        let found = found.await.map_err(storage)?;
        let found = found.ok_or_else(|| ApiError::not_found(ErrorSubject::TrainingSet, set))?;
        blocking(move || {
            let wire =
                |all: Vec<StoredExercise>| all.into_iter().map(StoredExercise::wire).collect();
            Ok(TrainingView {
                sets: found.sets,
                stats: found.stats,
                queue: wire(found.queue),
                days: found.days,
                chapters: found.chapters,
                themes: found.themes,
                ratings: found.ratings,
                exercises: found.exercises.into_iter().map(with_line).collect(),
                total: found.total,
            })
        })
        .await
    }

    async fn add_exercises(
        &self,
        tasks: Vec<Task>,
        restores: bool,
    ) -> Result<(u32, u32), ApiError> {
        let at = date(now());
        let added = self.writer.call(move |store| store.add_exercises(&tasks, restores, at));
        added.await.map_err(storage)
    }

    /// Makes exercises of one game, or of all games of the user with reports.
    pub(super) async fn collect_exercises(
        &self,
        game: Option<GameId>,
        side: Option<Side>,
    ) -> Result<Answer, ApiError> {
        let (mut added, mut known) = (0, 0);
        if let Some(id) = game {
            let sides = side.map_or_else(|| BOTH.to_vec(), |side| vec![side]);
            let tasks = self.mistakes_of(id, |_| sides).await?;
            (added, known) = self.add_exercises(tasks, true).await?;
            return Ok(Answer::ExercisesAdded { added, known });
        }
        let names = self.state().settings.training.names.clone();
        let names: Vec<String> = names.iter().map(|name| name.trim().to_lowercase()).collect();
        let games = self.writer.call(|store| store.reported_games()).await.map_err(storage)?;
        for id in games {
            let named = self.sides_named(id, &names)?;
            let Some(named) = named else { continue };
            let sides = |session: &GameSession| {
                let human = human_side(session);
                BOTH.into_iter()
                    .filter(|side| named.contains(side) || human == Some(*side))
                    .collect()
            };
            // A game that was deleted in the meantime, or is damaged, has no exercises.
            let Ok(tasks) = self.mistakes_of(id, sides).await else { continue };
            let (more_added, more_known) = self.add_exercises(tasks, false).await?;
            (added, known) = (added + more_added, known + more_known);
        }
        Ok(Answer::ExercisesAdded { added, known })
    }

    /// The sides with the name of the user. None if the game is not one of the user.
    fn sides_named(&self, id: GameId, names: &[String]) -> Result<Option<Vec<Side>>, ApiError> {
        let entries = self.library()?.entries(&[id]);
        let entries = entries.map_err(|error| storage(StoreError::Library(error)))?;
        let Some(entry) = entries.first() else { return Ok(None) };
        let is_own = |name: &String| names.contains(&name.trim().to_lowercase());
        let sides = BOTH.into_iter().zip(&entry.players).filter(|(_, name)| is_own(name));
        let sides: Vec<Side> = sides.map(|(side, _)| side).collect();
        let may_be_own = !sides.is_empty() || entry.summary.source == Source::Play;
        Ok(may_be_own.then_some(sides))
    }

    /// The mistakes of the sides that `sides` selects.
    async fn mistakes_of(
        &self,
        id: GameId,
        sides: impl FnOnce(&GameSession) -> Vec<Side> + Send,
    ) -> Result<Vec<Task>, ApiError> {
        let entries = self.library()?.entries(&[id]);
        let players = entries.ok().and_then(|mut all| all.pop()).map(|entry| entry.players);
        let name =
            players.map(|names| names.map(|name| if name.is_empty() { "?".into() } else { name }));
        let name = name.map(|name| name.join(" – ")).unwrap_or_default();
        let (session, report, _hold) = self.read_game(id).await?;
        let sides = sides(&session);
        blocking(move || {
            let Some(report) = &report else { return Ok(Vec::new()) };
            Ok(mistakes(&session, report, (&name, &sides)))
        })
        .await
    }

    async fn exercise(&self, id: ExerciseId) -> Result<StoredExercise, ApiError> {
        let found = self.writer.call(move |store| store.exercise(id)).await.map_err(storage)?;
        found.ok_or_else(|| missing(id))
    }

    pub(super) async fn open_exercise(&self, id: ExerciseId) -> Result<Answer, ApiError> {
        let StoredExercise { task, memory, .. } = self.exercise(id).await?;
        let Lead { start, moves, last, position } = task.lead()?;
        let position = position_view(&position, last.as_ref().map(|(_, mv)| *mv));
        let before = last.map(|(before, _)| Box::new(position_view(&before, None)));
        let intervals = Memory::intervals(memory.as_ref(), date(now()));
        Ok(Answer::ExercisePosition {
            position: Box::new(position),
            start,
            line: moves,
            before,
            intervals,
        })
    }

    /// Judges a move, which can take a search.
    pub(super) fn defer_attempt(
        self: &Arc<Self>,
        id: ExerciseId,
        moves: Vec<String>,
        text: String,
    ) -> Deferred {
        self.defer(|app| async move { app.try_exercise(id, &moves, &text).await })
    }

    /// Finds the solution, which can take a search.
    pub(super) fn defer_solution(self: &Arc<Self>, id: ExerciseId, moves: Vec<String>) -> Deferred {
        self.defer(|app| async move { app.solve_exercise(id, &moves).await })
    }

    async fn try_exercise(
        &self,
        id: ExerciseId,
        moves: &[String],
        text: &str,
    ) -> Result<Answer, ApiError> {
        let mut task = self.exercise(id).await?.task;
        let mut at = task.after(moves)?;
        let mv = parse_move(&at.position, text)?;
        let before = at.position.clone();
        let mut verdict = task.judge(moves, &before, mv);
        if verdict == Verdict::Unknown
            && moves.is_empty()
            && task.kind == ExerciseKind::Mate
            && task.solution.is_empty()
            // A problem without a mate is judged by the score.
            && let Ok(solution) = self.find_solution(id, &task, moves).await
        {
            task.solution = solution;
            verdict = task.judge(moves, &before, mv);
        }
        if !at.play(mv) {
            return Err(no_solution());
        }
        let mv = one_move(&before, mv);
        if verdict == Verdict::Unknown {
            // A known mate is found long before the end of the time.
            let depth = task.remaining_plies(moves.len()).map(|plies| 2 * plies + MATE_DEPTH);
            let limits = SearchLimits { depth, time: Some(JUDGE_TIME), ..SearchLimits::default() };
            let engine = task.engine.unwrap_or(BUILT_IN);
            let info = self.search_exercise(id, engine, &task, (at.clone(), limits)).await?;
            let best = info.lines.first();
            let score = best.and_then(|line| line.score);
            let score = score.ok_or_else(|| ApiError::engine(ErrorCode::NoScore))?;
            let reply = best.and_then(|line| line.pv.first()).map(|line| line.uci.as_str());
            verdict = task.judge_by_search(moves.len(), score, reply);
        }
        let attempt = match verdict {
            Verdict::Right { reply } => {
                let after = at.position.clone();
                let reply_move = reply.as_deref().map(|uci| after.parse_move(uci));
                let reply_move = reply_move.transpose().map_err(|error| illegal(&error))?;
                let mut last = at.moves.last().copied();
                if let Some(reply) = reply_move {
                    at.play(reply);
                    last = Some(reply);
                }
                ExerciseAttempt {
                    mv,
                    right: true,
                    solved: reply_move.is_none(),
                    reply: reply_move.map(|reply| one_move(&after, reply)),
                    loss: None,
                    longer: false,
                    position: Some(position_view(&at.position, last)),
                }
            }
            Verdict::Wrong { loss, longer } => ExerciseAttempt {
                mv,
                right: false,
                solved: false,
                reply: None,
                loss,
                longer,
                position: None,
            },
            Verdict::Unknown => return Err(ApiError::engine(ErrorCode::NoScore)),
        };
        Ok(Answer::ExerciseTried { attempt: Box::new(attempt) })
    }

    async fn solve_exercise(&self, id: ExerciseId, moves: &[String]) -> Result<Answer, ApiError> {
        let task = self.exercise(id).await?.task;
        let position = task.after(moves)?.position;
        let rest = match task.solution.strip_prefix(moves).filter(|rest| !rest.is_empty()) {
            Some(rest) => rest.to_vec(),
            None => self.find_solution(id, &task, moves).await?,
        };
        Ok(Answer::ExerciseSolution { line: line(&position, &rest, &[]) })
    }

    /// Searches for the solution after some moves. That of the complete problem is stored.
    async fn find_solution(
        &self,
        id: ExerciseId,
        task: &Task,
        moves: &[String],
    ) -> Result<Vec<String>, ApiError> {
        let is_mate = task.kind == ExerciseKind::Mate;
        let limits = match (is_mate, task.variant, task.mate) {
            (true, Variant::Shogi, _) => {
                SearchLimits { mate: Some(SOLVE_TIME), ..SearchLimits::default() }
            }
            (true, _, Some(mate)) => SearchLimits {
                mate: Some(mate.into()),
                time: Some(SOLVE_TIME),
                ..SearchLimits::default()
            },
            _ => SearchLimits { time: Some(JUDGE_TIME), ..SearchLimits::default() },
        };
        let at = task.after(moves)?;
        let info = self.search_exercise(id, BUILT_IN, task, (at, limits)).await?;
        let found =
            info.lines.first().filter(|line| !is_mate || line.score.is_some_and(Score::is_mating));
        let found: Vec<String> =
            found.map(|line| line.pv.iter().map(|mv| mv.uci.clone()).collect()).unwrap_or_default();
        if found.is_empty() {
            return Err(no_solution());
        }
        if moves.is_empty() {
            let solved = Task { solution: found.clone(), ..task.clone() };
            // It is searched again if it cannot be stored.
            drop(self.writer.run(move |store| store.save_task(id, &solved)));
        }
        Ok(found)
    }

    /// The result of a search of a position of an exercise.
    async fn search_exercise(
        &self,
        id: ExerciseId,
        engine: EngineId,
        task: &Task,
        (at, limits): (EngineLine, SearchLimits),
    ) -> Result<SearchInfo, ApiError> {
        let awaited = self.update(|state| {
            // The engine may have been removed.
            let engine = state.registry.get(engine).map_or(BUILT_IN, |_| engine);
            let wanted = Wanted::evaluation(at, limits);
            state.search_once(Owner::Exercise(id), engine, task.variant, wanted)
        })?;
        Ok(found(awaited).await?.info)
    }

    pub(super) async fn grade_exercise(
        &self,
        id: ExerciseId,
        grade: ExerciseGrade,
    ) -> Result<Answer, ApiError> {
        let at = date(now());
        let memory = self.writer.call(move |store| store.review(id, grade, at)).await;
        let memory = memory.map_err(storage)?.ok_or_else(|| missing(id))?;
        Ok(Answer::ExerciseGraded { due: memory.due })
    }

    pub(super) async fn delete_exercises(&self, ids: Vec<ExerciseId>) -> Result<Answer, ApiError> {
        if MAX_DELETED < ids.len() {
            return Err(ApiError::too_many(ErrorSubject::Exercise));
        }
        self.writer.call(move |store| store.delete_exercises(&ids)).await.map_err(storage)?;
        Ok(Answer::Done)
    }
}

/// An exercise with the last moves before it.
fn with_line(stored: StoredExercise) -> Exercise {
    let line = stored.task.line_end(LISTED_MOVES);
    Exercise { line, ..stored.wire() }
}

fn missing(id: ExerciseId) -> ApiError {
    ApiError::not_found(ErrorSubject::Exercise, id)
}

fn one_move(before: &Position, mv: Move) -> LineMove {
    LineMove { uci: mv.to_uci(before.game().castling_form()), text: move_text(before, mv) }
}

/// The side of the only human player.
fn human_side(session: &GameSession) -> Option<Side> {
    let is_human = |side: &Side| session.slot(*side).is_some_and(|slot| slot.engine().is_none());
    let mut humans = BOTH.into_iter().filter(is_human);
    let side = humans.next()?;
    humans.next().is_none().then_some(side)
}
