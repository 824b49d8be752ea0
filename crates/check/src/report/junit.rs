//! The report as XML in the form of `JUnit`, which build servers show.

use std::fmt::Write as _;

use crate::check::Verdict;
use crate::suite::Report;

impl Report {
    /// One test suite with a test case for each check. What is no must does not fail it.
    pub fn to_junit(&self) -> String {
        let broken = |it: &&crate::CheckResult| it.severity == crate::Severity::Must;
        let (failures, skipped) = (
            self.failures().filter(broken).count(),
            self.results.iter().filter(|it| is_skipped(it)).count(),
        );
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // Writing into a `String` cannot fail.
        let _ = writeln!(
            xml,
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\" time=\"{:.3}\">",
            escaped(&self.name),
            self.results.len(),
            self.took.as_secs_f64(),
        );
        for result in &self.results {
            let area = result.check.area();
            let _ = write!(
                xml,
                "  <testcase classname=\"{area}\" name=\"{}\" time=\"{:.3}\">",
                result.check.id,
                result.took.as_secs_f64()
            );
            let text = escaped(&result.verdict.text());
            let dialogue = escaped(result.dialogue.as_deref().unwrap_or_default());
            let _ = match &result.verdict {
                Verdict::Pass => Ok(()),
                Verdict::Fail(_) if result.severity == crate::Severity::Must => {
                    write!(xml, "<failure message=\"{text}\">{dialogue}</failure>")
                }
                Verdict::Fail(_) => {
                    write!(xml, "<skipped message=\"{}: {text}\"/>", result.severity)
                }
                Verdict::Skip(_) | Verdict::Inconclusive(_) => {
                    write!(xml, "<skipped message=\"{}: {text}\"/>", result.verdict.word())
                }
            };
            let _ = writeln!(xml, "</testcase>");
        }
        xml.push_str("</testsuite>\n");
        xml
    }
}

fn is_skipped(result: &crate::CheckResult) -> bool {
    match result.verdict {
        Verdict::Pass => false,
        Verdict::Fail(_) => result.severity != crate::Severity::Must,
        Verdict::Skip(_) | Verdict::Inconclusive(_) => true,
    }
}

/// Text that can stand in an attribute or an element of XML 1.0.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            // XML has no way to write these.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_xml_cannot_hold_is_escaped_or_replaced() {
        assert_eq!(escaped("a<b>&\"\u{1b}[2J"), "a&lt;b&gt;&amp;&quot;\u{fffd}[2J");
    }
}
