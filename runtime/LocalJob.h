//===- LocalJob.h - All ranks as threads of this process --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference way to run a job, and the one that can compare every step with
// an unsharded plan, since all ranks' memory is at hand.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_LOCALJOB_H
#define SFSDP_RUNTIME_LOCALJOB_H

#include "runtime/RunLog.h"

namespace sfsdp::runtime {

/// Runs `job` to its end. The error is the first one of any rank.
Status runLocalJob(const Job &job);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_LOCALJOB_H
