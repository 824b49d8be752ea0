//! Topics and their subscribers: numbered deltas, and snapshots for new and slow tabs.
//!
//! ```text
//!  publish ──> number + 1 ──> Outbox of each tab ──> its writer ──> WebSocket
//!                               │ full: the topic's deltas go, and it is due for a snapshot
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::ws::Utf8Bytes;
use serde::Serialize;
use tokio::sync::Notify;

use crate::wire::{Delta, ToTab, Topic};

/// The number of a tab.
pub(crate) type TabId = u64;

/// Maximum number of messages that wait for a tab before it counts as slow.
const MAX_MESSAGES: usize = 512;
/// Maximum size of these messages, in bytes.
const MAX_BYTES: usize = 8 << 20;
/// Maximum size of pending answers before a tab is disconnected, in bytes.
const MAX_PENDING_BYTES: usize = 64 << 20;
/// Maximum number of topics of a tab.
const MAX_TOPICS: usize = 64;
/// Maximum number of tabs.
const MAX_TABS: usize = 100;

/// All topics with their subscribers.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    topics: BTreeMap<Topic, Channel>,
    tabs: BTreeMap<TabId, Arc<Outbox>>,
    last_tab: TabId,
}

#[derive(Debug, Default)]
struct Channel {
    number: u64,
    tabs: BTreeSet<TabId>,
}

impl Hub {
    /// Adds a tab. None if there are too many.
    pub(crate) fn join(&mut self) -> Option<(TabId, Arc<Outbox>)> {
        if MAX_TABS <= self.tabs.len() {
            return None;
        }
        self.last_tab += 1;
        let outbox = Arc::<Outbox>::default();
        self.tabs.insert(self.last_tab, Arc::clone(&outbox));
        Some((self.last_tab, outbox))
    }

    /// Removes a tab.
    pub(crate) fn leave(&mut self, tab: TabId) {
        self.tabs.remove(&tab);
        self.topics.retain(|_, channel| {
            channel.tabs.remove(&tab);
            !channel.tabs.is_empty()
        });
    }

    /// The number of open tabs, and of all tabs so far.
    pub(crate) fn tabs_and_visits(&self) -> (usize, TabId) {
        (self.tabs.len(), self.last_tab)
    }

    /// Subscribes a tab to a topic, of which it gets a snapshot. Returns false if it has too many topics.
    pub(crate) fn subscribe(&mut self, tab: TabId, topic: Topic) -> bool {
        let has = self.topics.values().filter(|channel| channel.tabs.contains(&tab)).count();
        let Some(outbox) = self.tabs.get(&tab).filter(|_| has < MAX_TOPICS) else { return false };
        self.topics.entry(topic).or_default().tabs.insert(tab);
        outbox.want_snapshot(topic);
        true
    }

    /// Unsubscribes a tab from a topic.
    pub(crate) fn unsubscribe(&mut self, tab: TabId, topic: Topic) {
        if let Some(channel) = self.topics.get_mut(&topic) {
            channel.tabs.remove(&tab);
            if channel.tabs.is_empty() {
                self.topics.remove(&topic);
            }
        }
        if let Some(outbox) = self.tabs.get(&tab) {
            outbox.forget(topic);
        }
    }

    /// Sends a snapshot to all subscribers of a topic, whose content was replaced.
    pub(crate) fn refresh(&mut self, topic: Topic) {
        let Some(channel) = self.topics.get(&topic) else { return };
        for outbox in channel.tabs.iter().filter_map(|tab| self.tabs.get(tab)) {
            outbox.want_snapshot(topic);
        }
    }

    /// Whether the topic has subscribers.
    pub(crate) fn is_wanted(&self, topic: Topic) -> bool {
        self.topics.contains_key(&topic)
    }

    /// The number of the latest state of a topic.
    pub(crate) fn number(&self, topic: Topic) -> u64 {
        self.topics.get(&topic).map_or(0, |channel| channel.number)
    }

    /// Sends a change to all subscribers.
    pub(crate) fn publish(&mut self, topic: Topic, delta: Delta) {
        self.publish_each(topic, delta, BTreeMap::new());
    }

    /// Sends a change to all subscribers: to some tabs their own form of it.
    pub(crate) fn publish_each(&mut self, topic: Topic, delta: Delta, own: BTreeMap<TabId, Delta>) {
        let Some(channel) = self.topics.get_mut(&topic) else { return };
        channel.number += 1;
        let number = channel.number;
        let message = |delta: Delta| text(&ToTab::Delta { topic, number, delta: Box::new(delta) });
        let common = message(delta);
        let mut own: BTreeMap<_, _> =
            own.into_iter().map(|(tab, delta)| (tab, message(delta))).collect();
        for tab in &channel.tabs {
            if let Some(outbox) = self.tabs.get(tab) {
                let text = own.remove(tab).unwrap_or_else(|| common.clone());
                outbox.push_delta(topic, text);
            }
        }
    }

    /// Closes a topic for all subscribers.
    pub(crate) fn close(&mut self, topic: Topic) {
        let Some(channel) = self.topics.remove(&topic) else { return };
        let text = text(&ToTab::Closed { topic });
        for outbox in channel.tabs.iter().filter_map(|tab| self.tabs.get(tab)) {
            outbox.forget(topic);
            outbox.push(text.clone());
        }
    }
}

/// The text of a message.
pub(crate) fn text(message: &impl Serialize) -> Utf8Bytes {
    // Nothing in these types can fail to be written.
    serde_json::to_string(message).unwrap_or_default().into()
}

/// The messages that wait for a tab.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    queue: VecDeque<(Option<Topic>, Utf8Bytes)>,
    bytes: usize,
    /// Topics of which the tab needs a snapshot before any delta.
    due: BTreeSet<Topic>,
    dead: bool,
}

/// The next action of the writer of a tab.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Next {
    /// Sends a message.
    Send(Utf8Bytes),
    /// Sends a snapshot of a topic.
    Snapshot(Topic),
    /// Closes the connection: the tab does not read.
    Close,
}

impl Outbox {
    fn locked(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an answer.
    pub(crate) fn push(&self, text: Utf8Bytes) {
        let mut waiting = self.locked();
        waiting.bytes += text.len();
        waiting.dead |= MAX_PENDING_BYTES < waiting.bytes;
        waiting.queue.push_back((None, text));
        self.changed.notify_one();
    }

    fn push_delta(&self, topic: Topic, text: Utf8Bytes) {
        let mut waiting = self.locked();
        if waiting.due.contains(&topic) {
            return;
        }
        if MAX_MESSAGES <= waiting.queue.len() || MAX_BYTES < waiting.bytes + text.len() {
            waiting.drop_deltas(topic);
            waiting.due.insert(topic);
        } else {
            waiting.bytes += text.len();
            waiting.queue.push_back((Some(topic), text));
        }
        self.changed.notify_one();
    }

    fn want_snapshot(&self, topic: Topic) {
        let mut waiting = self.locked();
        waiting.drop_deltas(topic);
        waiting.due.insert(topic);
        self.changed.notify_one();
    }

    fn forget(&self, topic: Topic) {
        let mut waiting = self.locked();
        waiting.drop_deltas(topic);
        waiting.due.remove(&topic);
    }

    /// Marks the start of a snapshot: later deltas follow it.
    pub(crate) fn begin_snapshot(&self, topic: Topic) -> bool {
        self.locked().due.remove(&topic)
    }

    fn take(&self) -> Option<Next> {
        let mut waiting = self.locked();
        if waiting.dead {
            return Some(Next::Close);
        }
        if let Some((_, text)) = waiting.queue.pop_front() {
            waiting.bytes -= text.len();
            return Some(Next::Send(text));
        }
        waiting.due.first().copied().map(Next::Snapshot)
    }

    /// Waits for the next action.
    pub(crate) async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.changed.notified().await;
        }
    }
}

impl Waiting {
    fn drop_deltas(&mut self, topic: Topic) {
        self.queue.retain(|(of, _)| *of != Some(topic));
        self.bytes = self.queue.iter().map(|(_, text)| text.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::GamesDelta;

    fn delta() -> Delta {
        Delta::Games(GamesDelta::default())
    }

    /// The waiting messages: the number of a delta, or `S` for a snapshot.
    fn drained(outbox: &Outbox) -> String {
        let mut out = Vec::new();
        while let Some(next) = outbox.take() {
            out.push(match next {
                Next::Send(text) => {
                    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                    json["number"].to_string()
                }
                Next::Snapshot(topic) => {
                    outbox.begin_snapshot(topic);
                    "S".to_owned()
                }
                Next::Close => return "closed".to_owned(),
            });
        }
        out.join(" ")
    }

    #[test]
    fn deltas_follow_the_snapshot_without_a_gap() {
        let mut hub = Hub::default();
        let (tab, outbox) = hub.join().expect("there is room");
        hub.publish(Topic::Games, delta());
        assert!(hub.subscribe(tab, Topic::Games));
        assert_eq!(drained(&outbox), "S");
        assert_eq!(hub.number(Topic::Games), 0);
        hub.publish(Topic::Games, delta());
        hub.publish(Topic::Games, delta());
        hub.publish(Topic::Engines, delta());
        assert_eq!(drained(&outbox), "1 2");
    }

    #[test]
    fn a_slow_tab_gets_a_new_snapshot() {
        let mut hub = Hub::default();
        let (slow, outbox) = hub.join().expect("there is room");
        let (fast, other) = hub.join().expect("there is room");
        hub.subscribe(slow, Topic::Games);
        hub.subscribe(fast, Topic::Games);
        assert_eq!((drained(&outbox), drained(&other)), ("S".to_owned(), "S".to_owned()));
        for number in 1..=MAX_MESSAGES + 7 {
            hub.publish(Topic::Games, delta());
            assert_eq!(drained(&other), number.to_string());
        }
        assert_eq!(drained(&outbox), "S");
        hub.publish(Topic::Games, delta());
        assert_eq!(drained(&outbox), (MAX_MESSAGES + 8).to_string());
    }

    #[test]
    fn closed_and_unsubscribed_topics_send_nothing() {
        let mut hub = Hub::default();
        let (tab, outbox) = hub.join().expect("there is room");
        hub.subscribe(tab, Topic::Games);
        drained(&outbox);
        hub.publish(Topic::Games, delta());
        hub.unsubscribe(tab, Topic::Games);
        hub.publish(Topic::Games, delta());
        assert_eq!(drained(&outbox), "");
        hub.subscribe(tab, Topic::Game(3));
        hub.close(Topic::Game(3));
        assert_eq!(drained(&outbox), "null");
        hub.leave(tab);
        assert!(!hub.is_wanted(Topic::Games));
    }

    #[test]
    fn the_number_of_topics_of_a_tab_is_limited() {
        let mut hub = Hub::default();
        let (tab, _outbox) = hub.join().expect("there is room");
        let granted = (0..1000).filter(|id| hub.subscribe(tab, Topic::Game(*id))).count();
        assert_eq!(granted, MAX_TOPICS);
    }

    #[test]
    fn the_number_of_tabs_is_limited() {
        let mut hub = Hub::default();
        let tabs: Vec<TabId> =
            (0..1000).map_while(|_| hub.join()).map(|(tab, _outbox)| tab).collect();
        assert_eq!(tabs.len(), MAX_TABS);
        hub.leave(tabs[7]);
        assert!(hub.join().is_some());
        assert!(hub.join().is_none());
    }

    #[test]
    fn a_tab_that_does_not_read_answers_is_closed() {
        let outbox = Outbox::default();
        let large: Utf8Bytes = "x".repeat(1 << 20).into();
        for _ in 0..65 {
            outbox.push(large.clone());
        }
        assert_eq!(outbox.take(), Some(Next::Close));
    }
}
