import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Figure } from "./figure.ts";

const stallMsMost = 50;
const tickMs = 1;

/**
 * Watches for how long the event loop answers nobody: on the clock, and in processor time of its own thread between two
 * ticks, which is what of it is our doing on a machine that has other work as well.
 */
export function watchStalls(): { stop(what: string): readonly Figure[] } {
  const delay = monitorEventLoopDelay({ resolution: tickMs });
  delay.enable();
  let [last, most] = [cpuMs(), 0];
  const look = () => {
    const now = cpuMs();
    [most, last] = [Math.max(most, now - last), now];
  };
  const timer = setInterval(look, tickMs);
  return {
    stop(what) {
      look();
      clearInterval(timer);
      delay.disable();
      return [
        { what, unit: "ms", value: delay.max / 1e6, atMost: stallMsMost },
        { what: `${what}, in processor time of its thread`, unit: "ms", value: most, atMost: stallMsMost },
      ];
    },
  };
}

/** Of this thread alone. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
