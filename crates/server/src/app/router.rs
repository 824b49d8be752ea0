//! Routes each command of a tab to the component that carries it out.

use std::sync::Arc;

use super::engines::preview;
use super::hints::Hints;
use super::library::Deferred;
use super::{App, Components, Context, Reply, storage};
use crate::engine::{EngineCommand, EngineEvent};
use crate::game::{ActiveGame, Document, Effect};
use crate::hub::TabId;
use crate::time::Moment;
use crate::wire::{
    Answer, ApiError, Command, Delta, Duplicates, ErrorCode, ErrorSubject, GameId, Limits, NodeId,
    ProcessId, Purpose, ReportOn, Settings, Topic,
};

/// Maximum size of the settings of the page, in bytes.
const MAX_SETTINGS: usize = 64 << 10;
/// Maximum number of names of the user.
const MAX_NAMES: usize = 32;
/// Maximum size of a name, in bytes.
const MAX_NAME: usize = 200;

impl App {
    pub(crate) async fn command(self: &Arc<Self>, tab: TabId, command: Command) -> Reply {
        let reply = self.route(tab, command).await;
        self.clocks.notify_one();
        self.idle.notify_one();
        reply
    }

    async fn route(self: &Arc<Self>, tab: TabId, command: Command) -> Reply {
        match command {
            Command::Subscribe { topic } => self.state().subscribe(tab, topic).into(),
            Command::Unsubscribe { topic } => {
                self.state().hub.unsubscribe(tab, topic);
                Ok(Answer::Done).into()
            }

            Command::NewGame { game } => self.new_game(&game).await.into(),
            Command::OpenGame { game } => self.open_game(game).await.into(),
            Command::CloseGame { game } => self.close_game(game).await.into(),
            Command::DeleteGame { game } => self.delete_game(game).await.into(),
            Command::DeleteGames { of } => self.delete_games(of).await.into(),
            Command::RestoreGames => self.restore_games().await.into(),
            Command::DecideDuplicates { games, decision } => {
                self.decide_duplicates(games, decision).await.into()
            }
            Command::SetLabel { of, label, set } => self.set_label(of, label, set).await.into(),
            Command::EditCollection { edit } => self.edit_collection(edit).await.into(),
            Command::Rematch { game } => self.rematch(game).await.into(),
            Command::Move { game, node, text } => self.change_for(Some(tab), |it, cx| {
                it.games.play_move(it.engines, cx, game, (node, &text))
            }),
            Command::Edit { game, edit } => {
                self.change_for(Some(tab), |it, cx| it.games.edit(it.engines, cx, game, edit))
            }
            Command::Resume { game, from, players } => self.change_for(Some(tab), |it, cx| {
                it.games.resume(it.engines, cx, game, (from, players.as_deref()))
            }),
            Command::GoTo { game, node } => self.change_for(Some(tab), |it, cx| {
                it.games.update(it.engines, cx, game, |session, _| {
                    session.go_to(node).map(|()| Vec::new())
                })
            }),
            Command::TakeBack { game } => {
                self.change_for(Some(tab), play(game, ActiveGame::take_back))
            }
            Command::Resign { game } => self.change_for(Some(tab), play(game, ActiveGame::resign)),
            Command::OfferDraw { game } => {
                self.change_for(Some(tab), play(game, ActiveGame::offer_draw))
            }
            Command::AcceptDraw { game } => {
                self.change_for(Some(tab), play(game, ActiveGame::accept_draw))
            }
            Command::Claim { game } => self.change_for(Some(tab), play(game, ActiveGame::claim)),
            Command::MoveNow { game } => {
                self.change_for(Some(tab), play(game, |active, _, _| active.move_now()))
            }
            Command::Pause { game } => self.change_for(Some(tab), play(game, ActiveGame::pause)),
            Command::Abort { game } => self.change_for(Some(tab), play(game, ActiveGame::abort)),
            Command::Hint { game, engine } => self.change_for(Some(tab), |it, cx| {
                Hints::start(it.games, it.engines, cx, game, engine)
            }),

            Command::Analyse { game, engine, settings } => self.change_for(Some(tab), |it, cx| {
                it.analyses.start(it.games, it.engines, cx, (game, engine, settings))
            }),
            Command::StopAnalysis { game, engine } => {
                self.change_for(Some(tab), |it, cx| it.analyses.stop(it.games, cx, game, engine))
            }
            Command::EndAnalysis { game, engine } => {
                self.change_for(Some(tab), |it, cx| it.analyses.end(it.games, cx, game, engine))
            }

            Command::AddEngine { entry, values } => {
                self.change_for(Some(tab), |it, cx| it.engines.add(cx, entry, values))
            }
            Command::FindEngines => Reply::Deferred(self.find_engines()),
            Command::ReadEngineList { text } => self.read_engine_list(&text).into(),
            Command::CopyEngine { engine } => {
                self.change_for(Some(tab), |it, cx| it.engines.copy(cx, engine))
            }
            Command::PreviewEngine { text } => preview(&text).into(),
            Command::ChangeEngine { engine, entry } => {
                self.change_for(Some(tab), |it, cx| it.engines.change(cx, engine, entry))
            }
            Command::RemoveEngine { engine } => self.remove_engine(engine).await.into(),
            Command::InspectEngine { engine } => {
                self.change_for(Some(tab), |it, cx| it.engines.probe(cx, engine))
            }
            Command::SetOptions { engine, of, values } => {
                self.change_for(Some(tab), |it, cx| it.engines.set_options(cx, engine, of, &values))
            }
            Command::PressButton { engine, option } => {
                self.change_for(Some(tab), |it, cx| it.engines.press_button(cx, engine, &option))
            }
            Command::SavePreset { engine, preset } => {
                self.change_for(Some(tab), |it, cx| it.engines.save_preset(cx, engine, preset))
            }
            Command::DeletePreset { engine, name } => {
                self.change_for(Some(tab), |it, cx| it.engines.delete_preset(cx, engine, &name))
            }
            Command::ApplyPreset { engine, name, of } => {
                self.change_for(Some(tab), |it, cx| it.engines.apply_preset(cx, engine, &name, of))
            }
            Command::RegisterEngine { engine, with } => {
                self.change_for(Some(tab), |it, cx| it.engines.register(cx, engine, with))
            }
            Command::CheckEngine { engine } => {
                self.change_for(Some(tab), |it, cx| it.engines.check(cx, engine))
            }
            Command::CancelCheck { engine } => {
                self.change_for(Some(tab), |it, _| it.engines.cancel_check(engine).map(done))
            }

            Command::OpenConsole { engine } => {
                self.change_for(Some(tab), |it, cx| it.engines.open_console(cx, engine))
            }
            Command::SendLine { process, line } => {
                self.change_for(Some(tab), |_, cx| cx.processes.send_line(process, line).map(done))
            }
            Command::QuitProcess { process } => self.change_for(Some(tab), |_, cx| {
                cx.processes.command(process, EngineCommand::Quit).map(done)
            }),
            Command::RestartProcess { process } => {
                self.change_for(Some(tab), |it, cx| it.restart_process(cx, process))
            }
            Command::KillProcess { process } => {
                self.change_for(Some(tab), |it, cx| it.kill_process(cx, process))
            }

            Command::StartMatch { plan } => self.start_match(*plan).await.into(),
            Command::StopMatch { id, finish } => self.stop_match(id, finish).into(),
            Command::ResumeMatch { id } => self.resume_match(id).await.into(),
            Command::OpenMatchGame { id, number } => self.open_match_game(id, number).await.into(),
            Command::DeleteMatch { id } => self.delete_match(id).await.into(),

            Command::StartReport { on: ReportOn::Games { games }, settings } => {
                self.start_report(games, settings).await.into()
            }
            Command::StartReport { on: ReportOn::Directory { path }, settings } => {
                let duplicates = Duplicates::Skip;
                self.start_directory(path.into(), Some(settings), duplicates).await.into()
            }
            Command::StopReport { game } => {
                self.change_for(Some(tab), |it, cx| it.reports.stop(it.games, cx, game))
            }
            Command::TryMove { game, node, text, limits } => {
                self.try_move((game, node, &text, limits)).into()
            }

            Command::ImportDirectory { path, duplicates } => {
                let duplicates = duplicates.unwrap_or_default();
                self.start_directory(path.into(), None, duplicates).await.into()
            }
            Command::StopJob { id } => {
                self.change_for(Some(tab), |it, cx| it.jobs.stop(it.reports, it.games, cx, id))
            }
            Command::ResumeJob { id } => self.resume_job(id),
            Command::DeleteJob { id } => self.delete_job(id).await.into(),

            Command::AddSyzygy { path } => self.add_syzygy(path).await.into(),
            Command::RemoveSyzygy { path } => self.remove_syzygy(path).await.into(),
            Command::AddBook { path } => self.add_book(path).await.into(),
            Command::RemoveBook { path } => self.remove_book(path).await.into(),

            Command::CollectExercises { game, side } => {
                self.collect_exercises(game, side).await.into()
            }
            Command::OpenExercise { id } => self.open_exercise(id).await.into(),
            Command::TryExercise { id, moves, text } => {
                self.try_exercise(id, &moves, &text).await.into()
            }
            Command::SolveExercise { id, moves } => self.solve_exercise(id, &moves).await.into(),
            Command::GradeExercise { id, grade } => self.grade_exercise(id, grade).await.into(),
            Command::DeleteExercises { ids } => self.delete_exercises(ids).await.into(),

            Command::SetSettings { settings } => self.set_settings(settings).await.into(),
        }
    }

    fn try_move(&self, attempt: (GameId, NodeId, &str, Limits)) -> Result<Deferred, ApiError> {
        self.update(|it, cx| it.retries.start(it.reports, it.games, it.engines, cx, attempt))
    }

    async fn set_settings(self: &Arc<Self>, settings: Settings) -> Result<Answer, ApiError> {
        let size: usize = settings.page.iter().map(|(name, value)| name.len() + value.len()).sum();
        if MAX_SETTINGS < size {
            let why = ErrorCode::TooLong { subject: ErrorSubject::Settings };
            return Err(ApiError::limit(why));
        }
        let names = &settings.training.names;
        if MAX_NAMES < names.len() || names.iter().any(|name| MAX_NAME < name.len()) {
            return Err(ApiError::limit(ErrorCode::TooLong { subject: ErrorSubject::PlayerName }));
        }
        let set = move |old: &mut Settings| {
            let references = std::mem::take(&mut old.references);
            *old = Settings { references, ..settings };
            Ok(())
        };
        self.change_settings(set).await
    }

    /// Changes the settings, unless `change` fails.
    pub(super) async fn change_settings(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Settings) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<Answer, ApiError> {
        let app = Arc::downgrade(self);
        // They take effect in the writer, which determines the order of concurrent changes.
        let saved = self.writer.call(move |store| {
            let Some(app) = app.upgrade() else { return Ok(Ok(())) };
            let mut settings = app.state().settings.clone();
            if let Err(error) = change(&mut settings) {
                return Ok(Err(error));
            }
            store.save_settings(&settings)?;
            let mut state = app.state();
            state.settings = settings.clone();
            state.hub.publish(Topic::Settings, Delta::Settings(settings));
            Ok(Ok(()))
        });
        saved.await.map_err(storage)?.map(done)
    }
}

/// A change of an active game.
fn play(
    game: GameId,
    change: impl FnOnce(&mut ActiveGame, &mut Document, Moment) -> Result<Vec<Effect>, ApiError>,
) -> impl FnOnce(&mut Components<'_>, &mut Context<'_>) -> Result<Answer, ApiError> {
    move |components, cx| components.games.play(components.engines, cx, game, change)
}

fn done((): ()) -> Answer {
    Answer::Done
}

impl Components<'_> {
    /// Restarts a process, or its purpose after its exit.
    fn restart_process(&mut self, cx: &mut Context<'_>, id: ProcessId) -> Result<Answer, ApiError> {
        if cx.processes.quit_and_restart(id)? {
            return Ok(Answer::Done);
        }
        let process = cx.processes.get(id);
        let process = process.map(|process| (process.engine(), process.purpose()));
        let missing = || ApiError::not_found(ErrorSubject::Process, id);
        let (engine, purpose) = process.ok_or_else(missing)?;
        match purpose {
            Purpose::Play { game } => self.games.play(self.engines, cx, game, ActiveGame::resume),
            Purpose::Analyse { game } => {
                self.analyses.restart(self.games, self.engines, cx, (game, engine))
            }
            Purpose::Console => self.engines.open_console(cx, engine),
            Purpose::Inspect
            | Purpose::Hint { .. }
            | Purpose::Report { .. }
            | Purpose::Learn { .. }
            | Purpose::Exercise { .. } => self.engines.probe(cx, engine),
        }
    }

    /// Kills a process, and reports its exit.
    fn kill_process(&mut self, cx: &mut Context<'_>, id: ProcessId) -> Result<Answer, ApiError> {
        let failure = cx.processes.kill(id)?;
        self.engines.on_process_event(cx, id, EngineEvent::Exited(Some(failure)));
        Ok(Answer::Done)
    }
}
