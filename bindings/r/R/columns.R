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

# What every column counts as, and why: a data frame that print() shows.
decide_kinds <- function(x, table, missing, quantities, categorical, numeric, ignore) {
  advice <- .Call(C_advise, table, missing)
  kind <- kind_names[advice$kind + 1L]
  # who made a column a factor has said that it is a category
  stated <- vapply(x, function(v) is.factor(v) || is.logical(v), NA)
  kind[stated & kind == "quantity"] <- "category"
  kind[names(x) %in% categorical] <- "category"
  wanted <- names(x) %in% numeric
  if (any(wanted & !advice$numbers)) {
    stop("column ", sQuote(names(x)[wanted & !advice$numbers][1]),
         " is not numeric: it has other texts than numbers and dates", call. = FALSE)
  }
  kind[wanted] <- "quantity"
  use <- c(category = "used", quantity = if (quantities == "cut") "cut" else "used", identifier = "left out",
           constant = "left out")[kind]
  use[names(x) %in% ignore] <- "left out"
  why <- ifelse(names(x) %in% ignore, "asked for by ignore", advice$why)
  data.frame(column = names(x), kind = kind, use = unname(use), why = why, stringsAsFactors = FALSE)
}

# Sets roles and cuts; the numbers are those of cof_role in C.
apply_kinds <- function(table, kinds, quantities, bins) {
  quantity <- kinds$use != "left out" & kinds$kind == "quantity"
  if (quantities == "cut") {
    for (c in which(quantity)) .Call(C_cut, table, c - 1L, as.integer(bins))
  }
  role <- integer(nrow(kinds))
  role[kinds$use == "left out"] <- 4L
  if (quantities == "scaled") role[quantity] <- 5L
  .Call(C_roles, table, role)
}
