//! Questions of agents to people: asked once, answered once, and not lost with the run that asked.

use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::message::{
    AnswerRefusal, BY_DEFAULT, Channel, DefaultAnswer, MAX_OPEN, MessageId, MessageKind, Question,
    QuestionDraft, Reception, TypedAnswer,
};
use fleet_core::policy::MAX_WAITS;
use fleet_core::run::{AgentState, Ending, Reason, Run, StopKind, StopRequest};
use fleet_core::task::{TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{
    AnswerQuestion, AnsweredQuestion, AskQuestion, GetQuestion, OpenQuestions, QuestionsOf, ReceiveAnswer,
    RequestStop, TakeMessages, TaskMessages,
};

use crate::harness::{LEASE, Rig, together};
use crate::messages::{say, taking, texts};

story! {
    a_question_is_answered_once_and_its_agent_gets_the_answer
    asked_again_it_is_the_same_question
    of_two_answers_one_counts
    an_answer_and_a_default_that_meet_agree
    a_parked_question_frees_its_run_and_the_answer_queues_the_task
    an_answer_and_the_end_of_the_run_that_meet_agree
    what_was_asked_in_place_goes_on_as_parked_when_the_run_is_gone
    a_task_that_is_settled_asks_nothing
    a_task_continues_when_all_its_questions_are_answered
    a_prompt_to_a_waiting_task_is_the_answer
    nobody_else_gets_a_question
    an_agent_cannot_fill_the_inbox
    a_default_is_no_clean_record_and_does_not_go_on_for_ever
    an_answer_that_comes_while_the_run_ends_is_its_question_still
}

fn asking(rig: &Rig, run: &Run, text: &str) -> AskQuestion {
    let draft =
        QuestionDraft { text: text.parse().unwrap(), options: Vec::new(), default: None, park: false };
    AskQuestion { run: run.id, draft, now: rig.now() }
}

fn answering(rig: &Rig, id: MessageId, text: &str, by: &str) -> AnswerQuestion {
    let answer = TypedAnswer::Choice(text.to_owned());
    AnswerQuestion { id, answer, by: by.to_owned(), now: rig.now() }
}

fn receiving(rig: &Rig, run: &Run, id: MessageId) -> ReceiveAnswer {
    ReceiveAnswer { id, run: run.id, now: rig.now() }
}

async fn open(rig: &Rig, task: TaskId) -> Vec<Question> {
    rig.ok(OpenQuestions { of: QuestionsOf::Task(task), limit: 100 }).await
}

/// A task whose agent asked something in place.
async fn asked(rig: &Rig, text: &str) -> (TaskId, Run, Question) {
    let task = rig.task("asks").await;
    let run = rig.start(task).await;
    let question = rig.ok(asking(rig, &run, text)).await;
    (task, run, question)
}

async fn a_question_is_answered_once_and_its_agent_gets_the_answer(rig: &Rig) {
    let task = rig.task("asks").await;
    let run = rig.start(task).await;
    rig.news().await;
    let mut ask = asking(rig, &run, "Which?");
    ask.draft.options = vec!["red".to_owned(), "blue".to_owned()];
    let question = rig.ok(ask).await;
    assert_eq!((question.id, question.run), (MessageId { task, seq: 1 }, Some(run.id)));
    let state = rig.detail(&run).await.run.agent_state.unwrap();
    assert_eq!((state.state, state.text.as_str()), (AgentState::AsksQuestion, "Which?"));
    assert_eq!(rig.detail(&run).await.question.as_ref(), Some(&question));
    assert_eq!(open(rig, task).await, std::slice::from_ref(&question));
    assert_eq!(
        rig.ok(OpenQuestions { of: QuestionsOf::Everyone, limit: 9 }).await,
        std::slice::from_ref(&question)
    );

    let error = rig.refused(answering(rig, question.id, "green", "ada")).await;
    assert!(matches!(error, StoreError::AnswerRefused { refusal: AnswerRefusal::NoSuchOption { .. }, .. }));
    let AnsweredQuestion { question: answered, task: after, open: others, .. } =
        rig.ok(answering(rig, question.id, "2", "ada")).await;
    assert_eq!((answered.answer.as_ref().unwrap().text.as_str(), others), ("blue", 0));
    assert_eq!(after.state(), TaskState::Running, "its agent waits, and gets it where it asked");
    assert_eq!(rig.ok(GetQuestion { id: question.id }).await, answered);
    assert_eq!((open(rig, task).await.len(), rig.detail(&run).await.run.agent_state), (0, None));
    let error = rig.refused(answering(rig, question.id, "1", "bob")).await;
    assert_eq!(error.to_string(), format!("question {}: ada has answered it: blue", question.id));

    assert!(rig.ok(receiving(rig, &run, question.id)).await);
    assert!(!rig.ok(receiving(rig, &run, question.id)).await, "told twice");
    assert!(rig.ok(taking(rig, &run, 0)).await.is_empty(), "it has it");
    let told = rig.facts().await;
    let text = |text: &str| text.to_owned();
    assert_eq!(
        told,
        [
            Fact::TaskAsked { number: 1, text: text("Which?"), options: vec![text("red"), text("blue")] },
            Fact::TaskAnswered { number: 1, text: text("blue"), by: text("ada") },
            Fact::RunPrompted { number: 2, text: text("You asked: Which?\nThe answer: blue") },
        ]
    );
    assert_eq!(rig.succeed(&run).await.state(), TaskState::Done);
    let unknown = MessageId { task, seq: 2 };
    assert!(matches!(
        rig.refused(answering(rig, unknown, "x", "ada")).await,
        StoreError::QuestionNotFound(id) if id == unknown
    ));
}

async fn asked_again_it_is_the_same_question(rig: &Rig) {
    let (task, run, question) = asked(rig, "Which?").await;
    assert_eq!(rig.ok(asking(rig, &run, "Which?")).await, question, "its call was cut off");
    assert_ne!(rig.ok(asking(rig, &run, "Really?")).await.id, question.id);
    let mut parking = asking(rig, &run, "Which?");
    parking.draft.park = true;
    assert_eq!(rig.ok(parking).await, Question { is_parked: true, ..question.clone() });
    rig.ok(answering(rig, question.id, "red", "ada")).await;
    let again = rig.ok(asking(rig, &run, "Which?")).await;
    assert_eq!((again.id, again.answer.unwrap().text.as_str()), (question.id, "red"), "it has no answer yet");
    rig.ok(receiving(rig, &run, question.id)).await;
    let next = rig.ok(asking(rig, &run, "Which?")).await;
    assert!(next.id.seq > question.id.seq && next.is_open(), "it has one, and asks once more");
    assert_eq!(open(rig, task).await.len(), 2);
}

async fn of_two_answers_one_counts(rig: &Rig) {
    let (task, _, question) = asked(rig, "Which?").await;
    let people: Vec<String> = (0..8).map(|number| format!("person {number}")).collect();
    let answers = people.iter().map(|by| {
        let (store, answer) = (rig.store.clone(), answering(rig, question.id, by, by));
        async move { store.call(answer).await }
    });
    let answers = together(answers).await;
    let (taken, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!((taken.len(), refused.len()), (1, 7));
    let winner = taken.into_iter().next().unwrap().unwrap().question.answer.unwrap();
    for refusal in refused {
        let Err(StoreError::AnswerRefused { refusal: AnswerRefusal::Answered(given), .. }) = refusal else {
            panic!("{refusal:?}")
        };
        assert_eq!(given, winner);
    }
    assert_eq!(rig.ok(GetQuestion { id: question.id }).await.answer, Some(winner));
    let all = rig.ok(TaskMessages { task, limit: 100 }).await;
    assert_eq!(all.iter().filter(|message| message.kind == MessageKind::Answer).count(), 1);
}

async fn an_answer_and_a_default_that_meet_agree(rig: &Rig) {
    let task = rig.task("asks").await;
    let run = rig.start(task).await;
    let mut ask = asking(rig, &run, "Delete it?");
    let at = rig.now().plus(Duration::from_secs(10));
    ask.draft.default = Some(DefaultAnswer { text: "no".to_owned(), at });
    let question = rig.ok(ask).await;
    let due = |rig: &Rig| OpenQuestions { of: QuestionsOf::Due(rig.now()), limit: 9 };
    let default = |rig: &Rig| AnswerQuestion {
        id: question.id,
        answer: TypedAnswer::Default,
        by: BY_DEFAULT.to_owned(),
        now: rig.now(),
    };
    assert!(rig.ok(due(rig)).await.is_empty());
    assert!(matches!(
        rig.refused(default(rig)).await,
        StoreError::AnswerRefused { refusal: AnswerRefusal::NotDue, .. }
    ));
    rig.pass(Duration::from_secs(10));
    assert_eq!(rig.ok(due(rig)).await, std::slice::from_ref(&question));
    let ops = [answering(rig, question.id, "yes", "ada"), default(rig)];
    let answers = ops.into_iter().map(|op| {
        let store = rig.store.clone();
        async move { store.call(op).await }
    });
    let answers = together(answers).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let given = rig.ok(GetQuestion { id: question.id }).await.answer.unwrap();
    assert!([("yes", "ada"), ("no", BY_DEFAULT)].contains(&(given.text.as_str(), given.by.as_str())));
    assert!(rig.ok(due(rig)).await.is_empty());
}

async fn a_parked_question_frees_its_run_and_the_answer_queues_the_task(rig: &Rig) {
    let task = rig.task("asks").await;
    let run = rig.start(task).await;
    let mut ask = asking(rig, &run, "What now?");
    ask.draft.park = true;
    let question = rig.ok(ask).await;
    rig.work(&run).await;
    assert_eq!(rig.end(&run, Ending::Asked).await.state(), TaskState::Waiting);
    assert_eq!(open(rig, task).await.len(), 1, "it is not noted twice");
    assert!(rig.claim(1).await.is_empty());
    let answered = rig.ok(answering(rig, question.id, "go on", "ada")).await;
    assert_eq!(answered.task.state(), TaskState::Queued);
    assert!(rig.refused(answering(rig, question.id, "stop", "bob")).await.to_string().contains("ada"));
    let next = rig.start(task).await;
    assert!(rig.claim(1).await.is_empty(), "nothing starts twice");
    let taken = rig.ok(taking(rig, &next, 0)).await;
    assert_eq!(texts(&taken), [(2, "You asked: What now?\nThe answer: go on")]);
    assert_eq!(taken[0].introduced(), "You asked: What now?\nThe answer: go on");
}

/// The answer comes while the run that parked its question is ending.
async fn an_answer_and_the_end_of_the_run_that_meet_agree(rig: &Rig) {
    let (task, run, question) = asked(rig, "Which?").await;
    rig.work(&run).await;
    let end = rig.ending(&run, Ending::Asked);
    let answer = answering(rig, question.id, "red", "ada");
    let (ended, answered) = tokio::join!(rig.store.call(end), rig.store.call(answer));
    ended.unwrap();
    answered.unwrap();
    assert_eq!(rig.state(task).await, TaskState::Queued, "in any order");
    let next = rig.start(task).await;
    assert_eq!(rig.ok(taking(rig, &next, 0)).await.len(), 1);
}

async fn what_was_asked_in_place_goes_on_as_parked_when_the_run_is_gone(rig: &Rig) {
    let endings = [
        Ending::Failed(Reason::Lost, "gone".to_owned()),
        Ending::Failed(Reason::AgentError, "crashed".to_owned()),
        Ending::Released("shutdown".to_owned()),
    ];
    for ending in endings {
        let (task, run, question) = asked(rig, "Which?").await;
        assert_eq!(rig.end(&run, ending).await.state(), TaskState::Waiting);
        assert_eq!(open(rig, task).await, std::slice::from_ref(&question));
        rig.ok(answering(rig, question.id, "red", "ada")).await;
        let next = rig.start(task).await;
        assert_eq!(rig.ok(taking(rig, &next, 0)).await.len(), 1);
        rig.moved(task, TaskMove::Cancel).await;
    }
    let (task, _, question) = asked(rig, "Which?").await;
    rig.pass(LEASE + Duration::from_secs(1));
    rig.ok(rig.expiring()).await;
    assert_eq!((rig.state(task).await, open(rig, task).await), (TaskState::Waiting, vec![question]));
}

async fn a_task_that_is_settled_asks_nothing(rig: &Rig) {
    let (done, run, question) = asked(rig, "Which?").await;
    assert_eq!(rig.succeed(&run).await.state(), TaskState::Done);
    assert!(open(rig, done).await.is_empty());
    assert!(matches!(
        rig.refused(answering(rig, question.id, "red", "ada")).await,
        StoreError::AnswerRefused { refusal: AnswerRefusal::Withdrawn, .. }
    ));
    let (failed, run, _) = asked(rig, "Which?").await;
    rig.end(&run, Ending::Failed(Reason::Auth, "no".to_owned())).await;
    let (cancelled, _, _) = asked(rig, "Which?").await;
    rig.moved(cancelled, TaskMove::Cancel).await;
    let (stopped, run, _) = asked(rig, "Which?").await;
    let stop = StopRequest { kind: StopKind::Cancel, why: "not needed".to_owned() };
    rig.ok(RequestStop { run: run.id, stop, now: rig.now() }).await;
    assert_eq!(rig.end(&run, Ending::Released("bye".to_owned())).await.state(), TaskState::Cancelled);
    let (retried, run, _) = asked(rig, "Which?").await;
    rig.end(&run, Ending::Released("bye".to_owned())).await;
    rig.moved(retried, TaskMove::Retry).await;
    for task in [failed, cancelled, stopped, retried] {
        assert!(open(rig, task).await.is_empty());
    }
    assert!(rig.ok(OpenQuestions { of: QuestionsOf::Everyone, limit: 9 }).await.is_empty());
}

async fn a_task_continues_when_all_its_questions_are_answered(rig: &Rig) {
    let (task, run, first) = asked(rig, "Which?").await;
    let second = rig.ok(asking(rig, &run, "When?")).await;
    rig.work(&run).await;
    rig.end(&run, Ending::Asked).await;
    let answered = rig.ok(answering(rig, second.id, "now", "ada")).await;
    assert_eq!((answered.open, answered.task.state()), (1, TaskState::Waiting));
    let answered = rig.ok(answering(rig, first.id, "red", "bob")).await;
    assert_eq!((answered.open, answered.task.state()), (0, TaskState::Queued));
    let next = rig.start(task).await;
    assert_eq!(rig.ok(taking(rig, &next, 0)).await.len(), 2);
}

async fn a_prompt_to_a_waiting_task_is_the_answer(rig: &Rig) {
    let (task, run, first) = asked(rig, "Which?").await;
    rig.work(&run).await;
    rig.end(&run, Ending::Asked).await;
    let sent = say(rig, task, "the red one").await;
    assert_eq!((sent.reception, sent.message.kind), (Reception::Reopened, MessageKind::Answer));
    assert_eq!(rig.ok(GetQuestion { id: first.id }).await.answer.unwrap().text, "the red one");
    let run = rig.start(task).await;
    rig.work(&run).await;
    rig.end(&run, Ending::Asked).await;
    assert_eq!(
        open(rig, task).await[0].text.as_str(),
        "It ended with a question.",
        "it asked in its own way"
    );
    rig.moved(task, TaskMove::Cancel).await;

    let (task, run, _) = asked(rig, "Which?").await;
    rig.ok(asking(rig, &run, "When?")).await;
    rig.work(&run).await;
    rig.end(&run, Ending::Asked).await;
    let sent = say(rig, task, "never mind").await;
    assert_eq!((sent.message.kind, sent.task.state()), (MessageKind::Prompt, TaskState::Queued));
    assert!(open(rig, task).await.is_empty(), "a person's own words are for both");
}

async fn nobody_else_gets_a_question(rig: &Rig) {
    let (task, run, question) = asked(rig, "Which?").await;
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 0);
    assert!(rig.ok(taking(rig, &run, 0)).await.is_empty());
    rig.ok(answering(rig, question.id, "red", "ada")).await;
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 0, "its agent gets it where it asked");
    let live = TakeMessages { channel: Channel::Input, ..taking(rig, &run, 0) };
    assert!(rig.ok(live).await.is_empty());
    assert_eq!(rig.succeed(&run).await.state(), TaskState::Queued, "it never got it: the next run does");
    let other = rig.task("other").await;
    let stranger = rig.claim(2).await.into_iter().find(|claimed| claimed.task.id == other).unwrap().run;
    let error = rig.refused(receiving(rig, &stranger, question.id)).await;
    assert!(matches!(error, StoreError::QuestionNotFound(_)), "{error}");
    assert!(matches!(rig.refused(asking(rig, &run, "More?")).await, StoreError::LeaseLost { .. }));
    assert_eq!(rig.state(task).await, TaskState::Running);
}

async fn an_agent_cannot_fill_the_inbox(rig: &Rig) {
    let (task, run, _) = asked(rig, "question 0").await;
    for number in 1..MAX_OPEN {
        rig.ok(asking(rig, &run, &format!("question {number}"))).await;
    }
    let error = rig.refused(asking(rig, &run, "one more")).await;
    assert!(matches!(error, StoreError::TooManyQuestions(refused) if refused == task), "{error}");
    rig.ok(asking(rig, &run, "question 7")).await;
}

/// A task whose agent parked a question with a default, which is due.
async fn parked_with_default(rig: &Rig, task: TaskId, number: u32) -> (Run, Question) {
    let run = rig.start(task).await;
    let mut ask = asking(rig, &run, &format!("again {number}?"));
    ask.draft.park = true;
    ask.draft.default = Some(DefaultAnswer { text: "go".to_owned(), at: rig.now() });
    let question = rig.ok(ask).await;
    (run, question)
}

async fn by_default(rig: &Rig, id: MessageId) -> AnsweredQuestion {
    rig.ok(AnswerQuestion { id, answer: TypedAnswer::Default, by: BY_DEFAULT.to_owned(), now: rig.now() })
        .await
}

async fn a_default_is_no_clean_record_and_does_not_go_on_for_ever(rig: &Rig) {
    let task = rig.task("loops").await;
    let run = rig.start(task).await;
    rig.end(&run, Ending::Failed(Reason::AgentError, "failed".to_owned())).await;
    rig.pass(Duration::from_hours(1));
    for number in 0..MAX_WAITS {
        let (run, question) = parked_with_default(rig, task, number).await;
        rig.work(&run).await;
        rig.end(&run, Ending::Asked).await;
        let answered = by_default(rig, question.id).await.task;
        assert_eq!((answered.history.failures, answered.history.waits), (1, number + 1));
    }
    let (run, question) = parked_with_default(rig, task, MAX_WAITS).await;
    assert_eq!(question.default, None, "now a person has to look");
    rig.work(&run).await;
    rig.end(&run, Ending::Asked).await;
    let answered = rig.ok(answering(rig, question.id, "yes", "ada")).await.task;
    assert_eq!((answered.history.failures, answered.history.waits), (0, 0), "a person gives a clean record");
}

async fn an_answer_that_comes_while_the_run_ends_is_its_question_still(rig: &Rig) {
    let task = rig.task("parks").await;
    let (run, question) = parked_with_default(rig, task, 0).await;
    by_default(rig, question.id).await;
    let seen = rig.detail(&run).await.question.expect("what its agent asked");
    assert_eq!((seen.id, seen.is_open()), (question.id, false));
    rig.work(&run).await;
    assert_eq!(rig.end(&run, Ending::Asked).await.state(), TaskState::Queued, "the next run gets the answer");
    let next = rig.start(task).await;
    assert_eq!(rig.detail(&next).await.question, None);
    rig.succeed(&next).await;
}
