//! A command in one text, taken apart as a shell would: words, quotes, backslashes, and nothing else.
//!
//! No shell ever sees it, so whatever only a shell could do is refused and not passed on as a letter.

/// The program and its arguments, or what is wrong.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' | '"' => quoted(c, &mut rest, word.get_or_insert_default())?,
            '\\' => {
                let next = rest.next().ok_or("it ends with a backslash")?;
                word.get_or_insert_default().push(next);
            }
            '#' | '~' if word.is_none() => return Err(shell_only(c)),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' => {
                return Err(shell_only(c));
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match words.first() {
        None => Err("it is empty".to_owned()),
        Some(first) if first.contains('=') => {
            Err(format!("it begins with `{first}`, and only a shell sets variables"))
        }
        Some(_) => Ok(words),
    }
}

fn quoted(quote: char, rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    while let Some(c) = rest.next() {
        match c {
            c if c == quote => return Ok(()),
            '$' | '`' if quote == '"' => return Err(shell_only(c)),
            '\\' if quote == '"' => match rest.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => word.push(next),
                Some(other) => word.extend(['\\', other]),
                None => break,
            },
            c => word.push(c),
        }
    }
    Err(format!("a {quote} is missing"))
}

fn shell_only(c: char) -> String {
    format!("`{c}` has a meaning only in a shell, and none is used")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        for (text, expected) in [
            ("cargo test", &["cargo", "test"][..]),
            ("  a \t b  ", &["a", "b"]),
            (r#"grep "a b" 'c"d' e\ f ''"#, &["grep", "a b", "c\"d", "e f", ""]),
            (r#"x "a\"b\n""#, &["x", "a\"b\\n"]),
            ("make a=b c~d e#f", &["make", "a=b", "c~d", "e#f"]),
            ("echo '$HOME | *'", &["echo", "$HOME | *"]),
        ] {
            assert_eq!(split(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_needs_a_shell_is_refused() {
        for text in [
            "a | b",
            "a && b",
            "a; b",
            "a > b",
            "echo $HOME",
            "\"$x\"",
            "ls *.rs",
            "~/x",
            "(a)",
            "`a`",
            "# a",
        ] {
            let why = split(text).unwrap_err();
            assert!(why.contains("only in a shell"), "{text}: {why}");
        }
        assert_eq!(split("A=1 b").unwrap_err(), "it begins with `A=1`, and only a shell sets variables");
        assert_eq!(split("a 'b").unwrap_err(), "a ' is missing");
        assert_eq!(split("a \"b\\").unwrap_err(), "a \" is missing");
        assert_eq!(split("a \\").unwrap_err(), "it ends with a backslash");
        assert_eq!(split("  ").unwrap_err(), "it is empty");
    }
}
