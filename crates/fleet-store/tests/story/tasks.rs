//! Adding, reading and editing single tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::limits::Limits;
use fleet_core::policy::RetryPolicy;
use fleet_core::scope::FileScope;
use fleet_core::task::{
    Complexity, EditRefused, Label, Labels, Meta, Setup, Status, TaskChecks, TaskEdit, TaskHistory, TaskMode,
    TaskMove, TaskSpec, TaskState, Tuning,
};
use fleet_core::time::Millis;
use fleet_store::StoreError;
use fleet_store::ops::{EditTask, GetTask, ListTasks, StatusFilter, TaskFilter};

use crate::harness::Rig;

story! {
    a_new_task_is_what_its_author_said
    every_field_can_be_changed_and_emptied
    texts_and_labels_are_replaced
    an_edit_without_a_difference_is_none
    what_may_no_longer_change_is_refused
    a_task_that_does_not_exist_is_named
}

/// Every field that can be edited, with what could trip an engine: quotes, wide characters, large numbers.
fn rich(rig: &Rig) -> TaskSpec {
    let meta = |n: usize| (format!("key-{n}").parse().unwrap(), "värde '\"{}$1 \u{1F600}".parse().unwrap());
    TaskSpec {
        title: "It's \"quoted\" – 漢字 $1 {list 1} 👍".parse().unwrap(),
        description: format!("line one\nline 'two'\t\u{7}\n{}", "ünï ".repeat(10_000)).parse().unwrap(),
        priority: 5.try_into().unwrap(),
        labels: labels(&["area:core", "b", "ö"]),
        scope: FileScope::parse(["src/{a,b}/**", "docs/*.md"]).unwrap(),
        complexity: Some(Complexity::Xl),
        agent: Some("codex".parse().unwrap()),
        model: Some("openai/gpt-5:high".parse().unwrap()),
        base: Some("main~2".parse().unwrap()),
        branch: Some("fleet/näme".parse().unwrap()),
        existing_branch: true,
        limits: Limits {
            seconds: Some(1),
            idle_seconds: Some(2),
            tokens: Some(1 << 53),
            micro_usd: Some(2_500_000),
        },
        retry: RetryPolicy { retries: 20, backoff_seconds: 86_400, check_retries: 7 },
        checks: TaskChecks::from_lines(&["make 'a b'".to_owned()]).unwrap(),
        not_before: Some(rig.now().plus(Duration::from_hours(1))),
        meta: (0..64).map(meta).collect(),
        batch: Some(rig.id()),
        read_only: true,
        tuning: Tuning { effort: Some("high".to_owned()), args: vec!["-v".to_owned()] },
        setup: Setup::Skip,
        mode: TaskMode::Interactive,
        // Nobody edits the others.
        ..TaskSpec::new("x".parse().unwrap())
    }
}

fn labels(names: &[&str]) -> Labels {
    let set: BTreeSet<Label> = names.iter().map(|name| name.parse().unwrap()).collect();
    set.try_into().unwrap()
}

async fn a_new_task_is_what_its_author_said(rig: &Rig) {
    let mut draft = rig.draft("replaced").await;
    draft.spec = rich(rig);
    let added = rig.ok(rig.adding(vec![draft.clone()])).await.pop().unwrap();
    let detail = rig.get(draft.id).await;
    assert_eq!(detail.task, added, "what is told at once is what is read later");
    assert_eq!((detail.task.project, &detail.task.spec), (draft.project, &draft.spec));
    assert_eq!(detail.task.history, TaskHistory::default());
    assert_eq!((detail.task.state(), detail.task.version), (TaskState::Queued, 1));
    assert_eq!((detail.task.created_at, detail.task.updated_at), (rig.now(), rig.now()));
    assert_eq!(detail.task.status(rig.now()), Status::Scheduled);
    assert!(detail.after.is_empty() && detail.before.is_empty() && detail.runs.is_empty());

    let (title, priority) = (draft.spec.title.clone(), draft.spec.priority);
    let news = rig.news().await;
    assert_eq!(news.len(), 2, "the project and the task");
    assert_eq!(news[1].fact, Fact::TaskAdded { title, priority, after: Vec::new() });
    assert_eq!((news[1].at, news[1].subject.task), (rig.now(), Some(draft.id)));
    assert_eq!((news[1].subject.project, news[1].subject.run), (Some(draft.project), None));

    let plain = rig.task("plain").await;
    assert_eq!(rig.get(plain).await.task.spec, TaskSpec::new("plain".parse().unwrap()));
}

fn editing(rig: &Rig, id: fleet_core::id::TaskId, edit: TaskEdit) -> EditTask {
    EditTask { id, edit, now: rig.now() }
}

macro_rules! edits {
    ($($field:ident: $type:ty,)+) => {
        /// An edit that sets every field of `spec`.
        fn whole_edit(spec: TaskSpec) -> TaskEdit {
            TaskEdit { $($field: Some(spec.$field),)+ }
        }

        /// The edits of `edit`, one field at a time.
        fn single_edits(edit: &TaskEdit) -> Vec<(&'static str, TaskEdit)> {
            vec![$((stringify!($field), TaskEdit { $field: edit.$field.clone(), ..TaskEdit::default() })),+]
        }
    };
}

fleet_core::for_each_editable_field!(edits);

async fn every_field_can_be_changed_and_emptied(rig: &Rig) {
    let id = rig.task("plain").await;
    let plain = TaskSpec::new("plain".parse().unwrap());
    let created_at = rig.now();
    rig.news().await;
    let mut version = 1;
    for target in [rich(rig), plain] {
        for (field, edit) in single_edits(&whole_edit(target.clone())) {
            rig.pass(Duration::from_millis(1));
            let before = rig.get(id).await.task;
            let mut expected = before.spec.clone();
            edit.clone().apply(&mut expected, TaskState::Queued).unwrap();
            assert_ne!(before.spec, expected, "{field} is to change");
            let (told, fields) = rig.ok(editing(rig, id, edit)).await;
            version += 1;
            assert_eq!(fields, [field]);
            let task = rig.get(id).await.task;
            assert_eq!(task, told);
            assert_eq!(task.spec, expected, "only {field} changed");
            assert_eq!((task.version, task.updated_at), (version, rig.now()));
            assert_eq!(task.created_at, created_at);
            assert_eq!(rig.facts().await, [Fact::TaskEdited { fields: vec![field.to_owned()] }]);
        }
        assert_eq!(rig.get(id).await.task.spec, target);
    }
}

async fn texts_and_labels_are_replaced(rig: &Rig) {
    let id = rig.task("one").await;
    let other = rig.task("two").await;
    let find = |names: &[&str]| ListTasks {
        statuses: StatusFilter::open(),
        filter: TaskFilter { labels: labels(names).iter().cloned().collect(), ..TaskFilter::default() },
        limit: 10,
        now: rig.now(),
    };
    let describe = |text: &str, names: &[&str]| TaskEdit {
        description: Some(text.parse().unwrap()),
        labels: Some(labels(names)),
        ..TaskEdit::default()
    };
    rig.ok(editing(rig, id, describe("first", &["a", "b"]))).await;
    rig.ok(editing(rig, other, describe("other", &["b"]))).await;
    let found = async |names: &[&str]| -> Vec<_> {
        rig.ok(find(names)).await.tasks.iter().map(|task| task.id).collect::<Vec<_>>()
    };
    assert_eq!(found(&["b"]).await, [id, other]);
    assert_eq!(found(&["a", "b"]).await, [id], "all of them, not any");
    rig.ok(editing(rig, id, describe("second", &["c"]))).await;
    assert_eq!(found(&["a"]).await, []);
    assert_eq!(found(&["b"]).await, [other], "another task keeps its own");
    assert_eq!(found(&["c"]).await, [id]);
    assert_eq!(rig.get(id).await.task.spec.description.as_str(), "second");
    assert_eq!(rig.get(other).await.task.spec.description.as_str(), "other");
    rig.ok(editing(rig, id, describe("", &[]))).await;
    assert_eq!(rig.get(id).await.task.spec, TaskSpec::new("one".parse().unwrap()));
    let edited = Fact::TaskEdited { fields: vec!["description".to_owned(), "labels".to_owned()] };
    assert_eq!(rig.facts().await[3..], vec![edited; 4]);
}

async fn an_edit_without_a_difference_is_none(rig: &Rig) {
    let id = rig.task("same").await;
    let before = rig.place().dump().await;
    rig.pass(Duration::from_secs(1));
    let same = whole_edit(rig.get(id).await.task.spec);
    for edit in [TaskEdit::default(), same] {
        let (task, fields) = rig.ok(editing(rig, id, edit)).await;
        assert_eq!((fields.len(), task.version), (0, 1));
    }
    assert_eq!(rig.place().dump().await, before);
}

async fn what_may_no_longer_change_is_refused(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    let retitle = TaskEdit { title: Some("two".parse().unwrap()), ..TaskEdit::default() };
    let error = rig.refused(editing(rig, id, retitle.clone())).await;
    let frozen = |error: &StoreError, why: &EditRefused| matches!(error, StoreError::EditRefused { task, refused } if *task == id && refused == why);
    assert!(frozen(&error, &EditRefused::Running("title")), "{error}");
    let meta: Meta = BTreeMap::from([("seen".parse().unwrap(), "yes".parse().unwrap())]);
    let note = TaskEdit { meta: Some(meta.clone()), ..TaskEdit::default() };
    assert_eq!(
        rig.ok(editing(rig, id, note)).await.0.spec.meta,
        meta,
        "what the agent does not see may change"
    );

    let many = (0..65).map(|n| (format!("k{n}").parse().unwrap(), "v".parse().unwrap())).collect();
    let error = rig.refused(editing(rig, id, TaskEdit { meta: Some(many), ..TaskEdit::default() })).await;
    assert!(matches!(error, StoreError::Field(_)), "{error}");

    rig.succeed(&run).await;
    let error = rig.refused(editing(rig, id, retitle.clone())).await;
    assert!(frozen(&error, &EditRefused::Settled(TaskState::Done)), "{error}");
    let other = rig.task("three").await;
    rig.moved(other, TaskMove::Cancel).await;
    let error = rig.refused(editing(rig, other, retitle)).await;
    assert!(
        matches!(error, StoreError::EditRefused { refused: EditRefused::Settled(TaskState::Cancelled), .. }),
        "{error}"
    );
    let last = rig.kinds().await;
    assert_eq!(last.iter().filter(|kind| *kind == "task.edited").count(), 1);
}

async fn a_task_that_does_not_exist_is_named(rig: &Rig) {
    let id = rig.id();
    rig.task("another").await;
    let unknown =
        |error: &StoreError| matches!(error, StoreError::TaskNotFound(text) if *text == format!("{id}"));
    let edit = TaskEdit { not_before: Some(Some(Millis(5))), ..TaskEdit::default() };
    assert!(unknown(&rig.refused(GetTask { id }).await));
    assert!(unknown(&rig.refused(editing(rig, id, edit)).await));
    assert!(unknown(&rig.refused(rig.moving(id, TaskMove::Hold)).await));
    assert!(unknown(&rig.refused(rig.deleting(id)).await));
    assert_eq!(rig.kinds().await, ["project.added", "task.added"]);
}
