data {
  int<lower=1> k;
  int<lower=k> n;
  vector[n] y;
}
parameters {
  real alpha;
  array[k] real beta;
  real<lower=0> sigma;
}
model {
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  sigma ~ cauchy(0, 2.5);
  for (t in (k + 1) : n) {
    real mean = alpha;
    for (j in 1 : k) {
      mean += beta[j] * y[t - j];
    }
    y[t] ~ normal(mean, sigma);
  }
}
