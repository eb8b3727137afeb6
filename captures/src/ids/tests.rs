use serde_json::json;

use super::*;
use crate::{catalog::Catalog, format::Capture, provider::Provider, verify};

/// SplitMix64: the numbers of a seed.
fn seeded(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn scene(scene: &str) -> std::sync::Arc<Capture> {
    Catalog::embedded().get(Provider::Claude, "2.1.332", scene).unwrap()
}

/// The roles in a scene, counted.
fn check_roles(name: &str, expected: &[(Role, usize)]) {
    let roles = Roles::of(&scene(name));
    let mut counts: std::collections::BTreeMap<Role, usize> = std::collections::BTreeMap::new();
    for (_, role) in roles.iter() {
        *counts.entry(role).or_default() += 1;
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected, "{name}");
}

#[test]
fn ids_are_found_with_what_they_name() {
    use Role::{ApiRequest, Frame, Host, Message, Request, Run, Session, Task, Tool};
    check_roles(
        "typed-fork",
        &[(Host, 1), (Frame, 14), (Session, 1), (Task, 1), (Run, 1), (Message, 3), (ApiRequest, 2), (Tool, 1)],
    );
    check_roles(
        "permission-from-skill-tool-fork",
        &[(Host, 1), (Frame, 31), (Session, 1), (Request, 1), (Task, 1), (Run, 1), (Message, 4), (ApiRequest, 4), (Tool, 2)],
    );
    check_roles(
        "background-bash",
        &[(Host, 1), (Frame, 41), (Session, 1), (Task, 1), (Run, 1), (Message, 3), (ApiRequest, 3), (Tool, 1)],
    );
}

#[test]
fn a_reissued_capture_holds_none_of_the_old_ids_and_still_fits_together() {
    let catalog = Catalog::embedded();
    for listed in catalog.iter().filter(|listed| listed.provider == Provider::Claude) {
        let capture = catalog.get(listed.provider, listed.version, listed.scene).unwrap();
        let roles = Roles::of(&capture);
        let fresh = Reissue::new(&roles, &mut seeded(7)).capture(&capture);
        let text = crate::format::write(&fresh);
        for (id, role) in roles.iter() {
            assert!(!text.contains(id), "{}: {role:?} {id} is still there", listed.file);
        }
        assert_eq!(verify::tape(&fresh), [], "{}", listed.file);
        let shapes = |capture: &Capture| Roles::of(capture).iter().map(|(id, role)| (role, shape_of(id))).collect::<Vec<_>>();
        assert_eq!(shapes(&fresh), shapes(&capture), "{}", listed.file);
    }
}

/// What an id looks like, coarsely: the same before and after.
fn shape_of(id: &str) -> &'static str {
    match id {
        _ if shape::is_uuid(id) && id.as_bytes()[14] == b'4' => "uuid 4",
        _ if shape::is_task(id) => {
            if id.len() == 17 {
                "agent"
            } else {
                "command"
            }
        }
        _ if shape::is_run(id) => "run",
        _ => ["msg_", "req_", "req-", "toolu_"].into_iter().find(|prefix| id.starts_with(prefix)).unwrap_or("other"),
    }
}

#[test]
fn the_same_numbers_give_the_same_ids_and_other_numbers_none_of_them() {
    let capture = scene("background-agents-two");
    let roles = Roles::of(&capture);
    let ids = |seed| {
        let reissue = Reissue::new(&roles, &mut seeded(seed));
        roles.iter().map(|(id, _)| reissue.get(id).unwrap().to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(ids(1), ids(1));
    let (one, two) = (ids(1), ids(2));
    assert!(one.iter().all(|id| !two.contains(id)));
}

#[test]
fn a_source_that_repeats_itself_still_gives_distinct_ids() {
    let roles = Roles::of(&scene("background-agents-two"));
    let reissue = Reissue::new(&roles, &mut || 5);
    let fresh: std::collections::BTreeSet<&str> = roles.iter().filter_map(|(id, _)| reissue.get(id)).collect();
    assert_eq!(fresh.len(), roles.iter().count());
}

/// The three ids of a small capture, bound to names that are easy to see.
fn small() -> Reissue {
    let mut reissue = Reissue::new(&Roles::default(), &mut seeded(1));
    reissue.bind("a950d99e01573fd41", "TASK");
    reissue.bind("60911136-42fd-4314-9b21-5eb877a023ad", "SESSION");
    reissue.bind("toolu_mock_0002_0", "TOOL");
    reissue
}

#[test]
fn ids_within_longer_texts_are_replaced_and_parts_of_words_are_not() {
    for (before, after) in [
        (
            "/claude/-home-dev/60911136-42fd-4314-9b21-5eb877a023ad/tasks/a950d99e01573fd41.output",
            "/claude/-home-dev/SESSION/tasks/TASK.output",
        ),
        ("agentId: a950d99e01573fd41 (é)", "agentId: TASK (é)"),
        ("agent-a950d99e01573fd41.jsonl", "agent-TASK.jsonl"),
        ("toolu_mock_0002_0-heartbeat-0", "TOOL-heartbeat-0"),
        ("toolu_mock_0002_01", "toolu_mock_0002_01"),
        ("xtoolu_mock_0002_0", "xtoolu_mock_0002_0"),
        ("éa950d99e01573fd41", "éa950d99e01573fd41"),
        ("a950d99e01573fd41a950d99e01573fd41", "a950d99e01573fd41a950d99e01573fd41"),
        ("a950d99e01573fd41 a950d99e01573fd41", "TASK TASK"),
        ("forked-command-probe", "forked-command-probe"),
        ("", ""),
    ] {
        assert_eq!(small().text(before), after);
    }
}

#[test]
fn keys_are_replaced_and_keep_their_place() {
    let frame = json!({"z": 1, "a950d99e01573fd41": {"id": "toolu_mock_0002_0"}, "a": [null, 1.5, "x"]});
    let fresh = small().frame(&frame);
    assert_eq!(fresh.to_string(), r#"{"z":1,"TASK":{"id":"TOOL"},"a":[null,1.5,"x"]}"#);
}

#[test]
fn the_hosts_own_uuid_can_be_bound() {
    let capture = scene("plain-turn");
    let roles = Roles::of(&capture);
    let (host, _) = roles.iter().find(|(_, role)| *role == Role::Host).unwrap();
    let mut reissue = Reissue::new(&roles, &mut seeded(1));
    reissue.bind(host, "what-the-host-wrote");
    let text = crate::format::write(&reissue.capture(&capture));
    assert_eq!(text.matches("what-the-host-wrote").count(), crate::format::write(&capture).matches(host).count());
}

#[test]
fn a_typed_forks_tag_is_no_id() {
    let roles = Roles::of(&scene("typed-fork"));
    assert_eq!(roles.get("forked-command-probe"), None);
    assert!(!roles.iter().any(|(id, _)| id.contains("forked-command")));
}

#[test]
fn a_heartbeats_id_is_the_tool_calls() {
    let roles = Roles::of(&scene("bash-35-seconds"));
    let tools: Vec<&str> = roles.iter().filter(|(_, role)| *role == Role::Tool).map(|(id, _)| id).collect();
    assert!(!tools.is_empty() && tools.iter().all(|id| !id.contains("heartbeat")), "{tools:?}");
}

#[test]
fn a_request_that_is_only_a_number_is_left_alone() {
    let mut roles = Roles::default();
    roles.add(
        &crate::format::From::Host,
        &json!({"type": "control_request", "request_id": "1", "request": {"subtype": "interrupt"}}),
    );
    assert_eq!(roles, Roles::default());
}
