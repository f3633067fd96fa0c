//! Agents that only the user's configuration describes.
//!
//! Owns the meaning of such a description: arguments with placeholders, how the task is passed, and what the output
//! means, which is either that of a known agent, whose decoder is taken as it is, or plain lines, in which patterns
//! find what matters. A description with a mistake is refused when it is read, with what to change; nothing is left
//! to fail in the middle of a run.

mod decoder;
mod patterns;
mod spec;
mod template;
mod terminal;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use decoder::CustomDecoder;
use patterns::Finder;
pub use spec::{CustomError, CustomSpec, OutputPatterns};
use template::{ArgPlaceholder, Arguments, Values};
use terminal::StillScreen;

use crate::adapter::{
    About, Adapter, Brief, Conversation, Decoder, Enforced, LaunchPlan, PlannedFile, Program, PromptVia,
    RecordFiles, Resumes, SettingsFiles, Trust,
};
use crate::registry::Registry;

/// The name of unstructured output.
const LINES: &str = "lines";

/// The file with an agent's instructions beside its task.
const ORDERS: &str = "system-prompt.md";

/// An agent that the user defined.
pub struct Custom {
    name: String,
    program: String,
    args: Arguments,
    resume_args: Option<Arguments>,
    terminal_args: Option<Arguments>,
    trust_args: [Arguments; 3],
    prompt: Option<PromptVia>,
    like: Option<Arc<dyn Adapter>>,
    finder: Arc<Finder>,
    provider: Option<String>,
    version_args: Vec<String>,
    install: Option<String>,
    login: Option<String>,
}

impl Custom {
    /// The agent that is described, or what is wrong with the description. `known` are the agents whose output it may
    /// name.
    pub fn new(spec: CustomSpec, known: &Registry) -> Result<Self, CustomError> {
        if spec.program.trim().is_empty() {
            return Err(CustomError::NoProgram { agent: spec.name });
        }
        let like = like(&spec, known)?;
        let read = |args: &[String]| Arguments::read(&spec.name, args);
        let args = read(&spec.args)?;
        let resume_args = spec.resume_args.as_deref().map(read).transpose()?;
        let terminal_args = spec.terminal_args.as_deref().map(read).transpose()?;
        let [read_only, sandbox, full] = &spec.trust_args;
        let trust_args = [read(read_only)?, read(sandbox)?, read(full)?];
        let finder = Arc::new(Finder::new(&spec.name, &spec.patterns)?);
        let is_named = |args: &Arguments| args.names(ArgPlaceholder::PromptFile);
        let names_file = is_named(&args) && resume_args.as_ref().is_none_or(is_named);
        if spec.prompt == Some(PromptVia::File) && !names_file {
            return Err(CustomError::PromptNowhere { agent: spec.name });
        }
        let CustomSpec { name, program, prompt, provider, version_args, install, login, .. } = spec;
        Ok(Self {
            name,
            program,
            args,
            resume_args,
            terminal_args,
            trust_args,
            prompt,
            like,
            finder,
            provider,
            version_args,
            install,
            login,
        })
    }

    /// Those of the agent that it is like. Its arguments are the user's, and may well leave settings out.
    fn settings_files(&self) -> SettingsFiles {
        let like = self.like.as_ref().map(|like| like.about().settings_files);
        SettingsFiles { can_be_left_out: false, ..like.unwrap_or(SettingsFiles::NONE) }
    }

    /// The arguments that a conversation is begun or continued with.
    fn arguments(&self, brief: &Brief<'_>) -> &Arguments {
        let resume = self.resume_args.as_ref().filter(|_| brief.conversation.resumed().is_some());
        resume.unwrap_or(&self.args)
    }

    fn names(&self, args: &Arguments, trust: Trust, placeholder: ArgPlaceholder) -> bool {
        args.names(placeholder) || self.trusted(trust).names(placeholder)
    }

    const fn trusted(&self, trust: Trust) -> &Arguments {
        let [read_only, sandbox, full] = &self.trust_args;
        match trust {
            Trust::ReadOnly => read_only,
            Trust::Sandbox => sandbox,
            Trust::Full => full,
        }
    }

    /// The plan of the agent whose format this one uses.
    fn model_plan(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        self.like.as_ref().map(|like| like.plan(brief))
    }

    /// The id that a new conversation gets from us, if the arguments pass it on.
    fn own_session<'a>(&self, args: &Arguments, brief: &Brief<'a>) -> Option<&'a str> {
        let Conversation::New { id } = brief.conversation else { return None };
        id.filter(|_| self.names(args, brief.trust, ArgPlaceholder::NewSession))
    }

    /// How it is started with these arguments. [`Brief::extra_args`] are not added: the arguments of the user are all in
    /// the description.
    fn started_with(&self, args: &Arguments, brief: &Brief<'_>) -> LaunchPlan {
        let orders = brief.scratch.join(ORDERS);
        let values = Values { brief, orders: &orders, new_session: self.own_session(args, brief) };
        let mut plan = LaunchPlan::new(Program::OnPath(self.program.clone().into()));
        plan.args = args.expand(&values);
        plan.args.extend(self.trusted(brief.trust).expand(&values));
        let is_named = self.names(args, brief.trust, ArgPlaceholder::SystemPromptFile);
        let content = brief.system_prompt.filter(|_| is_named).map(ToOwned::to_owned);
        plan.files.extend(content.map(|content| PlannedFile { path: orders, content }));
        plan
    }

    /// What the arguments do not say already.
    fn unsaid<'a>(&self, args: &Arguments, brief: &Brief<'a>) -> Brief<'a> {
        let unless = |placeholder| !self.names(args, brief.trust, placeholder);
        Brief {
            model: brief.model.filter(|_| unless(ArgPlaceholder::Model)),
            effort: brief.effort.filter(|_| unless(ArgPlaceholder::Effort)),
            system_prompt: brief.system_prompt.filter(|_| unless(ArgPlaceholder::SystemPromptFile)),
            ..*brief
        }
    }
}

fn like(spec: &CustomSpec, known: &Registry) -> Result<Option<Arc<dyn Adapter>>, CustomError> {
    let output = spec.output.as_deref().unwrap_or(LINES);
    if output == LINES {
        return Ok(None);
    }
    known.get(output).map(Some).ok_or_else(|| CustomError::Output {
        agent: spec.name.clone(),
        output: output.to_owned(),
        known: known.all().map(Adapter::name).collect::<Vec<_>>().join(", "),
    })
}

/// What a trust means for an agent that has arguments for it, or has not.
const fn means(trust: Trust, has_none: bool) -> &'static str {
    match (trust, has_none) {
        (Trust::ReadOnly, true) => "does what its own settings allow: it has no `args_read_only`",
        (Trust::Sandbox, true) => "does what its own settings allow: it has no `args_sandbox`",
        (Trust::Full, true) => "does what its own settings allow: it has no `args_full`",
        (Trust::ReadOnly, false) => "does what its own settings and `args_read_only` allow",
        (Trust::Sandbox, false) => "does what its own settings and `args_sandbox` allow",
        (Trust::Full, false) => "does what its own settings and `args_full` allow",
    }
}

impl Adapter for Custom {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> About {
        // What asks before it uses a tool is answered from the trust, whatever its arguments are.
        let answered = self.like.as_ref().filter(|like| like.asks()).map(|like| like.about());
        let enforced = answered.as_ref().map_or([Enforced::Nothing; 3], |like| like.enforced);
        let answered = answered.map(|like| like.trust);
        let words = |trust| means(trust, self.trusted(trust).is_empty());
        let told = |text: &Option<String>, else_: &'static str| {
            text.clone().map_or(Cow::Borrowed(else_), Cow::Owned)
        };
        let takes_prompts = self.prompt.is_none_or(|prompt| prompt == PromptVia::Dialogue)
            && self.like.as_ref().is_some_and(|like| like.about().takes_prompts);
        About {
            title: self.name.clone().into(),
            provider: self.provider.clone().unwrap_or_else(|| self.name.clone()).into(),
            program: Program::OnPath(self.program.clone().into()),
            version_args: self.version_args.clone(),
            install: told(&self.install, "see the vendor's docs"),
            login: told(&self.login, "see the vendor's docs"),
            login_env: &[],
            login_files: &[],
            takes_prompts,
            trust: answered.unwrap_or([words(Trust::ReadOnly), words(Trust::Sandbox), words(Trust::Full)]),
            enforced,
            settings_files: self.settings_files(),
        }
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        let mut plan = self.started_with(self.arguments(brief), brief);
        if let Some(model) = self.model_plan(brief) {
            plan.pass_env = model.pass_env;
            plan.prompt = model.prompt;
            plan.ask = model.ask;
        }
        if let Some(prompt) = self.prompt {
            plan.prompt = prompt;
        }
        if plan.prompt != PromptVia::Dialogue {
            plan.ask = None;
        }
        plan
    }

    fn resumes(&self) -> Resumes {
        self.like.as_ref().map_or(Resumes::WhereItBegan, |like| like.resumes())
    }

    fn asks(&self) -> bool {
        self.like.as_ref().is_some_and(|like| like.asks())
    }

    fn decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        let args = self.arguments(brief);
        // What the arguments say already is not asked for once more.
        let inner = self.like.as_ref().map(|like| like.decoder(&self.unsaid(args, brief)));
        Box::new(CustomDecoder::new(inner, Arc::clone(&self.finder), self.own_session(args, brief)))
    }

    fn terminal(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        let mut plan = self.started_with(self.terminal_args.as_ref()?, brief);
        plan.prompt = PromptVia::Terminal;
        plan.pass_env = self.model_plan(brief).map(|model| model.pass_env).unwrap_or_default();
        Some(plan)
    }

    fn terminal_decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        let args = self.terminal_args.as_ref().unwrap_or(&self.args);
        let Some(like) = &self.like else { return Box::new(StillScreen::default()) };
        let conversation = match brief.conversation {
            Conversation::New { .. } => Conversation::New { id: self.own_session(args, brief) },
            resumed @ Conversation::Resume { .. } => resumed,
        };
        like.terminal_decoder(&Brief { conversation, ..*brief })
    }

    fn terminal_record(&self, session: &str) -> Option<RecordFiles> {
        self.like.as_ref().and_then(|like| like.terminal_record(session))
    }
}
