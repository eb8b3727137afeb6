//! JSON Schemas of the languages, read off the vocabulary.
//!
//! They say what a file may look like. What a schema cannot say (a label that must exist, a key that goes only with
//! another) is checked by [`crate::Scenario::parse`] and [`crate::Plan::parse`] alone.

use std::collections::BTreeMap;

use schemars::Schema;
use serde_json::{Map, Value, json};

use crate::{
    expect::Kind,
    shape::{Need, Shape, TableShape},
    vocabulary,
};

/// The schema of a scenario file.
pub fn scenario() -> Schema {
    root("scenario", &vocabulary::scenario::SCENARIO)
}

/// The schema of a plan file.
pub fn plan() -> Schema {
    root("plan", &vocabulary::plan::PLAN)
}

/// The schema of a file of regression rows.
pub fn rows() -> Schema {
    root("rows", &vocabulary::rows::ROWS)
}

fn root(title: &str, shape: &TableShape) -> Schema {
    let mut defs = Defs::default();
    let mut object = Map::new();
    object.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    object.insert("title".into(), title.into());
    object.extend(defs.table(shape));
    object.insert("$defs".into(), Value::Object(defs.done.into_iter().map(|(name, schema)| (name, schema.into())).collect()));
    Schema::from(object)
}

/// Tables by the words that name them, each written once.
#[derive(Default)]
struct Defs {
    done: BTreeMap<String, Map<String, Value>>,
}

impl Defs {
    fn table(&mut self, shape: &TableShape) -> Map<String, Value> {
        let mut properties = Map::new();
        for key in shape.keys {
            let mut schema = self.value(&key.shape);
            schema.insert("description".into(), key.about.into());
            properties.insert(key.name.into(), schema.into());
        }
        let required: Vec<&str> = shape.keys.iter().filter(|key| key.need == Need::Always).map(|key| key.name).collect();
        let beside: Vec<Value> = shape
            .keys
            .iter()
            .filter_map(|key| match key.need {
                Need::Beside(others) => Some((key.name, others)),
                _ => None,
            })
            .flat_map(|(name, others)| {
                others.iter().map(move |other| json!({ "if": { "required": [other] }, "then": { "required": [name] } }))
            })
            .collect();
        let mut object = Map::new();
        object.insert("type".into(), "object".into());
        object.insert("properties".into(), properties.into());
        object.insert("additionalProperties".into(), false.into());
        if !required.is_empty() {
            object.insert("required".into(), required.into());
        } else if shape.one_of.is_none() {
            object.insert("minProperties".into(), 1.into());
        }
        if let Some(one_of) = &shape.one_of {
            object.insert("oneOf".into(), one_of.keys.iter().map(|key| json!({ "required": [key] })).collect());
        }
        if !beside.is_empty() {
            object.insert("allOf".into(), beside.into());
        }
        object
    }

    fn value(&mut self, shape: &Shape) -> Map<String, Value> {
        let schema = match shape {
            Shape::Text => json!({ "type": "string" }),
            Shape::Name => json!({ "type": "string", "minLength": 1 }),
            Shape::Beat => json!({ "type": "string", "pattern": "^[^@\\s]+(@[^@\\s]+)?$" }),
            Shape::Count => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
            Shape::Seed => json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }),
            Shape::Integer => json!({ "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX }),
            Shape::Flag => json!({ "type": "boolean" }),
            Shape::True => json!({ "const": true }),
            Shape::Duration => json!({ "type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$" }),
            Shape::Json => json!({ "type": "string", "contentMediaType": "application/json" }),
            Shape::Choice(words) => json!({ "enum": words }),
            Shape::Kind => json!({ "anyOf": [ { "enum": Kind::WORDS }, { "type": "string", "pattern": "^tool:." } ] }),
            Shape::List(item) => json!({ "type": "array", "items": self.value(item) }),
            Shape::Filled(item) => json!({ "type": "array", "items": self.value(item), "minItems": 1 }),
            Shape::Map { value: Shape::Anything, .. } => json!({ "type": "object" }),
            Shape::Map { value, .. } => {
                json!({ "type": "object", "additionalProperties": self.value(value), "minProperties": 1 })
            }
            Shape::Either(shapes) => json!({ "anyOf": shapes.iter().map(|shape| self.value(shape)).collect::<Vec<_>>() }),
            Shape::Anything => json!({}),
            Shape::Table(table) => json!({ "$ref": format!("#/$defs/{}", self.define(table)) }),
        };
        match schema {
            Value::Object(object) => object,
            _ => Map::new(),
        }
    }

    /// Writes a table's schema once and gives its name. Two tables of one name get numbers.
    fn define(&mut self, table: &TableShape) -> String {
        let schema = self.table(table);
        let base = table.what.trim_start_matches("a ").trim_start_matches("an ").trim_start_matches("the ").replace(' ', "-");
        let mut name = base.clone();
        let mut number = 1;
        while self.done.get(&name).is_some_and(|other| *other != schema) {
            number += 1;
            name = format!("{base}-{number}");
        }
        self.done.insert(name.clone(), schema);
        name
    }
}
