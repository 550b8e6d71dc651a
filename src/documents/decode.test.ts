import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeText } from "./decode.ts";

const printable = fc.string({ unit: "grapheme" });
const exactly = (text: string, encoding: string, hasBom = false) => ({ text, encoding, hasBom, isExact: true });

test("whatever text is stored as UTF-8 or with a byte order mark comes back as it was [F1]", () => {
  fc.assert(
    fc.property(printable, (text) => {
      assert.deepEqual(decodeText(Buffer.from(text)), exactly(text, "utf-8"));
      assert.deepEqual(decodeText(Buffer.from(`\uFEFF${text}`)), exactly(text, "utf-8", true));
      assert.deepEqual(decodeText(Buffer.from(`\uFEFF${text}`, "utf16le")), exactly(text, "utf-16le", true));
      assert.deepEqual(decodeText(bigEndian(`\uFEFF${text}`)), exactly(text, "utf-16be", true));
    }),
  );
});

test("UTF-16 without a mark is known by its line feeds and spaces [F1]", () => {
  const lines = fc.array(fc.constantFrom("姓名 年龄", "价格：100 元", "name, age", "Größe 4.1", "説明 です"), {
    minLength: 1,
  });
  fc.assert(
    fc.property(lines, (words) => {
      const text = `${words.join("\n")}\n`;
      assert.deepEqual(decodeText(Buffer.from(text, "utf16le")), exactly(text, "utf-16le"));
      assert.deepEqual(decodeText(bigEndian(text)), exactly(text, "utf-16be"));
    }),
  );
});

test("the first bytes of a longer text end before a half character [F1]", () => {
  fc.assert(
    fc.property(printable, fc.nat(), (text, cut) => {
      const bytes = Buffer.from(text);
      const decoded = decodeText(bytes.subarray(0, cut % (bytes.length + 1)), { isCut: true });
      assert.equal(decoded?.encoding, "utf-8");
      assert.ok(text.startsWith(decoded.text));
    }),
  );
  assert.deepEqual(decodeText(Buffer.from("a\n你好", "utf16le").subarray(0, -1), { isCut: true }), {
    ...exactly("a\n你", "utf-16le"),
  });
});

// Sentences in an order that chance chose: what a detector says of words without sense is chance itself.
const sentences: Readonly<Record<string, readonly string[]>> = {
  gb18030: [
    "本文档介绍如何安装和配置软件。",
    "用户可以通过命令行完成操作，系统会自动检测。",
    "销售额为 4.1 万元，比去年增长。",
  ],
  big5: [
    "本文件介紹如何安裝和設定軟體。",
    "使用者可以透過命令列完成操作，系統會自動檢測。",
    "銷售額為 4.1 萬元，比去年成長。",
  ],
  shift_jis: ["このドキュメントでは方法を説明します。", "設定ファイルを編集してください。", "売上は 4.1 万円でした。"],
  "euc-jp": ["このドキュメントでは方法を説明します。", "設定ファイルを編集してください。", "売上は 4.1 万円でした。"],
  "euc-kr": [
    "이 문서는 설치하는 방법을 설명합니다.",
    "사용자는 명령줄을 사용할 수 있습니다.",
    "매출은 4.1 만원입니다.",
  ],
  "windows-1251": [
    "Этот документ описывает установку.",
    "Пользователь может работать из командной строки.",
    "Цена 4.1 рубля.",
  ],
  "koi8-r": [
    "Этот документ описывает установку.",
    "Пользователь может работать из командной строки.",
    "Цена 4.1 рубля.",
  ],
  "windows-1250": [
    "Ten dokument opisuje instalację.",
    "Użytkownik może pracować z wiersza poleceń.",
    "Żółta łódź płynie wśród ścian.",
  ],
  "windows-1252": [
    "Ce document décrit l’installation.",
    "L’utilisateur peut créer des fichiers où il veut.",
    "À l’été, c’était très différent.",
  ],
  "windows-1253": [
    "Αυτό το έγγραφο περιγράφει την εγκατάσταση.",
    "Ο χρήστης μπορεί να εργαστεί.",
    "Η τιμή είναι 4.1 ευρώ.",
  ],
};

for (const [encoding, chosen] of Object.entries(sentences)) {
  test(`a text in ${encoding} is read as what was written [F1]`, () => {
    const encode = encoderFor(encoding);
    const drawn = fc.array(fc.constantFrom(...chosen), { minLength: 6, maxLength: 40 });
    fc.assert(
      fc.property(drawn, (lines) => {
        const text = `${"plain words first\n".repeat(lines.length)}${chosen.join("\n")}\n${lines.join("\n")}\n`;
        assert.equal(decodeText(encode(text))?.text, text);
      }),
      // The same draws every time: an encoding that is not named can only be guessed.
      { seed: 1, numRuns: 20 },
    );
  });
}

test("a short list in the encoding of Chinese Windows can be read [F1]", () => {
  const text = "姓名,年龄\n张三,25\n";
  assert.deepEqual(decodeText(encoderFor("gb18030")(text)), exactly(text, "gb18030"));
});

test("a text with a damaged place is still read as what it is, and says so [F1]", () => {
  const good = "第一行没有问题\n".repeat(20);
  const bytes = Buffer.concat([Buffer.from(good), Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from("最后一行\n")]);
  assert.deepEqual(decodeText(bytes), {
    ...{ text: `${good}\uFFFD\uFFFD\n最后一行\n`, encoding: "utf-8", hasBom: false },
    isExact: false,
  });
});

test("what is no text is not made into one [F1]", () => {
  const floats = new Uint8Array(Float32Array.from({ length: 500 }, (_, index) => Math.sin(index)).buffer);
  const binaries = {
    nul: Buffer.from("text with a \0 in it"),
    numbers: new Uint8Array(Int32Array.from({ length: 500 }, (_, index) => index * 7).buffer),
    floats,
    controls: Buffer.from("a\u0001b\u0002c\u0003d\u0004"),
    pdf: Buffer.from("%PDF-1.7\nall of this is ASCII\n"),
    image: Buffer.from("\x89PNG\r\n\x1a\nabc", "latin1"),
    bytes: Buffer.from(Array.from({ length: 255 }, (_, index) => ((index * 37) % 255) + 1)),
  };
  for (const [name, bytes] of Object.entries(binaries)) assert.equal(decodeText(bytes), undefined, name);
});

test("colours of a terminal and fields between control characters are still text [F1]", () => {
  const log = "\u001b[31merror\u001b[0m in line 4\r\n\tat start\f\n";
  const fields = "name\u0001age of the person\u0001city of birth\n";
  assert.deepEqual(decodeText(Buffer.from(log)), exactly(log, "utf-8"));
  assert.deepEqual(decodeText(Buffer.from(fields)), exactly(fields, "utf-8"));
});

test("no bytes at all can make the reader fail [F1]", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.boolean(), (bytes, isCut) => {
      const decoded = decodeText(bytes, { isCut });
      assert.ok(decoded === undefined || decoded.text.isWellFormed());
    }),
  );
});

function bigEndian(text: string): Buffer {
  return Buffer.from(text, "utf16le").swap16();
}

/** Node decodes these encodings but does not write them: every pair of bytes is decoded once, and turned around. */
function encoderFor(encoding: string): (text: string) => Buffer {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const table = new Map<string, number[]>();
  const learn = (...bytes: number[]) => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes));
      if ([...character].length === 1 && !table.has(character)) table.set(character, bytes);
    } catch {
      // No character of this encoding.
    }
  };
  for (let lead = 0; lead < 256; lead += 1) learn(lead);
  for (let lead = 0x81; lead < 0xff; lead += 1) for (let trail = 0x40; trail < 0xff; trail += 1) learn(lead, trail);
  return (text) =>
    Buffer.from(
      Array.from(text).flatMap((character) => {
        const bytes = table.get(character);
        assert.ok(bytes, `${encoding} has no ${character}`);
        return bytes;
      }),
    );
}
