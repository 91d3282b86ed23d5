//! Known values of the log joint densities, by which the models are recognised before anything is fitted.
//!
//! The values are those of the check points of the collection; the points themselves, rows of the reference draws, are
//! read from its files.

use super::problem::Problem;
use super::reference::Reference;

/// Where a value is known.
enum Place {
    /// At a row of the reference draws, counted from zero.
    Row(usize),
    /// At given parameters.
    Point(&'static [f64]),
}

use Place::{Point, Row};

struct CheckPoint {
    posterior: &'static str,
    place: Place,
    log_joint: f64,
}

/// Relative to the size of the value; the reference draws have ten or more digits.
const TOLERANCE: f64 = 1e-8;

#[rustfmt::skip]
const CHECK_POINTS: &[CheckPoint] = &[
    CheckPoint { posterior: "eight_schools-eight_schools_noncentered", place: Row(0), log_joint: -52.451_324_714_084_77 },
    CheckPoint { posterior: "eight_schools-eight_schools_noncentered", place: Row(499), log_joint: -49.628_965_272_186_15 },
    CheckPoint { posterior: "kidiq-kidscore_momiq", place: Row(0), log_joint: -1_882.513_795_812_034_5 },
    CheckPoint { posterior: "kidiq-kidscore_momiq", place: Row(499), log_joint: -1_882.639_672_738_040_4 },
    CheckPoint { posterior: "earnings-earn_height", place: Row(0), log_joint: -13_426.141_996_629_274 },
    CheckPoint { posterior: "earnings-earn_height", place: Row(499), log_joint: -13_427.920_062_188_645 },
    CheckPoint { posterior: "earnings-logearn_height_male", place: Row(0), log_joint: -1_539.397_773_010_394_3 },
    CheckPoint { posterior: "earnings-logearn_height_male", place: Row(499), log_joint: -1_540.624_318_724_104_6 },
    CheckPoint { posterior: "nes1980-nes", place: Row(0), log_joint: -1_418.931_915_743_387 },
    CheckPoint { posterior: "nes1980-nes", place: Row(499), log_joint: -1_416.295_535_688_532_5 },
    CheckPoint { posterior: "mesquite-mesquite", place: Row(0), log_joint: -320.545_849_797_213 },
    CheckPoint { posterior: "mesquite-mesquite", place: Row(499), log_joint: -320.578_113_273_885_4 },
    CheckPoint { posterior: "sblri-blr", place: Row(0), log_joint: -154.217_788_719_874_22 },
    CheckPoint { posterior: "sblri-blr", place: Row(499), log_joint: -158.940_575_046_708_94 },
    CheckPoint { posterior: "kilpisjarvi_mod-kilpisjarvi", place: Row(0), log_joint: -97.162_337_633_349_96 },
    CheckPoint { posterior: "kilpisjarvi_mod-kilpisjarvi", place: Row(499), log_joint: -103.009_708_155_900_77 },
    CheckPoint { posterior: "arK-arK", place: Row(0), log_joint: 71.507_775_215_572_61 },
    CheckPoint { posterior: "arK-arK", place: Row(499), log_joint: 75.018_872_984_101_45 },
    CheckPoint { posterior: "arma-arma11", place: Row(0), log_joint: 64.231_277_181_565_13 },
    CheckPoint { posterior: "arma-arma11", place: Row(499), log_joint: 67.305_660_158_008_41 },
    CheckPoint { posterior: "low_dim_gauss_mix-low_dim_gauss_mix", place: Row(0), log_joint: -2_106.149_443_447 },
    CheckPoint { posterior: "low_dim_gauss_mix-low_dim_gauss_mix", place: Row(499), log_joint: -2_107.070_450_304_613_6 },
    CheckPoint { posterior: "gp_pois_regr-gp_pois_regr", place: Point(PROCESS), log_joint: -356.678_513_923_932_37 },
];

/// ρ, α and f̃ of the Gaussian process.
const PROCESS: &[f64] = &[5.5, 3.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1];

/// Checks the log joint density of a posterior; returns the largest relative error.
pub(crate) fn check(name: &str, problem: &Problem, reference: &Reference) -> Result<f64, String> {
    let mut largest = None;
    for point in CHECK_POINTS.iter().filter(|point| point.posterior == name) {
        let parameters = match point.place {
            Row(row) => reference.draw(row)?,
            Point(parameters) => parameters,
        };
        let found = problem.log_joint(parameters)?;
        let error = (found - point.log_joint).abs() / point.log_joint.abs();
        if error.is_nan() || error > TOLERANCE {
            return Err(format!("{name}: the log joint density is {found} where {} is known", point.log_joint));
        }
        largest = Some(error.max(largest.unwrap_or(0.0)));
    }
    largest.ok_or_else(|| format!("{name}: no value of the log joint density is known"))
}
