# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# builds.sh FOLDER FILES TOOL [LAUNCHER]: a project of two CUDA units, built by
# make or ninja. Fails where a build does more or less than it has to.
set -eu
mkdir -p "$1" && cd "$1"
files=$2 tool=$3 launcher=${4:-}
cp "$files/bare.cu" a.cu && cp "$files/bare.cu" b.cu && sed -i s/host/host2/ b.cu
touch r3.toml log
# Every compile is written down.
printf '#!/bin/sh\necho "$@" >> %s/log\nexec %s clang-r3 "$@"\n' "$1" "$launcher" > compile
chmod +x compile
cat > Makefile <<'END'
all: a.o b.o
%.o: %.cu
	./compile -O1 -nocudainc -nocudalib -MMD -MF $*.d -c $< -o $@
-include a.d b.d
END
cat > build.ninja <<'END'
rule cu
  command = ./compile -O1 -nocudainc -nocudalib -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
build a.o: cu a.cu
build b.o: cu b.cu
END

# expect WHAT UNIT...: builds, and compares what was compiled.
expect() {
  what=$1; shift
  : > log
  $tool > out 2>&1 || { cat out; echo "$what: the build failed"; exit 1; }
  compiled=$(grep -o '[ab]\.cu ' log | sort | tr -d '\n')
  wanted=$(printf '%s ' "$@")
  [ "$compiled" = "${wanted# }" ] || { echo "$what: compiled '$compiled', not '$*'"; exit 1; }
}
header=r3.profile/units/a.cu.h
expect "first build" a.cu b.cu
[ -e $header ] && [ -e r3.profile/units/b.cu.h ]
expect "second build"
sleep 1.1
printf '// entry k-00000000 0123456789abcdef0123456789abcdef\nextern "C" char __r3_profile_1;\n' >> $header
mkdir -p r3.profile/k-00000000
expect "changed header" a.cu
expect "after it"
rm $header
expect "deleted header" a.cu
[ -e $header ]
expect "after that"
rm -r r3.profile
expect "deleted profile" a.cu b.cu
expect "at the end"
