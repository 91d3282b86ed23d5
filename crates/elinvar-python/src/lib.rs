//! The compiled part of the Python package `elinvar`: models whose log density is a Python callable or a C function,
//! fits of them, and what a fit knows. Names, shapes and everything that people see are in `python/elinvar`.

mod address;
mod fit;
mod model;
mod shards;
mod stan;
mod stop;
mod table;

use pyo3::prelude::*;

#[pymodule]
fn _elinvar(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<fit::Fit>()?;
    module.add_class::<stop::Stop>()?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(fit::compare, module)?)?;
    module.add_function(wrap_pyfunction!(model::evaluate, module)?)?;
    module.add_class::<table::Shown>()?;
    module.add_function(wrap_pyfunction!(table::fit_table, module)?)?;
    Ok(())
}
