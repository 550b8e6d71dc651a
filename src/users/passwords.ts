import { scrypt, timingSafeEqual } from "node:crypto";
import { whenOver } from "../base/background.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";

export const passwordCharactersMin = 8;

/** 32 MiB and some 0.2 s for one try: OWASP's third setting, which a small machine can bear. */
const usualCost: PasswordCost = { N: 2 ** 15, r: 8, p: 3 };
const memoryBytesMax = 64 * 1024 * 1024;
const hashBytes = 32;
const saltBytes = 16;
/** Each waits for those before it; more are sent away, so that guessing from many places does not eat the machine. */
const waitingMax = 8;

/** Of scrypt. */
export type PasswordCost = { readonly N: number; readonly r: number; readonly p: number };

type Busy = Failure<"rate_limited">;

export type Passwords = {
  hash(password: string): Promise<Result<string, Busy>>;
  /** Takes the same time whether there is one to compare with or not. */
  fits(password: string, stored: string | undefined): Promise<Result<boolean, Busy>>;
};

/** One is hashed at a time: the threads that do it are those that read files. */
export function openPasswords(parts: {
  readonly ids: Ids;
  readonly passwordCost?: PasswordCost | undefined;
}): Passwords {
  const { ids, passwordCost: cost = usualCost } = parts;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function inTurn<T>(work: () => Promise<T>): Promise<Result<T, Busy>> {
    if (waiting >= waitingMax) return failure("rate_limited", { retryAfterSeconds: 5 });
    waiting += 1;
    const before = last;
    const mine = before.then(work);
    last = whenOver(mine);
    try {
      return ok(await mine);
    } finally {
      waiting -= 1;
    }
  }

  return {
    hash: (password) =>
      inTurn(async () => {
        const salt = Buffer.from(ids.hex(2 * saltBytes), "hex");
        const hash = await derive(password, salt, cost);
        return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
      }),
    fits: (password, stored) =>
      inTurn(async () => {
        const [kind, n, r, p, salt = "", hash = ""] = (stored ?? "").split("$");
        const isKnown = kind === "scrypt" && hash !== "";
        const used = isKnown ? { N: Number(n), r: Number(r), p: Number(p) } : cost;
        const expected = isKnown ? Buffer.from(hash, "base64url") : Buffer.alloc(hashBytes);
        const found = await derive(password, Buffer.from(salt, "base64url"), used);
        return timingSafeEqual(found, expected) && isKnown;
      }),
  };
}

/** The same word, typed on another keyboard, may come in other code points. */
function derive(password: string, salt: Buffer, { N, r, p }: PasswordCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFC"), salt, hashBytes, { N, r, p, maxmem: memoryBytesMax }, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    );
  });
}
