#include "kernels.h"

namespace wellput {

void add_bleu(nanobind::module_&) {}

}  // namespace wellput
