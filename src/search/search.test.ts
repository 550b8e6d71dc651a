import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { file, found, putText, type SearchPlace, searchPlace } from "../../test/world/search.ts";
import { failureOf } from "./failures.ts";
import { openFinds } from "./finds.ts";
import type { Job } from "./jobs.ts";
import type { Found, Search } from "./search.ts";
import type { Asked, Thread } from "./thread.ts";

const ann = { owner: "ann" };
let place: SearchPlace;
let search: Search;

const manual = `# 1 Packages

## 1.1 Installing packages

--- 2

Use dpkg to install a package. The settings lie in /etc/dpkg, see section 4.1 and debian/rules.

## 1.2 Removing packages

--- 3

A package that is purged takes its configuration along. 中文軟體包的管理系統。

# 2 The café

--- 7

Naïve users drink coffee there.`;

before(async () => {
  place = searchPlace();
  search = place.search;
  await putText(search, file("ann", "books/manual.pdf"), manual);
  await putText(search, file("ann", "notes.md"), "# Shopping\n\nMilk, bread and coffee. 买牛奶和面包");
  await putText(search, { owner: "ann", kind: "message", place: "talk/12" }, "We talked about dpkg and bread.");
});
after(() => place[Symbol.asyncDispose]());

async function answerTo(query: string, scope = ann as Parameters<Search["find"]>[1]): Promise<Found> {
  const answer = await search.find(query, scope);
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.value;
}

test("a hit says where it stands, under which headings, and shows what was found [D3]", async () => {
  const { hits, total, missing } = await answerTo("how do I install packages", { ...ann, kinds: ["file"] });
  const [best] = hits;
  assert.deepEqual(best?.documents, [{ kind: "file", place: "books/manual.pdf" }]);
  assert.deepEqual([best?.from, best?.to], [{ page: 1 }, { page: 2 }]);
  assert.deepEqual(best?.headings, ["1 Packages", "1.1 Installing packages"]);
  assert.match(best?.snippet ?? "", /Use dpkg to \*\*install\*\* a \*\*package\*\*\./);
  assert.deepEqual([total, missing], [2, []]);
  assert.ok((best?.score ?? 0) > (hits[1]?.score ?? 0));
});

test("words, numbers, names with signs, forms of a word, accents and both ways of writing Chinese are found [D2][D3]", async () => {
  const first = async (query: string) => (await answerTo(query)).hits[0]?.snippet ?? "";
  assert.match(await first("4.1"), /section \*\*4\.1\*\*/);
  assert.match(await first("debian/rules"), /\*\*debian\/rules\*\*/);
  assert.match(await first("purging"), /is \*\*purged\*\* takes/);
  assert.match(await first("CAFE naive"), /2 The \*\*café\*\*\n\*\*Naïve\*\* users/);
  assert.match(await first("软件 软体包管理"), /中文\*\*軟體包\*\*的\*\*管理\*\*系統/);
  assert.match(await first("統"), /管理系\*\*統\*\*/);
  assert.match(await first("dpkg怎么安装软体包"), /\*\*軟體包\*\*/);
});

test("a Chinese word of two characters is looked for as a whole, also where one of them alone says nothing [D3]", async () => {
  const sea = "海鲜市场在海边，海鱼很多。户口、户外、户型。间隔与间接费用，间距为五米。国库、国土。";
  await putText(search, file("lin", "sea.txt"), sea);
  await putText(search, file("lin", "city.txt"), "这座城市叫上海，请为用户填写开会时间。");
  for (const word of ["上海", "用户", "时间", "在上海吗", "上海的", "为用户", "开会时间"])
    assert.deepEqual(await found(search, word, { owner: "lin" }), ["city.txt"], word);
  const nowhere = await answerTo("中国 前端", { owner: "lin" });
  assert.deepEqual([nowhere.missing, nowhere.hits], [["中国", "前端"], []]);
});

test("quotes must stand so, a minus leaves out, heading: looks in headings only [D3]", async () => {
  const places = async (query: string) =>
    (await answerTo(query)).hits.map(({ headings, documents }) => headings.at(-1) ?? documents[0]?.place);
  assert.deepEqual(await places('"bread and coffee"'), ["Shopping"]);
  assert.deepEqual(await places("“管理系统”"), ["1.2 Removing packages"]);
  assert.deepEqual(await places("package -purged"), ["1.1 Installing packages"]);
  await putText(search, file("lin", "phone.txt"), "苹果手机很贵。ケーキ 사과");
  await putText(search, file("lin", "fruit.txt"), "苹果很甜，产于山东。");
  for (const word of ["手机", "贵", "ケーキ", "사과", "“苹果手机”"])
    assert.deepEqual(await found(search, `苹果 -${word}`, { owner: "lin" }), ["fruit.txt"], word);
  assert.equal((await found(search, "苹果 -x", { owner: "lin" })).length, 2);
  assert.deepEqual(await places("heading:removing"), ["1.2 Removing packages"]);
  assert.deepEqual(await places('heading:"installing packages" dpkg'), ["1.1 Installing packages"]);
});

test("a typo is forgiven and told, a word that is nowhere is told, and quotes that are nowhere are loosened [D3]", async () => {
  const typo = await answerTo("purgde confguration");
  assert.deepEqual(typo.repaired, [
    { said: "purgde", meant: "purged" },
    { said: "confguration", meant: "configuration" },
  ]);
  assert.match(typo.hits[0]?.snippet ?? "", /\*\*purged\*\* takes its \*\*configuration\*\*/);
  const missing = await answerTo("dpkg zeppelin 飞艇");
  assert.deepEqual([missing.missing, missing.hits.length], [["zeppelin", "飞艇"], 2]);
  const quotes = await answerTo('"coffee and bread"');
  assert.deepEqual([quotes.loosened, quotes.hits[0]?.headings], [["coffee and bread"], ["Shopping"]]);
  assert.deepEqual((await answerTo("the of and")).hits.length > 0, true);
});

test("what others wrote neither hides the own word that was meant, nor is it told [D3]", async () => {
  await putText(search, file("zoe", "own.txt"), "the quick zebroid is here, and a wombat");
  const repaired = async (query: string) => (await answerTo(query, { owner: "zoe" })).repaired;
  const meant = [{ said: "zebroif", meant: "zebroid" }];
  assert.deepEqual(await repaired("zebroif"), meant);
  for (const name of ["a", "b", "c"])
    await putText(search, file("kim", name), `zebroig zebroih zebroij zebroik zebroil zebroim zebroin ${name}`);
  assert.deepEqual(await repaired("zebroif"), meant);
  // Far more words with this beginning than are gone through, and all come before it.
  const crowd = Array.from({ length: 41_000 }, (_, index) => `waa${index.toString(36).padStart(3, "0")}`);
  const pages = Array.from({ length: 41 }, (_, page) => crowd.slice(page * 1_000, (page + 1) * 1_000).join(" "));
  await putText(search, file("kim", "crowd"), pages.join("\n\n"));
  assert.deepEqual(await repaired("wombta"), [{ said: "wombta", meant: "wombat" }]);
});

test("of many words that are nowhere only a few are taken for others, and the rest is told [D3]", async () => {
  const words = ["alpha", "bravo", "charlie", "delta", "foxtrot", "golf"];
  await putText(search, file("max", "words.txt"), `${words.join(" ")}.`);
  const asked = ["飞艇", "12345", "alpah", "bravvo", "charlei", "dleta", "foxtrto"];
  const { repaired, missing } = await answerTo(asked.join(" "), { owner: "max" });
  assert.deepEqual(
    repaired.map(({ meant }) => meant),
    ["alpha", "bravo", "charlie", "delta"],
  );
  assert.deepEqual(missing, ["飞艇", "12345", "foxtrto"]);
});

test("a search stays within its folder, its file or its kind [D3]", async () => {
  assert.deepEqual(await found(search, "dpkg", { ...ann, kinds: ["message"] }), ["talk/12"]);
  assert.deepEqual(await found(search, "bread", { ...ann, places: ["notes.md"] }), ["notes.md"]);
  assert.deepEqual(await found(search, "coffee", { ...ann, places: ["books/"] }), ["books/manual.pdf"]);
  assert.deepEqual(await found(search, "coffee", { ...ann, places: ["book"] }), []);
  assert.deepEqual(await found(search, "coffee", { owner: "nobody" }), []);
});

test("a pattern is found as it stands, across the border of two passages too [D3]", async () => {
  const matches = async (pattern: string) => {
    const answer = await search.match(pattern, ann);
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.value.hits.map(({ snippet }) => /\*\*(.*)\*\*/s.exec(snippet)?.[1]);
  };
  assert.deepEqual(await matches("d\\w+ to inst[al]+"), ["dpkg to install"]);
  assert.deepEqual(await matches("軟體包.管理"), ["軟體包的管理"]);
  assert.deepEqual(await matches("rules\\.\\n1\\.2 Removing"), ["rules.\n1.2 Removing"]);
  assert.deepEqual(await matches("\\d\\.\\d"), ["1.1", "1.2"]);
  assert.deepEqual(await matches("nowhere"), []);
  assert.deepEqual(await matches("dpkg\0to"), []);
  assert.deepEqual(await matches("dpkg to\0?"), ["dpkg to"]);
});

/** More of them in `npm run torture`. */
const lostPatterns = [
  "(a+)+$",
  ...(process.env.AGENTYARD_LOST_PATTERNS === "all" ? ["(a|aa)+$", "^(.*a){12}$|(a*)*b"] : []),
];

test("patterns that never end are stopped, say so, and the next search is answered [D3]", async () => {
  const trap = "a".repeat(60);
  await putText(search, file("eve", "trap.txt"), `${trap}!\n\nplain words`);
  for (const pattern of lostPatterns) {
    const answer = await search.match(pattern, { owner: "eve" });
    assert.ok(answer.ok);
    assert.equal(answer.value.stopped, "time", pattern);
  }
  assert.deepEqual(await found(search, "plain words", { owner: "eve" }), ["trap.txt"]);
  const next = await search.match("plain\\s", { owner: "eve" });
  assert.ok(next.ok);
  assert.deepEqual([next.value.hits.length, next.value.stopped], [1, undefined]);
});

test("what cannot be looked for is refused with what is wrong with it [D3]", async () => {
  const fateOf = async (asked: ReturnType<Search["find"]> | ReturnType<Search["match"]>) => {
    const answer = await asked;
    const { code, params } = Object(!answer.ok && answer.failure);
    return `${code} ${params.why}`;
  };
  assert.equal(await fateOf(search.find("", ann)), "pattern_invalid empty");
  assert.equal(await fateOf(search.find(' "" -- ?! ', ann)), "pattern_invalid empty");
  assert.equal(await fateOf(search.find("-purged", ann)), "pattern_invalid empty");
  assert.equal(await fateOf(search.find("x".repeat(1_001), ann)), "pattern_invalid too_long");
  assert.equal(await fateOf(search.match("(", ann)), "pattern_invalid syntax");
  assert.equal(await fateOf(search.match(" ", ann)), "pattern_invalid empty");
  assert.equal(await fateOf(search.match("a".repeat(1_001), ann)), "pattern_invalid too_long");
});

test("what looks like the language of the index is a text like any other [D3]", async () => {
  for (const query of [
    "title:x OR body:y",
    "a NEAR/3 b",
    "(",
    '"',
    "*",
    "^dpkg",
    "dpkg*",
    "{title path} : dpkg",
    "AND OR NOT",
    "\u0000dpkg",
    "'; DROP TABLE passage; --",
    `${"word ".repeat(190)}`,
  ]) {
    const answer = await search.find(query, ann);
    assert.ok(answer.ok || answer.failure.code === "pattern_invalid", query);
  }
  assert.deepEqual(await found(search, "'; DROP TABLE milk; --", ann), ["notes.md"]);
});

test("what befalls the index is told by its cause, whether SQLite, the system or the thread said it [D2][P4]", () => {
  for (const [why, codes] of [
    ["busy", [5, 6, 15]],
    ["read_only", [8, 14, "EACCES", "EPERM", "EROFS"]],
    ["damaged", [11, 26]],
    ["full", [13, "ENOSPC", "EDQUOT", "EFBIG"]],
    ["memory", ["memory"]],
    ["stopped", ["ended"]],
    ["broken", [1, "EIO"]],
  ] as const)
    for (const code of codes)
      assert.deepEqual(failureOf({ code, said: "no" }).failure, {
        ...{ code: "index_unavailable", params: { why, said: "no" } },
        retryable: failureOf({ code: 1, said: "no" }).failure.retryable,
      });
});

const limits = { hitsMax: 10, snippetCharacters: 300 };
const jobFor = (query: string) => ({ do: "find", query, scope: { owner: "ann" }, limits }) as const;

test("a search by words that takes too long is ended and told, and those behind it have their own time or hear of the end [D3]", async () => {
  const clock = manualClock();
  const begun: string[] = [];
  let lose = (_asked: Asked<never>) => {};
  // It answers nothing that is slow, and everything else with what stands for an empty query.
  const thread: Thread = {
    ask: (job: Job) => {
      const query = job.do === "find" ? job.query : "";
      begun.push(query);
      return new Promise((resolve) => {
        if (query === "slow") lose = resolve;
        else resolve({ answer: undefined } as Asked<never>);
      });
    },
    end: async () => lose({ fault: { code: "ended", said: "the thread was ended" } }),
  };
  const { find, close } = openFinds(thread, clock);
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  assert.deepEqual(await find(jobFor("quick")), { answer: undefined });
  const [slow, behind] = [find(jobFor("slow")), find(jobFor("behind"))];
  await turn();
  clock.move(9_999);
  await turn();
  assert.deepEqual(begun, ["quick", "slow"]);
  clock.move(1);
  assert.deepEqual(await slow, { fault: { code: "ended", said: "the search took longer than 10 seconds" } });
  assert.deepEqual(await behind, { answer: undefined });
  assert.deepEqual(begun, ["quick", "slow", "behind"]);

  const [running, waiting] = [find(jobFor("slow")), find(jobFor("waiting"))];
  await turn();
  await close();
  assert.deepEqual(await running, { fault: { code: "ended", said: "the thread was ended" } });
  assert.deepEqual(await waiting, { fault: { code: "ended", said: "the search was closed" } });
  assert.deepEqual(begun, ["quick", "slow", "behind", "slow"]);
});
