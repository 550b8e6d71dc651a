import { test } from "node:test";
import { compare, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

judged("each command of git that talks to another machine asks, and those that stay here do not [H1]", [
  ...rowsOf("network", "git % x", "fetch pull push ls-remote remote-https svn send-email daemon request-pull clone"),
  ...rowsOf("network", "git submodule %", "update add init"),
  ...rowsOf("network", "git remote %", "update show prune"),
  ...rowsOf("network", "git lfs %", "pull fetch push clone"),
  ...rowsOf("network", "git % x push", "-C -c --git-dir --work-tree --namespace --exec-path"),
  ...linesOf("network", "git archive --remote=x\n git remote -v update\n git --no-pager fetch"),
  ...rowsOf("", "git clone %", "./x ../x /x file:///x . .."),
  ...linesOf(
    "",
    "git submodule status\n git remote add x y\n git lfs track x\n git archive HEAD\n git commit -m push\n git log",
  ),
]);

judged("each command of git that loses work asks, and its milder form does not [H1]", [
  ...linesOf(
    "delete",
    `git clean -fd
       git clean -fd outputs
       git rm -r outputs
       git mv a temp/b
       git reset --hard
       git reset --har
       git reset --merge
       git checkout -f
       git checkout --force x
       git checkout -- a
       git checkout .
       git checkout ./
       git checkout '*'
       git checkout HEAD a
       git switch -f x
       git switch --force x
       git switch --discard-changes x
       git restore a
       git restore --staged --worktree a
       git restore -S -W a
       git stash drop
       git stash clear
       git branch -D x
       git branch -d -f x
       git branch --delete --force x
       git tag -d x
       git tag --delete x
       git update-ref -d x
       git worktree remove outputs/x
       git reflog expire
       git reflog delete
       git filter-branch x
       git filter-repo x
       git submodule foreach 'rm a'
       git bisect run rm outputs/a
       git rebase --exec 'rm outputs/a' x
       git rebase -x 'rm outputs/a' x
       git archive --exec='rm outputs/a' HEAD
       git -C outputs reset --hard`,
  ),
  ...linesOf(
    "",
    `git clean -n
       git clean --dry-run
       git clean -fd temp/x
       git rm -n outputs/a
       git rm --cached outputs/a
       git rm --dry-run outputs/a
       git mv a b
       git reset
       git reset --soft
       git checkout x
       git checkout -b x y
       git checkout -B x y
       git checkout -t x y
       git checkout --track x y
       git checkout --orphan x y
       git checkout --detach x y
       git switch x
       git restore --staged a
       git restore -S a
       git stash
       git stash pop
       git branch -d x
       git branch x
       git tag x
       git update-ref x y
       git worktree remove temp/x
       git worktree add outputs/x
       git reflog
       git submodule foreach 'ls'
       git rebase x
       git -C temp/x reset --hard
       git -C temp/x stash drop`,
  ),
]);

judged("settings of git that name a program are judged by it [H1]", [
  ...rowsOf("delete", "git -c core.%='rm outputs/a' status", "sshCommand editor pager hooksPath EDITOR"),
  ...rowsOf("delete", "git config core.% 'rm outputs/a'", "sshcommand editor pager"),
  ...rowsOf("", "git -c %='rm outputs/a' status", "user.name alias.x core.filemode"),
  ...linesOf("delete", "git -c alias.x='!rm outputs/a' x\n git config --global alias.x '!rm outputs/a'"),
  ...linesOf("delete network", "git fetch --upload-pack='rm outputs/a' x\n git push --receive-pack 'rm outputs/a' x"),
]);
