# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All figures by name; the first line of each is its description."""
from . import compile as compiler
from . import gpu, kill, optimizer, rate, searches, switches, trust

FIGURES = {
    "build-time": compiler.build_time,
    "object-size": compiler.object_size,
    "twice-built": compiler.twice_built,
    "launch-overhead": gpu.launch_overhead,
    "record-pause": gpu.record_pause,
    "store-rate": gpu.store_rate,
    "record-growth": gpu.record_growth,
    "record-time": gpu.record_time,
    "replay-reproduce": gpu.replay_reproduce,
    "addresses": gpu.addresses,
    "respawn": gpu.respawn,
    "all-close": trust.all_close,
    "gate-cost": trust.gate_cost,
    "switches": switches.switches,
    "optimizer": optimizer.optimizer,
    "false-wins": searches.false_wins,
    "rate": rate.rate,
    "search-faults": rate.search_faults,
    "kill": kill.kill,
}
