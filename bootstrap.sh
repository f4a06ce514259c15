#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# R3 on a fresh Debian 12 with the CUDA Toolkit, in one command:
#   ./bootstrap.sh demo     builds R3, then shows it at work on three programs
#   ./bootstrap.sh test     builds R3 and runs all tests
#   ./bootstrap.sh build    builds R3 into build/
#   ./bootstrap.sh doctor   says what is here and what is missing, changes nothing
# Missing Debian packages are installed with apt-get, for which alone root is
# needed (sudo, where this is not root). R3_JOBS: how many compilers at once.
set -euo pipefail
cd "$(dirname "$0")"

packages=(
  g++ cmake ninja-build make git pkg-config python3 python3-psutil
  clang-22 llvm-22-dev libclang-22-dev libclang-cpp22-dev lld-22 llvm-22-tools
  libcurl4-openssl-dev rapidjson-dev libsqlite3-dev libzstd-dev libxxhash-dev
  libboost-context-dev libcli11-dev libtomlplusplus-dev libeigen3-dev
  libgtest-dev libgmock-dev libbenchmark-dev)
jobs=${R3_JOBS:-$(nproc)}
build=$PWD/build

say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$1" >&2; exit "${2:-1}"; }

missing_packages() {
  local name
  for name in "${packages[@]}"; do
    dpkg-query -W -f '${Status}\n' "$name" 2>/dev/null | grep -q 'ok installed' || echo "$name"
  done
}

# The toolkit as clang looks for it: where the ptxas in PATH lies, then the usual
# places. A ptxas may be a script that stands elsewhere, so headers decide.
cuda_path() {
  local ptxas place
  while read -r place; do
    [[ -e $place/include/cuda.h ]] && { echo "$place"; return; }
  done < <(
    for ptxas in $(type -ap ptxas); do dirname "$(dirname "$(readlink -f "$ptxas")")"; done
    readlink -f /usr/local/cuda
    ls -d /usr/local/cuda-1[2-9]* 2>/dev/null | sort -V -r)
  return 0
}

has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

install_packages() {
  command -v dpkg-query >/dev/null || fail "this is no Debian; install what the list in $0 names, then use CMake by hand" 6
  local missing root=()
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} = 0 ]] && return
  say "These Debian packages are missing and will be installed: ${missing[*]}"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "installing them needs root: apt-get install ${missing[*]}" 6
    say "Installing them needs root; sudo may ask for your password."
    root=(sudo)
  fi
  "${root[@]}" apt-get update -q
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

require_toolkit() {
  [[ -e "$(cuda_path)/include/cuda.h" ]] ||
    fail "no CUDA Toolkit (12 or 13) in PATH or /usr/local/cuda; R3 needs its headers and ptxas" 6
}

build() {
  install_packages
  require_toolkit
  local launcher=()
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  say "Building R3 into build/ (preset ci, $jobs jobs)"
  mkdir -p "$build"
  cmake --preset ci "${launcher[@]}" -DCUDAToolkit_ROOT="$(cuda_path)" >"$build/configure.log" 2>&1 ||
    { tail -n 30 "$build/configure.log"; fail "CMake did not finish; see build/configure.log"; }
  cmake --build "$build" -j "$jobs" --target all R3UnitTests
}

run_tests() {
  build
  local log=$build/check.log status=0
  cmake --build "$build" -j "$jobs" --target check-r3 2>&1 | tee "$log" || status=$?
  # What failed and the count come last, whatever ninja says after them.
  grep -E '^(FAIL|TIMEOUT|XPASS|UNRESOLVED): [^(]*$' "$log" || true
  grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 || { say "error: no test was run"; exit 1; }
  exit "$status"
}

doctor() {
  local missing status=0
  say "system    $(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME"), $(nproc) cores, $(free -g | awk '/^Mem/ {print $2}') GiB memory, $(df -h --output=avail . | tail -n 1 | tr -d ' ') free disk"
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} = 0 ]]; then say "packages  all there"; else
    say "packages  missing: ${missing[*]}"; status=6; fi
  if [[ -e "$(cuda_path)/include/cuda.h" ]]; then
    say "toolkit   $(cuda_path), CUDA $(awk '/#define CUDA_VERSION/ {printf "%d.%d", $3 / 1000, $3 % 1000 / 10}' "$(cuda_path)/include/cuda.h")"
  else say "toolkit   none: CUDA 12 or 13 is needed"; status=6; fi
  if has_gpu; then say "gpu       $(nvidia-smi -L | head -n 1)"; else
    say "gpu       none: demo and tests use the CPU device"; fi
  if [[ -x $build/bin/r3 ]]; then say "build     $build"; else say "build     none yet: ./bootstrap.sh build"; fi
  exit "$status"
}

case ${1:-} in
  build) build ;;
  test) run_tests ;;
  demo)
    build
    exec bash share/demo.sh "$build" ;;
  doctor) doctor ;;
  *)
    sed -n '4,10s/^# \{0,1\}//p' "$0"
    exit 2 ;;
esac
