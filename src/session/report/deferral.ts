import type { CancelTimer } from "../../base/clock.ts"
import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { EndedTask } from "../results/delivery.ts"
import type { Using } from "../conversation/scope.ts"
import type { ReportScope } from "../conversation/report-config.ts"

/** A conversation may stay busy for hours: what has waited too long for it is shown to the person directly. */
export interface Deferral {
  begin(): void
  end(): void
}

export interface DeferralOptions {
  readonly readWaiting: () => Promise<readonly EndedTask[]>
  readonly show: (ended: readonly EndedTask[]) => void
}

export function createDeferral(
  { clock, log, config }: Using<"clock" | "log"> & ReportScope,
  { readWaiting, show }: DeferralOptions,
): Deferral {
  const { maxDeferralMs } = config.reports
  let cancelTimer: CancelTimer | null = null
  let isOn = false

  function schedule(afterMs: number): void {
    cancelTimer = clock.schedule(afterMs, () => void look(), { isBackground: true })
  }

  async function look(): Promise<void> {
    try {
      const waiting = await readWaiting()
      if (!isOn) return
      const isOver = ({ at }: EndedTask): boolean => at + maxDeferralMs <= clock.now()
      show(waiting.filter(isOver))
      const next = Math.min(clock.now(), ...waiting.filter((one) => !isOver(one)).map(({ at }) => at))
      schedule(next + maxDeferralMs - clock.now())
    } catch (error) {
      if (!isOn || isMeanwhileError(error, "closed")) return
      schedule(maxDeferralMs)
      log.warn("results that wait for a busy conversation could not be shown", { error: toErrorMessage(error) })
    }
  }

  return {
    begin() {
      if (isOn) return
      isOn = true
      schedule(maxDeferralMs)
    },
    end() {
      isOn = false
      cancelTimer?.()
    },
  }
}
