# Pictures in base graphics.

plot.coforest <- function(x, which = c("profiles", "trees", "importance", "k", "uncertainty"), column = NULL, ...) {
  which <- match.arg(which)
  switch(which, profiles = plot_profiles(x, ...), trees = plot_trees(x, column, ...), importance = plot_importance(x, ...),
         k = plot_k(x, ...), uncertainty = plot_uncertainty(x, ...))
  invisible(x)
}

# Shares of the values of the columns that tell most: a panel a column, a bar a cluster.
plot_profiles <- function(x, most = 6, ...) {
  shown <- names(x$importance)[seq_len(min(most, length(x$importance)))]
  old <- par(mfrow = c(ceiling(length(shown) / 3), min(3, length(shown))), mar = c(2.5, 2.5, 4.5, 1))
  on.exit(par(old))
  for (name in shown) {
    share <- x$profiles[[name]]
    shades <- hcl.colors(ncol(share), "Viridis")
    barplot(t(share), horiz = TRUE, las = 1, col = shades, border = "white", xlim = c(0, 1), ...)
    mtext(name, line = 2.6, font = 2)
    # as many values as a line holds
    few <- seq_len(min(6, ncol(share)))
    legend("top", substr(colnames(share)[few], 1, 14), fill = shades[few], border = NA, bty = "n", horiz = TRUE,
           inset = -.07, xpd = NA, cex = 1, x.intersp = .5)
  }
}

# The tree of one column: values by their distance from an end of the longest path.
plot_trees <- function(x, column = NULL, ...) {
  if (is.null(column)) column <- intersect(names(x$importance), names(x$trees))[1]
  if (is.na(column)) stop("the fit has no trees", call. = FALSE)
  d <- as.matrix(value_dist(x, column))
  end <- which(d == max(d), arr.ind = TRUE)[1, 1]
  along <- d[end, ]
  line <- rank(along, ties.method = "first")
  old <- par(mar = c(4, 1, 1, 1))
  on.exit(par(old))
  plot.new()
  plot.window(c(-.1, 1.1) * max(along), c(length(along) + .5, .3))
  tree <- x$trees[[column]]
  from <- ifelse(is.na(tree$from), "NA", tree$from)
  to <- ifelse(is.na(tree$to), "NA", tree$to)
  segments(along[from], line[from], along[from], line[to], col = "grey50")
  segments(along[from], line[to], along[to], line[to], col = "grey50")
  points(along, line, pch = 19, ...)
  text(along, line, names(along), pos = 3)
  axis(1)
  mtext(paste0(column, ": distance along the tree"), 1, 2.5)
}

plot_importance <- function(x, ...) {
  shown <- rev(x$importance[seq_len(min(20, length(x$importance)))])
  dotchart(shown, labels = names(shown), pch = 19, xlab = "share of the uncertainty about the cluster that is removed", ...)
}

plot_k <- function(x, ...) {
  if (is.null(x$k_curve)) stop("k was given; fit with a range such as k = c(2, 8) for this picture", call. = FALSE)
  plot(x$k_curve$k, x$k_curve$log_likelihood, type = "b", pch = 19, xlab = "number of clusters",
       ylab = "integrated log-likelihood", ...)
  abline(v = x$k, lty = 3)
}

plot_uncertainty <- function(x, ...) {
  if (is.null(x$posterior)) stop("the fit has no memberships; fit with posterior = TRUE", call. = FALSE)
  hist(1 - apply(x$posterior, 1, max), breaks = 20, xlab = "1 - largest membership of a row", main = "", col = "grey80", ...)
}
