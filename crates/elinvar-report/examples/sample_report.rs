//! Writes the reports of three made-up fits, and their figures, into a folder.
//!
//!     cargo run -p elinvar-report --example sample_report -- OUT-DIR

#[path = "../tests/pages/sample/mod.rs"]
mod sample;

use std::path::PathBuf;
use std::time::Instant;
use std::{env, fs, io};

use elinvar_report::{FigureName, figure, html};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "sample-report".into()));
    fs::create_dir_all(&folder)?;
    let contents = [
        ("logistic-11", sample::logistic_11()),
        ("logistic-61", sample::logistic_61()),
        ("mixture-10", sample::mixture_10()),
        ("hostile", sample::hostile()),
    ];
    for (name, content) in contents {
        let start = Instant::now();
        let page = html(&content);
        println!("{name}.html: {} kB in {:.0?}", page.len() / 1000, start.elapsed());
        fs::write(folder.join(format!("{name}.html")), page)?;
        for figure_name in FigureName::PLAIN {
            if let Some(svg) = figure(&content, &figure_name) {
                fs::write(folder.join(format!("{name}-{figure_name}.svg")), svg)?;
            }
            #[cfg(feature = "png")]
            if let Ok(image) = elinvar_report::png(&content, &figure_name, 2.0) {
                fs::write(folder.join(format!("{name}-{figure_name}.png")), image)?;
            }
        }
    }
    Ok(())
}
