/** The processor time that this thread spent on the work, in milliseconds. Other work of the machine does not count. */
export function measureComputingMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
