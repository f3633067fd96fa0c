//! The real agents, driven by the built binary: from `fleet task add` over runner and keeper to the agent's own program,
//! which talks to a scripted model on loopback and to nobody else.
//!
//! One test for each agent and story, so that they run beside each other and a failure names both.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests fail by panicking, and tell what they saw"
)]

mod stage;
mod stories;

macro_rules! agents {
    ($(mod $agent:ident for $cli:ident { $($group:ident: $($story:ident),*;)* })*) => {
        $(mod $agent {
            use fleet_testkit::clis::Cli;

            $($(#[test]
            fn $story() {
                crate::stories::$group::$story(Cli::$cli);
            })*)*
        })*
    };
}

agents! {
    mod claude for Claude {
        success: writes_and_commits, speaks_to_its_keeper;
        refusals: rate_limited_then_served, rate_limited_for_ever, wrong_key, wrong_key_in_a_test, overloaded,
            too_long_a_conversation, used_up_plan, told_when_to_come_back;
        silence: hangs_and_is_resumed, works_in_silence;
        prompts: told_while_it_works, told_after_the_end;
        conversations: told_while_its_workspace_is_taken, its_conversation_is_gone, writes_into_the_checkout;
        cancel: cancelled_in_a_command;
        tools: reaches_an_mcp_server;
        budgets: stopped_at_its_tokens;
        setup: knows_our_server;
        settings: left_out_until_agreed, used_with_full_trust;
        terminals: works_in_its_own_interface, taken_over_and_given_back;
        permissions: asks_for_permission;
    }
    mod codex for Codex {
        success: writes_and_commits, speaks_to_its_keeper;
        refusals: rate_limited_then_served, rate_limited_for_ever, wrong_key, wrong_key_in_a_test, overloaded,
            too_long_a_conversation, used_up_plan;
        silence: hangs_and_is_resumed, hangs_for_good, works_in_silence;
        prompts: told_after_the_end;
        conversations: told_while_its_workspace_is_taken, its_conversation_is_gone;
        cancel: cancelled_in_a_command;
        tools: reaches_an_mcp_server;
        budgets: stopped_at_its_tokens, stopped_at_the_highest_price;
        setup: knows_our_server;
        settings: left_out_until_agreed;
        terminals: works_in_its_own_interface, taken_over_and_given_back;
        permissions: asks_for_permission;
    }
    mod gemini for Gemini {
        success: writes_and_commits, writes_and_commits_by_acp, speaks_to_its_keeper;
        refusals: rate_limited_then_served, rate_limited_for_ever, wrong_key, overloaded,
            too_long_a_conversation, used_up_plan;
        silence: hangs_and_is_resumed;
        prompts: told_while_it_works_by_acp, told_after_the_end;
        conversations: told_while_its_workspace_is_taken, its_conversation_is_gone;
        cancel: cancelled_in_a_command;
        tools: reaches_an_mcp_server_by_acp;
        budgets: stopped_at_its_tokens;
        setup: knows_our_server;
        settings: refused_until_agreed;
        terminals: works_in_its_own_interface, taken_over_and_given_back;
        permissions: asks_for_permission;
    }
    mod opencode for Opencode {
        success: writes_and_commits, writes_and_commits_by_acp, speaks_to_its_keeper;
        refusals: rate_limited_then_served, rate_limited_for_ever, wrong_key, overloaded,
            too_long_a_conversation, used_up_plan;
        silence: hangs_and_is_resumed;
        prompts: told_after_the_end;
        conversations: told_while_its_workspace_is_taken, its_conversation_is_gone, writes_into_the_checkout;
        cancel: cancelled_in_a_command;
        tools: reaches_an_mcp_server;
        budgets: stopped_at_its_tokens;
        setup: knows_our_server;
        settings: left_out_until_agreed;
        terminals: works_in_its_own_interface, taken_over_and_given_back;
        permissions: asks_for_permission;
    }
}

/// Several of them at once.
mod together {
    use crate::stories::workflows;

    #[test]
    fn written_reviewed_and_refined() {
        workflows::written_reviewed_and_refined();
    }

    #[test]
    fn written_in_parallel_and_reviewed() {
        workflows::written_in_parallel_and_reviewed();
    }

    #[test]
    fn written_twice_and_judged() {
        workflows::written_twice_and_judged();
    }

    #[test]
    fn played_by_the_demo_agent() {
        workflows::played_by_the_demo_agent();
    }
}
