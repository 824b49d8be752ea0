//! Names of workers, and what their connections may do. The server reads the name from the signed credentials and puts
//! it into the permitted subjects, so that the subject of a message proves its sender.

use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;

/// Subjects that a worker may publish to. The server replaces `{{name()}}` by the name in the credentials. A worker chooses
/// the tokens of wildcards: only its name is verified.
pub const WORKER_PUBLISH: [&str; 7] = [
    "readyok.take.*.{{name()}}",
    "readyok.note.*.{{name()}}",
    "readyok.results.*.{{name()}}",
    "readyok.hello.{{name()}}",
    "$KV.READYOK_WORKERS.{{name()}}",
    "$JS.API.DIRECT.GET.KV_READYOK_MATCHES.>",
    "$JS.API.DIRECT.GET.READYOK_FILES.>",
];

/// Subjects that a worker may subscribe to: announcements, and replies to its own requests. The server compares the
/// tokens, of which `>` is one: `readyok.state.>` is permitted, so longer subjects are not secret.
pub const WORKER_SUBSCRIBE: [&str; 2] = ["readyok.state.*", "_INBOX.{{name()}}.>"];

/// The name in the credentials of the owner of a farm. No worker may have it: its replies would be readable.
pub const OWNER: &str = "owner";

/// Maximum length of the name of a machine, and of the name of its owner.
const MAX_PART_LEN: usize = 32;

/// Whether this is the name of a worker: `box7`, or `alice/box7` for a worker of the owner `alice`. Such a name is a
/// single token of a subject, and a valid key of a bucket.
pub fn is_worker_name(name: &str) -> bool {
    name != OWNER && name.split('/').count() <= 2 && name.split('/').all(is_part)
}

fn is_part(text: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (1..=MAX_PART_LEN).contains(&text.len()) && text.bytes().all(is_valid)
}

/// The owner of a worker: the part before `/`, or else the name itself.
pub fn owner_of(name: &str) -> &str {
    name.split_once('/').map_or(name, |(owner, _)| owner)
}

/// The name in the token of a credentials file. The signature is not verified.
pub fn name_in_credentials(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Claims {
        name: String,
    }
    let (_, after) = text.split_once("-----BEGIN NATS USER JWT-----")?;
    let token = after.split_whitespace().next()?;
    let claims = BASE64URL_NOPAD.decode(token.split('.').nth(1)?.as_bytes()).ok()?;
    Some(serde_json::from_slice::<Claims>(&claims).ok()?.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_tokens_with_an_optional_owner() {
        let longest = "x".repeat(MAX_PART_LEN);
        for name in ["box7", "alice/box7", "A_b-9", &longest, &format!("{longest}/{longest}")] {
            assert!(is_worker_name(name), "{name}");
        }
        let too_long = "x".repeat(MAX_PART_LEN + 1);
        for name in [
            "",
            "/",
            "a/",
            "/b",
            "a/b/c",
            "a.b",
            "*",
            ">",
            "a b",
            "a\tb",
            "a\n",
            "\u{e9}",
            "a=b",
            "{{name()}}",
            "..",
            OWNER,
            &too_long,
            &format!("{too_long}/b"),
            &format!("a/{too_long}"),
        ] {
            assert!(!is_worker_name(name), "{name}");
        }
        assert_eq!(owner_of("box7"), "box7");
        assert_eq!(owner_of("alice/box7"), "alice");
    }

    #[test]
    fn reads_the_name_of_credentials() {
        let with = |claims: &[u8]| {
            let claims = BASE64URL_NOPAD.encode(claims);
            format!(
                "-----BEGIN NATS USER JWT-----\r\nhead.{claims}.signature\r\n------END NATS USER JWT------\r\n"
            )
        };
        let name = |text: &str| name_in_credentials(text);
        assert_eq!(
            name(&with(br#"{"sub":"U","name":"alice/box7"}"#)).as_deref(),
            Some("alice/box7")
        );
        let malformed = [
            String::new(),
            "SUAM".to_owned(),
            "-----BEGIN NATS USER JWT-----".to_owned(),
            "-----BEGIN NATS USER JWT-----\nnone".to_owned(),
            "-----BEGIN NATS USER JWT-----\na.?.c".to_owned(),
            with(b"{}"),
            with(br#"{"name":7}"#),
            with(b"\xff"),
        ];
        for text in malformed {
            assert_eq!(name(&text), None, "{text}");
        }
    }
}
