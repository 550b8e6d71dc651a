import type { Clock } from "../base/clock.ts";
import type { Logger } from "./observe.ts";
import type { TraceSettings } from "./trace-settings.ts";
import { noTracer, type Tracer } from "./tracer.ts";

export type TracerOptions = {
  /** As `traceSettingsFrom` read them; undefined: nobody wants traces. */
  readonly settings: TraceSettings | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn" | "info">;
};

/** The tracer that the settings ask for. OpenTelemetry is loaded only where it is needed: it costs a quarter of a second. */
export async function openTracer({ settings, ...options }: TracerOptions): Promise<Tracer> {
  if (settings === undefined) return noTracer;
  const { openSdkTracer } = await import("./traces.ts");
  return openSdkTracer({ settings, ...options });
}
