// Proportional odds with slopes N(0, (2.5/sd(x))²), columns centred, and cut points t(3, 0, 2.5).
data {
  int<lower=1> n;
  int<lower=1> d;
  int<lower=2> classes;
  matrix[n, d] x;
  int<lower=1, upper=classes> y[n];
  vector<lower=0>[d] scale;
}
parameters {
  vector[d] b;
  ordered[classes - 1] cut;
}
model {
  b ~ normal(0, scale);
  cut ~ student_t(3, 0, 2.5);
  y ~ ordered_logistic(x * b, cut);
}
