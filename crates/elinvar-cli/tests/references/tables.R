# Writes the tables of this folder that are made up: Rscript tables.R
# Every table has a seed of its own, so that one can be changed without the others.
dir.create("tables", showWarnings = FALSE)

keep <- function(name, table) write.csv(table, file.path("tables", paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
chance <- function(eta) 1 / (1 + exp(-eta))

set.seed(101) # prices in money, areas in square metres, years of building
n <- 180
area <- round(runif(n, 35, 220), 1); rooms <- pmax(1, round(area / 28 + rnorm(n, 0, 0.8))); built <- sample(1890:2020, n, TRUE)
price <- round(18000 + 2900 * area + 9000 * rooms + 310 * (built - 1950) + rnorm(n, 0, 52000))
keep("houses", data.frame(price, area, rooms, built))

set.seed(102) # a column of years
year <- 1881:2020
keep("years", data.frame(year, temperature = round(13.7 + 0.0081 * (year - 1950) + rnorm(140, 0, 0.17), 2)))

set.seed(103) # logarithms, texts and an interaction
n <- 160
weight <- round(exp(rnorm(n, 3, 0.8)), 2); brand <- sample(c("north", "south", "own label"), n, TRUE, c(0.4, 0.35, 0.25)); sale <- sample(c("no", "yes"), n, TRUE)
cost <- round(exp(0.4 + 0.62 * log(weight) + 0.25 * (brand == "south") - 0.3 * (brand == "own label") - 0.15 * (sale == "yes") + rnorm(n, 0, 0.22)), 2)
keep("groceries", data.frame(cost, weight, brand, sale))

set.seed(104) # counts with exposure and regions
n <- 240
age <- sample(18:80, n, TRUE); region <- sample(c("coast", "hills", "town"), n, TRUE); km <- round(exp(rnorm(n, 9.2, 0.6)))
claims <- rpois(n, km * exp(-9.4 - 0.018 * (age - 45) + 0.5 * (region == "town")))
keep("claims", data.frame(claims, age, region, km))

set.seed(105) # counts that vary more than Poisson's
n <- 220
income <- round(exp(rnorm(n, 10.3, 0.5))); children <- rpois(n, 1.2)
visits <- rnbinom(n, size = 0.9, mu = exp(1.6 - 0.9 * (log(income) - 10.3) + 0.22 * children))
keep("visits", data.frame(visits, income, children))

set.seed(106) # the same table's kind under the wrong model: Poisson on overdispersed counts
n <- 150
depth <- round(runif(n, 1, 60), 1)
keep("fish", data.frame(fish = rnbinom(n, size = 0.7, mu = exp(4 - 0.03 * depth)), depth))

set.seed(107) # two classes by their texts, a rare category among the columns
n <- 300
contract <- sample(c("monthly", "two years", "yearly"), n, TRUE, c(0.55, 0.2, 0.25)); payment <- sample(c("card", "cheque", "transfer"), n, TRUE, c(0.6, 0.03, 0.37))
bill <- round(rgamma(n, 6, 0.09), 2); months <- sample(1:72, n, TRUE)
churn <- ifelse(runif(n) < chance(-0.4 + 0.012 * bill - 0.04 * months + 0.6 * (contract == "monthly") - 0.9 * (contract == "two years")), "yes", "no")
keep("churn", data.frame(churn, contract, payment, bill, months))

set.seed(108) # two classes that one column separates
n <- 40
dose <- round(sort(runif(n, 0, 10)), 2)
keep("separable", data.frame(alive = as.integer(dose > 5.1), dose, weight = round(rnorm(n, 70, 9), 1)))

set.seed(109) # two columns that say the same
n <- 90
inches <- round(rnorm(n, 68, 3.4), 1); cm <- round(2.54 * inches + rnorm(n, 0, 0.05), 1)
keep("twins", data.frame(kilograms = round(-60 + 1.9 * inches + rnorm(n, 0, 9), 1), inches, cm))

set.seed(110) # the same in a logistic regression
n <- 200
sbp <- round(rnorm(n, 128, 16)); map <- round(0.66 * sbp + rnorm(n, 5, 0.6), 1); smoker <- sample(c("never", "past", "now"), n, TRUE)
keep("pressure", data.frame(stroke = as.integer(runif(n) < chance(-1 + 0.03 * (sbp - 128) + 0.8 * (smoker == "now"))), sbp, map, smoker))

set.seed(111) # eight rows
keep("eight", data.frame(yield = c(4.1, 4.9, 5.2, 6.8, 6.1, 7.9, 8.2, 7.7), rain = c(210, 260, 250, 340, 330, 420, 455, 400), acid = c(6.1, 6.4, 5.9, 6.6, 6.0, 6.3, 6.8, 6.2)))

set.seed(112) # long
n <- 4000
hour <- sample(0:23, n, TRUE); amount <- round(exp(rnorm(n, 3.5, 1.1)), 2); abroad <- rbinom(n, 1, 0.07); tries <- rpois(n, 0.3)
keep("fraud", data.frame(fraud = rbinom(n, 1, chance(-4.1 + 0.004 * amount + 1.4 * abroad + 0.7 * tries - 0.02 * hour)), hour, amount, abroad, tries))

set.seed(113) # wide: 70 rows, 45 columns
n <- 70; d <- 45
genes <- round(matrix(rnorm(n * d, 6, 1.5), n, dimnames = list(NULL, paste0("g", 1:d))), 2)
keep("genes", data.frame(level = round(3 + genes[, 1:4] %*% c(0.8, -0.6, 0.4, 0.3) + rnorm(n, 0, 0.7), 2), genes))

set.seed(114) # wider than long: 40 rows, 60 columns
n <- 40; d <- 60
bands <- round(matrix(rnorm(n * d, 0.4, 0.1), n, dimnames = list(NULL, paste0("nm", 400 + 5 * 1:d))), 3)
keep("spectra", data.frame(sugar = round(12 + 9 * (bands[, 7] - 0.4) + rnorm(n, 0, 0.5), 2), bands))

set.seed(115) # outliers
n <- 120
power <- round(runif(n, 40, 300)); speed <- round(100 + 0.5 * power + 6 * rt(n, 1.6), 1)
keep("speed", data.frame(speed, power))

set.seed(116) # events of trials
n <- 30
agent <- rep(c("a", "b"), 15); strength <- round(10^runif(n, -1, 2), 3); insects <- sample(8:40, n, TRUE)
keep("insects", data.frame(dead = rbinom(n, insects, chance(-1.1 + 0.9 * log(strength) + 0.7 * (agent == "b"))), insects, strength, agent))

set.seed(117) # positive numbers
n <- 150
length <- round(runif(n, 1, 90)); ward <- sample(c("A", "B", "C"), n, TRUE)
keep("stays", data.frame(cost = round(rgamma(n, 2.4, 2.4 / exp(7.1 + 0.02 * length + 0.35 * (ward == "C"))), 2), length, ward))

set.seed(118) # shares
n <- 130
temperature <- round(runif(n, 180, 460)); catalyst <- sample(c("old", "new"), n, TRUE)
mean <- chance(-6 + 0.013 * temperature + 0.4 * (catalyst == "new"))
keep("shares", data.frame(share = pmin(0.9999, pmax(0.0001, round(rbeta(n, 22 * mean, 22 * (1 - mean)), 4))), temperature, catalyst))

set.seed(119) # ordered classes
n <- 260
price <- round(runif(n, 4, 60), 1); room <- sample(c("double", "single"), n, TRUE)
stars <- findInterval(-0.05 * price + 0.8 * (room == "double") + rlogis(n), c(-3.2, -2, -0.8, 0.6)) + 1
keep("stars", data.frame(stars, price, room))

set.seed(120) # a response of the size of a millionth
n <- 60
ph <- round(runif(n, 4, 9), 2)
keep("trace", data.frame(molar = signif(2.1e-6 + 3.4e-7 * ph + rnorm(n, 0, 4e-7), 4), ph))

set.seed(121) # columns of the size of a million, rare events
n <- 400
people <- round(exp(rnorm(n, 12.5, 1.2))); area <- round(exp(rnorm(n, 6, 1)), 1)
keep("towns", data.frame(metro = rbinom(n, 1, chance(-4.6 + 1.2e-6 * people)), people, area))

set.seed(122) # large counts
n <- 90
week <- 1:n
keep("sales", data.frame(sold = rpois(n, exp(9.3 + 0.004 * week + 0.12 * sin(week / 8))), week, wave = round(sin(week / 8), 3)))

set.seed(123) # weights, a curve and a category without a plain order
n <- 140
hours <- round(runif(n, 0, 12), 1); school <- sample(c("Birch", "Elm", "Oak"), n, TRUE); pupils <- sample(c(1, 2, 3, 5, 8), n, TRUE)
mark <- round(41 + 6.5 * hours - 0.35 * hours^2 + 3 * (school == "Oak") + rnorm(n, 0, 9 / sqrt(pupils)), 1)
keep("marks", data.frame(mark, hours, school, pupils))

set.seed(124) # counts with exposure that vary more than Poisson's
n <- 200
traffic <- round(exp(rnorm(n, 9.5, 0.7))); lanes <- sample(c(2, 3, 4), n, TRUE); days <- sample(60:365, n, TRUE)
keep("crashes", data.frame(crashes = rnbinom(n, size = 2.2, mu = days / 365 * exp(-5.2 + 0.75 * log(traffic) + 0.1 * lanes)), traffic, lanes, days))
