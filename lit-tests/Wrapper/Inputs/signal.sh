# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# signal.sh FOLDER SIGNAL STATUS: starts clang-r3 on the fake clang of FOLDER,
# sends SIGNAL, and expects STATUS and an empty house.
cd "$1" && rm -f told folder
R3_CLANG=$1/clang "$1/bin/clang-r3" -c x.cpp &
pid=$!
for _ in $(seq 200); do [ -e folder ] && break; sleep 0.05; done
[ -d "$(cat folder)" ] || { echo "no hand-over folder"; exit 1; }
kill -s "$2" $pid
wait $pid
status=$?
[ $status = "$3" ] || { echo "status $status, $3 wanted"; exit 1; }
[ -e told ] || { echo "clang was not told"; exit 1; }
[ ! -e "$(cat folder)" ] || { echo "$(cat folder) is left"; exit 1; }
