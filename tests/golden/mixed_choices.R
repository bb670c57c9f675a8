# Writes mixed_choices.csv, simulated choices, and mixed_choices.json: BradleyTerry2 without random effects, and
# lme4 with them (nAGQ = 1), whose design matrix of random effects is replaced by one with 1 for the first
# system of a choice and -1 for the second.
# Rscript mixed_choices.R (R 4.2.2, BradleyTerry2 1.1-2, lme4 1.1-31)
suppressMessages({library(BradleyTerry2); library(lme4); library(jsonlite); library(Matrix)})
set.seed(7)
n <- 400
pairs <- t(replicate(n, sample(5, 2)))
choices <- data.frame(judge = sample(9, n, TRUE), item = sample(30, n, TRUE), first = pairs[, 1], second = pairs[, 2])
strength <- c(-.6, -.2, 0, .3, .6)
taste <- matrix(rnorm(45, 0, .7), 9)
output <- matrix(rnorm(150, 0, .8), 30)
latent <- strength[choices$first] - strength[choices$second] +
  taste[cbind(choices$judge, choices$first)] - taste[cbind(choices$judge, choices$second)] +
  output[cbind(choices$item, choices$first)] - output[cbind(choices$item, choices$second)]
choices$length <- sample(-9:9, n, TRUE)
choices$won <- as.integer(runif(n) < plogis(latent + .05 * choices$length))
write.csv(choices, "mixed_choices.csv", row.names = FALSE, quote = FALSE)

first <- data.frame(system = factor(choices$first, 1:5), length = choices$length)
second <- data.frame(system = factor(choices$second, 1:5), length = 0)
plain <- BTm(cbind(choices$won, 1 - choices$won), first, second, ~ system + length, id = "system",
             control = list(epsilon = 1e-14))
errors <- function(covariance) sqrt(diag(as.matrix(covariance)))

signed <- function(group) {  # the levels of group x system, 1 and -1
  a <- paste(group, choices$first)
  b <- paste(group, choices$second)
  levels <- sort(unique(c(a, b)))
  sparseMatrix(i = match(a, levels), j = seq_len(n), x = 1, dims = c(length(levels), n)) -
    sparseMatrix(i = match(b, levels), j = seq_len(n), x = 1, dims = c(length(levels), n))
}
blocks <- list(signed(choices$judge), signed(choices$item))
fixed <- outer(choices$first, 2:5, "==") - outer(choices$second, 2:5, "==")
part <- data.frame(won = choices$won, fixed, length = choices$length)
# A stand-in formula with as many levels in each factor; then the real matrix takes its place.
part$judge_system <- factor(rep_len(seq_len(nrow(blocks[[1]])), n))
part$item_system <- factor(rep_len(seq_len(nrow(blocks[[2]])), n))
parsed <- glFormula(won ~ 0 + X1 + X2 + X3 + X4 + length + (1 | judge_system) + (1 | item_system), part, family = binomial)
order <- match(c("judge_system", "item_system"), names(parsed$reTrms$cnms))
parsed$reTrms$Zt <- as(do.call(rbind, blocks[order]), "dgCMatrix")
parsed$reTrms$Lind <- rep(1:2, vapply(blocks[order], nrow, 1L))
parsed$reTrms$Lambdat <- Diagonal(x = rep(1, nrow(parsed$reTrms$Zt)))
parsed$reTrms$Lambdat <- as(as(parsed$reTrms$Lambdat, "generalMatrix"), "CsparseMatrix")
control <- glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-8, maxfun = 1e6), tolPwrss = 1e-12)
devfun <- do.call(mkGlmerDevfun, c(parsed, list(control = control)))
opt <- optimizeGlmer(devfun, optimizer = "bobyqa", control = control$optCtrl)
devfun <- updateGlmerDevfun(devfun, parsed$reTrms)
opt <- optimizeGlmer(devfun, optimizer = "bobyqa", stage = 2, control = control$optCtrl)
opt <- optimizeGlmer(devfun, optimizer = "bobyqa", stage = 2, control = control$optCtrl,
                     start = list(theta = opt$par[1:2], fixef = opt$par[-(1:2)]))
hessian <- lme4:::deriv12(devfun, opt$par)$Hessian
covariance <- 2 * solve(hessian)[-(1:2), -(1:2)]
write(toJSON(list(
  plain = list(effects = unname(coef(plain)), errors = unname(errors(vcov(plain))), criterion = deviance(plain)),
  random = list(effects = opt$par[-(1:2)], errors = errors(covariance), criterion = opt$fval,
                components = setNames(as.list(opt$par[1:2][order]^2), c("judge:system", "item:system")))
), digits = 12, auto_unbox = TRUE, pretty = TRUE), "mixed_choices.json")
