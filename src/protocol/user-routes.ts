import { z } from "zod";
import { Empty, type Route, scopes } from "./route.ts";

export const userLimits = {
  nameCharactersMax: 200,
  /** Longer ones cost time to hash and keep nobody out. */
  passwordCharactersMax: 1_000,
  keyDaysMax: 3_650,
  /** More than anybody keeps apart; each one is looked at when they are listed. */
  keysMax: 100,
  signInAsCharactersMax: 255,
} as const;

export const User = z.object({
  id: z.string(),
  name: z.string(),
  /** May do everything for everybody: users, keys, backups. */
  isAdmin: z.boolean(),
  hasPassword: z.boolean(),
  /** Comes in through the sign-in service. */
  hasService: z.boolean(),
  createdAt: z.number(),
});
export type User = z.infer<typeof User>;

export const ApiKey = z.object({
  id: z.string(),
  name: z.string(),
  /** Its first characters, to tell keys apart; the rest is kept nowhere. */
  shown: z.string(),
  scopes: z.array(z.enum(scopes)),
  createdAt: z.number(),
  usedAt: z.number().nullable(),
  endsAt: z.number().nullable(),
  /** It opens nothing any more. */
  hasEnded: z.boolean(),
});
export type ApiKey = z.infer<typeof ApiKey>;

const ByUser = z.object({ user: z.string() });
const ByKey = ByUser.extend({ key: z.string() });
const name = z.string().max(userLimits.nameCharactersMax);
const password = z.string().max(userLimits.passwordCharactersMax);

/** Who may call, and with what. */
export const userRoutes = {
  getMe: {
    method: "GET",
    path: "/api/v1/me",
    scope: "any",
    summary: "Who is calling, as the server sees it.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({
      /** Null where nobody has to sign in. */
      user: User.nullable(),
      scopes: z.array(z.enum(scopes)),
      by: z.enum(["key", "cookie"]).nullable(),
    }),
  },
  signIn: {
    method: "POST",
    path: "/api/v1/sign-in",
    scope: "open",
    isTry: true,
    summary: "Sign a browser in; the answer sets its cookie.",
    params: Empty,
    query: Empty,
    body: z.object({ user: z.string().max(userLimits.nameCharactersMax), password }),
    status: 200,
    failures: ["sign_in_failed", "page_forged", "rate_limited"],
    answer: User,
  },
  signOut: {
    method: "POST",
    path: "/api/v1/sign-out",
    scope: "any",
    summary: "Sign this browser out.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["page_forged"],
    answer: Empty,
  },
  listUsers: {
    method: "GET",
    path: "/api/v1/users",
    scope: "admin",
    summary: "All users, in the order they were added.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ items: z.array(User) }),
  },
  addUser: {
    method: "POST",
    path: "/api/v1/users",
    scope: "admin",
    summary:
      "Add a user. The first one becomes an admin unless told otherwise or kept for somebody of the sign-in service.",
    params: Empty,
    query: Empty,
    body: z.object({
      id: z.string(),
      name: name.optional(),
      /** Without one they sign in by link, key or sign-in service. */
      password: password.optional(),
      isAdmin: z.boolean().optional(),
      /** Keeps it for one person of the sign-in service: their e-mail address, if it is checked there, or their `sub`. */
      signInAs: z.string().min(1).max(userLimits.signInAsCharactersMax).optional(),
    }),
    status: 201,
    creates: true,
    hasSecret: true,
    failures: ["user_exists", "sign_in_as_taken", "user_id_unfit", "password_unfit"],
    answer: User,
  },
  removeUser: {
    method: "DELETE",
    path: "/api/v1/users/{user}",
    scope: "admin",
    summary: "Remove a user with all keys and sign-ins; conversations and files stay.",
    params: ByUser,
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["user_unknown"],
    answer: Empty,
  },
  setPassword: {
    method: "PUT",
    path: "/api/v1/users/{user}/password",
    scope: "any",
    summary: "Give a user another password; they are signed out everywhere. One's own needs the current one.",
    params: ByUser,
    query: Empty,
    body: z.object({ password, current: password.optional() }),
    status: 204,
    failures: ["user_unknown", "password_unfit", "sign_in_failed", "scope_missing", "rate_limited"],
    answer: Empty,
  },
  makeSignInLink: {
    method: "POST",
    path: "/api/v1/users/{user}/link",
    scope: "admin",
    summary: "A link that signs one browser in, once, within ten minutes.",
    params: ByUser,
    query: Empty,
    body: Empty,
    status: 201,
    failures: ["user_unknown"],
    /** `path`: what follows the address of the server. */
    answer: z.object({ user: z.string(), path: z.string(), endsAt: z.number() }),
  },
  listKeys: {
    method: "GET",
    path: "/api/v1/users/{user}/keys",
    scope: "any",
    summary: "The API keys of a user.",
    params: ByUser,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["user_unknown", "scope_missing"],
    answer: z.object({ items: z.array(ApiKey) }),
  },
  addKey: {
    method: "POST",
    path: "/api/v1/users/{user}/keys",
    scope: "any",
    summary: "Make an API key. It is shown in this answer and never again.",
    params: ByUser,
    query: Empty,
    body: z.object({
      name: name.default(""),
      scopes: z.array(z.enum(scopes)).min(1).default(["chat", "files"]),
      /** Days until it ends; without it, it does not. */
      days: z.number().positive().max(userLimits.keyDaysMax).optional(),
    }),
    status: 201,
    creates: true,
    failures: ["user_unknown", "scope_missing", "keys_full"],
    /** `key`: null where the call is a repeat of one that was answered: it is kept nowhere. */
    answer: ApiKey.extend({ key: z.string().nullable() }),
  },
  removeKey: {
    method: "DELETE",
    path: "/api/v1/users/{user}/keys/{key}",
    scope: "any",
    summary: "Revoke an API key; it opens nothing from this moment on.",
    params: ByKey,
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["user_unknown", "key_not_found", "scope_missing"],
    answer: Empty,
  },
} as const satisfies Record<string, Route>;
