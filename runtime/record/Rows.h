// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of CudaApi.def as an enumeration, and the CUDA functions behind
// them as types. A row that this toolkit does not have has no function.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace r3::record {

// Pasting keeps CUDA's own macros (renamed functions) out of the names.
enum class Row : unsigned {
#define R3_CUDA_API(Name, Suffix) Name##_,
#include "runtime/support/CudaApi.def"
  Count
};

inline constexpr size_t RowCount = size_t(Row::Count);

enum class DefaultStream { none, ptsz, ptds };

/// Name, form with per-thread default stream, and type of a row's function.
template <Row R> struct Api;

#if CUDART_VERSION >= 13000
template <Row R> inline constexpr bool IsMissing = false;
#define R3_CUDA_API_12(Name, Suffix)                                           \
  template <> inline constexpr bool IsMissing<Row::Name##_> = true;
#define R3_CUDA_API(Name, Suffix)
#include "runtime/support/CudaApi.def"
#define R3_CUDA_API_12(Name, Suffix)
#else
template <Row R> inline constexpr bool IsMissing = false;
#endif

// Deprecated functions are passed on all the same.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define R3_CUDA_API(Name, Suffix)                                              \
  template <> struct Api<Row::Name##_> {                                       \
    using Type = decltype(::Name);                                             \
    static constexpr const char *Text = #Name;                                 \
    static constexpr DefaultStream PerThread = DefaultStream::Suffix;          \
  };
#include "runtime/support/CudaApi.def"
#pragma GCC diagnostic pop

} // namespace r3::record
