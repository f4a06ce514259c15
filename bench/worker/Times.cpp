// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-bench-times STORE BACKEND MODE BATCHES [PIPELINE LEVEL]: times a variant
// of each recording of a store against the original, or the original against
// itself, in batches. MODE: cold or warm. Prints one line a recording, of words
// name=value, with the message behind "; ".
#include "wrapper/trust/MedianBound.h"
#include "wrapper/trust/Timing.h"

#include "runtime/support/Files.h"
#include "runtime/support/Store.h"
#include "runtime/support/Worker.h"

#include <cstdio>
#include <cstdlib>

using namespace r3;

namespace {

double medianUs(const std::vector<Batch> &All,
                std::array<double, 2> Batch::*Side) {
  std::vector<double> Us;
  for (const Batch &B : All)
    for (double Each : B.*Side)
      Us.push_back(Each);
  return Us.empty() ? 0 : trust::median(Us);
}

double medianRatio(const std::vector<Batch> &All, double SubtractUs) {
  std::vector<double> Ratios;
  for (const Batch &B : All)
    Ratios.push_back(trust::batchRatio(B, SubtractUs));
  return Ratios.empty() ? 0 : trust::median(Ratios);
}

void print(const std::string &Name, const ReplayReport &P,
           const MeasurementReport &M, double FloorUs) {
  const std::vector<Batch> Steady = trust::steadyBatches(M.Batches);
  const ClockSample Clocks =
      M.Batches.empty() ? ClockSample() : M.Batches.back().After;
  printf("%s outcome=%s steady=%zu/%zu ratio=%.4f original=%.2f variant=%.2f "
         "program=%.2f floor=%.2f empty=%.2f subtract=%.2f sm=%.0f memory=%.0f "
         "reasons=0x%llx; %s %s %s\n",
         Name.c_str(), std::string(outcomeName(M.Result)).c_str(),
         Steady.size(), M.Batches.size(), medianRatio(Steady, M.SubtractUs),
         medianUs(M.Batches, &Batch::OriginalUs),
         medianUs(M.Batches, &Batch::VariantUs), P.ProgramNs / 1e3, FloorUs,
         M.EmptyUs.empty() ? 0 : trust::median(M.EmptyUs), M.SubtractUs,
         Clocks.SmMhz, Clocks.MemoryMhz,
         static_cast<unsigned long long>(Clocks.Reasons), M.Message.c_str(),
         M.HostWarning.c_str(), M.ClocksUnread.c_str());
}

Error measure(Worker &W, const std::string &Path,
              const MeasurementRequest &What) {
  auto Bytes = readFile(Path);
  if (!Bytes)
    return Bytes.error();
  auto Read = Recording::parse(*Bytes, Path);
  if (!Read)
    return Read.error();
  if (Error E = W.load({Path}))
    return E;
  auto P = W.prepare(0, 2);
  if (!P)
    return P.error();
  auto M = W.measure(What);
  if (!M)
    return M.error();
  print(Read->Display, *P, *M,
        What.Mode == CacheMode::Cold ? P->Floor.ColdUs : P->Floor.WarmUs);
  return {};
}

Error run(char **Values, int Count) {
  auto Opened = Store::open(Values[0], /*Create=*/false);
  if (!Opened)
    return Opened.error();
  WorkerOptions Options;
  Options.Backend = Values[1];
  Options.StorePath = Values[0];
  auto W = Worker::start(Options);
  if (!W)
    return W.error();
  auto Rates = (*W)->rates();
  if (!Rates)
    return Rates.error();
  printf("launch=%.2f us memory=%.3f TB/s cache=%.3f TB/s float=%.2f TFLOP/s "
         "double=%.2f TFLOP/s half=%.2f TFLOP/s\n",
         Rates->EmptyLaunchUs, Rates->MemoryBytesPerUs / 1e6,
         Rates->L2BytesPerUs / 1e6, Rates->FloatFlopsPerUs / 1e6,
         Rates->DoubleFlopsPerUs / 1e6, Rates->HalfFlopsPerUs / 1e6);
  MeasurementRequest What;
  What.Mode =
      std::string(Values[2]) == "warm" ? CacheMode::Warm : CacheMode::Cold;
  What.Batches = unsigned(std::atoi(Values[3]));
  What.Seed = 1;
  if (Count > 5) {
    What.Change.Pipeline = Values[4];
    What.Change.Level = Values[5];
  }
  for (const std::string &Path : Opened->listRecordings())
    if (Error E = measure(**W, Path, What))
      return E.in(Path);
  return {};
}

} // namespace

int main(int Count, char **Values) {
  if (Count != 5 && Count != 7) {
    fprintf(stderr, "usage: r3-bench-times STORE BACKEND cold|warm BATCHES "
                    "[PIPELINE LEVEL]\n");
    return 2;
  }
  Error Problem = run(Values + 1, Count - 1);
  if (Problem)
    fprintf(stderr, "error: %s\n", Problem.message().c_str());
  return Problem ? exitCode(Problem.code()) : 0;
}
