import type { Chance } from "./fuzz-chance.ts";

/** One or two headers that nobody has to send, mostly with what nobody should say in them. */
export function oddHeaders(chance: Chance): [string, string][] {
  return Array.from({ length: chance.int(1, 2) }, () => {
    const [name, values] = chance.pick(headers);
    return [name, chance.pick(values)];
  });
}

const long = "x".repeat(9_000);
const ranges = [
  ...["bytes=0-", "bytes=-1", "bytes=9-1", "bytes=99999999999999999999-", "bytes=0-0,1-1", "x", "bytes=-0", "bytes=-"],
  ...[`bytes=${"0-0,".repeat(1_000)}1-1`, "bytes=0-99999999999999999999", "items=0-1", "bytes=0--1", ""],
];
const numbers = ["1", "-1", "0", "1.5", "99999999999999999999", "x", "", "0x10", "1e3", "٣"];

const headers: readonly (readonly [name: string, values: readonly string[]])[] = [
  ["range", ranges],
  ["if-range", ['"x"', "", "Sun, 06 Nov 1994 08:49:37 GMT", "W/"]],
  ["if-none-match", ["*", '"x"', long]],
  ["accept-language", ["zh", "en", ";;q=,", "*", "q=1;zh;q=nan", "zh;q=0", "zh,".repeat(3_000)]],
  ["x-language", ["zh", "en", "__proto__", ""]],
  ["accept", ["text/html", "*/*", "text/event-stream", "application/xml;q=nan", ""]],
  ["accept-encoding", ["gzip", "br", "x", "identity;q=0", "*;q=0"]],
  ["content-encoding", ["gzip", "br", "x"]],
  ["x-request-id", ["r", "", "{}", "a\tb", long, "../x", "r".repeat(65)]],
  ["x-account-id", ["ann", "bob", "", "a b", "__proto__", "..", "local", "x".repeat(49)]],
  ["x-business-domain", ["x", ""]],
  ["last-event-id", [...numbers, "1~1.1.1.t1", "1~", ",:", "1,a:1,b:2", "-", "\u00e9", "1~1.1.1.r1t999999999999999"]],
  [
    "authorization",
    ["Bearer", "Bearer ", "Basic eDp5", "Bearer a b", `Bearer ${long}`, "bearer x", "Bearer \u00e9", "Digest"],
  ],
  ["x-api-key", ["", "x", long, "\u00e9"]],
  ["cookie", ["agentyard=", "agentyard=x; agentyard=y", ";;;=", long, "__Host-agentyard=x", "a=%zz"]],
  ["origin", ["null", "http://other.invalid", "http://127.0.0.1", "x", "", "http://[::1", "https://127.0.0.1:1"]],
  ["referer", ["http://other.invalid/x", "x"]],
  ["sec-fetch-site", ["cross-site", "same-origin", "none", "x"]],
  ["sec-fetch-mode", ["navigate", "cors", "x"]],
  ["sec-fetch-dest", ["document", "iframe", "x"]],
  ["access-control-request-method", ["PUT", "x"]],
  ["x-forwarded-for", ["1.2.3.4", "::1", "x", "127.0.0.1, 1.2.3.4", ",", long]],
  ["x-forwarded-host", ["other.invalid", "", "a b", "127.0.0.1:1"]],
  ["x-forwarded-proto", ["https", "javascript", ""]],
  ["x-forwarded-prefix", ["/x", "//other.invalid", "../", "\\\\x"]],
  ["forwarded", ["for=1.2.3.4;host=other.invalid", "for=", ";;"]],
  ["traceparent", ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0-0-0", "x", ""]],
  ["tracestate", ["a=b", long]],
  ["expect", ["100-continue", "x"]],
  ["upgrade", ["websocket", "h2c"]],
  ["te", ["trailers", "x"]],
  ["x-http-method-override", ["DELETE", "x"]],
  ["upload-checksum", ["sha1 eA==", "x", "sha256 !!!"]],
  ["upload-offset", numbers],
  ["upload-length", numbers],
  ["upload-defer-length", ["1", "x"]],
  ["content-disposition", ["attachment; filename=../x", "x"]],
  [
    "content-type",
    ["application/json", "x", "", "application/json; charset=\u00ff", "multipart/form-data; boundary=b"],
  ],
  ["host", ["other.invalid", "", "127.0.0.1", "[::1", "localhost:1", "127.0.0.1.nip.invalid"]],
  ["content-length", ["0", "-1", "1e3", "99999999999999999999", "5"]],
  ["transfer-encoding", ["chunked", "gzip, chunked", "x"]],
  ["x-odd\u0000", ["x"]],
  ["x odd", ["x"]],
  ["x-odd", ["a\u0000b", "\u00ff\u00fe", "a\r\n folded", "x".repeat(40_000), ""]],
  ["__proto__", ["x"]],
  ["constructor", ["x"]],
];
