//! Snapshots of topics for new subscribers.

use super::AppState;
use crate::game::Tree;
use crate::hub::TabId;
use crate::matches::MatchView;
use crate::time::now;
use crate::wire::{Answer, ApiError, ErrorSubject, GameState, GamesState, State, ToTab, Topic};

/// A snapshot of a topic, except for what can be made without the lock.
pub(crate) struct TopicSnapshot {
    topic: Topic,
    number: u64,
    content: Content,
}

enum Content {
    State(State),
    /// The nodes of the game are those of the tree.
    Game(Box<GameState>, Tree),
    Match(MatchView),
}

impl TopicSnapshot {
    /// Whether [`Self::finish`] reads a file.
    pub(crate) fn reads_file(&self) -> bool {
        matches!(&self.content, Content::Match(view) if view.reads_file())
    }

    /// The message. A large tree or a file takes time: call this without the lock.
    pub(crate) fn finish(self) -> ToTab {
        let Self { topic, number, content } = self;
        let state = match content {
            Content::State(state) => state,
            Content::Game(mut game, tree) => {
                game.nodes = tree.wire_all();
                State::Game(game)
            }
            Content::Match(view) => match view.read() {
                Ok(state) => State::Match(Box::new(state)),
                Err(_) => return ToTab::Closed { topic },
            },
        };
        ToTab::Snapshot { topic, number, state: Box::new(state) }
    }
}

impl AppState {
    pub(super) fn subscribe(&mut self, tab: TabId, topic: Topic) -> Result<Answer, ApiError> {
        if !self.has_topic(topic) {
            return Err(ApiError::not_found(ErrorSubject::Topic, topic));
        }
        if let Topic::Log(process) = topic {
            self.processes.follow_log(process);
        }
        if !self.hub.subscribe(tab, topic) {
            return Err(ApiError::too_many(ErrorSubject::Topic));
        }
        Ok(Answer::Done)
    }

    fn has_topic(&self, topic: Topic) -> bool {
        match topic {
            Topic::Games | Topic::Engines | Topic::Jobs | Topic::Settings | Topic::Matches => true,
            Topic::Game(id) | Topic::Analysis(id) | Topic::Report(id) => self.games.contains(id),
            Topic::Log(id) => self.processes.get(id).is_some(),
            Topic::Match(id) => self.has_match(id),
        }
    }

    /// A snapshot of a topic; none if there is no such topic.
    pub(crate) fn snapshot(&self, topic: Topic) -> Option<TopicSnapshot> {
        let state = match topic {
            Topic::Games => State::Games(GamesState { games: self.games.summaries() }),
            Topic::Engines => State::Engines(self.engines.state(&self.processes)),
            Topic::Jobs => State::Jobs(self.jobs.state()),
            Topic::Settings => State::Settings(self.settings.clone()),
            Topic::Game(id) => {
                let session = self.games.get(id)?;
                let (state, tree) = (Box::new(session.state(now())), session.tree().clone());
                return Some(self.numbered(topic, Content::Game(state, tree)));
            }
            Topic::Analysis(id) => {
                self.games.get(id)?;
                State::Analysis(self.analyses.state(id))
            }
            Topic::Log(id) => State::Log(self.processes.log_state(id)?),
            Topic::Report(id) => {
                self.games.get(id)?;
                State::Report(Box::new(self.reports.state(&self.games, id)))
            }
            Topic::Matches => self.matches_state(),
            Topic::Match(id) => {
                let view = self.matches.get()?.view(id).ok()?;
                return Some(self.numbered(topic, Content::Match(view)));
            }
        };
        Some(self.numbered(topic, Content::State(state)))
    }

    fn numbered(&self, topic: Topic, content: Content) -> TopicSnapshot {
        TopicSnapshot { topic, number: self.hub.number(topic), content }
    }
}
