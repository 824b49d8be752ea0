//! Reports of matches as pages of their own.
//!
//! A new tab of the browser sends no secret. So the app requests a temporary address of a report, and opens it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Service;
use super::auth::Secret;
use crate::time::instant;
use crate::wire::MatchId;

/// How long an address is valid.
const VALIDITY: Duration = Duration::from_hours(12);

/// Maximum number of valid addresses.
const MAX_ADDRESSES: usize = 100;

/// Scripts and styles of a report are inline. It has an origin of its own, without access to the app.
const POLICY: &str = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; \
                      script-src 'unsafe-inline'; frame-ancestors 'none'";

/// The temporary addresses of reports.
#[derive(Clone, Default)]
pub(crate) struct ReportAddresses(Arc<Mutex<VecDeque<Address>>>);

struct Address {
    secret: Secret,
    of: MatchId,
    since: Instant,
}

impl ReportAddresses {
    fn add(&self, of: MatchId) -> std::io::Result<String> {
        let secret = Secret::new()?;
        let text = secret.text();
        let mut addresses = self.lock();
        if addresses.len() == MAX_ADDRESSES {
            addresses.pop_front();
        }
        addresses.push_back(Address { secret, of, since: instant() });
        Ok(text)
    }

    fn find(&self, text: &str) -> Option<MatchId> {
        let mut addresses = self.lock();
        addresses.retain(|address| address.since.elapsed() < VALIDITY);
        addresses.iter().find(|address| address.secret.is(text)).map(|address| address.of)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Address>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A temporary address of a report.
pub(super) async fn address(State(service): State<Service>, Path(id): Path<MatchId>) -> Response {
    match service.reports.add(id) {
        Ok(secret) => {
            Json(serde_json::json!({ "address": format!("report/{secret}") })).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The report with a temporary address.
pub(super) async fn shown(State(service): State<Service>, Path(secret): Path<String>) -> Response {
    match service.reports.find(&secret) {
        Some(id) => page(&service, id).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The report, for programs.
pub(super) async fn report(State(service): State<Service>, Path(id): Path<MatchId>) -> Response {
    page(&service, id).await
}

async fn page(service: &Service, id: MatchId) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        // Browsers reject a sandbox with another value.
        (HeaderName::from_static("cross-origin-opener-policy"), "unsafe-none"),
    ];
    service.app.match_report(id).await.map(|page| (headers, page)).into_response()
}
