import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { Execution, LackName } from "../../src/sandbox/provider.ts";
import { isContained } from "../contracts/sandbox-on-kubernetes.ts";
import { type Attacked, attempt, openAttacked, openProvider } from "./guest.ts";
import { type Weakness, weaknesses } from "./weaknesses.ts";

/** One attack by code inside a guest. */
export type Attack = {
  /** Of the design study's list; own ones go on from there. */
  readonly number: string;
  /** What the attacker wants, as a gerund. */
  readonly name: string;
  readonly stoppedBy: string;
  readonly language?: Execution["language"];
  readonly code: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** The answer when it is stopped. */
  readonly expected: unknown;
  /** Another answer that is as good. */
  readonly also?: unknown;
  /** What the kernel holds for a process outlives it for a moment, so that the whole guest may have to end. */
  readonly mayEndGuest?: true;
  /** Where the machine lacks this limit the attack may succeed, because the operator is told so. */
  readonly lack?: LackName;
  readonly control?: Control;
  /** In a container it is stopped all the same, but the answer is another one; `differs`: what is so there, and why it may. */
  readonly onDocker?: { readonly expected: unknown } | { readonly differs: string };
};

/** The same code without that layer, and the answer that shows the attack at work. */
type Control = { readonly without: keyof typeof weaknesses; readonly shows: unknown };

/** Controls need the rights to take a layer away and still have all others; an engine takes none away. */
const hasControls = process.geteuid?.() === 0 && !isContained;

/** Those that the provider under test is held to, with the answers that it gives. */
export function forProvider(attacks: readonly Attack[]): readonly Attack[] {
  if (!isContained) return attacks;
  return attacks.flatMap(({ onDocker, ...attack }) => {
    if (onDocker === undefined) return [attack];
    return "differs" in onDocker ? [] : [{ ...attack, ...onDocker }];
  });
}

/** Attacks whose control can be shown here. */
export function controlled(attacks: readonly Attack[]): (Attack & { readonly control: Control })[] {
  return attacks.flatMap((attack) => (attack.control && hasControls ? [{ ...attack, control: attack.control }] : []));
}

/** The attack is stopped, and the guest lives on; or it belongs to what the probe says is missing. */
export async function isStopped(attack: Attack): Promise<void> {
  const attacked = await sharedGuest("nothing");
  const answer = await attempt(attacked, attack);
  const isStillAlive = await isAlive(attacked);
  if (!isStillAlive) shared.delete("nothing");
  if (attack.mayEndGuest && !isStillAlive && String(answer).startsWith("out_of_memory ")) return;
  const answered = [answer, isStillAlive];
  const good = [attack.expected, ...("also" in attack ? [attack.also] : [])];
  if (good.some((value) => isDeepStrictEqual(answered, [value, true]))) return;
  if (attack.lack !== undefined && (await lacks()).includes(attack.lack)) return;
  assert.deepEqual(answered, [attack.expected, true]);
}

export async function worksWithout({ control, ...attack }: Attack & { readonly control: Control }): Promise<void> {
  assert.deepEqual(await attempt(await sharedGuest(control.without), attack), control.shows);
}

/** It still runs what it is told to. */
export async function isAlive(attacked: Attacked): Promise<boolean> {
  return (await attempt(attacked, { language: "bash", code: "echo 1" })) === 1;
}

const shared = new Map<string, Promise<Attacked>>();

/** One for all attacks of a test file, as long as it lives. */
export async function sharedGuest(without: keyof typeof weaknesses | "nothing"): Promise<Attacked> {
  const weakness: Weakness | undefined = without === "nothing" ? undefined : weaknesses[without];
  const opened = shared.get(without) ?? openAttacked({ weakness });
  shared.set(without, opened);
  return await opened;
}

let probed: Promise<readonly LackName[]> | undefined;

/** What this machine cannot limit, as its operator is told. */
async function lacks(): Promise<readonly LackName[]> {
  probed ??= openProvider()
    .probe()
    .then(({ degraded }) => degraded.map(({ name }) => name));
  return await probed;
}
