// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formats of R3 as text for people, for r3 inspect. Everything that comes
// from a file is made printable.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <string>

namespace r3 {

Expected<std::string> manifestText(std::span<const uint8_t> Content,
                                   const std::string &Path);
Expected<std::string> packText(std::span<const uint8_t> Content,
                               const std::string &Path);
Expected<std::string> packIndexText(std::span<const uint8_t> Content,
                                    const std::string &Path);
Expected<std::string> runText(std::span<const uint8_t> Content,
                              const std::string &Path);
Expected<std::string> unitSectionText(std::span<const uint8_t> Content,
                                      const std::string &Path);
Expected<std::string> elfText(std::span<const uint8_t> Content,
                              const std::string &Path);
Expected<std::string> unitJsonText(std::span<const uint8_t> Content,
                                   const std::string &Path);
Expected<std::string> headerText(std::span<const uint8_t> Content,
                                 const std::string &Path);
Expected<std::string> kernelProfileText(std::span<const uint8_t> Content,
                                        const std::string &Path);
Expected<std::string> journalText(std::span<const uint8_t> Content,
                                  const std::string &Path);
/// Evaluations of variants whose id begins with Id; empty where there are none
/// or no journal.
Expected<std::string> variantTexts(const std::string &JournalPath,
                                   const std::string &Id);

} // namespace r3
