# Writes the bytes of INPUT as numbers, separated by commas, to OUTPUT.
file(READ ${INPUT} Hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," Bytes "${Hex}")
file(WRITE ${OUTPUT} "${Bytes}\n")
