import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeText } from "./decode.ts";
import { languageOf } from "./language.ts";

// Two characters such as ϵͳ can be Chinese in GBK: texts of nothing but letters that nobody writes are left out.
const printable = fc
  .string({ unit: "grapheme" })
  .filter((text) => /^\p{ASCII}*$/u.test(text) || /[^\0-\u07ff]/.test(text) || !/[\u0180-\u07ff]/.test(text));
const exactly = (text: string, encoding: string, hasBom = false) => ({
  ...{ text, encoding, hasBom, isExact: true, isGuess: false },
});

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
  gb18030:
    "本文档介绍如何安装和配置软件。|用户可以通过命令行完成操作，系统会自动检测。|销售额为 4.1 万元，比去年增长。".split(
      "|",
    ),
  big5: "本文件介紹如何安裝和設定軟體。|使用者可以透過命令列完成操作，系統會自動檢測。|銷售額為 4.1 萬元，比去年成長。".split(
    "|",
  ),
  shift_jis: "このドキュメントでは方法を説明します。|設定ファイルを編集してください。|売上は 4.1 万円でした。".split(
    "|",
  ),
  "euc-jp": "このドキュメントでは方法を説明します。|設定ファイルを編集してください。|売上は 4.1 万円でした。".split(
    "|",
  ),
  "euc-kr": "이 문서는 설치하는 방법을 설명합니다.|사용자는 명령줄을 사용할 수 있습니다.|매출은 4.1 만원입니다.".split(
    "|",
  ),
  "windows-1251":
    "Этот документ описывает установку.|Пользователь может работать из командной строки.|Цена 4.1 рубля.".split("|"),
  "koi8-r": "Этот документ описывает установку.|Пользователь может работать из командной строки.|Цена 4.1 рубля.".split(
    "|",
  ),
  "windows-1250":
    "Ten dokument opisuje instalację.|Użytkownik może pracować z wiersza poleceń.|Żółta łódź płynie wśród ścian.".split(
      "|",
    ),
  "windows-1252":
    "Ce document décrit l’installation.|L’utilisateur peut créer des fichiers où il veut.|À l’été, c’était très différent.".split(
      "|",
    ),
  "windows-1253":
    "Αυτό το έγγραφο περιγράφει την εγκατάσταση.|Ο χρήστης μπορεί να εργαστεί.|Η τιμή είναι 4.1 ευρώ.".split("|"),
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

/** Files as people have them, with a few words that are not ASCII. The bytes of the last Chinese ones are UTF-8 as well. */
const shortTexts: Readonly<Record<string, readonly string[]>> = {
  gb18030:
    "# 配置\nport=80\n|标题: 报告|<!-- 注释 -->|姓名,年龄\n张三,25\n|价格：100 元\n|// 测试\n|错误|登录|警告|返回类型|需要函数名|缺陷修复|北京市|备注\n|密码: 123456|第 3 行|王芳,李娜\n|port：80\n|是/否|echo 完成|下载包|★重要|PDF文件|“引号”|边距|空 DVD 光盘|系统|# 目录\n|状态=未知\n|通知|[--mode=<模式>]|停止".split(
      "|",
    ),
  big5: "測試|檔案: 說明|設定\nport=80\n|姓名,年齡\n王小明,25\n|標題: 報告|<!-- 註解 -->|錯誤|程式碼|公司名稱|資料夾|視窗|參數1,參數2|價格：100 元\n|文件|失敗: 3|來源|記憶體|port：80\n".split(
    "|",
  ),
  shift_jis: "設定|エラー: 1|こんにちは|売上,価格\n|# テスト\n|名前,年齢\n|ファイルが見つかりません".split("|"),
  "euc-jp": "エラー: 1|こんにちは|# テスト\n|設定ファイル|名前,年齢\n".split("|"),
  "euc-kr": "설정|# 안녕하세요\n|이름,나이\n|오류: 1|사용 방법|파일을 찾을 수 없습니다".split("|"),
  "windows-1251": "Привет|# Настройки\n|Имя,Возраст\n|Ошибка: файл не найден|Цена: 100|да/нет".split("|"),
  "windows-1252": "café|Größe,Menge\n|naïve façade|mañana|Übung 1|élève,prénom\n|perché no|¿Qué?".split("|"),
  "windows-1250": "Żółta łódź|część|wątek: błąd|číslo,jméno\n|Tisztelt Ügyfél, köszönjük a türelmét, őszintén".split(
    "|",
  ),
};

test("a few words in an old encoding are read as what was written, the Chinese ones always [F1]", (t) => {
  const wrong: string[] = [];
  for (const [encoding, texts] of Object.entries(shortTexts)) {
    const encode = encoderFor(encoding);
    const misread = texts.filter((text) => decodeText(encode(text))?.text !== text);
    t.diagnostic(`${encoding}: ${texts.length - misread.length} right, ${misread.length} wrong`);
    wrong.push(...misread.map((text) => `${encoding}: ${text}`));
  }
  // "élčve" is Czech as far as two words can tell.
  assert.deepEqual(wrong, ["windows-1252: élève,prénom\n"]);
});

test("an answer that rests on a few bytes says that it is a guess [F1]", () => {
  const [gbk, words] = [encoderFor("gb18030"), "姓名,年龄\n张三,25\n"];
  assert.deepEqual(decodeText(gbk(words)), { ...exactly(words, "gb18030"), isGuess: true });
  assert.deepEqual(decodeText(gbk("系统")), { ...exactly("系统", "gb18030"), isGuess: true });
  const [below, enough] = ["好".repeat(19), "好".repeat(20)];
  assert.deepEqual(decodeText(gbk(below)), { ...exactly(below, "gb18030"), isGuess: true });
  assert.deepEqual(decodeText(gbk(enough)), exactly(enough, "gb18030"));
});

test("UTF-8 with letters that few people use stays UTF-8 [F1]", () => {
  const texts = [
    "ʃəˈwɑː",
    "ștergeți fișierul",
    "mơ ước",
    "e\u0301te\u0301",
    "Ողջույն",
    "Ǻ",
    "ŉ dag",
    "שָׁלוֹם",
    "λx.ϕ(x)",
  ];
  for (const text of texts) assert.deepEqual(decodeText(Buffer.from(text)), exactly(text, "utf-8"));
});

test("a text with a damaged place is still read as what it is, and says so [F1]", () => {
  const good = "第一行没有问题\n".repeat(20);
  const bytes = Buffer.concat([Buffer.from(good), Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from("最后一行\n")]);
  assert.deepEqual(decodeText(bytes), {
    ...{ text: `${good}\uFFFD\uFFFD\n最后一行\n`, encoding: "utf-8", hasBom: false },
    ...{ isExact: false, isGuess: false },
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
  const decoder = new TextDecoder(encoding);
  const table = new Map<string, number[]>();
  const learn = (...bytes: number[]) => {
    const character = decoder.decode(Uint8Array.from(bytes));
    if ([...character].length === 1 && character !== "\ufffd" && !table.has(character)) table.set(character, bytes);
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

const samples: Readonly<Record<string, string>> = {
  en: "The package is built with the tools of this release, and the files that are needed for it are listed in the manual.",
  de: "Das Paket wird mit den Werkzeugen gebaut, die nicht in der Liste sind, und das ist ein Teil der Arbeit zu Hause.",
  fr: "Les fichiers sont dans le dossier que vous avez choisi pour une installation, et les autres des paquets est une liste.",
  es: "El paquete que los usuarios instalan con una orden es el que las listas del sistema nombran para todos por igual.",
  pt: "O pacote é o que os usuários instalam com uma ordem, e não para todos: em casa é preciso o que da lista não vem.",
  it: "Il pacchetto che gli utenti sono soliti installare con una riga della lista non è per tutti, e di una parte il resto.",
  nl: "Het pakket is een deel van de lijst en niet voor iedereen: met een regel zijn de bestanden dat wat het systeem heeft.",
  zh: "这个软件包由系统的维护者制作，用户们可以为自己的机器安装它，并且随时删除。对于两个版本的关系，手册里还有说明。",
  "zh-Hant":
    "這個軟體包由系統的維護者製作，使用者們可以為自己的機器安裝它，並且隨時刪除。對於兩個版本的關係，手冊裡還有說明。",
  ja: "このパッケージはシステムの管理者が作成したもので、利用者は自分の機械に導入し、いつでも取り除くことができます。説明書もあります。",
  ko: "이 꾸러미는 시스템 관리자가 만든 것으로 사용자는 자신의 기계에 설치하고 언제든지 제거할 수 있습니다. 설명서도 있습니다.",
};

test("a receipt names the language of a document by its script and its smallest words [D1]", () => {
  const found = Object.values(samples).map((text) => languageOf([{ kind: "paragraph", text, from: {} }]));
  assert.deepEqual(found, Object.keys(samples));
});

test("what is too short, or in no language that is known, is not said to be in one [D1]", () => {
  const unknown = ["One line.", "4711 0815 42".repeat(20), "lorem ipsum dolor sit amet consectetur ".repeat(9)];
  for (const text of unknown) assert.equal(languageOf([{ kind: "paragraph", text, from: {} }]), undefined, text);
});
