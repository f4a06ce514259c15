# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Completion of r3 for bash: source <(r3 completion bash)
_r3() {
  local current=${COMP_WORDS[COMP_CWORD]} word
  COMPREPLY=()
  # What follows "--" is a program and its arguments.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        local i=1
        while [[ ${COMP_WORDS[i]} != -- ]]; do ((i++)); done
        _command_offset $((i + 1))
      else
        COMPREPLY=($(compgen -o default -- "$current"))
      fi
      return
    fi
  done
  while IFS= read -r word; do
    COMPREPLY+=("$(printf '%q' "$word")")
  done < <(r3 complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _r3 r3
