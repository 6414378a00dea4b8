const DEFAULT_URL = "http://127.0.0.1:11434/v1"

/** `OLLAMA_HOST` as Ollama itself reads it: a host, with or without scheme and port. */
export function toOllamaUrl(host: string | undefined): string {
  if (!host) return DEFAULT_URL
  const url = URL.parse(host.includes("://") ? host : `http://${host.startsWith(":") ? `127.0.0.1${host}` : host}`)
  if (!url) return DEFAULT_URL
  const isPlain = !host.includes("://")
  if (url.port === "" && isPlain) url.port = "11434"
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}/v1`
}
