//! `fleet explain`

use clap::Args;
use fleet_core::problem::{Code, Problem};

use crate::Done;
use crate::output::Output;

/// Explain an error code: what it means, why it happens, what to do
#[derive(Debug, Args)]
#[command(display_order = 340)]
pub(crate) struct Explain {
    /// The code, as an error message shows it; without one, all codes are listed
    code: Option<String>,
}

macro_rules! define_page {
    ($($(#[$doc:meta])+ $code:ident = $name:literal, $kind:ident;)+) => {
        const fn page(code: Code) -> &'static str {
            match code {
                $(Code::$code => include_str!(concat!("../../docs/errors/", $name, ".md")),)+
            }
        }
    };
}

fleet_core::for_each_code!(define_page);

impl Explain {
    pub(crate) fn run(self, output: Output) -> Done {
        let Some(name) = self.code else {
            let codes: Vec<_> = Code::ALL.iter().map(|code| (code.as_str(), summary(*code))).collect();
            let answer: Vec<_> = codes
                .iter()
                .map(|(code, summary)| serde_json::json!({ "code": code, "summary": summary }))
                .collect();
            return output.show(&serde_json::json!({ "codes": answer }), || {
                codes
                    .iter()
                    .map(|(code, summary)| format!("{code:<22}  {summary}"))
                    .collect::<Vec<_>>()
                    .join("\n")
            });
        };
        // Reasons are written with underscores, codes with hyphens: people type either.
        let code: Code = name.replace('_', "-").parse().map_err(|_| {
            Problem::new(Code::CodeNotFound, format!("there is no error code {name:?}"))
                .hint("`fleet explain` lists all codes")
        })?;
        let answer = serde_json::json!({ "code": code, "summary": summary(code), "text": page(code) });
        output.show(&answer, || page(code).to_owned())
    }
}

/// The first sentence of a page, below its title.
fn summary(code: Code) -> &'static str {
    page(code).lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_about_its_code_and_says_what_to_do() {
        for code in Code::ALL {
            let page = page(*code);
            assert!(page.starts_with(&format!("# {code}\n")), "{code}: the title is the code");
            assert!(!summary(*code).is_empty(), "{code}: the page begins with a sentence");
            assert!(page.contains("## What to do"), "{code}: the page says what to do");
        }
    }
}
