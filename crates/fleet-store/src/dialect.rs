//! The seams where the two engines differ. Everything else is written once.

use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Fills the seams of a statement: `{for_update}`, `{for_share}`, `{skip_locked}` (`{skip_locked t}` and `{skip_locked w}` where only
    /// the rows of `t` or `w` are meant), `{list N}` (a JSON list in parameter N), `{items N}` (the same as a table `j` of `key` and `value`), `{by_lane}`, `{by_terminal}` and `{by_terminal_due}` (SQLite knows no statistics and would take another index, then sort), and for the schema `{without_rowid}`, `{events}`, `{task_specs}` and `{summary}`; SQLite numbers its parameters with `?`.
    pub(crate) fn adapt(self, sql: &str) -> Cow<'_, str> {
        if self == Self::Postgres && !sql.contains('{') {
            return Cow::Borrowed(sql);
        }
        let mut out = String::with_capacity(sql.len() + 64);
        let mut rest = sql;
        while let Some(at) = rest.find(['{', '$']) {
            out.push_str(&rest[..at]);
            if rest.as_bytes()[at] == b'$' {
                out.push(if self == Self::Sqlite { '?' } else { '$' });
                rest = &rest[at + 1..];
                continue;
            }
            let end = rest[at..].find('}').map_or(rest.len(), |length| at + length);
            self.seam(&rest[at + 1..end], &mut out);
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    fn seam(self, name: &str, out: &mut String) {
        match (self, name) {
            (Self::Postgres, "for_update") => out.push_str("FOR UPDATE"),
            (Self::Postgres, "for_share") => out.push_str("FOR SHARE"),
            (Self::Postgres, "skip_locked") => out.push_str("FOR UPDATE SKIP LOCKED"),
            (Self::Postgres, "skip_locked t") => out.push_str("FOR UPDATE OF t SKIP LOCKED"),
            (Self::Postgres, "skip_locked w") => out.push_str("FOR UPDATE OF w SKIP LOCKED"),
            (Self::Sqlite, "by_lane") => out.push_str("INDEXED BY tasks_by_lane"),
            (Self::Sqlite, "by_terminal") => out.push_str("INDEXED BY tasks_interactive"),
            (Self::Sqlite, "by_terminal_due") => out.push_str("INDEXED BY tasks_interactive_due"),
            (Self::Sqlite, "without_rowid") => out.push_str("WITHOUT ROWID"),
            (Self::Sqlite, "events") => out.push_str(include_str!("../migrations/0001_events.sqlite.sql")),
            (Self::Postgres, "events") => {
                out.push_str(include_str!("../migrations/0001_events.postgres.sql"));
            }
            (Self::Sqlite, "task_specs") => {
                out.push_str(include_str!("../migrations/0009_task_spec.sqlite.sql"));
            }
            (Self::Postgres, "task_specs") => {
                out.push_str(include_str!("../migrations/0009_task_spec.postgres.sql"));
            }
            (Self::Sqlite, "summary") => out.push_str("json_extract(x.text, '$.summary')"),
            (Self::Postgres, "summary") => out.push_str("(x.text::json ->> 'summary')"),
            (_, list) if list.starts_with("list ") => self.list(&list[5..], out),
            (_, items) if items.starts_with("items ") => self.items(&items[6..], out),
            _ => {}
        }
    }

    fn items(self, parameter: &str, out: &mut String) {
        let (before, after) = match self {
            Self::Sqlite => ("json_each(?", ") AS j"),
            Self::Postgres => ("json_array_elements($", "::text::json) WITH ORDINALITY AS j (value, key)"),
        };
        out.push_str(before);
        out.push_str(parameter);
        out.push_str(after);
    }

    fn list(self, parameter: &str, out: &mut String) {
        let (before, after) = match self {
            Self::Sqlite => ("(SELECT value FROM json_each(?", "))"),
            Self::Postgres => ("(SELECT jsonb_array_elements_text($", "::text::jsonb))"),
        };
        out.push_str(before);
        out.push_str(parameter);
        out.push_str(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seams_are_filled_for_each_engine() {
        let sql = "SELECT a FROM t WHERE b = $1 AND c IN {list 2} {for_update}";
        assert_eq!(
            Dialect::Sqlite.adapt(sql),
            "SELECT a FROM t WHERE b = ?1 AND c IN (SELECT value FROM json_each(?2)) "
        );
        assert_eq!(
            Dialect::Postgres.adapt(sql),
            "SELECT a FROM t WHERE b = $1 AND c IN (SELECT jsonb_array_elements_text($2::text::jsonb)) FOR UPDATE"
        );
        let items = "SELECT j.value FROM {items 3} ORDER BY j.key";
        assert_eq!(Dialect::Sqlite.adapt(items), "SELECT j.value FROM json_each(?3) AS j ORDER BY j.key");
        assert_eq!(
            Dialect::Postgres.adapt(items),
            "SELECT j.value FROM json_array_elements($3::text::json) WITH ORDINALITY AS j (value, key) ORDER BY j.key"
        );
        assert!(matches!(Dialect::Postgres.adapt("SELECT $1"), Cow::Borrowed(_)));
    }
}
