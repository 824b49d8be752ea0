//! Hints: short searches for the human to move.

use std::time::Duration;

use readyok_protocol::Go;

use super::Games;
use super::players::search_spec;
use crate::app::components::{Context, SearchEvent};
use crate::app::engines::Engines;
use crate::engine::{BUILT_IN, EngineCommand, SearchKind};
use crate::game::GameSession;
use crate::wire::{Answer, ApiError, EngineId, GameId, ProcessId, Purpose, Side, ValuesFor};

/// Search time for a hint.
const HINT_TIME: Duration = Duration::from_secs(1);

impl Games {
    /// Starts a search for a hint, by the engine that plays or the built-in one unless one is given.
    pub(in crate::app) fn request_hint(
        &self,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
        engine: Option<EngineId>,
    ) -> Result<Answer, ApiError> {
        let session = self.session(id)?;
        session.hint_node()?;
        let variant = session.game().into();
        let playing = [Side::First, Side::Second]
            .into_iter()
            .find_map(|side| Some(session.slot(side)?.engine()?.engine));
        let engine = engine.or(playing).unwrap_or(BUILT_IN);
        let purpose = Purpose::Hint { game: id };
        engines.start_with(cx, engine, purpose, Some(variant), ValuesFor::Analyse)?;
        Ok(Answer::Done)
    }

    pub(in crate::app) fn on_hint_event(
        &mut self,
        cx: &mut Context<'_>,
        (process, game): (ProcessId, GameId),
        event: SearchEvent,
    ) {
        match event {
            SearchEvent::Ready => self.search_hint(cx, process, game),
            SearchEvent::Finished(search, _, info) => {
                cx.processes.quit(process);
                let hint = self.hints.get(&process).filter(|(id, _)| *id == search);
                let node = hint.map(|(_, node)| *node);
                if let (Some(node), Some(best)) = (node, info.best.clone())
                    && let Ok((active, document)) =
                        self.session_mut(game).and_then(GameSession::active_mut)
                {
                    active.set_hint(document, node, best);
                    self.publish(cx, game);
                }
            }
            SearchEvent::Rejected(..) => cx.processes.quit(process),
            SearchEvent::Exited { .. } => {
                self.hints.remove(&process);
            }
            SearchEvent::Started(_) | SearchEvent::Info(..) => (),
        }
    }

    fn search_hint(&mut self, cx: &mut Context<'_>, process: ProcessId, game: GameId) {
        let id = cx.next_search_id();
        let Some(session) = self.sessions.get(&game) else { return };
        let Some(dialect) = cx.processes.dialect(process) else { return };
        let Ok((node, _)) = session.hint_node() else { return };
        let go = Go { move_time: Some(HINT_TIME), ..Go::default() };
        let Some(line) = session.tree().engine_line(node) else { return };
        let spec = search_spec(session, dialect, &line, go, (id, SearchKind::Play));
        let command = spec.map_or(EngineCommand::Quit, |it| EngineCommand::Search(Box::new(it)));
        cx.processes.send(process, command);
        self.hints.insert(process, (id, node));
    }
}
