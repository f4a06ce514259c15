// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How lists are written into the journal's text columns (JSON), and how a
// session is read back. Used by the journal and the table of times.
#pragma once

#include "wrapper/remix/Journal.h"

namespace r3 {

std::string timesText(const std::vector<double> &Times);
Expected<std::vector<double>> parseTimes(const std::string &Text);
std::string stepsText(const std::map<std::string, double> &Ms);
Expected<std::map<std::string, double>> parseSteps(const std::string &Text);

Expected<Session> readSession(Database &D, const std::string &Identity);

} // namespace r3
