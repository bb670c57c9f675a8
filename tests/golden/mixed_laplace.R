# Writes mixed_laplace.json: lme4::glmer (nAGQ = 1) and ordinal::clmm on the studies of mixed_designs.csv.
# Rscript mixed_laplace.R > mixed_laplace.json (R 4.2.2, lme4 1.1-31, ordinal 2022.11-16)
suppressMessages({library(lme4); library(ordinal); library(jsonlite)})
data <- read.csv("mixed_designs.csv")
for (name in c("judge", "item", "document", "system")) data[[name]] <- factor(data[[name]])
random <- c(
  crossed = "(1|judge) + (1|item) + (1|judge:system)",
  replicated = "(1|judge) + (1|item) + (1|item:system)",
  documents = "(1|judge) + (1|document) + (1|document:system)",
  crowd = "length + (1|judge) + (1|item)",
  nested = "(1|judge) + (1|item)"
)
tight <- glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-8, maxfun = 1e6),
                      tolPwrss = 1e-12, check.conv.grad = "ignore", check.conv.hess = "ignore")
binary <- lapply(names(random), function(name) {
  formula <- paste("yes ~ 0 + system +", random[[name]])
  part <- droplevels(data[data$design == name, ])
  fit <- suppressMessages(glmer(as.formula(formula), part, family = binomial, control = tight))
  fit <- suppressMessages(update(fit, start = list(theta = pmax(getME(fit, "theta"), 1e-3), fixef = fixef(fit))))
  variance <- as.data.frame(VarCorr(fit))
  list(formula = formula, effects = unname(fixef(fit)), errors = sqrt(diag(as.matrix(vcov(fit)))),
       components = as.list(setNames(variance$vcov, variance$grp)), criterion = -2 * as.numeric(logLik(fit)))
})
ordered <- lapply(names(random), function(name) {
  formula <- paste("grade ~ system +", random[[name]])
  part <- droplevels(data[data$design == name, ])
  part$grade <- factor(part$grade)
  part$`judge:system` <- interaction(part$judge, part$system, drop = TRUE)
  fit <- clmm(as.formula(formula), part, control = clmm.control(gradTol = 1e-7, maxIter = 1000))
  variance <- lapply(VarCorr(fit), function(found) found[1, 1])
  parameters <- c(fit$Theta, fit$beta)
  list(formula = formula, thresholds = as.numeric(fit$Theta), effects = unname(fit$beta),
       errors = unname(sqrt(diag(vcov(fit)))[length(fit$Theta) + seq_along(fit$beta)]),
       components = variance, criterion = -2 * as.numeric(logLik(fit)))
})
cat(toJSON(list(binary = setNames(binary, names(random)), ordinal = setNames(ordered, names(random))),
           digits = 12, auto_unbox = TRUE, pretty = TRUE), "\n")
