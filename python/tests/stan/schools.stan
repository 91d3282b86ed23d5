data {
  int<lower=1> n;
  vector[n] effects;
  vector<lower=0>[n] errors;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[n] eta;
}
transformed parameters {
  vector[n] theta = mu + tau * eta;
}
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  eta ~ std_normal();
  effects ~ normal(theta, errors);
}
