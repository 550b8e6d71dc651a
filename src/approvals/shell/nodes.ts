import {
  type AndOr,
  type Assignment,
  type Command,
  type CommandNode,
  type CompoundList,
  type For,
  type If,
  type ParsedScript,
  type Pipeline,
  type PipelineNode,
  parse,
  type Select,
  type Statement,
  type While,
  type Word,
} from "unbash";
import { readAgain } from "./again.ts";
import { judgeSecrets } from "./judge-secrets.ts";
import { isEnd, leavesTraces, mayFail } from "./outcomes.ts";
import { type Directed, directed } from "./redirects.ts";
import {
  any,
  type Body,
  bounded,
  emptyStream,
  follow,
  fork,
  join,
  joined,
  type Run,
  report,
  type Scene,
  type State,
  type Stream,
  shellLimits,
  spend,
  union,
  unknownStream,
  type Variable,
} from "./scene.ts";
import { fieldsOf, runArithmetic, runTest, valuesOf } from "./words.ts";

const brokenCharactersMax = 4096;
/** What they cost, in pieces of an expression. */
const nodeSteps = 20;
const commandSteps = 100;
const wordSteps = 6;
const charactersPerStep = 16;

/** Reads a text as the shell would, without running it: every command that it can run is handed to `scene.call`. */
export function readShell(text: string, run: Run, what = text): Stream {
  const { scene } = run;
  if (scene.depth >= shellLimits.nestedMax || text.includes("\0") || isTangled(text)) {
    report(scene, "unreadable", "high", what);
    return unknownStream;
  }
  scene.depth += 1;
  spend(scene, nodeSteps + text.length / charactersPerStep);
  const source = text.replaceAll("\r\n", "\n");
  const stream = runScript(parse(source), { ...run, source });
  scene.depth -= 1;
  return stream;
}

/** Braces within braces cost the parser the square of their number; nobody writes so many. */
function isTangled(text: string): boolean {
  if (text.split("$[").length > bracesMax) return true;
  let [depth, deepest] = [0, 0];
  for (const one of text) {
    if (one === "{") depth += 1;
    else if (one === "}") depth = Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest > bracesMax;
}

const bracesMax = 500;

/** Nested scripts carry their own errors: what the parser could not read, nobody can judge. */
export function runScript(script: ParsedScript, run: Run): Stream {
  const own = script.source === undefined ? run : { ...run, source: script.source };
  if (script.errors === undefined || script.errors.length === 0) return runStatements(script.commands, own);
  report(run.scene, "unreadable", "high", own.source.slice(script.pos, script.end) || own.source);
  // What else a short text does is still worth telling; a long broken one can be made to cost much, and asks anyway.
  return own.source.length > brokenCharactersMax ? unknownStream : runStatements(script.commands, own);
}

function runStatements(statements: readonly Statement[], run: Run): Stream {
  let stream = emptyStream;
  for (const { command } of statements) {
    if (run.scene.steps > shellLimits.stepsMax) break;
    stream = follow(stream, runNode(command, run));
    settle(run);
  }
  return stream;
}

/** `if cd x`: what comes after it knows whether the last `cd` went well. */
function runCondition({ commands }: CompoundList, run: Run): void {
  const last = commands.at(-1);
  runStatements(commands.slice(0, -1), run);
  if (last !== undefined) runNode(last.command, run);
}

/** After a statement both can be true: that `cd` went well, and that it did not. */
function settle({ state }: Run): void {
  if (!state.endsOnFailure) state.folders = union(state.folders, state.failed);
  if (state.folders.length > shellLimits.foldersMax) state.folders = [any];
  state.failed = [];
}

function runNode(node: PipelineNode | AndOr | CompoundList, run: Run): Stream {
  spend(run.scene, nodeSteps);
  switch (node.type) {
    case "Command":
      return runCommand(node, run);
    case "Pipeline":
      return runPipeline(node, run);
    case "AndOr":
      return runAndOr(node, run);
    case "CompoundList":
      return runStatements(node.commands, run);
    case "If":
      return runIf(node, run);
    case "For":
    case "Select":
      return runFor(node, run);
    case "While":
      return runWhile(node, run);
    case "Case":
      fieldsOf(run, [node.word]);
      return branches(node.items, run);
    case "BraceGroup":
      return runStatements(node.body.commands, run);
    case "Subshell":
      return runStatements(node.body.commands, { ...run, state: fork(run.state) });
    case "Redirected": {
      const to = directed(node.redirects, run, run.source.slice(node.pos, node.end));
      return to.writes(runNode(node.command, { ...run, stdin: to.stdin }));
    }
    case "Coproc":
      return runNode(node.body, { ...run, state: fork(run.state) });
    default:
      return runOther(node, run);
  }
}

function runOther(
  node: Extract<CommandNode, { type: "Function" | "ArithmeticFor" | "TestCommand" | "ArithmeticCommand" }>,
  run: Run,
) {
  switch (node.type) {
    case "Function":
      run.state.functions.set(node.name.value, [{ node, source: run.source }]);
      return emptyStream;
    case "ArithmeticFor":
      for (const one of [node.initialize, node.test, node.update]) runArithmetic(run, one);
      setCounter(node.initialize, run);
      return runStatements(node.body.commands, run);
    case "TestCommand":
      runTest(node.expression, run);
      return emptyStream;
    case "ArithmeticCommand":
      runArithmetic(run, node.expression);
      return emptyStream;
  }
}

function setCounter(initialize: Parameters<typeof runArithmetic>[1], run: Run): void {
  if (initialize?.type === "ArithmeticBinary" && initialize.left.type === "ArithmeticWord")
    run.state.variables.set(initialize.left.value, { values: ["\uE001"] });
}

/** A function, called with these words; after branches its name can stand for several. */
export function runFunction(called: string, parameters: readonly string[], run: Run): Stream | undefined {
  const bodies = run.state.functions.get(called) ?? [];
  const [only] = bodies;
  if (bodies.length <= 1) return only && runBody(only, parameters, run);
  if (bodies.length > shellLimits.variantsMax) report(run.scene, "unreadable", "high", run.source);
  const ends = bodies.slice(-shellLimits.variantsMax).map((body) => {
    const state = fork(run.state);
    return { state, stream: runBody(body, parameters, { ...run, state }) };
  });
  return joined(run.state, ends);
}

function runBody(found: Body, parameters: readonly string[], run: Run): Stream {
  const { scene, state } = run;
  const isInner = scene.active.has(found.node);
  const next = isInner ? readAgain(found.node, parameters, run) : { parameters };
  if (next === undefined) return unknownStream;
  scene.active.add(found.node);
  const before = state.parameters;
  state.parameters = next.parameters;
  const stream = runNode(found.node.body, { ...run, source: found.source });
  state.parameters = before;
  // How often it calls itself, nobody knows.
  if (isInner) return unknownStream;
  scene.active.delete(found.node);
  if (scene.active.size === 0) scene.again.clear();
  return stream;
}

/** Each end of a pipe is a shell of its own, and reads what the one before it prints. */
function runPipeline({ commands, prefixes }: Pipeline, run: Run): Stream {
  const [only] = commands;
  if (commands.length === 1 && only !== undefined) {
    const stream = runNode(only, run);
    // `! cd x && …` goes on where it was: after a turned word nobody knows.
    if (prefixes.some(({ type }) => type === "Negation")) settle(run);
    return stream;
  }
  let stdin = run.stdin;
  for (const command of commands) stdin = runNode(command, { ...run, state: fork(run.state), stdin });
  return stdin ?? emptyStream;
}

/** After `&&` the `cd` before it went well; after `||` it did not. */
function runAndOr({ commands, operators }: AndOr, run: Run): Stream {
  const { state } = run;
  let stream = emptyStream;
  let failed: readonly string[] = [];
  // What is true where a command behind `&&` was passed by.
  let passed: State[] = [];
  for (const [at, command] of commands.entries()) {
    const operator = at === 0 ? undefined : operators[at - 1];
    if (operator === undefined || operator === "&&") {
      failed = union(failed, state.failed);
      state.failed = [];
      if (operator === "&&" && mayFail(commands[at - 1]) && leavesTraces(command, state)) {
        spend(run.scene, state.variables.size);
        // Of aliases the newest count: those that may be there.
        passed.push({ ...fork(state), aliases: new Map() });
      }
      stream = follow(stream, runNode(command, run));
      continue;
    }
    const other = fork(state);
    other.folders = state.failed.length === 0 ? state.folders : state.failed;
    other.failed = [];
    for (const one of passed) join(other, one);
    stream = follow(stream, runNode(command, { ...run, state: other }));
    // `cd x || exit`: whoever comes after it is in x.
    if (isEnd(command)) [state.failed, failed] = [[], []];
    else join(state, { ...other, failed: [] });
    passed = [];
  }
  for (const one of passed) join(state, one);
  state.failed = union(state.failed, failed);
  return stream;
}

function runIf(node: If, run: Run): Stream {
  const { state } = run;
  const items: Branch[] = [];
  for (const { clause, then } of [node, ...node.elif]) {
    runCondition(clause, run);
    items.push({ body: then, state: { ...fork(state), failed: [] } });
    // The next one is reached where this one failed.
    if (state.failed.length > 0) [state.folders, state.failed] = [union(state.failed, state.folders), []];
  }
  if (node.else !== undefined) items.push({ body: node.else });
  return branches(items, run);
}

type Branch = { readonly body: CompoundList; readonly state?: State };

function branches(items: readonly Branch[], run: Run): Stream {
  const read = ({ body, state = fork(run.state) }: Branch) => ({ state, stream: runNode(body, { ...run, state }) });
  return joined(run.state, items.map(read));
}

function runFor(node: For | Select, run: Run): Stream {
  const values = node.wordlist === undefined ? (run.state.parameters ?? [any]) : fieldsOf(run, node.wordlist).flat();
  run.state.variables.set(node.name.value, { values: bounded([...new Set(values)]) });
  if (values.length === 1 && !/[*?[\uE000\uE001]/.test(values[0] ?? "")) return runNode(node.body, run);
  return runAgain(() => runNode(node.body, run));
}

function runWhile(node: While, run: Run): Stream {
  return runAgain(() => {
    runCondition(node.clause, run);
    return runNode(node.body, run);
  });
}

/** The second time round, a loop has the variables and stands in the folder that the first one left it with. */
function runAgain(once: () => Stream): Stream {
  once();
  return { ...once(), text: undefined };
}

function runCommand(node: Command, run: Run): Stream {
  const { scene } = run;
  scene.steps += 1;
  spend(scene, commandSteps);
  if (scene.steps > shellLimits.stepsMax) {
    report(scene, "unreadable", "high", run.source);
    return emptyStream;
  }
  const what = run.source.slice(node.pos, node.end);
  for (const one of node.prefix) {
    if (one.type !== "Assignment") continue;
    judgeSecrets(run, assign(one, run), what);
    // Programs run what these hold.
    const [command] = run.state.variables.get(one.name)?.values ?? [];
    if (node.name !== undefined && runByOthers.test(one.name) && command !== undefined)
      scene.shell(command, { ...run, state: fork(run.state) }, what);
    if (node.name !== undefined && loadedByOthers.test(one.name) && command !== undefined)
      scene.call(["source", command], { ...run, state: fork(run.state) }, what);
    // With `-x` a shell spells it out before each command.
    if (one.name === "PS4" && command !== undefined)
      scene.shell(`echo ${command}`, { ...run, state: fork(run.state) }, what);
    // Code of machines: nobody can read it.
    if (/^LD_(PRELOAD|AUDIT)$/.test(one.name) && command !== undefined && !/^(\/usr)?\/lib|^lib[^/]*$|^$/.test(command))
      report(scene, "run_unseen", "high", what);
  }
  if (node.name === undefined) return runAlone(directed(node.redirects, run, what));
  // `export D=temp/x` sets it, and is a word as well.
  for (const one of node.args) if (one.type === "Assignment") assign(one, run);
  const words = [node.name, ...node.args].map((one): Word => (one.type === "Word" ? one : asWord(one)));
  const readings = fieldsOf(run, words);
  const to = directed(node.redirects, run, what);
  const stream = runReadings(scene, readings, { ...run, stdin: to.stdin }, what);
  // `exec > x`: whatever comes after it may be written there, so it stays open.
  return readings.some(isRedirecting) ? stream : to.writes(stream);
}

function isRedirecting(argv: readonly string[]): boolean {
  return argv.at(-1) === "exec" && argv.every((word) => /^(exec|command|builtin)$/.test(word));
}

const runByOthers =
  /^((MAN|GIT_)?PAGER|GIT_\w*(COMMAND|EDITOR)|EDITOR|VISUAL|PROMPT_COMMAND|LESSOPEN|LESSCLOSE|RSYNC_RSH)$/;

/** Programs read these files before they do anything. */
const loadedByOthers = /^(BASH_ENV|ENV|PYTHONSTARTUP)$/;

/** `$(< file)` prints it. */
function runAlone(to: Directed): Stream {
  return to.writes(to.stdin ?? emptyStream);
}

function asWord({ text, name, value, pos, end }: Assignment): Word {
  const own = value.type === "Word" ? value.value : text;
  const parts = value.type === "Word" && value.parts !== undefined ? value.parts : undefined;
  const front = { type: "Literal", pos, end, value: `${name}=`, text: `${name}=` } as const;
  return { type: "Word", text, value: `${name}=${own}`, pos, end, parts: parts && [front, ...parts] };
}

function runReadings(scene: Scene, readings: readonly (readonly string[])[], run: Run, what: string): Stream {
  scene.steps += readings.length - 1;
  // Each begins where all of them do: what the first one changes is not yet so for the next.
  const states = readings.map((_, at) => (at === 0 ? run.state : fork(run.state)));
  const [first = emptyStream, ...others] = readings.map((argv, at) =>
    argv.length === 0 ? emptyStream : scene.call(argv, { ...run, state: states[at] ?? run.state }, what),
  );
  for (const state of states) if (state !== run.state) join(run.state, state);
  return others.reduce((all, stream) => ({ ...follow(all, stream), text: undefined }), first);
}

/** Sets a variable; answers the words that do so. */
function assign({ name, value, append, index }: Assignment, run: Run): readonly string[] {
  const before = run.state.variables.get(name);
  if (value.type === "ArrayValue") {
    const list = [...(append === true ? (before?.list ?? []) : []), ...fieldsOf(run, value.elements).flat()];
    spend(run.scene, list.length * wordSteps);
    run.state.variables.set(name, { values: list.slice(0, 1), list });
    return list;
  }
  if (index !== undefined) valuesOf(run, index);
  const values = valuesOf(run, value);
  const all = append === true ? (before?.values ?? [any]).flatMap((old) => values.map((next) => old + next)) : values;
  spend(run.scene, all.reduce((sum, text) => sum + text.length, 0) / charactersPerStep);
  if (index === undefined) run.state.variables.set(name, { values: bounded(all) });
  else setElement(before, name, values, run);
  return values.slice(0, 1).map((text) => `${name}=${text}`);
}

function setElement(before: Variable | undefined, name: string, values: readonly string[], run: Run): void {
  const list = [...(before?.list ?? []), ...values];
  spend(run.scene, list.length * wordSteps);
  run.state.variables.set(name, { values: bounded(list), list: list.length === 1 ? list : undefined });
}
