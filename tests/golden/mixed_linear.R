# Writes mixed_linear.json: lme4 and lmerTest on the studies of mixed_designs.csv.
# Rscript mixed_linear.R > mixed_linear.json (R 4.2.2, lme4 1.1-31, lmerTest 3.1-3)
suppressMessages({library(lme4); library(lmerTest); library(jsonlite)})
data <- read.csv("mixed_designs.csv")
for (name in c("judge", "item", "document", "system")) data[[name]] <- factor(data[[name]])
formulas <- c(
  crossed = "value ~ 0 + system + (1|judge) + (1|item) + (1|judge:system)",
  replicated = "value ~ 0 + system + (1|judge) + (1|item) + (1|judge:system) + (1|item:system)",
  documents = "value ~ 0 + system + (1|judge) + (1|item) + (1|document) + (1|judge:system) + (1|document:system) + (1|item:system)",
  crowd = "value ~ 0 + system + length + (1|judge) + (1|item) + (1|item:system)",
  nested = "value ~ 0 + system + (1|judge) + (1|item) + (1|item:system)"
)
fits <- lapply(names(formulas), function(name) {
  part <- droplevels(data[data$design == name, ])
  control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5))
  fit <- suppressMessages(lmer(as.formula(formulas[[name]]), part, control = control))
  for (restart in 1:3)
    fit <- suppressMessages(update(fit, start = pmax(getME(fit, "theta"), 1e-3)))
  systems <- nlevels(part$system)
  pairs <- t(combn(systems, 2))
  contrasts <- apply(pairs, 1, function(pair) {
    weights <- numeric(length(fixef(fit)))
    weights[pair[1]] <- 1
    weights[pair[2]] <- -1
    unlist(contest1D(fit, weights)[c("Estimate", "Std. Error", "df")])
  })
  variance <- as.data.frame(VarCorr(fit))
  list(
    formula = formulas[[name]], effects = unname(fixef(fit)), errors = sqrt(diag(as.matrix(vcov(fit)))),
    components = as.list(setNames(variance$vcov, variance$grp)), criterion = unname(REMLcrit(fit)),
    pairs = pairs - 1, differences = unname(contrasts[1, ]), difference_errors = unname(contrasts[2, ]),
    freedom = unname(contrasts[3, ]),
    judges = if ("judge" %in% names(ranef(fit))) as.list(setNames(ranef(fit)$judge[, 1], rownames(ranef(fit)$judge)))
  )
})
cat(toJSON(setNames(fits, names(formulas)), digits = 12, auto_unbox = TRUE, pretty = TRUE), "\n")
