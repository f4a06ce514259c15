#compdef r3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Completion of r3 for zsh: r3 completion zsh > a folder of $fpath, as _r3
_r3() {
  local -a candidates
  local dashes=${words[(i)--]}
  # What follows "--" is a program and its arguments.
  if (( dashes < CURRENT )); then
    shift $dashes words
    (( CURRENT -= dashes ))
    _normal
    return
  fi
  candidates=("${(@f)$(r3 complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- "${(@)candidates:#}" || _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _r3 "$@"
else
  compdef _r3 r3
fi
