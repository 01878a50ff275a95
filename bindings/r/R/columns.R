# A data frame on its way into the library.

# One column as the C code takes it: its kind first, then the data.
prepare_column <- function(x, name) {
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (is.matrix(x) || is.list(x)) {
    stop("column ", sQuote(name), " is a ", class(x)[1], "; give columns of single values", call. = FALSE)
  }
  if (is.factor(x)) return(list("factor", as.integer(x), levels(x), is.ordered(x)))
  if (inherits(x, "Date")) return(list("date", as.double(x)))
  if (inherits(x, "POSIXct")) return(list("time", as.double(x)))
  if (is.logical(x)) return(list("factor", as.integer(x) + 1L, c("FALSE", "TRUE"), FALSE))
  if (is.character(x)) {
    values <- unique(x[!is.na(x)])
    return(list("factor", match(x, values), values, FALSE))
  }
  if (is.integer(x)) return(list("integer", as.vector(unclass(x))))
  if (is.numeric(x)) return(list("double", as.double(x)))
  stop("column ", sQuote(name), " is of class ", class(x)[1],
       "; coforest takes factors, texts, logicals, numbers, dates and times", call. = FALSE)
}

as_columns <- function(x) {
  if (is.table(x)) stop("x is a contingency table; give as.data.frame(x) and weights = Freq", call. = FALSE)
  if (is.matrix(x)) x <- as.data.frame(x, stringsAsFactors = FALSE)
  if (is.null(dim(x)) && is.atomic(x)) x <- data.frame(x = x)
  if (!is.data.frame(x)) stop("x is a ", class(x)[1], "; coforest takes a data frame or a matrix", call. = FALSE)
  if (anyDuplicated(names(x))) {
    stop("two columns are named ", sQuote(names(x)[duplicated(names(x))][1]), "; rename one", call. = FALSE)
  }
  x
}

make_table <- function(x) {
  .Call(C_table, unname(Map(prepare_column, x, names(x))), enc2utf8(names(x)), nrow(x))
}

# Columns of x by name or number; the argument's own name goes into the sentence.
named_columns <- function(x, which, argument) {
  if (is.null(which)) return(character())
  if (is.numeric(which) || is.logical(which)) which <- names(x)[which]
  unknown <- setdiff(which, names(x))
  if (length(unknown) > 0 || anyNA(which)) {
    stop(argument, " names ", sQuote(unknown[1]), ", which is no column", call. = FALSE)
  }
  which
}

kind_names <- c("category", "quantity", "identifier", "constant")

# What every column counts as, and why: a data frame that print() shows. The library decides; the numbers are those of cof_rule
# and cof_treatment in C.
decide_kinds <- function(x, table, missing, quantities, categorical, numeric, ignore) {
  # who made a column a factor has said that it is a category
  stated <- vapply(x, function(v) is.factor(v) || is.logical(v), NA)
  rules <- ifelse(names(x) %in% numeric, 1L, ifelse(stated | names(x) %in% categorical, 2L, 0L))
  advice <- .Call(C_advise, table, missing, rules, match(quantities, quantity_choices) - 1L)
  bad <- rules == 1L & !advice$numbers
  if (any(bad)) {
    stop("column ", sQuote(names(x)[bad][1]), " is not numeric: it has other texts than numbers and dates", call. = FALSE)
  }
  use <- c("used", "cut", "scaled", "left out")[advice$treatment + 1L]
  use[advice$kind == 3L | names(x) %in% ignore] <- "left out"
  kind <- ifelse(use %in% c("cut", "scaled"), "quantity",
                 ifelse(rules == 2L & advice$kind == 1L, "category", kind_names[advice$kind + 1L]))
  why <- ifelse(names(x) %in% ignore, "asked for by ignore", advice$why)
  data.frame(column = names(x), kind = kind, use = use, why = why, stringsAsFactors = FALSE)
}

# Sets roles and cuts; the numbers are those of cof_role in C.
apply_kinds <- function(table, kinds, bins) {
  for (c in which(kinds$use == "cut")) .Call(C_cut, table, c - 1L, as.integer(bins))
  .Call(C_roles, table, ifelse(kinds$use == "left out", 4L, ifelse(kinds$use == "scaled", 5L, 0L)))
}
