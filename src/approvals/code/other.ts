import { judgeCredentials } from "../shell/credentials.ts";
import { judgeTargets } from "../shell/deletes.ts";
import { type Run, report } from "../shell/scene.ts";
import { runText } from "../shell/shell-words.ts";
import { judgeWrite } from "../shell/uploads.ts";

const codeCharactersMax = 262_144;

/** Perl, Ruby, PHP, Lua, R: by the words that delete, run and fetch, and by the texts that stand in them. */
export function readOther(code: string, run: Run, what: string): void {
  const text = code.slice(0, codeCharactersMax);
  const texts = [...text.matchAll(/"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|\bq[qw]?[{(/]([^})/]*)[})/]/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
  const commands = [...text.matchAll(/`([^`]*)`|\bqx[{(/]([^})/]*)[})/]|%x[{(]([^})]*)[})]/g)].map(
    ([, ...found]) => found.find(Boolean) ?? "",
  );
  if (
    /\b(unlink|rmtree|remove_tree|rmdir|rm_rf?|FileUtils\.(rm\w*|remove\w*)|File\.(delete|unlink)|Dir\.(rmdir|delete|unlink)|os\.remove|file\.remove|file\s+delete|delete-(file|directory)|deleteDir)\b|\.delete\(\)|\brm\(\s*["']/.test(
      text,
    )
  )
    judgeTargets(run, pathsIn(text, texts), false, what);
  if (
    /\b(system|exec|popen|shell_exec|passthru|os\.execute|io\.popen|spawn|Open3|proc_open|system2|shell-command)\b/.test(
      text,
    )
  ) {
    const plain = texts.length === 0 ? ["\uE000"] : [listed(texts)];
    for (const command of plain) runText({ ...run, what }, command);
  }
  for (const command of commands) runText({ ...run, what }, command);
  if (
    /\b(LWP|HTTP::|Net::|IO::Socket|open-uri|TCPSocket|file_get_contents\s*\(\s*["']https?:|curl_exec|fsockopen|download\.file|URI\.open|socket\.http|httr)\b/.test(
      text,
    ) ||
    (/["'](https?|ftp):\/\//.test(text) &&
      /\b(get|getprint|getstore|mirror|file_get_contents|fopen|copy|url|read\w*(\.\w+)?|fread)\b/.test(text))
  )
    report(run.scene, "network", "medium", what);
  if (/\binstall\.packages\b|\bdevtools::install/.test(text)) report(run.scene, "packages", "medium", what);
  if (/\b(eval|system)\b/.test(text) && /\b(decode_base64|unpack|base64_decode|Base64|gzinflate)\b/.test(text))
    report(run.scene, "run_unseen", "critical", what);
  judgeCredentials(
    run,
    texts.filter((one) => /^[~./]/.test(one)),
    what,
  );
  if (/\brename\b/.test(text)) judgeWrite(run, texts, what);
  judgeWrite(run, writtenIn(text), what);
}

const quotes = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/g;

/** Texts behind a word that writes, up to the end of its statement. */
function writtenIn(text: string): string[] {
  const statements = text.matchAll(
    /\b(?:open|fopen|File\.(?:write|open)|file_put_contents|writeLines|write[.\w]*|saveRDS|ggsave|fwrite|sink|IO\.write)\b[^;\n]{0,400}/g,
  );
  return [...statements].flatMap(([statement]) => {
    const own = statement.replace(/\b(?:File\.)?read[.\w]*\s*\(\s*["'][^"'\n]*["']/g, "");
    const texts = [...own.matchAll(quotes)].map(([, double, single]) => double ?? single ?? "");
    const [first = "", ...others] = texts;
    const isMode = (one: string) => /^[+>]|^[rbt]*[wax]\+?[bt]?$|^r[bt]?\+/.test(one);
    const writes = !/^(?:f|File\.)?open/.test(own) || /^(\+?>|\+<)/.test(first) || others.some(isMode);
    return writes ? texts.map((one) => one.replace(/^[+<>]+\s*/, "")) : [];
  });
}

/** Without a text in quotes nobody knows what it is; a pattern between angle brackets is one. */
function pathsIn(text: string, texts: readonly string[]): readonly string[] {
  const patterns = [...text.matchAll(/\bunlink\s*\(?\s*<([^>]+)>|glob\s*\(?\s*["']([^"']+)/g)].map(
    ([, one, two]) => one ?? two ?? "",
  );
  const all = [...texts, ...patterns].filter((one) => one !== "" && !/\s/.test(one));
  return all.length === 0 ? ["\uE000"] : all;
}

/** `system("rm", "-rf", "x")` is one command. */
function listed(texts: readonly string[]): string {
  return texts.length > 1 && texts.every((text) => !/\s/.test(text)) ? texts.join(" ") : texts.join("\n");
}
