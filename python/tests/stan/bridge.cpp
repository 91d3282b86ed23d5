// A Stan model as a library with the C interface of BridgeStan 2, against the headers that come with httpstan: for
// tests on machines where BridgeStan itself cannot fetch its sources. What stanc makes of a program defines new_model.
#include <stan/math/prim/fun/Eigen.hpp>
#include <stan/math/rev/core.hpp>
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/model/model_base.hpp>
#include <stan/services/util/create_rng.hpp>
#include <stan/version.hpp>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#define SHOWN extern "C" __attribute__((visibility("default")))

stan::model::model_base& new_model(stan::io::var_context& data, unsigned int seed, std::ostream* messages);

namespace {

using Vector = Eigen::VectorXd;
using Variables = Eigen::Matrix<stan::math::var, Eigen::Dynamic, 1>;

// Every thread that computes derivatives needs a stack of its own.
void open_stack() { static thread_local stan::math::ChainableStack stack; }

char* copy_of(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// 0, or -1 with a message in place of an exception.
template <class Body>
int guarded(char** error, const Body& body) {
  try {
    open_stack();
    body();
    return 0;
  } catch (const std::exception& exception) {
    if (error) *error = copy_of(exception.what());
  } catch (...) {
    if (error) *error = copy_of("an exception without a message");
  }
  return -1;
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
  return all;
}

}  // namespace

struct bs_rng {
  stan::rng_t engine;
  explicit bs_rng(unsigned seed) : engine(stan::services::util::create_rng(seed, 0)) {}
};

struct bs_model {
  std::unique_ptr<stan::model::model_base> program;
  std::string name, info, free_names, names[2][2];
  int n[2][2];

  explicit bs_model(stan::model::model_base* made) : program(made), name(made->model_name()) {
    info = "Stan " + stan::MAJOR_VERSION + "." + stan::MINOR_VERSION + ", STAN_THREADS=true";
    std::vector<std::string> list;
    program->unconstrained_param_names(list, false, false);
    free_names = joined(list);
    for (int transformed : {0, 1}) {
      for (int generated : {0, 1}) {
        list.clear();
        program->constrained_param_names(list, transformed, generated);
        names[transformed][generated] = joined(list);
        n[transformed][generated] = static_cast<int>(list.size());
      }
    }
  }

  int dim() const { return static_cast<int>(program->num_params_r()); }

  // Only terms that depend on a variable are kept if `proportional`; there is a variable then.
  template <class Point>
  auto log_density(bool proportional, bool jacobian, Point& z) const {
    std::ostringstream messages;
    if (proportional) {
      return jacobian ? program->log_prob_propto_jacobian(z, &messages) : program->log_prob_propto(z, &messages);
    }
    return jacobian ? program->log_prob_jacobian(z, &messages) : program->log_prob(z, &messages);
  }

  double gradient(bool proportional, bool jacobian, const Vector& at, double* gradient) const {
    stan::math::nested_rev_autodiff nested;
    Variables z = at;
    stan::math::var value = log_density(proportional, jacobian, z);
    stan::math::grad(value.vi_);
    Eigen::Map<Vector>(gradient, dim()) = z.adj();
    return value.val();
  }
};

extern "C" {
extern __attribute__((visibility("default"))) const int bs_major_version, bs_minor_version, bs_patch_version;
const int bs_major_version = 2, bs_minor_version = 9, bs_patch_version = 0;
}

// `data` is JSON, or the path of a file that ends in .json.
SHOWN bs_model* bs_model_construct(const char* data, unsigned seed, char** error) {
  bs_model* model = nullptr;
  guarded(error, [&] {
    const std::string text = data ? data : "";
    const bool is_path = text.size() > 5 && text.compare(text.size() - 5, 5, ".json") == 0;
    std::unique_ptr<stan::io::var_context> context;
    if (text.empty()) {
      context = std::make_unique<stan::io::empty_var_context>();
    } else if (is_path) {
      std::ifstream file(text);
      if (!file) throw std::runtime_error(text + " cannot be read");
      context = std::make_unique<stan::json::json_data>(file);
    } else {
      std::istringstream json(text);
      context = std::make_unique<stan::json::json_data>(json);
    }
    std::ostringstream messages;
    model = new bs_model(&new_model(*context, seed, &messages));
  });
  return model;
}

SHOWN void bs_model_destruct(bs_model* model) { delete model; }
SHOWN void bs_free_error_msg(char* text) { std::free(text); }
SHOWN const char* bs_name(const bs_model* model) { return model->name.c_str(); }
SHOWN const char* bs_model_info(const bs_model* model) { return model->info.c_str(); }
SHOWN const char* bs_param_unc_names(const bs_model* model) { return model->free_names.c_str(); }
SHOWN int bs_param_unc_num(const bs_model* model) { return model->dim(); }
SHOWN int bs_param_num(const bs_model* model, bool transformed, bool generated) {
  return model->n[transformed][generated];
}
SHOWN const char* bs_param_names(const bs_model* model, bool transformed, bool generated) {
  return model->names[transformed][generated].c_str();
}

SHOWN int bs_param_constrain(const bs_model* model, bool transformed, bool generated, const double* z, double* to,
                             bs_rng* random, char** error) {
  return guarded(error, [&] {
    if (generated && !random) throw std::invalid_argument("generated quantities need random numbers");
    bs_rng unused(0);
    Vector at = Eigen::Map<const Vector>(z, model->dim()), values;
    std::ostringstream messages;
    model->program->write_array((random ? random : &unused)->engine, at, values, transformed, generated, &messages);
    Eigen::Map<Vector>(to, values.size()) = values;
  });
}

SHOWN int bs_param_unconstrain(const bs_model* model, const double* values, double* to, char** error) {
  return guarded(error, [&] {
    Vector at = Eigen::Map<const Vector>(values, model->n[0][0]), z;
    std::ostringstream messages;
    model->program->unconstrain_array(at, z, &messages);
    Eigen::Map<Vector>(to, z.size()) = z;
  });
}

SHOWN int bs_log_density(const bs_model* model, bool proportional, bool jacobian, const double* z, double* to,
                         char** error) {
  return guarded(error, [&] {
    const Vector at = Eigen::Map<const Vector>(z, model->dim());
    stan::math::nested_rev_autodiff nested;
    Variables point = at;
    *to = model->log_density(proportional, jacobian, point).val();
  });
}

SHOWN int bs_log_density_gradient(const bs_model* model, bool proportional, bool jacobian, const double* z, double* to,
                                  double* gradient, char** error) {
  return guarded(error, [&] {
    *to = model->gradient(proportional, jacobian, Eigen::Map<const Vector>(z, model->dim()), gradient);
  });
}

SHOWN bs_rng* bs_rng_construct(unsigned seed, char** error) {
  bs_rng* random = nullptr;
  guarded(error, [&] { random = new bs_rng(seed); });
  return random;
}

SHOWN void bs_rng_destruct(bs_rng* random) { delete random; }

// What BridgeStan's Python package looks up when it loads a library, and no test calls.
SHOWN int bs_not_here(char** error) {
  return guarded(error, [] { throw std::runtime_error("the tests do without this"); });
}
SHOWN int bs_param_unconstrain_json(const bs_model*, const char*, double*, char** error) { return bs_not_here(error); }
SHOWN int bs_param_initialize(const bs_model*, const char*, bs_rng*, double, int, bool, double*, char** error) {
  return bs_not_here(error);
}
SHOWN int bs_log_density_hessian(const bs_model*, bool, bool, const double*, double*, double*, double*, char** error) {
  return bs_not_here(error);
}
SHOWN int bs_log_density_hessian_vector_product(const bs_model*, bool, bool, const double*, const double*, double*,
                                                double*, char** error) {
  return bs_not_here(error);
}
SHOWN int bs_set_print_callback(void (*)(const char*, size_t), char**) { return 0; }
