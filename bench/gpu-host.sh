#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs everything that needs a GPU, from an unpacked bench/pack.sh archive, and
# prints a short table (R3_DEVICE=cpu: what can also run without a GPU):
#   r3-pack/bench/gpu-host.sh [--seconds 480] [--only NAME[,NAME...]] [--out DIR]
# clang-22 has to be in PATH (or CLANG_ROOT=DIR of an unpacked toolchain). Steps
# for which no time is left are named, not run. Logs and JSON go to DIR.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=480 only= out=$root/results
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --only) only=,$2,; shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) sed -n '4,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
mkdir -p "$out"
deadline=$((SECONDS + seconds))

[[ -n ${CLANG_ROOT:-} ]] && export PATH=$CLANG_ROOT/bin:$PATH LD_LIBRARY_PATH=$CLANG_ROOT/lib:${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH=$root/lib/needed:${LD_LIBRARY_PATH:-}
# The toolkit as clang looks for it: where the ptxas in PATH lies, then the usual
# places. A ptxas may be a script that stands elsewhere, so headers decide.
toolkits() {
  local ptxas
  for ptxas in $(type -ap ptxas); do dirname "$(dirname "$(readlink -f "$ptxas")")"; done
  ls -d /usr/local/cuda /usr/local/cuda-1[2-9]* 2>/dev/null
}
cuda=
while read -r place; do
  [[ -z $cuda && -e $place/include/cuda.h && -x $place/bin/ptxas ]] && cuda=$place
done < <(toolkits)
[[ -n $cuda ]] || { echo "error: no CUDA Toolkit in PATH or /usr/local"; exit 77; }
export CUDA_PATH=$cuda PATH=$cuda/bin:$PATH
clang=$(command -v clang++-22 || command -v clang++) || { echo "error: no clang++ in PATH"; exit 77; }
export R3_CLANG=$clang PATH=$root/bin:$root/tools:$PATH PYTHONDONTWRITEBYTECODE=1

passed=0 failed=0 skipped=0 started=()
row() { printf '%-18s %-7s %6ss  %s\n' "$@"; }
# begin NAME SECONDS COMMAND...: starts a step.
begin() {
  local name=$1 limit=$2 left=$((deadline - SECONDS)); shift 2
  [[ -n $only && $only != *",$name,"* ]] && return
  started+=("$name")
  if [[ $left -lt 5 ]]; then echo "no-time 0" >"$out/$name.status"; return; fi
  { local from=$SECONDS
    timeout -k 5 $((left < limit ? left : limit)) "$@" >"$out/$name.log" 2>"$out/$name.err"
    echo "$? $((SECONDS - from))" >"$out/$name.status"; } &
}
# Waits for all that was begun: one row each; a step's last line is its result.
finish() {
  local name status seconds word
  wait
  for name in "${started[@]}"; do
    read -r status seconds <"$out/$name.status"
    case $status in
      0) passed=$((passed + 1)); word=ok ;;
      77) skipped=$((skipped + 1)); word=skipped ;;
      no-time) skipped=$((skipped + 1)); row "$name" "no time" 0 ""; continue ;;
      124 | 137) failed=$((failed + 1)); word=timeout ;;
      *) failed=$((failed + 1)); word=FAILED ;;
    esac
    row "$name" "$word" "$seconds" "$(tail -n 1 "$out/$name.log" | cut -c1-240)"
    [[ $word = ok || $word = skipped ]] ||
      { tail -n 25 "$out/$name.log"; tail -n 5 "$out/$name.err"; } | cut -c1-200 | sed 's/^/    /'
  done
  started=()
}
figure() {
  local name=$1 limit=$2; shift 2
  begin "$name" "$limit" python3 "$root/bench/run" "$name" --prefix "$root" --repeat 3 "$@"
}
# By itself: its times mean something.
timed() { figure "$@"; finish; }
# Not begun where there may be too little time for it.
named() {
  if [[ -n $only || $((deadline - SECONDS)) -ge $2 ]]; then timed "$@"; return; fi
  skipped=$((skipped + 1))
  row "$1" "no time" 0 "--only $1 runs it"
}

# The lit tests that run on either device, in the pack's layout.
lit_tests() {
  [[ -d $root/tools/lit ]] || { echo "no lit in the pack"; return 77; }
  mkdir -p "$out/lit"
  cat >"$out/lit/lit.site.cfg.py" <<END
config.r3_source = config.r3_build = config.r3_prefix = r"$root"
config.r3_examples = r"$root/share/r3/examples"
config.r3_has_plugin = True
config.llvm_tools = r"$(dirname "$clang")"
config.clang = r"$clang"
config.cmake = "cmake"
config.lit = r"$out/lit-main"
config.cuda = r"$cuda"
config.cxx = "g++"
config.r3_device = "${R3_DEVICE:-cuda}"
config.r3_only_with = "%device"
config.test_exec_root = r"$out/lit"
lit_config.load_config(config, r"$root/lit-tests/lit.cfg.py")
config.environment["R3_CLANG"] = config.clang
# Contexts of the tests' programs are made faster so.
config.environment["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"
END
  printf '%s\n' '#!/usr/bin/env python3' 'from lit.main import main' 'main()' >"$out/lit-main"
  chmod +x "$out/lit-main"
  PYTHONPATH=$root/tools/lit R3_LIT_ARGUMENTS=-j8 python3 "$root/lit-tests/check.py" \
    --lit="$out/lit-main" --report="$out/lit/report.json" "$out/lit" 2>&1
}
export -f lit_tests; export root out clang cuda

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no GPU"
"$clang" --version | head -n 1
row FIGURE RESULT TIME DETAIL
begin selftest 60 "$root/libexec/r3/r3-gpu-selftest"
finish
# What has no time to be measured, side by side. No more than this: CUDA makes
# one context at a time on the whole machine, and a fault in one process stalls
# the others.
begin lit 300 bash -c lit_tests
figure addresses 240
begin doctor 60 "$root/bin/r3" doctor
begin demo 280 bash "$root/share/r3/demo.sh" "$root" "$out/demo"
figure replay-reproduce 200
figure record-growth 60
finish
timed launch-overhead 60
timed record-pause 60
timed respawn 90
timed store-rate 120
timed record-time 120
timed rate 120 --seconds 2 --repeat 1
timed search-faults 90 --variants 60
# For these --only NAME, or many --seconds, gives the time.
named all-close 120
named gate-cost 300
named switches 300
named false-wins 400 --searches 60
printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[[ $failed = 0 ]]
