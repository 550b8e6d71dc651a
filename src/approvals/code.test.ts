import { asking, judged, type judgedFacts, rows } from "../../test/world/judged-commands.ts";
import { codeFindings } from "./code.ts";

type Facts = typeof judgedFacts;
const python = (code: string, facts: Facts) => codeFindings(code, "python", facts);
const node = (code: string, facts: Facts) => codeFindings(code, "javascript", facts);
const perl = (code: string, facts: Facts) =>
  python(`import subprocess\nsubprocess.run(['perl', '-e', ${JSON.stringify(code)}])`, facts);

judged("Python is judged by what it deletes, writes, starts, reads and reaches, by whatever name [H1]", python, [
  asking("change_upload")`
    %('temp/a', 'uploads/a') ¦ shutil.copy shutil.unpack_archive shutil.copytree shutil.copy2 shutil.copyfile os.symlink os.link
    a.%('uploads/a') ¦ to_csv to_excel to_json to_parquet to_pickle to_html to_feather to_sql to_markdown to_latex to_hdf to_stata to_xml savefig save savez
      ¦ savez_compressed savetxt write_image write_html write_csv write_parquet write_json imwrite imsave extractall make_archive
    Path('uploads/a').%('x') ¦ write_text write_bytes
    %('uploads/a', 'w') ¦ open io.open codecs.open zipfile.ZipFile tarfile.TarFile tarfile.open
    open('uploads/a', '%') ¦ a x r+ wb ab rb+ bw tw
    %('uploads/a') ¦ pd.ExcelWriter PdfPages logging.FileHandler shelve.open dbm.open dbm.gnu.open
    os.open('uploads/a', os.%) ¦ O_WRONLY O_RDWR O_APPEND O_CREAT O_TRUNC
    open(%='uploads/a', mode='w') ¦ file path name filename
    open('uploads/a', %='w') ¦ mode flag flags
    c = sqlite3.connect('uploads/a.db')¶c.execute('% x') ¦ insert update delete drop alter create replace
    Path('uploads/a.bin').open('rb+').write(b'x')
    f = os.open('uploads/a.csv', os.O_WRONLY | os.O_TRUNC)¶os.write(f, b'x')
    with open('uploads/a.csv', mode='a') as f:¶    f.write('x')`,
  asking("credentials")`
    %('/etc/passwd') ¦ open read load os.listdir fs.readFileSync a.b
    open('%') ¦ ~/.ssh/id_rsa ./.env ../.env my.env/.env id_rsa
    Path.home().joinpath('.ssh')¶open(os.path.expanduser('~/.ssh/id_rsa'))`,
  asking("database")`
    c.%('DROP TABLE t') ¦ execute executescript executemany query raw exec run text read_sql read_sql_query prepare sql all
    cur.executescript('''¶DELETE FROM users;¶''')`,
  asking("delete")`
    %('rm', ['rm', 'outputs/a']) ¦ os.execvp os.execv os.execve os.posix_spawn os.posix_spawnp
    %('outputs/a') ¦ os.remove os.unlink os.rmdir os.removedirs shutil.rmtree send2trash send2trash.send2trash pathlib.Path.unlink Path.unlink Path.rmdir
      ¦ distutils.dir_util.remove_tree rmtree removedirs builtins.os.remove __builtins__.os.remove posix.remove
    o.%('outputs/a') ¦ remove unlink rmdir rmtree removedirs
    Path('outputs/a').%() ¦ unlink rmdir rmtree
    %('outputs/a', '/tmp/b') ¦ shutil.move os.rename os.renames os.replace
    Path('outputs/a').%('/tmp/b') ¦ rename replace move
    x.%('rm outputs/a') ¦ system popen getoutput getstatusoutput
    x.%(['rm', 'outputs/a']) ¦ run call check_call check_output Popen
    from % import * ¦ os shutil subprocess
    x = y.% ¦ unlink rmtree removedirs
    %('rm outputs/a') ¦ os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput pty.spawn asyncio.create_subprocess_shell
      ¦ popen2.popen3 get_ipython().system get_ipython().getoutput subprocess.run
    %(['rm', 'outputs/a']) ¦ subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen
    %('rm', 'rm', 'outputs/a') ¦ os.execl os.execlp
    %('/bin/rm', ['ls', 'outputs/a']) ¦ os.execv os.posix_spawn
    %(os.P_WAIT, ['rm', 'outputs/a']) ¦ os.spawnv os.spawnvp
    %(os.P_WAIT, 'rm', 'rm', 'outputs/a') ¦ os.spawnl os.spawnlp
    subprocess.run(%=['rm', 'outputs/a']) ¦ args cmd
    subprocess.run(['rm outputs/a'], shell=%) ¦ True 1 '/bin/bash'
    os.remove(f'temp/{%}') ¦ x f(x) input() os.path.dirname(x) x.name
    Path('temp/x.sh').%('rm outputs/a')¶import subprocess¶subprocess.run(['bash', 'temp/x.sh']) ¦ write_text write_bytes
    f = %('temp/x.sh', 'w')¶f.write('rm outputs/a')¶import subprocess¶subprocess.run(['bash', 'temp/x.sh']) ¦ open io.open codecs.open
    for r, d, fs in os.walk('outputs'):¶    for f in fs:¶        os.remove(os.path.join(r, f))
    [os.remove(f) for f in ['outputs/a'] if x]
    from concurrent.futures import ThreadPoolExecutor as T¶T().map(os.remove, ['outputs/a'])
    from os import remove as r, path¶r('outputs/a')
    (Path('temp') / '/workspace/c/outputs/a.csv').unlink()
    with open('temp/x.sh', 'w') as f:¶    print('rm', 'outputs', sep=' -rf ', end='', file=f)¶    print('/a', file=f)¶import subprocess¶subprocess.run(['bash', 'temp/x.sh'])
    def f():¶    return os.remove
    subprocess.run(['rm', '-rf', 'temp/a'], **{'cwd': 'outputs'})
    !rm -rf outputs
    from os import path, remove¶remove(path.join('temp', '/workspace/c/outputs/a.csv'))
    a.b = os.unlink
    os.execv('/bin/rm', args)
    x = None if a else os.remove
    x = 'it¶os.remove('outputs/a')
    __import__('os').remove('outputs/a')
    from os import remove as y¶y('temp/a')
    os.chdir('temp')¶subprocess.run('rm -rf *', shell=True, cwd='../outputs')
    for p in ['temp/a.sh', 'temp/x.sh']:¶    open(p, 'w').write('rm -rf outputs')¶import subprocess¶subprocess.run(['bash', 'temp/x.sh'])`,
  asking("network")`
    import %¶%.send(1) ¦ requests httpx aiohttp urllib3 urllib.request urllib2 http.client ftplib smtplib imaplib poplib telnetlib paramiko fabric websocket
      ¦ websockets boto3 botocore openai anthropic huggingface_hub yfinance selenium pysftp dns.resolver wget gdown pytube xmlrpc.client tweepy slack_sdk
      ¦ twilio telegram nntplib pycurl scrapy mechanize kaggle
    %(1) ¦ urlopen urlretrieve socket.socket socket.create_connection socket.getaddrinfo socket.gethostbyname socket.gethostbyname_ex socket.socketpair
      ¦ asyncio.open_connection webbrowser.open webbrowser.open_new_tab datasets.load_dataset torch.hub.load sklearn.datasets.fetch_openml fetch_openml
      ¦ spacy.cli.download curl getURL download.file
    a.%('https://x.example') ¦ read_csv read_html urlopen urlretrieve imread load load_model get post put patch download download_file open open_url parse
      ¦ fetch fetch_all goto Client
    a.get('%://x.example') ¦ http ftp s3 gs sftp ws wss
    import socket¶s = socket.socket()¶s.connect(('x.example', 80))`,
  asking("packages")`
    %('x') ¦ pip.main pip._internal.main pip._internal.cli.main micropip.install install.packages ensurepip.bootstrap
    subprocess.run([sys.executable, '-m', 'pip', 'install', 'x'])`,
  asking("privilege")`
    os.%(0) ¦ setuid setgid seteuid setegid setreuid setresuid setgroups chroot unshare setns
    libc.%(0) ¦ unshare setns mount chroot
    os.%('temp/x', 0o4755) ¦ chmod fchmod lchmod
    os.chmod('temp/x', %) ¦ 0o2755 0o6755 0o7755 04755`,
  asking("run_unseen")`
    %(code) ¦ exec eval compile code.interact
    f = % ¦ os.system os.popen subprocess.run os.execv
    f = open('temp/x.sh', 'w')¶f.write('ls')¶f.%(1)¶import subprocess¶subprocess.run(['bash', 'temp/x.sh']) ¦ seek truncate detach
    import runpy¶runpy.run_path('/tmp/x.py')
    f = os.open('temp/x.sh', os.O_WRONLY | os.O_CREAT)¶os.write(f, b'rm -rf outputs')¶import subprocess¶subprocess.run(['bash', 'temp/x.sh'])
    with open('temp/x.sh', 'w') as f:¶    for w in ['temp/x', 'outputs']:¶        f.write('rm -rf ')¶        f.write(w)¶import subprocess¶subprocess.run(['bash', 'temp/x.sh'])
    with open('temp/x.sh', 'w') as f:¶    f.writelines([f'rm -rf {w}\n' for w in ['temp/x', 'outputs']])¶import subprocess¶subprocess.run(['bash', 'temp/x.sh'])`,
  asking("secret")`
    api_key = 'sk-abcdefghijklmnop1234567890'
    config = {'password': 'hunter22'}`,
  asking("unreadable")`
    getattr(%, name)(1) ¦ os shutil subprocess builtins __builtins__ fs child_process socket
    operator.%('remove')(os) ¦ methodcaller attrgetter
    %(name) ¦ __import__ importlib.import_module runpy.run_module
    subprocess.run(cmd)`,
  asking("")`
    %('temp/a') ¦ os.remove os.unlink os.rmdir os.removedirs shutil.rmtree send2trash Path.unlink rmtree
    import %¶%.send(1) ¦ json httplib3 http.server urllib.parse email csv
    import requests¶requests.%(1) ¦ exceptions.HTTPError exception.X parse.X adapters.HTTPAdapter adapter.HTTPAdapter Timeout Request HTTPError
      ¦ RequestException MIMEText urlencode quote utils.quote utils.to_key util.Retry disable_warnings
    a.%('https://x.example') ¦ print write append startswith
    a.get('%') ¦ file:///a x.example mailto:a
    %('temp/a', 'outputs/b') ¦ shutil.move os.rename os.renames os.replace
    x = y.% ¦ remove rmdir system
    subprocess.run(['rm outputs/a'], shell=%) ¦ False 0
    os.chdir('temp')¶subprocess.run(['rm', 'a'], cwd=None)
    getattr(%, name)(1) ¦ math self x
    os.chmod('temp/x', %) ¦ 0o755 0o1755 0o3755 0o644
    %('uploads/a', 'temp/a') ¦ shutil.unpack_archive shutil.copytree shutil.copy shutil.copy2 shutil.copyfile os.symlink os.link
    open('uploads/a', '%') ¦ r rb rt
    %('uploads/a', 'r') ¦ shelve.open dbm.open dbm.gnu.open
    os.open('uploads/a', %) ¦ os.O_RDONLY 0
    c = sqlite3.connect('uploads/a.db')¶c.execute('% x') ¦ select pragma
    %('/etc/passwd') ¦ print console.log logging.info logging.warning len os.path.exists os.stat fs.existsSync fs.statSync fs.access str.lower
    a.%('/etc/passwd') ¦ startswith endswith append info debug format startsWith includes push
    os.remove(f'temp/{%}') ¦ len(x) int(x) float(x) round(x) time.time() id(x) hash(x) uuid.uuid4() os.path.basename(x) Path('a').name Path('a').stem
      ¦ Path('a').suffix
    os.remove(%) ¦ tempfile.mktemp() tempfile.gettempdir()+'/a' tempfile.mkdtemp()+'/a'
    f = open('temp/x.sh', 'w')¶f.write('ls')¶f.%()¶import subprocess¶subprocess.run(['bash', 'temp/x.sh']) ¦ close flush tell isatty writable seekable read
      ¦ readline __enter__ __exit__
    f = open('temp/x.sh', '%')¶f.write('ls')¶import subprocess¶subprocess.run(['bash', 'temp/x.sh']) ¦ w x a wb xt tw
    with open('outputs/a.md', 'w') as f:¶    for r in rows:¶        print(r, file=f)¶        f.write(f'- {r}\n')¶print(open('outputs/a.md').read())¶subprocess.run(['ls', 'outputs'])
    for (i, f) in enumerate(['temp/a']):¶    os.remove(f)
    with open('outputs/a.json', 'w') as f:¶    json.dump(d, f)¶os.system('cat outputs/a.json | jq .')
    os.remove(Path('temp/a').with_suffix('.x'))
    exec(open('a.py').read())
    a = ['outputs/x', 'temp/y']¶os.remove(a[1])
    for p in Path('temp').glob('*'):¶    os.remove(p)
    os.remove(f'temp/{{x}}')
    os.remove('temp/{}'.format('a'))
    for p in Path('temp').iterdir():¶    p.unlink()
    with open('outputs/a.csv', 'w') as f:¶    f.writelines(f'{a},{b}\n' for a, b in rows)`,
]);

judged("JavaScript is judged by the same rules [H1]", node, [
  asking("change_upload")`
    fs.%('uploads/a', 'x') ¦ writeFile writeFileSync appendFile appendFileSync createWriteStream outputFile outputFileSync writeJson writeJsonSync truncate
      ¦ truncateSync
    Deno.%('uploads/a', 'x') ¦ writeTextFile writeTextFileSync
    fs.%('temp/a', 'uploads/a') ¦ copyFile copyFileSync cp cpSync copy symlink symlinkSync link linkSync
    fs.openSync('uploads/a', '%') ¦ w a wx ax r+ rs+ as sa
    fs.openSync('uploads/a', fs.constants.%) ¦ O_WRONLY O_RDWR O_APPEND O_CREAT O_TRUNC`,
  asking("delete")`
    %('outputs/a') ¦ fs.rm fs.rmSync fs.unlink fs.unlinkSync fs.rmdir fs.rmdirSync fs.remove fs.removeSync fs.emptyDir fs.emptyDirSync rmSync unlinkSync
      ¦ rmdirSync rimraf rimraf.sync rimrafSync del del.sync Deno.remove Deno.removeSync fsPromises.rm fsp.rm globalThis.fs.rmSync window.fs.rmSync
      ¦ global.fs.rmSync self.fs.rmSync fs.promises.rm
    const f = require('%'); f.rmSync('outputs/a') ¦ fs node:fs fs-extra graceful-fs fs/promises
    %('outputs/a', '/tmp/b') ¦ fs.rename fs.renameSync fs.move fs.moveSync renameSync
    %('rm outputs/a') ¦ child_process.exec child_process.execSync execSync shelljs.exec execa execaCommand execaSync execaCommandSync
    %('rm', ['outputs/a']) ¦ child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync child_process.fork spawnSync
      ¦ Deno.Command
    %(['rm', 'outputs/a']) ¦ Bun.spawn Bun.spawnSync Deno.run
    %('fs').rmSync('outputs/a') ¦ require module.require module.constructor._load Module._load process.getBuiltinModule
    %('fs.rmSync("outputs/a")') ¦ eval Function vm.runInThisContext
    process.chdir('outputs'); fs.rmSync('a')
    ['outputs/a'].%((f) => fs.rmSync(f)) ¦ forEach map filter some every
    %('temp/x.sh', 'rm outputs/a'); require('child_process').execSync('bash temp/x.sh') ¦ fs.writeFile fs.writeFileSync fs.outputFile fs.outputFileSync
      ¦ fs.appendFile fs.appendFileSync writeFileSync Deno.writeTextFile Deno.writeTextFileSync Bun.write
    x / fs.rmSync('outputs/a') / 2
    fs.unlinkSync(x || 'outputs/b')
    for (const f of fs.readdirSync('outputs')) fs.unlinkSync(path.join('outputs', f))
    fs.writeFileSync('temp/x.sh', 'rm -rf outputs\n'); fs.writeFileSync('temp/x.sh', 'ls', { flag: 'a' });¶require('child_process').execSync('bash temp/x.sh')
    x++ / fs.rmSync('outputs/a') / 2
    x new /'/.y; fs.rmSync('outputs/a')
    await (x) / fs.rmSync('outputs/a') / 2
    with (x) /'/.test(y); fs.rmSync('outputs/a')`,
  asking("network")`
    const m = require('%'); m.send(1) ¦ axios got superagent nodemailer undici node-fetch ws ssh2 needle puppeteer playwright
    %(1) ¦ fetch axios got request superagent XMLHttpRequest WebSocket EventSource navigator.sendBeacon Bun.connect Deno.connect tls.connect
      ¦ dgram.createSocket http.get https.get http2.connect http.request https.request net.connect net.createConnection net.Socket dns.lookup dns.resolve
      ¦ dns.resolve4`,
  asking("privilege")`
    process.%(0) ¦ setuid setgid seteuid setegid setgroups
    fs.%('temp/x', 0o4755) ¦ chmod chmodSync fchmodSync lchmodSync`,
  asking("run_unseen")`
    %(code) ¦ eval Function Worker worker_threads.Worker vm.runInThisContext vm.runInNewContext vm.Script vm.compileFunction`,
  asking("unreadable")`
    %(name) ¦ require import module.require
    yield / fs.rmSync('outputs/a') / 1
    if (x) {¶}¶/fs.rmSync('outputs\/a')/.test(y)`,
  asking("")`
    %(1) ¦ http.createServer net.createServer dns.getServers console.log
    ['temp/a'].%((f) => fs.rmSync(f)) ¦ forEach map filter some every
    fs.%('uploads/a', 'temp/a') ¦ copyFile copyFileSync cp cpSync copy symlink symlinkSync link linkSync
    fs.unlinkSync(%) ¦ os.tmpdir()+'/a' process.env.TMPDIR+'/a'
    const rows = data.map((r) => ({ ...r, total: r.a / r.b })); console.log(rows.filter(Boolean).length)
    const { x, unlinkSync: u, y } = require('fs'); u('temp/a')
    import { type Stats, unlinkSync } from 'fs'; unlinkSync('temp/a')
    fs.writeFileSync('temp/x.sh', ['ls', 'pwd'].join('\n'));¶require('child_process').execSync('bash temp/x.sh')
    / 2
    const d = fs.mkdtempSync('temp/x')¶fs.rmSync(d, { recursive: true })
    const { unlinkSync } = require('fs'); unlinkSync('temp/a')
    fs?.unlinkSync('temp/a')
    fs.readdirSync('temp').forEach((f) => fs.unlinkSync('temp/' + f))
    const s = fs.createWriteStream('outputs/a.csv'); for (const r of rows) s.write(r.join(',')); s.end();`,
  rows("", [
    "fs.unlinkSync(`temp/${path.basename(x)}`)",
    "fs.unlinkSync(`temp/${'a'.length}`)",
    "fs.unlinkSync(`temp/${Date.now()}`)",
    "`${f({ a: 1 }, fs.rmSync('temp/a'))}`",
  ]),
]);

judged("code of other languages is judged by the words that delete, run, fetch and write [H1]", perl, [
  asking("change_upload")`
    %("uploads/a", "w") ¦ fopen File.write File.open file_put_contents writeLines write.csv write saveRDS ggsave fwrite sink IO.write`,
  asking("credentials")`
    print("%") ¦ /etc/passwd ~/.ssh/id_rsa ./.env`,
  asking("delete")`
    % "outputs/a" ¦ unlink rmtree remove_tree rmdir rm_r rm_rf FileUtils.rm FileUtils.rm_rf FileUtils.remove_dir File.delete File.unlink Dir.rmdir Dir.delete
      ¦ Dir.unlink os.remove file.remove delete-file delete-directory deleteDir
    %("rm outputs/a") ¦ system exec popen shell_exec passthru os.execute io.popen spawn Open3 proc_open system2 shell-command
    qx/rm x/
    system("rm", "outputs/a")`,
  asking("network")`
    use %; ¦ LWP HTTP::Tiny Net::FTP IO::Socket open-uri TCPSocket curl_exec fsockopen URI.open socket.http httr
    %("https://x.example") ¦ get getprint getstore mirror file_get_contents fopen copy url read read.csv readLines fread download.file
    get("%://x.example") ¦ http ftp`,
  asking("packages")`
    %("x") ¦ install.packages devtools::install_github`,
  asking("run_unseen")`
    eval(%($x)) ¦ decode_base64 unpack base64_decode Base64 gzinflate`,
  asking("")`
    % "temp/a" ¦ unlink rmtree FileUtils.rm_rf File.delete os.remove
    unlink <temp/*>`,
]);
