import { createHash, createHmac } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { createOnce, isSameSecret } from "../../users/users.ts";
import type { StreamKeys } from "./signed-stream.ts";

/** What is signed of a request: nobody who listens can use it for another one, or later. */
type Request = { readonly method: string; readonly path: string; readonly body: string };

type Signed = {
  /** The header that says who asks. */
  readonly authorization: string;
  /** Whether an answer comes from somebody who has the secret, and was given to this request. */
  isProven(header: unknown, answer: string): boolean;
  /** For the stream that the request becomes. */
  readonly keys: StreamKeys;
};

/** Both sides have the secret, or nothing is said. */
export function signRequest(
  secret: string,
  request: Request,
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
): Signed {
  const [time, once] = [`${Math.round(clock.now())}`, ids.hex(32)];
  return {
    authorization: `AgentYard ${time}.${once}.${macOf(secret, "request", requestText(request, time, once))}`,
    isProven: (header, answer) => typeof header === "string" && isSameSecret(proofOf(secret, once, answer), header),
    keys: keysOf(secret, once),
  };
}

/** The clocks of two machines are apart by some seconds; by more, and requests of others could be sent again. */
const apartMsMax = 60_000;

/** `prove`: the header that the answer carries. */
export type Verdict =
  | { prove(answer: string): string; readonly keys: StreamKeys }
  | "unsigned"
  | "wrong_secret"
  | "wrong_clock"
  | "repeated";

/** Looks at signatures; each counts once. */
export function createVerifier(
  secret: string,
  clock: Clock,
): (header: string | undefined, request: Request) => Verdict {
  const isFirst = createOnce();
  return (header, request) => {
    const [, time = "", once = "", mac = ""] =
      /^AgentYard (\d{1,15})\.([0-9a-f]{32})\.([0-9a-f]{64})$/.exec(header ?? "") ?? [];
    if (mac === "") return "unsigned";
    if (!isSameSecret(mac, macOf(secret, "request", requestText(request, time, once)))) return "wrong_secret";
    if (Math.abs(clock.now() - Number(time)) > apartMsMax) return "wrong_clock";
    const now = clock.monotonic();
    if (!isFirst(once, now + 2 * apartMsMax, now)) return "repeated";
    return { prove: (answer) => proofOf(secret, once, answer), keys: keysOf(secret, once) };
  };
}

function proofOf(secret: string, once: string, answer: string): string {
  return macOf(secret, "answer", [once, hashOf(answer)].join("\n"));
}

/** Each number is used once, so no two streams have the same keys, and what was said on one means nothing on another. */
function keysOf(secret: string, once: string): StreamKeys {
  return { server: macOf(secret, "server", once), host: macOf(secret, "host", once) };
}

function requestText({ method, path, body }: Request, time: string, once: string): string {
  return [method, path, time, once, hashOf(body)].join("\n");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function macOf(secret: string, purpose: "request" | "answer" | keyof StreamKeys, text: string): string {
  return createHmac("sha256", `agentyard sandbox host ${purpose} ${secret}`).update(text).digest("hex");
}
