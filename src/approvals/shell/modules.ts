import { posix } from "node:path";
import { fileText, isHidden } from "./files.ts";
import { type Run, report, unknownStream } from "./scene.ts";

/** `import x`, `python -m x`: a module of the workspace is a script like those that are named by their path. */
export function runModule(run: Run, module: string, what: string, isMain = false): void {
  if (!/^\.*[\p{L}_][\p{L}\p{N}_.]*$/u.test(module) || module.length > nameCharactersMax) return;
  const pieces = module.split(".").filter((piece) => piece !== "");
  const depth = common.has(pieces[0] ?? "") ? 1 : pieces.length;
  for (let at = 1; at <= depth; at += 1) {
    const path = pieces.slice(0, at).join("/");
    // `import a.b` runs `a/__init__.py` as well. What everybody has is at the most hidden by a file of its name.
    const inside = common.has(path) ? [] : [`${path}/__init__.py`];
    for (const one of [`${path}.py`, ...inside]) readFirst(run, [one], "python", what);
  }
  if (isMain) readFirst(run, [`${pieces.join("/")}/__main__.py`], "python", what);
}

const nameCharactersMax = 200;

/** Modules that programs everywhere import: nobody has folders of these names. */
const common: ReadonlySet<string> = new Set(
  (
    "abc argparse array ast asyncio base64 bisect builtins calendar codecs collections concurrent contextlib copy csv ctypes " +
    "dataclasses datetime decimal difflib email enum fileinput fnmatch fractions functools gc getpass glob gzip hashlib heapq " +
    "html http importlib inspect io itertools json locale logging math mimetypes multiprocessing operator os pathlib pickle " +
    "platform pprint queue random re secrets shlex shutil signal socket sqlite3 statistics string struct subprocess sys " +
    "tarfile tempfile textwrap threading time timeit traceback types typing unicodedata unittest urllib uuid warnings weakref " +
    "xml zipfile zlib zoneinfo __future__ pip venv numpy pandas matplotlib scipy sklearn seaborn plotly requests httpx bs4 " +
    "lxml openpyxl xlsxwriter docx pptx pypdf PIL cv2 torch yaml tqdm jinja2 sqlalchemy pytest dotenv IPython reportlab"
  ).split(" "),
);

/** `require("./x")`: a file of the workspace, with or without its ending. */
export function runRequired(run: Run, path: string, what: string): void {
  if (!/^(\.{0,2}\/|file:)/.test(path) || /[\uE000\uE001]/.test(path)) return;
  const plain = path.replace(/^file:(\/\/)?/, "");
  readFirst(run, [plain, `${plain}.js`, `${plain}/index.js`], "javascript", what);
}

/** A file of Python that is run by its path. */
export function runPath(run: Run, path: string, what: string): void {
  readFirst(run, [path], "python", what);
}

function readFirst(run: Run, paths: readonly string[], language: "python" | "javascript", what: string): void {
  const { scene, state } = run;
  for (const folder of new Set([...state.folders, ...state.modules, ...pythonPath(run)])) {
    for (const path of paths) {
      const place = posix.isAbsolute(path) ? path : posix.join(folder, path);
      if (scene.imported.has(place)) return;
      // Nobody can look there: that it would be there is no more than a guess.
      if (place !== path && isHidden(scene, place) && !scene.files.has(place)) continue;
      const file = fileText(run, place, true);
      if (file === undefined) continue;
      scene.imported.add(place);
      if (file === "unseen") return report(scene, "run_unseen", "critical", what);
      const inside = { ...state, modules: [...state.modules, posix.dirname(place)] };
      scene.code(file.text, language, { ...run, state: inside, stdin: unknownStream });
    }
  }
}

function pythonPath({ state }: Run): readonly string[] {
  const values = state.variables.get("PYTHONPATH")?.values ?? [];
  return values.flatMap((value) => value.split(":")).filter((folder) => folder !== "");
}
