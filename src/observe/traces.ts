import { AsyncLocalStorage } from "node:async_hooks";
import {
  createTraceState,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "./observe.ts";
import type { TraceSettings, TraceTarget } from "./trace-settings.ts";
import type { Span, SpanFacts, TracePlace, Tracer } from "./tracer.ts";

/** Spans that wait for their exporter; more are dropped. */
const spansWaitingMax = 4_096;
const batchDelayMs = 2_000;
const exportTimeoutMs = 5_000;
/** How long an end waits for what is still on its way. */
const closeMsMax = 3_000;
/** So much of one text goes into a span. */
const textCharactersMax = 32_000;

export type SdkTracerOptions = {
  readonly settings: TraceSettings;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn" | "info">;
};

/** Sends spans to every target, in batches. Loaded only where traces are wanted. */
export function openSdkTracer({ settings, version, clock, logger }: SdkTracerOptions): Tracer {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": settings.serviceName, "service.version": version }),
    spanLimits: { attributeValueLengthLimit: textCharactersMax },
    spanProcessors: settings.targets.map((target) => processorFor(target, logger)),
  });
  const sdk = provider.getTracer("agentyard", version);
  const here = new AsyncLocalStorage<TracePlace | undefined>();
  let closed: Promise<void> | undefined;
  return {
    isOn: true,
    tellsContent: settings.tellsContent,
    start(name, facts = {}, { kind, parent, at } = {}) {
      const above = parent === undefined ? here.getStore() : (parent ?? undefined);
      const options = {
        attributes: given(facts),
        kind: kind === "server" ? SpanKind.SERVER : kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL,
        startTime: at ?? clock.now(),
      };
      const context = above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(above));
      return spanOn(sdk.startSpan(name, options, context), clock);
    },
    within: (place, work) => here.run(place, work),
    current: () => here.getStore(),
    close() {
      // An exporter that does not answer must not hold up the end of the process.
      closed ??= Promise.race([provider.shutdown().catch(() => {}), clock.wait(closeMsMax)]).then(() => {});
      return closed;
    },
  };
}

function processorFor({ url, headers }: TraceTarget, logger: SdkTracerOptions["logger"]): BatchSpanProcessor {
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: exportTimeoutMs });
  return new BatchSpanProcessor({
    exporter: sayingWhenDown(exporter, new URL(url).host, logger),
    maxQueueSize: spansWaitingMax,
    scheduledDelayMillis: batchDelayMs,
    exportTimeoutMillis: exportTimeoutMs,
  });
}

/** Spans that cannot be sent are lost, which the log says once, and once when it goes on. */
function sayingWhenDown(exporter: SpanExporter, host: string, logger: SdkTracerOptions["logger"]): SpanExporter {
  let isDown = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        if (failed && !isDown) logger.warn("traces cannot be sent to {host}", { host, error: result.error });
        if (!failed && isDown) logger.info("traces are sent to {host} again", { host });
        isDown = failed;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

function spanOn(span: SdkSpan, clock: Clock): Span {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  return {
    place: { traceId, spanId, flags: traceFlags, state: traceState?.serialize() },
    rename: (name) => void span.updateName(name),
    set: (facts) => void span.setAttributes(given(facts)),
    fail(kind, said) {
      span.setAttribute("error.type", kind);
      span.setStatus({ code: SpanStatusCode.ERROR, message: said ?? kind });
    },
    end: (at = clock.now()) => span.end(at),
  };
}

function contextOf({ traceId, spanId, flags, state, isRemote = false }: TracePlace): SpanContext {
  return { traceId, spanId, traceFlags: flags, isRemote, ...(state ? { traceState: createTraceState(state) } : {}) };
}

function given(facts: SpanFacts) {
  const known = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === "object" ? [...value] : value] as const],
  );
  return Object.fromEntries(known);
}
