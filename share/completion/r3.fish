# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Completion of r3 for fish: r3 completion fish > ~/.config/fish/completions/r3.fish
function __r3_words
    set -l words (commandline -opc) (commandline -ct)
    # What follows "--" is a program and its arguments.
    if contains -- -- $words[2..-2]
        return
    end
    r3 complete $words[2..-1] 2>/dev/null
end
complete -c r3 -a '(__r3_words)'
