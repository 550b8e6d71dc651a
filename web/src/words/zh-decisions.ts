import type { enDecisions } from "./en-decisions.ts";

export const zhDecisions: typeof enDecisions = {
  title: "待办",
  about: "没有待批准的操作。智能体在执行有风险的步骤前会在这里询问。",
};
