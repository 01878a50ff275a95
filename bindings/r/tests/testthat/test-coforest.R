people <- as.data.frame(Titanic)
fit <- coforest(people[1:4], 3, weights = people$Freq, seed = 1)

test_that("clusters count from 1, and sizes add up", {
  expect_true(all(fit$cluster %in% 1:3))
  expect_equal(sum(fit$size), 32)
  expect_equal(fit$nobs, sum(people$Freq))
})

test_that("shares of the values of a cluster add up to 1", {
  for (share in fit$profiles) expect_equal(unname(rowSums(share)), rep(1, 3))
})

test_that("set.seed decides unless a seed is given", {
  set.seed(2)
  first <- coforest(people[1:4], 3, weights = people$Freq)
  set.seed(2)
  expect_identical(coforest(people[1:4], 3, weights = people$Freq)$cluster, first$cluster)
  set.seed(9)
  u <- runif(1)
  set.seed(9)
  coforest(people[1:4], 2, seed = 1)
  expect_identical(runif(1), u)
})

test_that("threads change nothing", {
  expect_identical(coforest(people[1:4], 3, weights = people$Freq, seed = 1, threads = 1)$model, fit$model)
})

test_that("weighted rows equal repeated rows", {
  repeated <- coforest(people[rep(1:32, people$Freq), 1:4], 3, seed = 1)
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(repeated)), tolerance = 1e-9)
})

test_that("every type of column is taken, and missing cells are what was asked for", {
  set.seed(5)
  g <- rep(1:3, each = 40)
  mixed <- data.frame(f = factor(letters[g]), o = factor(c("lo", "mid", "hi")[g], c("lo", "mid", "hi"), ordered = TRUE),
                      n = rnorm(120, 3 * g), i = sample(5L, 120, TRUE), l = g > 1, s = c("\u00e4", "b", "c")[g],
                      day = as.Date("2024-01-01") + 30 * g + sample(20, 120, TRUE), stringsAsFactors = FALSE)
  mixed$f[3] <- NA
  mixed$n[4] <- NA
  mix <- coforest(mixed, 3, seed = 1)
  expect_identical(colnames(mix$profiles$o), c("lo", "mid", "hi"))
  expect_identical(mix$kinds$kind[mix$kinds$column == "n"], "quantity")
  expect_equal(unname(compare_clusterings(mix, g)["ari"]), 1)
  expect_identical(predict(mix, mixed), mix$cluster)
  dropped <- coforest(mixed, 3, seed = 1, missing = "drop")
  expect_true(all(is.na(dropped$cluster[3:4])))
  expect_false(anyNA(dropped$cluster[-(3:4)]))
  expect_error(coforest(mixed, 3, seed = 1, missing = "fail"), "'f'|f")
})

test_that("saved fits predict as before", {
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), people), predict(fit, people))
})

test_that("new levels are named in a warning, missing columns in an error", {
  expect_warning(predict(fit, transform(people, Class = factor("4th"))), "4th")
  expect_error(predict(fit, people[1:3]), "Survived")
  expect_length(predict(fit, people[0, ]), 0)
})

test_that("distances along a tree are those of its edges", {
  d <- as.matrix(value_dist(fit, "Class"))
  for (e in seq_len(nrow(fit$trees$Class))) {
    edge <- fit$trees$Class[e, ]
    expect_equal(d[edge$from, edge$to], edge$length)
  }
  expect_true(all(is.finite(d)))
})

test_that("wrong arguments are errors that say what to write", {
  expect_error(coforest(people[1:4], 0), "whole number from 1")
  expect_error(coforest(people[1:4], 2.5), "whole number")
  expect_error(coforest(people[1:4], 2, nope = 1), "nope")
  expect_error(coforest(people[1:4], 2, method = "none"), "method must be one of")
  expect_error(coforest(people[1:4], 2, weights = 1), "32 rows")
  expect_error(coforest(cbind(Class, Sex) ~ Age, people, 2), "covariates")
})

test_that("a formula chooses columns", {
  by_formula <- coforest(~ Class + Sex, people, 2, weights = people$Freq, seed = 1)
  expect_identical(by_formula$cluster, coforest(people[c("Class", "Sex")], 2, weights = people$Freq, seed = 1)$cluster)
})

test_that("a fit is drawn, printed and summarised", {
  pdf(NULL)
  on.exit(dev.off())
  for (which in c("profiles", "trees", "importance", "uncertainty")) expect_silent(plot(fit, which))
  expect_output(print(fit), "3 clusters")
  expect_output(print(summary(fit)), "Most frequent values")
})

test_that("the report is one file", {
  file <- tempfile(fileext = ".html")
  coforest_report(fit, file, people[1:4])
  expect_gt(file.size(file), 10000)
})
