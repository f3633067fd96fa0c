//! Opens and configures a session, before the task is sent.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES as METHODS, Error, InitializeResponse, LoadSessionRequest, NewSessionRequest,
    ResumeSessionRequest,
};
use fleet_core::event::AgentEvent;
use fleet_core::run::Reason;
use serde_json::Value;

use super::{AcpDecoder, TurnState};
use crate::acp::error::failure;
use crate::acp::offers::{OfferedSetting, Offers};
use crate::acp::wire::{FIRST_SETTING, OPEN};
use crate::adapter::{AgentFailure, Trust};
use crate::common::json::text;
use crate::common::words;

impl AcpDecoder {
    /// The protocol is initialized: opens the session.
    pub(super) fn initialized(&mut self, agent: &InitializeResponse) -> Vec<AgentEvent> {
        if agent.protocol_version != ProtocolVersion::V1 {
            let text = format!("it speaks version {} of the protocol, not 1", agent.protocol_version);
            return self.fail(AgentFailure::new(Reason::AgentError, text), TurnState::Never);
        }
        let (cwd, servers) = (self.workspace.clone(), self.servers.clone());
        let able = &agent.agent_capabilities;
        match self.resumed.clone() {
            // Better than to load, because nothing is repeated.
            Some(session) if able.session_capabilities.resume.is_some() => {
                let request = ResumeSessionRequest::new(session, cwd).mcp_servers(servers);
                self.outbox.request(OPEN, METHODS.session_resume, &request);
            }
            Some(session) if able.load_session => {
                self.is_repeating = true;
                let request = LoadSessionRequest::new(session, cwd).mcp_servers(servers);
                self.outbox.request(OPEN, METHODS.session_load, &request);
            }
            _ => {
                self.resumed = None;
                let request = NewSessionRequest::new(cwd).mcp_servers(servers);
                self.outbox.request(OPEN, METHODS.session_new, &request);
            }
        }
        Vec::new()
    }

    /// The session is open: sends its settings, then the task.
    pub(super) fn opened(&mut self, result: Value) -> Option<Vec<AgentEvent>> {
        let session = words::id(text(&result, "sessionId").or(self.resumed.as_deref())?);
        if self.session.is_some() {
            return Some(Vec::new());
        }
        self.is_repeating = false;
        self.session = Some(session.clone());
        let offers: Offers = serde_json::from_value(result).unwrap_or_default();
        let ids = (FIRST_SETTING..).step_by(2);
        for (id, request) in ids.zip(offers.requests(&session, &self.wishes)) {
            self.outbox.request(id, request.method, &request.params);
            self.settings.push((id, request.setting));
        }
        if self.settings.is_empty() {
            self.next_turn();
        }
        Some(vec![AgentEvent::SessionStarted { session }])
    }

    /// A setting is confirmed or refused.
    pub(super) fn set(&mut self, id: u64, refused: Option<&Error>) -> Vec<AgentEvent> {
        let Some(index) = self.settings.iter().position(|(asked, _)| *asked == id) else { return Vec::new() };
        let (_, setting) = self.settings.swap_remove(index);
        if let Some(error) = refused {
            let failure = failure(error);
            // A task runs without the wanted effort, but not with another model, and not without its restrictions.
            let kept = match setting {
                OfferedSetting::Model => Some(Reason::BadModel),
                OfferedSetting::Mode if self.wishes.trust == Trust::ReadOnly => Some(Reason::AgentError),
                OfferedSetting::Mode | OfferedSetting::Effort => None,
            };
            if let Some(reason) = kept {
                self.settings.clear();
                return self.fail(AgentFailure { reason, ..failure }, TurnState::Never);
            }
        }
        if self.settings.is_empty() && self.turn == TurnState::NotYet {
            self.next_turn();
        }
        Vec::new()
    }
}
