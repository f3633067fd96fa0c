//! A known agent whose program the user keeps somewhere else, or whose service is another one.

use std::borrow::Cow;
use std::sync::Arc;

use crate::adapter::{About, Adapter, Brief, Decoder, LaunchPlan, Program, RecordFiles, Resumes};

pub struct OverriddenAgent {
    inner: Arc<dyn Adapter>,
    program: Option<Cow<'static, str>>,
    provider: Option<Cow<'static, str>>,
}

impl OverriddenAgent {
    /// The agent unchanged.
    pub const fn new(inner: Arc<dyn Adapter>) -> Self {
        Self { inner, program: None, provider: None }
    }

    /// Starts this program: a name, or a whole path.
    #[must_use]
    pub fn program(mut self, program: Option<String>) -> Self {
        self.program = program.map(Cow::Owned);
        self
    }

    #[must_use]
    pub fn provider(mut self, provider: Option<String>) -> Self {
        self.provider = provider.map(Cow::Owned);
        self
    }

    fn moved(&self, usual: Program) -> Program {
        self.program.clone().map_or(usual, Program::OnPath)
    }
}

impl Adapter for OverriddenAgent {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn about(&self) -> About {
        let about = self.inner.about();
        About {
            program: self.moved(about.program.clone()),
            provider: self.provider.clone().unwrap_or_else(|| about.provider.clone()),
            ..about
        }
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        let plan = self.inner.plan(brief);
        LaunchPlan { program: self.moved(plan.program.clone()), ..plan }
    }

    fn decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        self.inner.decoder(brief)
    }

    fn resumes(&self) -> Resumes {
        self.inner.resumes()
    }

    fn record(&self, session: &str) -> Option<RecordFiles> {
        self.inner.record(session)
    }

    fn terminal(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        let plan = self.inner.terminal(brief)?;
        Some(LaunchPlan { program: self.moved(plan.program.clone()), ..plan })
    }

    fn terminal_prompt<'b>(&self, brief: &Brief<'b>) -> Cow<'b, str> {
        self.inner.terminal_prompt(brief)
    }

    fn terminal_decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        self.inner.terminal_decoder(brief)
    }

    fn terminal_record(&self, session: &str) -> Option<RecordFiles> {
        self.inner.terminal_record(session)
    }

    fn asks(&self) -> bool {
        self.inner.asks()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::demo::Demo;

    #[test]
    fn only_what_is_set_is_replaced() {
        let brief = Brief::plain("do it", Path::new("/w"));
        let same = OverriddenAgent::new(Arc::new(Demo));
        assert_eq!((same.about(), same.plan(&brief)), (Demo.about(), Demo.plan(&brief)));
        assert_eq!((same.resumes(), same.asks()), (Demo.resumes(), Demo.asks()));
        let moved =
            OverriddenAgent::new(Arc::new(Demo)).program(Some("/opt/x".into())).provider(Some("acme".into()));
        let program = Program::OnPath("/opt/x".into());
        assert_eq!((moved.name(), &*moved.about().provider), ("demo", "acme"));
        assert_eq!((moved.about().program, moved.about().login), (program.clone(), Demo.about().login));
        assert_eq!(moved.plan(&brief), LaunchPlan { program, ..Demo.plan(&brief) });
    }
}
