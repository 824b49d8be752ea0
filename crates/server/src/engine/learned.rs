//! The identity and options of an engine, stored so that they are known before its next start.

use serde::{Deserialize, Deserializer, Serialize};

use crate::wire::{EngineOption, Identity, Protocol, StrengthRange, Variant};

/// What is longer as JSON is not kept; the engine is asked again instead. Engines with a hundred options
/// take a tenth of it.
const MAX_SIZE: usize = 1 << 18;

/// The result of the last handshake of an engine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Learned {
    pub(crate) identity: Identity,
    /// The protocol of the handshake.
    pub(crate) protocol: Protocol,
    pub(crate) options: Vec<EngineOption>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) strength: Option<StrengthRange>,
}

impl Learned {
    /// Whether it is short enough to be kept.
    pub(super) fn is_short(&self) -> bool {
        serde_json::to_string(self).is_ok_and(|text| text.len() <= MAX_SIZE)
    }
}

/// Reads what was kept. What another version of the program has kept and this one cannot read is nothing: the
/// engine can be asked.
pub(super) fn if_readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Learned>, D::Error> {
    let kept = Option::<serde_json::Value>::deserialize(from)?;
    Ok(kept.and_then(|kept| serde_json::from_value(kept).ok()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::engine::Entry;

    fn entry(learned: &Value) -> Entry {
        let source = json!({ "kind": "tcp", "address": "host:1" });
        let entry = json!({ "name": "", "source": source, "protocol": null, "learned": learned });
        serde_json::from_value(entry).expect("an entry")
    }

    fn learned(names: usize) -> Value {
        let option = |number: usize| {
            let kind = json!({ "kind": "check", "default": true });
            let name = format!("{number:0200}");
            json!({ "name": name, "kind": kind, "labels": {}, "help": {}, "set_by_server": false })
        };
        json!({
            "identity": { "name": "Mine", "author": "Ada" },
            "protocol": "usi",
            "options": (0..names).map(option).collect::<Vec<_>>(),
            "variants": ["shogi"],
            "strength": { "kind": "level", "option": "USI_Strength", "min": 1, "max": 9 },
        })
    }

    #[test]
    fn what_is_kept_comes_back() {
        let kept = serde_json::to_value(entry(&learned(100)).to_keep()).expect("JSON");
        assert_eq!(kept["learned"], learned(100));
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let entry = entry(&learned(2000));
        assert!(entry.learned.is_some());
        assert!(entry.to_keep().learned.is_none());
    }

    #[test]
    fn what_cannot_be_read_costs_no_engine() {
        let mut later = learned(1);
        later["variants"] = json!(["xiangqi"]);
        for damaged in [later, json!(null), json!(7), json!({})] {
            assert!(entry(&damaged).learned.is_none(), "{damaged}");
        }
    }
}
