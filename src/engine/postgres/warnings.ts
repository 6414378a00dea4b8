import type { PostgresEngineOptions } from "./engine-options.ts"

export interface WarningsParts extends Pick<PostgresEngineOptions, "log" | "tell"> {
  /** Then a person has been told why things fail. */
  isAway(): boolean
}

/** What whoever runs this process should know. `error`: why, where that is not part of the message. */
export type Warn = (message: string, error?: string) => void

/** Goes to the log each time, and where there is none to whoever sits there, once. */
export function createWarnings({ log, tell, isAway }: WarningsParts): Warn {
  const told = new Set<string>()
  return (message, error) => {
    if (log) return log.warn(message, error === undefined ? undefined : { error })
    if (told.has(message) || isAway()) return
    told.add(message)
    tell?.(toSentence(message, error))
  }
}

function toSentence(message: string, error: string | undefined): string {
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}`
  return error === undefined ? sentence : `${sentence}: ${error}`
}
