//! Rules that name tool calls: `Bash`, `Bash(echo:*)`, `Bash(ls -l)`, as `--allowedTools` and a skill's `allowed-tools` list them.

/// The rules of a list, which are separated by commas or spaces; what stands in brackets belongs to its rule.
pub fn split(list: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_u32;
    for letter in list.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match rules.last_mut() {
            Some(rule) if depth > 0 || !matches!(letter, ',' | ' ') => rule.push(letter),
            _ => rules.push(String::new()),
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

/// Whether a rule names this call: the tool, and of a Bash call how its command begins (`:*`) or the whole of it.
pub fn names(rule: &str, tool: &str, command: &str) -> bool {
    let Some((named, inside)) = rule.split_once('(') else { return rule == tool };
    let Some(inside) = inside.strip_suffix(')').filter(|_| named == tool) else { return false };
    match inside.strip_suffix(":*") {
        Some(prefix) => command.starts_with(prefix),
        None => inside == "*" || command == inside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str, tool: &str, command: &str, expected: bool) {
        let rules = split(list);
        assert_eq!(rules.iter().any(|rule| names(rule, tool, command)), expected, "{rules:?} {tool} {command}");
    }

    #[test]
    fn a_rule_is_cut_at_a_space_of_its_own() {
        assert_eq!(split("Bash(git log:*), Read Edit,,Bash(ls -l)"), ["Bash(git log:*)", "Read", "Edit", "Bash(ls -l)"]);
        assert_eq!(split(""), [""; 0]);
    }

    #[test]
    fn a_rule_names_another_call() {
        check("Bash", "Bash", "rm x", true);
        check("Read,Bash(echo:*)", "Bash", "echo hi", true);
        check("Read,Bash(echo:*)", "Bash", "touch x", false);
        check("Bash(ls -l)", "Bash", "ls -l", true);
        check("Bash(ls -l)", "Bash", "ls -la", false);
        check("Bash(touch:*)", "Write", "touch", false);
        check("Read", "Bash", "ls", false);
    }
}
