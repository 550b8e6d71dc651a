/**
 * The words by which servers say what went wrong, collected from their documentation and from reports of their users
 * (`provider-quirks/`). Codes are matched one by one, words against all messages of the error.
 */
export type Signs = { readonly codes: RegExp; readonly words: RegExp };

/** One expression of many, whatever the case. */
function any(...phrases: RegExp[]): RegExp {
  return new RegExp(phrases.map((phrase) => phrase.source).join("|"), "is");
}

/** The prompt or the answer was refused for what it says. */
export const filterSigns: Signs = {
  codes: any(
    /content_?filter|content_?policy|ResponsibleAIPolicy|prohibited_content|moderation/,
    /data_?inspection_?failed|sensitive/,
    /^1301$|^base:102[67]$/,
  ),
  words: any(
    /content (?:management|safety) policy|content[ _]filter|inappropriate content|flagged (?:by|for|as)/,
    /violat\w+ (?:our|the|openai'?s?|usage)[^.]{0,30}polic/,
    /content exists risk|considered high risk|(?:input|output)[ _]new_sensitive/,
    /敏感|不安全|违规/,
  ),
};

/** The model wrote something the server could not use; the caller's request was fine. */
export const modelFaultSigns: Signs = {
  codes: any(/tool_use_failed|output_parse_failed|json_validate_failed|model_output_invalid/),
  words: any(
    /failed to call a function|failed_generation/,
    /model (?:produced|generated|output)[^.]{0,40}(?:invalid|malformed)/,
  ),
};

/** Prompt and room for the answer are too long together, although only the room may be named. */
export const sumOverflowWords = any(
  /inputs?[`'"]? (?:tokens|length)[^.]{0,10}(?:\+|and)[^.]{0,40}(?:exceed|must be)/,
  /exceeds? context limit/,
  /max_(?:completion_)?tokens must be at least 1, got -/,
);

/** The room asked for the answer is too large: the prompt is not. */
export const outputLimitWords = any(
  /max_(?:completion_|output_|new_)?tokens['"`]?[^.]{0,60}(?:too (?:large|high|big)|at most|out of range|valid range)/,
  /max_(?:completion_|output_|new_)?tokens['"`]?[^.]{0,60}(?:maximum value|less than|cannot be|> ?\d+)/,
  /max_(?:completion_|output_|new_)?tokens['"`]?[^.]{0,60}(?:must be (?:<=|between)|should be \[)/,
  /range of max_(?:completion_)?tokens|number of output tokens|max(?:imum)?[^.]{0,20} (?:output|completion) tokens/,
);

/** The prompt is too long in tokens. */
export const overflowSigns: Signs = {
  codes: any(
    /context_?(?:length|window|size)|out_?of_?context/,
    /prompt_too_long|input_too_long|prompt_tokens_exceeded/,
    /^1261$/,
  ),
  words: any(
    /max(?:imum)? (?:model |allowed )?context|maximum (?:prompt|model|input) length|maximum number of (?:input )?tokens/,
    /context[ _-]?(?:length|window|size|limit)[^.]{0,40}(?:exceed|overflow|reached|too (?:long|large|small))/,
    /(?:exceed|overflow|larger|longer|greater|more) ?\w*[^.]{0,60}context[ _-]?(?:length|window|size|limit)/,
    /context the overflows|context overflow|token limit (?:exceeded|reached)/,
    /(?:prompt|inputs?|conversation|messages)(?: \w+){0,2} (?:is|are|was|were)? ?too (?:long|large)/,
    /(?:prompt|input|request)[^.]{0,40} tokens?[^.]{0,60}(?:exceed|greater than|more than|longer than|maximum)/,
    /(?:input|prompt|request|messages?) length[^.]{0,40}(?:exceed|greater|too)|length is \d+ while limit is \d+/,
    /exceed\w*[^.]{0,30}(?:token limit|max(?:imum)? tokens|max_seq_len|max_model_len)|longer than the maximum model/,
    /prompt_tokens[^.]{0,40}must be less|tokens?[^.]{0,20} exceeds? the (?:limit|maximum)/,
    /max(?:imum)? (?:input|message) (?:tokens|characters|length)|must have less than \d+ tokens/,
    /reduce (?:the|your) (?:length|prompt|messages?|input|context)/,
    /range of input length|input too long|too many (?:input )?tokens|too large for model|too many total text bytes/,
    /超长|过长|(?:输入|文本|上下文|长度|tokens?)[^。，]{0,12}(?:超过|超出|超限)/,
    /超[过出][^。]{0,12}(?:上下文|最大长度|token)|最大(?:上下文|输入)长度/,
  ),
};

/** A request that is larger than a whole minute's tokens never passes, however long one waits. */
export const tooLargeWords = any(/request too large.{0,200}tokens/);

/** A limit that lasts for hours, days or longer. */
export const longLimitWords = any(
  /(?:per[ _-]?|\/ ?)(?:day|week|month)|\b(?:daily|weekly|monthly)\b|\b[RT]PD\b|ByDay\b|per 86400/,
  /24[ -]hours?|\d[ -]hour\b[^.]{0,20}limit/,
  /usage[ _]limit[ _](?:reached|exceeded)|(?:hit|reached) your[^.]{0,20}usage limit/,
  /当日|每日|今日|每周|本周|每月|本月|小时的?使用/,
);

/** Words that say that there is a limit at all, where the status does not. */
export const limitWords = any(/limit|quota|上限|限额|限制/);

/** A limit that passes by itself within minutes, or when other calls end. */
export const shortLimitWords = any(
  /(?:per[ _-]?|\/ ?)(?:min|sec)|\b(?:[RTQI]PM|[RTQ]PS)\b/,
  /rate ?quota|allocation_?quota|allocated quota|burst/,
  /concurren|parallel requests|simultaneous/,
  /每分钟|每秒|并发|频率|速率/,
);

/** No money, or an account that may no longer spend: waiting does not help. */
export const moneySigns: Signs = {
  codes: any(
    /insufficient_?(?:\w+_)?(?:quota|balance|funds?|credits?)|exceeded_current_quota|quota_?exhausted|^QuotaExceeded$/,
    /billing|arrear|overdue|payment|credits?_|budget_exceeded|FreeTierOnly|SetLimitExceeded/,
    /^1113$|^1304$|^13(?:08|09|10)$|^30001$|^base:(?:1008|2056)$/,
  ),
  words: any(
    /insufficient (?:account )?(?:balance|funds?|credits?|quota)|quota (?:is )?not enough/,
    /(?:balance|credits?|funds|free tier)[^.]{0,40}(?:insufficient|not enough|too low|negative|empty|expired)/,
    /(?:balance|credits?|funds|free tier)[^.]{0,40}(?:exhausted|depleted|used up|run out|ran out)/,
    /(?:out of|no|not enough|lacks?|requires?) (?:\w+ )?(?:credits?|funds|balance)\b/,
    /budget has been exceeded|spend(?:ing)? (?:limit|cap)|billing hard limit|payment required|top[ -]?up|recharge/,
    /in good standing|account[^.]{0,30}(?:suspended|overdue|in arrears)/,
    /余额|欠费|充值|额度|套餐|用尽/,
  ),
};

/** The word quota alone: money to some, minutes to others. Decides only when nothing better is said. */
export const quotaWords = any(
  /quota[^.]{0,40}(?:exceed|exhaust|used up|reached|deplet)/,
  /(?:exceed|exhaust|used up|reached|out of)[^.]{0,30}quota/,
  /check your plan and billing/,
);

export const rateSigns: Signs = {
  codes: any(
    /rate_?limit|too_?many_?requests|throttl|limit_(?:requests|tokens|burst)|RequestLimit|RESOURCE_EXHAUSTED/,
    /^130[235]$|^33650[12]$|^base:(?:1002|1039|1041|2045)$/,
  ),
  words: any(
    /rate[ -]?limit|too many (?:requests|connections)|throttl|slow down|request limit/,
    /请求过多|限流|过于频繁/,
  ),
};

/** Said by a provider that cannot serve anyone just now. */
export const busySigns: Signs = {
  codes: any(
    /overload|capacity_exceeded|unavailable|^1312$/,
    /^(?:internal_)?server_error$|internal_?(?:server_?)?error/,
  ),
  words: any(
    /overload|saturated|(?:at|no|over|insufficient) capacity|high (?:demand|load|traffic)/,
    /(?:too|server is|system is|currently) busy|loading model|model is (?:currently )?loading/,
    /负载|繁忙|过载|访问量过大/,
  ),
};

export const missingSigns: Signs = {
  codes: any(
    /model_?not_?(?:found|exist|open|available)|deployment_?not_?found|model_decommissioned|(?:invalid|unknown)_model/,
    /InvalidEndpointOrModel|resource_not_found|^not_found(?:_error)?$/,
    /^1211$|^20012$/,
  ),
  words: any(
    /\bmodel\b[^.\n]{0,80}(?:not found|not exist|doesn'?t exist|is not available|decommissioned)/,
    /\bmodel\b[^.\n]{0,80}no longer (?:available|supported)|\bmodel (?:['"`\w.:/-]+ )?is not supported/,
    /(?:no such|unknown|invalid) model\b|not a valid model|no models? loaded/,
    /模型[^。]{0,30}(?:不存在|未找到|下线)/,
  ),
};

/** A proxy without a way to this model; said with any status, mostly 503. */
export const noRouteWords = any(
  /no (?:allowed |available )?(?:endpoints?|providers?|deployments?) (?:found|available)/,
  /no available channel|无可用渠道/,
);

export const keySigns: Signs = {
  codes: any(
    /api_?key|authenticat|unauthori[sz]ed|permission_?denied|access_?denied|^(?:request_)?forbidden$/,
    /invalid_iam_token|^base:(?:1004|2049)$/,
  ),
  words: any(
    /(?:invalid|incorrect|missing|wrong|no|expired|revoked)[^.]{0,20}(?:api[ _-]?key|access token|credentials?)/,
    /api[ _-]?key[^.]{0,30}(?:not valid|invalid|missing|expired|incorrect|disabled|无效|错误|过期)/,
    /unauthori[sz]ed|authentication (?:fail|error|required)|location is not supported/,
    /令牌|身份验证|鉴权/,
  ),
};

/** In a stream there is no status; these codes say that the request was at fault. */
export const badRequestCodes = any(
  /invalid_?request|bad_?request|invalid_?(?:argument|param)|FAILED_PRECONDITION|validation|unprocessable/,
  /^base:2013$/,
);
