//! What a session offers to be set: its mode, its model, how hard it thinks.

use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES as METHODS, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionCategory as Category, SessionConfigSelectOptions, SessionModeState,
    SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::adapter::Trust;

/// The request of older agents, which the protocol no longer has.
const SET_MODEL: &str = "session/set_model";

/// Names of modes in which an agent changes nothing.
const READING: &[&str] = &["read-only", "readonly", "plan", "ask"];
/// Names of modes in which it works, the more careful ones first.
const WORKING: &[&str] = &["auto", "agent", "build", "code", "default"];
/// The same for an agent that may do anything.
const UNBOUND: &[&str] = &["full-access", "auto", "agent", "build", "code", "default"];

/// What the answer to opening a session offers. Read leniently: offers that are not understood are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Offers {
    #[serde(default, deserialize_with = "lenient")]
    modes: Option<SessionModeState>,
    #[serde(default, deserialize_with = "lenient")]
    config_options: Option<Vec<SessionConfigOption>>,
    #[serde(default)]
    models: Option<Value>,
}

fn lenient<'de, D, T>(source: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    let value = Value::deserialize(source)?;
    Ok(serde_json::from_value(value).ok())
}

/// What a run wants from its session.
#[derive(Debug)]
pub(super) struct SessionWishes {
    pub(super) trust: Trust,
    pub(super) model: Option<String>,
    pub(super) effort: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfferedSetting {
    Mode,
    Model,
    Effort,
}

/// A request that sets something.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) setting: OfferedSetting,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Offers {
    /// The requests that make the session what the run wants, as far as it can be asked for.
    pub(super) fn requests(&self, session: &str, wishes: &SessionWishes) -> Vec<Request> {
        let mode = self.mode(session, wishes.trust);
        let model = wishes.model.as_deref().and_then(|model| self.model(session, model));
        let effort = wishes.effort.as_deref().and_then(|effort| {
            let option = self.option(&Category::ThoughtLevel)?;
            Some(config(OfferedSetting::Effort, session, option, effort))
        });
        [mode, model, effort].into_iter().flatten().collect()
    }

    /// A mode is chosen only where the present one does not fit: one that reads for a task that reads, one that works
    /// if the agent begins in one that does not.
    fn mode(&self, session: &str, trust: Trust) -> Option<Request> {
        let option = self.option(&Category::Mode);
        let (current, offered) = match (&self.modes, option) {
            (Some(modes), _) => {
                let ids = modes.available_modes.iter().map(|mode| mode.id.0.to_string()).collect();
                (modes.current_mode_id.0.to_string(), ids)
            }
            (None, Some(option)) => values(option)?,
            (None, None) => return None,
        };
        let reads_now = READING.contains(&last_word(&current));
        let wanted = match trust {
            Trust::ReadOnly if !reads_now => READING,
            Trust::Sandbox if reads_now => WORKING,
            Trust::Full if reads_now => UNBOUND,
            _ => return None,
        };
        let chosen = wanted.iter().find_map(|name| offered.iter().find(|id| last_word(id) == *name))?;
        Some(match (&self.modes, option) {
            (None, Some(option)) => config(OfferedSetting::Mode, session, option, chosen),
            _ => Request {
                setting: OfferedSetting::Mode,
                method: METHODS.session_set_mode,
                params: json!(SetSessionModeRequest::new(session.to_owned(), chosen.clone())),
            },
        })
    }

    fn model(&self, session: &str, model: &str) -> Option<Request> {
        if let Some(option) = self.option(&Category::Model) {
            return Some(config(OfferedSetting::Model, session, option, model));
        }
        self.models.as_ref()?;
        let params = json!({ "sessionId": session, "modelId": model });
        Some(Request { setting: OfferedSetting::Model, method: SET_MODEL, params })
    }

    fn option(&self, category: &Category) -> Option<&SessionConfigOption> {
        self.config_options.iter().flatten().find(|option| option.category.as_ref() == Some(category))
    }
}

fn config(setting: OfferedSetting, session: &str, option: &SessionConfigOption, value: &str) -> Request {
    let request = SetSessionConfigOptionRequest::new(session.to_owned(), option.id.clone(), value);
    Request { setting, method: METHODS.session_set_config_option, params: json!(request) }
}

/// The present value of an option and all that it can have.
fn values(option: &SessionConfigOption) -> Option<(String, Vec<String>)> {
    let SessionConfigKind::Select(select) = &option.kind else { return None };
    let offered = match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => options.iter().collect::<Vec<_>>(),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).collect()
        }
        _ => return None,
    };
    let offered = offered.iter().map(|option| option.value.0.to_string()).collect();
    Some((select.current_value.0.to_string(), offered))
}

/// The name in an id, which some write as the address of a page.
fn last_word(id: &str) -> &str {
    id.rsplit(['#', '/']).next().unwrap_or(id)
}
