# k-modes, k-prototypes and latent classes with the arguments and results that users of klaR, clustMixType and poLCA know.

kmodes <- function(data, modes, iter.max = 10, weighted = FALSE, fast = TRUE, nstart = 10, weights = NULL, seed = NULL) {
  if (weighted) stop("weighted = TRUE is not supported; method = \"lsm\" of coforest() is near to it", call. = FALSE)
  if (length(modes) != 1) {
    stop("modes must be the number of clusters; modes of one's own are not supported", call. = FALSE)
  }
  x <- as_columns(data)
  x[] <- lapply(x, factor)
  fit <- coforest(x, modes, method = "kmodes", nstart = nstart, weights = weights, max_passes = iter.max, init = "random",
                  seed = seed, posterior = FALSE)
  each <- if (is.null(weights)) rep(1, nrow(x)) else weights
  # a row differs from a mode where one of both is missing, too
  full <- as.data.frame(lapply(seq_along(x), function(c) {
    name <- names(x)[c]
    if (name %in% names(fit$modes)) as.character(fit$modes[[name]]) else rep(as.character(x[[c]])[1], fit$k)
  }), col.names = names(x), optional = TRUE, stringsAsFactors = FALSE)
  differs <- Map(function(cell, mode) !mapply(identical, ifelse(is.na(cell), "NA", as.character(cell)), mode[fit$cluster], USE.NAMES = FALSE),
                 x, full)
  apart <- Reduce(`+`, lapply(differs, as.numeric)) * each
  structure(list(cluster = fit$cluster, size = table(cluster = factor(fit$cluster, seq_len(fit$k))), modes = full,
                 withindiff = as.vector(tapply(apart, factor(fit$cluster, seq_len(fit$k)), sum, default = 0)),
                 iterations = fit$iter, weighted = FALSE, fit = fit), class = c("coforest_peer", "kmodes"))
}

kproto <- function(x, k, lambda = NULL, type = "huang", iter.max = 100, nstart = 1, na.rm = "yes", weights = NULL, seed = NULL) {
  if (type != "huang") stop("type must be \"huang\"", call. = FALSE)
  x <- as_columns(x)
  number <- vapply(x, function(v) is.numeric(v) && !is.factor(v), NA)
  x[!number] <- lapply(x[!number], factor)
  fit <- coforest(x, k, method = "k-prototypes", nstart = nstart, weights = weights, max_passes = iter.max, scale = "none",
                  gamma = if (is.null(lambda)) "clustmixtype" else lambda, seed = seed, posterior = FALSE,
                  missing = c(yes = "drop", no = "ignore")[[match.arg(na.rm, c("yes", "no"))]], numeric = names(x)[number],
                  categorical = names(x)[!number])
  centers <- as.data.frame(lapply(names(x), function(name) {
    if (name %in% colnames(fit$means)) fit$means[, name] else fit$modes[[name]]
  }), col.names = names(x), optional = TRUE)
  dists <- predict(fit, x, "distance", unseen = "ignore")
  own <- dists[cbind(seq_len(nrow(x)), fit$cluster)] * (if (is.null(weights)) 1 else weights)
  withinss <- as.vector(tapply(own, factor(fit$cluster, seq_len(fit$k)), sum, default = 0))
  structure(list(cluster = fit$cluster, centers = centers, lambda = fit$gamma,
                 size = table(clusters = factor(fit$cluster, seq_len(fit$k))), withinss = withinss,
                 tot.withinss = sum(withinss), dists = dists, iter = fit$iter, type = type, fit = fit),
            class = c("coforest_peer", "kproto"))
}

latent_classes <- function(formula, data, nclass = 2, maxiter = 5000, tol = 1e-10, na.rm = TRUE, nrep = 10, calc.se = TRUE,
                           weights = NULL, seed = NULL) {
  by_formula <- inherits(formula, "formula")
  y <- if (by_formula) coforest_columns(formula, data) else as_columns(formula)
  y[] <- lapply(y, factor)
  fit <- coforest(y, nclass, method = "lca", nstart = nrep, weights = weights, prior = 0, max_passes = maxiter, tolerance = tol,
                  missing = if (na.rm) "drop" else "ignore", seed = seed)
  study <- if (calc.se) .Call(C_study, .Call(C_read, fit$model), make_table(y), weights)
  errors <- if (calc.se) setNames(study$probability, names(y)[names(y) %in% c(names(fit$profiles), fit$left_out)])
  each <- if (is.null(weights)) rep(1, nrow(y)) else weights
  structure(list(llik = fit$logLik, attempts = -fit$restart_objectives, probs = fit$profiles,
                 probs.se = errors[names(fit$profiles)], P = unname(fit$share), P.se = study$share,
                 posterior = unname(fit$posterior), predclass = unname(fit$cluster),
                 predcell = if (calc.se) cbind(y[study$row, , drop = FALSE], observed = study$observed, expected = study$expected),
                 npar = fit$npar, aic = fit$aic, bic = fit$bic, Nobs = sum(each[stats::complete.cases(y)]), N = fit$nobs,
                 resid.df = fit$criteria[["df"]], Gsq = fit$criteria[["g_squared"]], Chisq = fit$criteria[["x_squared"]],
                 entropy.R2 = fit$criteria[["entropy_r_squared"]], numiter = fit$iter, maxiter = maxiter, y = y, fit = fit),
            class = "coforest_peer")
}

print.coforest_peer <- function(x, ...) {
  print(x$fit)
  if (!is.null(x$withindiff)) cat("Differences from the modes, by cluster: ", paste(x$withindiff, collapse = ", "), "\n", sep = "")
  if (!is.null(x$tot.withinss)) cat("Within sums of squares: ", paste(format(x$withinss), collapse = ", "), "; lambda ", format(x$lambda), "\n", sep = "")
  if (!is.null(x$llik)) {
    cat("Log-likelihood ", format(x$llik, nsmall = 3), " with ", x$npar, " parameters, ", x$resid.df, " degrees of freedom\n", sep = "")
    cat("AIC ", format(x$aic), ", BIC ", format(x$bic), ", G squared ", format(x$Gsq), ", X squared ", format(x$Chisq), "\n", sep = "")
  }
  invisible(x)
}

predict.coforest_peer <- function(object, newdata, ...) {
  if (missing(newdata)) return(object$cluster %||% object$predclass)
  if (inherits(object, "kproto")) {
    return(list(cluster = predict(object$fit, newdata, ...), dists = predict(object$fit, newdata, "distance", ...)))
  }
  newdata[] <- lapply(newdata, factor)
  predict(object$fit, newdata, ...)
}

logLik.coforest_peer <- function(object, ...) logLik(object$fit)

`%||%` <- function(a, b) if (is.null(a)) b else a
