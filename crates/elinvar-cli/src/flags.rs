//! Flags laid over the settings of a file.

use crate::error::Failure;
use elinvar::Plan;
use elinvar::rule::{Printed, PrintedStep, Rule, StepSize};
use elinvar::run::Correct;
use elinvar::target::Covariance;
use elinvar_analysis::settings::value::{PriorFlag, with_option};
use elinvar_analysis::settings::{DataSettings, FamilySettings, ModelSettings, Settings, StartSettings, read};
use elinvar_data::Scaling;

use crate::fit_args::FitArgs;

/// `to` becomes `from` where `from` is given.
fn set<T: Clone>(to: &mut Option<T>, from: &Option<T>) {
    if from.is_some() {
        to.clone_from(from);
    }
}

/// The settings of the file that is named, if one is, and the flags over them.
pub(crate) fn settings(args: &FitArgs) -> Result<Settings, Failure> {
    let mut settings = args.config.as_deref().map(read).transpose()?.unwrap_or_default();
    over_data(&mut settings.data, args);
    over_model(&mut settings.model, args);
    if args.config.is_none() && args.model.is_none() && args.file.is_none() && args.target.is_none() {
        settings.set_example();
    }
    over_family(&mut settings.family, args);
    over_plan(&mut settings.plan, args);
    over_start(&mut settings.start, args);
    set(&mut settings.diagnostic_draws, &args.diagnostic_draws);
    let out = args.out.as_ref().map(|path| path.display().to_string());
    set(&mut settings.output.out, &out);
    settings.output.json |= args.json;
    settings.output.quiet |= args.quiet;
    set(&mut settings.output.quantiles, &args.quantiles);
    settings.output.ratios |= args.ratios;
    settings.output.overwrite |= args.overwrite;
    Ok(settings)
}

/// The rule with what was said about it; `printed` brings the rest of its preset.
fn over_rule(plan: &mut Plan, args: &FitArgs) {
    if let Some(rule) = args.rule {
        if rule.printed().is_none() {
            plan.rule = rule;
        } else if plan.rule.printed().is_none() {
            *plan = plan.as_printed();
        }
    }
    if let Rule::Printed(options) = &mut plan.rule {
        for option in &args.printed {
            // It was tried when it was read.
            *options = with_option(*options, option).unwrap_or(*options);
        }
    }
    match (&mut plan.rule, args.momentum) {
        (Rule::NaturalMomentum { gamma }, Some(given))
        | (Rule::Printed(Printed { step: PrintedStep::Momentum { gamma }, .. }), Some(given)) => *gamma = given,
        _ => {}
    }
    match (&mut plan.rule, args.bias_correction) {
        (Rule::AdamLike(rule), Some(given))
        | (Rule::Printed(Printed { step: PrintedStep::AdamLike(rule), .. }), Some(given)) => {
            rule.bias_correction = given;
        }
        _ => {}
    }
}

fn over_start(start: &mut StartSettings, args: &FitArgs) {
    set(&mut start.at, &args.start);
    set(&mut start.covariance, &args.start_covariance);
    if args.no_search {
        start.search = Some(false);
    }
}

fn over_plan(plan: &mut Plan, args: &FitArgs) {
    over_rule(plan, args);
    plan.seed = args.seed.unwrap_or(plan.seed);
    plan.n_draws = args.draws_per_step.unwrap_or(plan.n_draws);
    plan.restarts = args.restarts.unwrap_or(plan.restarts);
    if args.correct {
        plan.correct = Correct::Always;
    } else if args.uncorrected {
        plan.correct = Correct::Never;
    }
    plan.minibatch = args.minibatch.or(plan.minibatch);
    plan.curvature = args.curvature.unwrap_or(plan.curvature);
    plan.weights = args.weights.unwrap_or(plan.weights);
    plan.noise = args.noise.unwrap_or(plan.noise);
    plan.sampling = args.sampling.unwrap_or(plan.sampling);
    plan.shape = args.shape_estimator.unwrap_or(plan.shape);
    plan.max_kl = args.max_kl.map_or(plan.max_kl, |bound| bound.0);
    plan.average &= !args.no_average;
    if let Some(beta) = args.step_size {
        plan.step_size = StepSize::Constant(beta);
        plan.mixing_step_size = StepSize::Constant(beta);
    }
    if let Some(beta) = args.mixing_step_size {
        plan.mixing_step_size = StepSize::Constant(beta);
    }
    plan.stop.max_steps = args.max_steps.map_or(plan.stop.max_steps, |n| n as u64);
    plan.stop.max_evaluations = args.max_evals.unwrap_or(plan.stop.max_evaluations);
    plan.stop.max_seconds = args.max_seconds.or(plan.stop.max_seconds);
    plan.stop.remaining_nats = args.tolerance.unwrap_or(plan.stop.remaining_nats);
    plan.stop.mean_within = args.mean_within.unwrap_or(plan.stop.mean_within);
}

fn over_data(data: &mut DataSettings, args: &FitArgs) {
    let before = data.clone();
    if let Some(file) = &args.file {
        (data.file, data.example) = (Some(file.display().to_string()), None);
    }
    set(&mut data.array, &args.array);
    if args.stream {
        data.stream = Some(true);
    }
    set(&mut data.memory, &args.memory);
    set(&mut data.cache, &args.cache.as_ref().map(|folder| folder.display().to_string()));
    if args.formula.is_some() {
        (data.target, data.features, data.exclude, data.intercept) = (None, None, None, None);
        (data.categorical, data.category) = (None, None);
        data.formula.clone_from(&args.formula);
    } else if args.target.is_some() || args.features.is_some() || args.exclude.is_some() {
        data.formula = None;
    }
    set(&mut data.target, &args.target);
    if args.features.is_some() || args.exclude.is_some() {
        (data.features, data.exclude) = (args.features.clone(), args.exclude.clone());
    }
    if args.no_intercept {
        data.intercept = Some(false);
    }
    set(&mut data.missing, &args.missing);
    set(&mut data.categorical, &args.categorical);
    set(&mut data.category, &args.category);
    if args.standardize {
        data.scaling = Some(Scaling::Standardize);
    }
    if args.scale {
        data.scaling = Some(Scaling::Scale);
    }
    let shown = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let (test_rows, train_rows) = (shown(&args.test_rows), shown(&args.train_rows));
    if args.test_fraction.is_some() || test_rows.is_some() || train_rows.is_some() {
        (data.test_fraction, data.test_rows, data.train_rows) = (args.test_fraction, test_rows, train_rows);
    }
    set(&mut data.split_seed, &args.split_seed);
    // Other data have another fingerprint.
    if *data != before {
        (data.rows, data.fingerprint) = (None, None);
    }
}

fn over_model(model: &mut ModelSettings, args: &FitArgs) {
    if args.model.is_some() && args.model != model.name {
        *model = ModelSettings { name: args.model, ..ModelSettings::default() };
    }
    if args.prior_precision.is_some() || args.prior_sd.is_some() {
        (model.prior_precision, model.prior_sd) = (args.prior_precision, args.prior_sd);
    }
    let mut statements = Vec::new();
    for flag in &args.prior {
        match flag {
            PriorFlag::Kind(kind) => model.prior = Some(kind),
            PriorFlag::Statements(stated) => statements.extend(stated.iter().cloned()),
        }
    }
    if !statements.is_empty() {
        model.priors = Some(statements);
    }
    set(&mut model.prior_shape, &args.prior_shape.or(args.prior_df.map(|df| 0.5 * df)));
    set(&mut model.sigma_scale, &args.sigma_scale);
    set(&mut model.noise_precision, &args.noise_precision);
    set(&mut model.exposure, &args.exposure);
    set(&mut model.concentration, &args.concentration);
    set(&mut model.hidden, &args.hidden);
    set(&mut model.activation, &args.activation);
    set(&mut model.likelihood, &args.likelihood);
}

fn over_family(family: &mut FamilySettings, args: &FitArgs) {
    if args.family.is_some() && args.family != family.name {
        *family = FamilySettings { name: args.family, ..FamilySettings::default() };
    }
    set(&mut family.covariance, &args.covariance);
    if args.mean_field {
        family.covariance = Some(Covariance::Diagonal);
    }
    set(&mut family.components, &args.components);
    set(&mut family.rank, &args.rank);
    set(&mut family.directions, &args.directions);
    set(&mut family.shape, &args.shape.or(args.df));
    set(&mut family.lambda, &args.lambda);
    set(&mut family.component, &args.component);
    set(&mut family.other_component, &args.other_component);
    set(&mut family.law, &args.law);
    set(&mut family.dims, &args.dims);
    set(&mut family.update, &args.update);
    if args.product {
        family.product = Some(true);
    }
    family.constant.extend(args.constant.iter().cloned());
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use elinvar::rule::{AdamLike, BiasCorrection};

    use super::*;
    use crate::args::{Cli, Command};

    fn settings(words: &[&str]) -> Settings {
        let cli = Cli::try_parse_from([&["elinvar", "fit"], words].concat()).unwrap();
        match cli.command {
            Command::Fit(args) => super::settings(&args).unwrap(),
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
            ("stream", ""),
            ("array", "x"),
            ("standardize", ""),
            ("scale", ""),
            ("test-fraction", "0.2"),
            ("split-seed", "3"),
            ("test-rows", "f"),
            ("train-rows", "f"),
            ("exposure", "e"),
            ("concentration", "2"),
            ("prior", "student_t"),
            ("prior-shape", "3"),
            ("prior-df", "7"),
            ("prior-precision", "2"),
            ("prior-sd", "2"),
            ("sigma-scale", "2"),
            ("noise-precision", "2"),
            ("hidden", "3,4"),
            ("activation", "tanh"),
            ("likelihood", "binary"),
            ("family", "mog"),
            ("components", "4"),
            ("rank", "2"),
            ("directions", "2"),
            ("shape", "learn"),
            ("df", "8"),
            ("lambda", "3"),
            ("component", "gamma"),
            ("other-component", "log_normal"),
            ("law", "logistic"),
            ("constant", "a=2"),
            ("product", ""),
            ("dims", "2x3"),
            ("update", "paper_literal"),
            ("covariance", "diagonal"),
            ("mean-field", ""),
            ("seed", "5"),
            ("draws-per-step", "7"),
            ("max-steps", "9"),
            ("max-evals", "5e6"),
            ("max-seconds", "4"),
            ("mean-within", "0.05"),
            ("tolerance", "0.1"),
            ("restarts", "2"),
            ("minibatch", "8"),
            ("rule", "natural_gradient"),
            ("step-size", "0.3"),
            ("mixing-step-size", "0.1"),
            ("curvature", "stein"),
            ("mixing-step-size", "0.2"),
            ("max-kl", "none"),
            ("no-average", ""),
            ("weights", "sampled"),
            ("noise", "independent"),
            ("sampling", "whole"),
            ("shape-estimator", "ratio"),
            ("start", "normal(0, 10)"),
            ("start-covariance", "100"),
            ("no-search", ""),
            ("diagnostic-draws", "500"),
            ("correct", ""),
            ("uncorrected", ""),
            ("out", "d"),
            ("overwrite", ""),
            ("quantiles", "5,50,95"),
            ("ratios", ""),
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
        // Those that need another one: `rules_have_flags_of_their_own`, `streams_have_flags_of_their_own`.
        let others = ["momentum", "bias-correction", "printed", "memory", "cache"];
        let known: Vec<&str> = values.iter().map(|(flag, _)| *flag).chain(["config", "help"]).chain(others).collect();
        flags.for_each(|flag| assert!(known.contains(&flag), "--{flag} is not tested here"));
    }

    #[test]
    fn degrees_of_freedom_are_twice_the_shape() {
        let of = |words: &[&str]| (settings(words).model.prior_shape, settings(words).family.shape);
        assert_eq!(of(&["--prior-df", "7"]), of(&["--prior-shape", "3.5"]));
        assert_eq!(of(&["--df", "8"]), of(&["--shape", "4"]));
        assert_eq!(of(&["--df", "learn"]), of(&["--shape", "learn"]));
        for refused in [["--df", "2"], ["--prior-df", "0"], ["--df", "x"]] {
            assert!(Cli::try_parse_from([&["elinvar", "fit"], &refused[..]].concat()).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn rules_have_flags_of_their_own() {
        let momentum = settings(&["--rule", "natural_momentum", "--momentum", "0.25"]).plan;
        assert_eq!(momentum.rule, Rule::NaturalMomentum { gamma: 0.25 });
        let corrected = settings(&["--rule", "adam_like", "--bias-correction", "none"]).plan.rule;
        let rule = AdamLike { bias_correction: BiasCorrection::None, ..AdamLike::default() };
        assert_eq!(corrected, Rule::AdamLike(rule));
        let words =
            ["--rule", "printed", "--printed", "on_leaving=halve", "--step-size", "0.02", "--weights", "marginal"];
        let printed = settings(&words);
        let options = printed.plan.rule.printed().unwrap();
        assert_eq!(options.on_leaving, elinvar::rule::OnLeaving::Halve);
        assert_eq!((printed.plan.n_draws, printed.plan.max_kl, printed.plan.average), (10, None, false));
        assert_eq!(printed.plan.weights, elinvar::estimate::MixingWeights::Marginal);
        assert_eq!(printed.plan.mixing_step_size, StepSize::Constant(0.02));
        let text = printed.text().unwrap();
        assert_eq!(toml::from_str::<Settings>(&text).unwrap(), printed, "{text}");
    }

    #[test]
    fn streams_have_flags_of_their_own() {
        let streamed = settings(&["logistic", "f.csv", "--stream", "--memory", "64", "--cache", "d"]);
        assert_eq!((streamed.data.memory, streamed.data.cache.as_deref()), (Some(64), Some("d")));
        assert_eq!(toml::from_str::<Settings>(&streamed.text().unwrap()).unwrap(), streamed);
        for flag in [["--memory", "64"], ["--cache", "d"]] {
            assert!(Cli::try_parse_from([&["elinvar", "fit"], &flag[..]].concat()).is_err(), "{flag:?}");
        }
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
