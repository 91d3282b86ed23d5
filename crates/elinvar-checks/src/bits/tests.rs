use std::collections::BTreeSet;

use super::*;

#[test]
fn the_recording_has_a_line_for_each_fit() {
    let names: Vec<String> = cases::all().into_iter().map(|case| case.name).collect();
    let unique: BTreeSet<&String> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "names are unique");
    let recorded = line::parse(include_str!("../../bits.txt")).unwrap();
    assert!(recorded.iter().map(|line| &line.name).eq(unique));
}

#[test]
fn a_line_is_read_as_it_was_written_and_differences_are_found() {
    let text = include_str!("../../bits.txt");
    let lines = line::parse(text).unwrap();
    let written: Vec<String> = lines.iter().map(Line::to_string).collect();
    assert!(written.iter().map(String::as_str).eq(text.lines().filter(|line| !line.starts_with('#'))));
    let other = written[0].replace(" steps=", " steps=9");
    assert_eq!(lines[0].differences(&Line::parse(&other).unwrap()), ["steps"]);
    assert!(Line::parse(&written[0].replace(" state=", " stage=")).unwrap_err().contains("state"));
    assert!(Line::parse(&format!("{} more=1", written[0])).is_err());
    assert!(line::parse(&format!("{}\n{}\n", written[1], written[0])).is_err());
}
