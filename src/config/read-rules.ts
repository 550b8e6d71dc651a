import type { HitlRules, PatternRule } from "../approvals/approvals.ts";
import { defaultRules } from "../approvals/rules.ts";
import { type ConfigFile, readText } from "./files.ts";
import { type KnownTool, knownTools } from "./known-tools.ts";
import type { Places } from "./places.ts";
import type { Problem } from "./problems.ts";
import { type RulesFile, readRulesFile } from "./rules-file.ts";
import { type Given, type GivenRow, openWalker } from "./walker.ts";
import { hasSettings } from "./yaml-file.ts";
import { parseTree } from "./yaml-tree.ts";

export type RulesRead = { readonly rules: HitlRules; readonly rows: readonly GivenRow[] };

/**
 * The rules of both files. Patterns and rules add up, for the strictest word counts anyway; of single values the
 * project's is taken. A folder that nobody chose may add rules, but take none away.
 */
export async function readRules(places: Places, problems: Problem[]): Promise<RulesRead> {
  const { projectRules, userRules, isTrusted } = places;
  const project = await readFile(projectRules, places, problems);
  const user = await readFile(userRules, places, problems);
  if (!isTrusted) refuseLoosening(project.file, user.file, problems, userRules.shown);
  return { rules: merge(project.file, user.file), rows: [...project.rows, ...user.rows] };
}

const noTools: ReadonlyMap<string, KnownTool> = new Map();

async function readFile(file: ConfigFile, places: Places, problems: Problem[]) {
  const text = (await readText(file, problems)) ?? "";
  const { entries, errors } = hasSettings(text) ? await parseTree(text) : nothing;
  for (const { line, why } of errors) problems.push({ fault: "syntax", why, place: { file: file.shown, line } });
  // The tools are loaded only where a rule names one.
  const isAboutTools = entries.some(({ key }) => key === "tools");
  const tools = isAboutTools ? await knownTools(places) : noTools;
  const walker = openWalker(file.shown, "hitl_rules", problems);
  return { file: readRulesFile(errors.length === 0 ? entries : [], walker, tools), rows: walker.rows };
}

const nothing = { entries: [], errors: [] };

function merge(project: RulesFile, user: RulesFile): HitlRules {
  const { global, safeCommands } = defaultRules;
  const action = project.defaultAction ?? user.defaultAction;
  const names = new Set([...project.tools.keys(), ...user.tools.keys()]);
  return {
    global: {
      isOn: (project.isOn ?? user.isOn)?.value ?? global.isOn,
      defaultAction: action?.value ?? global.defaultAction,
      ...(action !== undefined && { defaultSource: `${action.place.file}:${action.place.line}` }),
      patterns: [...project.patterns, ...user.patterns],
    },
    tools: Object.fromEntries(
      Array.from(names, (name) => {
        const found = [project, user].flatMap(({ tools }) => tools.get(name) ?? []);
        const isOn = found.find((rules) => rules.isOn !== undefined)?.isOn?.value ?? true;
        return [name, { isOn, patterns: found.flatMap(({ patterns }) => patterns) }];
      }),
    ),
    safeCommands: (project.safeCommands ?? user.safeCommands)?.value ?? safeCommands,
  };
}

const strictness = ["allow", "ask", "deny"];

/** As with keys and servers: what a folder brings along must not make its user's own rules weaker. */
function refuseLoosening(project: RulesFile, user: RulesFile, problems: Problem[], userFile: string): void {
  const refuse = (name: string, given: Given<unknown> | undefined) => {
    if (given !== undefined) problems.push({ fault: "loosens", name, userFile, place: given.place });
  };
  const { isOn, defaultAction, tools, safeCommands } = project;
  if (isOn?.value === false) refuse("global.enabled", isOn);
  const usual = user.defaultAction?.value ?? defaultRules.global.defaultAction;
  if (defaultAction !== undefined && strictness.indexOf(defaultAction.value) < strictness.indexOf(usual))
    refuse("global.default_action", defaultAction);
  for (const [name, rules] of tools) if (rules.isOn?.value === false) refuse(`tools.${name}.enabled`, rules.isOn);
  refuse("defaults.safe_commands", safeCommands);
  // What a pattern speaks about is not left to the default action: a weaker word than that would be the one that counts.
  const weaker = ({ action }: PatternRule) => strictness.indexOf(action) < strictness.indexOf(usual);
  const patterns = [project.patterns, ...Array.from(tools.values(), (rules) => rules.patterns)].flat();
  for (const rule of patterns.filter(weaker)) refuse(rule.pattern, { value: rule.action, place: placeOf(rule) });
}

/** `config/hitl_rules.yaml:14` */
function placeOf({ source }: PatternRule): { file: string; line: number } {
  const colon = source.lastIndexOf(":");
  return { file: source.slice(0, colon), line: Number(source.slice(colon + 1)) };
}
