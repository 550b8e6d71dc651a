import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { secretIn, withoutSecrets } from "./secrets.ts";

const wordsOf = (words: string) => words.trim().split(/\s+/);

const linesIn = (lines: string) => lines.trim().split(/\s*\n\s*/);

/** Those among them of which it is not true. */
const amiss = (texts: readonly string[], isSecret: boolean) =>
  texts.filter((text) => (secretIn(text) !== undefined) !== isSecret);

const digits = "0123456789".repeat(4);

const letters = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop";

test("a key is known by the beginning that its maker gave it, whichever maker it is [H1][Q1]", () => {
  const keys = [
    ...wordsOf("sk-abcdefghijklmnop sk-ABCDEFGHIJKLMNOP sk-123456789012 sk-1___________ sk-a-1---------"),
    ...wordsOf("AKIA ASIA AGPA AIDA").map((front) => `${front}IOSFODNN7EXAMPLE`),
    ...wordsOf("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ npm_ hf_ gsk_").map((front) => front + digits),
    ...wordsOf("glpat- pypi- AIza ya29.").map((front) => front + letters),
    ...wordsOf("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-").map((front) => `${front}1234567890`),
    ...wordsOf("sk_live_ sk_test_ rk_live_ rk_test_").map((front) => `${front}1234567890`),
    `SG.${letters}.${letters}`,
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
    ...["", "RSA ", "OPENSSH ", "EC "].map((kind) => `-----BEGIN ${kind}PRIVATE KEY-----`),
    ...wordsOf("Basic bearer TOKEN").map((scheme) => `Authorization: ${scheme} abcdef`),
    ...["authorization=bearer abcdef", `"authorization": "bearer abcdef"`, "'Authorization' : 'Basic abcdef'"],
    ...wordsOf("basic BASIC Basic bearer BEARER Bearer").map((scheme) => `${scheme} abcdefghijk1`),
    ...["Bearer abcdefghijk=", "Bearer abcdefghIjkl"],
    ...wordsOf("postgres://me:hunter@db git+ssh://:hunter@db https://me:abc@x"),
  ];
  assert.deepEqual(amiss(keys, true), []);
  const others = linesIn(`
    sk-short1
    task-abcdefghijklmnopqrst
    AKIASHORT
    ghx_0123456789012345
    sk_prod_1234567890
    -----BEGIN PUBLIC KEY-----
    Authorization: bearer $KEYKEY
    Authorization: bearer <your key>
    Authorization: bearer {keykey}
    Authorization: bearer ******
    Authorization: bearer ......
    Bearer abcdefghijkl
    https://me:$PASSWORD@x
    https://me:<password>@x
    https://me:{password}@x
    https://me:***@x
    https://me@x.example:8080/a`);
  assert.deepEqual(amiss(others, false), []);
});

test("what a name promises is a secret, whatever the name and however it is set [H1][Q1]", () => {
  const names = wordsOf(`
    password passwd passphrase pwd secret token api_key api-key apikey access_key access-key accesskey secretkey authkey
    auth_key privatekey private_key clientsecret pgpassword mysqlpwd DB_PASSWORD MY_OWN_APP_DB_TOKEN x-api-key`);
  assert.deepEqual(
    amiss(
      names.flatMap((name) => [`${name}=hunter22`, `"${name}": "hunter22"`, `a ${name}:'hunter22'`]),
      true,
    ),
    [],
  );
  assert.equal(secretIn("DB_PASSWORD=hunter22"), "DB_PASSWORD=…");
  assert.equal(secretIn("sk-abcdefghijklmnop1"), "sk-abc…");
  assert.deepEqual(amiss(["tokens=hunter22", "password=abc", "password hunter22"], false), []);
});

test("what stands where a secret would and is none goes: placeholders, variables, calls, paths and sizes [H1]", () => {
  const values = wordsOf(`
    $KEY <key> {key} *key %KEY% (key) \\key [key] .key a*bcd …abc abc...d null none true false undefined your_key your-key
    xxxx changeme example placeholder redacted string str_ number boolean test_ required optional os.environ.KEY
    process.env.KEY env.KEY getenv_key self.key args.key config.key 12345 key(1) a[0] ./keys/a ../keys/a ~/keys/a
    /run/keys/a.b-c`);
  assert.deepEqual(
    amiss(
      values.map((value) => `token=${value}`),
      false,
    ),
    [],
  );
  assert.deepEqual(amiss(["token=123456", "token=/a/b/c/d/e", "token=abcd"], true), []);
  const prose = ["Password: everybody", "Password: everybody.", "Password: everybody!", "Password: everybody?"];
  assert.deepEqual(amiss(prose, false), []);
  assert.deepEqual(amiss(["Password: every1", "password:everybody"], true), []);
});

test("a password that is told in a sentence is known in each way to tell it [H1][L4]", () => {
  const told = [
    ...wordsOf("password passphrase passcode 密码 口令").map((name) => `my ${name} is hunter22`),
    ...wordsOf("是 为 : ： =").map((sign) => `口令${sign} hunter22`),
    ...wordsOf("! @ # $ % ^ &").map((sign) => `the password is abc${sign}d`),
    ...[
      `the "password" is 'hunter22'`,
      "the ‘password’ is ‘hunter22’",
      "the “password” is “hunter22”",
      "口令是「hunter22」",
    ],
    "the password is 123456",
  ];
  assert.deepEqual(amiss(told, true), []);
  const others = [
    ...wordsOf("base64 sha256 md5 utf8 utf-8 argon2 pbkdf2").map((name) => `the password is ${name}-encoded`),
    ...["the password is 12345", "the password is 12-character", "the password is secret", "口令是「必填项」"],
  ];
  assert.deepEqual(amiss(others, false), []);
});

test("behind each option that takes a secret it is not shown [H1][Q1]", () => {
  const options = wordsOf(`
    --password -password --passwd --passphrase --token --api-key --apikey --secret --secret-key --secretkey --access-key
    --accesskey --auth-token --authtoken`);
  assert.deepEqual(
    options.map((option) => withoutSecrets(`run ${option} hunter2hunter2hunter2`)),
    options.map((option) => `run ${option} hunt…`),
  );
  assert.deepEqual(
    [`run --token "hunter22"`, "run --token 'hunter22'", "run --token $TOKEN", "run --token --all"].map(withoutSecrets),
    [`run --token "…"`, "run --token '…'", "run --token $TOKEN", "run --token --all"],
  );
  // From sixteen characters on four of them tell which one it is.
  const shown = (length: number) => withoutSecrets(`--token ${"abcd1".padEnd(length, "z")}`);
  assert.deepEqual([shown(15), shown(16)], ["--token …", "--token abcd…"]);
});

const secretsMax = 64;

const secretOf = (index: number) => `sk-${createHash("sha256").update(`${index}`).digest("hex").slice(0, 40)}`;

const textWith = (count: number) => Array.from({ length: count }, (_, index) => `echo ${secretOf(index)}`).join("\n");

test("of a text with more secrets than are looked for nothing is shown, and of one with fewer everything else [H1]", () => {
  const few = withoutSecrets(textWith(secretsMax - 1));
  assert.deepEqual([few.split("\n").length, few.includes(secretOf(secretsMax - 2))], [secretsMax - 1, false]);
  assert.equal(withoutSecrets(textWith(secretsMax + 1)), "…");
});

test("every place of a secret is masked, also of one that is told in a sentence [H1][Q1]", () => {
  const key = `sk-${"a1".repeat(10)}`;
  assert.equal(withoutSecrets(`${key} and ${key}`), "sk-a… and sk-a…");
  assert.equal(withoutSecrets("my password is hunter22, hunter22 it is"), "my password is …, … it is");
  assert.equal(withoutSecrets("the passcode is 12345"), "the passcode is 12345");
});
