.globl other
other:
  movl $2, %eax
  ret
