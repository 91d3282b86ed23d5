//! What is to be done, checked: the model over its rows, the family and the plan.

use std::ops::ControlFlow;

use elinvar::family::{Approximation, Kind};
use elinvar::rule::{AdamLike, BiasCorrection, Printed, PrintedStep, Rule};
use elinvar::run::{Kept, Step, fit_from_journaled, fit_journaled};
use elinvar::target::Target;
use elinvar::{Family, Plan};

use crate::analysis::Analysis;
use crate::error::Error;
use crate::family::{AUTO, family};
use crate::formula::Recipe;
use crate::held_out::HeldOut;
use crate::models::{Model, ModelName, UnderT, UsualFamily, check_owners, check_priors};
use crate::quantiles;
use crate::rows::{self, Loaded, Rows};
use crate::settings::{STUDENT_T, Settings};
use crate::size;
use crate::start;
use crate::stream::{self, Pass, Streamed};
use crate::wide;

/// A fit that can be started.
pub struct Job {
    pub(crate) model: Box<dyn Model>,
    pub(crate) rows: Rows,
    /// Rows on which the fit is tested.
    pub(crate) held_out: Option<HeldOut>,
    pub(crate) family: Family,
    pub(crate) plan: Plan,
    pub(crate) diagnostic_draws: usize,
    /// Where the fit begins, if not where a search leads.
    start: Option<Approximation>,
    /// Choices that were made and are worth a sentence.
    pub(crate) notes: Vec<String>,
    settings: Settings,
    quantiles: Vec<f64>,
    /// Whether the page shows e^β.
    pub(crate) shows_ratios: bool,
    /// Whether an earlier fit in the run folder is replaced.
    pub(crate) overwrites: bool,
}

impl Job {
    /// Checks everything that can be checked before the first draw.
    ///
    /// # Errors
    /// A sentence about the first setting, file or value that will not do.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        Self::new_watched(settings, |_| ())
    }

    /// The same, with somebody who sees every pass over rows that are not in memory, from the first on, which is made
    /// here.
    ///
    /// # Errors
    /// As [`Job::new`].
    pub fn new_watched(settings: &Settings, watch: impl Fn(&Pass) + Send + Sync + 'static) -> Result<Self, Error> {
        let name = settings.model.name.unwrap_or(ModelName::DEFAULT);
        let entry = name.entry();
        let mut asked = settings.family.clone();
        if settings.model.prior == Some(STUDENT_T) && asked.name.is_none_or(|name| name == AUTO) {
            // No other family shares its scale with the prior.
            asked.name = Some(STUDENT_T);
        }
        if entry.usual_family != UsualFamily::OwnStart {
            // What needs no data comes first.
            family(&asked, entry, None)?;
        }
        check_owners(settings, name)?;
        let (rows, model, test) = if settings.data.stream == Some(true) {
            let Streamed { rows, model, held_out } = stream::load(settings, name, Box::new(watch))?;
            check_priors(settings, name, &rows.columns)?;
            (rows, model, held_out.map(HeldOut::Streamed))
        } else {
            let Loaded { rows, train, test } = rows::load(settings, name)?;
            check_priors(settings, name, &rows.columns)?;
            size::check_network(settings, name, &train)?;
            let model = (entry.make)(&settings.model, train, &rows.transforms).map_err(Error::of_fit)?;
            (rows, model, test.map(|test| HeldOut::Rows(Box::new(test))))
        };
        if settings.output.ratios && model.regression().is_none_or(|rows| rows.response.ratio().is_none()) {
            return Err(Error::NoRatios { model: name.name() });
        }
        let model = UnderT::where_asked(model, &settings.model);
        let mut family = family(&asked, entry, model.layers().as_ref())?;
        size::check_wide(settings, &family, &*model, rows.n_rows)?;
        let mut plan = settings.plan.clone();
        plan.max_draws = size::largest_draws(&plan, &family, model.target().dim());
        let of_rule = choose_bias_correction(&mut plan, model.target());
        let notes = wide::sentence(&*model, rows.n_rows).into_iter().chain(of_rule).collect();
        size::check(settings, name, &family, model.target().dim(), rows.n_rows)?;
        family.check().map_err(Error::Refused)?;
        let mut resolved_plan = plan.resolve(model.target()).map_err(Error::Refused)?;
        if matches!(family.kind, Kind::Gaussian | Kind::Auto) {
            // Of a Gaussian `auto` means another way than the curvature that it comes to, so the word is kept: the
            // settings of a run make the same bits.
            resolved_plan.curvature = plan.curvature;
        }
        let start = match start::named(settings, model.target(), family)? {
            Some(start) => Some(start),
            None => model.start(family, plan.seed).map_err(Error::Refused)?,
        };
        if let Some(start) = &start {
            family = start.family();
        }
        let diagnostic_draws = settings.diagnostic_draws_for(model.target());
        let resolved = settings.resolved(name, &rows, &*model, &family, &resolved_plan);
        let quantiles = settings
            .output
            .quantiles
            .as_ref()
            .map_or(quantiles::USUAL.to_vec(), |percents| percents.iter().map(|percent| percent / 100.0).collect());
        let (shows_ratios, overwrites) = (settings.output.ratios, settings.output.overwrite);
        Ok(Self {
            quantiles,
            shows_ratios,
            overwrites,
            model,
            rows,
            held_out: test,
            family,
            plan,
            diagnostic_draws,
            start,
            notes,
            settings: resolved,
        })
    }

    /// What is fitted.
    pub fn target(&self) -> &dyn Target {
        self.model.target()
    }

    /// How it is fitted.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The settings with every choice made: they make the same fit again.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Probabilities of the quantiles that are shown.
    pub(crate) fn quantiles(&self) -> &[f64] {
        &self.quantiles
    }

    /// What e^β of a coefficient is called, if it has a name.
    pub(crate) fn ratio(&self) -> Option<&'static str> {
        self.model.regression().and_then(|rows| rows.response.ratio())
    }

    /// How a table becomes the design matrix of the model; `None` for a model of a single column.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.rows.recipe.as_ref()
    }

    /// Draws that the verdict rests on, at least.
    pub fn diagnostic_draws(&self) -> usize {
        self.diagnostic_draws
    }

    /// Fits and judges, or goes on with what the journal of `kept` has; `observe` sees every step.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the interrupt of `kept` ends the fit; otherwise what the model or the library says.
    pub fn fit<'k>(
        &self,
        observe: &mut dyn FnMut(&Step) -> ControlFlow<()>,
        kept: impl Into<Kept<'k>>,
    ) -> Result<Analysis, Error> {
        let (target, plan, kept) = (self.target(), &self.plan, kept.into());
        let fitted = match &self.start {
            Some(start) => fit_from_journaled(target, start.clone(), plan, observe, kept),
            None => fit_journaled(target, self.family, plan, observe, kept),
        };
        let posterior = fitted.map_err(Error::of_fit)?;
        Analysis::new_interruptibly(self, posterior, kept.interrupt.unwrap_or(&|| false))
    }
}

/// Has the Adam-like rule start s at the precision of the start where the boxes cannot start it at zero: they take the
/// precision of the prior alone, which some coordinates of the target do not have. Returns a sentence about it.
fn choose_bias_correction(plan: &mut Plan, target: &dyn Target) -> Option<String> {
    let about = target.about();
    let flat = (0..about.dim).find(|i| about.prior.precision(*i) == 0.0)?;
    match &mut plan.rule {
        Rule::AdamLike(rule) | Rule::Printed(Printed { step: PrintedStep::AdamLike(rule), .. })
            if *rule == AdamLike::default() =>
        {
            rule.bias_correction = BiasCorrection::MomentumOnly;
            let name = about.names.get(flat).map_or(String::new(), |name| format!(" ({name})"));
            Some(format!(
                "rule adam_like: a parameter{name} has no Gaussian prior for its precision to start from, so the \
                 running mean of squared gradients starts at the precision of the start, without bias correction \
                 (bias_correction = momentum_only)"
            ))
        }
        _ => None,
    }
}
