// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a subcommand declares its options, without knowing the library that
// parses them (CLI11, in CommandLine.cpp). Values keep what they were where an
// option is not given. Names: "-n,--count"; a name without dashes is a
// positional argument.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace r3 {

class Flags {
public:
  virtual ~Flags() = default;
  virtual void flag(const char *Names, bool &Value, const char *Help) = 0;
  virtual void text(const char *Names, std::string &Value, const char *Kind,
                    const char *Help) = 0;
  virtual void texts(const char *Names, std::vector<std::string> &Values,
                     const char *Kind, const char *Help) = 0;
  virtual void choice(const char *Names, std::string &Value,
                      std::vector<std::string> Allowed, const char *Help) = 0;
  virtual void count(const char *Names, uint64_t &Value, const char *Help) = 0;
  /// "8GB" into bytes.
  virtual void size(const char *Names, uint64_t &Value, const char *Help) = 0;
  /// "20m" into milliseconds.
  virtual void duration(const char *Names, uint64_t &Value,
                        const char *Help) = 0;
  /// A number between Low and High.
  virtual void number(const char *Names, double &Value, double Low, double High,
                      const char *Help) = 0;
};

} // namespace r3
