//! Commands of tabs: each finds the one who carries it out.

use std::sync::Arc;

use super::games::storage;
use super::{App, AppState};
use crate::engine::{EngineCommand, is_program, not_a_program};
use crate::game::{GameSession, api_error, no_such, odd_text, too_many};
use crate::hub::TabId;
use crate::time::Moment;
use crate::wire::{
    Answer, ApiError, ApiErrorCode, Command, Delta, EngineEntry, Problem, ProblemKind as Kind,
    Reach, Settings, Thing, Topic,
};

/// What the page keeps has at most so many bytes.
const MOST_SETTINGS: usize = 64 << 10;
/// A line that a user says to an engine has at most so many bytes.
const LONGEST_LINE: usize = 64 << 10;

impl AppState {
    pub(super) fn command(
        &mut self,
        tab: TabId,
        command: Command,
        at: Moment,
    ) -> Result<Answer, ApiError> {
        match command {
            Command::Subscribe { topic } => {
                if !self.has_topic(topic) {
                    return Err(no_such(Thing::Topic, &topic, format!("there is no `{topic}`")));
                }
                if !self.subscribe(tab, topic) {
                    return Err(too_many(Thing::Topic, "the tab has too many topics"));
                }
                Ok(Answer::Done)
            }
            Command::Unsubscribe { topic } => {
                self.hub.unsubscribe(tab, topic);
                Ok(Answer::Done)
            }
            Command::Move { game, node, text } => {
                let (id, effects) = self.room(game)?.play_move(node, &text, at)?;
                self.settle(game, effects, at);
                Ok(Answer::Node { node: id })
            }
            Command::GoTo { game, node } => self.act(game, at, |room| {
                room.go_to(node)?;
                Ok(Vec::new())
            }),
            Command::Edit { game, edit } => {
                let inserted = self.room(game)?.edit(edit)?;
                self.settle(game, Vec::new(), at);
                Ok(inserted.map_or(Answer::Done, |node| Answer::Node { node }))
            }
            Command::TakeBack { game } => self.act(game, at, |room| room.take_back(at)),
            Command::Resign { game } => self.act(game, at, |room| room.resign(at)),
            Command::OfferDraw { game } => self.act(game, at, |room| room.offer_draw(at)),
            Command::AcceptDraw { game } => self.act(game, at, |room| room.accept_draw(at)),
            Command::Claim { game } => self.act(game, at, |room| room.claim(at)),
            Command::Hint { game, engine } => self.hint(game, engine),
            Command::MoveNow { game } => self.act(game, at, GameSession::move_now),
            Command::Pause { game } => self.act(game, at, |room| room.pause(at)),
            Command::Resume { game, from, players } => {
                self.resume(game, from, players.as_deref(), at)
            }
            Command::Abort { game } => self.act(game, at, |room| room.abort(at)),
            Command::Analyse { game, engine, settings } => self.analyse(game, engine, settings),
            Command::StopAnalysis { game, engine } => self.stop_lanes(game, engine),
            Command::EndAnalysis { game, engine } => self.end_lane(game, engine),
            Command::AddEngine { entry } => self.add_engine(entry),
            Command::CopyEngine { engine } => self.copy_engine(engine),
            Command::PreviewEngine { text } => preview(&text),
            Command::ChangeEngine { engine, entry } => self.change_engine(engine, entry),
            Command::InspectEngine { engine } => self.inspect(engine),
            Command::SetOptions { engine, of, values } => self.set_options(engine, of, &values),
            Command::PressButton { engine, option } => self.press(engine, &option),
            Command::SavePreset { engine, preset } => {
                self.save_presets(engine, |state| state.registry.save_preset(engine, preset))
            }
            Command::DeletePreset { engine, name } => self.save_presets(engine, |state| {
                let presets = &mut state.registry.get_mut(engine)?.entry.presets;
                presets.retain(|preset| preset.name != name);
                Ok(())
            }),
            Command::ApplyPreset { engine, name, of } => self.apply_preset(engine, &name, of),
            Command::RegisterEngine { engine, with } => self.register_engine(engine, with),
            Command::OpenConsole { engine } => self.open_console(engine),
            Command::Say { process, line } => {
                if LONGEST_LINE < line.len() || line.chars().any(char::is_control) {
                    return Err(odd_text(
                        Thing::Line,
                        "the line is too long, or holds control characters",
                    ));
                }
                self.send(process, EngineCommand::Say(line))
            }
            Command::RestartProcess { process } => self.restart_process(process),
            Command::QuitProcess { process } => self.send(process, EngineCommand::Quit),
            Command::KillProcess { process } => self.kill_process(process, at),
            Command::CheckEngine { engine } => self.check_engine(engine, at),
            Command::StopReport { game } => self.stop_report(game),
            Command::StopJob { id } => self.stop_job(id),
            // Matches are not the state's; books, folders and the library are read without its lock, and a
            // try is answered later.
            Command::NewGame { .. }
            | Command::Rematch { .. }
            | Command::OpenGame { .. }
            | Command::CloseGame { .. }
            | Command::DeleteGame { .. }
            | Command::RemoveEngine { .. }
            | Command::SetSettings { .. }
            | Command::StartReport { .. }
            | Command::DeleteJob { .. }
            | Command::StartMatch { .. }
            | Command::StopMatch { .. }
            | Command::ResumeMatch { .. }
            | Command::OpenMatchGame { .. }
            | Command::DeleteMatch { .. }
            | Command::ImportFolder { .. }
            | Command::ResumeJob { .. }
            | Command::TryMove { .. } => {
                Err(api_error(ApiErrorCode::NotNow, Kind::NotHere, "this server cannot do that"))
            }
        }
    }
}

impl App {
    pub(super) async fn set_settings(
        self: &Arc<Self>,
        settings: Settings,
    ) -> Result<Answer, ApiError> {
        let size: usize = settings.page.iter().map(|(name, value)| name.len() + value.len()).sum();
        if MOST_SETTINGS < size {
            let why = Problem::too_long(Thing::Settings);
            return Err(api_error(ApiErrorCode::TooMuch, why, "the page keeps too much"));
        }
        let app = Arc::downgrade(self);
        // They take effect from the writer, so that the last ones written are the last ones in effect.
        let saved = self.writer.call(move |store| {
            store.save_settings(&settings)?;
            if let Some(app) = app.upgrade() {
                let mut state = app.state();
                state.settings = settings.clone();
                state.hub.publish(Topic::Settings, Delta::Settings(settings));
            }
            Ok(())
        });
        saved.await.map_err(storage)?;
        Ok(Answer::Done)
    }
}

/// What would be run for a text: an address, a path, or a command line in the quoting of a shell.
fn preview(text: &str) -> Result<Answer, ApiError> {
    let text = text.trim();
    let entry = |reach| Answer::Preview {
        entry: EngineEntry { name: String::new(), reach, protocol: None },
    };
    if let Some(address) = text.strip_prefix("tcp://") {
        return Ok(entry(Reach::Tcp { address: address.to_owned() }));
    }
    let program = |path: &str, args: &[String]| Reach::Program {
        path: path.to_owned(),
        args: args.to_vec(),
        dir: None,
        env: std::collections::BTreeMap::new(),
    };
    if is_program(std::path::Path::new(text)) {
        return Ok(entry(program(text, &[])));
    }
    let words = shlex::split(text).unwrap_or_default();
    let Some((first, args)) = words.split_first() else {
        let text = "there is no command, or an open quote";
        return Err(api_error(ApiErrorCode::Malformed, Kind::NoCommand, text));
    };
    let found = if first.contains('/') || first.contains(std::path::MAIN_SEPARATOR) {
        Some(first.clone())
    } else {
        let dirs = std::env::var_os("PATH").unwrap_or_default();
        let found =
            std::env::split_paths(&dirs).map(|dir| dir.join(first)).find(|it| is_program(it));
        found.and_then(|path| path.to_str().map(str::to_owned))
    };
    match found.filter(|path| is_program(std::path::Path::new(path))) {
        Some(path) => Ok(entry(program(&path, args))),
        None => Err(not_a_program(first)),
    }
}
