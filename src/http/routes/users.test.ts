import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { Users } from "../../users/users.ts";
import type { Tries } from "../tries.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";
import { userHandlers } from "./users.ts";

const ann = OwnerId.parse("ann");
type User = NonNullable<Awaited<ReturnType<Users["find"]>>>;
const user: User = { id: ann, name: "Ann", isAdmin: false, hasPassword: true, hasService: false, createdAt: 1 };

/** Tries of which the test says which are too many, and which of them worked. */
function countedTries(refused: { readonly from?: boolean; readonly as?: boolean } = {}) {
  const told: unknown[] = [];
  const tooMany = makeFailure("rate_limited", { retryAfterSeconds: 1 });
  const tries: Tries = {
    from: ({ address }) => noted(told, ["from", address], refused.from === true ? tooMany : undefined),
    as: (name, { address }) => noted(told, ["as", name, address], refused.as === true ? tooMany : undefined),
    worked: ({ address }) => void told.push(["worked", address]),
  };
  return { tries, told };
}

test("a user is removed when what speaks for them elsewhere has ended, and one who stays keeps it [G1][S7]", async () => {
  const forgotten = Promise.withResolvers<void>();
  const told: unknown[] = [];
  const { removeUser } = userHandlers(
    partsWith({
      users: { remove: async (id) => (id === "ann" ? ok(OwnerId.parse("ann-2")) : failure("user_unknown", { id })) },
      mcp: {
        forget(owner) {
          told.push(owner);
          return forgotten.promise;
        },
      },
    }),
    countedTries().tries,
  );
  const stays = await removeUser(asked("removeUser", { params: { user: "bob" } }));
  assert.deepEqual([stays.ok, told], [false, []]);
  const removing = removeUser(asked("removeUser", { params: { user: "ann" } })).then(({ ok: isOk }) => told.push(isOk));
  await settle();
  assert.deepEqual(told, ["ann-2"], "the one whom storage named, and not before it has ended");
  forgotten.resolve();
  await removing;
  assert.deepEqual(told, ["ann-2", true]);
});

test("a user who was added by an earlier try of the same call is told as added, and by nobody else's [C6]", async () => {
  const exists = failure("user_exists", { id: "ann" });
  let [answer, there]: [Awaited<ReturnType<Users["add"]>>, User | undefined] = [exists, user];
  const { addUser } = userHandlers(
    partsWith({ users: { add: async () => answer, find: async () => there } }),
    countedTries().tries,
  );
  const add = (isRetry: boolean) =>
    addUser(asked("addUser", { body: { id: "ann" }, once: { seed: "s", isRetry } })).then((one) =>
      one.ok ? one.value : one.failure.code,
    );
  assert.deepEqual([await add(true), await add(false)], [user, "user_exists"]);
  there = undefined;
  assert.equal(await add(true), "user_exists", "removed in this very moment");
  [answer, there] = [failure("password_unfit", { charactersMin: 8 }), user];
  assert.equal(await add(true), "password_unfit");
  answer = ok(user);
  assert.deepEqual(await add(false), user);
});

test("a password is changed in a browser by who knows it, each try counts, and one that works does not [C6]", async () => {
  const setting = async (
    by: "cookie" | "key" | undefined,
    { current, refused = {}, hasPassword = true }: { current?: string; refused?: object; hasPassword?: boolean } = {},
  ) => {
    const { tries, told } = countedTries(refused);
    const users: Partial<Users> = {
      find: async () => ({ ...user, hasPassword }),
      isPassword: async (_, password) => noted(told, "looked at", ok(password === "right")),
      setPassword: async (id, password) => noted(told, ["set", id, password], ok(undefined)),
    };
    const { setPassword } = userHandlers(partsWith({ users }), tries);
    const answer = await setPassword(
      asked("setPassword", {
        ...{ params: { user: "ann" }, body: { password: "new", current }, arrival: { address: "1.2.3.4" } },
        caller: { signedIn: by && ann, scopes: by === "key" ? ["admin"] : ["chat"], by },
      }),
    );
    return [answer.ok ? "ok" : answer.failure.code, ...told];
  };
  const counted = [
    ["from", "1.2.3.4"],
    ["as", "ann", "1.2.3.4"],
  ];
  const set = ["set", "ann", "new"];
  assert.deepEqual(await setting("cookie", { current: "right" }), [
    ...["ok", ...counted, "looked at"],
    ...[["worked", "1.2.3.4"], set],
  ]);
  assert.deepEqual(await setting("cookie", { current: "wrong" }), ["sign_in_failed", ...counted, "looked at"]);
  assert.deepEqual(await setting("cookie"), ["sign_in_failed", ...counted, "looked at"], "none at all");
  assert.deepEqual(await setting("cookie", { current: "right", refused: { as: true } }), ["rate_limited", ...counted]);
  assert.deepEqual(await setting("cookie", { current: "right", refused: { from: true } }), [
    ...["rate_limited", counted[0]],
  ]);
  assert.deepEqual(await setting("cookie", { hasPassword: false }), ["ok", set], "who has none sets the first");
  assert.deepEqual(
    [await setting("key"), await setting(undefined)],
    [
      ["ok", set],
      ["ok", set],
    ],
  );
});

test("a key ends after its days and never otherwise, is shown once, and gives nobody more than they have [C6]", async () => {
  const clock = manualClock();
  clock.move(1_000);
  const made: unknown[] = [];
  const keysOf = (isAdmin: boolean) =>
    userHandlers(
      partsWith({
        ...{ clock, ids: systemIds },
        users: {
          find: async (id) => (id === "gone" ? undefined : { ...user, isAdmin }),
          async addKey(id, { id: _, ...key }) {
            made.push([id, key]);
            return ok({
              id: "k",
              name: "n",
              scopes: [...key.scopes],
              createdAt: 1,
              endsAt: null,
              usedAt: null,
              key: "ay_secret",
            });
          },
        },
      }),
      countedTries().tries,
    );
  const add = async (isAdmin: boolean, body: { scopes: ("chat" | "admin")[]; days?: number }, of = "ann") => {
    const answer = await keysOf(isAdmin).addKey(
      asked("addKey", { params: { user: of }, body: { name: "n", ...body } }),
    );
    return answer.ok ? [Object(answer.value).key, Object(answer.again).key] : answer.failure;
  };
  const shown = ["ay_secret", null];
  assert.deepEqual(await add(false, { scopes: ["chat"], days: 2 }), shown);
  assert.deepEqual(await add(false, { scopes: ["chat"] }), shown);
  const scope = makeFailure("scope_missing", { scope: "admin" });
  assert.deepEqual(await add(false, { scopes: ["chat", "admin"] }), scope);
  assert.deepEqual(await add(true, { scopes: ["admin"] }), shown);
  assert.deepEqual(made, [
    ["ann", { name: "n", scopes: ["chat"], endsAt: 1_000 + 2 * 86_400_000 }],
    ["ann", { name: "n", scopes: ["chat"], endsAt: undefined }],
    ["ann", { name: "n", scopes: ["admin"], endsAt: undefined }],
  ]);
});

test("of keys everybody has their own, from a browser they are signed in with; who runs it all has everybody's [C6][S7]", async () => {
  const users: Partial<Users> = { keys: async () => ok([]), removeKey: async () => ok(undefined) };
  const { listKeys, removeKey } = userHandlers(partsWith({ users }), countedTries().tries);
  const as = async (caller: Parameters<typeof listKeys>[0]["caller"], whose = "ann") => {
    const answers = [
      await listKeys(asked("listKeys", { params: { user: whose }, caller })),
      await removeKey(asked("removeKey", { params: { user: whose, key: "k" }, caller })),
    ];
    return answers.map((answer) => (answer.ok ? "ok" : answer.failure.code));
  };
  const [yes, unknown, no] = ["ok", "user_unknown", "scope_missing"].map((code) => [code, code]);
  assert.deepEqual(await as({ signedIn: ann, scopes: ["chat"], by: "cookie" }), yes);
  assert.deepEqual(await as({ signedIn: ann, scopes: ["chat"], by: "cookie" }, "bob"), unknown);
  assert.deepEqual(await as({ signedIn: ann, scopes: ["chat"], by: "key" }), no);
  assert.deepEqual(await as({ signedIn: ann, scopes: ["chat"], by: "key" }, "bob"), unknown);
  assert.deepEqual(await as({ signedIn: ann, scopes: ["admin"], by: "key" }, "bob"), yes);
  assert.deepEqual(await as({ signedIn: undefined, scopes: [] }, "bob"), yes);
});
