# Writes mixed_designs.csv: five unbalanced studies with known effects, simulated.
# Rscript mixed_designs.R > mixed_designs.csv (R 4.2.2)
set.seed(20)
study <- function(name, cells, sd, quality, residual) {
  effect <- function(labels, sd) rnorm(nlevels(factor(labels)), 0, sd)[as.integer(factor(labels))]
  felt <- quality[cells$system] + rnorm(nrow(cells), 0, residual)
  for (part in names(sd)) {
    labels <- do.call(paste, c(cells[strsplit(part, ":")[[1]]], sep = ":"))
    felt <- felt + effect(labels, sd[[part]])
  }
  cells$length <- round(runif(nrow(cells), 5, 30))
  felt <- felt + 0.03 * (cells$length - 17)
  data.frame(
    design = name, judge = cells$judge, item = cells$item, document = cells$document,
    system = cells$system, length = cells$length, value = round(50 + 15 * felt, 1),
    grade = findInterval(felt, c(-1.2, -0.3, 0.4, 1.3)) + 1, yes = as.integer(felt > 0.2)
  )
}
grid <- function(judges, systems, items, share, per_document = 1) {
  cells <- expand.grid(judge = seq_len(judges), system = seq_len(systems), item = seq_len(items))
  cells <- cells[runif(nrow(cells)) < share, ]
  cells$document <- (cells$item - 1) %/% per_document + 1
  cells
}
crossed <- grid(8, 4, 30, 0.35)
replicated <- grid(6, 3, 25, 0.7)
documents <- grid(9, 4, 36, 0.3, per_document = 4)
documents <- documents[(documents$judge + documents$document) %% 3 != 0, ]
crowd <- grid(40, 5, 60, 0.04)
nested <- grid(12, 3, 40, 0.6)
nested <- nested[nested$judge %% 3 + 1 == nested$system, ]
found <- rbind(
  study("crossed", crossed, list(judge = .5, item = .6, "judge:system" = .3), c(0, .2, .5, -.4), .8),
  study("replicated", replicated, list(judge = .4, item = .5, "item:system" = .6, "judge:system" = .3), c(0, .4, -.2), .7),
  study("documents", documents, list(judge = .4, item = .3, document = .5, "document:system" = .5), c(0, .3, .3, -.5), .8),
  study("crowd", crowd, list(judge = .7, item = .4), c(0, .1, .2, .3, .9), 1),
  study("nested", nested, list(item = .7), c(0, .4, .1), .8)
)
write.csv(found, row.names = FALSE, quote = FALSE)
