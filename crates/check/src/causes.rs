//! Root causes: failures and checks without a verdict, by their common cause.

use crate::message::Message;
use crate::spec::{Check, CheckResult, Report, Severity, Verdict};

/// Follows chains of causes to their ends: a cause may have a cause itself.
pub(crate) fn follow(results: &mut [CheckResult]) {
    let causes: Vec<(&str, &'static str)> =
        results.iter().filter_map(|result| Some((result.check.id, result.cause?))).collect();
    let next = |id| causes.iter().find(|(dependent, _)| *dependent == id).map(|(_, cause)| *cause);
    for result in results {
        let mut seen = Vec::new();
        while let Some(deeper) = result.cause.and_then(next)
            && deeper != result.check.id
            && !seen.contains(&deeper)
        {
            seen.push(deeper);
            result.cause = Some(deeper);
        }
    }
}

/// Findings with a common cause.
#[derive(Clone, Debug)]
pub struct Cause<'a> {
    /// The id of the check that shows the cause.
    pub id: &'static str,
    /// Its result, unless it was not selected.
    pub root: Option<&'a CheckResult>,
    /// The other failures, and checks without a verdict because of the cause.
    pub dependents: Vec<&'a CheckResult>,
}

impl Cause<'_> {
    /// The check that shows the cause.
    pub fn check(&self) -> Option<&'static Check> {
        let all = || crate::all().chain(crate::all_of_clients());
        self.root.map(|result| result.check).or_else(|| all().find(|check| check.id == self.id))
    }

    /// The name of the cause, if a change of the dialogue has shown it.
    pub fn name(&self) -> Option<&Message> {
        self.all().find_map(|result| Some(&result.repair.as_ref()?.cause))
    }

    /// The name of this change in JSON.
    pub fn change(&self) -> Option<&'static str> {
        self.all().find_map(|result| Some(result.repair.as_ref()?.key))
    }

    fn all(&self) -> impl Iterator<Item = &CheckResult> {
        self.root.into_iter().chain(self.dependents.iter().copied())
    }

    /// The severity of the most severe failure; without a failure that of the most severe finding.
    pub fn severity(&self) -> Option<Severity> {
        let failures = self.all().filter(|result| matches!(result.verdict, Verdict::Fail(_)));
        let severity = failures.map(|result| result.severity).min();
        severity.or_else(|| self.all().map(|result| result.severity).min())
    }

    /// Number of findings.
    pub fn findings(&self) -> usize {
        usize::from(self.root.is_some()) + self.dependents.len()
    }

    /// Why the cause has no transcript.
    pub fn without_transcript(&self) -> Option<&'static str> {
        if self.shortest().is_some() {
            return None;
        }
        let reasons =
            |wanted: fn(&Verdict) -> bool| self.all().any(|result| wanted(&result.verdict));
        Some(match self.root {
            None => "no transcript: the check of the cause was not selected",
            Some(_) if reasons(|verdict| matches!(verdict, Verdict::Fail(_))) => {
                "no transcript was recorded"
            }
            Some(_) => {
                "no transcript: no rule was violated; a search takes too long to judge these rules"
            }
        })
    }

    /// The failure with the shortest transcript, preferably one with a dialogue that works.
    pub fn shortest(&self) -> Option<&CheckResult> {
        let failures = self.all().filter(|result| result.transcript.is_some());
        failures.min_by_key(|result| {
            let transcript = result.transcript.as_deref().unwrap_or_default();
            (result.repair.is_none(), transcript.lines().count())
        })
    }
}

impl Report {
    /// The root causes of all failures, by severity.
    pub fn causes(&self) -> Vec<Cause<'_>> {
        let mut causes: Vec<Cause<'_>> = Vec::new();
        let mut of = |id: &'static str| {
            if let Some(at) = causes.iter().position(|cause| cause.id == id) {
                return at;
            }
            let root = self.results.iter().find(|result| result.check.id == id);
            causes.push(Cause { id, root, dependents: Vec::new() });
            causes.len() - 1
        };
        let mut members = Vec::new();
        for result in &self.results {
            match (&result.verdict, result.cause) {
                (_, Some(cause)) => members.push((of(cause), result)),
                (Verdict::Fail(_), None) => {
                    of(result.check.id);
                }
                _ => (),
            }
        }
        for (at, result) in members {
            if let Some(cause) = causes.get_mut(at) {
                cause.dependents.push(result);
            }
        }
        causes.sort_by_key(Cause::severity);
        causes
    }
}
