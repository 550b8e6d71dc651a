import fc from "fast-check";
import { anyText } from "./any-text.ts";

/** Every generated name that could be made has this in it, so that a file outside would be found. */
export const marker = "qz7";

/** Paths and ids as an attacker, a confused model and a foreign system write them. */
export function hostilePath(): fc.Arbitrary<string> {
  return some(
    [6, joined(fc.array(segment(), { minLength: 1, maxLength: 6 }))],
    [2, joined(fc.array(harmless(), { minLength: 1, maxLength: 4 }))],
    [1, fc.nat({ max: 120 }).map((depth) => `outputs/${"d/".repeat(depth)}${marker}`)],
    [1, anyText({ maxLength: 40 })],
    [
      1,
      joined(fc.array(segment(), { minLength: 1, maxLength: 4 })).map((path) =>
        encodeURIComponent(path.toWellFormed()),
      ),
    ],
    [1, fc.constantFrom(...known)],
  );
}

function some(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<string>])[]) {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** Texts that stand in one line. */
const each = (texts: string) => texts.split("¦");

function joined(segments: fc.Arbitrary<string[]>): fc.Arbitrary<string> {
  const separator = fc.constantFrom("/", "/", "/", "/", "//", "\\", "/./", "%2f", "／", "∕");
  const front = fc.constantFrom("", "", "", "", "/", "./", "//", "\\\\", "C:\\", "c:/", "~/", "file://", " ", "\t/");
  return fc
    .tuple(front, segments, separator, fc.constantFrom("", "", "", "/", "/.", " ", "."))
    .map(([start, names, between, end]) => start + names.join(between) + end);
}

function segment(): fc.Arbitrary<string> {
  return some(
    [4, harmless()],
    [4, fc.constantFrom(...climbing)],
    [2, fc.constantFrom(...links)],
    [2, fc.constantFrom(...odd)],
    [1, fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).map((text) => `${marker}${text}`)],
    [1, fc.integer({ min: 240, max: 300 }).map((length) => marker + "x".repeat(length))],
    [1, fc.integer({ min: 60, max: 100 }).map((length) => marker + "文".repeat(length))],
  );
}

function harmless(): fc.Arbitrary<string> {
  return fc.constantFrom(...each(`outputs¦uploads¦temp¦skills¦inside¦${marker}.txt¦${marker}-数据.csv¦${marker}¦.`));
}

const climbing = each("..¦...¦....¦..;¦. .¦..\u0000¦%2e%2e¦%252e%252e¦．．¦․․¦..\\¦.. ¦ ..¦..%c0%af¦\u202e..");
/** The test plants these in outputs/ and temp/. */
const links = each("to-outside¦to-secret¦to-root¦to-parent¦pipe¦loop");
const odd = [
  ...each(
    `\u0000¦a\u0000${marker}¦\n¦${marker}\r\nx¦\u001b[2J¦${marker}\u202etxt.exe¦${marker}\u200b¦${marker}e\u0301`,
  ),
  ...each(`${marker}\u00e9¦\ud800¦CON¦NUL.${marker}¦${marker}:stream¦*${marker}?¦$(${marker})¦-rf ${marker}`),
  ...each(".metadata.json¦.git¦proc¦self¦fd¦"),
];
const known = [
  ...each("/etc/passwd¦../../../../etc/passwd¦/proc/self/environ¦/proc/self/fd/0¦outputs/to-outside/secret.txt"),
  ...each("outputs/to-secret¦outputs/inside/to-parent/secret.txt¦temp/to-root/etc/passwd¦uploads/..%2f..%2fsecret.txt"),
  ...each("outputs/../../w2/secret.txt¦../w2/secret.txt¦....//....//secret.txt¦\\\\?\\C:\\Windows\\win.ini"),
  ...each("C:\\Windows\\win.ini¦file:///etc/passwd¦.¦./¦¦.."),
];
