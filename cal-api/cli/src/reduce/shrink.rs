//! Makes a list of lines smaller while it passes a test: blocks of lines go, constructs go around what is in them, and words become
//! simpler. It ends when no single step is possible any more.

/// Whether a candidate still does what it must.
pub(super) type Passes<'a> = &'a mut dyn FnMut(&[String]) -> bool;

/// The smallest list that was found.
pub(super) fn shrink(lines: &[String], passes: Passes<'_>) -> Vec<String> {
    let mut best = lines.to_vec();
    loop {
        let before = best.clone();
        best = blocks(best, passes);
        best = constructs(best, passes);
        best = words(best, passes);
        if best == before {
            return best;
        }
    }
}

/// Takes blocks of lines away, large ones first.
fn blocks(mut lines: Vec<String>, passes: Passes<'_>) -> Vec<String> {
    let mut size = lines.len().div_ceil(2);
    while size > 0 {
        // From the end: nothing later needs what is there.
        let mut end = lines.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let without = [&lines[..start], &lines[end..]].concat();
            if passes(&without) {
                lines = without;
            }
            end = start;
        }
        size /= 2;
    }
    lines
}

/// How a line changes the depth of constructs.
fn depth(line: &str) -> i32 {
    let word = line.trim_start();
    let begins = |names: &[&str]| names.iter().any(|name| word.starts_with(name));
    match () {
        () if begins(&["endif", "endloop", "endswitch", "endfunc"]) => -1,
        () if begins(&["if", "whileloop", "loop", "switch"]) => 1,
        () => 0,
    }
}

/// The line that closes the construct at `first`.
fn closing(lines: &[String], first: usize) -> Option<usize> {
    let mut open = 0;
    (first..lines.len()).find(|&at| {
        open += depth(&lines[at]);
        open == 0
    })
}

/// Takes whole constructs away, or what is around their bodies.
fn constructs(mut lines: Vec<String>, passes: Passes<'_>) -> Vec<String> {
    let mut at = lines.len();
    while at > 0 {
        at -= 1;
        if depth(&lines[at]) != 1 {
            continue;
        }
        let Some(last) = closing(&lines, at) else { continue };
        let whole = [&lines[..at], &lines[last + 1..]].concat();
        let around = [&lines[..at], &lines[at + 1..last], &lines[last + 1..]].concat();
        if passes(&whole) {
            lines = whole;
        } else if passes(&around) {
            lines = around;
        }
        at = at.min(lines.len());
    }
    lines
}

/// Makes lines simpler, one by one: comments, modifiers and masks go, numbers become 0 or 1.
fn words(mut lines: Vec<String>, passes: Passes<'_>) -> Vec<String> {
    for at in 0..lines.len() {
        loop {
            let found = simpler(&lines[at]).into_iter().find_map(|line| {
                let mut candidate = lines.clone();
                candidate[at] = line;
                passes(&candidate).then_some(candidate)
            });
            match found {
                Some(candidate) => lines = candidate,
                None => break,
            }
        }
    }
    lines
}

/// Lines that say less than a line.
fn simpler(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    if let Some((before, _)) = line.split_once(';') {
        all.push(before.trim_end().to_owned());
    }
    // Modifiers and specifiers: `_sat`, `_neg(xy)`.
    for (at, _) in line.match_indices('_') {
        let rest = &line[at + 1..];
        let mut end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if rest[end..].starts_with('(') {
            end += rest[end..].find(')').map_or(0, |close| close + 1);
        }
        if end > 0 {
            all.push(format!("{}{}", &line[..at], &rest[end..]));
        }
    }
    if line.trim_start().starts_with("dcl_literal") {
        let parts: Vec<&str> = line.split(", ").collect();
        for k in 1..parts.len() {
            for number in ["0", "1"] {
                let simple = |part: &str| part == "0" || part == number;
                if !simple(parts[k]) {
                    let mut parts = parts.clone();
                    parts[k] = number;
                    all.push(parts.join(", "));
                }
            }
        }
    }
    all.retain(|candidate| candidate != line);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_the_test_does_not_need_goes() {
        let text = "il\ndcl_literal l0, 3.5, 7, 1, 9\nmov r0, l0\nif_logicalnz r1.x\nwhileloop\nmul_sat r2, r0_neg(x), r0 ; here\n\
            endloop\nelse\nmov r3, r0\nendif\nend";
        // Two lines that need each other, in constructs that are balanced.
        let mut tried = 0;
        let found = shrink(&lines(text), &mut |candidate| {
            tried += 1;
            let has = |part: &str| candidate.iter().any(|line| line.starts_with(part));
            let balance: i32 = candidate.iter().map(|line| depth(line)).sum();
            let end = candidate.iter().any(|line| line == "end");
            has("mul") && has("dcl_literal l0, ") && end && balance == 0
        });
        assert!(found.contains(&"mul r2, r0, r0".to_owned()), "{found:?}");
        assert!(found.contains(&"dcl_literal l0, 0, 0, 0, 0".to_owned()), "{found:?}");
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(tried < 400, "{tried}");
    }

    #[test]
    fn constructs_are_closed_by_their_own_ends() {
        let all = lines("if_logicalnz r0\nwhileloop\nendloop\nelse\nendif\nif_logicalz r0\nendif");
        assert_eq!((closing(&all, 0), closing(&all, 1), closing(&all, 5)), (Some(4), Some(2), Some(6)));
        assert_eq!(closing(&lines("whileloop\nmov r0, r1"), 0), None);
    }
}
