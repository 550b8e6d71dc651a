import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import { type Language, languageOf } from "../words/words.ts";

/** Without sign-in the request names the user; nobody named is the local owner. */
export function ownerNamed(accountId: string | undefined): Result<OwnerId, Failure<"bad_request">> {
  if (accountId === undefined) return ok(localOwner);
  const owner = OwnerId.safeParse(accountId);
  return owner.success ? ok(owner.data) : failure("bad_request", { what: "x-account-id" });
}

/** The caller's own id for the request where it is well-formed: it goes into answers and logs. */
export function requestIdOf(given: string | undefined, ids: Ids): string {
  return given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : ids.uuid();
}

/** `fr, zh-CN;q=0.9, en;q=0.8` → zh: the best liked of the languages we have. */
export function languageWanted(header: string | undefined): Language {
  const wanted = (header ?? "")
    .split(",")
    .map((entry) => {
      const [tag = "", ...options] = entry.split(";").map((part) => part.trim());
      const weight = options.find((option) => option.startsWith("q="));
      return { tag, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ tag, weight }) => /^(en|zh)\b/i.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return languageOf(wanted[0]?.tag);
}
