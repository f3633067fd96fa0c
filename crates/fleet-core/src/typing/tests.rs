use proptest::prelude::*;

use super::*;

fn at(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn typed(text: &str) -> Draft {
    let mut draft = Draft::default();
    draft.push(text.as_bytes());
    draft
}

fn idle(now: u64) -> Typist {
    let mut typist = Typist::new(at(now));
    assert!(typist.on(TypingInput::State(AgentState::Idle), at(now)).is_empty());
    typist
}

#[test]
fn a_prompt_is_pasted_then_entered_then_confirmed() {
    let mut typist = idle(0);
    typist.set_confirms(true);
    assert_eq!(typist.begin("fix it".to_owned(), at(10)), [TypingEffect::Paste]);
    assert!(typist.holds_keys(at(20)) && !typist.is_free());
    assert!(typist.on(TypingInput::ScreenChanged, at(50)).is_empty());
    assert_eq!(typist.wake_at(), Some(at(200)), "the screen has to stand still");
    assert_eq!(typist.on(TypingInput::Wake, at(200)), [TypingEffect::PressEnter]);
    assert!(!typist.holds_keys(at(201)));
    assert!(typist.on(TypingInput::Prompted("something else"), at(210)).is_empty());
    assert_eq!(typist.on(TypingInput::Prompted("fix\n it"), at(220)), [TypingEffect::Seen]);
    assert!(typist.is_free());
    assert!(
        typist.begin("next".to_owned(), at(230)).is_empty(),
        "it looks idle only because nothing is known yet"
    );
    assert_eq!(typist.wake_at(), Some(at(2_220)));
}

#[test]
fn nothing_is_typed_into_a_dialog_or_into_the_words_of_a_person() {
    let mut typist = Typist::new(at(0));
    assert!(typist.begin("a".to_owned(), at(0)).is_empty(), "the state is unknown");
    for state in [AgentState::Working, AgentState::AsksPermission, AgentState::AsksQuestion] {
        assert!(typist.on(TypingInput::State(state), at(1)).is_empty(), "{state}");
    }
    assert!(typist.on(TypingInput::Draft(typed("a")), at(2)).is_empty());
    assert!(typist.on(TypingInput::State(AgentState::Idle), at(3)).is_empty());
    assert_eq!(typist.on(TypingInput::Draft(typed("a\x15")), at(4)), [TypingEffect::Paste]);
    assert!(typist.holds_keys(at(5)));
    assert!(typist.on(TypingInput::State(AgentState::AsksPermission), at(5)).is_empty());
    assert!(!typist.holds_keys(at(6)), "the dialog needs the keys");
    assert_eq!(typist.wake_at(), None, "time alone changes nothing");
    assert!(typist.on(TypingInput::Wake, at(9_000)).is_empty(), "Enter would answer the dialog");
    assert_eq!(typist.on(TypingInput::State(AgentState::Idle), at(9_001)), [TypingEffect::PressEnter]);
}

#[test]
fn an_agent_that_a_person_has_just_sent_something_is_left_alone() {
    let mut typist = idle(0);
    assert!(typist.on(TypingInput::Draft(typed("go\r")), at(10)).is_empty());
    assert!(typist.begin("a".to_owned(), at(20)).is_empty(), "it is not known yet that it works");
    assert_eq!(typist.wake_at(), Some(at(2_010)));
    assert_eq!(typist.on(TypingInput::Wake, at(2_010)), [TypingEffect::Paste], "there was nothing to send");
    let mut typist = idle(0);
    let _ = typist.on(TypingInput::Draft(typed("go\r")), at(10));
    let _ = typist.begin("a".to_owned(), at(20));
    assert!(typist.on(TypingInput::State(AgentState::Working), at(30)).is_empty());
    assert_eq!(typist.on(TypingInput::State(AgentState::Idle), at(40)), [TypingEffect::Paste]);
}

#[test]
fn enter_is_pressed_again_but_not_for_ever() {
    let mut typist = idle(0);
    typist.set_confirms(true);
    let mut effects = typist.begin("a".to_owned(), at(0));
    while let Some(wake) = typist.wake_at() {
        effects.extend(typist.on(TypingInput::Wake, wake));
    }
    let enter = TypingEffect::PressEnter;
    assert_eq!(effects, [TypingEffect::Paste, enter, enter, enter, TypingEffect::Unconfirmed]);
}

#[test]
fn enter_waits_for_an_agent_that_is_too_busy_to_read() {
    let mut typist = idle(0);
    let _ = typist.begin("a".to_owned(), at(0));
    assert!(typist.on(TypingInput::Wake, at(1_000)).is_empty(), "the screen has not changed");
    assert!(typist.on(TypingInput::ScreenChanged, at(1_100)).is_empty());
    assert_eq!(typist.on(TypingInput::Wake, at(1_250)), [TypingEffect::PressEnter]);
    let mut without_echo = idle(0);
    let _ = without_echo.begin("a".to_owned(), at(0));
    assert_eq!(without_echo.wake_at(), Some(at(2_000)));
    assert_eq!(without_echo.on(TypingInput::Wake, at(2_000)), [TypingEffect::PressEnter]);
}

#[test]
fn what_a_starting_agent_dropped_is_pasted_again_but_not_for_ever() {
    let mut typist = idle(0);
    let _ = typist.begin("a".to_owned(), at(0));
    typist.observe(TypingInput::EmptyInput(true), at(50));
    assert!(typist.on(TypingInput::ScreenChanged, at(100)).is_empty());
    assert_eq!(typist.wake_at(), Some(at(3_000)));
    assert_eq!(typist.on(TypingInput::Wake, at(3_000)), [TypingEffect::Paste]);
    typist.observe(TypingInput::EmptyInput(false), at(3_050));
    assert!(typist.on(TypingInput::ScreenChanged, at(3_050)).is_empty());
    assert_eq!(typist.on(TypingInput::Wake, at(3_200)), [TypingEffect::PressEnter], "now it is there");
    let mut deaf = idle(0);
    let mut effects = deaf.begin("a".to_owned(), at(0));
    deaf.observe(TypingInput::EmptyInput(true), at(1));
    while let Some(wake) = deaf.wake_at().filter(|_| effects.len() < 5) {
        deaf.observe(TypingInput::ScreenChanged, wake);
        effects.extend(deaf.on(TypingInput::Wake, wake));
    }
    let paste = TypingEffect::Paste;
    assert_eq!(effects, [paste, paste, paste, TypingEffect::PressEnter, TypingEffect::Seen]);
}

#[test]
fn an_agent_that_acts_has_its_prompt() {
    let mut typist = idle(0);
    let _ = typist.begin("a".to_owned(), at(0));
    let _ = typist.on(TypingInput::ScreenChanged, at(50));
    assert_eq!(typist.on(TypingInput::Wake, at(200)), [TypingEffect::PressEnter]);
    assert_eq!(typist.on(TypingInput::State(AgentState::Working), at(201)), [TypingEffect::Seen]);
    let mut silent = idle(0);
    let _ = silent.begin("a".to_owned(), at(0));
    let _ = silent.on(TypingInput::ScreenChanged, at(50));
    let _ = silent.on(TypingInput::Wake, at(200));
    assert!(silent.on(TypingInput::ScreenChanged, at(300)).is_empty());
    assert_eq!(silent.on(TypingInput::Wake, at(3_200)), [TypingEffect::Seen], "all that it can show");
}

#[test]
fn drafts_are_what_people_have_not_sent() {
    let draft = |text: &str| typed(text).has_text();
    for text in
        ["a", "hello\rworld", "ü", "\x1b[200~x", "a\x1b[A", "\x1b[200~x\r\n\x1b[201~", "a\nb", "ab\x7f"]
    {
        assert!(draft(text), "{text:?}");
    }
    for none in [
        "",
        "a\r",
        "abc\x03",
        "abc\x15",
        "\x1b[A",
        "\x1bOP",
        "\x1b[<0;10;20M",
        "\x1b[I",
        "\x7f",
        "\x1bb",
        "a\x7f",
        "ü\x7f",
    ] {
        assert!(!draft(none), "{none:?}");
    }
}

#[test]
fn what_a_terminal_would_take_for_keys_goes_into_a_file() {
    for (text, takes_paste, form) in [
        ("one", false, PromptForm::Typed),
        ("one\n", false, PromptForm::Typed),
        ("one\ntwo", true, PromptForm::Typed),
        ("one\ntwo", false, PromptForm::InFile),
        ("\x1b[201~\rrm -rf", true, PromptForm::InFile),
        ("a\u{9b}b", true, PromptForm::InFile),
        ("a\0b", true, PromptForm::InFile),
    ] {
        assert_eq!(PromptForm::of(text, takes_paste), form, "{text:?}");
    }
    assert_eq!(PromptForm::of(&"x".repeat(40_000), true), PromptForm::InFile);
    assert_eq!(pasted("one\ntwo\n", true), "\x1b[200~one\ntwo\x1b[201~");
    assert_eq!(pasted("one\n", false), "one");
}

fn inputs() -> impl Strategy<Value = TypingInput<'static>> {
    prop_oneof![
        Just(TypingInput::Wake),
        Just(TypingInput::ScreenChanged),
        prop_oneof![Just(""), Just("a"), Just("a\r")].prop_map(|text| TypingInput::Draft(typed(text))),
        Just(TypingInput::Prompted("a")),
        Just(TypingInput::Prompted("b")),
        any::<bool>().prop_map(TypingInput::EmptyInput),
        (0..AgentState::ALL.len()).prop_map(|n| TypingInput::State(AgentState::ALL[n])),
    ]
}

proptest! {
    /// Whatever happens in whatever order: keys go only to an agent that takes a prompt, each prompt is pasted
    /// again only into an empty input and before it was sent, and it ends with one verdict.
    #[test]
    fn keys_go_only_to_an_agent_that_takes_a_prompt(steps in prop::collection::vec((inputs(), 0_u64..4_000), 1..80)) {
        let mut typist = Typist::new(at(0));
        let (mut now, mut agent, mut draft, mut pastes, mut ends, mut entered) = (0, None, false, 0, 0, 0);
        let mut is_empty = false;
        prop_assert!(typist.begin("a".to_owned(), at(0)).is_empty());
        for (input, pause) in steps {
            now += pause;
            match &input {
                TypingInput::State(state) => agent = Some(*state),
                TypingInput::Draft(new) => draft = new.has_text(),
                TypingInput::EmptyInput(empty) => is_empty = *empty,
                _ => {}
            }
            for effect in typist.on(input, at(now)) {
                match effect {
                    TypingEffect::Paste => {
                        prop_assert!(agent == Some(AgentState::Idle) && !draft);
                        prop_assert!(pastes == 0 || is_empty && entered == 0);
                        pastes += 1;
                    }
                    TypingEffect::PressEnter => {
                        prop_assert_eq!(agent, Some(AgentState::Idle));
                        entered += 1;
                        prop_assert!(entered == 1 || !draft);
                    }
                    TypingEffect::Seen | TypingEffect::Unconfirmed => ends += 1,
                }
            }
        }
        if let Some(wake) = typist.wake_at() {
            let _ = typist.on(TypingInput::Wake, wake.max(at(now)));
            let next = typist.wake_at();
            prop_assert!(next.is_none_or(|next| next > wake.max(at(now))), "it would wake at once again");
        }
        prop_assert!(pastes <= 3 && ends <= pastes.min(1));
        prop_assert!(ends == 0 || typist.is_free());
    }
}
