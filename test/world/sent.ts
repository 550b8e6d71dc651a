/** What a program sends with a request. */
export type Sent = {
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: NonNullable<RequestInit["body"]>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

export function requestOf(method: string, { json, body, headers = {}, signal }: Sent): RequestInit {
  const content = json === undefined ? body : JSON.stringify(json);
  return {
    method,
    headers: { ...(json === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(content === undefined ? {} : { body: content, duplex: "half" }),
    ...(signal === undefined ? {} : { signal }),
  };
}
