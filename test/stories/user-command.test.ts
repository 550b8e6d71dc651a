import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { beginCommand, type ClientCommand, runCommand } from "../../src/terminal/terminal.ts";
import { wordsFor } from "../../src/words/words.ts";
import { onPort } from "../world/http-reading.ts";
import { openTestPipe } from "../world/pty.ts";
import { startYard, type TestYard } from "../world/yard.ts";

// `agentyard user` as an operator types it beside a running server; serve.test.ts starts the program itself with it.

test("a user is added, listed and removed; the first one sees to the others [C6][P2]", async () => {
  await using home = await startYard();
  assert.equal(
    await said(home, "list"),
    `There are no users: this machine alone can call, without sign-in. \`agentyard user add NAME\` adds one.\n`,
  );
  assert.match(
    await said(home, "add", "ada"),
    /^✓ User ada added\. .*\nada is an admin: .*\n.*`agentyard user link ada`.*\n$/,
  );
  assert.doesNotMatch(await said(home, "add", "grace"), /admin/);
  const { items } = JSON.parse(await said(home, "list", "--json"));
  assert.deepEqual(
    items.map(({ id, isAdmin, hasPassword }: Record<string, unknown>) => [id, isAdmin, hasPassword]),
    [
      ["ada", true, false],
      ["grace", false, false],
    ],
  );
  assert.match(
    await said(home, "list"),
    /^ {2}user +role +password +added\n {2}ada +admin +no +\d{4}-\S+ \S+\n {2}grace +user +no/,
  );
  assert.equal(
    await said(home, "remove", "grace"),
    "✓ User grace removed, with keys and sign-ins. Conversations stay.\n",
  );
  const refused = await typed(home, ["remove", "grace"]);
  assert.deepEqual(refused, {
    code: 2,
    output: "",
    errors: `✗ There is no user grace. See all with \`agentyard user list\`.\n`,
  });
  assert.equal(
    await said(home, "remove", "ada"),
    "✓ User ada removed, with keys and sign-ins. Conversations stay.\nNo users are left: callers on this machine need no sign-in now, and others are refused.\n",
  );
  const unfit = await typed(home, ["add", "王小明"]);
  assert.equal(
    unfit.errors,
    "✗ 王小明 cannot be the name of a user. Use 1 to 48 of the letters A–Z and a–z, digits and . _ @ -.\n",
  );
});

test("a password is piped in and signs in at a running server; another one ends that [C6]", async () => {
  await using home = await startYard();
  await using port = await onPort(home);
  const address = port.url;
  await piped(home, "correct horse battery\n", "add", "ada");
  const signIn = (password: string) =>
    fetch(`${address}/api/v1/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: address },
      body: JSON.stringify({ user: "ada", password }),
    });
  assert.deepEqual([(await signIn("correct horse battery")).status, (await signIn("wrong horse")).status], [200, 401]);
  assert.match(await piped(home, "another horse battery\n", "password", "ada"), /^✓ Password of ada set\./);
  assert.deepEqual(
    [(await signIn("correct horse battery")).status, (await signIn("another horse battery")).status],
    [401, 200],
  );
  const { code, errors } = await typed(home, ["password", "ada", "--password-stdin"]);
  assert.deepEqual([code, /^✗ a password is needed/.test(errors)], [2, true]);
});

test("a link leads to the running server and signs in once [C6]", async () => {
  await using home = await startYard();
  await said(home, "add", "ada");
  assert.match(await said(home, "link", "ada"), /^\/sign-in\?\S+\n.*Put the address of the server before it/);
  const address = "http://127.0.0.1:7420";
  const [link = ""] = (await typed(home, ["link", "ada"], { servedAt: address })).output.split("\n");
  assert.ok(link.startsWith(`${address}/sign-in?`), link);
  const { link: again, user } = JSON.parse(
    (await typed(home, ["link", "ada", "--json"], { servedAt: address })).output,
  );
  assert.deepEqual([user, again.startsWith(`${address}/sign-in?`)], ["ada", true]);
});

test("an API key is shown once, alone on standard output, opens what its scopes say, and nothing when it is gone [C6]", async () => {
  await using home = await startYard();
  await using port = await onPort(home);
  const address = port.url;
  await said(home, "add", "ada");
  const made = await typed(home, ["key", "add", "ada", "--scope", "chat", "--label", "ci", "--days", "9"]);
  const key = made.output.trim();
  assert.match(key, /^\S{20,}$/);
  assert.match(made.errors, /^✓ API key \S+ \(chat\)\. It is shown this once/);
  const status = async (path: string, authorization: string) =>
    (await fetch(`${address}${path}`, { headers: { authorization } })).status;
  assert.deepEqual(
    [await status("/api/v1/conversations", `Bearer ${key}`), await status("/api/v1/users", `Bearer ${key}`)],
    [200, 403],
  );
  assert.equal(await status("/api/v1/conversations", "Bearer nonsense"), 401);
  const listed = await said(home, "key", "list", "ada");
  assert.match(listed, /\n {2}\S+ +\S+… +ci +chat +\d{4}-/);
  assert.ok(!listed.includes(key));
  const [{ id }] = JSON.parse(await said(home, "key", "list", "ada", "--json")).items;
  assert.equal(
    await said(home, "key", "remove", "ada", id),
    `✓ API key ${id} revoked; it opens nothing from now on.\n`,
  );
  assert.equal(await status("/api/v1/conversations", `Bearer ${key}`), 401);
});

test("a user is kept for one person of the sign-in service, once, and nobody is made an admin by it [C6][P2]", async () => {
  await using home = await startYard();
  assert.match(
    await said(home, "add", "ada", "--sign-in-as", "ada@example.com"),
    /^✓ User ada added\. .*\nWhom the sign-in service knows as ada@example\.com comes in as ada, and nobody else\.\n$/,
  );
  const [ada] = JSON.parse(await said(home, "list", "--json")).items;
  assert.deepEqual([ada.hasService, ada.isAdmin, ada.hasPassword], [true, false, false]);
  assert.deepEqual(await typed(home, ["add", "eve", "--sign-in-as", "ada@example.com"]), {
    code: 2,
    output: "",
    errors:
      "✗ The user ada is kept for this person of the sign-in service already. If they are refused: one that has API " +
      `keys is not handed over. Revoke those first, with \`agentyard user key remove\`.\n`,
  });
});

type Typing = { readonly text?: string; readonly servedAt?: string };

/** What is typed behind `agentyard user`, and `text` piped in. */
async function typed({ client }: TestYard, words: readonly string[], { text = "", servedAt }: Typing = {}) {
  const { streams, written } = openTestPipe(text);
  const begun = beginCommand(["user", ...words], { ...streams, language: "en", version: "0.0.0" });
  const parts = { ...streams, client, words: wordsFor("en"), clock: systemClock, ids: systemIds, version: "0.0.0" };
  const how = { color: false, hasKeys: true, leave: new AbortController().signal, servedAt };
  const code = begun.name === "ended" ? begun.code : await runCommand(begun as ClientCommand, { ...parts, ...how });
  return { code, ...written };
}

async function said(yard: TestYard, ...words: string[]): Promise<string> {
  const { code, output, errors } = await typed(yard, words);
  assert.deepEqual([code, errors], [0, ""]);
  return output;
}

async function piped(yard: TestYard, text: string, ...words: string[]): Promise<string> {
  const { code, output, errors } = await typed(yard, [...words, "--password-stdin"], { text });
  assert.deepEqual([code, errors], [0, ""]);
  return output;
}
