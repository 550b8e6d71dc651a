import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CommitUnknown, failureOf, isGivenUp, isPassing, openFailureOf } from "./failures.ts";
import { readVersion } from "./migrations.ts";
import { types } from "./query.ts";
import { fromStored, toStored } from "./stored-text.ts";

/** As pg throws what the server said, by its code, or what befell the connection, in words. */
function told(error: Error, read: typeof openFailureOf = failureOf): string | undefined {
  const failure = read(error);
  if (failure === undefined) return undefined;
  return "why" in failure.params ? `${failure.code} ${failure.params.why}` : failure.code;
}

function coded(code: string): Error {
  return Object.assign(new Error("no"), { code });
}

const system = ["ECONNREFUSED", "ECONNRESET", "EPIPE", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "ENOTFOUND"];
const away = [...system, "EAI_AGAIN", "ENOENT", "EACCES", "57P01", "57P02", "25P03", "08006", "08P01"];

test("what a database server says becomes a failure with its cause, and what only a mistake of ours can be none [N1][Q2][P4]", () => {
  const said = {
    "database_away away": away,
    "database_away starting": ["57P03"],
    "database_away full": ["53300"],
    storage_busy: ["55P03", "57014", "40001", "40P01"],
    storage_full: ["53100"],
    storage_read_only: ["25006"],
    "storage_broken io": ["58030"],
    "storage_broken damaged": ["XX001", "XX002"],
    // It could be used once: somebody has taken it away, or our rights to it.
    "storage_broken removed": ["42P01", "28P01", "28000", "3D000", "42501", "3F000"],
  };
  for (const [failure, codes] of Object.entries(said))
    for (const code of codes) assert.equal(told(coded(code)), failure, code);
  for (const mistake of [coded("42601"), coded("23505"), new Error("our own")]) assert.equal(told(mistake), undefined);
});

test("a database that cannot be opened is told by what is wrong with it, and one that is away by that [N1][P4]", () => {
  const said = {
    "database_unusable refused": [coded("28P01"), new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: password must be")],
    "database_unusable no_database": [coded("3D000")],
    "database_unusable no_rights": [coded("42501"), coded("3F000")],
    "database_unusable no_tls": [
      new Error("The server does not support SSL connections"),
      new Error("self-signed certificate"),
    ],
    "database_away away": [coded("ECONNREFUSED")],
    storage_full: [coded("53100")],
  };
  for (const [failure, errors] of Object.entries(said))
    for (const error of errors) assert.equal(told(error, openFailureOf), failure, error.message);
});

test("a connection that is lost is away in whatever words; where none was free the database is busy [N1][Q2]", () => {
  for (const words of [
    ...["Connection terminated unexpectedly", "Client has encountered a connection error and is not queryable"],
    ...["Client was closed and is not queryable", "Query read timeout", "timeout expired"],
  ])
    assert.equal(told(new Error(words)), "database_away away", words);
  assert.equal(told(new Error("timeout exceeded when trying to connect")), "storage_busy");
  const both = new AggregateError([coded("ECONNREFUSED"), coded("EACCES")]);
  assert.equal(told(both), "database_away away", "every address of a host was tried");
});

test("what passes is waited for, what two stood in each other's way for is done again, and a commit without an answer neither [N1][L2]", () => {
  const lost = new CommitUnknown("lost");
  assert.equal(told(lost), "database_away commit_unknown");
  assert.deepEqual([isPassing(lost), isGivenUp(lost)], [false, false]);
  for (const code of [...away, "57P03", "53300"])
    assert.deepEqual([isPassing(coded(code)), isGivenUp(coded(code))], [true, false]);
  for (const code of ["40001", "40P01"])
    assert.deepEqual([isPassing(coded(code)), isGivenUp(coded(code))], [false, true]);
  for (const code of ["28P01", "3D000", "55P03", "57014", "53100"])
    assert.deepEqual([isPassing(coded(code)), isGivenUp(coded(code))], [false, false]);
});

test("what a server or the system said is told without paths and addresses of the operator [Q2][P4]", () => {
  const said = (error: Error) => {
    const failure = failureOf(error);
    return failure !== undefined && "said" in failure.params ? failure.params.said : undefined;
  };
  const socket = Object.assign(new Error("connect ENOENT /run/own/.s.PGSQL.5432"), {
    code: "ENOENT",
    syscall: "connect",
  });
  assert.equal(said(socket), "ENOENT");
  assert.equal(said(new AggregateError([socket])), "ENOENT");
  assert.equal(said(coded("57P01")), "no (57P01)");
  assert.equal(said(new Error("Query read timeout")), "Query read timeout");
});

test("whatever somebody wrote comes back from a database that takes no NUL, and no two texts are stored as one [N1][L9]", () => {
  const text = fc.string({ unit: fc.constantFrom("\0", "\u0001", "\u0002", "\u0003", "a", "你") });
  fc.assert(
    fc.property(text, text, (one, other) => {
      assert.ok(!toStored(one).includes("\0"));
      assert.equal(fromStored(toStored(one)), one);
      assert.equal(toStored(one) === toStored(other), one === other);
    }),
    { examples: [["\u0001\u0002", "\0"]] },
  );
  assert.equal(toStored("plain 你\u0002"), "plain 你\u0002");
});

test("a number that JavaScript would round is told as our mistake, and not handed out [N1]", () => {
  const read = types.getTypeParser(20, "text");
  assert.deepEqual([read("9007199254740991"), read("-5")], [Number.MAX_SAFE_INTEGER, -5]);
  assert.throws(() => read("9007199254740993"));
  assert.equal(types.getTypeParser(25, "text")("a\u0001\u0002"), "a\0");
});

test("a server that is older than we know is named [N1][Q2]", async () => {
  const server = { number: 130_001, version: "13.1 (old)", encoding: "UTF8" };
  const found = await readVersion({ one: async () => server } as unknown as Parameters<typeof readVersion>[0], "s");
  assert.deepEqual(found.ok || found.failure.params, { why: "too_old", said: "13.1 (old)" });
});
