import { readFileSync } from "node:fs"

/**
 * The most bytes that this process has held at once, as the kernel counts them for it alone. `resourceUsage().maxRSS` begins
 * with what the process that started this one held at that moment.
 */
export function readPeakBytes(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]
  if (kilobytes === undefined) throw new Error("the kernel does not say how much memory this process has held")
  return Number(kilobytes) * 1_024
}
