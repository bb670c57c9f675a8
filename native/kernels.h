// The kernels of wellput._native: each file adds its functions to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace wellput {

// io/
void add_evalset_lines(nanobind::module_& m);

// metrics/
void add_accuracy(nanobind::module_& m);
void add_bleu(nanobind::module_& m);
void add_chrf(nanobind::module_& m);
void add_diversity(nanobind::module_& m);
void add_length(nanobind::module_& m);
void add_nist(nanobind::module_& m);
void add_rouge(nanobind::module_& m);
void add_sari(nanobind::module_& m);
void add_ter(nanobind::module_& m);
void add_too_large(nanobind::module_& m);  // an exception, in scoring.cpp
void add_wer(nanobind::module_& m);

// stats/
void add_bootstrapped_correlations(nanobind::module_& m);
void add_exchanged_correlations(nanobind::module_& m);
void add_left_out_correlations(nanobind::module_& m);
void add_mixed_equations(nanobind::module_& m);
void add_permuted_correlations(nanobind::module_& m);
void add_resampling(nanobind::module_& m);

// text/
void add_tokenize(nanobind::module_& m);

// language/degrade/
void add_word_filling(nanobind::module_& m);

// language/models/
void add_arc_hybrid(nanobind::module_& m);
void add_biaffine(nanobind::module_& m);
void add_head_driven(nanobind::module_& m);
void add_tagger(nanobind::module_& m);
void add_tree_model(nanobind::module_& m);

// language/ngrams/
void add_arpa(nanobind::module_& m);
void add_ngram_model(nanobind::module_& m);
void add_ngram_training(nanobind::module_& m);

// language/paraphrase/
void add_boosting(nanobind::module_& m);
void add_brown_clusters(nanobind::module_& m);
void add_context_classifiers(nanobind::module_& m);

// language/realize/
void add_label_choosing(nanobind::module_& m);
void add_label_training(nanobind::module_& m);
void add_lattice(nanobind::module_& m);
void add_order_network(nanobind::module_& m);
void add_ordering(nanobind::module_& m);
void add_ordering_training(nanobind::module_& m);

}  // namespace wellput
