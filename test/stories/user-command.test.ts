import assert from "node:assert/strict";
import { test } from "node:test";
import { type Home, makeHome, typedHere } from "../world/program.ts";

// `agentyard user` as an operator types it, with and without a server beside it.

test("a user is added, listed and removed; the first one sees to the others [C6][P2]", async (t) => {
  const home = makeHome(t);
  await home.serve();
  assert.equal(
    await said(home, "list"),
    `There are no users: this machine alone can call, without sign-in. \`${typedHere} user add NAME\` adds one.\n`,
  );
  assert.match(
    await said(home, "add", "ada"),
    /^✓ User ada added\. .*\nada is an admin: .*\n.*`node \S+ user link ada`.*\n$/,
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
  const refused = await home.start("user", "remove", "grace").ended;
  assert.deepEqual(refused, {
    code: 2,
    output: "",
    errors: `✗ There is no user grace. See all with \`${typedHere} user list\`.\n`,
  });
  assert.equal(
    await said(home, "remove", "ada"),
    "✓ User ada removed, with keys and sign-ins. Conversations stay.\nNo users are left: callers on this machine need no sign-in now, and others are refused.\n",
  );
  const unfit = await home.start("user", "add", "王小明").ended;
  assert.equal(
    unfit.errors,
    "✗ 王小明 cannot be the name of a user. Use 1 to 48 of the letters A–Z and a–z, digits and . _ @ -.\n",
  );
});

test("a password is piped in and signs in at a running server; another one ends that [C6]", async (t) => {
  const home = makeHome(t);
  const address = await home.serve();
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
  const empty = home.start("user", "password", "ada", "--password-stdin");
  empty.child.stdin.end();
  const { code, errors } = await empty.ended;
  assert.deepEqual([code, /^✗ a password is needed/.test(errors)], [2, true]);
});

test("a link leads to the running server and signs in once [C6]", async (t) => {
  const home = makeHome(t);
  await said(home, "add", "ada");
  assert.match(await said(home, "link", "ada"), /^\/sign-in\?\S+\n.*Put the address of the server before it/);
  const address = await home.serve();
  const [link = ""] = (await said(home, "link", "ada")).split("\n");
  assert.ok(link.startsWith(`${address}/sign-in?`), link);
  const { link: again, user } = JSON.parse(await said(home, "link", "ada", "--json"));
  assert.deepEqual([user, again.startsWith(`${address}/sign-in?`)], ["ada", true]);
});

test("an API key is shown once, alone on standard output, opens what its scopes say, and nothing when it is gone [C6]", async (t) => {
  const home = makeHome(t);
  const address = await home.serve();
  await said(home, "add", "ada");
  const made = await home.start("user", "key", "add", "ada", "--scope", "chat", "--label", "ci", "--days", "9").ended;
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

test("a user is kept for one person of the sign-in service, once, and nobody is made an admin by it [C6][P2]", async (t) => {
  const home = makeHome(t);
  assert.match(
    await said(home, "add", "ada", "--sign-in-as", "ada@example.com"),
    /^✓ User ada added\. .*\nWhom the sign-in service knows as ada@example\.com comes in as ada, and nobody else\.\n$/,
  );
  const [ada] = JSON.parse(await said(home, "list", "--json")).items;
  assert.deepEqual([ada.hasService, ada.isAdmin, ada.hasPassword], [true, false, false]);
  assert.deepEqual(await home.start("user", "add", "eve", "--sign-in-as", "ada@example.com").ended, {
    code: 2,
    output: "",
    errors:
      "✗ The user ada is kept for this person of the sign-in service already. If they are refused: one that has API " +
      `keys is not handed over. Revoke those first, with \`${typedHere} user key remove\`.\n`,
  });
});

test("users are spoken of in Chinese too [P4]", async (t) => {
  const home = makeHome(t);
  assert.match(await said(home, "add", "ada", "--lang", "zh"), /^✓ 已添加用户 ada。/);
  assert.match(await said(home, "key", "list", "ada", "--lang", "zh"), /^ada 没有 API 密钥。/);
});

async function said(home: Home, ...words: string[]): Promise<string> {
  const { code, output, errors } = await home.start("user", ...words).ended;
  assert.deepEqual([code, errors], [0, ""]);
  return output;
}

async function piped(home: Home, text: string, ...words: string[]): Promise<string> {
  const program = home.start("user", ...words, "--password-stdin");
  program.child.stdin.end(text);
  const { code, output, errors } = await program.ended;
  assert.deepEqual([code, errors], [0, ""]);
  return output;
}
