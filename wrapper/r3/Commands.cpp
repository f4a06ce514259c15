// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of subcommands, in the order in which they are used.
#include "wrapper/r3/Command.h"

namespace r3 {

namespace {

const CommandRow Rows[] = {
    {"init", "Make r3.toml and an empty profile here",
     "  r3 init\n"
     "  make CXX=clang-r3          then build as before, with another "
     "compiler\n",
     false, false, makeInit},
    {"record", "Run a program and keep launches of its hot kernels",
     "  r3 record -- ./app in.dat\n"
     "  r3 record -k stencil -c 1 -- ./app in.dat    only kernels named so\n"
     "  r3 record --device cpu -- ./app in.dat       without a GPU\n"
     "  r3 record -- mpirun -n 4 ./app               all ranks, one store\n"
     "\n"
     "The exit status is the program's (128 + n where signal n ended it).\n"
     "Recordings go to the store: $R3_STORE, else .r3 beside r3.toml.\n",
     true, true, makeRecord},
    {"list", "Show kernels by share of time, and their recordings",
     "  r3 list\n"
     "  r3 list --classes          with the argument classes that were seen\n"
     "  r3 list --outcomes         how the variants of a search ended\n"
     "  r3 list --device cpu       what was recorded on that device alone\n"
     "  r3 list --json\n",
     false, true, makeList},
    {"inspect", "Print what is in a file of R3",
     "  r3 inspect .r3/recordings/KEY/ID.r3rec\n"
     "  r3 inspect 5f3a            a recording, unit, run or variant by its "
     "id\n"
     "  r3 inspect ./app           the units that a program carries\n"
     "  r3 inspect r3.profile/stencil3d-1a2b3c4d/kernel.toml\n",
     false, false, makeInspect},
    {"replay", "Replay the originals: do they reproduce?",
     "  r3 replay\n"
     "  r3 replay stencil3d -n 32\n"
     "  r3 replay --launcher 'srun -n1 --gpus=1'\n"
     "\n"
     "Exit status 4 where a replay differs from what the program computed.\n",
     false, true, makeReplay},
    {"remix", "Search for faster variants of the recorded kernels",
     "  r3 remix --budget 20m      Ctrl-C is safe; the same command goes on\n"
     "  r3 remix stencil3d --max-evals 20 --seed 7\n"
     "  r3 remix --more 10m        add to a budget that is used up\n"
     "  r3 remix --deterministic times --max-evals 200\n"
     "  r3 remix --plan            what would be done; nothing is written\n"
     "  r3 remix --space applicable    only what r3 apply can make use of\n"
     "  r3 remix --space thin      some forty variants, in random order\n"
     "\n"
     "[space] of r3.toml limits what a search varies (docs/SPACE.md):\n"
     "  edits = 0\n"
     "  maxnreg = [32]\n"
     "\n"
     "RANKED: what the search measured; it ranks and proves nothing. GAIN: the "
     "best,\n"
     "confirmed by the gate: every check on every recording, those included "
     "that the\n"
     "search did not see, and times from processes of their own, with bounds "
     "of 99.97 %.\n",
     false, true, makeRemix},
    {"status", "Show what a search is doing, or the last one did",
     "  r3 status                  from another terminal, or after it\n"
     "  watch r3 status\n"
     "\n"
     "A search writes what it does into the store about once a second. Exit "
     "status 0\n"
     "also where none is running.\n",
     false, false, makeStatus},
    {"try", "Try an edit of a recorded kernel: right? faster?",
     "  cp src/stencil3d.cu mine.cu; $EDITOR mine.cu\n"
     "  r3 try mine.cu --as src/stencil3d.cu\n"
     "  r3 try --patch my.patch -k stencil3d\n"
     "  r3 try --passes 'default<O2>,function(loop-mssa(licm))' -k stencil3d\n"
     "\n"
     "The same gate as for what a search finds: every check on every "
     "recording, "
     "times\n"
     "from processes of their own. AT LEAST: what the gain exceeds but for a "
     "chance of\n"
     "0.03 %. Nothing is applied. Exit status 0: right and not slower, 1: not "
     "built or\n"
     "refused, 4: wrong, 5: slower.\n",
     false, true, makeTry},
    {"explain", "Show what the gate found: what changed, right how, faster how",
     "  r3 explain stencil3d\n"
     "  r3 explain --json\n",
     false, true, makeExplain},
    {"apply", "Write the best variants into r3.profile",
     "  r3 apply                   what passed the gate on a held-out "
     "recording\n"
     "  r3 apply --accept weak     also where the search had seen all\n"
     "  r3 apply stencil3d --variant 3f2a --accept weak\n"
     "  make CXX=clang-r3          rebuilds exactly the units that changed\n"
     "\n"
     "R3_DISABLE=stencil3d ./app runs without a variant, without a rebuild.\n",
     false, true, makeApply},
    {"minimise", "Find the few changes of a variant that carry its gain",
     "  r3 minimise stencil3d      the accepted variant, else the best\n"
     "  r3 minimise stencil3d --variant 3f2a --budget 5m\n"
     "\n"
     "Changes are left out by delta debugging as long as the results are right "
     "and the\n"
     "median gain stays within noise of the variant's. What is left is a "
     "variant of its\n"
     "own (origin minimised), goes through the gate, and `r3 apply` takes it. "
     "Ctrl-C is\n"
     "safe; the same command goes on. Exit status 5: the gain itself is not "
     "above noise.\n",
     false, true, makeMinimise},
    {"bisect", "Find the pass that makes a variant wrong",
     "  r3 bisect stencil3d --variant 3f2a\n"
     "  r3 bisect stencil3d --passes 'default<O2>,function(sink)'\n"
     "\n"
     "A pipeline runs its passes many times, on one function or loop after the "
     "other. The\n"
     "variant is built with the first N of these runs and replayed, and N "
     "found by "
     "halving, until\n"
     "one run is what makes the difference. Exit status 0: it was found, 1: "
     "the "
     "variant is\n"
     "right, or is wrong without these passes, too.\n",
     false, true, makeBisect},
    {"export-test", "Write a lit test of a variant's pass sequence",
     "  r3 export-test stencil3d -o tests/passes\n"
     "  r3 export-test stencil3d --variant 3f2a\n"
     "  r3 export-test stencil3d --passes 'default<O2>,function(sink)'\n"
     "  lit-22 -v tests/passes     runs it, without a GPU and without r3\n"
     "\n"
     "The test holds the kernel's unoptimised code and says, in lines for "
     "FileCheck, what\n"
     "the passes make of it that the original's do not: every line was seen to "
     "fail with\n"
     "the original's. Where no such line can be found, nothing is written and "
     "the exit\n"
     "status is 1. %r3plugin in a test is libR3.so: a lit.cfg.py that says so "
     "is written\n"
     "where the folder has none.\n",
     false, true, makeExportTest},
    {"store", "Look after the store of recordings and results",
     "  r3 store gc --dry-run      what nothing refers to, by size\n"
     "  r3 store gc                removes it\n"
     "  r3 store gc --older-than 30d\n"
     "\n"
     "Recordings, the journal and the latest run of each program stay, with "
     "all that they\n"
     "refer to. What goes: packs, modules, images and unit descriptors of "
     "recordings that\n"
     "were replaced or dropped, statistics of earlier runs, temporary files of "
     "processes\n"
     "that are gone, and what is derived again. Nothing is removed while a "
     "program records\n"
     "or kernels are replayed.\n",
     false, false, makeStore},
    {"doctor", "Check what R3 needs on this machine",
     "  r3 doctor\n"
     "  r3 doctor --device cpu\n"
     "\n"
     "Exit status 6 where it cannot run here.\n",
     false, true, makeDoctor},
    {"version", "Print versions", "  r3 version\n", false, false, makeVersion},
    {"completion", "Print the completion script of a shell",
     "  source <(r3 completion bash)\n"
     "  r3 completion zsh > ~/.zfunc/_r3\n"
     "  r3 completion fish > ~/.config/fish/completions/r3.fish\n",
     false, false, makeCompletion},
};

} // namespace

std::span<const CommandRow> commandTable() { return Rows; }

} // namespace r3
