import { whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/route.ts";
import type { ApiKey, User } from "../protocol/user-routes.ts";
import type { StorageFailure, UserStorage } from "../storage/storage.ts";
import { openHolds } from "./holds.ts";
import { openKeys } from "./keys.ts";
import { openPasswords, type PasswordCost } from "./passwords.ts";
import { openSignIns } from "./sign-ins.ts";
import { openUserList } from "./user-list.ts";

export type { PasswordCost } from "./passwords.ts";
export { createOnce, isSameSecret } from "./proofs.ts";
export { openSignInService, type SignInService, type SignInServiceSettings, signInWaitSeconds } from "./service.ts";
export { openSecrets, type SecretKey, type Secrets } from "./stored-secrets.ts";

/** Who is calling: users, their keys, and the browsers that are signed in. */
export type Users = {
  /** Whether anybody has to sign in; right at once after the first user was added. */
  exist(): Promise<boolean>;
  list(): Promise<User[]>;
  find(id: string): Promise<User | undefined>;
  add(
    user: NewUser,
  ): Promise<Answer<User, "user_exists" | "sign_in_as_taken" | "user_id_unfit" | "password_unfit" | "rate_limited">>;
  /** Answers whose things are to be forgotten. */
  remove(id: string): Promise<Answer<OwnerId, "user_unknown">>;
  /** Ends all sign-ins of the user. */
  setPassword(id: string, password: string): Promise<Answer<void, "user_unknown" | "password_unfit" | "rate_limited">>;
  /** Whether this is their password; of users without one nothing is. */
  isPassword(id: string, password: string): Promise<Result<boolean, Failure<"rate_limited">>>;

  keys(id: string): Promise<Result<ApiKey[], Failure<"user_unknown">>>;
  /** The key itself is in this answer and nowhere else. The same id again replaces it. */
  addKey(id: string, key: NewKey): Promise<Answer<ApiKey & { readonly key: string }, "user_unknown" | "keys_full">>;
  removeKey(id: string, key: string): Promise<Answer<void, "user_unknown" | "key_not_found">>;
  byKey(key: string): Promise<KnownByKey | undefined>;

  signIn(user: string, password: string): Promise<Answer<SignedIn, "sign_in_failed" | "rate_limited">>;
  /** Whom the sign-in service let in. */
  signInFromService(person: Person): Promise<Answer<SignedIn, "sign_in_stranger">>;
  makeLink(id: string): Promise<Answer<SignInLink, "user_unknown">>;
  /** Looking does not use it up. */
  ofLink(token: string): Promise<User | undefined>;
  signInByLink(token: string): Promise<Answer<SignedIn, "sign_in_link_used">>;
  /** `renewed`: its time began anew, so the browser should be told. */
  byCookie(token: string): Promise<KnownByCookie | undefined>;
  signOut(token: string): Promise<Answer<void, never>>;
  /** The same for one that is known by its hash alone: see `byCookie`. */
  endSignIn(hash: string): Promise<Answer<void, never>>;
};

type Answer<T, C extends Failure["code"]> = Result<T, StorageFailure | ([C] extends [never] ? never : Failure<C>)>;

export type NewUser = {
  readonly id: string;
  readonly name?: string | undefined;
  readonly password?: string | undefined;
  /** The first one is, unless told otherwise or kept for somebody of the sign-in service; others are not. */
  readonly isAdmin?: boolean | undefined;
  /** For whom of the sign-in service it is: an e-mail address that the service checked, else (without @) its `sub`. */
  readonly signInAs?: string | undefined;
};
export type NewKey = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly endsAt?: number | undefined;
};
/** Somebody as a sign-in service knows them. */
export type Person = {
  /** `issuer subject`: the only thing that stays. */
  readonly subject: string;
  /** The subject without the issuer. */
  readonly sub: string;
  /** Only one that the service has checked. */
  readonly email: string | undefined;
  /** What they may be called here, the best first; they may have chosen it, so it opens nothing. */
  readonly names: readonly string[];
  readonly name: string;
  readonly addsUsers: boolean;
};
export type SignedIn = { readonly user: User; readonly token: string; readonly endsAt: number };
export type SignInLink = { readonly user: OwnerId; readonly token: string; readonly endsAt: number };
/** `taken` fires when what they showed was taken away: what they have open by then ends. */
type Known = { readonly id: OwnerId; readonly scopes: readonly Scope[]; readonly taken: AbortSignal };
export type KnownByKey = Known;
/** `hash`: of the cookie; it signs nobody in. */
export type KnownByCookie = Known & { readonly renewed: boolean; readonly hash: string };

export type UserParts = {
  readonly storage: UserStorage;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly signInLastsMs: () => number;
  readonly passwordCost?: PasswordCost | undefined;
};

export function openUsers(parts: UserParts): Users {
  const passwords = openPasswords(parts);
  const inTurn = openQueue();
  const holds = openHolds(parts);
  const { users, put: putUser } = openUserList(parts, { passwords, inTurn, holds });
  const signIns = openSignIns(parts, { passwords, users, putUser, inTurn, holds });
  return { ...users, ...openKeys(parts, { inTurn, holds }), ...signIns };
}

/**
 * One change after the other: who reads a row and writes it back must not bring to life what was removed in between.
 */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

function openQueue(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = whenOver(mine);
    return mine;
  };
}
