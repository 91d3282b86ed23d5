# Fits every line of fits.csv by NUTS and writes references.csv: Rscript references.R [name …]
# rstanarm 2.21.3 with its default priors, where it has the model; elsewhere the programs in *.stan, with the priors that
# docs/formulas.md gives (its shares need a package that is not everywhere, its ordered classes have no default prior).
# Four chains of 2,000 draws after as many of warming up. With names, only those lines are made anew.
suppressPackageStartupMessages({ library(rstanarm); library(rstan) })
invisible(Sys.setlocale("LC_COLLATE", "C"))
options(mc.cores = 1)
# Debian keeps the headers of Boost outside of R.
if (dir.exists("/usr/include/boost")) rstan_options(boost_lib = "/usr/include")

programs <- c("ordinal", "student_t", "beta")
fits <- read.csv("fits.csv", sep = ";", stringsAsFactors = FALSE)
fits <- fits[fits$arguments == "", ] # the others are those of maximum.py
asked <- commandArgs(trailingOnly = TRUE)
kept <- if (file.exists("references.csv")) read.csv("references.csv", stringsAsFactors = FALSE, check.names = FALSE) else NULL

summaries <- function(draws) { # draws: iterations × chains × parameters
  t(apply(draws, 3, function(x) c(mean = mean(x), sd = sd(x), ess = ess_bulk(x), rhat = Rhat(x))))
}

by_program <- function(fit, formula, table) {
  y <- model.response(model.frame(formula, table))
  x <- model.matrix(formula, table)[, -1, drop = FALSE]
  centres <- colMeans(x)
  sds <- apply(x, 2, sd)
  given <- list(n = nrow(x), d = ncol(x), x = sweep(x, 2, centres), y = y)
  given$scale <- as.array(2.5 / sds * if (fit$model == "student_t") sd(y) else 1)
  if (fit$model == "ordinal") given$classes <- max(y)
  run <- stan(paste0(fit$model, ".stan"), data = given, chains = 4, iter = 4000, seed = 1, refresh = 0, control = list(adapt_delta = 0.95))
  draws <- as.array(run)
  names <- dimnames(draws)$parameters
  names[startsWith(names, "b[")] <- colnames(x)
  dimnames(draws)$parameters <- names
  if (fit$model != "ordinal") {
    draws[, , "centred"] <- draws[, , "centred"] - apply(draws[, , colnames(x), drop = FALSE], 1:2, function(b) sum(b * centres))
    dimnames(draws)$parameters[names == "centred"] <- "(Intercept)"
  }
  draws[, , dimnames(draws)$parameters != "lp__", drop = FALSE]
}

by_rstanarm <- function(fit, formula, table) {
  families <- list(linear = gaussian(), logistic = binomial(), binomial = binomial(), poisson = poisson(), gamma = Gamma(link = "log"))
  environment(formula) <- environment()
  # More columns than rows make a posterior that chains of the usual length do not know.
  iter <- if (fit$name == "spectra") 16000 else 4000
  call <- list(formula, data = table, chains = 4, iter = iter, seed = 1, refresh = 0)
  run <- switch(fit$model,
    negative_binomial = do.call(stan_glm.nb, call),
    do.call(stan_glm, c(call, list(family = families[[fit$model]]))))
  as.array(run)
}

one <- function(fit) {
  table <- read.csv(file.path("tables", fit$table), stringsAsFactors = TRUE)
  # In moles NUTS goes to its deepest trees; default priors follow the unit, so that the answer in micromoles is the same.
  unit <- if (fit$name == "trace") 1e6 else 1
  if (unit != 1) table$molar <- unit * table$molar
  written <- fit$formula
  # A row of weight 2 counts as two rows, and is written twice: stan_glm of this version takes no notice of weights where
  # the noise is normal (its sigma is that of lm without weights).
  if (grepl("weights\\(", written)) {
    table <- table[rep(seq_len(nrow(table)), table[[sub(".*weights\\((\\w+)\\).*", "\\1", written)]]), ]
  }
  written <- sub("(\\w+) \\| trials\\((\\w+)\\)", "cbind(\\1, \\2 - \\1)", written)
  written <- sub(" \\| weights\\(\\w+\\)", "", written)
  formula <- as.formula(written)
  began <- proc.time()[["elapsed"]]
  own <- fit$model %in% programs
  draws <- if (own) by_program(fit, formula, table) else by_rstanarm(fit, formula, table)
  found <- summaries(draws)
  found[, c("mean", "sd")] <- found[, c("mean", "sd")] / unit
  cat(fit$name, ":", round(proc.time()[["elapsed"]] - began), "s, largest Rhat", max(found[, "rhat"]), "smallest ESS", min(found[, "ess"]), "\n")
  data.frame(fit = fit$name, by = if (own) "rstan" else "rstanarm", parameter = rownames(found),
    mean = signif(found[, "mean"], 8), sd = signif(found[, "sd"], 6), ess = round(found[, "ess"]), rhat = round(found[, "rhat"], 4))
}

# Programs that are to be compiled come last.
for (i in order(fits$model %in% programs)) {
  name <- fits$name[i]
  if (if (length(asked)) !(name %in% asked) else name %in% kept$fit) next
  made <- one(fits[i, ])
  kept <- rbind(kept[kept$fit != name, ], made)
  kept <- kept[order(match(kept$fit, read.csv("fits.csv", sep = ";")$name)), ]
  write.csv(kept, "references.csv", row.names = FALSE)
}
