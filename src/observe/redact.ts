/** Stands where a secret stood. */
export const redacted = "[redacted]";

/** Shorter values are words that stand in any text; hiding them would only make logs unreadable. */
const secretCharactersMin = 6;

/**
 * The text without secrets [Q1]: neither the known values nor what has the shape of a key, a token, a password
 * or a private key. Meant for logs and for words of others that people will see, not for files that must stay as they are.
 */
export function redact(text: string, secrets: readonly string[]): string {
  if (text.length < secretCharactersMin) return text;
  let shown = text;
  // The longest first: a secret that begins with another one must not leave its end behind.
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret.length >= secretCharactersMin) shown = shown.replaceAll(secret, redacted);
  }
  return withoutShapes(shown, shapes);
}

/**
 * For logs, where cookies are left out as well. How far one reaches cannot be seen, so this takes the rest of a line:
 * never for a text that people decide by, which could hide there what it does.
 */
export function redactForLog(text: string, secrets: readonly string[]): string {
  return withoutShapes(redact(text, secrets), cookieShapes);
}

function withoutShapes(text: string, hidden: readonly Shape[]): string {
  return hidden.reduce((shown, [shape, replacement]) => shown.replace(shape, replacement), text);
}

/** A field whose name says that its text is a secret. */
export function isSecretName(name: string): boolean {
  return /(api[-_]?key|secret|password|passwd|authorization|cookie|token)$/i.test(name);
}

type Shape = readonly [shape: RegExp, replacement: string];

const shapes: readonly Shape[] = [
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g, redacted],
  // As a header, and as objects and JSON have it, also JSON that is quoted in JSON.
  [/\b(Authorization\\{0,3}["']?\s{0,3}:\s{0,3}\\{0,3}["']?Basic|Bearer)\s+[\w.~+/=-]{8,}/gi, `$1 ${redacted}`],
  [/\bsk-[\w-]{8,}/g, redacted],
  [/\b(?:gh[opsru]_|github_pat_|glpat-|xox[abprs]-|AIza|AKIA|hf_|gsk_|lsv2_|ay_)[\w-]{12,}/g, redacted],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, redacted],
  [/:\/\/[^\s/@:]{0,100}:[^\s/@]{1,200}@/g, `://${redacted}@`],
  // `api_key=…`, `"password": "…"`, `token: …`: the name stays, so that a reader sees what was hidden.
  [
    /(api[_-]?key|token|secret|password|passwd)(\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?)(?!\[redacted\])(?:[^\s"'&,;\\]|\\(?!\\{0,2}["'])){4,}/gi,
    `$1$2${redacted}`,
  ],
];

const cookieShapes: readonly Shape[] = [
  [/\b(cookie\\{0,3}["']?\s{0,3}:\s{0,3})\[[^\]]*\]?/gi, `$1${redacted}`],
  [
    /\b(cookie\\{0,3}["']?\s{0,3}:\s{0,3}\\{0,3}["']?)[^\s=;,"'[\\]{1,100}=(?:[^\r\n"'\\]|\\(?!\\{0,2}["']))*/gi,
    `$1${redacted}`,
  ],
];
