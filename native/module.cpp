// wellput._native: every kernel file adds its functions to this extension module.
#include <nanobind/nanobind.h>

#include "kernels.h"

NB_MODULE(_native, m) {
    m.doc() = "Native kernels: arrays or lists of str in, arrays out; the GIL released.";
    // io/
    wellput::add_evalset_lines(m);
    // metrics/
    wellput::add_accuracy(m);
    wellput::add_bleu(m);
    wellput::add_chrf(m);
    wellput::add_diversity(m);
    wellput::add_length(m);
    wellput::add_nist(m);
    wellput::add_rouge(m);
    wellput::add_sari(m);
    wellput::add_ter(m);
    wellput::add_too_large(m);
    wellput::add_wer(m);
    // stats/
    wellput::add_bootstrapped_correlations(m);
    wellput::add_exchanged_correlations(m);
    wellput::add_left_out_correlations(m);
    wellput::add_mixed_equations(m);
    wellput::add_permuted_correlations(m);
    wellput::add_resampling(m);
    // text/
    wellput::add_tokenize(m);
    // language/degrade/
    wellput::add_word_filling(m);
    // language/models/
    wellput::add_arc_hybrid(m);
    wellput::add_biaffine(m);
    wellput::add_head_driven(m);
    wellput::add_tagger(m);
    wellput::add_tree_model(m);
    // language/ngrams/
    wellput::add_arpa(m);
    wellput::add_ngram_model(m);
    wellput::add_ngram_training(m);
    // language/paraphrase/
    wellput::add_boosting(m);
    wellput::add_brown_clusters(m);
    wellput::add_context_classifiers(m);
    // language/realize/
    wellput::add_label_choosing(m);
    wellput::add_label_training(m);
    wellput::add_lattice(m);
    wellput::add_order_network(m);
    wellput::add_ordering(m);
    wellput::add_ordering_training(m);
}
