import type { Redirection } from "unbash";
import { findSecret } from "../secrets.ts";
import { judgeCredentials } from "./credentials.ts";
import { fileText, writeFile } from "./files.ts";
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
  const targets: { path: string; appends: boolean }[] = [];
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
      const descriptor = redirect.descriptor?.type === "FileDescriptor" ? redirect.descriptor.value : undefined;
      for (const path of valuesOf(run, redirect.target)) {
        if (/^(\d+-?|-)$/.test(path) && redirect.operator.endsWith("&")) {
          if (isInput && path !== "0") stdin = path === "-" ? emptyStream : unknownStream;
          continue;
        }
        if (isNetwork(path)) report(run.scene, "network", "high", what);
        else if (isInput) stdin = readFrom(path, run, what);
        else if (judgeTarget(path, run, what) && (descriptor === undefined || descriptor === 1))
          targets.push({ path, appends: redirect.operator.endsWith(">>") });
      }
    }
  }
  return { stdin, writes: (stream) => written(targets, run, stream) };
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

/** Whether what is printed is gone from here. */
function judgeTarget(path: string, run: Run, what: string): boolean {
  judgeWrite(run, [path], what);
  const { scene } = run;
  const isKept = (place: string) =>
    isTemporary(scene, place) || isBelow(place, scene.facts.root) || isBelow(place, "/dev");
  if (!scene.facts.contained && !placesOf(scene, run.state, path).every(isKept))
    report(scene, "not_safe", "high", what);
  return true;
}

function written(targets: readonly { path: string; appends: boolean }[], run: Run, stream: Stream): Stream {
  if (targets.length === 0) return stream;
  for (const { path, appends } of targets) writeFile(run, path, stream, appends);
  return emptyStream;
}
