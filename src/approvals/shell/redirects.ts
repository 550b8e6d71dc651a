import type { Redirect, Redirection } from "unbash";
import { findSecret } from "../secrets.ts";
import { judgeCredentials } from "./credentials.ts";
import { fileText, openFile } from "./files.ts";
import { reportSecret } from "./judge-secrets.ts";
import { isBelow, isTemporary, placesOf } from "./paths.ts";
import { any, emptyStream, fileStream, type Run, report, type Stream, streamOf, unknownStream } from "./scene.ts";
import { judgeWrite } from "./uploads.ts";
import { bodyOf, valuesOf } from "./words.ts";

/** What redirections make of a command: what it reads, and what becomes of what it prints. */
export type Directed = {
  readonly stdin: Stream | undefined;
  /** Takes what the command printed; answers what is left for the next one. */
  writes(stream: Stream): Stream;
};

/** Judges redirections by themselves: they write and read files whatever the command is. */
export function directed(redirects: readonly Redirection[], run: Run, what: string): Directed {
  let stdin = run.stdin;
  const targets: Target[] = [];
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") {
      const { body, delimiter } = redirect;
      const text = bodyOf(run, delimiter?.quoted === true ? undefined : body.parts, body.text);
      const found = findSecret(text, false);
      if (found !== undefined) reportSecret(run.scene, found.secret, what);
      stdin = streamOf(text);
    } else if (redirect.type === "HereString") {
      stdin = streamOf(`${redirect.target === undefined ? any : (valuesOf(run, redirect.target)[0] ?? any)}\n`);
    } else if (redirect.target !== undefined) {
      const isInput = redirect.operator === "<" || redirect.operator === "<&";
      for (const path of valuesOf(run, redirect.target)) {
        if (/^(\d+-?|-)$/.test(path) && redirect.operator.endsWith("&")) {
          if (isInput && path !== "0") stdin = path === "-" ? emptyStream : unknownStream;
          continue;
        }
        if (isNetwork(path)) report(run.scene, "network", "high", what);
        else if (isInput) stdin = readFrom(path, run, what);
        else {
          judgeTarget(path, run, what);
          const close = openFile(run, path, redirect.operator.endsWith(">>"));
          if (isOutput(redirect) || path !== any) targets.push({ close, isOutput: isOutput(redirect) });
        }
      }
    }
  }
  return { stdin, writes: (stream) => written(targets, stream) };
}

/** A file that is open to be written; `isOutput`: what the command prints goes there. */
type Target = { close(stream: Stream): void; readonly isOutput: boolean };

function isOutput({ descriptor, operator }: Redirect): boolean {
  if (descriptor === undefined) return operator !== "<>";
  return descriptor.type === "FileDescriptor" && descriptor.value === 1;
}

/** Bash opens connections by itself. */
function isNetwork(path: string): boolean {
  return /^\/dev\/(tcp|udp)\//.test(path);
}

function readFrom(path: string, run: Run, what: string): Stream {
  judgeCredentials(run, [path], what);
  const text = fileText(run, path);
  if (text === "unseen") return { items: [any], unseen: true };
  return text === undefined ? fileStream(placesOf(run.scene, run.state, path)) : streamOf(text.text);
}

function judgeTarget(path: string, run: Run, what: string): void {
  judgeWrite(run, [path], what);
  const { scene } = run;
  const isKept = (place: string) =>
    isTemporary(scene, place) || isBelow(place, scene.facts.root) || isBelow(place, "/dev");
  if (!scene.facts.contained && !placesOf(scene, run.state, path).every(isKept))
    report(scene, "not_safe", "high", what);
}

function written(targets: readonly Target[], stream: Stream): Stream {
  const outputs = targets.filter((target) => target.isOutput);
  for (const { close } of outputs) close(stream);
  // What comes by another descriptor is not followed. It comes last: where both go to one file, nobody knows its text.
  for (const { close, isOutput } of targets) if (!isOutput) close(unknownStream);
  return outputs.length === 0 ? stream : emptyStream;
}
