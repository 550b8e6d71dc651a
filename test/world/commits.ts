/** One commit, as `git log` tells it. */
export type Commit = {
  readonly hash: string;
  readonly committedAt: number;
  readonly parents: number;
  readonly subject: string;
  readonly body: string;
};

/** Since then each says why. Those before it are landed, and what has landed is not written anew. */
const saysWhySince = Date.parse("2026-11-18T14:55:00Z");

/** For `git log --format`: parts and commits end in characters that no message has. */
export const commitFormat = "%H%x1f%ct%x1f%P%x1f%s%x1f%b%x1e";

const subjectCharactersMax = 100;
/** Less than this is a word such as "fixes", not a reason. */
const reasonCharactersMin = 60;

export function readCommits(log: string): Commit[] {
  return log
    .split("\x1e")
    .map((commit) => commit.trimStart().split("\x1f"))
    .flatMap(([hash = "", seconds = "", parents = "", subject = "", body = ""]) =>
      hash === ""
        ? []
        : [{ hash, committedAt: Number(seconds) * 1000, parents: parents.split(" ").length, subject, body }],
    );
}

/** A sentence for each commit that does not say what it did, or why. A merge says it by the commits that it brings. */
export function inspectCommits(commits: readonly Commit[], since = saysWhySince): string[] {
  return commits
    .filter(({ committedAt, parents }) => committedAt >= since && parents < 2)
    .flatMap(({ hash, subject, body }) =>
      [...inspectSubject(subject), ...inspectBody(body)].map(
        (problem) => `${hash.slice(0, 8)} "${subject}": ${problem}`,
      ),
    );
}

function inspectSubject(subject: string): string[] {
  if (subject.length > subjectCharactersMax)
    return [`the subject has ${subject.length} characters of at most ${subjectCharactersMax}`];
  return /^([a-z][\w ,./-]*: \S|Revert ")/.test(subject) ? [] : ["the subject is not `area: what is true now`"];
}

function inspectBody(body: string): string[] {
  const reason = body
    .split("\n")
    .filter((line) => !/^[A-Z][\w-]+: |^This reverts commit /.test(line))
    .join(" ")
    .trim();
  return reason.length < reasonCharactersMin ? ["the body does not say why (CONTRIBUTING.md, Commits)"] : [];
}
