import { parsedObject } from "../../base/json.ts";
import type { TalkFacts } from "./facts.ts";
import { first, type Intent, resultOf } from "./intent.ts";
import { replaceMentions } from "./mentions.ts";

/** `have a worker do this: …`, `让一个工作者来做：…`; what comes behind the colon is its task. */
const wanted =
  /^.{0,20}\b(?:let|have|ask|get)\s+(?:a|another|one)\s+(?:worker|agent)\b[^:：]{0,40}[:：]\s*(?<task>\S.*)$|^.{0,6}(?:让|请|派|找)(?:一个|一位|另一个)?(?:工作者|员工|智能体|助手)[^:：]{0,20}[:：]\s*(?<zh>\S.*)$/isu;

function taskIn(text: string): string | undefined {
  const { task, zh } = wanted.exec(text)?.groups ?? {};
  return task ?? zh;
}

/** A piece of work for somebody with the same files and a window of its own; its answer is told. */
export const delegateIntent: Intent = {
  name: "delegate",
  matches: (text) => taskIn(text) !== undefined,
  calls: first((facts) => [{ name: "delegate_task", arguments: { task: taskOf(facts) } }]),
  answer: ({ done }, { words }) => {
    const { ok, result, error, loops } = parsedObject(resultOf(done, "delegate_task")) ?? {};
    const steps = typeof loops === "number" ? loops : 0;
    return ok === true
      ? words.delegated({ steps, said: withoutIntroduction(String(result), words.introduction) })
      : words.notDelegated(String(error ?? ""));
  },
};

/** A worker sees nothing but its task: files that came along are named by where they lie. */
function taskOf({ text, written, attached }: TalkFacts): string {
  const names = attached.map(({ name }) => name);
  const paths = attached.map(({ path }) => path).join(", ");
  const whole = attached.length === 0 ? text : replaceMentions(written, names, ` ${paths} `).trim();
  return taskIn(whole) ?? text;
}

/** The worker says in its first answer what it is; here that was said already. */
function withoutIntroduction(said: string, introduction: string): string {
  return said.startsWith(introduction) ? said.slice(introduction.length).trim() : said;
}
