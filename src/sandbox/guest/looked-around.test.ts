import assert from "node:assert/strict";
import { test } from "node:test";
import { factsIn } from "./canary.ts";
import { pythonSays } from "./python-says.testing.ts";

// What looks around from inside a guest, in a plain Python that is no guest.

const isRoot = process.geteuid?.() === 0;

const looking = `
import io, types
with open(os.path.join(sys.path[0], "canary.py")) as file: source = file.read()
sys.argv = ["canary.py", "1", "a:1", "b:2"]
looking = {"__file__": "/run/agentyard/guest/canary.py"}
exec(source.removesuffix("main()\\n"), looking)
`;

/** A guest with a hole in each of its walls. */
const leaking = `
asked = []
class Libc:
    def prctl(self, what, *_):
        asked.append(what)
        return {39: 0, 21: 2}.get(what, 0)
    def unshare(self, what): return 0 if what == 0x10000000 else -1
files = {"/proc/net/route": ["Iface", "eth0", "eth1"], "/proc/self/status": ["Name:\\tx", "CapEff:\\t1", "CapBnd:\\t6"]}
given = {
    "ctypes": types.SimpleNamespace(CDLL=lambda *_, **__: Libc()),
    "open": lambda path: io.StringIO("".join(line + "\\n" for line in files[path])),
    "can_write": lambda path: asked.append(path) or path in ("/usr", "/workspace"),
    "socket": types.SimpleNamespace(if_nameindex=lambda: [(1, "lo"), (2, "eth0")]),
    "importlib": types.SimpleNamespace(util=types.SimpleNamespace(find_spec=lambda name: None if name == "pandas" else 1)),
    "shutil": types.SimpleNamespace(which=lambda name, path: None),
    "reached": lambda places: places,
    "can_see_first": lambda: True,
    "has_chinese": lambda: asked.append("fonts") or False,
    "descriptors": lambda: [1, 7],
    "mark_of": lambda folder: folder,
    "filter_calls": lambda: asked.append("filter"),
}
looking.update(given)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
read, write = os.pipe()
os.dup2(write, 1)
looking["main"]()
say([json.loads(os.read(read, 65536)), asked])
`;

test("who looks around from inside tells each wall as it was found, behind the filter that programs are behind [X3]", async () => {
  const said = await pythonSays(looking + leaking);
  assert(Array.isArray(said));
  const facts = factsIn(JSON.stringify(said[0]));
  assert(typeof facts === "object", String(facts));
  const { user, ...walls } = facts;
  assert.deepEqual(walls, {
    ...{ capabilities: 7, noNewPrivs: "0", seccomp: "2", descriptors: [1, 7], canNestUsers: true },
    ...{ writable: ["/usr", "/workspace"], interfaces: ["lo", "eth0"], routes: 2, reached: ["a:1", "b:2"] },
    ...{ canSeeFirst: true, libraries: ["pandas"], hasChinese: false, hasNode: false },
  });
  assert.deepEqual(user.slice(0, 2), [process.geteuid?.(), process.getegid?.()]);
  assert.equal(Object(said[0]).folder, "/run/agentyard");
  const undumpable = 4;
  const places = ["/", "/usr", "/etc", "/dev", "/run", "/var/tmp", "/workspace"];
  assert.deepEqual(said[1], [undumpable, "filter", 39, 21, ...places, "fonts"]);
});

test("who looks around finds what is open, what can be written, and whether it can look into the first process [X3]", async () => {
  const found = await pythonSays(`${looking}
import tempfile
fd = os.open("/", os.O_RDONLY)
null = os.open(os.devnull, os.O_RDONLY)
with tempfile.TemporaryDirectory() as folder:
    seen = looking["descriptors"]()
    can = [looking["can_write"](place) for place in (folder, folder + "/gone")]
    seen_stat = os.stat(folder)
    is_marked = looking["mark_of"](folder) == f"{seen_stat.st_dev}:{seen_stat.st_ino}"
say([fd in seen, null in seen, seen == sorted(seen), can, is_marked, looking["can_see_first"]()])
`);
  assert.deepEqual(found, [true, false, true, [true, false], true, isRoot]);
});
