# Trees, distances, comparisons, and what else there is to ask.

check_fit <- function(fit, by) {
  if (!inherits(fit, "coforest")) stop(by, "() takes a fit of coforest()", call. = FALSE)
}

trees <- function(fit) {
  check_fit(fit, "trees")
  fit$trees
}

value_dist <- function(fit, column) {
  check_fit(fit, "value_dist")
  if (!column %in% names(fit$profiles)) stop("there is no column ", sQuote(column), " in the fit", call. = FALSE)
  values <- colnames(fit$profiles[[column]])
  tree <- fit$trees[[column]]
  if (is.null(tree)) stop("column ", sQuote(column), " has no tree", call. = FALSE)
  place <- function(v) match(ifelse(is.na(v), "NA", v), values)
  from <- place(tree$from)
  to <- place(tree$to)
  distance <- matrix(Inf, length(values), length(values), dimnames = list(values, values))
  diag(distance) <- 0
  # an edge joins a value to the tree of those before it
  joined <- from[1]
  for (e in seq_along(from)) {
    distance[to[e], joined] <- distance[joined, to[e]] <- distance[joined, from[e]] + tree$length[e]
    joined <- c(joined, to[e])
  }
  as.dist(distance)
}

compare_clusterings <- function(a, b, weights = NULL) {
  ids <- function(x) {
    if (inherits(x, "coforest")) x <- x$cluster
    x <- as.integer(factor(x))
    x[is.na(x)] <- -1L
    x
  }
  a <- ids(a)
  b <- ids(b)
  if (length(a) != length(b)) stop("the clusterings have ", length(a), " and ", length(b), " rows", call. = FALSE)
  .Call(C_evaluate, a, b, if (is.null(weights)) NULL else as.double(weights))
}

coforest_methods <- function() {
  known <- .Call(C_methods)
  data.frame(method = known$method, title = known$title, predicts = known$predicts, stringsAsFactors = FALSE)
}

coforest_options <- function() {
  known <- .Call(C_options)
  values <- vapply(known$words, paste, "", collapse = ", ")
  data.frame(option = known$option, values = values, about = known$about, stringsAsFactors = FALSE)
}

coforest_report <- function(fit, file, data = NULL, source = deparse(substitute(data))) {
  check_fit(fit, "coforest_report")
  source <- enc2utf8(paste(source, collapse = ""))
  table <- if (!is.null(data)) make_table(as_columns(data)[setdiff(fit$kinds$column, fit$left_out)])
  .Call(C_report, .Call(C_read, fit$model), table, path.expand(file), source)
  invisible(file)
}
