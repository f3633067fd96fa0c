//! Projects: one for each git common dir, whoever comes first.

use fleet_core::event::{Fact, Subject};
use fleet_core::project::Project;
use fleet_store::ops::{EnsureProject, FindProject, ListProjects};

use crate::harness::{Rig, together};

story! {
    a_project_is_added_once
    many_who_see_a_project_at_once_agree
}

fn ensuring(rig: &Rig, dir: &str, name: &str) -> EnsureProject {
    EnsureProject { id: rig.id(), common_dir: dir.to_owned(), name: name.to_owned(), now: rig.now() }
}

async fn a_project_is_added_once(rig: &Rig) {
    let find = FindProject { common_dir: "/src/one/.git".to_owned() };
    assert_eq!(rig.ok(find.clone()).await, None);
    let first = ensuring(rig, "/src/one/.git", "one");
    let project = rig.ok(first.clone()).await;
    let EnsureProject { id, common_dir, name, now } = first;
    assert_eq!(project, Project { id, common_dir, name, created_at: now });
    rig.pass(std::time::Duration::from_secs(5));
    assert_eq!(rig.ok(ensuring(rig, "/src/one/.git", "another name")).await, project);
    assert_eq!(rig.ok(find).await.as_ref(), Some(&project));

    let other = rig.ok(ensuring(rig, "/src/two/.git", "a")).await;
    assert_ne!(other.id, project.id);
    let (one, two) = (project.id, other.id);
    assert_eq!(rig.ok(ListProjects).await, [other, project], "by name");

    let news = rig.news().await;
    let about = |id| Subject { project: Some(id), ..Subject::default() };
    let told: Vec<_> = news.into_iter().map(|event| (event.subject, event.fact)).collect();
    let added = |name: &str| Fact::ProjectAdded { name: name.to_owned() };
    assert_eq!(told, [(about(one), added("one")), (about(two), added("a"))]);
}

async fn many_who_see_a_project_at_once_agree(rig: &Rig) {
    let mut rigs = Vec::new();
    for _ in 0..4 {
        rigs.push(rig.elsewhere().await);
    }
    let jobs = rigs.iter().cycle().take(32).cloned().map(|rig| async move {
        let ensure = ensuring(&rig, "/src/one/.git", "one");
        rig.ok(ensure).await
    });
    let projects = together(jobs).await;
    assert!(projects.iter().all(|project| *project == projects[0]), "one for all: {projects:?}");
    assert_eq!(rig.ok(ListProjects).await, [projects[0].clone()]);
    assert_eq!(rig.kinds().await, ["project.added"]);
}
