import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readArguments } from "./arguments.ts";

const cases: [what: string, received: string, usable: string | undefined][] = [
  ["nothing", "", "{}"],
  ["blanks", " \n", "{}"],
  ["null", "null", "{}"],
  ["an empty string in quotes", '""', "{}"],
  ["an object, kept byte for byte", '{ "b":1.0, "a":"\\u00e9" }', '{ "b":1.0, "a":"\\u00e9" }'],
  ["an object in a string", '"{\\"a\\":1}"', '{"a":1}'],
  ["an object in a string in a string", '"\\"{}\\""', undefined],
  ["a text in a string", '"hello"', undefined],
  ["a list", "[1]", undefined],
  ["a number", "7", undefined],
  ["a line break inside a string", '{"a":"x\ny\t"}', '{"a":"x\\ny\\t"}'],
  ["a line break inside a string inside a string", '"{\\"a\\":\\"x\\ny\\"}"', '{"a":"x\\ny"}'],
  ["an object and itself", '{"a":1} {"a":1}', '{"a":1}'],
  ["an object three times, spaced otherwise", '{"a":1}{"a": 1}\n{"a":1}', '{"a":1}'],
  ["two objects", '{"a":1}{"a":2}', undefined],
  ["an empty object before another", '{}{"a":2}', undefined],
  ["surplus closers", '{"a":[1]}]}', '{"a":[1]}'],
  ["end tags", '{"a":1}</tool_call></function>', '{"a":1}'],
  ["special tokens", '{"a":1}<|tool_call_end|>', '{"a":1}'],
  ["a closing fence", '{"a":1}\n```', '{"a":1}'],
  ["a word behind it", '{"a":1} thanks', undefined],
  ["an object that is cut", '{"a":"x', undefined],
  ["an object cut after a closed one", '{"a":{"b":1}', undefined],
  ["single quotes", "{'a':1}", undefined],
  ["a brace inside a string and a surplus one behind", '{"a":"}{\\""}}', '{"a":"}{\\""}'],
];

for (const [what, received, usable] of cases) {
  test(`as arguments, ${what}: ${usable === undefined ? "not usable" : "usable"} [M3]`, () => {
    assert.equal(readArguments(received), usable);
  });
}

test("arguments of any object are never changed [M3]", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      (value) => readArguments(JSON.stringify(value)) === JSON.stringify(value),
    ),
  );
});

test("arguments that are cut are never completed [M3]", () => {
  const property = fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, at) => {
    const json = JSON.stringify(value);
    return readArguments(json.slice(0, 1 + (at % (json.length - 1)))) === undefined;
  });
  fc.assert(property);
});
