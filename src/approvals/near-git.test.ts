import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

judged("where git is told to work is where it works, and nowhere else [H1]", [
  ["git -C temp status; rm a", "delete"],
  ["git -C temp -c alias.x='!rm a' x", ""],
  ["git -C temp -c alias.x='!rm ../outputs/a' x", "delete"],
  ["git -C temp/x submodule foreach 'rm a'", ""],
  ["git -C temp worktree remove x", ""],
  ["if a; then cd temp; fi; git reset --hard", "delete"],
  ["mkdir temp/x; cd temp/x; git reset --hard", ""],
]);

judged("each program that git is told of runs where git stands, whatever the one before it did [H1]", [
  ["git -c alias.x='!cd temp' -c alias.y='!rm a' y", "delete"],
  ["git fetch --upload-pack='cd temp' --exec='rm a' x", "delete network"],
  ["git clone 'ext::cd temp' 'ext::rm a'", "delete network"],
  ["git config alias.x '!cd temp'; rm a", "delete"],
  ...linesOf(
    "delete network",
    `git fetch --upload-pack 'rm outputs/a' x
     git push --exec 'rm outputs/a' x
     git clone 'ext::sh -c ls;% rm% outputs/a'`,
  ),
  ...linesOf("delete", "git archive --exec 'rm outputs/a' HEAD\n git submodule foreach rm outputs/a"),
  ["git submodule foreach ls -x 'rm outputs/a'", ""],
]);

judged("a setting of git that names a program is told apart from what only looks like one [H1]", [
  ["git -c alias.undo='!rm outputs/a' undo", "delete"],
  ["git -c alias.x='!ls\nrm outputs/a' x", "delete"],
  ["git -c core.pager='ls\nrm outputs/a' log", "delete"],
  ["git clone 'ext::rm outputs/a\n'", "delete network"],
  ["git clone 'next::rm outputs/a'", "network"],
  ...rowsOf("", "git -c %='!rm outputs/a' log", "my.alias.x my.core.pager"),
  ["git grep core.pager 'rm outputs/a'", ""],
  ["git config core.pager", ""],
]);

judged("a command of git is told apart from those that only begin or end like it [H1]", [
  ...linesOf(
    "",
    `git my-fetch x
     git pull-stats x
     git stash show
     git log --remotes
     git stash -m drop
     git stash -m clear
     git reset -h
     git checkout x --
     git checkout -q x`,
  ),
  ...linesOf("network", "git archive --remote=x HEAD\n git clone .me.example:x\n git clone -q x"),
  ...linesOf("delete", "git reset --ha\n git checkout my-b y\n git checkout my--track y\n git checkout -q HEAD a"),
  // What is kept is named, and all else goes.
  ...rowsOf("delete", "git clean -fd % temp/x", "-e --exclude"),
]);

test("what git takes along as a folder is graver than a file [H1]", () => {
  const rows: [command: string, risk: string][] = [
    ...linesOf("high", "git clean -fd outputs/x\n git rm -r outputs/x\n git worktree remove outputs/x"),
    ["git rm outputs/x", "medium"],
    ["git clean -fd uploads", "critical"],
  ];
  assert.deepEqual(
    rows.map(([command]) => [command, commandFindings(command, judgedFacts, nothingListed)[0]?.risk]),
    rows,
  );
});
