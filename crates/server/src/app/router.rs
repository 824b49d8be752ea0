//! Routes each command of a tab to the component that carries it out.

use std::sync::Arc;

use super::engines::preview;
use super::saving::{Reply, written};
use super::{App, AppState};
use crate::engine::EngineCommand;
use crate::game::{ActiveGame, Document, Effect};
use crate::hub::TabId;
use crate::time::Moment;
use crate::training::RepertoireRules;
use crate::wire::{Answer, ApiError, Command, Duplicates, EngineId, GameId, ReportOn};

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
                self.on_topics_left();
                Ok(Answer::Done).into()
            }

            Command::NewGame { game, replaces } => self.new_game(&game, replaces).await.into(),
            Command::OpenGame { game } => self.open_game(game).await.into(),
            Command::CloseGame { game } => self.close_game(game).await.into(),
            Command::SaveDraft { game } => self.save_draft(game).await.into(),
            Command::DeleteGame { game } => self.delete_game(game).await.into(),
            Command::DeleteGames { of } => self.delete_games(of).await.into(),
            Command::RestoreGames => self.restore_games().await.into(),
            Command::DecideDuplicates { games, decision } => {
                self.decide_duplicates(games, decision).await.into()
            }
            Command::SetLabel { of, label, set } => self.set_label(of, label, set).await.into(),
            Command::EditCollection { edit } => self.edit_collection(edit).await.into(),
            Command::BuildOpeningTree { of, plies, min_games } => {
                self.build_opening_tree(of, plies, min_games).await.into()
            }
            Command::MergeGames { game, of, part } => self.merge_games(game, of, part).await.into(),
            Command::SplitGame { game, node } => self.split_game(game, node).await.into(),
            Command::CopyChapter { game, collection, to } => {
                self.copy_chapter((game, collection), to).await.into()
            }
            Command::Rematch { game } => self.rematch(game).await.into(),
            Command::Move { game, node, text } => {
                self.change_for(Some(tab), |state| state.play_move(game, node, &text))
            }
            Command::Edit { game, edit } => {
                self.change_for(Some(tab), |state| state.edit_game(game, edit))
            }
            Command::Resume { game, from, players } => {
                // A draft that is played is a game.
                if let Err(error) = self.save_draft(game).await {
                    return Reply::Done(Err(error));
                }
                self.change_for(Some(tab), |state| {
                    state.resume_game(game, from, players.as_deref())
                })
            }
            Command::GoTo { game, node } => {
                self.change_for(Some(tab), |state| state.go_to(game, node))
            }
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
            Command::Hint { game, engine } => self.hint(game, engine).into(),

            Command::Analyse { game, engine, settings } => {
                self.change_for(Some(tab), |state| state.start_analysis((game, engine), settings))
            }
            Command::StopAnalysis { game, engine } => {
                self.change_for(Some(tab), |state| state.stop_analysis(game, engine))
            }
            Command::EndAnalysis { game, engine } => {
                self.change_for(Some(tab), |state| state.end_analysis(game, engine))
            }

            Command::AddEngine { entry, values } => {
                self.change_for(Some(tab), |state| state.add_engine(entry, values))
            }
            Command::FindEngines => self.change_for(Some(tab), AppState::find_engines),
            Command::CancelFindEngines => self.change_for(Some(tab), |state| {
                state.cancel_search();
                Ok(Answer::Done)
            }),
            Command::ReadEngineList { text } => self.read_engine_list(&text).into(),
            Command::CopyEngine { engine } => {
                self.change_for(Some(tab), |state| state.copy_engine(engine))
            }
            Command::PreviewEngine { text } => preview(&text).into(),
            Command::ChangeEngine { engine, entry } => {
                self.change_for(Some(tab), |state| state.change_engine(engine, entry))
            }
            Command::RemoveEngine { engine } => self.remove_engine(engine).await.into(),
            Command::InspectEngine { engine } => {
                self.change_for(Some(tab), |state| state.probe(engine))
            }
            Command::SetOptions { engine, of, values } => {
                self.change_for(Some(tab), |state| state.set_options(engine, of, &values))
            }
            Command::PressButton { engine, option } => {
                self.change_for(Some(tab), |state| state.press_button(engine, &option))
            }
            Command::SavePreset { engine, preset } => {
                self.change_for(Some(tab), |state| state.save_preset(engine, preset))
            }
            Command::DeletePreset { engine, name } => {
                self.change_for(Some(tab), |state| state.delete_preset(engine, &name))
            }
            Command::ApplyPreset { engine, name, of } => {
                self.change_for(Some(tab), |state| state.apply_preset(engine, &name, of))
            }
            Command::RegisterEngine { engine, with } => {
                self.change_for(Some(tab), |state| state.register(engine, with))
            }
            Command::CheckEngine { engine } => {
                self.change_for(Some(tab), |state| state.check_engine(engine))
            }
            Command::CancelCheck { engine } => {
                self.change_for(Some(tab), |state| state.cancel_check(engine).map(done))
            }

            Command::OpenConsole { engine } => {
                self.change_for(Some(tab), |state| state.open_console(engine))
            }
            Command::SendLine { process, line } => {
                self.change_for(Some(tab), |state| state.tasks.send_line(process, line).map(done))
            }
            Command::QuitProcess { process } => self.change_for(Some(tab), |state| {
                state.tasks.command(process, EngineCommand::Quit).map(done)
            }),
            Command::RestartProcess { process } => {
                self.change_for(Some(tab), |state| state.restart_process(process))
            }
            Command::KillProcess { process } => {
                self.change_for(Some(tab), |state| state.kill_process(process))
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
                self.change_for(Some(tab), |state| state.stop_report(game))
            }
            Command::TryMove { game, node, text, limits } => {
                self.try_move((game, node), &text, limits).into()
            }

            Command::ImportDirectory { path, duplicates } => {
                let duplicates = duplicates.unwrap_or_default();
                self.start_directory(path.into(), None, duplicates).await.into()
            }
            Command::StopJob { id } => self.change_for(Some(tab), |state| state.stop_job(id)),
            Command::ResumeJob { id } => self.resume_job(id),
            Command::DeleteJob { id } => self.delete_job(id).await.into(),

            Command::AddSyzygy { path } => self.add_syzygy(path).await.into(),
            Command::RemoveSyzygy { path } => self.remove_syzygy(path).await.into(),
            Command::AddBook { path } => self.add_book(path).await.into(),
            Command::RemoveBook { path } => self.remove_book(path).await.into(),

            Command::ImportAccount { account, since } => {
                self.import_account(account, since).await.into()
            }
            Command::RemoveAccount { account } => self.remove_account(account).await.into(),
            Command::SetLichessToken { token } => self.set_lichess_token(token).await.into(),

            Command::CollectExercises { game, side } => {
                self.collect_exercises(game, side).await.into()
            }
            Command::OpenExercise { id } => self.open_exercise(id).await.into(),
            Command::TryExercise { id, moves, text } => {
                Reply::Deferred(self.defer_attempt(id, moves, text))
            }
            Command::SolveExercise { id, moves } => Reply::Deferred(self.defer_solution(id, moves)),
            Command::GradeExercise { id, grade } => self.grade_exercise(id, grade).await.into(),
            Command::DeleteExercises { ids } => self.delete_exercises(ids).await.into(),
            Command::MakeRepertoire { of, name, side, marks } => {
                let rules = RepertoireRules { side, marks };
                self.make_repertoire((of, name), rules).await.into()
            }
            Command::RenameTrainingSet { set, name } => self.rename_set(set, name).await.into(),
            Command::DeleteTrainingSet { set } => self.delete_set(set).await.into(),

            Command::SetSettings { settings } => self.set_settings(settings).await.into(),
        }
    }

    async fn remove_engine(&self, engine: EngineId) -> Result<Answer, ApiError> {
        let removed = self.update(|state| {
            let removed = state.remove_engine(engine)?;
            state.end_analyses_by(engine);
            Ok::<_, ApiError>(removed)
        })?;
        written(removed).await?;
        Ok(Answer::Done)
    }
}

/// A change of an active game.
fn play(
    game: GameId,
    change: impl FnOnce(&mut ActiveGame, &mut Document, Moment) -> Result<Vec<Effect>, ApiError>,
) -> impl FnOnce(&mut AppState) -> Result<Answer, ApiError> {
    move |state| state.play(game, change)
}

fn done((): ()) -> Answer {
    Answer::Done
}
