import { createHmac, hkdfSync } from "node:crypto";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { parsedJson } from "../../base/json.ts";
import type { HomeKey } from "../../homes/homes.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { scopes } from "../../protocol/route.ts";
import { createOnce, isSameSecret, type SecretKey } from "../../users/users.ts";
import type { Passed, Passes } from "../door.ts";

/** Where a pass stands in a request. From anybody else than a server of ours it means nothing. */
export const passHeader = "agentyard-pass";

type Parts = { readonly key: SecretKey; readonly clock: Pick<Clock, "now">; readonly ids: Ids };

const goodMs = 60_000;
/** So far may the clock of another machine be ahead. */
const aheadMs = 60_000;

const Signed = z.object({
  method: z.string(),
  path: z.string(),
  server: z.string(),
  until: z.number(),
  once: z.string(),
  passed: z.object({
    key: z.custom<HomeKey>((key) => typeof key === "string" && /^(c:\d+|u:.+)$/s.test(key)),
    door: z.enum(["tcp", "socket", "process"]).optional(),
    caller: z.object({
      signedIn: OwnerId.optional(),
      scopes: z.array(z.enum(scopes)),
      by: z.enum(["key", "cookie"]).optional(),
      signIn: z.string().optional(),
    }),
    arrival: z.object({
      address: z.string().optional(),
      isVeiled: z.boolean(),
      isFromHere: z.boolean(),
      host: z.string(),
      scheme: z.enum(["http", "https"]).optional(),
      prefix: z.string(),
    }),
    counted: z.object({ who: z.string(), max: z.number() }).optional(),
  }),
});

export function openPasses({ key, clock, ids }: Parts): Passes {
  const isFirst = createOnce();
  const signing = openSigning(key);
  return {
    sign(passed, { method, path, server }) {
      const under = signing();
      if (under === undefined) return undefined;
      const { signedIn, scopes, by, signIn } = passed.caller;
      const caller = { signedIn, scopes: [...scopes], by, signIn };
      const told: z.input<typeof Signed> = {
        ...{ method, path, server, until: clock.now() + goodMs, once: ids.hex(32) },
        passed: { ...passed, caller },
      };
      const text = Buffer.from(JSON.stringify(told)).toString("base64url");
      return `${text}.${signatureOf(under, text)}`;
    },
    read(pass, { method, path, server }) {
      const under = signing();
      const [text = "", signature = ""] = (pass ?? "").split(".");
      if (under === undefined || !isSameSecret(signature, signatureOf(under, text))) return undefined;
      const told = Signed.safeParse(parsedJson(Buffer.from(text, "base64url").toString("utf8"))).data;
      if (told === undefined || told.method !== method || told.path !== path || told.server !== server)
        return undefined;
      const now = clock.now();
      if (told.until < now || told.until > now + goodMs + aheadMs) return undefined;
      return isFirst(told.once, told.until, now) ? asPassed(told.passed) : undefined;
    },
  };
}

/** What JSON leaves out is there again. */
function asPassed({ caller, arrival, ...passed }: z.infer<typeof Signed>["passed"]): Passed {
  const { signedIn, address, scheme } = { ...caller, ...arrival };
  return { ...passed, caller: { ...caller, signedIn }, arrival: { ...arrival, address, scheme } };
}

/** Made of the installation's own key, which may be made while we run. */
function openSigning(key: SecretKey): () => Buffer | undefined {
  let made: Buffer | undefined;
  return () => {
    if (made !== undefined) return made;
    const found = key.find();
    if (found.ok && found.value !== undefined)
      made = Buffer.from(hkdfSync("sha256", found.value, "", "agentyard peers", 32));
    return made;
  };
}

function signatureOf(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}
