import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import type { SignInRow, UserRow } from "../storage/storage.ts";
import { browserNamed, type Holds } from "./holds.ts";
import type { Passwords } from "./passwords.ts";
import { hashOf, newSecret } from "./secrets.ts";
import { findRow, keptFor, type PutUser, scopesOf, toUser, type UserList, unknownUser } from "./user-list.ts";
import type { InTurn, Person, UserParts, Users } from "./users.ts";

const linkLastsMs = 600_000;
/** A browser in use is told a new end so many times within the time of one. */
const renewalsPerLasting = 30;
const ownNumbersMax = 1_000;
/** No more is looked at of a name that a sign-in service tells. */
const claimCharactersMax = 200;

type SignIns = Pick<
  Users,
  "signIn" | "signInFromService" | "makeLink" | "ofLink" | "signInByLink" | "byCookie" | "signOut" | "endSignIn"
>;
type Tools = {
  readonly passwords: Passwords;
  readonly users: UserList;
  readonly putUser: PutUser;
  readonly inTurn: InTurn;
  readonly holds: Holds;
};

/** Browsers that are signed in, and links that sign one in once. Only hashes are kept. */
export function openSignIns(parts: UserParts, tools: Tools): SignIns {
  const rows = openRows(parts);
  return { ...ways(parts, tools, rows), ...links(parts, tools, rows), ...cookies(parts, tools, rows) };
}

type Rows = ReturnType<typeof openRows>;

function openRows({ storage, clock, ids, signInLastsMs }: UserParts) {
  async function put(owner: OwnerId, kind: SignInRow["kind"], lastsMs: number) {
    const token = newSecret(ids);
    const at = clock.now();
    // Those that are over go with every new one: nobody has to remember to sweep.
    await storage.dropSignIns({ before: at });
    const stored = await storage.putSignIn({ hash: hashOf(token), owner, kind, at, endsAt: at + lastsMs });
    return stored.ok ? ok({ token, endsAt: at + lastsMs }) : stored;
  }
  return {
    put,
    async open(row: UserRow) {
      const made = await put(row.id, "cookie", signInLastsMs());
      return made.ok ? ok({ user: toUser(row), ...made.value }) : made;
    },
    async living(token: string, kind: SignInRow["kind"]) {
      const row = await storage.findSignIn(hashOf(token));
      return row?.kind === kind && row.endsAt > clock.now() ? row : undefined;
    },
  };
}

function ways(
  parts: UserParts,
  { passwords, putUser, inTurn }: Tools,
  { open }: Rows,
): Pick<SignIns, "signIn" | "signInFromService"> {
  const { storage } = parts;
  return {
    async signIn(id, password) {
      const row = await findRow(storage, id);
      const fits = await passwords.fits(password, row?.password);
      if (!fits.ok) return fits;
      if (row === undefined || !fits.value) return failure("sign_in_failed", {});
      return inTurn(async () => {
        // It takes a moment to compare: meanwhile the user may have got another one, or be gone.
        const now = await storage.findUser(row.id);
        return now?.password === row.password ? open(row) : failure("sign_in_failed", {});
      });
    },
    signInFromService: (person) =>
      inTurn(async () => {
        const found = await storage.findUserBySubject(person.subject);
        if (found !== undefined) return open(found);
        const row = await welcome(parts, person);
        if (row === undefined) return stranger(person);
        const stored = await putUser(row);
        return stored.ok ? open(row) : stored;
      }),
  };
}

function links(
  { storage }: UserParts,
  { users, inTurn }: Tools,
  { put, open, living }: Rows,
): Pick<SignIns, "makeLink" | "ofLink" | "signInByLink"> {
  return {
    makeLink: (id) =>
      inTurn(async () => {
        const user = await findRow(storage, id);
        if (user === undefined) return unknownUser(id);
        const made = await put(user.id, "link", linkLastsMs);
        return made.ok ? ok({ user: user.id, ...made.value }) : made;
      }),
    async ofLink(token) {
      const row = await living(token, "link");
      return row && users.find(row.owner);
    },
    signInByLink: (token) =>
      inTurn(async () => {
        const link = await living(token, "link");
        const user = link && (await storage.findUser(link.owner));
        if (user === undefined) return failure("sign_in_link_used", {});
        const used = await storage.dropSignIn(hashOf(token));
        if (!used.ok) return used;
        return used.value ? open(user) : failure("sign_in_link_used", {});
      }),
  };
}

function cookies(
  parts: UserParts,
  { inTurn, holds }: Tools,
  { living }: Rows,
): Pick<SignIns, "byCookie" | "signOut" | "endSignIn"> {
  const { storage, clock, signInLastsMs } = parts;
  const endSignIn: SignIns["endSignIn"] = (hash) =>
    inTurn(async () => {
      const row = await storage.findSignIn(hash);
      const dropped = await storage.dropSignIn(hash);
      // Other browsers of theirs come back by themselves.
      if (row?.kind === "cookie") holds.end(row.owner);
      return dropped.ok ? ok(undefined) : dropped;
    });
  return {
    async byCookie(token) {
      const row = await living(token, "cookie");
      if (row === undefined) return undefined;
      // Before anything else is asked: what is taken away meanwhile is heard of.
      const taken = holds.under(row.owner, browserNamed(row.hash), row.endsAt);
      const user = await storage.findUser(row.owner);
      if (user === undefined) return undefined;
      const isOld = row.endsAt - clock.now() < signInLastsMs() * (1 - 1 / renewalsPerLasting);
      const renewal = isOld ? await storage.renewSignIn(row.hash, clock.now() + signInLastsMs()) : undefined;
      const renewed = renewal?.ok === true && renewal.value;
      if (renewed) holds.under(row.owner, browserNamed(row.hash), clock.now() + signInLastsMs());
      return { id: user.id, scopes: scopesOf(user), renewed, taken, hash: row.hash };
    },
    signOut: (token) => endSignIn(hashOf(token)),
    endSignIn,
  };
}

function stranger({ names, name, email, sub }: Person) {
  return failure("sign_in_stranger", { name: names[0] ?? name, signInAs: email ?? sub });
}

/**
 * Which user somebody is who comes through the sign-in service for the first time: the one that waits for exactly
 * them, else a new one, where that is wanted. What they are called opens nothing: at many services people choose it.
 */
async function welcome(
  { storage, clock }: UserParts,
  { subject, sub, email, names, name, addsUsers }: Person,
): Promise<UserRow | undefined> {
  // An address that stands where a subject should is no address that was checked.
  const known = [...(sub.includes("@") ? [] : [sub]), ...(email?.includes("@") ? [email] : [])];
  for (const one of known) {
    const row = await storage.findUserBySubject(keptFor(one));
    if (row === undefined) continue;
    // It waited so long that others use it by now: the operator has to look.
    return (await storage.listKeys(row.id)).length === 0 ? { ...row, subject } : undefined;
  }
  if (!addsUsers) return undefined;
  const [id = OwnerId.parse("user")] = names.flatMap((one) => fitId(one) ?? []);
  const free = await freeId(storage, id);
  return free && { id: free, name, password: undefined, isAdmin: false, subject, at: clock.now() };
}

/** What is left of a name in the letters that ids have. */
function fitId(name: string): OwnerId | undefined {
  const id = name
    .slice(0, claimCharactersMax)
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9._@-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")
    .slice(0, 48);
  return OwnerId.safeParse(id).data;
}

async function freeId(storage: UserParts["storage"], id: OwnerId): Promise<OwnerId | undefined> {
  for (let number = 1; number <= ownNumbersMax; number += 1) {
    const end = number === 1 ? "" : `-${number}`;
    const free = OwnerId.parse(`${id.slice(0, 48 - end.length)}${end}`);
    if (!(await isTaken(storage, free))) return free;
  }
  return undefined;
}

/** An id is also taken by somebody who was removed, or who worked here before there were users: what they left is theirs. */
async function isTaken(storage: UserParts["storage"], id: OwnerId): Promise<boolean> {
  return id === localOwner || (await storage.findUser(id)) !== undefined || storage.ownsAnything(id);
}
