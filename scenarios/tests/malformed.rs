//! What an author sees who writes a scenario wrong: each report is kept as a snapshot, without colours.
//!
//! `INSTA_UPDATE=always cargo test -p scenarios` writes them anew; read what changed before you commit it.

mod common;

use common::render;
use scenarios::Scenario;

/// The least that a scenario needs. A line of a test takes the place of the line of its key here.
const FRAME: [(&str, &str); 6] = [
    ("scenario", "scenario = 1"),
    ("title", r#"title = "T""#),
    ("why", r#"why = "W""#),
    ("guards", r#"guards = ["I1"]"#),
    ("cast", r#"cast = [{ as = "claude", capture = "plain-turn" }]"#),
    ("steps", r#"steps = [{ send = "hello" }]"#),
];

/// Reads a scenario with these lines in it (a text in braces stands for its steps) and keeps the report.
#[track_caller]
fn check(name: &str, lines: &str) {
    let lines = if lines.starts_with('{') { format!("steps = [{lines}]") } else { lines.to_owned() };
    let given: Vec<&str> = lines.lines().filter_map(|line| line.split_once(" =")).map(|(key, _)| key).collect();
    let mut file = String::new();
    for (key, line) in FRAME {
        if !given.contains(&key) {
            file += &format!("{line}\n");
        }
    }
    file += &lines;
    let problems = Scenario::parse("group/broken", "group/broken.toml", &file).expect_err("the scenario must be refused");
    insta::assert_snapshot!(name, render(&problems), &lines);
}

macro_rules! refused {
    ($($name:ident: $lines:expr;)+) => { $(#[test] fn $name() { check(stringify!($name), $lines); })+ };
}

refused! {
    // TOML itself.
    a_string_without_its_end: "title = \"T";
    a_key_twice: "x = 1\nx = 2";
    a_list_without_its_end: "steps = [{ send = \"a\" }";
    a_word_without_quotes: "{ send = hello }";

    // The file.
    an_unknown_top_level_key: "guard = [\"I1\"]";
    a_version_of_the_future: "scenario = 2";
    a_version_in_quotes: "scenario = \"1\"";
    an_empty_title: "title = \"\"";
    no_guards: "guards = []";
    guards_without_a_list: "guards = \"I1\"";
    a_report_without_provenance: "from = \"https://example.org/1\"";
    cast_and_agent: "agent = { replies = [{ text = \"a\" }] }";
    no_device: "devices = []";
    a_device_twice: "devices = [\"device\", \"device\"]";
    an_unknown_tag: "tags = [\"kernal\"]";
    a_setting_that_json_does_not_have: "config = { session_idle_ms = inf }";
    no_steps: "steps = []";
    several_problems_at_once: "{ sned = \"a\" }, { advance = \"1\" }, { expect = { pil = 1 } }";

    // The cast.
    an_empty_cast: "cast = []";
    an_unknown_provider: "cast = [{ as = \"cluade\", capture = \"plain-turn\" }]";
    an_entry_without_frames: "cast = [{ as = \"claude\" }]";
    a_mock_with_a_capture: "cast = [{ as = \"mock\", capture = \"plain-turn\" }]";
    a_provider_with_events: "cast = [{ as = \"claude\", events = [{ event = \"Done\" }] }]";
    a_mock_with_edits: "cast = [{ as = \"mock\", events = [{ event = \"Done\" }], edits = [{ hold = \"a\" }] }]";
    an_edit_without_its_moment: "cast = [{ as = \"claude\", capture = \"bash\", edits = [{ exit = 1 }] }]";
    an_edit_with_a_moment_too_many: "cast = [{ as = \"claude\", capture = \"bash\", edits = [{ drop = \"init#1\", after = \"result#1\" }] }]";
    two_edits_in_one: "cast = [{ as = \"claude\", capture = \"bash\", edits = [{ drop = \"init#1\", hold = \"result#1\" }] }]";
    a_swap_of_three: "cast = [{ as = \"claude\", capture = \"bash\", edits = [{ swap = [\"a\", \"b\", \"c\"] }] }]";
    a_frame_that_is_no_json: "cast = [{ as = \"claude\", capture = \"bash\", edits = [{ insert = '{type}', after = \"init#1\" }] }]";
    a_raw_line_of_two_lines: "cast = [{ as = \"claude\", capture = \"bash\", edits = [{ insert_raw = \"a\\nb\", after = \"init#1\" }] }]";
    a_label_with_a_blank: "cast = [{ as = \"claude\", capture = \"bash\", edits = [{ hold = \"result 1\" }] }]";
    a_signal_that_nobody_ignores: "cast = [{ as = \"claude\", capture = \"bash\", edits = [{ ignore = \"SIGKILL\" }] }]";
    a_process_name_twice: "cast = [{ as = \"claude\", capture = \"bash\" }, { as = \"codex\", capture = \"a\", name = \"claude\" }]";
    an_entry_on_an_unknown_device: "cast = [{ as = \"claude\", capture = \"bash\", device = \"devise\" }]";

    // Steps.
    a_step_without_an_action: "{ label = \"a\" }";
    a_step_with_two_actions: "{ send = \"a\", stop = true }";
    a_mistyped_action: "{ sned = \"a\" }";
    a_stop_that_does_not: "{ stop = false }";
    a_message_without_words: "{ send = \"  \" }";
    a_message_that_is_a_number: "{ send = 5 }";
    a_duration_without_a_unit: "{ advance = \"30\" }";
    a_duration_with_a_fraction: "{ advance = \"1.5s\" }";
    a_duration_as_a_number: "{ advance = 30 }";
    a_bound_without_an_until: "{ expect = { pill = 0 }, within = \"5s\" }";
    an_unknown_decision: "{ answer = \"alow\" }";
    an_answer_with_a_message_and_no_decision: "{ answer = { choose = \"Red\", message = \"no\" } }";
    a_fork_without_a_request: "{ fork = { destination = \"main\", chat = \"f\" } }";
    a_kill_at_two_places: "{ kill = { effect = 1, disk = 2 } }";
    an_effect_number_zero: "{ kill = { effect = 0 } }";
    an_unknown_disk_fault: "{ disk = { call = 3, with = \"ENOSPC\" } }";
    a_negative_disk_call: "{ disk = { call = -1, with = \"FULL\" } }";
    a_network_of_one_device: "{ partition = true }";
    a_cut_without_its_other_end: "devices = [\"a\", \"b\"]\nsteps = [{ partition = { from = \"a\" } }]";
    a_cut_to_an_unknown_device: "devices = [\"a\", \"b\"]\nsteps = [{ partition = { between = [\"a\", \"c\"] } }]";
    a_cut_from_a_device_to_itself: "devices = [\"a\", \"b\"]\nsteps = [{ heal = { from = \"a\", to = \"a\" } }]";
    a_request_without_an_answer: "{ rpc = { method = \"m\" } }";

    // Names.
    an_unknown_chat: "{ send = \"a\", chat = \"side\" }, { expect = { pill = 0 }, chat = \"sied\" }";
    a_chat_twice: "{ create = { chat = \"a\" } }, { create = { chat = \"a\" } }";
    an_unknown_parent: "{ create = { chat = \"a\", parent = \"mian\" } }";
    an_unknown_device: "{ send = \"a\", device = \"viewer\" }";
    a_label_twice: "{ send = \"a\", label = \"x\" }, { steer = \"b\", label = \"x\" }";
    an_unknown_message: "{ queue = \"a\", label = \"second\" }, { remove = \"secnod\" }";
    a_label_that_is_no_message: "{ stop = true, label = \"halt\" }, { expect = { messages.halt = \"delivered\" } }";
    a_queue_of_unknown_messages: "{ expect = { queue = [\"first\"] } }";
    a_release_of_what_is_not_held: "cast = [{ as = \"claude\", capture = \"typed-fork\", edits = [{ hold = \"result#1\" }] }]\nsteps = [{ release = \"reslut#1\" }]";

    // Expectations.
    an_expectation_of_nothing: "{ expect = {} }";
    an_unknown_expectation: "{ expect = { stauts = \"idle\" } }";
    an_unknown_status: "{ until = { status = \"done\" } }";
    an_unknown_row_state: "{ expect = { row.\"Agent: /probe\" = \"finished\" } }";
    an_unknown_kind_of_entry: "{ expect = { tab.\"Agent: /probe\" = [\"prompt\", \"replay\"] } }";
    a_tool_without_a_name: "{ expect = { entries = [\"tool:\"] } }";
    an_unknown_row_count: "{ expect = { rows.runing = 1 } }";
    a_number_that_cannot_be: "{ expect = { pill = { at_least = 2, at_most = 1 } } }";
    a_number_that_always_is: "{ expect = { pill = { at_least = 0 } } }";
    a_text_that_holds_nothing: "{ expect = { last_reply = { contains = \"\" } } }";
    a_text_that_lacks_nothing: "{ expect = { last_reply = { lacks = [] } } }";
    a_text_of_no_parts: "{ expect = { last_reply = {} } }";
    a_pill_in_words: "{ expect = { pill = \"one\" } }";
    a_flag_in_quotes: "{ expect = { busy = \"true\" } }";
    rows_without_a_row: "{ expect = { row = {} } }";

    // What may be perturbed.
    an_unknown_kind_of_perturbation: "perturb = { weather = [\"dleay\"] }";
    breakage_among_the_weather: "perturb = { weather = [\"delay\", \"drop\"] }";
    weather_among_the_breakage: "perturb = { breakage = [\"split\"] }";
}
