import { typeOfName } from "../documents/documents.ts";
import type { QueuedMessage } from "../log/log.ts";
import { ownWordsOf } from "../protocol/events.ts";
import type { FoundSkill } from "../skills/skills.ts";
import { transferName } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";
import { toolkitOf } from "./agent-tools.ts";
import { mentionedIn } from "./mentions.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { missingPackages } from "./skill-packages.ts";

/**
 * What the messages that are taken up now name, and which skills there are for files that came: each skill is made
 * ready and staged as linked, and the lines for the model are the answer. At the start of a turn everything that was
 * linked before is looked after as well: another workspace may be behind it by now.
 */
export async function stageNews(run: Run, parts: Parts, { isFinal }: { isFinal: boolean }): Promise<string[]> {
  const { history } = run;
  const { owner } = run.conversation;
  const { turn } = history;
  // Skills lie in the conversation's files, which a task does not see.
  if (turn === undefined || history.self?.mode === "task") return [];
  const joining = isFinal ? [] : history.queue.filter(({ mode }) => mode === "steer");
  const messages = turn.step === 0 ? [turn.message, ...joining] : joining;
  if (messages.length === 0) return [];
  const named = mentionedIn(messages.map(ownWordsOf).join("\n"), { history, owner }, parts);
  const byFile = skillsForFiles(run, parts, messages).filter(({ skill }) => !named.skills.includes(skill));
  const linked = [
    ...named.skills.map((skill) => ({ skill, because: "mention" as const })),
    ...byFile.map(({ skill, file }) => ({ skill, because: "file_type" as const, file })),
  ];
  for (const { skill, ...why } of linked) {
    if (history.skills.has(skill.id)) continue;
    run.stage({ type: "skill.linked", turn: turn.turn, skill: skill.id, ...why });
  }
  await placeLinks(run, parts, turn.step === 0 ? [...history.skills.keys()] : linked.map(({ skill }) => skill.id));
  const { skills: texts } = forModels;
  const canInstall = toolkitOf(history, parts, owner).find("install_packages") !== undefined;
  const lacking: string[] = [];
  for (const { skill } of linked.filter(({ skill }) => skill.hasRequirements)) {
    const packages = await missingPackages(parts, owner, skill, run.signal);
    if (packages.length > 0) lacking.push(texts.packagesMissing(skill.id, packages, canInstall));
  }
  return [
    ...named.skills.map((skill) => texts.named(fileOf(skill))),
    ...byFile.map(({ skill, file }) => texts.forFile(fileOf(skill), file)),
    ...lacking,
    ...named.tools.map((name) => texts.toolNamed(name)),
    ...named.agents.map((agent) => {
      const toolkit = toolkitOf(history, parts, owner);
      const [transfer, call] = [transferName(agent), "call_agent"].map((name) => toolkit.find(name)?.name);
      return forModels.handOff.named(agent.id, agent.description, { transfer, call });
    }),
  ];
}

function fileOf({ id }: FoundSkill): string {
  return `skills/${id}/SKILL.md`;
}

/** For each skill that no file has linked yet, the first file of its type: that of these messages, or one uploaded before. */
function skillsForFiles({ history }: Run, { skills }: Parts, messages: readonly QueuedMessage[]) {
  const ofMessages = messages.flatMap(({ files = [], selected }) => [
    ...files.map(({ path }) => path),
    ...(selected?.files ?? []).map((path) => path.replace(/^\/workspace\/[^/]+\//, "")),
  ]);
  const uploaded = [...history.deeds].flatMap(([path, deeds]) => (deeds.uploaded === undefined ? [] : [path]));
  const files = [...new Set([...ofMessages, ...uploaded])];
  return skills.usable().flatMap((skill) => {
    if (skill.fileTypes.length === 0 || history.skills.has(skill.id)) return [];
    const file = files.find((path) => isOfType(path, skill.fileTypes));
    return file === undefined ? [] : [{ skill, file }];
  });
}

/** By its ending, and by the kind of file that this ending stands for (`spreadsheet`, `text`). */
function isOfType(path: string, types: readonly string[]): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return types.some((type) => name.endsWith(`.${type}`) || typeOfName(name) === type);
}

/** Looking at a skill places its link. Where that fails the agent finds out when it reads it, with the reason. */
async function placeLinks({ conversation }: Run, { workspaces, logger }: Parts, ids: readonly string[]): Promise<void> {
  const workspace = workspaces.ofConversation(conversation);
  for (const id of ids) {
    const placed = await workspace.stat(`skills/${id}`);
    if (!placed.ok) logger.warn("the skill {skill} cannot be linked", { skill: id, why: placed.failure.code });
  }
}
