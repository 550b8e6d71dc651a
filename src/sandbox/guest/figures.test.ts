import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { bareGuest, type Outcome, python } from "../../../test/world/bare-supervisor.ts";

// A matplotlib as small as what we use of it: where the real one is missing, our part is tried all the same.
const standIn = {
  "__init__.py": "",
  "font_manager.py": `
class FontManager:
    def _find_fonts_by_props(self, prop): return [f"{prop}.ttf"]
    def findfont(self, name): return f"{name}.ttc"
class Entry: name = "WenQuanYi Micro Hei"
fontManager = FontManager()
fontManager.ttflist = [Entry]
`,
  "figure.py": `
class Figure:
    def __init__(self): self.axes, self.texts, self.images, self.title = [], [], [], "?"
    def savefig(self, fname, **options):
        if self.title == "broken": raise ValueError("cannot be drawn")
        data = self.title.encode()
        fname.write(data) if hasattr(fname, "write") else open(fname, "wb").write(data)
`,
  "pyplot.py": `
from matplotlib.figure import Figure
import matplotlib.font_manager
_open = {}
def figure(number=None):
    number = number or max(_open, default=0) + 1
    return _open.setdefault(number, Figure())
def title(text):
    now = _open[max(_open)] if _open else figure()
    now.axes, now.title, now.stale = [1], text, True
def savefig(name): (_open[max(_open)] if _open else figure()).savefig(name)
def get_fignums(): return sorted(_open)
def close(which):
    for number in list(_open):
        if which == "all" or _open[number] is which: del _open[number]
def show(): raise RuntimeError("there is no screen")
`,
};

test("figures that are open at the end of a cell land in outputs and are named, once each [X6]", async (t) => {
  const { run, figures } = await guestWithFigures(t);
  assert.deepEqual(await run("import matplotlib.pyplot as plt\nplt.title('one')"), named("outputs/figure-1.png"));
  assert.deepEqual(await run("plt.figure(); plt.figure(); plt.title('two')"), named("outputs/figure-2.png"));
  assert.deepEqual(
    await run("for n in '34':\n    plt.title(n)\n    plt.show()"),
    named("outputs/figure-3.png", "outputs/figure-4.png"),
  );
  assert.deepEqual(await run("1 if plt.get_fignums() else None"), named());
  assert.deepEqual(figures(), {
    "figure-1.png": "one",
    "figure-2.png": "two",
    "figure-3.png": "3",
    "figure-4.png": "4",
  });
});

test("a figure that the cell itself saved is not saved twice, whatever its kind and folder, and named in outputs [X6]", async (t) => {
  const { run, figures } = await guestWithFigures(t);
  const own =
    "import matplotlib.pyplot as plt\nplt.title('own')\nplt.savefig('outputs/own.png'); plt.savefig('outputs/own.png')";
  assert.deepEqual(await run(own), named("outputs/own.png"));
  assert.deepEqual(await run("plt.title('else'); plt.savefig('else.png'); plt.show()"), named());
  assert.deepEqual(await run("plt.title('paper'); plt.savefig('outputs/paper.pdf')"), named());
  const buffer = await run("import io\nplt.title('buffer'); plt.savefig(io.BytesIO())");
  assert.deepEqual(buffer, named("outputs/figure-1.png"));
  const outside =
    "import tempfile\nwith tempfile.TemporaryDirectory() as folder:\n    plt.savefig(folder + '/gone.png')";
  const gone = await run(`plt.title('gone')\n${outside}`);
  assert.deepEqual(gone, named("outputs/figure-2.png"));
  assert.deepEqual(figures(), {
    ...{ "own.png": "own", "paper.pdf": "paper" },
    ...{ "figure-1.png": "buffer", "figure-2.png": "gone" },
  });
});

test("an earlier figure is never overwritten, and a cell that failed leaves none behind [X6]", async (t) => {
  const { run, figures, supervisor } = await guestWithFigures(t);
  writeFileSync(join(supervisor.workspace, "outputs/figure-1.png"), "of yesterday");
  assert.deepEqual(await run("import matplotlib.pyplot as plt\nplt.title('new')"), named("outputs/figure-2.png"));
  const broken = await run("plt.title('broken')");
  assert.deepEqual(
    [broken.end, broken.results, /ValueError: cannot be drawn\n$/.test(broken.stderr)],
    ["done 1", [], true],
  );
  assert.equal((await run("plt.title('half'); 1 / 0")).end, "done 1");
  assert.deepEqual(await run("pass"), named());
  assert.deepEqual(figures(), { "figure-1.png": "of yesterday", "figure-2.png": "new" });
});

test("a Chinese font helps out behind whatever font was chosen [X6]", async (t) => {
  const { run } = await guestWithFigures(t);
  const code = "import matplotlib.font_manager as fonts\nfonts.fontManager._find_fonts_by_props('SimHei')";
  assert.deepEqual((await run(code)).results, ["text ['SimHei.ttf', 'WenQuanYi Micro Hei.ttc']"]);
});

test("of more figures than one call may name all are saved and fifty named; the next call names its own [X6][X4]", async (t) => {
  const { run, figures } = await guestWithFigures(t);
  const many = "import matplotlib.pyplot as plt\nfor n in range(51):\n    plt.figure(); plt.title(str(n))";
  const names = Array.from({ length: 50 }, (_, index) => `outputs/figure-${index + 1}.png`);
  assert.deepEqual(await run(many), named(...names));
  assert.equal(Object.keys(figures()).length, 51);
  assert.deepEqual(await run("plt.title('next')"), named("outputs/figure-52.png"));
});

const hasMatplotlib = spawnSync(python, ["-I", "-c", "import matplotlib"]).status === 0;

test("matplotlib itself knows what was changed, what is empty, and how a file is called [X6]", {
  skip: hasMatplotlib ? false : `${python} has no matplotlib`,
}, async (t) => {
  const { run, supervisor } = await guestWithFigures(t, {});
  const cells = [
    "import matplotlib.pyplot as plt\nfig, ax = plt.subplots(); ax.plot([1, 2]); _ = plt.savefig('outputs/chart')",
    "ax.set_title('late'); plt.show()",
    "for n in '12':\n    plt.plot([1, 2]); plt.savefig(f'outputs/{n}.jpg'); plt.cla()",
    "plt.plot([1, 2]); plt.savefig('outputs/a.svg'); plt.title('t'); plt.show()",
    "_ = plt.title('nothing below'); plt.savefig('outputs/blank.png')",
    "fig.show()",
  ];
  const outcomes: Outcome[] = [];
  for (const cell of cells) outcomes.push(await run(cell));
  // A machine that takes long to list its fonts for the first time says so.
  const said = (stderr: string) => stderr.replace(/^Matplotlib is building the font cache; .*\n/, "");
  assert.deepEqual(
    outcomes.map(({ results, stderr, end }) => [
      end,
      results.filter((result) => result.startsWith("png")),
      said(stderr),
    ]),
    [
      ["done 0", ["png outputs/chart.png"], ""],
      ["done 0", ["png outputs/figure-1.png"], ""],
      ["done 0", [], ""],
      ["done 0", ["png outputs/figure-2.png"], ""],
      ["done 0", ["png outputs/blank.png"], outcomes[4]?.stderr],
      ["done 0", ["png outputs/figure-1.png"], ""],
    ],
  );
  assert.match(outcomes[4]?.stderr ?? "", /^sandbox: the figure that was saved is empty: /);
  assert.deepEqual(readdirSync(join(supervisor.workspace, "outputs")).sort(), [
    ...["1.jpg", "2.jpg", "a.svg", "blank.png", "chart.png", "figure-1.png", "figure-2.png"],
  ]);
});

async function guestWithFigures(t: TestContext, modules: Readonly<Record<string, string>> = standIn) {
  const { supervisor, workspace, run } = await bareGuest(t, { language: "python" });
  const outputs = join(workspace, "outputs");
  mkdirSync(outputs);
  if (Object.keys(modules).length > 0) mkdirSync(join(workspace, "matplotlib"));
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(workspace, "matplotlib", name), text);
  const figures = () =>
    Object.fromEntries(readdirSync(outputs).map((name) => [name, readFileSync(join(outputs, name), "utf8")]));
  return { supervisor, run, figures };
}

function named(...paths: string[]): Outcome {
  return { stdout: "", stderr: "", results: paths.map((path) => `png ${path}`), end: "done 0" };
}
