/** Words that stand in every text, and those that only ask. */
const english = `a about above across after again against all almost along already also although always am an and another any
  anyone anything are aren as at away be because been before being below between both but by can cannot could couldn did didn do
  does doesn doing don done down during each either else enough ever every few find for from further get gets getting give given
  gives go goes got had hadn has hasn have haven having he her here hers him his how however i if in instead into is isn it
  its itself just kind know let like ll made make makes many may me means might more most much must my myself need needs neither
  no nor not of off often on once one only onto or other others otherwise our out over per please possible purpose put rather
  re really s same say says see seem seems shall she should shouldn show since so some somebody someone something sort still such t take takes
  tell than that the their them then there these they thing things this those though through thus to too toward under until up
  upon us use used uses using ve very via want wants was wasn way ways we were what whatever when where whether which while who
  whom whose why will with within without won would wouldn yes yet you your yours`;

/** Longest first where one begins with another. */
const chinese = `为什么 是什么 有什么 什么样 什么时候 什么地方 怎么样 怎么办 怎么做 怎么 怎样 如何 什么 哪里 哪儿 哪些 哪个 哪一个 哪种 哪一种 哪 多少 几个
  是否 能否 可否 是不是 能不能 可不可以 有没有 要不要 需要不需要 可以 应该 应当 需要 必须 想要 我想 我要 我们 你们 他们 它们 我 你 您 他 她
  请问 告诉我 请 吗 呢 吧 啊 一个 一些 一下 一种 这个 那个 这些 那些 这样 那样 这里 那里 这 那 以及 或者 还是 并且 而且 因为 所以 但是 如果 的话
  的时候 时候 的 地 得 了 着 是 在 和 与 或 及 被 把 对于 关于 有关 通过 使用 用来 用于 用 以 让 给 从 到 向 为了 为 其 之 会 要 能 有 做 也 都 就 才 还 很 最 更
  时 来 去 上 下 中 里 内 后 前 呀 么`;

export const englishStopWords: ReadonlySet<string> = new Set(english.split(/\s+/));
const chineseStopWords = chinese.split(/\s+/).toSorted((one, other) => other.length - one.length);
/** Only what stands for itself everywhere: a single character may be a part of a word. */
const chineseFrames = new RegExp(chineseStopWords.filter((word) => word.length > 1).join("|"), "gu");
const chineseSingles = new Set(chineseStopWords.filter((word) => word.length === 1));

/** What is left of folded Chinese without words that only ask, in pieces; empty where nothing else was said. */
export function partsWithoutStopWords(run: string): readonly string[] {
  return run
    .replaceAll(chineseFrames, " ")
    .split(" ")
    .filter((part) => [...part].some((character) => !chineseSingles.has(character)));
}

/** Most words are two characters long, and many begin or end with one of these: so many are left alone. */
const wordCharacters = 2;

/**
 * What is surely meant: without the characters at its ends that are words by themselves, but may belong to one (上海). The
 * end first: what stands behind a word is rarely a part of it (中国的), what stands before often is.
 */
export function coreOf(part: string): string {
  const characters = [...part];
  while (characters.length > wordCharacters && chineseSingles.has(characters.at(-1) ?? "")) characters.pop();
  while (characters.length > wordCharacters && chineseSingles.has(characters[0] ?? "")) characters.shift();
  return characters.join("");
}
