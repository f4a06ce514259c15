# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the catalogue of passes, share/passes.toml, from the installed LLVM, or
# compares it with that:
#
#   passes.py make FILE           tries every pass on every kernel
#   passes.py compare FILE        names, kinds and parameters, whether opt takes
#                                 each parameter that a search would give, and
#                                 runs what the file calls usable on one kernel
#
# A pass is what `opt --print-passes` names. Each is run alone on device code
# as the search would run it (behind the prefix of device code), on code as it
# leaves the front end and behind default<O1>, in processes of their own: opt,
# llc, ptxas. It is usable in the lists in which all of that succeeds, nothing
# but code comes out, and the code still has its kernels, atomics and barriers.
# Why a pass is not usable is the first thing that went wrong.
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

KERNELS = ("histogram", "reduction", "stencil3d")  # of share/examples
PREFIX = "nvvm-reflect,function(nvvm-intr-range),always-inline,"
PLACES = ("%s", "default<O1>,%s")
ARCH = "sm_90"
TIME_LIMIT = 120  # seconds for one process; none takes one on an idle machine

# Sections of `opt --print-passes`, and the lists a pass of them may stand in.
SECTIONS = {
    "Module passes": ("module",),
    "CGSCC passes": ("cgscc",),
    "Function passes": ("function",),
    "LoopNest passes": ("loop", "loop-mssa"),
    "Loop passes": ("loop", "loop-mssa"),
}
NESTED = {"module": "%s", "cgscc": "cgscc(%s)", "function": "function(%s)",
          "loop": "function(loop(%s))", "loop-mssa": "function(loop-mssa(%s))"}

# What no trial shows: they would open a window, or only mean something to a
# build of another kind than device code.
REFUSED = (
    (r"^view-", "opens a window"),
    (r"^(default|thinlto|lto|fatlto|thinlto-pre-link|lto-pre-link|"
     r"fatlto-pre-link|function-simplification)$", "is a pipeline of its own"),
    (r"^(no-op|invalidate|require)", "changes nothing"),
    (r"^trigger-", "is made to fail"),
)
# Written with a parameter: without it instcombine ends the process where code
# needs more than one round, and the other is not known at all.
NEEDED = {"instcombine": "no-verify-fixpoint", "expand-ir-insts": "O2"}
# What the search gives as N, if LLVM takes it (PassCatalogue.cpp).
NUMBERS = [1 << exponent for exponent in range(11)]
# Prefixes of PTX instructions that a program's meaning hangs on.
KEPT = ("atom.|red.", "bar.sync|barrier.sync")

Pass = collections.namedtuple("Pass", "name lists parameters needed")


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace",
                          timeout=TIME_LIMIT, **options)


def listed_passes(tools):
    """What the installed LLVM has, by name and section."""
    passes, section = {}, None
    for line in run([tools.opt, "--print-passes"]).stdout.splitlines():
        if not line.startswith(" "):
            section = line.rstrip(":").removesuffix(" with params")
            continue
        if section not in SECTIONS:
            continue
        # "print<access-info><allow-partial>": only the last are parameters,
        # and only in a section of passes with some.
        text, parameters = line.strip(), ""
        if line_has_parameters(text):
            text, parameters = split_parameters(text)
        key = (text, SECTIONS[section])
        if key not in passes or parameters:
            passes[key] = Pass(text, SECTIONS[section], tuple(
                p for p in parameters.split(";") if p), NEEDED.get(text, ""))
    return sorted(passes.values(), key=lambda p: (p.name, p.lists))


def split_parameters(text):
    """At the bracket that the last one closes."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(text[at], 0)
        if not depth:
            return text[:at], text[at + 1:-1]
    sys.exit("not understood: " + text)


def line_has_parameters(text):
    return text.endswith(">") and not re.match(
        r"^(print|verify|invalidate)<[^<>]*>$", text)


def front_end(tools, name, folder):
    source = os.path.join(tools.examples, name, name + ".cu")
    output = os.path.join(folder, name + ".ll")
    made = run([tools.clang, "-x", "cuda", "--cuda-device-only",
                "--cuda-path=" + tools.cuda, "--cuda-gpu-arch=" + ARCH,
                "-Wno-unknown-cuda-version", "-O2", "-Xclang",
                "-disable-llvm-passes", "-S", "-emit-llvm", source, "-o",
                output])
    if made.returncode:
        sys.exit("%s: %s" % (source, made.stderr))
    return output


def first_line(made):
    """What a process that failed said, without places that differ."""
    if made.returncode < 0 and "LLVM ERROR" not in made.stderr:
        return "crashes"
    lines = [line for line in made.stderr.splitlines() if line.strip()]
    wanted = [line for line in lines if "LLVM ERROR" in line or
              "error" in line.lower()]
    text = (wanted or lines or ["exit status %d" % made.returncode])[0]
    text = re.sub(r"^.*?(error|fatal|LLVM ERROR)\s*:\s*", "", text)
    text = re.sub(r"[^\s'\"]*/[^\s'\"]*", "FILE", text)
    return re.sub(r"line \d+|\d+:\d+", "N", text)[:100].replace('"', "'")


def ptx_of(tools, kernel, pipeline, folder):
    """PTX behind a pipeline, assembled; or why there is none. Empty where a
    comparison asks for opt alone."""
    os.makedirs(folder)
    try:
        made = run([tools.opt, "-mcpu=" + ARCH, "-passes=" + PREFIX + pipeline,
                    kernel, "-o", "code.bc"], cwd=folder)
        if made.returncode:
            return None, first_line(made)
        if made.stdout or made.stderr or os.listdir(folder) != ["code.bc"]:
            return None, "writes something else than code"
        if tools.what == "compare":
            return "", ""
        made = run([tools.llc, "-mcpu=" + ARCH, "code.bc", "-o", "code.ptx"],
                   cwd=folder)
        if made.returncode:
            return None, "llc: " + first_line(made)
        made = run([tools.ptxas, "-arch=" + ARCH, "code.ptx", "-o",
                    "code.cubin"], cwd=folder)
        if made.returncode:
            return None, "ptxas: " + first_line(made)
        with open(os.path.join(folder, "code.ptx"), encoding="utf-8") as file:
            return file.read(), ""
    except subprocess.TimeoutExpired:
        return None, "does not end"


def what_is_lost(before, after):
    if sorted(re.findall(r"\.entry (\S+)\(", before)) != sorted(
            re.findall(r"\.entry (\S+)\(", after)):
        return "loses the kernel"
    for pattern in KEPT:
        pattern = r"\t(%s)" % pattern.replace(".", r"\.")
        if re.search(pattern, before) and not re.search(pattern, after):
            return "loses atomics or barriers"
    return ""


class Trials:
    """Passes tried on kernels, each trial in a folder of its own."""

    def __init__(self, tools, folder, kernels, places):
        self.tools, self.folder, self.count = tools, folder, 0
        self.places = places
        self.kernels = [front_end(tools, name, folder) for name in kernels]
        self.plain = {}
        for kernel in self.kernels:
            for place in places:
                ptx, why = ptx_of(tools, kernel, place % "no-op-module",
                                  self.new_folder())
                if ptx is None:
                    sys.exit("%s without any pass: %s" % (kernel, why))
                self.plain[kernel, place] = ptx

    def new_folder(self):
        self.count += 1
        return os.path.join(self.folder, str(self.count))

    def failure(self, name, kind):
        """Why a pass is not usable in a list (empty: it is), and whether it
        changed any code."""
        changed = False
        for kernel in self.kernels:
            for place in self.places:
                pipeline = place % (NESTED[kind] % name)
                ptx, why = ptx_of(self.tools, kernel, pipeline,
                                  self.new_folder())
                why = why or what_is_lost(self.plain[kernel, place], ptx)
                if why:
                    return why, changed
                changed |= ptx != self.plain[kernel, place]
        return "", changed


def judge(trials, one):
    """Lists that a pass is usable in, why in none, whether it did anything."""
    for pattern, why in REFUSED:
        if re.search(pattern, one.name):
            return (), why, False
    spelled = spelling(one)
    found = {kind: trials.failure(spelled, kind) for kind in one.lists}
    usable = tuple(kind for kind in one.lists if not found[kind][0])
    return (usable, "" if usable else found[one.lists[0]][0],
            any(changed for _, changed in found.values()))


def spelling(one):
    """The pass as the search writes it where it sets no parameter."""
    return ("%s<%s>" % (one.name, one.needed) if one.needed else
            one.name)


def is_accepted(tools, spelled):
    """Whether opt can read all of these (pass, parameter)."""
    passes = [NESTED[one.lists[0]] % ("%s<%s>" % (one.name, parameter))
              for one, parameter in spelled]
    return not run([tools.opt, "-disable-output",
                    "-passes=" + ",".join(passes)]).returncode


def largest_numbers(tools, one):
    """"guard=64" of a parameter that takes not all numbers that a search has."""
    found = []
    for parameter in one.parameters:
        name, equals, value = parameter.partition("=")
        if not equals or value != "N" or "[" in name:
            continue
        spelled = [(one, "%s=%d" % (name, number)) for number in NUMBERS]
        if is_accepted(tools, spelled):
            continue
        taken = [number for number, each in zip(NUMBERS, spelled)
                 if is_accepted(tools, [each])]
        found.append("%s=%d" % (name, max(taken, default=0)))
    return found


def judge_all(trials, passes, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda one: judge(trials, one), passes))


def quoted(words):
    return "[" + ", ".join('"%s"' % word for word in words) + "]"


def text_of(tools, version, passes, verdicts):
    good = sum(1 for usable, *_ in verdicts if usable)
    lines = ["# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception", "#",
             "# Passes of LLVM %s, made by share/passes.py: %d of %d are usable."
             % (version, good, len(passes)),
             "# kind: where a pass belongs; lists: where it may stand; "
             "unusable: why nowhere;",
             "# needed: the parameter that is always written; idle: it changed no "
             "code;",
             "# largest: of numbers that are less than what others take.",
             'llvm = "%s"' % version]
    for one, (usable, why, changed) in zip(passes, verdicts):
        lines += ["", "[[pass]]", 'name = "%s"' % one.name,
                  'kind = "%s"' % one.lists[0]]
        if one.parameters:
            lines.append("parameters = " + quoted(one.parameters))
        largest = largest_numbers(tools, one) if usable else []
        if largest:
            lines.append("largest = " + quoted(largest))
        if one.needed:
            lines.append('needed = "%s"' % one.needed)
        lines.append("lists = " + quoted(usable) if usable
                     else 'unusable = "%s"' % why)
        if usable and not changed:
            lines.append("idle = true")
    return "\n".join(lines) + "\n"


def read_catalogue(path):
    """The file back: it has the lines that text_of writes and no others."""
    version, entries = "", []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line == "[[pass]]":
                entries.append({})
            name, equals, value = line.partition(" = ")
            if not equals or line.startswith("#"):
                continue
            if not entries:
                version = value.strip('"')
            else:
                entries[-1][name] = (re.findall(r'"([^"]*)"', value)
                                     if value.startswith("[")
                                     else value.strip('"'))
    return version, {(e["name"], e["kind"]): e for e in entries}


def proposed(entry):
    """Parameters, one at a time, as PassCatalogue.cpp has them of an entry."""
    largest = dict(each.split("=") for each in entry.get("largest", []))
    for parameter in entry.get("parameters", []):
        name, equals, value = parameter.partition("=")
        if not equals:
            yield name
        elif value == "N" and "[" not in name:
            yield from ("%s=%d" % (name, number) for number in NUMBERS
                        if number <= int(largest.get(name, NUMBERS[-1])))


def refused_parameters(tools, usable, here, catalogue):
    """All at once, and one by one only where LLVM does not take them all."""
    spelled = [(here[key], parameter) for key in usable
               for parameter in proposed(catalogue[key])]
    if is_accepted(tools, spelled):
        return
    for one, parameter in spelled:
        if not is_accepted(tools, [(one, parameter)]):
            yield "%s: LLVM takes no parameter %s" % (one.name, parameter)


def differences(trials, passes, catalogue, jobs):
    here = {(one.name, one.lists[0]): one for one in passes}
    for key in sorted(here.keys() - catalogue.keys()):
        yield "%s (%s): LLVM has it, the catalogue has not" % key
    for key in sorted(catalogue.keys() - here.keys()):
        yield "%s (%s): the catalogue has it, LLVM has not" % key
    both = sorted(here.keys() & catalogue.keys())
    for key in both:
        written = catalogue[key].get("parameters", [])
        if list(here[key].parameters) != written:
            yield "%s (%s): parameters %s, the catalogue says %s" % (
                *key, ";".join(here[key].parameters), ";".join(written))
    usable = [key for key in both if "lists" in catalogue[key]]
    for key in usable:
        largest = largest_numbers(trials.tools, here[key])
        written = catalogue[key].get("largest", [])
        if largest != written:
            yield "%s: largest numbers %s, the catalogue says %s" % (
                key[0], ";".join(largest) or "as of others",
                ";".join(written) or "none")
    yield from refused_parameters(trials.tools, usable, here, catalogue)
    chosen = [here[key]._replace(lists=tuple(catalogue[key]["lists"]))
              for key in usable]
    for one, (found, why, _) in zip(chosen, judge_all(trials, chosen, jobs)):
        if found != one.lists:
            yield "%s: usable in %s, the catalogue says %s%s" % (
                one.name, " ".join(found) or "no list", " ".join(one.lists),
                " (%s)" % why if why else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("make", "compare"))
    parser.add_argument("file")
    parser.add_argument("--tools", default="/usr/lib/llvm-22/bin",
                        help="folder of opt, llc and clang")
    parser.add_argument("--cuda", default="/usr/local/cuda")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    tools = parser.parse_args()
    tools.opt = os.path.join(tools.tools, "opt")
    tools.llc = os.path.join(tools.tools, "llc")
    tools.clang = os.path.join(tools.tools, "clang++")
    tools.ptxas = os.path.join(tools.cuda, "bin", "ptxas")
    tools.examples = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                  "examples")
    version = re.search(r"LLVM version (\d+\.\d+)",
                        run([tools.opt, "--version"]).stdout).group(1)
    passes = listed_passes(tools)
    with tempfile.TemporaryDirectory() as folder:
        if tools.what == "make":
            verdicts = judge_all(Trials(tools, folder, KERNELS, PLACES),
                                 passes, tools.jobs)
            with open(tools.file, "w", encoding="utf-8") as file:
                file.write(text_of(tools, version, passes, verdicts))
            return
        written, catalogue = read_catalogue(tools.file)
        trials = Trials(tools, folder, KERNELS[:1], PLACES[:1])
        found = list(differences(trials, passes, catalogue, tools.jobs))
    if found:
        print("\n".join(found))
        sys.exit("%s was made for LLVM %s and this is %s: %d differences; "
                 "share/passes.py make writes it anew"
                 % (tools.file, written, version, len(found)))
    print("%d passes, %d usable, as in LLVM %s"
          % (len(catalogue), sum("lists" in e for e in catalogue.values()),
             version))


main()
