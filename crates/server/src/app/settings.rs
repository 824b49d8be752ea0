//! The settings of the user.

use std::sync::Arc;

use super::App;
use crate::store::storage;
use crate::wire::{
    Answer, ApiError, Delta, ErrorCode, ErrorSubject, OnlineSettings, Settings, Topic,
};

/// Maximum size of the settings of the page, in bytes.
const MAX_SETTINGS: usize = 64 << 10;
/// Maximum number of names of the user.
const MAX_NAMES: usize = 32;
/// Maximum size of a name, in bytes.
const MAX_NAME: usize = 200;

impl App {
    pub(super) async fn set_settings(
        self: &Arc<Self>,
        settings: Settings,
    ) -> Result<Answer, ApiError> {
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
            let online = OnlineSettings {
                services: settings.online.services,
                ..std::mem::take(&mut old.online)
            };
            *old = Settings { references, online, ..settings };
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
        saved.await.map_err(storage)?.map(|()| Answer::Done)
    }
}
