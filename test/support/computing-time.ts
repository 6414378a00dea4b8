/** What this thread computed for it, without the time in which the machine served others. */
export function measureComputingMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
