import { Problem, UploadedFile } from "../../../src/protocol/resources.ts";
import { newId } from "../app/new-id.ts";
import { basePath } from "../app/router.ts";

export type SendOptions = {
  readonly conversation: string;
  readonly file: File;
  readonly language: string;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
};

export type Sent =
  | { readonly ok: true; readonly value: UploadedFile }
  | { readonly ok: false; readonly why: "stopped" }
  | { readonly ok: false; readonly why: "refused"; readonly detail: string }
  | { readonly ok: false; readonly why: "network" };

/** One file on its way up. Not by `fetch`: a browser tells how much of a body has left only here. */
export function sendFile({ conversation, file, language, signal, onProgress }: SendOptions): Promise<Sent> {
  const { promise, resolve } = Promise.withResolvers<Sent>();
  const request = new XMLHttpRequest();
  const place = `${basePath}/api/v1/conversations/${encodeURIComponent(conversation)}/files/uploads`;
  request.open("PUT", `${place}/${encodeURIComponent(file.name)}`);
  request.setRequestHeader("content-type", "application/octet-stream");
  request.setRequestHeader("accept-language", language);
  // Sent twice, it is still stored once.
  request.setRequestHeader("idempotency-key", newId());
  request.upload.onprogress = ({ loaded }) => onProgress(loaded);
  request.onload = () => resolve(answerOf(request.responseText));
  request.onerror = () => resolve({ ok: false, why: "network" });
  request.onabort = () => resolve({ ok: false, why: "stopped" });
  signal.addEventListener("abort", () => request.abort());
  if (signal.aborted) resolve({ ok: false, why: "stopped" });
  else request.send(file);
  return promise;
}

function answerOf(text: string): Sent {
  const answer = parsed(text);
  const uploaded = UploadedFile.safeParse(answer);
  if (uploaded.success) return { ok: true, value: uploaded.data };
  const problem = Problem.safeParse(answer);
  return problem.success ? { ok: false, why: "refused", detail: problem.data.detail } : { ok: false, why: "network" };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // A proxy answered in our place.
  }
}
