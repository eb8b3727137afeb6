//! The engine's pure view functions, called by name with arguments as a scenario writes them.

use engine::delegation::{
    CallError, ErrorKind,
    section::{Device, Known, delegation_section},
};
use serde_json::Value;

/// The value of a function.
pub(super) fn value(of: &str, given: &Value) -> Result<Value, String> {
    match of {
        "delegation_section" => serde_json::to_value(delegation_section(&device(given)?)).map_err(|error| error.to_string()),
        other => Err(format!("this host has no view function `{other}`; it has `delegation_section`")),
    }
}

/// What is known of a device: `harness`, `own_preferences`, what it answered (`answer`, or `error` in place of it), and what
/// happened `then`, in order: `flip`, `changed` (the device did what was asked), `refused`.
fn device(given: &Value) -> Result<Device, String> {
    let own_preferences = given["own_preferences"].as_bool().unwrap_or(true);
    let mut device = Device::new(given["harness"].as_str().unwrap_or("claude-code"), own_preferences);
    match (&given["answer"], &given["error"]) {
        (Value::Null, Value::Null) => {}
        (Value::Null, error) => device.loaded(Err(refusal(error))),
        (answer, _) => device.loaded(Ok(Known::read(answer))),
    }
    let mut asked = None;
    for word in given["then"].as_array().into_iter().flatten() {
        match word.as_str() {
            Some("flip") => asked = device.flip().or(asked),
            Some("changed") => {
                let on = matches!(asked, Some(engine::delegation::section::Send::Set(true)));
                let off = if on { Vec::new() } else { vec![device.harness.clone()] };
                asked = device.changed(Ok(Known { off, switchable: vec![device.harness.clone()] }));
            }
            Some("refused") => asked = device.changed(Err(CallError::refused("The device refused."))),
            _ => return Err(format!("`then` holds `flip`, `changed` and `refused`, not {word}")),
        }
    }
    Ok(device)
}

fn refusal(error: &Value) -> CallError {
    match error.as_str() {
        Some("unknown method") => CallError::unknown_method("GetNativeSubagents"),
        words => CallError { kind: ErrorKind::Refused, message: words.unwrap_or_default().to_owned() },
    }
}
