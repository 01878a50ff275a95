library(testthat)
library(coforest)
test_check("coforest")
