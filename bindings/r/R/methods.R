# What generic functions do with a fit.

predict.coforest <- function(object, newdata, type = c("cluster", "posterior", "distance", "score"),
                             unseen = c("warn", "ignore", "fail"), threads = getOption("coforest.threads", 2L), ...) {
  type <- match.arg(type)
  unseen <- match.arg(unseen)
  no_more(...)
  if (missing(newdata)) {
    if (type == "cluster") return(object$cluster)
    if (type == "posterior" && !is.null(object$posterior)) return(object$posterior)
    stop("give newdata: the fit keeps no rows", call. = FALSE)
  }
  x <- as_columns(newdata)
  wanted <- setdiff(object$kinds$column, object$left_out)
  absent <- setdiff(wanted, names(x))
  if (length(absent) > 0) stop("newdata lacks the column ", sQuote(absent[1]), call. = FALSE)
  clusters <- as.character(seq_len(object$k))
  if (nrow(x) == 0) {
    empty <- matrix(0, 0, object$k, dimnames = list(NULL, clusters))
    return(switch(type, cluster = integer(), score = double(), empty))
  }
  table <- make_table(x[wanted])
  model <- .Call(C_read, object$model)
  tell_unseen(model, table, unseen)
  out <- switch(type,
    cluster = .Call(C_predict, model, table, threads),
    posterior = .Call(C_posterior, model, table, threads)$posterior,
    distance = .Call(C_distances, model, table, threads),
    score = .Call(C_posterior, model, table, threads)$log_likelihood)
  rows <- if (.row_names_info(x) > 0) row.names(x)
  if (is.matrix(out)) dimnames(out) <- list(rows, clusters) else names(out) <- rows
  out
}

tell_unseen <- function(model, table, unseen) {
  if (unseen == "ignore") return(invisible())
  met <- .Call(C_unseen, model, table)
  if (met$n == 0) return(invisible())
  listed <- paste0(met$column, " = ", ifelse(is.na(met$value), "NA", dQuote(met$value, FALSE)), " (", met$rows, " rows)",
                   collapse = ", ")
  more <- if (met$n > length(met$column)) paste0(" and ", met$n - length(met$column), " more") else ""
  message <- paste0("the fit never met ", listed, more, "; these cells count nothing")
  if (unseen == "fail") stop(message, call. = FALSE) else warning(message, call. = FALSE)
}

fitted.coforest <- function(object, ...) object$cluster

logLik.coforest <- function(object, ...) {
  if (is.null(object$logLik)) stop("this method has no likelihood", call. = FALSE)
  structure(object$logLik, df = object$npar, nobs = object$nobs, class = "logLik")
}

nobs.coforest <- function(object, ...) object$nobs

coef.coforest <- function(object, ...) object$profiles

print.coforest <- function(x, ...) {
  cat(x$k, if (x$k == 1) "cluster" else "clusters", "of", format(x$nobs, big.mark = ","), "rows by", x$method, "\n")
  cat("Sizes: ", paste0(x$size, collapse = ", "), "\n", sep = "")
  if (!is.null(x$agreement) && is.finite(x$agreement)) {
    cat("Restarts agree with the kept one by ", format(round(x$agreement, 2)),
        if (x$agreement < .7) ": other starts give other clusters", "\n", sep = "")
  }
  if (identical(x$structure_found, FALSE)) cat("No structure was found: one cluster describes these rows no worse.\n")
  told <- first_names(names(x$importance)[x$importance >= .05])
  if (nzchar(told)) cat("What tells them apart most: ", told, "\n", sep = "")
  for (c in which(x$kinds$use != "used")) {
    cat("Column ", x$kinds$column[c], ": ", x$kinds$use[c], " (", x$kinds$why[c], ")\n", sep = "")
  }
  invisible(x)
}

first_names <- function(names, most = 3) {
  names <- names[seq_len(min(most, length(names)))]
  if (length(names) < 2) return(paste(names, collapse = ""))
  paste(paste(names[-length(names)], collapse = ", "), "and", names[length(names)])
}

summary.coforest <- function(object, ...) {
  criteria <- c(logLik = object$logLik, npar = object$npar, AIC = object$aic, BIC = object$bic, ICL = object$icl)
  structure(list(fit = object, criteria = criteria, importance = object$importance, modes = object$modes),
            class = "summary.coforest")
}

print.summary.coforest <- function(x, ...) {
  print(x$fit)
  if (length(x$criteria) > 0) {
    cat("\nAs a mixture:\n")
    print(round(x$criteria, 3))
  }
  cat("\nShare of the uncertainty about the cluster that a column removes:\n")
  print(round(x$importance, 3))
  cat("\nMost frequent values:\n")
  print(x$modes)
  invisible(x)
}

tidy.coforest <- function(x, ...) {
  rows <- lapply(names(x$profiles), function(name) {
    share <- x$profiles[[name]]
    data.frame(column = name, value = rep(colnames(share), each = nrow(share)),
               cluster = rep(seq_len(nrow(share)), ncol(share)), estimate = as.vector(share), stringsAsFactors = FALSE)
  })
  do.call(rbind, rows)
}

glance.coforest <- function(x, ...) {
  known <- function(value) if (is.null(value)) NA_real_ else value
  data.frame(k = x$k, logLik = known(x$logLik), AIC = known(x$aic), BIC = known(x$bic), npar = known(x$npar), nobs = x$nobs,
             objective = x$objective, converged = x$converged, agreement = known(x$agreement))
}

augment.coforest <- function(x, data, ...) {
  if (missing(data)) stop("augment needs the data that was fitted, or new rows", call. = FALSE)
  data <- as.data.frame(data)
  data$.cluster <- factor(predict(x, data), seq_len(x$k))
  if (!is.null(x$posterior)) data$.uncertainty <- 1 - apply(predict(x, data[names(data) != ".cluster"], "posterior"), 1, max)
  data
}

cl_class_ids.coforest <- function(x) clue::as.cl_class_ids(x$cluster)
cl_membership.coforest <- function(x, k = n_of_classes.coforest(x)) {
  clue::as.cl_membership(if (is.null(x$posterior)) x$cluster else x$posterior)
}
is.cl_partition.coforest <- function(x) TRUE
is.cl_hard_partition.coforest <- function(x) TRUE
n_of_classes.coforest <- function(x) x$k
n_of_objects.coforest <- function(x) length(x$cluster)
