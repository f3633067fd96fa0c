//! Whether the vaults, which have all snapshots, are what was written.

use std::path::PathBuf;

use fleet_core::project::Project;
use fleet_host::git;

use fleet_api::verbs::doctor::DoctorCheck;

use crate::verbs::prelude::*;

pub(super) async fn checks(engine: &Engine) -> Vec<DoctorCheck> {
    match look(engine).await {
        Ok((0, _)) => Vec::new(),
        Ok((number, bad)) if bad.is_empty() => {
            let vaults = if number == 1 { "vault" } else { "vaults" };
            vec![DoctorCheck::good("snapshots", format!("{number} {vaults}, no damage"))]
        }
        Ok((_, bad)) => bad,
        Err(problem) => vec![DoctorCheck::bad("snapshots", problem)],
    }
}

/// How many there are, and what is wrong with them.
async fn look(engine: &Engine) -> Outcome<(usize, Vec<DoctorCheck>)> {
    let home = engine.home();
    let (mut number, mut bad) = (0, Vec::new());
    for project in engine.projects().await? {
        let (repo, vault) = (PathBuf::from(&project.common_dir), home.vault(&project.common_dir));
        if !vault.exists() {
            continue;
        }
        number += 1;
        let (place, looked_at) = (vault.clone(), blocking(move || git::check_vault(&repo, &vault)));
        let findings = looked_at.await?.unwrap_or_else(|error| vec![error.to_string()]);
        bad.extend(
            findings.into_iter().map(|finding| damaged(&project, &place.display().to_string(), &finding)),
        );
    }
    Ok((number, bad))
}

fn damaged(project: &Project, place: &str, finding: &str) -> DoctorCheck {
    let problem = Problem::new(Code::Io, format!("the vault of {} is damaged: {finding}", project.name));
    DoctorCheck::bad(
        "snapshots",
        problem.hint(format!("copy {place} away: what is left of the snapshots is in there")).hint(
            "once it is moved, the next run creates a new one; branches in your repository are not affected",
        ),
    )
}
