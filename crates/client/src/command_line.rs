//! Command lines as text, in the quoting of the system.

/// Splits a command line into the executable and its arguments. `None` if a quote is not closed.
///
/// On Unix these are the rules of a POSIX shell without substitutions. On Windows a backslash is an ordinary character
/// except before `"`, as in `CommandLineToArgvW`, so that paths need no escapes; an argument may also be enclosed in
/// single quotes.
pub fn split_command_line(text: &str) -> Option<Vec<String>> {
    if cfg!(windows) { windows::split(text) } else { shlex::split(text) }
}

/// The command line of an executable and its arguments: the inverse of [`split_command_line`]. `None` if a text
/// contains a NUL character.
pub fn join_command_line<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if cfg!(windows) {
        let tokens: Vec<String> = tokens.into_iter().map(windows::quote).collect();
        let line = tokens.join(" ");
        (!line.contains('\0')).then_some(line)
    } else {
        shlex::try_join(tokens).ok()
    }
}

mod windows {
    pub(super) fn split(text: &str) -> Option<Vec<String>> {
        let mut tokens = Vec::new();
        let mut token = None::<String>;
        let mut quote = None;
        let mut rest = text.chars().peekable();
        while let Some(next) = rest.next() {
            match (next, quote) {
                ('\\', None | Some('"')) => {
                    let mut count = 1;
                    while rest.next_if_eq(&'\\').is_some() {
                        count += 1;
                    }
                    let token = token.get_or_insert_default();
                    if rest.peek() == Some(&'"') {
                        token.extend(std::iter::repeat_n('\\', count / 2));
                        if count % 2 == 1 {
                            token.extend(rest.next());
                        }
                    } else {
                        token.extend(std::iter::repeat_n('\\', count));
                    }
                }
                ('"', None) => {
                    token.get_or_insert_default();
                    quote = Some('"');
                }
                ('"', Some('"')) => {
                    // Two quotation marks in a quoted part are one.
                    if rest.next_if_eq(&'"').is_some() {
                        token.get_or_insert_default().push('"');
                    } else {
                        quote = None;
                    }
                }
                // In the middle of an argument it is an apostrophe.
                ('\'', None) if token.is_none() => {
                    token = Some(String::new());
                    quote = Some('\'');
                }
                ('\'', Some('\'')) => quote = None,
                (' ' | '\t' | '\r' | '\n', None) => tokens.extend(token.take()),
                (next, _) => token.get_or_insert_default().push(next),
            }
        }
        tokens.extend(token);
        quote.is_none().then_some(tokens)
    }

    pub(super) fn quote(text: &str) -> String {
        let is_special = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | '"' | '\'');
        if !text.is_empty() && !text.contains(is_special) {
            return text.to_owned();
        }
        let mut quoted = String::from('"');
        let mut backslashes = 0;
        for next in text.chars() {
            if next == '"' {
                // Those before a quotation mark are escapes unless they are doubled.
                quoted.extend(std::iter::repeat_n('\\', backslashes + 1));
            }
            backslashes = if next == '\\' { backslashes + 1 } else { 0 };
            quoted.push(next);
        }
        quoted.extend(std::iter::repeat_n('\\', backslashes));
        quoted.push('"');
        quoted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_command_lines_keep_the_backslashes_of_paths() {
        for (text, tokens) in [
            (r"C:\engines\a.exe -x", &[r"C:\engines\a.exe", "-x"][..]),
            (r#""C:\将棋 エンジン\e 1.exe" net=.\a"#, &[r"C:\将棋 エンジン\e 1.exe", r"net=.\a"]),
            (r#""C:\dir\\" b"#, &[r"C:\dir\", "b"]),
            (r#"a\"b "c""d" ''"#, &[r#"a"b"#, r#"c"d"#, ""]),
            (r"'C:\Program Files\e.exe' 'a b'", &[r"C:\Program Files\e.exe", "a b"]),
            (r"C:\Bob's\e.exe", &[r"C:\Bob's\e.exe"]),
            (" \t\r\n", &[]),
        ] {
            assert_eq!(
                windows::split(text).as_deref(),
                Some(tokens_of(tokens).as_slice()),
                "{text}"
            );
        }
        for text in ["\"a", "'a", r#"a\\"b"#] {
            assert_eq!(windows::split(text), None, "{text}");
        }
    }

    fn tokens_of(tokens: &[&str]) -> Vec<String> {
        tokens.iter().map(|&token| token.to_owned()).collect()
    }

    #[test]
    fn quoted_tokens_are_split_into_the_same_tokens() {
        for token in [
            "",
            "a",
            "a b",
            r"\",
            r"a\",
            r"a b\",
            r#"a"b"#,
            r#"a\"b"#,
            r#"\\"\\ "#,
            "it's",
            "'",
            "日本 語",
            "a\nb",
        ] {
            let line = windows::quote(token);
            assert_eq!(windows::split(&line), Some(vec![token.to_owned()]), "{line}");
            let line = join_command_line([token, "x"]).expect("no NUL");
            assert_eq!(split_command_line(&line), Some(tokens_of(&[token, "x"])), "{line}");
        }
        assert_eq!(join_command_line(["a\0"]), None);
    }
}
