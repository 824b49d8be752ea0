//! Online services: the permission of the user, the API token, the accounts.

use std::sync::Arc;

use super::{App, AppState};
use crate::online::{Access, OnlineError, Token};
use crate::store::storage;
use crate::wire::{
    Account, AccountCursor, AccountName, Answer, ApiError, ErrorSubject, OnlineService,
    OnlineSettings,
};

/// Maximum number of accounts.
const MAX_ACCOUNTS: usize = 50;
/// Maximum length of the name of an account.
const MAX_NAME: usize = 30;

impl AppState {
    /// The permission to send requests to a service.
    pub(super) fn access(&self, service: OnlineService) -> Result<Access, OnlineError> {
        let setup = &self.program.online;
        Access::new(service, &self.settings.online, self.lichess_token.clone(), setup)
    }
}

impl App {
    /// The permission to send requests to a service.
    pub(super) fn access(&self, service: OnlineService) -> Result<Access, OnlineError> {
        self.state().access(service)
    }

    /// Stores an API token, or deletes it.
    pub(super) async fn set_lichess_token(
        self: &Arc<Self>,
        token: Option<String>,
    ) -> Result<Answer, ApiError> {
        let token = match token {
            Some(text) => {
                let token = Token::new(text.trim());
                Some(token.ok_or_else(|| ApiError::invalid_text(ErrorSubject::Token))?)
            }
            None => None,
        };
        let stored = token.clone();
        let saved = self.writer.call(move |store| store.save_lichess_token(stored.as_ref())).await;
        saved.map_err(storage)?;
        let is_stored = token.is_some();
        self.state().lichess_token = token;
        self.change_online(move |online| {
            online.lichess_token = is_stored;
            Ok(())
        })
        .await
    }

    /// Adds an account unless it is known. Returns it.
    pub(super) async fn add_account(
        self: &Arc<Self>,
        account: AccountName,
        since: Option<String>,
    ) -> Result<Account, ApiError> {
        let AccountName { name, .. } = &account;
        let is_valid =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !is_valid || !(1..=MAX_NAME).contains(&name.len()) {
            return Err(ApiError::invalid_text(ErrorSubject::Account));
        }
        if since.as_deref().is_some_and(|since| first_moment(since).is_none()) {
            return Err(ApiError::invalid_text(ErrorSubject::Date));
        }
        let known = |online: &OnlineSettings| {
            online.accounts.iter().find(|known| known.account.is_same(&account)).cloned()
        };
        if let Some(known) = known(&self.state().settings.online) {
            return Ok(known);
        }
        let cursor = AccountCursor::default();
        let new = Account { account: account.clone(), since, imported: None, cursor };
        let added = new.clone();
        self.change_online(move |online| {
            let is_known = online.accounts.iter().any(|known| known.account.is_same(&account));
            if !is_known && MAX_ACCOUNTS <= online.accounts.len() {
                return Err(ApiError::too_many(ErrorSubject::Account));
            }
            if !is_known {
                online.accounts.push(new);
            }
            Ok(())
        })
        .await?;
        Ok(added)
    }

    /// Forgets an account.
    pub(super) async fn remove_account(
        self: &Arc<Self>,
        account: AccountName,
    ) -> Result<Answer, ApiError> {
        self.change_online(move |online| {
            let before = online.accounts.len();
            online.accounts.retain(|known| !known.account.is_same(&account));
            if online.accounts.len() == before {
                return Err(ApiError::not_found(ErrorSubject::Account, account.name));
            }
            Ok(())
        })
        .await
    }

    /// All games of an account were imported at a Unix time. An account that was removed in the meantime is not added.
    pub(super) async fn on_account_imported(
        self: &Arc<Self>,
        account: AccountName,
        cursor: AccountCursor,
        at: u64,
    ) -> Result<Answer, ApiError> {
        self.change_online(move |online| {
            let known = online.accounts.iter_mut().find(|known| known.account.is_same(&account));
            if let Some(known) = known {
                (known.imported, known.cursor) = (Some(at), cursor);
            }
            Ok(())
        })
        .await
    }

    async fn change_online(
        self: &Arc<Self>,
        change: impl FnOnce(&mut OnlineSettings) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<Answer, ApiError> {
        self.change_settings(|settings| change(&mut settings.online)).await
    }
}

/// The Unix time in milliseconds of the start of a day such as `2026-11-21`, in UTC.
pub(super) fn first_moment(day: &str) -> Option<u64> {
    let day: jiff::civil::Date = day.parse().ok()?;
    let start = jiff::tz::TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok()?;
    u64::try_from(start.as_millisecond()).ok()
}
