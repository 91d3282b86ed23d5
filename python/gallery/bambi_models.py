"""Bambi: models by formula."""

import bambi
import numpy as np
import pandas

from entry import model

RNG = 20262


@model("Bambi")
def sleep():
    """Reaction times with intercepts and slopes that vary by subject."""
    rng = np.random.default_rng(RNG)
    subject = np.repeat(np.arange(18), 10)
    days = np.tile(np.arange(10.0), 18)
    level, slope = 250 + 25 * rng.normal(size=18), 10 + 6 * rng.normal(size=18)
    time = level[subject] + slope[subject] * days + rng.normal(0, 25, size=180)
    table = pandas.DataFrame({"time": time, "days": days, "subject": subject.astype(str)})
    return bambi.Model("time ~ days + (days | subject)", table)


@model("Bambi")
def admissions():
    """A logistic regression with a category."""
    rng = np.random.default_rng(RNG)
    table = pandas.DataFrame({"score": rng.normal(size=300), "school": rng.choice(list("abc"), size=300)})
    p = 1 / (1 + np.exp(-(0.3 + table["score"] - 0.8 * (table["school"] == "b"))))
    table["admitted"] = (rng.random(300) < p).astype(int)
    return bambi.Model("admitted ~ score + school", table, family="bernoulli")


@model("Bambi")
def absences():
    """Counts of days absent under the negative binomial law."""
    rng = np.random.default_rng(RNG)
    table = pandas.DataFrame({"maths": rng.normal(size=300), "prog": rng.choice(["general", "arts"], size=300)})
    mean = np.exp(1.5 - 0.3 * table["maths"] + 0.4 * (table["prog"] == "arts"))
    table["days"] = rng.poisson(mean * rng.gamma(1.5, 1 / 1.5, size=300))
    return bambi.Model("days ~ 0 + prog + maths", table, family="negativebinomial")
