"""Estimates by statsmodels and scikit-learn, appended to references.csv: python maximum.py

Under a flat prior a posterior of many rows is centred where the likelihood has its maximum, with the standard errors
of maximum likelihood (statsmodels). Under a normal prior it is centred where the penalised likelihood has its maximum
(scikit-learn), with the curvature there as its precision. Posterior means differ from modes by skewness, so the lines of
fits.csv that are made here have many rows or a linear model.
"""

import csv

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.linear_model import LogisticRegression


def likelihood(name, table, formula, family=None, offset=None):
    data = pd.read_csv(f"tables/{table}")
    if family is None:
        fit = smf.ols(formula, data).fit()
    else:
        fit = smf.glm(formula, data, family=family, offset=None if offset is None else offset(data)).fit()
    return [(name, "statsmodels", p, m, s) for p, m, s in zip(fit.params.index, fit.params, fit.bse)]


def penalised(name, table, response, columns, sd):
    data = pd.read_csv(f"tables/{table}")
    x = data[columns].to_numpy(float)
    x = (x - x.mean(0)) / x.std(0, ddof=1)
    y = data[response].to_numpy()
    fit = LogisticRegression(C=sd**2, tol=1e-12, max_iter=10_000).fit(x, y)
    means = np.concatenate([fit.intercept_, fit.coef_[0]])
    design = np.column_stack([np.ones(len(x)), x])
    p = 1 / (1 + np.exp(-design @ means))
    precision = design.T @ (design * (p * (1 - p))[:, None]) + np.diag([0.0] + [sd**-2] * len(columns))
    sds = np.sqrt(np.diag(np.linalg.inv(precision)))
    return [(name, "scikit-learn", p, m, s) for p, m, s in zip(["(Intercept)", *columns], means, sds)]


made = [
    *likelihood("houses, flat prior", "houses.csv", "price ~ area + rooms + built"),
    *likelihood("groceries, flat prior", "groceries.csv", "np.log(cost) ~ np.log(weight) + brand * sale"),
    *likelihood(
        "claims, flat prior", "claims.csv", "claims ~ age + region", sm.families.Poisson(), lambda data: np.log(data.km)
    ),
    *likelihood("fraud, flat prior", "fraud.csv", "fraud ~ hour + amount + abroad + tries", sm.families.Binomial()),
    *likelihood(
        "insects, flat prior", "insects.csv", "dead + I(insects - dead) ~ np.log(strength) + agent", sm.families.Binomial()
    ),
    *penalised("fraud, normal prior", "fraud.csv", "fraud", ["hour", "amount"], 0.5),
]
# The order of terms is that of R: columns of categories stand where they are written.
order = {
    "groceries, flat prior": ["Intercept", "np.log(weight)", "brand[T.own label]", "brand[T.south]", "sale[T.yes]"]
    + ["brand[T.own label]:sale[T.yes]", "brand[T.south]:sale[T.yes]"],
    "claims, flat prior": ["Intercept", "age", "region[T.hills]", "region[T.town]"],
    "insects, flat prior": ["Intercept", "np.log(strength)", "agent[T.b]"],
}
made.sort(key=lambda row: (row[0], order[row[0]].index(row[2]) if row[0] in order else 0))
names = [row["name"] for row in csv.DictReader(open("fits.csv"), delimiter=";")]
with open("references.csv") as file:
    kept = [row for row in csv.DictReader(file) if row["by"].startswith("rstan")]
with open("references.csv", "w") as file:
    print("fit,by,parameter,mean,sd,ess,rhat", file=file)
    rows = [(r["fit"], r["by"], r["parameter"], r["mean"], r["sd"], r["ess"], r["rhat"]) for r in kept]
    rows += [(fit, by, parameter, f"{mean:.8g}", f"{sd:.6g}", "", "") for fit, by, parameter, mean, sd in made]
    for fit, by, parameter, *numbers in sorted(rows, key=lambda row: names.index(row[0])):
        print(f'"{fit}","{by}","{parameter}",' + ",".join(numbers), file=file)
