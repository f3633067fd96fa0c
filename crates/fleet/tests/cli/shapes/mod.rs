//! `--json` answers against `docs/json.md`: every documented field is there, and no other.

mod agents;
mod page;
mod runs;
mod settings;
mod tasks;
mod workflows;

use super::support::World;

#[test]
fn json_is_as_documented_on_sqlite() {
    let world = World::sqlite();
    tasks::answers_of_task_commands(&world);
    tasks::answers_about_tasks_as_a_whole(&world);
    tasks::answers_of_launches(&world);
    tasks::answers_of_prompts(&world);
    settings::answers_of_other_commands(&world);
    workflows::answers_of_workflow_files(&world);
    agents::answers_about_agents(&world);
    tasks::lines_of_an_export(&world);
}

#[test]
fn json_is_as_documented_on_postgresql() {
    let world = World::postgres();
    tasks::answers_of_task_commands(&world);
    tasks::answers_of_launches(&world);
    tasks::answers_of_prompts(&world);
    settings::answers_of_other_commands(&world);
    workflows::answers_of_workflow_files(&world);
}

#[test]
fn json_of_runs_is_as_documented() {
    runs::answers_of_run_commands(&World::sqlite());
    runs::answers_of_run_commands(&World::postgres());
    runs::answers_about_work(&World::sqlite());
}

#[test]
fn json_of_workflows_is_as_documented() {
    workflows::answers_about_workflows(&World::sqlite());
    workflows::answers_about_workflows(&World::postgres());
}
