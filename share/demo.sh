#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# R3 at work on three programs: each command is printed as one would type it,
# then run. Ends with an error where a step fails, or where a program that was
# built with its winners prints another checksum than before.
#   demo.sh PREFIX [FOLDER]    R3 in PREFIX; work in FOLDER (default: new)
# R3_DEVICE=cpu is set where there is no GPU.
set -euo pipefail
prefix=$(realpath "${1:?usage: demo.sh PREFIX [FOLDER]}")
work=$(realpath -m "${2:-$(mktemp -d "${TMPDIR:-/tmp}/r3-demo-XXXXXX")}")
examples=(stencil3d nbody spmv)
bold= plain=
[[ -t 1 ]] && bold=$'\e[1m' plain=$'\e[0m'

show() { printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"; }
step() { show "$*"; eval "$*"; }
# Runs a program, shows what it prints, and keeps it in FILE.
run_into() { local file=$1; shift; show "$*"; eval "$*" >"$file" || return; cat "$file"; }
note() { printf '# %s\n' "$*"; }
stop() { printf '\ndemo: failed: %s\n(files are left in %s)\n' "$1" "$work" >&2; exit 1; }
checksum() { sed -n 's/^checksum //p' "$1"; }

has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

small=() # arguments: [size] [steps], of a run of about a second
if [[ ${R3_DEVICE:-} != cpu ]] && has_gpu; then
  small=(" " " " " ")
  export ARCH=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  search='--space applicable --budget 1m --max-evals 200'
else
  small=("40 10" "1000 10" "2000 20")
  search='--space thin --budget 90s --max-evals 12'
fi

mkdir -p "$work" && cd "$work"
cp -rL "$prefix/share/r3/examples/." .
make -s clean >/dev/null 2>&1 || true
rm -rf r3.toml r3.profile .r3

show "export PATH=$prefix/bin:\$PATH"
export PATH=$prefix/bin:$PATH
unset R3_STORE R3_RECORD R3_DISABLE
if [[ -z ${ARCH:-} ]]; then
  note "There is no GPU here: kernels run on the CPU device, and all times are CPU times."
  step export R3_DEVICE=cpu
fi

note "An ordinary build, with another compiler."
step r3 init || stop "r3 init"
step make CXX=clang-r3 "${examples[@]}" || stop "the build"

note "One run of each program; launches of its kernels are captured."
for i in "${!examples[@]}"; do
  name=${examples[i]}
  run_into "$name.before" "./$name/$name ${small[i]}" || stop "$name"
  [[ -n $(checksum "$name.before") ]] || stop "$name printed no checksum"
  step "r3 record -- ./$name/$name ${small[i]}" || stop "recording $name"
done
step r3 list || stop "r3 list"

note "Do the originals give what they gave in the programs?"
step r3 replay || stop "a replay differs"

note "A short search, then the winners into text files beside the sources."
step r3 remix $search || stop "the search"
status=0
step r3 apply --accept weak || status=$?
if [[ $status = 5 ]]; then
  note "No gain was above the noise in so short a search; the best verified variants are taken by name."
  r3 remix $search --json >search.json 2>/dev/null || stop "r3 remix --json"
  python3 - <<'END' >chosen || stop "the search left no verified variant"
import json, sys
kernels = json.load(open("search.json"))["kernels"]
best = [(kernel["key"], max((one for one in kernel["evaluations"] if one["outcome"] == "ok"),
                            key=lambda one: one["gain"]["median"], default=None))
        for kernel in kernels]
for key, one in best:
    if one:
        print(key, one["variant"])
sys.exit(not any(one for _, one in best))
END
  while read -r kernel variant <&3; do
    step "r3 apply $kernel --variant $variant --accept weak" || stop "r3 apply"
  done 3<chosen
elif [[ $status != 0 ]]; then
  stop "r3 apply"
fi

note "The second build compiles what has a winner, and nothing else."
step make CXX=clang-r3 "${examples[@]}" || stop "the second build"
for i in "${!examples[@]}"; do
  name=${examples[i]}
  run_into "$name.after" "./$name/$name ${small[i]}" || stop "$name with its winners"
  [[ $(checksum "$name.after") = $(checksum "$name.before") ]] ||
    stop "$name: checksum $(checksum "$name.after"), before $(checksum "$name.before")"
  note "same checksum as before: $(checksum "$name.after")"
done
printf '\ndemo: all %d programs print the same checksum with their winners built in\n' "${#examples[@]}"
[[ -n ${2:-} ]] || rm -rf "$work"
