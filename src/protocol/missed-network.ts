type Ended = {
  readonly how: string;
  readonly exitCode: number | undefined;
  readonly stderr: { readonly text: string };
};

/** A program that failed, and whose last words are those of one that looked for a network in vain. */
export function missedNetwork({ how, exitCode, stderr }: Ended): boolean {
  return how === "done" && exitCode !== 0 && signs.test(stderr.text);
}

/** As Python, pip, curl, wget, git and Node say it. */
const signs =
  /name resolution|Name or service not known|could not resolve host|unable to resolve host|nodename nor servname|Network is unreachable|\b(EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b/i;
