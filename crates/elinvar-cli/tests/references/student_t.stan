// Regression with t noise: slopes N(0, (2.5 sd(y)/sd(x))²), the intercept of centred columns N(mean(y), (2.5 sd(y))²),
// sigma exponential with mean sd(y), degrees of freedom gamma(2, 0.1).
data {
  int<lower=1> n;
  int<lower=1> d;
  matrix[n, d] x;
  vector[n] y;
  vector<lower=0>[d] scale;
}
transformed data {
  real mean_y = mean(y);
  real sd_y = sd(y);
}
parameters {
  real centred;
  vector[d] b;
  real<lower=0> sigma;
  real<lower=0> nu;
}
model {
  centred ~ normal(mean_y, 2.5 * sd_y);
  b ~ normal(0, scale);
  sigma ~ exponential(1 / sd_y);
  nu ~ gamma(2, 0.1);
  y ~ student_t(nu, centred + x * b, sigma);
}
