#include "kernels.h"

namespace wellput {

void add_resampling(nanobind::module_&) {}

}  // namespace wellput
