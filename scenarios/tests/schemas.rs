//! The JSON Schemas say what the reader reads.

use std::collections::BTreeSet;

use scenarios::{plan::Kind, schema};
use serde_json::Value;

/// All names that `$ref` uses, and all that `$defs` has.
#[track_caller]
fn check(schema: &Value) {
    let mut used = BTreeSet::new();
    references(schema, &mut used);
    let defined: BTreeSet<String> = schema["$defs"].as_object().expect("definitions").keys().cloned().collect();
    assert_eq!(used, defined, "every definition is used and every use is defined");
}

fn references(value: &Value, used: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(name)) = object.get("$ref") {
                used.insert(name.trim_start_matches("#/$defs/").to_owned());
            }
            object.values().for_each(|value| references(value, used));
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, used)),
        _ => {}
    }
}

#[test]
fn every_reference_of_the_schemas_has_its_definition() {
    check(schema::scenario().as_value());
    check(schema::plan().as_value());
    check(schema::rows().as_value());
}

#[test]
fn the_schema_of_a_step_has_one_branch_for_each_action() {
    let schema = schema::scenario();
    let step = &schema.as_value()["$defs"]["step"];
    assert_eq!(step["oneOf"].as_array().map(Vec::len), Some(29));
    assert_eq!(step["additionalProperties"], false);
    assert!(step["properties"]["within"]["description"].as_str().is_some_and(|about| about.contains("60s")));
}

#[test]
fn the_schema_of_a_perturbation_has_every_kind() {
    let schema = schema::plan();
    let perturbation = &schema.as_value()["$defs"]["perturbation"];
    let keys: BTreeSet<&str> = perturbation["properties"].as_object().expect("keys").keys().map(String::as_str).collect();
    assert_eq!(keys, Kind::ALL.iter().map(|kind| kind.key()).collect());
    assert_eq!(perturbation["oneOf"].as_array().map(Vec::len), Some(Kind::ALL.len()));
}

#[test]
fn the_schemas_are_kept() {
    keep("rows_schema", schema::rows().as_value());
    keep("plan_schema", schema::plan().as_value());
    keep("scenario_schema", schema::scenario().as_value());
}

#[track_caller]
fn keep(name: &str, schema: &Value) {
    insta::assert_snapshot!(name, serde_json::to_string_pretty(schema).expect("JSON is writable"));
}
