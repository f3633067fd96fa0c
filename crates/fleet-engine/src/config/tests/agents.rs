//! The settings of agents, of failures and of money: what they become, and what is refused.

use fleet_agents::Trust;
use fleet_core::policy::Policy;
use fleet_core::run::Reason;

use crate::config::{AgentSettings, Spending, set};

use super::World;

#[test]
fn everything_about_an_agent_comes_as_what_it_is() {
    let world = World::new().user(
        "fallback = ['codex', 'gemini']\n[agents.mine]\nprogram = '~/bin/mine'\nargs = ['run', '', '-c a=[1,2]']\n\
         model = 'big'\nmodels = ['big', 'small-*']\naliases = ['fast=small-1']\neffort = 'high'\ntrust = 'full'\n\
         provider = 'acme'\naccount = 'work'\nfallback = ['mine', 'claude']\nsystem_prompt = \"a\\nb\"\n\
         mcp = 'servers.json'\nstructured = true\nprompt = 'file'\noutput = 'lines'\nresume_args = []\n\
         args_sandbox = ['--ask-not']\nsession_pattern = 'id=(.*)'\nusage_pattern = '(?<input>\\d+)'\n\
         error_patterns = ['rate_limited=429|slow, please', 'auth=a=b']\ncontext_limit = 200000\n\
         install = 'get it'\nlogin = 'mine login'\n",
    );
    assert_eq!(world.problems(), "");
    let config = world.load().unwrap();
    let mine = config.agent_settings("mine");
    assert_eq!((mine.program.as_deref(), mine.trust), (Some("~/bin/mine"), Some(Trust::Full)));
    assert_eq!(mine.args, ["run", "", "-c a=[1,2]"]);
    assert_eq!((mine.models.len(), mine.aliases["fast"].as_str()), (2, "small-1"));
    assert_eq!((mine.system_prompt.as_deref(), mine.structured), (Some("a\nb"), Some(true)));
    assert_eq!(mine.resume_args.as_deref(), Some(&[][..]), "none is not the same as not set");
    assert_eq!(
        [mine.args_read_only, mine.args_sandbox, mine.args_full],
        [vec![], vec!["--ask-not".to_owned()], vec![]]
    );
    let errors =
        [(Reason::RateLimited, "429|slow, please".to_owned()), (Reason::Auth, "a=b".to_owned())].to_vec();
    assert_eq!((mine.error_patterns, mine.context_limit), (errors, Some(200_000)));
    assert_eq!(config.fallback_for("mine"), ["claude"], "never itself");
    assert_eq!(config.fallback_for("codex"), ["gemini"]);
    assert_eq!(config.agent_settings("codex"), AgentSettings::default());
    assert_eq!(config.named_agents().collect::<Vec<_>>(), ["mine"]);
}

#[test]
fn a_project_chooses_models_but_never_what_is_started() {
    let harmless = "[agents.claude]\nmodel = 'a'\neffort = 'low'\nstructured = true\n";
    assert_eq!(World::new().project(harmless).problems(), "");
    let foreign = [
        "program = '/x'",
        "args = ['-x']",
        "mcp = '/x'",
        "system_prompt = '@/etc/passwd'",
        "env.A = 'x'",
        "pass_env = ['A']",
        "models = ['*']",
        "aliases = ['a=b']",
        "provider = 'x'",
        "account = 'x'",
        "fallback = ['codex']",
        "args_sandbox = ['-x']",
        "resume_args = ['-x']",
        "error_patterns = ['auth=x']",
    ];
    for line in foreign {
        let problems = World::new().project(format!("[agents.claude]\n{line}\n")).problems();
        assert!(problems.contains("cannot be set by a project"), "{line}: {problems}");
    }
    for line in ["policy.auth = 'retry'", "budget.day_usd = 9999", "fallback = ['codex']"] {
        let problems = World::new().project(line).problems();
        assert!(problems.contains("cannot be set by a project"), "{line}: {problems}");
    }
}

#[test]
fn a_project_can_only_lower_the_trust() {
    let trust = |user: &str, project: &str| {
        let world = World::new().user(user).project(format!("agents.claude.trust = '{project}'"));
        assert_eq!(world.problems(), "");
        let config = world.load().unwrap();
        (config.agent_settings("claude").trust, world.validate().warnings)
    };
    assert_eq!(trust("", "read_only"), (Some(Trust::ReadOnly), vec![]));
    assert_eq!(trust("", "sandbox"), (Some(Trust::Sandbox), vec![]));
    assert_eq!(trust("agents.claude.trust = 'full'", "sandbox"), (Some(Trust::Sandbox), vec![]));
    let (kept, warnings) = trust("", "full");
    assert_eq!(kept, None);
    assert!(warnings[0].ends_with("a project can only lower `agents.claude.trust`, which stays `sandbox`"));
    let (kept, warnings) = trust("agents.claude.trust = 'read_only'", "sandbox");
    assert_eq!((kept, warnings.len()), (Some(Trust::ReadOnly), 1));
    let world = World::new()
        .project("agents.claude.trust = 'read_only'")
        .variables(&[("FLEET_AGENTS_CLAUDE_TRUST", "full")]);
    assert_eq!(world.load().unwrap().agent_settings("claude").trust, Some(Trust::Full));
}

#[test]
fn variables_of_keys_that_end_alike_are_told_apart() {
    let world = World::new().variables(&[
        ("FLEET_AGENTS_X_ARGS", "one, argument"),
        ("FLEET_AGENTS_X_RESUME_ARGS", "['a', 'b']"),
        ("FLEET_AGENTS_X_SYSTEM_PROMPT", "be brief"),
        ("FLEET_AGENTS_X_PROMPT", "stdin"),
    ]);
    let config = world.load().unwrap();
    let x = config.agent_settings("x");
    assert_eq!(
        (x.args, x.resume_args.unwrap()),
        (vec!["one, argument".into()], vec!["a".into(), "b".into()])
    );
    assert_eq!((x.system_prompt.as_deref(), x.prompt.as_deref()), (Some("be brief"), Some("stdin")));
}

#[test]
fn amounts_are_written_with_and_without_quotes() {
    let usual = Spending {
        day_micro_usd: None,
        total_micro_usd: None,
        day_tokens: None,
        run_micro_usd: 1_000_000,
        warn_percent: 80,
    };
    assert_eq!(*World::new().load().unwrap().spending(), usual);
    let text =
        "[budget]\nday_usd = 20\ntotal_usd = 99.5\nday_tokens = '20M'\nrun_usd = '0.25'\nwarn_percent = 50\n";
    let spending = World::new().user(text).load().unwrap().spending().clone();
    assert_eq!((spending.day_micro_usd, spending.total_micro_usd), (Some(20_000_000), Some(99_500_000)));
    assert_eq!((spending.day_tokens, spending.run_micro_usd), (Some(20_000_000), 250_000));
    let world = World::new();
    assert_eq!(set(&world.user_file(), "budget.day_usd", "12.5").unwrap().value.to_string(), "12.5");
    assert_eq!(world.load().unwrap().spending().day_micro_usd, Some(12_500_000));
}

#[test]
fn what_is_done_about_failures_is_one_of_four_words() {
    let world = World::new().user("[policy]\nrate_limited = 'give_up'\nlost = 'hand_over'\n");
    let policy = world.load().unwrap().policy().clone();
    assert_eq!((&*policy[&Reason::RateLimited], &*policy[&Reason::Lost]), ("give_up", "hand_over"));
    let usual = World::new().load().unwrap().policy().clone();
    for reason in Reason::ALL {
        assert_eq!(usual[reason], Policy::default().action(*reason).as_str(), "the default of {reason}");
    }
    for reason in Reason::ALL {
        let world = World::new().user(format!("policy.{reason} = 'pause'"));
        assert_eq!(world.load().unwrap().policy()[reason], "pause", "{reason}");
    }
}

#[test]
fn what_is_refused_is_told() {
    let world = World::new().user(
        "policy.auth = 'never'\npolicy.ratelimited = 'pause'\nbudget.day_usd = -1\nbudget.run_usd = 'none'\n\
         [agents.a]\nprogram = 'bin/mine'\nmodel = '-x'\nmodels = ['a b']\naliases = ['fast']\ntrust = 'yolo'\n\
         account = 'a b'\nerror_patterns = ['slow=429']\nfallback = ['Codex']\ncontext_limit = 5\nargs = [1]\n\
         system_prompt = ''\n",
    );
    insta::assert_snapshot!(world.problems(), @"
    config-invalid: /x/user.toml:1: `policy.auth` must be one of `retry`, `pause`, `hand_over`, `give_up`, not `never`
    config-unknown-key: /x/user.toml:2: unknown key `policy.ratelimited`
      hint: did you mean `policy.rate_limited`?
      hint: `fleet config show` lists the keys
    config-invalid: /x/user.toml:3: `budget.day_usd` must be dollars such as `20` or `2.50`, or `none`, not `-1`
    config-invalid: /x/user.toml:4: `budget.run_usd` must be dollars such as `20` or `2.50`, not `none`
    config-invalid: /x/user.toml:6: `agents.a.program` must be the name of a program, or a path that begins with `/` or `~/`, not `bin/mine`
    config-invalid: /x/user.toml:7: `agents.a.model` must be the name of a model, not `-x`
    config-invalid: /x/user.toml:8: `agents.a.models` must be a list of models, such as `gpt-5` or `gpt-5*`, not a list with the string `a b`
    config-invalid: /x/user.toml:9: `agents.a.aliases` must be a list of aliases, such as `fast=gpt-5-mini`, not a list with the string `fast`
    config-invalid: /x/user.toml:10: `agents.a.trust` must be one of `read_only`, `sandbox`, `full`, not `yolo`
    config-invalid: /x/user.toml:11: `agents.a.account` must be a word of letters, digits, `-`, `_` and `.`, not `a b`
    config-invalid: /x/user.toml:12: `agents.a.error_patterns` must be a list of patterns, such as `rate_limited=429|slow down`, not a list with the string `slow=429`
    config-invalid: /x/user.toml:13: `agents.a.fallback` must be a list of names of agents, not a list with the string `Codex`
    config-invalid: /x/user.toml:14: `agents.a.context_limit` must be a whole number from 1000 to 100000000, not `5`
    config-invalid: /x/user.toml:15: `agents.a.args` must be a list of arguments, not a list with the number `1`
    config-invalid: /x/user.toml:16: `agents.a.system_prompt` must be some text, not an empty text
    ");
}
