//! Everything that the reference vectors say about the families, the steps and the functions they rest on.
//!
//! The folder of vectors is named by `ELINVAR_VECTORS`; without it the copy beside this file is read. Any other vectors of the
//! same shape serve as well: dimensions, ranks, numbers of components, draws and cases come from the files.

mod vector_checks;
