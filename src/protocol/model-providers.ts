/** Servers that many people have a key for. Each only fills in the address; any other one works as well. */
export const modelProviders = [
  ["OpenAI", "https://api.openai.com/v1"],
  ["Anthropic", "https://api.anthropic.com/v1"],
  ["Google Gemini", "https://generativelanguage.googleapis.com/v1beta"],
  ["DeepSeek", "https://api.deepseek.com/v1"],
  ["Qwen (DashScope)", "https://dashscope.aliyuncs.com/compatible-mode/v1"],
  ["Kimi (Moonshot)", "https://api.moonshot.cn/v1"],
  ["GLM (Zhipu)", "https://open.bigmodel.cn/api/paas/v4"],
  ["SiliconFlow", "https://api.siliconflow.cn/v1"],
  ["OpenRouter", "https://openrouter.ai/api/v1"],
  ["Mistral", "https://api.mistral.ai/v1"],
  ["Ollama", "http://127.0.0.1:11434/v1"],
  ["LM Studio", "http://127.0.0.1:1234/v1"],
] as const;
