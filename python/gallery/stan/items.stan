data {
  int<lower=1> people;
  int<lower=1> items;
  array[people, items] int<lower=0, upper=1> y;
}
parameters {
  vector[people] ability;
  vector[items] hardness;
  vector<lower=0>[items] sharpness;
  real centre;
  real<lower=0> spread;
}
model {
  ability ~ std_normal();
  centre ~ normal(0, 2);
  spread ~ normal(0, 2);
  hardness ~ normal(centre, spread);
  sharpness ~ lognormal(0, 0.5);
  for (i in 1 : people) {
    y[i] ~ bernoulli_logit(sharpness .* (ability[i] - hardness));
  }
}
