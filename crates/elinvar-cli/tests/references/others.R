# What other algorithms of rstanarm make of some tables, against the references: Rscript others.R writes others.csv
# The default model with its default priors each time: ADVI (meanfield and fullrank), a normal law around the mode
# (optimizing), and NUTS as it comes, 4 chains of 1,000 draws. Gradients are known of NUTS alone, without warming up.
suppressPackageStartupMessages({ library(rstanarm); library(rstan) })
invisible(Sys.setlocale("LC_COLLATE", "C"))
options(mc.cores = 1)
fits <- read.csv("fits.csv", sep = ";", stringsAsFactors = FALSE)
references <- read.csv("references.csv", stringsAsFactors = FALSE)
families <- list(linear = gaussian(), logistic = binomial(), poisson = poisson(), gamma = Gamma(link = "log"))
found <- NULL
for (name in c("houses", "groceries", "claims", "visits", "churn", "separable", "pressure", "stays", "wine")) {
  fit <- fits[fits$name == name, ]
  reference <- references[references$fit == name, ]
  table <- read.csv(file.path("tables", fit$table), stringsAsFactors = TRUE)
  formula <- as.formula(fit$formula)
  for (algorithm in c("meanfield", "fullrank", "optimizing", "sampling")) {
    began <- proc.time()[["elapsed"]]
    call <- list(formula, data = table, algorithm = algorithm, seed = 1, refresh = 0)
    run <- try(suppressWarnings(if (fit$model == "negative_binomial") do.call(stan_glm.nb, call) else
      do.call(stan_glm, c(call, list(family = families[[fit$model]])))), silent = TRUE)
    seconds <- proc.time()[["elapsed"]] - began
    if (inherits(run, "try-error")) {
      found <- rbind(found, data.frame(fit = name, algorithm, mean_off = NA, log_sd_off = NA, gradients = NA, seconds = round(seconds, 2)))
      next
    }
    draws <- as.matrix(run)
    shared <- intersect(reference$parameter, colnames(draws))
    draws <- draws[, shared, drop = FALSE]
    of <- reference[match(shared, reference$parameter), ]
    off <- max(abs(colMeans(draws) - of$mean) / of$sd)
    wider <- log(apply(draws, 2, sd) / of$sd)
    widest <- if (any(is.finite(wider))) wider[which.max(abs(wider))] else NA
    gradients <- NA
    if (algorithm == "sampling") gradients <- sum(sapply(get_sampler_params(run$stanfit), function(chain) sum(chain[, "n_leapfrog__"])))
    found <- rbind(found, data.frame(fit = name, algorithm, mean_off = round(off, 3), log_sd_off = round(widest, 3),
      gradients, seconds = round(seconds, 2)))
    write.csv(found, "others.csv", row.names = FALSE)
  }
}
