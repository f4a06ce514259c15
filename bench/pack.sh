#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Packs a built R3 for a machine that has a GPU and the CUDA Toolkit, but no
# LLVM and none of R3's libraries (those travel with it; clang-22 travels by
# itself):
#   bench/pack.sh OUT.tar.xz [BUILD]      (BUILD: build/)
# There: tar -xJf OUT.tar.xz && r3-pack/bench/gpu-host.sh
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "${1:?usage: pack.sh OUT.tar.xz [BUILD]}")
build=$(realpath "${2:-$here/build}")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
pack=$root/r3-pack

cmake --build "$build" --target all r3-gpu-selftest r3-bench-respawn r3-bench-times r3-bench-rate \
  r3-bench-false-wins r3-bench-search-faults >&2
cmake --install "$build" --prefix "$pack" --strip >/dev/null
cp "$build"/libexec/r3/r3-bench-{respawn,times} "$build/bin/r3-gpu-selftest" "$pack/libexec/r3/"
cp -r "$build/padding" "$build/faults" "$pack/"

# What programs and libraries need, but the C library, the driver, and LLVM with
# what LLVM needs itself.
mkdir -p "$pack/lib/needed"
for file in "$pack"/bin/* "$pack"/libexec/r3/* "$pack"/lib/*.so; do
  ldd "$file" 2>/dev/null | awk '$3 ~ /^\// {print $3}'
done | sort -u | grep -Ev '/(ld-linux|libc\.so|libm\.so|libdl|librt|libpthread|libcuda\.so|libLLVM|libclang|libz3|libxml2|libicu|libedit|libbsd|libmd|libtinfo|libffi|libstdc\+\+|libgcc_s)' |
  while read -r library; do cp -L "$library" "$pack/lib/needed/"; done

# Sources of benches and tests; lit, which is Python, and its small helpers.
mkdir -p "$pack/tools" "$pack/runtime/support"
cp "$here/runtime/support/LlvmOptions.def" "$pack/runtime/support/"
cp -r "$here/bench" "$pack/"
cp -r "$here/lit-tests" "$pack/lit-tests"
llvm=$(dirname "$(dirname "$(readlink -f "$(command -v clang++-22)")")")
for folder in "$llvm/utils/lit" /usr/lib/llvm-22/utils/lit; do
  [[ -d $folder ]] && { cp -r "$folder" "$pack/tools/lit"; break; }
done
for tool in not count split-file llvm-readelf; do
  [[ -e $llvm/bin/$tool ]] && cp -L "$llvm/bin/$tool" "$pack/tools/"
done
find "$pack" -name __pycache__ -prune -exec rm -rf {} +
tar -C "$root" -cf - r3-pack | xz -T0 -3 >"$out"
ls -l "$out"
