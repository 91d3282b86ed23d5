data {
  int<lower=1> n;
  int<lower=1> groups;
  array[n] int<lower=1, upper=groups> group;
  vector[n] x;
  vector[n] y;
}
parameters {
  vector[2] mean_of;
  vector<lower=0>[2] sd_of;
  cholesky_factor_corr[2] chol;
  matrix[2, groups] z;
  real<lower=0> sigma;
}
transformed parameters {
  matrix[groups, 2] effect = (rep_matrix(mean_of, groups) + diag_pre_multiply(sd_of, chol) * z)';
  corr_matrix[2] correlation = multiply_lower_tri_self_transpose(chol);
}
model {
  mean_of ~ normal(0, 5);
  sd_of ~ exponential(1);
  chol ~ lkj_corr_cholesky(2);
  to_vector(z) ~ std_normal();
  sigma ~ exponential(1);
  y ~ normal(effect[group, 1] + effect[group, 2] .* x, sigma);
}
generated quantities {
  real fresh = normal_rng(mean_of[1], sd_of[1]);
}
