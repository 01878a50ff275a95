people <- as.data.frame(Titanic)
cheating <- data.frame(A = c(1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2), B = c(1, 1, 1, 1, 2, 2, 2, 2),
                       C = c(1, 1, 2, 2), D = 1:2)
n <- c(207, 46, 7, 5, 13, 4, 1, 2, 10, 3, 1, 2, 11, 4, 1, 2)

test_that("latent classes have the numbers that poLCA 1.6.0.2 reports (Dayton 1998, table 3.4)", {
  fit <- latent_classes(cbind(A, B, C, D) ~ 1, cheating, 2, weights = n, seed = 1)
  expect_equal(fit$llik, -440.0271124, tolerance = 1e-8)
  expect_equal(fit$Gsq, 7.7642421786, tolerance = 1e-5)
  expect_equal(fit$Chisq, 8.3234189297, tolerance = 1e-5)
  expect_equal(fit$resid.df, 6)
  expect_equal(fit$entropy.R2, 0.7365631061, tolerance = 1e-4)
  expect_equal(fit$bic, 931.9409447, tolerance = 1e-6)
  expect_equal(sum(fit$P), 1)
  for (p in fit$probs) expect_equal(unname(rowSums(p)), c(1, 1))
  expect_equal(dim(fit$probs.se$A), c(2L, 2L))
  expect_equal(sum(fit$predcell$observed), 319)
  expect_equal(max(fit$attempts), fit$llik, tolerance = 1e-6)
})

test_that("k-modes adds up the differences from its modes", {
  fit <- kmodes(people[1:4], 3, weights = people$Freq, seed = 1)
  expect_equal(sum(fit$withindiff), fit$fit$objective)
  expect_error(kmodes(people[1:4], 3, weighted = TRUE), "not supported")
})

test_that("k-prototypes works on the scale of the data", {
  set.seed(3)
  x <- data.frame(n = c(rnorm(30), rnorm(30, 9)), f = factor(rep(c("a", "b"), each = 30)))
  fit <- kproto(x, 2, lambda = 2, nstart = 5, seed = 1)
  expect_equal(fit$lambda, 2)
  expect_equal(sort(unname(fit$centers$n)), sort(unname(tapply(x$n, fit$cluster, mean)[1:2])), ignore_attr = TRUE)
  expect_equal(fit$tot.withinss, sum((x$n - ave(x$n, fit$cluster))^2), tolerance = 1e-6)
  expect_gt(kproto(x, 2, nstart = 2, seed = 1)$lambda, 0)
  expect_identical(unname(predict(fit, x)$cluster), unname(fit$cluster))
})
