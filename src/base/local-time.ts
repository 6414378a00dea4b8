/**
 * A time as people read it, in the zone of this process: `2026-01-02 12:00:05`. Its first 16 characters leave the seconds
 * out, and its first 10 are the day.
 */
export function formatLocalTime(at: number): string {
  const time = new Date(at)
  const pad = (part: number): string => String(part).padStart(2, "0")
  const day = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join("-")
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(pad).join(":")}`
}
