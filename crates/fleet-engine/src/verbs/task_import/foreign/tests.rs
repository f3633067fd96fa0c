//! Files as the tools of other trackers write them.

use super::*;

fn read_all(text: &str) -> (ImportFormat, Vec<Issue>) {
    let format = detect(text);
    (format, read(text, format).unwrap())
}

/// Id, state, priority and what it waits for.
fn summary(issues: &[Issue]) -> Vec<String> {
    let line = |issue: &Issue| {
        let priority = issue.priority.map_or_else(|| "-".to_owned(), |priority| priority.to_string());
        format!(
            "{} {:?} {priority} [{}] after [{}]",
            issue.id,
            issue.state,
            issue.labels.join(","),
            issue.after.join(",")
        )
    };
    issues.iter().map(line).collect()
}

#[test]
fn beads() {
    let text = r#"{"id":"bd-1","title":"Base","description":"Do it","design":"Small","status":"closed","priority":0,"issue_type":"task","created_at":"2026-01-01T00:00:00Z"}
{"id":"bd-2","title":"Next","status":"open","priority":1,"issue_type":"bug","labels":["ui","my label"],"dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-3","type":"parent-child"}]}
{"id":"bd-3","title":"All of it","status":"open","priority":2,"issue_type":"epic"}
{"id":"bd-4","title":"Gone","status":"tombstone","priority":2,"issue_type":"task"}"#;
    let (format, issues) = read_all(text);
    assert_eq!(format, ImportFormat::Beads);
    insta::assert_snapshot!(summary(&issues).join("\n"), @r"
    beads:bd-1 Done 5 [] after []
    beads:bd-2 Open 4 [ui,my label] after [beads:bd-1]
    beads:bd-3 Waiting 3 [] after []
    ");
    assert_eq!(issues[0].description, "Do it\n\n## Design\n\nSmall");
}

#[test]
fn github() {
    let text = r#"[{"number":12,"title":"Login fails","body":"Blocked by #11 and #9.","state":"OPEN","labels":[{"name":"priority: high"}],"url":"https://github.com/o/r/issues/12"},
      {"number":11,"title":"Schema","body":null,"state":"CLOSED","stateReason":"COMPLETED","labels":[],"url":"https://github.com/o/r/issues/11"},
      {"number":9,"title":"Never","body":"","state":"closed","state_reason":"not_planned","labels":["bug"],"html_url":"https://github.com/o/r/issues/9"},
      {"number":8,"title":"A pull request","pull_request":{}}]"#;
    let (format, issues) = read_all(text);
    assert_eq!(format, ImportFormat::Github);
    insta::assert_snapshot!(summary(&issues).join("\n"), @r"
    github:o/r#12 Open 4 [priority: high] after [github:o/r#11,github:o/r#9]
    github:o/r#11 Done - [] after []
    github:o/r#9 Cancelled - [bug] after []
    ");
}

#[test]
fn gitlab() {
    let json = r#"[{"id":901,"iid":7,"title":"Login","description":"Depends on #3","state":"opened","labels":["priority::low"],"web_url":"https://gitlab.com/g/p/-/issues/7"}]"#;
    let (format, issues) = read_all(json);
    assert_eq!(format, ImportFormat::Gitlab);
    assert_eq!(summary(&issues), ["gitlab:g/p#7 Open 2 [priority::low] after [gitlab:g/p#3]"]);
    let csv = "Title,Description,Issue ID,URL,State,Labels\n\"Login, and\nlogout\",\"He said \"\"no\"\"\",7,https://gitlab.com/g/p/-/issues/7,Open,\"a,b\"\nDone,,8,https://gitlab.com/g/p/-/issues/8,Closed,\n";
    let (format, issues) = read_all(csv);
    assert_eq!(format, ImportFormat::Gitlab);
    assert_eq!(
        summary(&issues),
        ["gitlab:g/p#7 Open - [a,b] after []", "gitlab:g/p#8 Done - [] after []"],
        "the same issue has the same id in both files"
    );
    assert_eq!(
        (issues[0].short_title().as_str(), issues[0].description.as_str()),
        ("Login, and logout", "He said \"no\"")
    );
}

#[test]
fn linear() {
    let csv = "\"ID\",\"Team\",\"Title\",\"Description\",\"Status\",\"Priority\",\"Labels\",\"Blocked by\"\r\n\"ENG-5\",\"Eng\",\"Login\",\"\",\"Todo\",\"Urgent\",\"Bug, UI\",\"ENG-4\"\r\n\"ENG-4\",\"Eng\",\"Schema\",\"\",\"Done\",\"No priority\",\"\",\"\"\r\n\"ENG-9\",\"Eng\",\"Later\",\"\",\"Backlog\",\"Low\",\"\",\"\"\r\n";
    let (format, issues) = read_all(csv);
    assert_eq!(format, ImportFormat::Linear);
    insta::assert_snapshot!(summary(&issues).join("\n"), @r"
    linear:ENG-5 Open 5 [Bug,UI] after [linear:ENG-4]
    linear:ENG-4 Done - [] after []
    linear:ENG-9 Waiting 2 [] after []
    ");
    let json = r#"{"data":{"issues":{"nodes":[{"identifier":"ENG-5","title":"Login","priority":2,"state":{"name":"In Review","type":"started"},"labels":{"nodes":[{"name":"Bug"}]},"inverseRelations":{"nodes":[{"type":"blocks","issue":{"identifier":"ENG-4"}},{"type":"related","issue":{"identifier":"ENG-3"}}]}}]}}}"#;
    let (format, issues) = read_all(json);
    assert_eq!(format, ImportFormat::Linear);
    assert_eq!(summary(&issues), ["linear:ENG-5 Open 4 [Bug] after [linear:ENG-4]"]);
}

#[test]
fn checklists() {
    let text = "# Release\n\nSome text.\n\n- [ ] Ship it\n  Only on Monday.\n  - [x] Write notes\n  - [ ] Tag\n* [ ] Celebrate\n1. [ ] Tag\n- [link](x)\n- not an item\n";
    let (format, issues) = read_all(text);
    assert_eq!(format, ImportFormat::Markdown);
    insta::assert_snapshot!(summary(&issues).join("\n"), @r"
    checklist:Ship it Open - [] after [checklist:Ship it / Write notes,checklist:Ship it / Tag]
    checklist:Ship it / Write notes Done - [] after []
    checklist:Ship it / Tag Open - [] after []
    checklist:Celebrate Open - [] after []
    checklist:Tag Open - [] after []
    ");
    assert_eq!(issues[0].description.trim(), "Only on Monday.");
}

#[test]
fn our_own_files_are_left_alone() {
    for text in [
        "{\"title\": \"a\", \"after\": []}\n",
        "",
        "nonsense",
        "{\"id\":\"t0sp8vxvppagbpg\",\"title\":\"a\",\"state\":\"done\"}",
    ] {
        assert_eq!(detect(text), ImportFormat::Fleet, "{text:?}");
    }
}

#[test]
fn what_was_imported_is_left_out_and_others_may_wait_for_it() {
    let text = "- [ ] A\n  - [ ] B\n  - [ ] C\n";
    let known = |id: &str| id == "checklist:A / B";
    let ForeignLines { lines, known } = lines(text, ImportFormat::Markdown, &known).unwrap();
    assert_eq!((lines.len(), known), (2, vec!["checklist:A / B".to_owned()]));
    let first: Value = serde_json::from_str(&lines[0].1).unwrap();
    assert_eq!(first["after"], json!(["checklist:A / B", "checklist:A / C"]));
    assert_eq!(first["meta"]["external"], "checklist:A");
}

#[test]
fn broken_files_are_refused_with_the_place() {
    let why = |text: &str, format| read(text, format).unwrap_err();
    assert!(why("[{\"number\":1", ImportFormat::Github).starts_with("it is not JSON"));
    assert_eq!(why("[7]", ImportFormat::Github), "issue 1: not an object but 7");
    assert_eq!(why("[{\"number\":1}]", ImportFormat::Github), "issue 1: it has no title");
    assert!(why("{\"id\":\"a\"}\nx", ImportFormat::Beads).starts_with("line 2: not JSON"));
    assert_eq!(why("A,B\n1,2,3\n", ImportFormat::Linear), "record 1: more fields than the header has");
    assert_eq!(why("text", ImportFormat::Markdown), "it has no items such as `- [ ] Title`");
}
