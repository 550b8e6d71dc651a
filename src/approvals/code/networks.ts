/** Modules whose calls reach other machines, and those of their names that do not. */
const modules =
  /^(requests|httpx|aiohttp|urllib3|urllib\.request|urllib2|http\.client|ftplib|smtplib|imaplib|poplib|telnetlib|paramiko|fabric|websockets?|boto3|botocore|openai|anthropic|huggingface_hub|yfinance|selenium|pysftp|dns\.resolver|wget|gdown|pytube|xmlrpc\.client|tweepy|slack_sdk|twilio|telegram|nntplib|pycurl|scrapy|mechanize|kaggle|axios|got|superagent|nodemailer|undici|node-fetch|ws|ssh2|needle|puppeteer|playwright)\./;
const quiet =
  /\.(exceptions?\.\w+|parse\.\w+|adapters?\.HTTPAdapter|Timeout|Request|HTTPError|RequestException|MIMEText|urlencode|quote|utils\.\w+|util\.\w+|disable_warnings)$/;
const functions =
  /^(fetch|axios|got|request|superagent|XMLHttpRequest|WebSocket|EventSource|urlopen|urlretrieve|navigator\.sendBeacon|(https?|http2)\.(get|request|connect)|net\.(connect|createConnection|Socket)|tls\.connect|dns\.(lookup|resolve\w*|promises\.\w+)|dgram\.createSocket|socket\.(socket|create_connection|getaddrinfo|gethostbyname\w*|socketpair)|asyncio\.open_connection|webbrowser\.open\w*|datasets\.load_dataset|torch\.hub\.\w+|sklearn\.datasets\.fetch_\w+|fetch_\w+|nltk\.download|spacy\.cli\.download|Bun\.connect|Deno\.connect|curl|getURL|download\.file)$/;
/** Readers that take an address as well as a path. */
const readers =
  /(^|\.)(read_\w+|urlopen|urlretrieve|imread|load\w*|get|post|put|patch|download\w*|open\w*|parse|fetch\w*|goto|Client)$/;

/** Whether this call goes to another machine, by its name or by the address it is given. */
export function isReachingOut(ref: string, texts: readonly string[]): boolean {
  if (functions.test(ref) || (modules.test(ref) && !quiet.test(ref))) return true;
  const hasAddress = texts.some((text) => /^(https?|ftp|s3|gs|sftp|wss?):\/\//.test(text));
  return hasAddress && readers.test(ref);
}
