/** Whether something may be queued. Whoever starts a task while that may be so stands behind it. */
export interface QueueHint {
  readonly mayHaveQueued: boolean
  raise(): void
  /** At the begin of a look into the queue. The answer is for a look that left nothing behind; what was heard of since then stays. */
  beginLook(): () => void
}

export function createQueueHint(): QueueHint {
  let mayHaveQueued = true
  let raised = 0
  return {
    get mayHaveQueued() {
      return mayHaveQueued
    },
    raise() {
      mayHaveQueued = true
      raised += 1
    },
    beginLook() {
      const before = raised
      return () => {
        if (raised === before) mayHaveQueued = false
      }
    },
  }
}
