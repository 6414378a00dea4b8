import type { Benchmark } from "./benchmark.ts"
import { delivery } from "./delivery.ts"
import { history } from "./history.ts"
import { latency } from "./latency.ts"
import { packageSize } from "./package.ts"
import { postgres } from "./postgres.ts"
import { postgresCost } from "./postgres-cost.ts"
import { postgresHistory } from "./postgres-history.ts"
import { promotion } from "./promotion.ts"
import { recovery } from "./recovery.ts"
import { sessions } from "./sessions.ts"
import { shell } from "./shell.ts"
import { start } from "./start.ts"
import { tasks } from "./tasks.ts"
import { turn } from "./turn.ts"

export const BENCHMARKS: readonly Benchmark[] = [
  tasks,
  promotion,
  latency,
  history,
  recovery,
  sessions,
  shell,
  turn,
  delivery,
  start,
  packageSize,
  postgres,
  postgresHistory,
  postgresCost,
]
