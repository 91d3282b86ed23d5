//! Prints what elinvar sees in a file: `cargo run -p elinvar-data --example describe FILE [ARRAY]`.

use elinvar_data::{Reading, describe};

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(file) = args.next() else {
        eprintln!("name a file");
        std::process::exit(2);
    };
    match describe(&file, &Reading { array: args.next(), ..Reading::default() }) {
        Ok(description) => print!("{description}"),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}
