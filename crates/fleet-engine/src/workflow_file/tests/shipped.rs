use fleet_core::workflow::{ChangeRule, Returns};

use super::{World, shown, task};
use crate::workflow_file::{FileFormat, SHIPPED, written};

#[test]
fn those_that_come_with_codefleet_are_right_in_every_format() {
    let world = World::new();
    for one in SHIPPED {
        let spec = world.spec(&format!("{}.toml", one.name), one.text);
        assert_eq!(spec.name, one.name);
        for format in [FileFormat::Yaml, FileFormat::Json] {
            let text = written(one.text, format);
            let same = world.load(&format!("{}.{}", one.name, format.end()), &text, &task());
            let same = same.map_err(|found| format!("{}\n{text}", shown(&found))).unwrap();
            assert_eq!(same.spec, spec, "{text}");
        }
        assert!(
            one.text.contains(&format!("fleet workflow run {} --task", one.name)),
            "it says how to run it"
        );
        assert!(one.text.lines().all(|line| line.chars().count() <= 120), "{}", one.name);
    }
}

/// Whoever is to judge is shown the code.
#[test]
fn reviewers_and_judges_see_the_work() {
    let world = World::new();
    let mut verdicts = 0;
    for one in SHIPPED {
        let spec = world.spec(&format!("{}.toml", one.name), one.text);
        for stage in spec.stages.iter().filter(|stage| stage.returns == Returns::Verdict) {
            verdicts += 1;
            let sees = ["diff}", "branch}"].iter().any(|field| stage.prompt.contains(field));
            assert!(sees && stage.changes != ChangeRule::Required, "{} of {}", stage.name, one.name);
        }
    }
    assert_eq!(verdicts, 4);
}
