/** A secret that stands in a text, by its kind and beginning: never the secret itself. Undefined: there is none. */
export function secretIn(text: string): string | undefined {
  const found = findSecret(text, true);
  if (found === undefined) return undefined;
  const { secret, called } = found;
  return called === undefined ? `${secret.slice(0, kindCharacters)}…` : `${called.slice(0, nameCharactersMax)}=…`;
}

/** A secret in a text, as it stands there; `byName`: also by what it is called. */
export function findSecret(
  text: string,
  byName: boolean,
): { readonly secret: string; readonly called?: string } | undefined {
  for (const form of forms) {
    const secret = form.exec(text)?.[0];
    if (secret !== undefined) return { secret };
  }
  for (const { groups } of byName ? text.matchAll(named) : []) {
    const { called = "", sign = "", value = "" } = groups ?? {};
    if (isSecretValue(value) && !isProse(sign, value)) return { secret: value, called };
  }
  for (const { groups } of byName ? text.matchAll(told) : []) {
    const { called = "", value = "" } = groups ?? {};
    if (isSecretValue(value) && isChosen(value)) return { secret: value, called };
  }
  return undefined;
}

/** What a person sees of it: enough to tell which one it is, and of a short one nothing. */
export function shown(secret: string): string {
  return secret.length < shownFromCharacters ? "…" : `${secret.slice(0, shownCharacters)}…`;
}

/** Its maker's own beginning and little more. */
const kindCharacters = 6;
const shownCharacters = 4;
const shownFromCharacters = 16;
const nameCharactersMax = 40;

/** A text without the secrets that stand in it. */
export function withoutSecrets(text: string): string {
  let masked = text.replace(optioned, (whole, front: string, value: string) =>
    isSecretValue(value) ? `${front}${shown(value)}` : whole,
  );
  for (let turns = 0; turns < turnsMax; turns += 1) {
    const found = findSecret(masked, true);
    if (found === undefined) return masked;
    masked = masked.replaceAll(found.secret, shown(found.secret));
  }
  return "…";
}

const turnsMax = 64;
/** `--password hunter22` */
const optioned =
  /(--?(?:password|passwd|passphrase|token|api-?key|secret|secret-?key|access-?key|auth-?token)\s{1,3}["']?)([^\s"'-][^\s"']{3,400})/gi;

/** What stands where a secret would, and is none: a variable, a placeholder, a call, a path, a word of a schema. */
export function isSecretValue(value: string): boolean {
  return value.length >= valueCharactersMin && !placeholder.test(value) && !path.test(value);
}

const valueCharactersMin = 4;
const placeholder =
  /^[$<{*%\uE000\uE001(\\[.]|[*\uE000\uE001…]|\.{3}|^(null|none|true|false|undefined|your[_-].*|x+|changeme|example|placeholder|redacted|string|str|number|boolean|test|required|optional|os\.|process\.|env\.|getenv|input\(|self\.|args\.|config\.)|^\d{1,5}$|[([]/i;
const path = /^(\.{0,2}|~)\/[\w.-]{1,30}(\/[\w.-]{1,20}){0,2}\/?$/;

/** `Password: required of everybody`: behind a colon and a space a plain word is one. */
function isProse(sign: string, value: string): boolean {
  return /:\s/.test(sign) && /^\p{L}+[.,!?]?$/u.test(value);
}

/** "My password is hunter22", "密码是 abc123": as people tell it. */
const told =
  /(?<called>password|passphrase|passcode|密码|口令)["'”’]?\s{0,3}(?:\bis\b|是|为|:|：|=)\s{0,3}["'“‘「]?(?<value>[^\s"'`“”‘’「」，。；、,;)）]{4,200})/giu;

/** Something that somebody made up: not a word, a size ("12-character"), nor the name of a way to hide one. */
function isChosen(value: string): boolean {
  const plain = value.replace(/[.!?]+$/, "");
  if (/^(base64|sha\d|md5|utf-?\d|argon2|pbkdf2)/i.test(plain) || /^\d{1,3}\D?\p{L}+$/u.test(plain)) return false;
  if (/^\d+$/.test(plain)) return plain.length >= 6;
  return /^[\x21-\x7e]+$/.test(plain) && /[\d!@#$%^&*]/.test(plain) && /[a-z]/i.test(plain);
}

/** Secrets by the forms that their makers gave them. All repetitions are bounded: texts may be long and hostile. */
const forms: readonly RegExp[] = [
  /\bsk-(?=[\w-]{0,60}\d|[A-Za-z]{16})[A-Za-z0-9_-]{12,}/,
  /\b(AKIA|ASIA|AGPA|AIDA)[0-9A-Z]{12,40}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bnpm_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\bpypi-[\w-]{30,}/,
  /\b[sr]k_(live|test)_[A-Za-z0-9]{10,}|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,80}\.[\w-]{16,}/,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/,
  /\beyJ[\w-]{8,400}\.eyJ[\w-]{8,4000}\.[\w-]{0,400}/,
  // In a header whatever follows; elsewhere "basic" and "bearer" are words, and what follows has to look like a key.
  /\bauthorization["']?\s{0,9}[:=]\s{0,9}["']?(basic|bearer|token)\s{1,9}(?![$<{*\uE000\uE001.])[\w.~+/=-]{6,}/i,
  /\b(basic|BASIC|Basic|bearer|BEARER|Bearer)\s{1,9}(?=[\w.~+/-]{0,400}(\d|=|[a-z][A-Z]))[\w.~+/=-]{12,}/,
  /\b[a-z][a-z+]{0,20}:\/\/[^\s:/@$\uE000\uE001"']{0,100}:(?![$<{*\uE000\uE001/])[^\s:/@"']{3,100}@/i,
];

/** A name that promises a secret, and what it is set to. */
const named =
  /(?:^|[^A-Za-z0-9])(?<called>(?:[A-Za-z0-9]{1,40}[_-]){0,6}(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|secret[_-]?key|auth[_-]?key|private[_-]?key|client[_-]?secret|pgpassword|mysql[_-]?pwd))["']?\s{0,3}(?<sign>[=:]\s{0,3})["']?(?<value>[^\s"'`&;,}]{4,400})/gi;
