# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sends a signal to a search in its midst: signal.sh FOLDER SIGNAL r3|all FAKE
# all: to its worker, too, which dies of it.
set -eu
folder=$1 signal=$2 to=$3 fake=$4
mkdir -p "$folder"
cd "$folder"
# So that the worker can be told: its number, then the fake itself.
printf '#!/bin/bash\necho $$ > worker\nexec %s slow=100 log=log "$@"\n' "$fake" > launcher
chmod +x launcher
rm -f "$R3_STORE"/journal.db*
# Below nohup, SIGHUP would be ignored, as it should.
env --default-signal="$signal" r3 remix stencil --device cpu --launcher ./launcher > out 2>&1 &
search=$!
until [[ -s log && $(wc -l < log) -ge 3 ]]; do sleep 0.05; done
all=$search
[[ $to = r3 ]] || all+=" $(cat worker)"
kill -"$signal" $all
status=0
wait $search || status=$?
test $status = 1
grep -q "^interrupted, nothing is lost: the same command goes on" out
if grep lost out | grep -v "^interrupted"; then exit 1; fi
