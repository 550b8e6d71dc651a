import assert from "node:assert/strict";
import { test } from "node:test";
import { languageOf } from "./language.ts";

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
