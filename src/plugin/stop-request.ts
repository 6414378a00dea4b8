import type { Requester } from "../task/stop.ts"

export interface StopRequest {
  /** Default: a person. */
  readonly by?: Requester
  readonly reason?: string
}
