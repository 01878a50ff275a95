# The fit.

coforest <- function(x, ...) UseMethod("coforest")

coforest.formula <- function(x, data, k, ...) {
  call <- match.call()
  call[[1]] <- quote(coforest)
  fit <- coforest(coforest_columns(x, data), k, ...)
  fit$call <- call
  fit
}

# The columns that a formula names: ~ a + b, or cbind(a, b) ~ 1 as users of poLCA write it.
coforest_columns <- function(formula, data) {
  right <- formula[[length(formula)]]
  inside <- if (length(formula) == 3) formula[[2]] else right
  if (length(formula) == 3 && !identical(right, 1)) {
    stop("covariates (", deparse(right), ") are not supported; write ", deparse(inside), " ~ 1", call. = FALSE)
  }
  named <- if (is.call(inside) && identical(inside[[1]], quote(cbind))) {
    vapply(as.list(inside)[-1], deparse, "")
  } else {
    attr(terms(stats::as.formula(call("~", inside)), data = data), "term.labels")
  }
  absent <- setdiff(named, names(data))
  if (length(absent) > 0) stop("there is no column ", sQuote(absent[1]), " in data", call. = FALSE)
  data[named]
}

# The place of a value among its choices, from 0 as in C; NULL is the first.
one_of <- function(value, choices, argument) {
  if (is.null(value)) return(0L)
  at <- match(value, choices)
  if (length(value) != 1 || is.na(at)) {
    stop(argument, " must be one of ", paste(dQuote(choices, FALSE), collapse = ", "), call. = FALSE)
  }
  at - 1L
}

whole <- function(value, argument, least = 1, most = 2^31 - 1) {
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value != floor(value) || value < least || value > most) {
    stop(argument, " must be a whole number from ", least, if (most < 2^31 - 1) paste(" to", most) else " on", call. = FALSE)
  }
  value
}

no_more <- function(...) {
  if (...length() > 0) {
    name <- names(list(...))[1]
    stop("unused argument", if (!is.null(name) && nzchar(name)) paste0(" (", name, ")"), call. = FALSE)
  }
}

end_interrupted <- function() {
  condition <- structure(class = c("interrupt", "condition"), list(message = "the fit was interrupted", call = NULL))
  signalCondition(condition)
  invokeRestart("abort")
}

missing_choices <- c("value", "ignore", "drop", "fail")
quantity_choices <- c("cut", "scaled", "values")

# Options of the library by their names there; which there are, it says itself.
further_options <- function(...) {
  given <- list(...)
  unknown <- setdiff(names(given), coforest_options()$option)
  if (length(given) > 0 && (is.null(names(given)) || any(!nzchar(names(given))))) stop("unused argument", call. = FALSE)
  if (length(unknown) > 0) stop("unused argument (", unknown[1], ")", call. = FALSE)
  # 0 asks for none, which the library spells as a word because its 0 is the default
  if (identical(as.double(given$prior), 0)) given$prior <- "0"
  given
}

coforest.default <- function(x, k, method = "coforest", nstart = NULL, weights = NULL,
                             missing = c("value", "ignore", "drop", "fail"), quantities = NULL, bins = 16,
                             categorical = NULL, numeric = NULL, ignore = NULL, column_weights = NULL, seed = NULL,
                             threads = getOption("coforest.threads", 2L), posterior = TRUE, progress = FALSE, ...) {
  call <- match.call()
  call[[1]] <- quote(coforest)
  more <- further_options(...)
  x <- as_columns(x)
  missing <- one_of(match.arg(missing), missing_choices, "missing")
  if (is.null(quantities)) quantities <- if (grepl("-prototypes", method, fixed = TRUE)) "scaled" else "cut"
  quantities <- quantity_choices[one_of(quantities, quantity_choices, "quantities") + 1L]
  if (!is.numeric(k) || !length(k) %in% 1:2 || anyNA(k)) {
    stop("k must be a number of clusters, or the least and the greatest to choose from, such as c(2, 8)", call. = FALSE)
  }
  for (one in k) whole(one, "k", 1, 65535)
  if (length(k) == 2 && k[1] > k[2]) stop("k is an empty range: the smaller number comes first", call. = FALSE)
  if (!is.null(weights)) {
    weights <- as.double(weights)
    if (length(weights) != nrow(x)) stop("weights has ", length(weights), " numbers, but x has ", nrow(x), " rows", call. = FALSE)
  }
  if (is.null(seed)) seed <- sample.int(.Machine$integer.max, 1)
  table <- make_table(x)
  kinds <- decide_kinds(x, table, missing, quantities, named_columns(x, categorical, "categorical"),
                        named_columns(x, numeric, "numeric"), named_columns(x, ignore, "ignore"))
  apply_kinds(table, kinds, whole(bins, "bins", 2, 4096))
  each <- NULL
  if (!is.null(column_weights)) {
    each <- rep(1, ncol(x))
    each[match(named_columns(x, names(column_weights), "column_weights"), names(x))] <- as.double(column_weights)
  }
  options <- c(list(method = method, restarts = if (!is.null(nstart)) whole(nstart, "nstart"), seed = as.double(seed),
                    missing = c(missing_choices[1:3], "error")[missing + 1L], threads = whole(threads, "threads", 0)), more)
  found <- .Call(C_fit, table, k[1], if (length(k) == 2) k[2] else 0, options, weights, each, isTRUE(progress))
  if (found$interrupted) end_interrupted()
  fit <- collect(found, x, table, weights, kinds, posterior, threads)
  fit$seed <- seed
  fit$missing <- missing_choices[missing + 1L]
  fit$quantities <- quantities
  fit$call <- call
  fit
}

# The object that users see, from the handle of a finished fit.
collect <- function(found, x, table, weights, kinds, posterior, threads) {
  model <- found$model
  about <- .Call(C_model, model)
  k <- length(about$size)
  clusters <- as.character(seq_len(k))
  attributes <- .Call(C_attributes, model)
  names(attributes) <- vapply(attributes, `[[`, "", "name")
  used <- Filter(function(a) a$used, attributes)
  # classes of a mixture have probabilities, other clusters shares of their rows
  mixture <- about$method == "lca"
  profiles <- lapply(used, function(a) {
    share <- if (mixture) a$probability else a$profile
    dimnames(share) <- list(clusters, ifelse(is.na(a$values), "NA", a$values))
    share
  })
  # methods without a likelihood have neither criteria nor memberships
  criteria <- tryCatch(.Call(C_criteria, model, table, weights, threads), error = function(e) NULL)
  rows <- if (posterior) tryCatch(.Call(C_posterior, model, table, threads), error = function(e) NULL)
  cluster <- found$cluster
  if (.row_names_info(x) > 0) names(cluster) <- row.names(x)
  if (!is.null(rows)) colnames(rows$posterior) <- clusters
  rownames(about$means) <- clusters
  result <- found$result
  each <- if (is.null(weights)) rep(1, nrow(x)) else weights
  structure(list(
    cluster = cluster,
    size = setNames(tabulate(cluster, k), clusters),
    share = if (mixture) setNames(about$share, clusters),
    k = k,
    method = about$method,
    modes = mode_frame(profiles),
    profiles = profiles,
    means = if (ncol(about$means) > 0) about$means,
    quartiles = Filter(Negate(is.null), lapply(used, function(a) {
      if (!is.null(a$five)) dimnames(a$five) <- list(clusters, c("min", "25%", "50%", "75%", "max"))
      a$five
    })),
    trees = lapply(Filter(function(a) length(a$edges$from) > 0, used), function(a) {
      data.frame(from = a$values[a$edges$from], to = a$values[a$edges$to], length = a$edges$length,
                 stringsAsFactors = FALSE)
    }),
    importance = sort(vapply(used, `[[`, 0, "importance"), decreasing = TRUE),
    cut = Filter(Negate(is.null), lapply(used, `[[`, "cut")),
    objective = result$objective,
    logLik = criteria$logLik, npar = criteria$npar, aic = criteria$aic, bic = criteria$bic, icl = criteria$icl,
    criteria = if (!is.null(criteria)) unlist(criteria),
    posterior = rows$posterior,
    nobs = sum(each[!is.na(cluster)]),
    iter = result$passes,
    converged = identical(result$stop_reason, "converged"),
    restarts = result$restarts,
    agreement = about$agreement,
    k_curve = if (length(result$k_curve) > 0) as.data.frame(result$k_curve),
    structure_found = result$structure_found,
    gamma = if (is.finite(c(result$gamma, NA)[1])) result$gamma,
    restart_objectives = result$restart_records$objective,
    kinds = kinds,
    left_out = kinds$column[kinds$use == "left out"],
    weights = weights,
    model = .Call(C_write, model)
  ), class = "coforest")
}

# The most frequent value of every column in every cluster; NA where a cluster has no rows.
mode_frame <- function(profiles) {
  modes <- lapply(profiles, function(share) {
    levels <- colnames(share)
    best <- apply(share, 1, function(p) if (anyNA(p)) NA_integer_ else which.max(p))
    factor(levels[best], levels)
  })
  as.data.frame(modes, optional = TRUE, stringsAsFactors = FALSE)
}
