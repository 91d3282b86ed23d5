//! `elinvar man`: the manual pages.

use std::io;
use std::path::Path;

use crate::error::Failure;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use elinvar_analysis::Error;
use elinvar_analysis::place::Place;

use crate::Outcome;
use crate::args::Cli;
use crate::print::print_with;
use crate::run_args::ManArgs;

/// Prints the first page or writes all.
pub(crate) fn run(args: &ManArgs) -> Result<Outcome, Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    match &args.out {
        None => {
            let page = page(&command).map_err(unmade)?;
            print_with(|out| out.write_all(&page))?;
        }
        Some(folder) => write_all(&command, folder)?,
    }
    Ok(Outcome::Done)
}

fn unmade(error: io::Error) -> Failure {
    Failure::input(format!("the page could not be made ({error})"))
}

fn write_all(command: &Command, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Error::unwritable(folder, &e))?;
    let mut pages = Vec::new();
    for command in std::iter::once(command).chain(command.get_subcommands().filter(|c| !c.is_hide_set())) {
        let path = folder.join(Man::new(command.clone()).get_filename());
        pages.push((Place::of(&path)?, path, page(command).map_err(unmade)?));
    }
    for (place, path, page) in pages {
        place.write(|out| out.write_all(&page)).map_err(|e| Error::unwritable(&path, &e))?;
    }
    Ok(())
}

/// One page: the examples, which the help has first, follow the description.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).manual("elinvar").source(concat!("elinvar ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if let Some(text) = command.get_before_help() {
        section("EXAMPLES", &text.to_string().replacen("Examples:\n", "", 1), &mut page)?;
    }
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = command.get_after_help() {
        section("EXIT STATUS", text.to_string().trim_start_matches("Exit codes: "), &mut page)?;
    }
    Ok(with_one_preamble(&page))
}

/// Every section comes with the same two lines before it, of which a page needs the first.
fn with_one_preamble(page: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = page.split_inclusive(|byte| *byte == b'\n').collect();
    let (preamble, rest) = lines.split_at(lines.len().min(2));
    preamble.iter().chain(rest.iter().filter(|line| !preamble.contains(line))).flat_map(|line| line.to_vec()).collect()
}

/// A section whose indented lines are kept as they are.
fn section(title: &str, text: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::default();
    roff.control("SH", [title]);
    let mut kept = false;
    for line in text.lines() {
        let is_indented = line.starts_with(' ');
        if is_indented != kept {
            roff.control(if is_indented { "nf" } else { "fi" }, []);
            kept = is_indented;
        }
        if line.is_empty() {
            roff.control("PP", [])
        } else {
            roff.text([roman(line.trim_start())])
        };
    }
    if kept {
        roff.control("fi", []);
    }
    roff.to_writer(page)
}
