import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { z } from "zod";

/** A collector of traces that takes OTLP over HTTP, as JSON. */
export type Collector = AsyncDisposable & {
  /** Its address, without a path. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Path and headers of each request. */
  readonly asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** From now on it answers with this status. */
  answerWith(status: number): void;
};

export type CollectedSpan = {
  readonly name: string;
  readonly kind: number;
  readonly id: string;
  readonly trace: string;
  readonly parent: string | undefined;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly ms: number;
};

export async function collector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const asked: Collector["asked"] = [];
  let status = 200;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    asked.push({ path: request.url ?? "", headers: request.headers });
    const body = await text(request);
    if (status === 200) spans.push(...readSpans(JSON.parse(body)));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = z.custom<AddressInfo>().parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    asked,
    answerWith(next) {
      status = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const Value = z.object({
  stringValue: z.string().optional(),
  intValue: z.coerce.number().optional(),
  doubleValue: z.number().optional(),
  boolValue: z.boolean().optional(),
  arrayValue: z.object({ values: z.array(z.object({ stringValue: z.string() })) }).optional(),
});
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.coerce.number(),
  endTimeUnixNano: z.coerce.number(),
  attributes: z.array(z.object({ key: z.string(), value: Value })),
  status: z.object({ code: z.number().optional() }).optional(),
});
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(z.object({ key: z.string(), value: Value })) }),
      scopeSpans: z.array(z.object({ spans: z.array(Span) })),
    }),
  ),
});

function readSpans(body: unknown): CollectedSpan[] {
  return Export.parse(body).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        ...{ name: span.name, kind: span.kind, id: span.spanId, trace: span.traceId },
        parent: span.parentSpanId || undefined,
        facts: Object.fromEntries(
          [...resource.attributes, ...span.attributes].map(({ key, value }) => [key, plain(value)]),
        ),
        isError: span.status?.code === 2,
        ms: (span.endTimeUnixNano - span.startTimeUnixNano) / 1e6,
      })),
  );
}

function plain({ stringValue, intValue, doubleValue, boolValue, arrayValue }: z.infer<typeof Value>): unknown {
  return (
    stringValue ?? intValue ?? doubleValue ?? boolValue ?? arrayValue?.values.map((each) => each.stringValue) ?? null
  );
}
