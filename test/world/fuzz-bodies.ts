import type { Chance } from "./fuzz-chance.ts";
import { jsonText, oddText, oddValue, spoiled } from "./fuzz-values.ts";

// The bodies of requests: JSON, the bytes of a file, forms; whole, spoiled, cut off, of another kind than they say.

export type FuzzBody = {
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: Uint8Array;
  readonly isChunked: boolean;
  readonly cutAt: number | undefined;
};

export function jsonBody(value: unknown, chance: Chance): FuzzBody {
  const kind = chance.next();
  if (kind < 0.6) return sent(jsonText(value, chance), json, chance);
  if (kind < 0.88) return sent(jsonText(spoiled(value, chance), chance), json, chance);
  if (kind < 0.91) return sent(jsonText(oddValue(chance), chance), json, chance);
  const text = JSON.stringify(value);
  const broken = [
    ...[
      "",
      "{",
      "[]",
      "null",
      '"x"',
      "1e999",
      '{"a":1}{"b":2}',
      "\ufeff{}",
      "{'a':1}",
      '{"a":NaN}',
      "\u0000",
      "{}\n\n",
    ],
    ...[text.slice(0, text.length / 2), `${text}x`, text.replaceAll('"', "'"), `{"id":"a","id":"b",${text.slice(1)}`],
    ...[
      `{"__proto__":${text}}`,
      "[".repeat(100_000),
      `${" ".repeat(200_000)}${text}`,
      `{"text":"${oddText(chance).slice(0, 99)}`,
    ],
  ];
  if (kind < 0.95) return sent(chance.pick(broken), json, chance);
  if (kind < 0.97) return sent(badUtf8(text, chance), json, chance);
  return sent(text, chance.pick(otherTypes), chance);
}

const json = "application/json";
const otherTypes = [
  ...[
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonp",
    "application/xml",
  ],
  ...[
    "application/json;charset=utf-16",
    "application/json; charset=latin1",
    "APPLICATION/JSON",
    "application/json,text/plain",
  ],
];

function badUtf8(text: string, chance: Chance): Buffer {
  const bytes = Buffer.from(text);
  for (let times = 0; times < 4; times += 1)
    bytes[chance.int(0, bytes.length - 1)] = chance.pick([0xff, 0xc0, 0xed, 0x80]);
  return bytes;
}

/** As it is, in pieces, with a length that is a lie, or only the first part of it. */
function sent(body: string | Uint8Array, type: string, chance: Chance): FuzzBody {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const headers: [string, string][] = type === "" ? [] : [["content-type", type]];
  const kind = chance.next();
  const whole = { headers, bytes, isChunked: false, cutAt: undefined };
  if (kind < 0.85) return whole;
  if (kind < 0.95) return { ...whole, isChunked: true };
  if (kind < 0.98) return { ...whole, cutAt: Math.floor(bytes.length / 2) };
  const lies = ["99999999999", "33554433", "99999999999999999999999", String(bytes.length + 10)];
  return { ...whole, headers: [...headers, ["content-length", chance.pick(lies)]], cutAt: bytes.length };
}

type FileBody = {
  readonly chance: Chance;
  readonly isForm: boolean;
  readonly mark: string;
  readonly fields: Readonly<Record<string, string>>;
};

export function fileBody(wanted: FileBody): FuzzBody {
  const { chance, isForm } = wanted;
  const type = isForm ? "multipart/form-data; boundary=b" : "application/octet-stream";
  const types = [type, type, type, "application/offset+octet-stream", "application/offset+octet-stream"];
  const spoken = chance.odds(0.9) ? (isForm ? type : chance.pick(types)) : chance.pick([...otherTypes, ...oddForms]);
  return sent(isForm ? formBytes(wanted) : fileBytes(wanted), spoken, chance);
}

const oddForms = [
  ...[
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary="b"',
    "multipart/form-data;boundary=c",
  ],
  ...[
    `multipart/form-data; boundary=${"b".repeat(200)}`,
    "multipart/form-data; boundary=b; boundary=c",
    "multipart/mixed; boundary=b",
  ],
];

function fileBytes({ chance, mark }: Pick<FileBody, "chance" | "mark">): Buffer {
  const kinds = [
    ...Array.from({ length: 6 }, () => "hello"),
    "hello",
    mark,
    "a,b\n1,2\n",
    "\u0000\u0001",
    "",
    "\u0089PNG\r\n\u001a\n",
    "PK\u0003\u0004",
    "%PDF-1.4",
    "x".repeat(99_999),
  ];
  return Buffer.concat([Buffer.from(chance.pick(kinds), "latin1"), chance.odds(0.2) ? emptyZip : Buffer.alloc(0)]);
}

const emptyZip = Buffer.from("504b0506000000000000000000000000000000000000", "hex");

function formBytes(wanted: FileBody): Buffer {
  const { chance, fields } = wanted;
  const part = (disposition: string, content: Buffer | string) =>
    Buffer.concat([
      Buffer.from(`--b\r\ncontent-disposition: ${disposition}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from("\r\n"),
    ]);
  const name = chance.odds(0.8) ? "a.txt" : oddText(chance).slice(0, 500);
  const file = part(`form-data; name="file"; filename="${name.replaceAll('"', "%22")}"`, fileBytes(wanted));
  const others = Object.entries(fields)
    .filter(() => chance.odds(0.7))
    .map(([field, value]) => part(`form-data; name="${field}"`, chance.odds(0.9) ? value : oddText(chance)));
  const end = Buffer.from("--b--\r\n");
  const whole = Buffer.concat([...others, file, end]);
  if (chance.odds(0.75)) return whole;
  const odd = [
    () => Buffer.concat([...others, end]),
    () => Buffer.concat([file, file, ...others, end]),
    () => whole.subarray(0, chance.int(0, whole.length)),
    () => Buffer.concat([...others, part("form-data", "x"), part("", "x"), end]),
    () => Buffer.concat([...Array.from({ length: 2_000 }, () => part('form-data; name="__proto__"', "x")), end]),
    () => Buffer.concat([part(`form-data; name="${"n".repeat(20_000)}"`, "x"), file, end]),
    () => Buffer.concat([part('form-data; name="file"', "no name"), end]),
    () => Buffer.concat([part(`form-data; name="file"; filename*=utf-8''..%2f..%2fx`, "x"), end]),
    () => Buffer.concat([part('form-data; name="file"; filename="\u00ff\u0000.txt"', "x"), end]),
    () => Buffer.from("--b\n\n--b--"),
    () => Buffer.alloc(0),
  ];
  return chance.pick(odd)();
}
