# cmake -DINPUT=FILE -DOUTPUT=FILE.cpp -DSYMBOL=name -P EmbedBytes.cmake
# Writes FILE as an array of bytes in namespace r3.
file(READ ${INPUT} Hex HEX)
string(LENGTH "${Hex}" Digits)
math(EXPR Size "${Digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" Hex "${Hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," Hex "${Hex}")
file(WRITE ${OUTPUT} "// Made from ${INPUT}.
#include <cstdint>
namespace r3 {
extern const uint8_t ${SYMBOL}[];
extern const uint64_t ${SYMBOL}Size;
alignas(16) const uint8_t ${SYMBOL}[] = {
${Hex}};
const uint64_t ${SYMBOL}Size = ${Size};
} // namespace r3
")
