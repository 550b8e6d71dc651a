import { whyNot } from "./code-profile.ts";
import type { TalkFacts } from "./facts.ts";
import { outcomeText } from "./failures.ts";
import { type DemoWords, type Intent, paragraphs, resultOf, type WantedCall } from "./intent.ts";
import { fenced, shown } from "./shown-text.ts";
import {
  canFollow,
  hasFailedCommand,
  outputOf,
  quotedForShell,
  readSkill,
  runScripts,
  scriptOf,
  scriptRuns,
} from "./skills.ts";

const skill = "slides";

/** A deck by the shipped skill: its page is read, an outline written, its scripts make the file and check it. */
export const slidesIntent: Intent = {
  name: "make slides",
  tellsFailures: true,
  matches: (text) => slidesTopic(text) !== undefined,
  calls: (facts, { words }) => {
    if (!canFollow(facts, skill) || facts.done.some(({ failure }) => failure !== undefined)) return [];
    return nextCalls(facts, deckOf(facts, words));
  },
  answer: (facts, { words }) => {
    if (!canFollow(facts, skill)) return words.slides.noSkill;
    const deck = deckOf(facts, words);
    const [run] = scriptRuns(facts, skill);
    if (run === undefined) return outcomeText(facts.done, words);
    if (run.failure !== undefined) return words.slides.unmade(whyNot(run, words.slides.whyNot), deck.outline);
    if (hasFailedCommand(run)) return paragraphs(words.slides.broken(deck.outline), fenced(shown(outputOf(facts))));
    const slides = Number(/\((\d+) slides\)/.exec(run.result)?.[1] ?? 0);
    return paragraphs(words.followed(skill), words.slides.made({ ...deck, slides }));
  },
};

type Deck = { readonly topic: string; readonly outline: string; readonly path: string; readonly text: string };

function nextCalls(facts: TalkFacts, { outline, path, text }: Deck): readonly WantedCall[] {
  const reading = readSkill(facts, skill);
  if (reading !== undefined) return [reading];
  if (resultOf(facts.done, "write_file") === "")
    return [{ name: "write_file", arguments: { path: outline, content: text } }];
  if (scriptRuns(facts, skill).length > 0) return [];
  const [from, to] = [quotedForShell(outline), quotedForShell(path)];
  return [runScripts([scriptOf(skill, "pptx_make.py", from, "--out", to), scriptOf(skill, "pptx_check.py", to)])];
}

function deckOf({ text }: TalkFacts, words: DemoWords): Deck {
  const topic = slidesTopic(text) || words.slides.topic;
  const stem =
    topic
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
      .replaceAll(/^-+|-+$/g, "") || "slides";
  const path = `outputs/${stem}.pptx`;
  return { topic, path, outline: `outputs/${stem}-${words.slides.outlineName}.md`, text: words.slides.outline(topic) };
}

/** A longer text is no order. */
const orderCharactersMax = 300;
const topicCharactersMax = 40;
const noun = "(?:slides?|slide ?shows?|(?:slide )?decks?|presentations?|power ?points?|pptx?)";
const about = "\\s+(?:about|on|for|of|regarding)\\s+(?<topic>[^\\n]+)";
const please = "^(?:please|now|can you|could you|would you|i want|i need|i'd like|you to|let's|@slides|[\\s,:])*";
const nounZh = "(?:幻灯片|演示文稿|课件|PPTX?)";
const qing = "^(?:请|麻烦|帮我|帮忙|给我|为我|你|能不能|可以|现在|我想要?|@slides|[\\s，,：:])*";
const makeZh = "(?:做|制作|生成|写|准备|创建|设计|来|弄)(?:一个|一份|一套|几页|几张|个|份|套|些|一下)?";
const forms: readonly RegExp[] = [
  `${please}(?:make|create|build|prepare|write|generate|draft|design|do)\\b[^.\\n]{0,30}?\\b${noun}(?:${about})?[.!?]*$`,
  `${please}(?:an?|some|a few)?\\s*${noun}${about}$`,
  `${qing}${makeZh}\\s*(?:关于|介绍|讲)?\\s*(?<topic>[^\\n。]*?)(?:的|主题的?)?\\s*${nounZh}[。！？!?]*$`,
  `${qing}${makeZh}\\s*${nounZh}[，,：:\\s]*(?:主题(?:是|为)?|内容(?:是|为)?|关于|介绍|讲)?[：:\\s]*(?<topic>[^\\n。！？!?]*)`,
  `${qing}关于(?<topic>[^\\n。]+?)的?${nounZh}[。！？!?]*$`,
].map((form) => new RegExp(form, "iu"));

/** What the slides are to be about, empty where that is not said; `undefined` where no slides are wanted. */
function slidesTopic(text: string): string | undefined {
  if (text.length > orderCharactersMax) return undefined;
  for (const form of forms) {
    const found = form.exec(text.trim());
    if (found !== null) return plainTopic(found.groups?.topic ?? "");
  }
  return undefined;
}

/** One short line that an outline cannot take for anything but words. */
function plainTopic(words: string): string {
  const plain = words.replaceAll(/[\p{Cc}\p{Cf}#>*|`![\]<\\]+/gu, " ").replaceAll(/\s+/g, " ");
  return plain
    .replace(/[\s.。!！?？,，]+$/, "")
    .trim()
    .slice(0, topicCharactersMax)
    .toWellFormed()
    .trim();
}
