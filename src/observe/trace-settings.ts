/** Where traces go. */
export type TraceSettings = {
  readonly targets: readonly TraceTarget[];
  readonly serviceName: string;
  /** Messages, arguments and results go with them. */
  readonly tellsContent: boolean;
};

/** An OTLP collector that takes traces over HTTP. */
export type TraceTarget = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the variables of OpenTelemetry and of LangSmith; undefined where nobody asked for traces. Values of the headers
 * are secrets: see `traceSecrets`.
 */
export function traceSettingsFrom(env: Environment): TraceSettings | undefined {
  if (isTrue(env.OTEL_SDK_DISABLED) || env.OTEL_TRACES_EXPORTER?.trim() === "none") return undefined;
  const targets = [collectorOf(env), langSmithOf(env)].filter((target) => target !== undefined);
  if (targets.length === 0) return undefined;
  return {
    targets,
    serviceName: env.OTEL_SERVICE_NAME?.trim() || "agentyard",
    tellsContent: isTrue(env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT),
  };
}

/** What of the settings must stand in no log line. */
export function traceSecrets(settings: TraceSettings | undefined): string[] {
  const values = settings?.targets.flatMap(({ headers }) => Object.values(headers)) ?? [];
  return values.filter((value) => value !== "");
}

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/: the general address is a base, the other one is whole. */
function collectorOf(env: Environment): TraceTarget | undefined {
  const whole = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  const url = whole || (base && below(base, "v1/traces"));
  if (!url || !URL.canParse(url)) return undefined;
  return { url, headers: collectorHeaders(env) };
}

function collectorHeaders(env: Environment): Record<string, string> {
  return {
    ...headersFrom(env.OTEL_EXPORTER_OTLP_HEADERS),
    ...headersFrom(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
  };
}

const langSmithAddress = "https://api.smith.langchain.com";

/**
 * https://docs.langchain.com/langsmith/trace-with-opentelemetry. The exporter adds the headers of the other collector to
 * every request by itself; blank ones take their place, so that nobody gets a key that is meant for somebody else.
 */
function langSmithOf(env: Environment): TraceTarget | undefined {
  if (!isTrue(env.LANGCHAIN_TRACING_V2)) return undefined;
  const url = below(env.LANGCHAIN_ENDPOINT?.trim() || langSmithAddress, "otel/v1/traces");
  const { LANGCHAIN_API_KEY: key, LANGCHAIN_PROJECT: project } = env;
  if (!key || !URL.canParse(url)) return undefined;
  const blank = Object.fromEntries(Object.keys(collectorHeaders(env)).map((name) => [name.toLowerCase(), ""]));
  return { url, headers: { ...blank, "x-api-key": key, ...(project ? { "langsmith-project": project } : {}) } };
}

function below(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}/${path}`;
}

/** `name=value,name=value`, percent-encoded as in W3C Baggage. */
function headersFrom(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").map((pair) => {
    const cut = pair.indexOf("=");
    return [pair.slice(0, cut).trim(), decoded(pair.slice(cut + 1).trim())] as const;
  });
  return Object.fromEntries(pairs.filter(([name, value]) => isName.test(name) && isValue.test(value)));
}

const isName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const isValue = /^[ -~]+$/;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isTrue(value: string | undefined): boolean {
  return /^(?:true|1)$/i.test(value?.trim() ?? "");
}
