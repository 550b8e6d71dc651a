import { companyIntent, companyWorkerIntent } from "./company.ts";
import { connectText } from "./connect.ts";
import { delegateIntent } from "./delegate.ts";
import { fileIntents, uploadIntent } from "./file-intents.ts";
import { foreignCalls, foreignText } from "./foreign-intent.ts";
import { handedIntent, handOffIntents } from "./hand-off.ts";
import {
  type DemoWords,
  first,
  type Intent,
  paragraphs,
  resultOf,
  said,
  type WantedCall,
  type World,
} from "./intent.ts";
import { codeIntent } from "./run-code.ts";
import { slidesIntent } from "./slides.ts";

/** The first row that matches answers; the last matches everything. */
export const intents: readonly Intent[] = [
  {
    // What `agentyard model test` asks of every model.
    name: "report a number",
    matches: (text, { tools }) => tools.has("report_number") && /\breport_number\b/.test(text),
    calls: first(({ text }) => [{ name: "report_number", arguments: { number: Number(/\d+/.exec(text)?.[0] ?? 0) } }]),
    answer: ({ done }) => resultOf(done, "report_number"),
  },
  companyWorkerIntent,
  codeIntent,
  delegateIntent,
  companyIntent,
  ...handOffIntents,
  slidesIntent,
  ...fileIntents,
  {
    name: "list skills",
    matches: said(
      /\b(what|which|list|show|your|have)\b.{0,20}\bskills\b|(哪些|什么|列出|查看|显示|你的)技能|技能(列表|有哪些)/i,
    ),
    answer: ({ skills }, { words }) =>
      skills.length === 0
        ? words.noSkills
        : words.skills(skills.map(({ name, description }) => `- \`${name}\`: ${sentence(description)}`).join("\n")),
  },
  {
    name: "two at once",
    matches: said(/\b(two|both) (things|tools)\b|\bat (once|the same time)\b|\bin parallel\b|同时|并行|两件事/i),
    calls: first((_, world) => [callNow(world), { name: "todo_read", arguments: {} }]),
    answer: ({ done }, { words }) => words.together(firstLine(resultOf(done, "now")), resultOf(done, "todo_read")),
  },
  {
    name: "question",
    matches: said(/\bask me\b|问我|向我提问/i),
    calls: first((_, { words }) => [
      {
        name: "ask_human",
        arguments: { question: words.question, context: words.questionContext, default: words.questionDefault },
      },
    ]),
    answer: ({ done }, { words }) => words.answered(firstLine(resultOf(done, "ask_human"))),
  },
  {
    name: "list",
    matches: said(
      /\b(show|see|read|open|list|what('s| is) on)\b.{0,20}\b(list|plan|to-?dos?)\b|(查看|看看|看一下|显示|列出|读取).{0,6}(待办|清单|列表|计划)|(我的|当前)(待办|清单|列表|计划)/i,
    ),
    calls: first(() => [{ name: "todo_read", arguments: {} }]),
    answer: ({ done }, { words }) => words.list(resultOf(done, "todo_read")),
  },
  {
    name: "plan",
    matches: said(/\b(plan|planning|to-?dos?)\b|计划|规划|待办/i),
    calls: first(({ text }, { words }) => [{ name: "todo_write", arguments: { todos: planTodos(text, words) } }]),
    answer: ({ text }, { words }) => {
      const steps = planTodos(text, words).map(({ content }, index) => `${index + 1}. ${content}`);
      return words.planned(planTopic(text, words), steps.join("\n"));
    },
  },
  {
    name: "time",
    matches: said(
      /\bwhat('?s| is)? (the |today'?s )?(time|date|day)\b|\btime is it\b|\b(current|local) (time|date)\b|\btell me the (time|date)\b|几点|几月几[号日]|(现在|当前|今天).{0,6}(时间|日期|几号|星期|周几|礼拜)/i,
    ),
    calls: first((_, world) => [callNow(world)]),
    answer: ({ done }, { words }) => words.time(firstLine(resultOf(done, "now"))),
  },
  {
    name: "connect",
    matches: said(
      /\b(connect|configure|set ?up|use|add|switch to)\b.{0,30}\b(models?|ai|llm|openai|ollama|claude|gpt|gemini|deepseek|qwen|kimi)\b|\bapi[ _-]?keys?\b|\breal model\b|\bollama\b|\blm studio\b|(连接|接入|配置|换|使用|设置).{0,10}(模型|人工智能|大模型)|真(正|实)的模型|密钥/i,
    ),
    answer: async (_, { words, notes, findServers }) => connectText(await findServers(), words, notes),
  },
  {
    name: "about",
    introduces: true,
    matches: said(
      /\b(who|what) are you\b|\bwhat can you do\b|^\/?(help|about)\b|你是(谁|什么)|你(能|会|可以)(做|干|帮).{0,3}什么|帮助|介绍一下/i,
    ),
    answer: (_, { words }) => paragraphs(words.introduction, words.about, abilities(words), words.connectShort),
  },
  uploadIntent,
  {
    name: "greeting",
    matches: said(
      /^(hi|hello|hey|good (morning|afternoon|evening)|你好|您好|嗨|哈喽|大家好|(早上|上午|下午|晚上)好)([ ,，]*(there|all|demo|agentyard|啊|呀))?[\s!！.。~～?？]*$/i,
    ),
    answer: (_, { words }) => paragraphs(words.greeting, abilities(words)),
  },
  handedIntent,
  {
    name: "anything else",
    matches: () => true,
    calls: foreignCalls,
    answer: (facts, { words }) =>
      foreignText(facts, words) || paragraphs(words.noRule, abilities(words), words.connectShort),
  },
];

/** Up to where it says when to use it: that is for models. */
function sentence(description: string): string {
  return description.split(/(?<=\.) |(?<=。)/, 1)[0] ?? "";
}

function callNow({ timezone }: World): WantedCall {
  return { name: "now", arguments: timezone === undefined ? {} : { timezone } };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** What the plan is for, in the user's own words: what follows the word "plan", up to the end of the sentence. */
function planTopic(text: string, words: DemoWords): string {
  const found =
    /\bplan(?:ning)?\s+(?:for\s+)?([^.!?\n]{2,80})|(?:计划|规划|待办)(?:一下|一个|一次|一场|：|:|，|,|\s)*([^。！？!?\n]{2,40})/i.exec(
      text,
    );
  return (found?.[1] ?? found?.[2] ?? words.planTopic).trim();
}

function planTodos(text: string, words: DemoWords) {
  const steps = words.planSteps(planTopic(text, words));
  return steps.map((content, index) => ({ content, status: index === 0 ? "in_progress" : "pending" }));
}

function abilities(words: DemoWords): string {
  return [words.abilitiesHead, "", ...words.abilities.map(([say, then]) => words.ability(say, then))].join("\n");
}
