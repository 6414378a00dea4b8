/** Tells by itself what the tasks of one conversation came to, as soon as it is idle. */
export interface Reporter {
  /** Something may be there to tell. */
  wake(): void
  /** Resolves when no report is being made or due. */
  reported(signal?: AbortSignal): Promise<void>
  close(): void
}
