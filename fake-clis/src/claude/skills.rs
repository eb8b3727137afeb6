//! Skills of a project: `<cwd>/.claude/skills/NAME/SKILL.md`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    profile::{Profile, Skill},
    rules,
};
use crate::understudy::Files;

/// Puts the project's own skills in place of the recorded project's. A project without skills keeps the recorded ones: a script
/// may need them.
pub fn read(profile: &Profile, cwd: &str, files: &dyn Files) -> Option<Profile> {
    let dir = format!("{cwd}/.claude/skills");
    let found: BTreeMap<String, Skill> = files
        .list(&dir)
        .iter()
        .filter_map(|path| {
            let name = path.strip_prefix(&dir)?.trim_start_matches('/').strip_suffix("/SKILL.md")?;
            let text = String::from_utf8_lossy(&files.read(path)?).into_owned();
            Some((name.to_owned(), parse(&text)))
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut profile = profile.clone();
    let recorded = project_skills(&profile);
    for list in ["skills", "slash_commands"] {
        let rest = profile.init[list].as_array().into_iter().flatten().filter_map(Value::as_str);
        let rest = rest.filter(|name| !recorded.iter().any(|known| known == name) && !found.contains_key(*name));
        let names: Vec<String> = found.keys().cloned().chain(rest.map(str::to_owned)).collect();
        profile.init[list] = json!(names);
    }
    profile.skills = found;
    Some(profile)
}

/// The skills of the project that was recorded, as `/context` names them.
fn project_skills(profile: &Profile) -> Vec<String> {
    let skills = profile.context.iter().flat_map(|(_, usage)| usage["skills"].as_array().into_iter().flatten());
    skills
        .filter(|skill| skill["source"] == "projectSettings")
        .filter_map(|skill| skill["name"].as_str().map(str::to_owned))
        .collect()
}

/// Reads frontmatter and body of a skill.
fn parse(text: &str) -> Skill {
    let Some((front, body)) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) else {
        return Skill { body: text.to_owned(), ..Skill::default() };
    };
    let value = |key: &str| {
        let line = front.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(|value| value.trim().trim_matches('"').to_owned()).unwrap_or_default()
    };
    Skill {
        fork: value("context") == "fork",
        description: value("description"),
        body: body.trim_start_matches('\n').to_owned(),
        allowed: rules::split(&value("allowed-tools")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{claude::profile::builtin, drive::MemoryFiles};

    const SKILL: &str =
        "---\nname: tidy\ndescription: Tidies up.\ncontext: fork\nallowed-tools: Bash(ls:*), Read\n---\n\nTidy.\n";

    #[test]
    fn the_project_s_own_skills_are_unknown() {
        let mut files = MemoryFiles::default();
        files.append("/p/.claude/skills/tidy/SKILL.md", SKILL.as_bytes());
        let profile = builtin("2.1.332").expect("a recorded version");
        let profile = read(&profile, "/p", &files).expect("a project with a skill");
        let skill = &profile.skills["tidy"];
        assert!(skill.fork);
        assert_eq!((skill.description.as_str(), skill.body.as_str()), ("Tidies up.", "Tidy.\n"));
        assert_eq!(skill.allowed, ["Bash(ls:*)", "Read"]);
        let commands: Vec<&str> = profile.commands().collect();
        assert!(commands.contains(&"tidy") && commands.contains(&"compact") && !commands.contains(&"probe"));
    }

    #[test]
    fn a_project_without_skills_loses_the_recorded_ones() {
        let profile = builtin("2.1.332").expect("a recorded version");
        assert_eq!(read(&profile, "/p", &MemoryFiles::default()), None);
    }
}
