//! What somebody may have meant who wrote a name that there is not.

/// No longer name is compared.
const MAX_LETTERS: usize = 40;

/// A question to end a message with, such as `; did you mean cubic?`; empty where no known name is near.
#[must_use]
pub fn or_nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let near = known.into_iter().map(|one| (distance(name, one), one)).min_by_key(|&(distance, _)| distance);
    let letters = name.chars().count();
    match near {
        // One letter in three may differ, and one in a shorter name, but not all of them.
        Some((distance, one)) if name != one && 3 * distance <= letters.max(3) && distance < letters => {
            format!("; did you mean {one}?")
        }
        _ => String::new(),
    }
}

/// How many letters to insert, remove, replace or swap with the next one make one name of the other, whatever the case.
fn distance(one: &str, other: &str) -> usize {
    let letters = |name: &str| name.to_lowercase().chars().take(MAX_LETTERS + 1).collect::<Vec<char>>();
    let (a, b) = (letters(one), letters(other));
    if a.len().max(b.len()) > MAX_LETTERS {
        return usize::MAX / 3;
    }
    // Rows of the table of distances between beginnings.
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_asked_for() {
        let known = ["newreno", "cubic", "bbr1", "bbr3", "rate_mbps"];
        assert_eq!(or_nearest("cubci", known), "; did you mean cubic?");
        assert_eq!(or_nearest("new-reno", known), "; did you mean newreno?");
        assert_eq!(or_nearest("BBR3", known), "; did you mean bbr3?");
        assert_eq!(or_nearest("bbr3", known), "");
        assert_eq!(or_nearest("rate_mpbs", known), "; did you mean rate_mbps?");
        assert_eq!(or_nearest("bbr", known), "; did you mean bbr1?");
        assert_eq!(or_nearest("vegas", known), "");
        assert_eq!(or_nearest(&"x".repeat(1000), known), "");
        assert_eq!(or_nearest("", known), "");
        assert_eq!(or_nearest("C", ["A", "B"]), "");
        assert_eq!(or_nearest("a", ["A", "B"]), "; did you mean A?");
    }
}
