/** Tells by itself what the tasks of one conversation came to, as soon as it is idle. */
export interface Reporter {
  /** Something may be there to tell. */
  wake(): void
  /** Nothing is going on in the conversation any more: what was due meanwhile is told now. */
  lookAgain(): void
  /** Resolves when no report is being made or due. */
  reported(signal?: AbortSignal): Promise<void>
  close(): void
}
