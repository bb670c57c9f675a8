# Writes intraclass.csv: psych::ICC of two tables of ratings, targets in rows, judges in columns.
# Rscript intraclass.R > intraclass.csv (R 4.2.2, psych 2.2.9)
library(psych)
tables <- list(
  shrout_fleiss = matrix(c(9,2,5,8, 6,1,3,2, 8,4,6,8, 7,1,2,6, 10,5,6,9, 6,2,4,7), ncol = 4, byrow = TRUE),
  severe = matrix(c(4,2,1, 5,3,2, 3,3,1, 6,4,2, 7,5,4, 5,2,3, 4,3,1, 6,6,3, 2,1,1, 5,4,2), ncol = 3, byrow = TRUE)
)
cat("table,name,value,f,df1,df2,p,low,high\n")
for (name in names(tables)) {
  found <- ICC(tables[[name]], lmer = FALSE)$results
  for (row in seq_len(nrow(found)))
    cat(paste(c(name, as.character(found$type[row]), sprintf("%.12g", unlist(found[row, 2:8]))), collapse = ","), "\n", sep = "")
}
