//! A TOML document that knows where everything in it stands, so that every error can name a line and a field.
//!
//! Several schemas share one document: a design model is a scenario and two tables more. Each schema takes its
//! own tables with [`Document::take`]; what is left is the scenario's, and anything that is nobody's is an error.
//! A list of tables may state variants of the document itself ([`Document::variants`]).

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::{FileError, or_nearest};

/// The text of a file, parsed as TOML but not yet understood.
pub struct Document<'a> {
    file: &'a str,
    text: &'a str,
    root: toml::Spanned<DeTable<'a>>,
    taken: Vec<&'static str>,
    /// The place of the entry of which this is a variant, such as `also[0]`, and the keys that are the entry's.
    variant: Option<(String, Vec<String>)>,
}

impl<'a> Document<'a> {
    /// Parses the text of a file; the file's name is for messages only.
    ///
    /// # Errors
    /// Where the text is not TOML.
    pub fn parse(text: &'a str, file: &'a str) -> Result<Self, FileError> {
        let root = DeTable::parse(text).map_err(|error| FileError {
            file: file.to_owned(),
            line: error.span().map(|span| line_of(text, span.start)),
            field: String::new(),
            message: error.message().to_owned(),
        })?;
        Ok(Self { file, text, root, taken: Vec::new(), variant: None })
    }

    /// Name of the file.
    #[must_use]
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// Reads a top-level table that is not the scenario's; its default where the file has none.
    ///
    /// # Errors
    /// Where the table is not what `T` expects.
    pub fn take<T: DeserializeOwned + Default>(&mut self, table: &'static str) -> Result<T, FileError> {
        self.taken.push(table);
        let mut tables: BTreeMap<String, T> = self.read(|key| key == table)?;
        Ok(tables.remove(table).unwrap_or_default())
    }

    /// What this document would be with each entry of a list of tables: what the entry says stands in place of what the
    /// document says. What has been taken of the document is gone, and the entry may have its own. At most so many.
    ///
    /// # Errors
    /// Where it is no list of tables, or too long.
    pub fn variants(&mut self, list: &'static str, most: usize) -> Result<Vec<Self>, FileError> {
        self.taken.push(list);
        let Some(entries) = self.root.get_ref().get(list) else { return Ok(Vec::new()) };
        let entries =
            entries.get_ref().as_array().map(|entries| entries.iter().map(|entry| entry.get_ref().as_table()));
        let Some(entries) = entries.and_then(Iterator::collect::<Option<Vec<_>>>) else {
            return Err(self.error(list, format!("expected tables, each below a line [[{list}]]")));
        };
        if entries.len() > most {
            return Err(self.error(list, format!("expected at most {most} of them, got {}", entries.len())));
        }
        Ok(entries.into_iter().enumerate().map(|(i, entry)| self.variant(format!("{list}[{i}]"), entry)).collect())
    }

    /// This document with what an entry says.
    fn variant(&self, place: String, entry: &DeTable<'a>) -> Self {
        let keys: Vec<String> = entry.keys().map(|key| key.get_ref().to_string()).collect();
        let links = |key: &str| ["link", "links"].contains(&key);
        let replaced = |key: &str| keys.iter().any(|own| own == key || links(own) && links(key));
        let kept = |key: &str| !self.taken.contains(&key) && !replaced(key);
        let rest = self.root.get_ref().clone().into_iter().filter(|(key, _)| kept(key.get_ref()));
        let table = rest.chain(entry.clone()).collect();
        let root = toml::Spanned::new(self.root.span(), table);
        Self { file: self.file, text: self.text, root, taken: Vec::new(), variant: Some((place, keys)) }
    }

    /// The full name of a field: in a variant, those of its entry are named with the entry's place.
    fn named(&self, field: &str) -> String {
        match &self.variant {
            Some((place, keys)) if keys.iter().any(|key| field.split(['.', '[']).next() == Some(key)) => {
                format!("{place}.{field}")
            }
            _ => field.to_owned(),
        }
    }

    /// Passes over a top-level table.
    pub fn skip(&mut self, table: &'static str) {
        self.taken.push(table);
    }

    /// Reads all that has not been taken.
    ///
    /// # Errors
    /// Where the rest is not what `T` expects.
    pub fn rest<T: DeserializeOwned>(&self) -> Result<T, FileError> {
        self.read(|key| !self.taken.contains(&key))
    }

    /// Reads the document as if it had these top-level keys only.
    fn read<T: DeserializeOwned>(&self, has: impl Fn(&str) -> bool) -> Result<T, FileError> {
        let part = self.root.get_ref().clone().into_iter().filter(|(key, _)| has(key.get_ref())).collect();
        let part = toml::Spanned::new(self.root.span(), part);
        T::deserialize(Deserializer::from(part)).map_err(|error| self.explain(&error))
    }

    /// The error for a field that is well-formed but cannot be right, at the line of the field or of the table
    /// that should have it.
    #[must_use]
    pub fn error(&self, field: &str, message: impl Into<String>) -> FileError {
        let mut line = None;
        let mut table = Some(self.root.get_ref());
        for part in field.split('.') {
            let (name, index) = part.split_once('[').unwrap_or((part, ""));
            let Some((key, value)) = table.and_then(|t| t.get_key_value(name)) else { break };
            let index: Option<usize> = index.strip_suffix(']').and_then(|index| index.parse().ok());
            let item = index.and_then(|index| value.get_ref().as_array()?.get(index));
            line = Some(line_of(self.text, item.map_or(key.span(), toml::Spanned::span).start));
            table = item.unwrap_or(value).get_ref().as_table();
        }
        FileError { file: self.file.to_owned(), line, field: self.named(field), message: message.into() }
    }

    /// Turns an error of serde's into ours: its span becomes a line and a field, its words become plain.
    fn explain(&self, error: &Error) -> FileError {
        let span = error.span();
        let path = span.as_ref().and_then(|span| find(self.root.get_ref(), span)).unwrap_or_default();
        // What is missing from the whole file is missing on no line.
        let line = span.filter(|_| !path.is_empty()).map(|span| line_of(self.text, span.start));
        let mut message = plain_words(error.message());
        let mut field = path;
        if let Some(name) = quoted(error.message(), "missing field `") {
            field = if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
            message = "missing; this field is required".to_owned();
        } else if message.starts_with("unknown field") && !field.contains('.') {
            message.extend(self.taken.iter().flat_map(|table| [", ", *table]));
        }
        let wrong = ["unknown field `", "unknown variant `"].iter().find_map(|start| quoted(error.message(), start));
        if let Some(wrong) = wrong {
            message = format!("{message}{}", or_nearest(wrong, names_in(&message)));
        }
        FileError { file: self.file.to_owned(), line, field: self.named(&field), message }
    }
}

/// The line, from 1, of a byte of the text.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&b| b == b'\n').count()
}

/// The path of the innermost key that has this span within itself or its value, such as `links[1].rate_mbps`.
fn find(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let path = if within(&key.span(), span) { String::new() } else { find_in(value, span)? };
        Some(join(key.get_ref(), &path))
    })
}

/// The path from a value to the innermost key that has this span; empty if it is the value's own.
fn find_in(value: &toml::Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<String> {
    let inner = match value.get_ref() {
        // The span of a `[table]` is its header alone, so its fields are searched in any case.
        DeValue::Table(fields) => find(fields, span),
        // Of arrays, only tables are named by their place.
        DeValue::Array(items) => items.iter().enumerate().find_map(|(i, item)| {
            item.get_ref().as_table()?;
            find_in(item, span).map(|path| join(&format!("[{i}]"), &path))
        }),
        _ => None,
    };
    inner.or_else(|| within(&value.span(), span).then(String::new))
}

fn within(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn join(key: &str, path: &str) -> String {
    let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
    format!("{key}{dot}{path}")
}

/// The text between a beginning that ends in a backtick and the next backtick.
fn quoted<'m>(message: &'m str, beginning: &str) -> Option<&'m str> {
    message.strip_prefix(beginning)?.split('`').next()
}

/// The names in a message of ours: `unknown field; expected one of name, link`, `expected a, b or c, got d`.
fn names_in(message: &str) -> impl Iterator<Item = &str> {
    let expected = message.split_once("expected ").map_or("", |(_, expected)| expected);
    let expected = expected.split_once(", got ").map_or(expected, |(names, _)| names);
    expected.trim_start_matches("one of ").split([',', ' ']).filter(|name| !["", "or"].contains(name))
}

/// serde's standard messages, said as ours are: what was expected, then what was found.
fn plain_words(message: &str) -> String {
    let Some((found, expected)) = message.split_once(", expected ") else { return message.to_owned() };
    let expected = match expected {
        "f64" => "a number",
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a sequence" => "a list",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let words = if found.starts_with("unknown field ") {
        format!("unknown field; expected {expected}")
    } else if let Some((_, what)) = found.split_once(": ") {
        let what = ["integer ", "floating point "].iter().find_map(|kind| what.strip_prefix(kind)).unwrap_or(what);
        format!("expected {expected}, got {}", if what == "sequence" { "a list" } else { what })
    } else if let Some(what) = found.strip_prefix("unknown variant ") {
        format!("expected {expected}, got {what}")
    } else {
        return message.to_owned();
    };
    words.replace('`', "")
}
