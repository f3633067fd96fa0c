//! Projects: one for each repository, whoever comes first. The root commit tells repositories of several places apart.

use fleet_core::event::{EventSubject, Fact};
use fleet_core::id::ProjectId;
use fleet_core::project::{Project, RepositoryFacts};
use fleet_store::ops::{
    EnsureProject, FindProject, Host, ListHosts, ListProjects, OfferHost, Probe, ProjectsAt,
};

use crate::harness::{HERE, Rig, checkout, together};

story! {
    a_project_is_added_once
    many_who_see_a_project_at_once_agree
    a_probe_leaves_nothing
    another_repository_at_the_same_path_elsewhere_is_another_project
    a_repository_at_another_path_elsewhere_is_the_same_project
    a_run_knows_the_checkout_of_its_place
    hosts_say_what_they_can_start
}

const THERE: &str = "there:/home/.fleet";

fn ensuring(rig: &Rig, (place, dir, name): (&str, &str, &str), root: Option<&str>) -> EnsureProject {
    let seen = RepositoryFacts { root: root.map(str::to_owned), ..RepositoryFacts::default() };
    EnsureProject { id: rig.id(), checkout: checkout(place, dir, name), seen, now: rig.now() }
}

async fn a_project_is_added_once(rig: &Rig) {
    let find = FindProject { place: HERE.to_owned(), common_dir: "/src/one/.git".to_owned() };
    assert_eq!(rig.ok(find.clone()).await, None);
    let first = ensuring(rig, (HERE, "/src/one/.git", "one"), Some("r"));
    let project = rig.ok(first.clone()).await;
    let (id, root) = (first.id, Some("r".to_owned()));
    let (common_dir, name) = ("/src/one/.git".to_owned(), "one".to_owned());
    assert_eq!(project, Project { id, common_dir, name, root, created_at: first.now });
    rig.pass(std::time::Duration::from_secs(5));
    assert_eq!(rig.ok(ensuring(rig, (HERE, "/src/one/.git", "another name"), Some("r"))).await, project);
    assert_eq!(rig.ok(find).await.as_ref(), Some(&project));

    let other = rig.ok(ensuring(rig, (HERE, "/src/two/.git", "a"), Some("r"))).await;
    assert_ne!(other.id, project.id, "a second clone at one place");
    let (one, two) = (project.id, other.id);
    assert_eq!(rig.ok(ListProjects { place: HERE.to_owned() }).await, [other, project], "by name");

    let news = rig.news().await;
    let about = |id| EventSubject { project: Some(id), ..EventSubject::default() };
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
        let ensure = ensuring(&rig, (HERE, "/src/one/.git", "one"), Some("r"));
        rig.ok(ensure).await
    });
    let projects = together(jobs).await;
    assert!(projects.iter().all(|project| *project == projects[0]), "one for all: {projects:?}");
    assert_eq!(rig.ok(ListProjects { place: HERE.to_owned() }).await, [projects[0].clone()]);
    assert_eq!(rig.kinds().await, ["project.added"]);
}

/// Two at once do not meet.
async fn a_probe_leaves_nothing(rig: &Rig) {
    let probe = |name: &str| Probe { name: name.to_owned(), now: rig.now() };
    for name in ["probe-1", "probe-2", "probe-1"] {
        rig.ok(probe(name)).await;
    }
    assert_eq!(rig.ok(ListProjects { place: HERE.to_owned() }).await, []);
    assert_eq!(rig.news().await, []);
}

async fn at(rig: &Rig, place: &str) -> Vec<ProjectId> {
    let all = rig.ok(ProjectsAt { place: place.to_owned() }).await;
    all.into_iter().filter(|one| one.is_known).map(|one| one.project.id).collect()
}

async fn another_repository_at_the_same_path_elsewhere_is_another_project(rig: &Rig) {
    let here = rig.ok(ensuring(rig, (HERE, "/repo/.git", "repo"), Some("r"))).await;
    let there = rig.ok(ensuring(rig, (THERE, "/repo/.git", "repo"), Some("other"))).await;
    assert_ne!(here.id, there.id);
    assert_eq!((at(rig, HERE).await, at(rig, THERE).await), (vec![here.id], vec![there.id]));
    assert_eq!(there.common_dir, "/repo/.git");
    assert_eq!(rig.ok(ensuring(rig, (HERE, "/repo/.git", "repo"), Some("r"))).await, here);
    assert_eq!(rig.ok(ensuring(rig, (THERE, "/repo/.git", "repo"), Some("other"))).await, there);
}

async fn a_repository_at_another_path_elsewhere_is_the_same_project(rig: &Rig) {
    let here = rig.ok(ensuring(rig, (HERE, "/home/ann/repo/.git", "repo"), Some("r"))).await;
    let there = rig.ok(ensuring(rig, (THERE, "/srv/repo/.git", "repo"), Some("r"))).await;
    assert_eq!((here.id, there.common_dir.as_str()), (there.id, "/srv/repo/.git"));
    assert_eq!((at(rig, HERE).await, at(rig, THERE).await), (vec![here.id], vec![here.id]));
    let all = |place: &str| ListProjects { place: place.to_owned() };
    assert_eq!(rig.ok(all(HERE)).await, std::slice::from_ref(&here));
    assert_eq!(rig.ok(all(THERE)).await, [there]);
    assert_eq!(rig.ok(all("a third")).await, [here], "as another place has it");

    let remade = rig.ok(ensuring(rig, (THERE, "/srv/repo/.git", "repo"), Some("new"))).await;
    assert_eq!(
        (at(rig, THERE).await, rig.kinds().await.len()),
        (vec![remade.id], 2),
        "another one lies there"
    );
}

async fn a_run_knows_the_checkout_of_its_place(rig: &Rig) {
    let here = rig.ok(ensuring(rig, (HERE, "/home/ann/repo/.git", "repo"), Some("r"))).await;
    rig.ok(ensuring(rig, (THERE, "/srv/repo/.git", "repo"), Some("r"))).await;
    rig.add(vec![rig.draft_in(here.id, "one"), rig.draft_in(here.id, "two")]).await;
    let mine = rig.claim(1).await.remove(0).run;
    let theirs = fleet_store::ops::Claim { place: THERE.to_owned(), ..rig.claiming(1) };
    let theirs = rig.ok(theirs).await.remove(0).run;
    assert_eq!(rig.detail(&mine).await.project, here);
    assert_eq!(rig.detail(&theirs).await.project.common_dir, "/srv/repo/.git");
}

async fn hosts_say_what_they_can_start(rig: &Rig) {
    let project = rig.project("/repo/.git").await;
    let host = |place: &str, name: &str| Host {
        place: place.to_owned(),
        name: name.to_owned(),
        agents: ["claude".parse().unwrap()].into(),
        projects: [project].into(),
    };
    let before = rig.now();
    rig.ok(OfferHost { host: host(HERE, "old"), now: rig.now() }).await;
    rig.pass(std::time::Duration::from_mins(1));
    rig.ok(OfferHost { host: host(THERE, "b"), now: rig.now() }).await;
    assert_eq!(rig.ok(ListHosts { since: rig.now() }).await, [host(THERE, "b")]);
    rig.ok(OfferHost { host: host(HERE, "a"), now: rig.now() }).await;
    assert_eq!(rig.ok(ListHosts { since: before }).await, [host(HERE, "a"), host(THERE, "b")]);
}
