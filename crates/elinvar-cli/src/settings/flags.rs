//! Flags laid over the settings of a file.

use elinvar::rule::StepSize;
use elinvar_data::Scaling;

use super::{DataSettings, FamilySettings, ModelName, ModelSettings, Settings, read};
use crate::error::Failure;
use crate::fit_args::FitArgs;

/// The embedded table of `elinvar fit` without a model.
pub(crate) const EXAMPLE: &str = "breast_cancer";

/// `to` becomes `from` where `from` is given.
fn set<T: Clone>(to: &mut Option<T>, from: &Option<T>) {
    if from.is_some() {
        to.clone_from(from);
    }
}

impl Settings {
    /// The settings of the file that is named, if one is, and the flags over them.
    pub(crate) fn of_flags(args: &FitArgs) -> Result<Self, Failure> {
        let mut settings = args.config.as_deref().map(read).transpose()?.unwrap_or_default();
        settings.data.lay_over(args);
        settings.model.lay_over(args);
        if args.config.is_none() && args.model.is_none() && args.file.is_none() && args.target.is_none() {
            settings.data.example = Some(EXAMPLE);
            settings.model.name = Some(ModelName::Logistic);
            if !settings.model.has_prior() {
                settings.model.prior_precision = Some(1.0);
            }
        }
        settings.family.lay_over(args);
        settings.lay_plan_over(args);
        set(&mut settings.diagnostic_draws, &args.diagnostic_draws);
        let out = args.out.as_ref().map(|path| path.display().to_string());
        set(&mut settings.output.out, &out);
        settings.output.json |= args.json;
        settings.output.quiet |= args.quiet;
        Ok(settings)
    }

    fn lay_plan_over(&mut self, args: &FitArgs) {
        let plan = &mut self.plan;
        plan.seed = args.seed.unwrap_or(plan.seed);
        plan.n_draws = args.draws_per_step.unwrap_or(plan.n_draws);
        plan.restarts = args.restarts.unwrap_or(plan.restarts);
        plan.minibatch = args.minibatch.or(plan.minibatch);
        plan.rule = args.rule.unwrap_or(plan.rule);
        plan.curvature = args.curvature.unwrap_or(plan.curvature);
        if let Some(beta) = args.step_size {
            plan.step_size = StepSize::Constant(beta);
            plan.mixing_step_size = StepSize::Constant(beta);
        }
        plan.stop.max_steps = args.max_steps.map_or(plan.stop.max_steps, |n| n as u64);
        plan.stop.max_evaluations = args.max_evals.unwrap_or(plan.stop.max_evaluations);
        plan.stop.max_seconds = args.max_seconds.or(plan.stop.max_seconds);
        plan.stop.remaining_nats = args.tolerance.unwrap_or(plan.stop.remaining_nats);
    }
}

impl DataSettings {
    fn lay_over(&mut self, args: &FitArgs) {
        let before = self.clone();
        if let Some(file) = &args.file {
            (self.file, self.example) = (Some(file.display().to_string()), None);
        }
        set(&mut self.array, &args.array);
        set(&mut self.target, &args.target);
        if args.features.is_some() || args.exclude.is_some() {
            (self.features, self.exclude) = (args.features.clone(), args.exclude.clone());
        }
        if args.no_intercept {
            self.intercept = Some(false);
        }
        set(&mut self.missing, &args.missing);
        set(&mut self.categorical, &args.categorical);
        set(&mut self.category, &args.category);
        if args.standardize {
            self.scaling = Some(Scaling::Standardize);
        }
        if args.scale {
            self.scaling = Some(Scaling::Scale);
        }
        let shown = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let (test_rows, train_rows) = (shown(&args.test_rows), shown(&args.train_rows));
        if args.test_fraction.is_some() || test_rows.is_some() || train_rows.is_some() {
            (self.test_fraction, self.test_rows, self.train_rows) = (args.test_fraction, test_rows, train_rows);
        }
        set(&mut self.split_seed, &args.split_seed);
        // Other data have another fingerprint.
        if *self != before {
            (self.rows, self.fingerprint) = (None, None);
        }
    }
}

impl ModelSettings {
    fn lay_over(&mut self, args: &FitArgs) {
        if args.model.is_some() && args.model != self.name {
            *self = Self { name: args.model, ..Self::default() };
        }
        if args.prior_precision.is_some() || args.prior_sd.is_some() {
            (self.prior_precision, self.prior_sd) = (args.prior_precision, args.prior_sd);
        }
        set(&mut self.sigma_scale, &args.sigma_scale);
        set(&mut self.exposure, &args.exposure);
        set(&mut self.concentration, &args.concentration);
        set(&mut self.hidden, &args.hidden);
        set(&mut self.activation, &args.activation);
        set(&mut self.likelihood, &args.likelihood);
    }
}

impl FamilySettings {
    fn lay_over(&mut self, args: &FitArgs) {
        if args.family.is_some() && args.family != self.name {
            *self = Self { name: args.family, ..Self::default() };
        }
        set(&mut self.covariance, &args.covariance);
        set(&mut self.components, &args.components);
        set(&mut self.rank, &args.rank);
        set(&mut self.shape, &args.shape);
        set(&mut self.lambda, &args.lambda);
        set(&mut self.component, &args.component);
        set(&mut self.law, &args.law);
        set(&mut self.dims, &args.dims);
        if args.product {
            self.product = Some(true);
        }
        self.constant.extend(args.constant.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::args::{Cli, Command};

    fn settings(words: &[&str]) -> Settings {
        let cli = Cli::try_parse_from([&["elinvar", "fit"], words].concat()).unwrap();
        match cli.command {
            Command::Fit(args) => Settings::of_flags(&args).unwrap(),
            _ => unreachable!("the word is fit"),
        }
    }

    #[test]
    fn every_flag_has_a_key() {
        let values = [
            ("target", "y"),
            ("features", "a,b"),
            ("exclude", "a"),
            ("no-intercept", ""),
            ("missing", "drop"),
            ("categorical", "indicators"),
            ("category", "a"),
            ("array", "x"),
            ("standardize", ""),
            ("scale", ""),
            ("test-fraction", "0.2"),
            ("split-seed", "3"),
            ("test-rows", "f"),
            ("train-rows", "f"),
            ("exposure", "e"),
            ("concentration", "2"),
            ("prior-precision", "2"),
            ("prior-sd", "2"),
            ("sigma-scale", "2"),
            ("hidden", "3,4"),
            ("activation", "tanh"),
            ("likelihood", "binary"),
            ("family", "mog"),
            ("components", "4"),
            ("rank", "2"),
            ("shape", "learn"),
            ("lambda", "3"),
            ("component", "gamma"),
            ("law", "logistic"),
            ("constant", "a=2"),
            ("product", ""),
            ("dims", "2x3"),
            ("covariance", "diagonal"),
            ("seed", "5"),
            ("draws-per-step", "7"),
            ("max-steps", "9"),
            ("max-evals", "5e6"),
            ("max-seconds", "4"),
            ("tolerance", "0.1"),
            ("restarts", "2"),
            ("minibatch", "8"),
            ("rule", "natural_gradient"),
            ("step-size", "0.3"),
            ("curvature", "stein"),
            ("diagnostic-draws", "500"),
            ("out", "d"),
            ("json", ""),
            ("quiet", ""),
        ];
        let plain = settings(&["logistic", "f.csv"]);
        for (flag, value) in values {
            let flag = format!("--{flag}");
            let mut words = vec!["logistic", "f.csv", flag.as_str()];
            words.extend((!value.is_empty()).then_some(value));
            let with_flag = settings(&words);
            assert_ne!(with_flag, plain, "{flag}");
            // The key is in the file, and the file says the same.
            let text = with_flag.text().unwrap();
            assert_eq!(toml::from_str::<Settings>(&text).unwrap(), with_flag, "{flag}\n{text}");
        }
        let command = Cli::command();
        let fit = command.find_subcommand("fit").unwrap();
        let flags = fit.get_arguments().filter_map(|arg| arg.get_long());
        let known: Vec<&str> = values.iter().map(|(flag, _)| *flag).chain(["config", "help"]).collect();
        flags.for_each(|flag| assert!(known.contains(&flag), "--{flag} is not tested here"));
    }

    #[test]
    fn flags_have_the_last_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.toml");
        let text = "[data]\nfile = \"a.csv\"\ntarget = \"y\"\nexclude = [\"b\"]\nfingerprint = \"f\"\n[model]\nname = \"linear\"\n\
                    prior_precision = 4\n[family]\nname = \"mog\"\ncomponents = 5\n[plan]\nseed = 9\n";
        std::fs::write(&path, text).unwrap();
        let config = path.to_str().unwrap();
        let settings = settings(&["--config", config, "--features", "c", "--prior-sd", "3", "--family", "rank_k"]);
        assert_eq!((settings.data.exclude, settings.data.features), (None, Some(vec!["c".to_string()])));
        assert_eq!((settings.data.fingerprint, settings.data.file.as_deref()), (None, Some("a.csv")));
        assert_eq!((settings.model.prior_precision, settings.model.prior_sd), (None, Some(3.0)));
        assert_eq!((settings.family.name, settings.family.components), (Some("rank_k"), None));
        assert_eq!(settings.plan.seed, 9);
    }
}
