# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ccache.sh FOLDER FILES: what ccache answers by itself, and what not.
set -eu
mkdir -p "$1" && cd "$1"
export CCACHE_DIR=$1/cache
cp "$2/bare.cu" kernel.cu && touch r3.toml
hits() { ccache --print-stats | awk '/^(direct|preprocessed)_cache_hit/ { n += $2 } END { print n + 0 }'; }
build() { rm -f k.o; ccache clang-r3 -O1 -nocudainc -nocudalib -MMD -MF k.d -c kernel.cu -o k.o && test -s k.o && test -s k.d; }
check() { [ "$(hits)" = "$2" ] || { echo "$1: $(hits) hits, not $2"; exit 1; }; }
build; check "first" 0
cp k.d first.d
build; check "again" 1
cmp k.d first.d
printf 'extern "C" char __r3_profile_1;\n' >> r3.profile/units/kernel.cu.h
build; check "changed header" 1
build; check "again with it" 2
printf '' > r3.profile/units/kernel.cu.h
build; check "empty header" 3 # the first text again
