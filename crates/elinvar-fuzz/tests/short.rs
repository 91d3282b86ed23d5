//! A short run for every reader, the corpus included.

use std::process::Command;

#[test]
fn no_reader_is_harmed() {
    for reader in ["csv", "libsvm", "npy", "npz", "parquet", "rows", "config", "start", "fit", "journal", "checkpoint"]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_elinvar-fuzz")).args([reader, "1000x", "7"]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{reader}: {}{}", text(&output.stdout), text(&output.stderr));
    }
}
