/** Chinese and Japanese are written without spaces, but their words are known: a misreading of bytes has hardly any. */
export type Language = "chinese" | "japanese";

/**
 * Which part of the Han and kana in a text stands in words of that language, from 0 to 1. 0 also when there are signs
 * in it that texts in the language do not have.
 */
export function wordShare(text: string, language: Language): number {
  if (foreign[language].test(text)) return 0;
  let [characters, known, words] = [0, 0, 0];
  for (const { segment, index } of segmenter().segment(text)) {
    const count = segment.match(written)?.length ?? 0;
    characters += count;
    if (count > 1) words += 1;
    if (count > 1 || (common.has(segment) && !isAmongLetters(text, index))) known += count;
  }
  if (characters === 0) return language === "chinese" && isPunctuated(text) ? punctuationShare : 0;
  const share = known / characters;
  // Common characters alone are something to go by only when there is nothing else.
  return words > 0 ? share : share === 1 && language === "chinese" ? commonShare : 0;
}

const commonShare = 0.9;
const punctuationShare = 0.6;

const written = /[\p{Script=Han}\u3041-\u30ff]/gu;
const foreign: Readonly<Record<Language, RegExp>> = {
  chinese: /[^\p{ASCII}\p{Script=Han}\p{P}\p{S}\p{N}\p{Zs}\uff01-\uff5e]|[\uff61-\uff9f\u30fb]/u,
  japanese: /[^\p{ASCII}\p{Script=Han}\p{P}\p{S}\p{N}\p{Zs}\uff01-\uff5e\u3041-\u30ff]|[\uff61-\uff9f]/u,
};

let made: Intl.Segmenter | undefined;

/** It brings a dictionary of both languages; the first use takes 20 ms. */
function segmenter(): Intl.Segmenter {
  made ??= new Intl.Segmenter("zh", { granularity: "word" });
  return made;
}

/** A single character inside of a word in Latin letters is one of these with an accent, misread. */
function isAmongLetters(text: string, index: number): boolean {
  return /[a-z]/i.test(`${text[index - 1] ?? ""}${text[index + 1] ?? ""}`);
}

/** Nothing but a full-width sign or more between ASCII: `port：80`. */
function isPunctuated(text: string): boolean {
  return /[\u3001-\u301f\uff01-\uff5e\u2014\u2018-\u201d\u2026]/.test(text) && !/\P{ASCII}[a-z]/iu.test(text);
}

/** What stands alone in Chinese: simplified and traditional characters of everyday and of software, surnames, and the particles of Japanese. */
const common: ReadonlySet<string> = new Set(
  [
    "一丁七万三上下不与且东丢两並个中串临为主么义之乔乘九也书了事二于互五亚些亞交产享人亿什仅介仍从仓他代",
    "令以们件任份优会传伺似但位低体何余作你併使來例供依侯保信修個們候值假偏做停側傅備储傳僅像億儲允元充先",
    "光克入內全兩八公六共关其具兼内冊册再写冯冲决况准减出击函分切划列刘则创初删別利刪别到制則前副割劉功加",
    "务动助動務包化北匯匹区医區十千升半协協单南卡卢印即卻历压原去县参參又及双反发取受变口句另只叫可台史右",
    "叶号各合吊同名后向吕吗否含启吳吴呂告员周呼命和响員哪唐問啟喬單嗎嘗器四回因围国图圍圖土在地址坏块垂型",
    "域執基堆報塊填境增壓壞声处备复夏外多够大太失头套女她好如始姚姜媒子孔字存孙孟学孫學它安宋完定实客室家",
    "容宽密實寫寬寸对导封射将將尋對導小少尔尚尝就尹尺尾局层屏展属層屬山崔工左差已市布师希带師帮帶常幕平年",
    "并序库应底店度庫康廖廢延建开异弃式引张張強强归当录形彭影径待很後徐徑得從復循心必志快忽态怎性总恢息您",
    "情想意態慢憑憶應成我或截戳戴户所手才打执扩找把护报拉拒择括持挂指按损换捨据捲排掛接控推描提插換援損搜",
    "撤擇操據擬擴支收改放效敗散数整數文料斜断新斷方於旗无日旧时昇明易映是显時普景暂暫更書曹曾替最會月有服",
    "望期木未末本朱机权李村杜束条来杨東板构析林果架某查标栈栏树校样核根格框案档梁條检棄楊業楼構樓標模樣樹",
    "機檔檢欄權次款止正此步武歷死段毀母每比毛水求江汤汪決沈沒没況法注活流测消添清減測游湊湯源準滑滤演潘濾",
    "火灰点為無焦然照熊父爾片版牛物特状狀狗猫王环现班現理環生產用田由电男界留略畫異當疊疏病登發白百的监盖",
    "盘監盤盧目直相省看真着知短石码确碟確碼磁示禁离私种秒秦称移程種稱空突窗立章端笔符第筆等策签简算管節範",
    "簡簽籤米类系紅紙級素索細終組結絕給統經綠維網綴緒線編緩縣縮總繪繼續红约级纸线组细终经绑结给绝统继续维",
    "绿缀缓编缩缺网罗置署羅羊群義翻老考者而耳联聚肉胡能脚自至致與舊般船色节花苏若英范茶草药获菜萬葉著董蒋",
    "蓋蓝蔡蔣薛藍藏藥蘇處號螢血行街衝补表袁被装補裝裡製複西要覆見規視覽见规视角解触觸言計訊記設許註詞詢試",
    "話該詳誌認語誤說誰調請謝證識譚警譯護讀變讓计认让议记许设访证识词译试话询该详语误说请读谁调谢谭象貓賀",
    "資賈賴败贺贾资赖赵起超趙足距跟路跳踪蹤身車軟較載輕輯輸轉车转软轻载较辑输边达过运返还这进远连述迴追退",
    "送适选透递這通速連進遇運過道達遞遠適選還邊邓那邮邱邵邹郑郝部郭都鄒鄧鄭配酒醫释里重量金鈕銷錄錢錯鍵鍾",
    "鎖鎮鏈鑰针钟钥钮钱链销锁错键镇長长門閉開間閻關门闭问间阅阎附际陆陈限除陳陸陽隆階随隐隔際隨隱集雙雜雞",
    "離零雷電需非面韓韩音響頁項須預頭題額顏類顧顯页项须顾预频题颜额飯餘饭首香馬馮驗马验體高魏魚鱼鳥鸟鸡麼",
    "黃黄黎黑默點鼠齊齐龍龔龙龚",
    "のはをがにでとへも",
  ].join(""),
);
