import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { codeFindings } from "./code.ts";

type Rows = readonly (readonly [code: string, kinds: string])[];

function python(title: string, rows: Rows): void {
  test(title, () => compare((code, facts) => codeFindings(code, "python", facts), rows));
}

function javascript(title: string, rows: Rows): void {
  test(title, () => compare((code, facts) => codeFindings(code, "javascript", facts), rows));
}

python("each module and function of Python that reaches another machine asks [H1]", [
  ...rowsOf(
    "network",
    "import %\n%.send(1)",
    `requests httpx aiohttp urllib3 urllib.request urllib2 http.client ftplib smtplib imaplib poplib telnetlib paramiko fabric
     websocket websockets boto3 botocore openai anthropic huggingface_hub yfinance selenium pysftp dns.resolver wget gdown pytube
     xmlrpc.client tweepy slack_sdk twilio telegram nntplib pycurl scrapy mechanize kaggle`,
  ),
  ...rowsOf("", "import %\n%.send(1)", "json httplib3 http.server urllib.parse email csv"),
  ...rowsOf(
    "",
    "import requests\nrequests.%(1)",
    `exceptions.HTTPError exception.X parse.X adapters.HTTPAdapter adapter.HTTPAdapter Timeout Request HTTPError RequestException
     MIMEText urlencode quote utils.quote utils.to_key util.Retry disable_warnings`,
  ),
  ...rowsOf(
    "network",
    "%(1)",
    `urlopen urlretrieve socket.socket socket.create_connection socket.getaddrinfo socket.gethostbyname socket.gethostbyname_ex
     socket.socketpair asyncio.open_connection webbrowser.open webbrowser.open_new_tab datasets.load_dataset torch.hub.load
     sklearn.datasets.fetch_openml fetch_openml spacy.cli.download curl getURL download.file`,
  ),
  ["nltk.download('x')", "network packages"],
  ...rowsOf(
    "network",
    "a.%('https://x.example')",
    `read_csv read_html urlopen urlretrieve imread load load_model get post put patch download download_file open open_url parse
     fetch fetch_all goto Client`,
  ),
  ...rowsOf("", "a.%('https://x.example')", "print write append startswith"),
  ...rowsOf("network", "a.get('%://x.example')", "http https ftp s3 gs sftp ws wss"),
  ...rowsOf("", "a.get('%')", "file:///a x.example mailto:a"),
]);

javascript("each module and function of JavaScript that reaches another machine asks [H1]", [
  ...rowsOf(
    "network",
    "const m = require('%'); m.send(1)",
    "axios got superagent nodemailer undici node-fetch ws ssh2 needle puppeteer playwright",
  ),
  ...rowsOf(
    "network",
    "%(1)",
    `fetch axios got request superagent XMLHttpRequest WebSocket EventSource navigator.sendBeacon Bun.connect Deno.connect
     tls.connect dgram.createSocket http.get https.get http2.connect http.request https.request net.connect net.createConnection
     net.Socket dns.lookup dns.resolve dns.resolve4`,
  ),
  ...rowsOf("", "%(1)", "http.createServer net.createServer dns.getServers console.log"),
]);

python("each way to delete in Python asks, and goes below temp/ [H1]", [
  ...rowsOf(
    "delete",
    "%('outputs/a')",
    `os.remove os.unlink os.rmdir os.removedirs shutil.rmtree send2trash send2trash.send2trash pathlib.Path.unlink Path.unlink
     Path.rmdir distutils.dir_util.remove_tree rmtree removedirs builtins.os.remove __builtins__.os.remove posix.remove`,
  ),
  ...rowsOf(
    "",
    "%('temp/a')",
    "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree send2trash Path.unlink rmtree",
  ),
  ...rowsOf("delete", "o.%('outputs/a')", "remove unlink rmdir rmtree removedirs"),
  ...rowsOf("delete", "Path('outputs/a').%()", "unlink rmdir rmtree"),
  ...rowsOf("delete", "%('outputs/a', '/tmp/b')", "shutil.move os.rename os.renames os.replace"),
  ...rowsOf("delete", "Path('outputs/a').%('/tmp/b')", "rename replace move"),
  ...rowsOf("", "%('temp/a', 'outputs/b')", "shutil.move os.rename os.renames os.replace"),
  ...rowsOf("delete", "x.%('rm outputs/a')", "system popen getoutput getstatusoutput"),
  ...rowsOf("delete", "x.%(['rm', 'outputs/a'])", "run call check_call check_output Popen"),
  ...rowsOf("delete", "from % import *", "os shutil subprocess"),
  ...rowsOf("delete", "x = y.%", "unlink rmtree removedirs"),
  ...rowsOf("", "x = y.%", "remove rmdir system"),
  ...linesOf("delete", "x = globals()['os'].remove('outputs/a')\n locals()['os'].remove('outputs/a')"),
  ...linesOf("", "os.truncate('outputs/a', 0)\n x.remove('a')\n 'a/b'.replace('a', 'b')"),
]);

python("each way to start a program in Python is judged by what it starts [H1]", [
  ...rowsOf(
    "delete",
    "%('rm outputs/a')",
    `os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput pty.spawn
     asyncio.create_subprocess_shell popen2.popen3 get_ipython().system get_ipython().getoutput subprocess.run`,
  ),
  ...rowsOf(
    "delete",
    "%(['rm', 'outputs/a'])",
    "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen",
  ),
  ...rowsOf("delete", "%('rm', ['rm', 'outputs/a'])", "os.execv os.execvp os.execve os.posix_spawn os.posix_spawnp"),
  ...rowsOf("delete", "%('rm', 'rm', 'outputs/a')", "os.execl os.execlp"),
  ...rowsOf("delete", "%('/bin/rm', ['ls', 'outputs/a'])", "os.execv os.posix_spawn"),
  ...rowsOf("delete", "%(os.P_WAIT, ['rm', 'outputs/a'])", "os.spawnv os.spawnvp"),
  ...rowsOf("delete", "%(os.P_WAIT, 'rm', 'rm', 'outputs/a')", "os.spawnl os.spawnlp"),
  ["asyncio.create_subprocess_exec('rm', 'outputs/a')", "delete"],
  ...rowsOf("delete", "subprocess.run(%=['rm', 'outputs/a'])", "args cmd"),
  ...rowsOf("delete", "subprocess.run(['rm outputs/a'], shell=%)", "True 1 '/bin/bash'"),
  ...rowsOf("", "subprocess.run(['rm outputs/a'], shell=%)", "False 0"),
  ...rowsOf("", "os.chdir('temp')\nsubprocess.run(['rm', 'a'], cwd=%)", "None"),
  ...rowsOf("run_unseen", "%(code)", "exec eval compile code.interact"),
  ...rowsOf("run_unseen", "f = %", "os.system os.popen subprocess.run os.execv"),
  ...rowsOf("unreadable", "getattr(%, name)(1)", "os shutil subprocess builtins __builtins__ fs child_process socket"),
  ...rowsOf("", "getattr(%, name)(1)", "math self x"),
  ...rowsOf("unreadable", "operator.%('remove')(os)", "methodcaller attrgetter"),
  ...rowsOf("unreadable", "%(name)", "__import__ importlib.import_module runpy.run_module"),
  ...rowsOf(
    "packages",
    "%('x')",
    "pip.main pip._internal.main pip._internal.cli.main micropip.install install.packages ensurepip.bootstrap",
  ),
  ...rowsOf("privilege", "os.%(0)", "setuid setgid seteuid setegid setreuid setresuid setgroups chroot unshare setns"),
  ...rowsOf("privilege", "libc.%(0)", "unshare setns mount chroot"),
  ...rowsOf("privilege", "os.%('temp/x', 0o4755)", "chmod fchmod lchmod"),
  ...rowsOf("privilege", "os.chmod('temp/x', %)", "0o2755 0o4755 0o6755 0o7755 04755"),
  ...rowsOf("", "os.chmod('temp/x', %)", "0o755 0o1755 0o3755 0o644"),
]);

javascript("each way to delete and to start a program in JavaScript asks [H1]", [
  ...rowsOf(
    "delete",
    "%('outputs/a')",
    `fs.rm fs.rmSync fs.unlink fs.unlinkSync fs.rmdir fs.rmdirSync fs.remove fs.removeSync fs.emptyDir fs.emptyDirSync rmSync
     unlinkSync rmdirSync rimraf rimraf.sync rimrafSync del del.sync Deno.remove Deno.removeSync fsPromises.rm fsp.rm
     globalThis.fs.rmSync window.fs.rmSync global.fs.rmSync self.fs.rmSync fs.promises.rm`,
  ),
  ...rowsOf("delete", "const f = require('%'); f.rmSync('outputs/a')", "fs node:fs fs-extra graceful-fs fs/promises"),
  ...rowsOf("delete", "%('outputs/a', '/tmp/b')", "fs.rename fs.renameSync fs.move fs.moveSync renameSync"),
  ...rowsOf(
    "delete",
    "%('rm outputs/a')",
    "child_process.exec child_process.execSync execSync shelljs.exec execa execaCommand execaSync execaCommandSync",
  ),
  ...rowsOf(
    "delete",
    "%('rm', ['outputs/a'])",
    `child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync child_process.fork spawnSync
     Deno.Command`,
  ),
  ...rowsOf("delete", "%(['rm', 'outputs/a'])", "Bun.spawn Bun.spawnSync Deno.run"),
  ...rowsOf(
    "delete",
    "%('fs').rmSync('outputs/a')",
    "require module.require module.constructor._load Module._load process.getBuiltinModule",
  ),
  ...rowsOf("unreadable", "%(name)", "require import module.require"),
  ...rowsOf(
    "run_unseen",
    "%(code)",
    "eval Function Worker worker_threads.Worker vm.runInThisContext vm.runInNewContext vm.Script vm.compileFunction",
  ),
  ...rowsOf("delete", "%('fs.rmSync(\"outputs/a\")')", "eval Function vm.runInThisContext"),
  ["require('child_process').spawn('rm outputs/a', [], { shell: true })", "delete"],
  ["new Function('a', 'fs.rmSync(\"outputs/a\")')", "delete"],
  ...rowsOf("privilege", "process.%(0)", "setuid setgid seteuid setegid setgroups"),
  ...rowsOf("privilege", "fs.%('temp/x', 0o4755)", "chmod chmodSync fchmodSync lchmodSync"),
  ...rowsOf("delete", "process.chdir('outputs'); fs.rmSync('%')", "a"),
  ...rowsOf("delete", "['outputs/a'].%((f) => fs.rmSync(f))", "forEach map filter some every"),
  ...rowsOf("", "['temp/a'].%((f) => fs.rmSync(f))", "forEach map filter some every"),
  ...linesOf(
    "",
    `process.chdir('temp'); fs.rmSync('a')
     process.chdir('temp'); require('child_process').execSync('rm a', { cwd: null })
     process.chdir('temp'); require('child_process').execSync('rm a', { cwd: undefined })
     remove(x)
     del(x)
     rm(x)
     ['temp/a'].forEach(function (f) { fs.rmSync(f) })
     ['temp/a'].forEach(async (f) => fs.rmSync(f))
     ['temp/a'].forEach((f, at) => fs.rmSync(f))
     let { rmSync: r } = require('fs'); r('temp/a')
     const m = /\\'/.exec(x); fs.rmSync("temp/a")
     var p = 'temp/a'; fs.rmSync(p)
     let q = 'temp/a'; fs.rmSync(q)
     for (let f of ['temp/a']) fs.rmSync(f)
     for (var f of ['temp/a']) fs.rmSync(f)
     for await (const f of ['temp/a']) fs.rmSync(f)`,
  ),
]);

python("each function that writes a file asks for what the user brought [H1]", [
  ...rowsOf(
    "change_upload",
    "a.%('uploads/a')",
    `to_csv to_excel to_json to_parquet to_pickle to_html to_feather to_sql to_markdown to_latex to_hdf to_stata to_xml savefig save
     savez savez_compressed savetxt write_image write_html write_csv write_parquet write_json imwrite imsave extractall make_archive`,
  ),
  ...rowsOf("change_upload", "Path('uploads/a').%('x')", "write_text write_bytes"),
  ...rowsOf(
    "change_upload",
    "%('temp/a', 'uploads/a')",
    "shutil.unpack_archive shutil.copytree shutil.copy shutil.copy2 shutil.copyfile os.symlink os.link",
  ),
  ...rowsOf(
    "",
    "%('uploads/a', 'temp/a')",
    "shutil.unpack_archive shutil.copytree shutil.copy shutil.copy2 shutil.copyfile os.symlink os.link",
  ),
  ["os.truncate('uploads/a', 0)", "change_upload"],
  ...rowsOf(
    "change_upload",
    "%('uploads/a', 'w')",
    "open io.open codecs.open zipfile.ZipFile tarfile.TarFile tarfile.open",
  ),
  ...rowsOf("change_upload", "open('uploads/a', '%')", "w a x r+ wb ab rb+ bw tw"),
  ...rowsOf("", "open('uploads/a', '%')", "r rb rt"),
  ...rowsOf(
    "change_upload",
    "%('uploads/a')",
    "pd.ExcelWriter PdfPages logging.FileHandler shelve.open dbm.open dbm.gnu.open",
  ),
  ...rowsOf("", "%('uploads/a', 'r')", "shelve.open dbm.open dbm.gnu.open"),
  ...rowsOf("change_upload", "os.open('uploads/a', os.%)", "O_WRONLY O_RDWR O_APPEND O_CREAT O_TRUNC"),
  ...rowsOf("", "os.open('uploads/a', %)", "os.O_RDONLY 0"),
  ...rowsOf("change_upload", "open(%='uploads/a', mode='w')", "file path name filename"),
  ...rowsOf("change_upload", "open('uploads/a', %='w')", "mode flag flags"),
  ...rowsOf(
    "change_upload",
    "c = sqlite3.connect('uploads/a.db')\nc.execute('% x')",
    "insert update delete drop alter create replace",
  ),
  ...rowsOf("", "c = sqlite3.connect('uploads/a.db')\nc.execute('% x')", "select pragma"),
  ...rowsOf(
    "database",
    "c.%('DROP TABLE t')",
    "execute executescript executemany query raw exec run text read_sql read_sql_query prepare sql all",
  ),
  ...linesOf(
    "database",
    "c.execute('DELETE FROM users')\n c.execute('TRUNCATE users')\n c.execute('select 1\\ntruncate users')",
  ),
]);

javascript("each function of JavaScript that writes a file asks for what the user brought [H1]", [
  ...rowsOf(
    "change_upload",
    "fs.%('uploads/a', 'x')",
    `writeFile writeFileSync appendFile appendFileSync createWriteStream outputFile outputFileSync writeJson writeJsonSync truncate
     truncateSync`,
  ),
  ...rowsOf("change_upload", "Deno.%('uploads/a', 'x')", "writeTextFile writeTextFileSync"),
  ...rowsOf(
    "change_upload",
    "fs.%('temp/a', 'uploads/a')",
    "copyFile copyFileSync cp cpSync copy symlink symlinkSync link linkSync",
  ),
  ...rowsOf(
    "",
    "fs.%('uploads/a', 'temp/a')",
    "copyFile copyFileSync cp cpSync copy symlink symlinkSync link linkSync",
  ),
  ...rowsOf("change_upload", "fs.openSync('uploads/a', '%')", "w a wx ax r+ rs+ as sa"),
  ...rowsOf("change_upload", "fs.openSync('uploads/a', fs.constants.%)", "O_WRONLY O_RDWR O_APPEND O_CREAT O_TRUNC"),
  ["const c = new Database('uploads/a.db'); c.exec('update t set a = 1')", "change_upload"],
]);

python("who only asks for a file of credentials in code does not read it [H1]", [
  ...rowsOf(
    "",
    "%('/etc/passwd')",
    "print console.log logging.info logging.warning len os.path.exists os.stat fs.existsSync fs.statSync fs.access str.lower",
  ),
  ...rowsOf("", "a.%('/etc/passwd')", "startswith endswith append info debug format startsWith includes push"),
  ...rowsOf("credentials", "%('/etc/passwd')", "open read load os.listdir fs.readFileSync a.b"),
  ...rowsOf("credentials", "open('%')", "~/.ssh/id_rsa ./.env ../.env my.env/.env id_rsa"),
]);

test("code of other languages is judged by the words that delete, run, fetch and write [H1]", () => {
  const judge = (code: string, facts: typeof judgedFacts) =>
    codeFindings(`import subprocess\nsubprocess.run(['perl', '-e', ${JSON.stringify(code)}])`, "python", facts);
  compare(judge, [
    ...rowsOf(
      "delete",
      '% "outputs/a"',
      `unlink rmtree remove_tree rmdir rm_r rm_rf FileUtils.rm FileUtils.rm_rf FileUtils.remove_dir File.delete File.unlink Dir.rmdir
       Dir.delete Dir.unlink os.remove file.remove delete-file delete-directory deleteDir`,
    ),
    ...rowsOf("", '% "temp/a"', "unlink rmtree FileUtils.rm_rf File.delete os.remove"),
    ...linesOf(
      "delete",
      `file  delete "outputs/a"\n File("outputs/a").delete()\n rm("outputs/a")\n unlink $x\n unlink <outputs/*>`,
    ),
    ...rowsOf(
      "delete",
      '%("rm outputs/a")',
      "system exec popen shell_exec passthru os.execute io.popen spawn Open3 proc_open system2 shell-command",
    ),
    ...linesOf(
      "delete",
      "`rm outputs/a`\n qx{rm outputs/a}\n qx(rm outputs/a)\n qx/rm x/\n %x{rm outputs/a}\n %x(rm outputs/a)",
    ),
    ...linesOf(
      "delete",
      `system("rm", "outputs/a")\n system('rm outputs/a')\n system(q{rm outputs/a})\n system(qq(rm outputs/a))`,
    ),
    ["system($x)", "run_unseen"],
    ...rowsOf(
      "network",
      "use %;",
      "LWP HTTP::Tiny Net::FTP IO::Socket open-uri TCPSocket curl_exec fsockopen URI.open socket.http httr",
    ),
    ...rowsOf(
      "network",
      '%("https://x.example")',
      "get getprint getstore mirror file_get_contents fopen copy url read read.csv readLines fread download.file",
    ),
    ...rowsOf("network", 'get("%://x.example")', "http https ftp"),
    ...linesOf("", 'print("https://x.example")\n get("x.example")'),
    ...rowsOf("packages", '%("x")', "install.packages devtools::install_github"),
    ...rowsOf("run_unseen", "eval(%($x))", "decode_base64 unpack base64_decode Base64 gzinflate"),
    ...rowsOf("credentials", 'print("%")', "/etc/passwd ~/.ssh/id_rsa ./.env"),
    ["rename 'uploads/a', 'b'", "change_upload"],
    ["system(unpack($x))", "run_unseen"],
    ...rowsOf(
      "change_upload",
      '%("uploads/a", "w")',
      "fopen File.write File.open file_put_contents writeLines write.csv write saveRDS ggsave fwrite sink IO.write",
    ),
    ...linesOf(
      "change_upload",
      `open(F, ">uploads/a")\n open(F, "+>uploads/a")\n open(F, ">", "uploads/a")\n open("uploads/a", "r+")`,
    ),
    ...linesOf(
      "",
      `open(F, "<", "uploads/a")\n open("uploads/a", "r")\n File.open("uploads/a")\n write("outputs/a", read("uploads/a"))`,
    ),
  ]);
  compare(judge, [
    ...linesOf("", `unlink <temp/*>\n unlink glob "temp/*"\n fopen("uploads/a", "r")`),
    ...linesOf(
      "change_upload",
      `file_put_contents('uploads/a', 1)\n open(F, "+<", "uploads/a")\n open(F, "+<uploads/a")`,
    ),
  ]);
  assert.deepEqual(judge("1", judgedFacts), []);
});
