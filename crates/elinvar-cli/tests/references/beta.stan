// Shares: slopes N(0, (2.5/sd(x))²), the intercept of centred columns N(0, 2.5²), phi exponential with mean 1, which are the
// defaults of rstanarm's stan_betareg.
data {
  int<lower=1> n;
  int<lower=1> d;
  matrix[n, d] x;
  vector<lower=0, upper=1>[n] y;
  vector<lower=0>[d] scale;
}
parameters {
  real centred;
  vector[d] b;
  real<lower=0> phi;
}
model {
  vector[n] mu = inv_logit(centred + x * b);
  centred ~ normal(0, 2.5);
  b ~ normal(0, scale);
  phi ~ exponential(1);
  y ~ beta(mu * phi, (1 - mu) * phi);
}
