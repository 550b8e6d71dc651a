import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { commitFormat, inspectCommits, readCommits } from "./world/commits.ts";

const root = join(import.meta.dirname, "..");
const why = "The page promised it after ten steady runs; they were seen, so the promise is kept.";

test("each commit since that was asked for says what it did, and why", (t) => {
  // A downloaded tree has no history, and a shallow clone only the end of it.
  if (!existsSync(join(root, ".git"))) return t.diagnostic("there is no history here");
  assert.equal(inspectCommits(historyOf(root)).join("\n"), "");
});

test("a commit without a reason, or whose subject names no area, is named", (t) => {
  const { folder, commit } = repository(t);
  const mute = [
    commit("docs: no reason"),
    commit("docs: a word", "Fixes it."),
    commit(
      "docs: only who wrote it",
      `Signed-off-by: ${"a".repeat(60)} <a@b.example>\nReviewed-by: Somebody <b@b.example>`,
    ),
    commit('Revert "docs: a page"', `This reverts commit ${"0".repeat(40)}.`),
  ];
  const shapeless = commit("Some changes", why);
  const long = commit(`docs: ${"a".repeat(95)}`, why);
  const good = [commit("docs: a page", why), commit(`docs: ${"a".repeat(94)}`, why)];

  const told = inspectCommits(historyOf(folder), 0);
  const about = (hash: string) => told.filter((problem) => problem.startsWith(hash.slice(0, 8)));
  for (const hash of mute)
    assert.match(about(hash).join(), /": the body does not say why \(CONTRIBUTING\.md, Commits\)$/);
  assert.match(about(shapeless).join(), /": the subject is not `area: what is true now`$/);
  assert.match(about(long).join(), /": the subject has 101 characters of at most 100$/);
  assert.deepEqual(good.flatMap(about), []);
  assert.equal(told.length, 6);
});

test("what had landed before is let be, and so is a merge", (t) => {
  const { folder, commit, git } = repository(t);
  commit("docs: before");
  git("checkout", "-q", "-b", "side");
  commit("docs: beside it", why);
  git("checkout", "-q", "main");
  commit("docs: before as well");
  git("merge", "-q", "--no-edit", "side");
  const history = historyOf(folder);
  assert.deepEqual(history.map(({ parents }) => parents).sort(), [1, 1, 1, 2]);
  assert.deepEqual(inspectCommits(history, Date.now() + 60_000), []);
  assert.equal(inspectCommits(history, 0).length, 2);
});

test("of a shallow clone the commits that it has are read", (t) => {
  const { folder, commit } = repository(t);
  commit("docs: one");
  const last = commit("docs: another");
  const shallow = join(folder, "shallow");
  execFileSync("git", ["clone", "-q", "--depth", "1", String(pathToFileURL(folder)), shallow]);
  assert.deepEqual(
    historyOf(shallow).map(({ hash }) => hash),
    [last],
  );
});

function historyOf(folder: string) {
  const log = execFileSync("git", ["log", `--format=${commitFormat}`], { cwd: folder, encoding: "utf8" });
  const commits = readCommits(log);
  assert.notEqual(commits.length, 0);
  return commits;
}

function repository(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "commits-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.example", ...args], {
      cwd: folder,
      encoding: "utf8",
    });
  git("init", "-q", "-b", "main");
  const commit = (...paragraphs: string[]): string => {
    git("commit", "-q", "--allow-empty", ...paragraphs.flatMap((text) => ["-m", text]));
    return git("rev-parse", "HEAD").trim();
  };
  return { folder, commit, git };
}
