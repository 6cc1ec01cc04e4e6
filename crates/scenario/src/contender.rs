//! Contenders, and how people write them: `scheme` or `scheme/queue`. Nothing else takes such a name apart.

use exmachina_hosts::scheme::{SchemeName, is_table_file};
use exmachina_net::queue::QueueKind;

use super::queues::queue_by_name;

/// What every sender without a scheme of its own runs, and over which queues.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// What people call it: as it is written.
    pub label: String,
    /// The scheme.
    pub scheme: SchemeName,
    /// The discipline of every queue, where the contender says so.
    pub queue: Option<QueueKind>,
}

impl Contender {
    /// Reads `scheme` or `scheme/queue`; `algorithms` are the rule tables that go by a name.
    ///
    /// # Errors
    /// Where there is no such scheme or queue; says which there are.
    pub fn parse(label: &str, algorithms: &[String]) -> Result<Contender, String> {
        let SchemeAndQueue { scheme, queue } = SchemeAndQueue::of(label, algorithms);
        let queue = queue.map(queue_by_name).transpose()?;
        let scheme = SchemeName::parse(scheme)?;
        scheme.check(algorithms)?;
        Ok(Contender { label: label.to_owned(), scheme, queue })
    }
}

/// What is written as `scheme/queue`, taken apart. That there are such a scheme and such a queue is not said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchemeAndQueue<'t> {
    /// The name of a scheme, or the path of a table.
    pub scheme: &'t str,
    /// What is to be the name of a queue discipline.
    pub queue: Option<&'t str>,
}

impl<'t> SchemeAndQueue<'t> {
    /// Takes a name apart; `algorithms` are the rule tables that go by one.
    ///
    /// Paths have strokes, too. What ends as a table's file does is one. In all else the last stroke comes before a queue
    /// if a table's file or the name of a scheme stands before it; or any plain word, if what follows is a queue that there
    /// is: then it is the scheme that is not known. The rest are paths.
    #[must_use]
    pub fn of(text: &'t str, algorithms: &[String]) -> Self {
        match text.rsplit_once('/') {
            Some((head, queue)) if !is_table_file(text) && takes_a_queue(head, queue, algorithms) => {
                SchemeAndQueue { scheme: head, queue: Some(queue) }
            }
            _ => SchemeAndQueue { scheme: text, queue: None },
        }
    }
}

fn takes_a_queue(head: &str, queue: &str, algorithms: &[String]) -> bool {
    // "." and ".." are folders.
    let is_word = !head.contains('/') && head.contains(char::is_alphanumeric);
    is_table_file(head)
        || SchemeName::is_built_in(head)
        || algorithms.iter().any(|name| name == head)
        || (is_word && queue_by_name(queue).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stroke_comes_before_a_queue_or_is_a_folders() {
        let algorithms = ["mine".to_owned()];
        for (text, scheme, queue) in [
            ("cubic", "cubic", None),
            ("cubic/sfqcodel", "cubic", Some("sfqcodel")),
            ("cubic/blue", "cubic", Some("blue")),
            ("window:40/red", "window:40", Some("red")),
            ("window:many/blue", "window:many", Some("blue")),
            ("mine", "mine", None),
            ("mine/codel", "mine", Some("codel")),
            ("mine/blue", "mine", Some("blue")),
            ("yours/codel", "yours", Some("codel")),
            ("x.dna", "x.dna", None),
            ("x.dna.5", "x.dna.5", None),
            ("x.dna/codel", "x.dna", Some("codel")),
            ("x.dna.5/codel", "x.dna.5", Some("codel")),
            ("x.dna/blue", "x.dna", Some("blue")),
            ("folder/x.dna", "folder/x.dna", None),
            ("folder/x.dna/codel", "folder/x.dna", Some("codel")),
            ("folder.dna/y.dna", "folder.dna/y.dna", None),
            ("folder.dna/y.dna.5", "folder.dna/y.dna.5", None),
            ("folder.dna/y.dna/codel", "folder.dna/y.dna", Some("codel")),
            ("cubic/x.dna", "cubic/x.dna", None),
            // Files whose names do not say that they are tables.
            ("folder/x", "folder/x", None),
            ("./mine", "./mine", None),
            ("./codel", "./codel", None),
            ("folder/x/codel", "folder/x/codel", None),
            ("/codel", "/codel", None),
            ("C:/x", "C:/x", None),
            ("", "", None),
            ("/", "/", None),
        ] {
            assert_eq!(SchemeAndQueue::of(text, &algorithms), SchemeAndQueue { scheme, queue }, "{text}");
        }
    }

    #[test]
    fn a_contender_has_a_scheme_and_a_queue_that_there_are() {
        let read = |text: &str| Contender::parse(text, &["mine".to_owned()]);
        let mine = read("mine/codel").unwrap();
        assert_eq!((mine.label.as_str(), mine.scheme), ("mine/codel", SchemeName::Table("mine".to_owned())));
        assert_eq!(mine.queue, Some(queue_by_name("codel").unwrap()));
        assert_eq!(read("folder.dna/y.dna").unwrap().scheme, SchemeName::Table("folder.dna/y.dna".to_owned()));
        for text in ["cubic/blue", "mine/blue", "x.dna/blue", "window:40/blue"] {
            assert!(read(text).unwrap_err().ends_with("pie, xcp, got blue"), "{text}");
        }
        assert!(read("yours/codel").unwrap_err().ends_with("got yours"));
        assert!(read("window:many/codel").unwrap_err().contains("from 1 to 1000000"));
    }
}
