//! Model and effort change in place: the change rides on the next message, the process stays.

use engine::core::{
    Core,
    config::EngineConfig,
    effect::Effect,
    input::{ChatSpec, Control, Input, Message, Now},
};

/// Lines written to a provider and programs started by one input and the chain that follows from it.
fn take(core: &mut Core, input: Input) -> Vec<String> {
    let mut seen = Vec::new();
    let mut next = Some(input);
    while let Some(input) = next.take() {
        for effect in core.step(Now { mono: 1, wall: 1 }, input) {
            match effect {
                Effect::Spawn(spawn) => seen.push(format!("spawn {}", spawn.args.join(" "))),
                Effect::Write { bytes, .. } => seen.push(String::from_utf8_lossy(&bytes).trim().to_owned()),
                Effect::Store(_) => next = Some(Input::Stored(Ok(()))),
                _ => {}
            }
        }
    }
    seen
}

fn message(id: &str) -> Input {
    Input::Message(Message { chat: "c".to_owned(), id: id.to_owned(), text: format!("text of {id}") })
}

fn configure(model: Option<&str>, effort: Option<&str>) -> Input {
    let (model, effort) = (model.map(str::to_owned), effort.map(str::to_owned));
    Input::Control(Control::Configure { chat: "c".to_owned(), model, effort })
}

/// CL-20: the change is told in records to the same process, once.
#[test]
fn a_changed_model_starts_no_second_process_and_is_told_once() {
    let mut core = Core::new(EngineConfig::default(), 1);
    take(&mut core, Input::Create(ChatSpec { chat: "c".to_owned(), model: Some("haiku".to_owned()), ..ChatSpec::default() }));
    let first = take(&mut core, message("m1"));
    assert!(first[0].starts_with("spawn") && first[0].contains("--model haiku"), "{first:#?}");
    assert_eq!(take(&mut core, configure(Some("sonnet"), Some("high"))), Vec::<String>::new(), "it rides on a message");
    let second = take(&mut core, message("m2"));
    assert_eq!(second.len(), 3, "{second:#?}");
    assert_eq!(
        second[0],
        r#"{"type":"control_request","request_id":"engine_model_1","request":{"subtype":"set_model","model":"sonnet"}}"#
    );
    assert!(second[1].contains("apply_flag_settings") && second[1].contains("high"), "{second:#?}");
    assert!(second[2].contains("text of m2"), "{second:#?}");
    let third = take(&mut core, message("m3"));
    assert!(third.len() == 1 && third[0].contains("text of m3"), "told again: {third:#?}");
}
