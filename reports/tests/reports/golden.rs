//! The pages themselves. A change here is a change of what people read: look at it before accepting it.

use reports::Format;
use reports::human::Options;

use crate::fixture;

fn check(format: Format, verbose: bool) -> String {
    format.render(&fixture::everything(), &Options { width: 100, colour: false, verbose })
}

#[test]
fn human_when_everything_goes_wrong() {
    insta::assert_snapshot!(check(Format::Human, true));
}

#[test]
fn human_when_all_is_well() {
    insta::assert_snapshot!(reports::human::render(&fixture::passing(), 100, false));
}

#[test]
fn json_when_everything_goes_wrong() {
    let line = check(Format::Json, false);
    let value: serde_json::Value = serde_json::from_str(&line).expect("one JSON object");
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).expect("pretty JSON"));
}

#[test]
fn junit_when_everything_goes_wrong() {
    insta::assert_snapshot!(check(Format::Junit, false));
}

#[test]
fn github_when_everything_goes_wrong() {
    insta::assert_snapshot!(check(Format::Github, false));
}

#[test]
fn markdown_when_everything_goes_wrong() {
    insta::assert_snapshot!(check(Format::Markdown, false));
}
